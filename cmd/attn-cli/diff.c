/* diff.c - compares two dumps, or two models on one input: the first tensor that differs, and its likely cause. */
#include "attn_ask.h"
#include "attn_tools.h"
#include "edits.h"
#include "input.h"
#include "output.h"
#include "print.h"
#include "say.h"

#include "base/err.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 10 };                     /* tensors of each kind listed without --all */

struct report {
    const struct attn_diff *diff;
    const struct attn_diff_opts *opts;
    const struct attn_dump *a, *b;
    const char *name_a, *name_b;
    bool all;                           /* list tensors that agree, too */
    bool same_ids;                      /* both sides ran the tokens of a, which are listed */
    const struct attn_edits *edits;     /* of a; NULL: none */
};

static bool compared(const struct attn_diff_row *r) { return r->kind <= ATTN_DIFF_SHAPE; }
static bool differs(const struct attn_diff_row *r) { return r->kind == ATTN_DIFF_NUMBERS || r->kind == ATTN_DIFF_SHAPE; }

static bool is_square(const struct attn_diff_row *r)
{
    return r->act == ATTN_ACT_DOTS || r->act == ATTN_ACT_SCORES || r->act == ATTN_ACT_PATTERN;
}

struct counts { size_t compared, differ, close; };

static struct counts count(const struct attn_diff_row *row, size_t n)
{
    struct counts c = {0};
    for (size_t i = 0; i < n; i++) {
        c.compared += compared(&row[i]);
        c.differ += differs(&row[i]);
        c.close += row[i].kind == ATTN_DIFF_CLOSE;
    }
    return c;
}

/* ---- for eyes ---------------------------------------------------------------------------- */

static const char *cell(char buf[32], double x)
{
    snprintf(buf, 32, x == 0 ? "0" : "%.2e", x);
    return buf;
}

static const char *ulps(char buf[32], uint64_t n)
{
    snprintf(buf, 32, n < 1000000 ? "%.0f" : "%.1e", (double)n);
    return buf;
}

enum { SHAPE = 8 * sizeof ", 18446744073709551615" };           /* room for all dimensions, however large */

static const char *shape(char buf[SHAPE], const struct attn_diff_row *r, int side)
{
    size_t n = (size_t)snprintf(buf, SHAPE, "[");
    for (int i = 0; i < r->ndim[side]; i++)
        n += (size_t)snprintf(buf + n, SHAPE - n, i ? ", %zu" : "%zu", r->shape[side][i]);
    snprintf(buf + n, SHAPE - n, "]");
    return buf;
}

static void print_token(const struct report *r, size_t i)
{
    const struct attn_dump *d = i < attn_dump_tokens(r->a) ? r->a : r->b;
    int32_t id;
    size_t len;
    printf(" %zu", i);
    if (i >= attn_dump_tokens(d))
        return;
    const char *text = attn_dump_token(d, i, &id, &len);
    putchar(' ');
    if (text)
        json_visible(stdout, text, len);
    else
        printf("(id %" PRId32 ")", id);
}

static void print_position(const struct report *r, const struct attn_diff_row *row)
{
    char a[32], b[32];
    if (row->ndim[0] > 2 && row->ndim[1] > 2)           /* else one side's first axis is a batch of one, no head */
        printf("head %zu, ", row->at[0]);
    fputs(is_square(row) ? "query" : "token", stdout);
    print_token(r, row->at[1]);
    if (is_square(row)) {
        fputs(", key", stdout);
        print_token(r, row->at[2]);
    } else {
        printf(", column %zu", row->at[2]);
    }
    snprintf(a, sizeof a, "%.7g", (double)row->a);
    snprintf(b, sizeof b, "%.7g", (double)row->b);
    printf(": A %s, B %s", a, b);
}

static void print_row(const struct report *r, const struct attn_diff_row *row, int width, bool first)
{
    char a[SHAPE], b[SHAPE], c[4][32];
    printf("%c %-*s  ", first ? '>' : ' ', width, row->name);
    if (row->kind == ATTN_DIFF_SHAPE && !memcmp(row->shape[0], row->shape[1], sizeof row->shape[0]))
        printf("%s of different heads\n", shape(a, row, 0));
    else if (row->kind == ATTN_DIFF_SHAPE)
        printf("found %s in A, expected %s as in B\n", shape(a, row, 0), shape(b, row, 1));
    else if (row->kind == ATTN_DIFF_SAME)
        printf("%8s  the same bits\n", "0");
    else {
        printf("%8s  %8s  %8s  %8s  ", cell(c[0], row->max_abs), cell(c[1], row->mean_abs), ulps(c[2], row->max_ulp),
               cell(c[3], row->nmse));
        print_position(r, row);
        putchar('\n');
    }
}

static void print_table(const struct report *r, const struct attn_diff_row *row, size_t n)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff), *agreed = NULL;
    int width = 6;
    size_t listed = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        width = (int)strlen(row[i].name) > width ? (int)strlen(row[i].name) : width;
        if (compared(&row[i]) && first && &row[i] < first)
            agreed = &row[i];
    }
    printf("\n  %-*s  %8s  %8s  %8s  %8s  largest at\n", width, "tensor", "max abs", "mean abs", "max ulp", "NMSE");
    for (size_t i = 0; i < n; i++) {
        if (!compared(&row[i]) || !(r->all || differs(&row[i]) || &row[i] == agreed))
            continue;
        if (listed++ < MOST || r->all)
            print_row(r, &row[i], width, &row[i] == first);
        else
            left++;
    }
    if (left)
        printf("  ... and %zu more that differ (--all lists them)\n", left);
}

static void print_verdict(const struct report *r, const struct counts *c)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff);
    const char *plural = c->compared == 1 ? "" : "s";
    if (first)
        printf("%s differs first; %zu of %zu tensor%s differ%s", first->name, c->differ, c->compared, plural,
               c->differ == 1 ? "s" : "");
    else if (c->close)
        printf("nothing differs: %zu tensor%s, %zu of them bit for bit", c->compared, c->compared == 1 ? " agrees" : "s agree",
               c->compared - c->close);
    else
        printf("nothing differs: %zu tensor%s the same bit for bit", c->compared, c->compared == 1 ? " is" : "s are");
    if (!r->opts->exact && (first || c->close))
        printf(" (%s %g + %g |B|)", first ? "beyond" : "within", r->opts->atol, r->opts->rtol);
    putchar('\n');
}

static void print_ids(const struct attn_dump *d)
{
    int32_t id;
    size_t len;
    fputs("tokens", stdout);
    for (size_t i = 0; i < attn_dump_tokens(d); i++) {
        attn_dump_token(d, i, &id, &len);
        printf("%s%" PRId32, i ? "," : "  ", id);
    }
    putchar('\n');
}

static void print_lonely(const struct attn_diff_row *row, size_t n, enum attn_diff_kind kind, char side, bool all)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        if (row[i].kind != kind)
            continue;
        if (!found)
            printf("\nonly in %c:", side);
        if (found++ < MOST || all)
            printf(" %s", row[i].name);
    }
    if (found > MOST && !all)
        printf(" ... and %zu more (--all)", found - MOST);
    if (found)
        putchar('\n');
}

static void print_name(char side, const char *name)
{
    printf("%c       ", side);
    print_text(stdout, name, strlen(name), terminal_is(NULL));
    putchar('\n');
}

static void print_text_report(const struct report *r)
{
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(r->diff, &n);
    struct counts c = count(row, n);
    const char *cause = attn_diff_cause(r->diff, NULL);
    print_verdict(r, &c);
    print_name('A', r->name_a);
    for (size_t i = 0; i < attn_edits_count(r->edits); i++)
        printf("edited  %s\n", attn_edits_text(r->edits, i));
    print_name('B', r->name_b);
    if (r->same_ids)
        print_ids(r->a);
    if (c.differ || r->all)
        print_table(r, row, n);
    print_lonely(row, n, ATTN_DIFF_ONLY_A, 'A', r->all);
    print_lonely(row, n, ATTN_DIFF_ONLY_B, 'B', r->all);
    if (c.differ)
        printf("\nlikely cause: %s\n", cause ? cause : "the numbers do not look like any known mistake");
}

/* ---- for scripts ------------------------------------------------------------------------- */

static void json_member(const char *key, double x)
{
    printf(", \"%s\": ", key);
    json_real(stdout, x);
}

static void json_shape(const char *key, const struct attn_diff_row *row, int side)
{
    char buf[SHAPE];
    printf(", \"%s\": %s", key, shape(buf, row, side));
}

static void json_tensor(const struct attn_diff_row *row)
{
    static const char *const status[] = {
        [ATTN_DIFF_SAME] = "same", [ATTN_DIFF_CLOSE] = "close", [ATTN_DIFF_NUMBERS] = "differs", [ATTN_DIFF_SHAPE] = "shape"};
    fputs("{\"name\": ", stdout);
    json_text(stdout, row->name);
    printf(", \"status\": \"%s\"", status[row->kind]);
    json_shape("shape_a", row, 0);
    json_shape("shape_b", row, 1);
    if (row->kind != ATTN_DIFF_SHAPE) {
        printf(", \"count\": %zu, \"differing\": %zu", row->count, row->differing);
        json_member("max_abs", row->max_abs);
        json_member("mean_abs", row->mean_abs);
        printf(", \"max_ulp\": %" PRIu64, row->max_ulp);
        json_member("nmse", row->nmse);
    }
    if (row->kind == ATTN_DIFF_CLOSE || row->kind == ATTN_DIFF_NUMBERS) {
        printf(", \"at\": {\"head\": %s", row->ndim[0] > 2 ? "" : "null");
        if (row->ndim[0] > 2)
            printf("%zu", row->at[0]);
        printf(", \"row\": %zu, \"col\": %zu}", row->at[1], row->at[2]);
        json_member("a", (double)row->a);
        json_member("b", (double)row->b);
    }
    putchar('}');
}

static void json_lonely(const struct attn_diff_row *row, size_t n, enum attn_diff_kind kind, const char *key)
{
    size_t found = 0;
    printf(",\n \"%s\": [", key);
    for (size_t i = 0; i < n; i++) {
        if (row[i].kind != kind)
            continue;
        fputs(found++ ? ", " : "", stdout);
        json_text(stdout, row[i].name);
    }
    putchar(']');
}

static void json_head(const struct report *r)
{
    const struct attn_diff_row *first = attn_diff_first(r->diff);
    const char *kind, *cause = attn_diff_cause(r->diff, &kind);
    fputs("{\"version\": \"" ATTN_VERSION "\",\n \"a\": ", stdout);
    json_text(stdout, r->name_a);
    fputs(",\n \"b\": ", stdout);
    json_text(stdout, r->name_b);
    printf(",\n \"differs\": %s, \"exact\": %s", first ? "true" : "false", r->opts->exact ? "true" : "false");
    json_member("atol", r->opts->atol);
    json_member("rtol", r->opts->rtol);
    fputs(",\n \"first\": ", stdout);
    json_text(stdout, first ? first->name : NULL);
    fputs(",\n \"cause\": ", stdout);
    if (cause) {
        printf("{\"kind\": \"%s\", \"text\": ", kind);
        json_text(stdout, cause);
        putchar('}');
    } else {
        fputs("null", stdout);
    }
}

static void print_json_report(const struct report *r)
{
    size_t n, found = 0;
    const struct attn_diff_row *row = attn_diff_rows(r->diff, &n);
    json_head(r);
    json_edits(stdout, r->edits);
    fputs(",\n \"tensors\": [", stdout);
    for (size_t i = 0; i < n; i++) {
        if (!compared(&row[i]))
            continue;
        fputs(found++ ? ",\n  " : "\n  ", stdout);
        json_tensor(&row[i]);
    }
    putchar(']');
    json_lonely(row, n, ATTN_DIFF_ONLY_A, "only_a");
    json_lonely(row, n, ATTN_DIFF_ONLY_B, "only_b");
    fputs("}\n", stdout);
}

/* ---- comparing --------------------------------------------------------------------------- */

static struct {
    const char *with, *format;
    struct real atol, rtol;
    bool exact, all;
} o = {.atol = {NULL, 1e-5}, .rtol = {NULL, 1e-5}};

struct sides { struct attn_model *model_a, *model_b; struct attn_dump *a, *b; struct edits edits; };    /* edits: of a */
struct texts { struct input in, other; struct attn_tokenizer *tokenizer; struct attn_tokens *tokens, *cross; };

static int check_usage(struct attn_err *err)
{
    bool input = common.sentence || common.file || common.ids || crossing.text || crossing.file || crossing.ids;
    if (o.with && common.word)
        return attn_fail(err, ATTN_EUSAGE, "dumps and --with do not go together: give two dumps, or two models and an input");
    if (!o.with && !common.second)
        return attn_fail(err, ATTN_EUSAGE, "nothing to compare: give two dumps, or two models: -m MODEL --with MODEL -s TEXT");
    if (!o.with && (input || selection.show || selection.layer || selection.head))
        return attn_fail(err, ATTN_EUSAGE, "an input and --show, --layer, --head are for two models: -m MODEL --with MODEL "
                         "-s TEXT");
    if (!o.with && common.compute)
        return attn_fail(err, ATTN_EUSAGE, "--compute is for two models: -m MODEL --with MODEL -s TEXT");
    if (!o.with && edits_given())
        return attn_fail(err, ATTN_EUSAGE, "edits are for two models: -m MODEL --with MODEL -s TEXT");
    if (o.atol.x < 0 || o.rtol.x < 0)
        return attn_fail(err, ATTN_EUSAGE, "a tolerance is not negative");
    if (o.exact && (o.atol.given || o.rtol.given))
        return attn_fail(err, ATTN_EUSAGE, "--exact tolerates nothing: it does not go with --atol and --rtol");
    return ATTN_OK;
}

static int open_dumps(struct sides *s, struct attn_err *err)
{
    bool weights = common.model && common.model != getenv("ATTN_MODEL");    /* not ATTN_MODEL's: dumps need none */
    int code = open_dump(&s->a, common.word, &diff_command, err);
    if (!code)
        code = open_dump(&s->b, common.second, &diff_command, err);
    if (!code && weights)
        code = attn_model_open(&s->model_a, common.model, err);
    return code;
}

/* Each model dumps all activations that match the list; attn_diff then compares those that both have. */
static int run_one(struct attn_dump **out, const struct attn_model *m, const struct texts *t, bool bf16, const struct edits *edits,
                   struct attn_err *err)
{
    struct attn_select *what;
    struct attn_plan plan = {.threads = (int)common.threads.n, .bf16 = bf16};
    int code = attn_select_new(&what, m, NULL, selection.show ? selection.show : "*", selection.layer, selection.head, err);
    if (code)
        return code;
    struct progress progress;
    progress_start(&progress, m, true);
    struct edits_and_progress both;
    struct attn_observer observer = edits_and_progress(&both, edits, &progress);
    code = attn_dump_run(out, m, t->tokens, t->cross, what, &plan, &observer, err);
    progress_end(&progress);
    attn_select_free(what);
    return code;
}

static int read_texts(struct texts *t, const struct attn_model *m, struct attn_err *err)
{
    bool seen = output_is_seen(o.format, NULL);
    if (input_tokens(&t->tokens, &t->tokenizer, &t->in, err))
        return err->code;
    if (!t->tokens->n)
        return attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to run");
    int code = input_tokens_other(&t->cross, &t->tokenizer, &t->other, err);
    if (!code)
        code = input_label(t->tokens, &t->tokenizer, &t->in, m, seen, err);
    return code ? code : input_label(t->cross, &t->tokenizer, &t->other, m, seen, err);
}

static int run_models(struct sides *s, struct attn_err *err)
{
    struct texts t = {.tokens = NULL};
    int code = input_read(&t.in, err);
    if (!code)
        code = input_read_other(&t.other, err);
    if (!code)
        code = attn_model_open(&s->model_a, common.model, err);
    if (!code)
        code = attn_model_open(&s->model_b, o.with, err);
    if (!code)
        code = read_texts(&t, s->model_a, err);
    struct edits none = {0};
    if (!code)
        code = edits_open(&s->edits, &t.tokenizer, err);
    if (!code)
        code = edits_bind(&s->edits, s->model_a, t.tokens, t.cross, EDITS_TEXT, err);
    if (!code)
        code = run_one(&s->a, s->model_a, &t, compute_bf16(), &s->edits, err);
    if (!code)
        code = run_one(&s->b, s->model_b, &t, false, &none, err);
    attn_tokens_free(t.tokens);
    attn_tokens_free(t.cross);
    attn_tokenizer_close(t.tokenizer);
    input_free(&t.in);
    input_free(&t.other);
    return code;
}

static const char *model_name(const struct attn_model *m)
{
    struct attn_info info;
    attn_model_info(m, &info);
    return info.path ? info.path : info.name;
}

static int compare(const struct sides *s, struct attn_err *err)
{
    struct attn_diff *d;
    struct attn_diff_opts opts = {.atol = o.exact ? 0 : o.atol.x, .rtol = o.exact ? 0 : o.rtol.x, .exact = o.exact,
                                  .model_a = s->model_a, .model_b = s->model_b};
    if (attn_diff_new(&d, s->a, s->b, &opts, err))
        return err->code;
    struct report r = {.diff = d, .opts = &opts, .a = s->a, .b = s->b, .all = o.all,
                       .name_a = o.with ? model_name(s->model_a) : common.word,
                       .name_b = o.with ? model_name(s->model_b) : common.second, .same_ids = o.with != NULL,
                           .edits = s->edits.list};
    if (o.format && !strcmp(o.format, "json"))
        print_json_report(&r);
    else
        print_text_report(&r);
    common.status = attn_diff_first(d) != NULL;
    attn_diff_free(d);
    return ATTN_OK;
}

static int diff(struct attn_err *err)
{
    struct sides s = {0};
    int code = check_usage(err);
    if (!code)
        code = o.with ? run_models(&s, err) : open_dumps(&s, err);
    if (!code)
        code = compare(&s, err);
    edits_close(&s.edits);
    attn_dump_free(s.a);
    attn_dump_free(s.b);
    attn_model_close(s.model_a);
    attn_model_close(s.model_b);
    return code;
}

static const char *const formats[] = {"text", "json", NULL};

static const struct option options[] = {
    {0, "with", OPT_MODEL, &o.with, "DIR|NAME", "the model to compare with, on the same input", .flags = 0},
    {0, "compute", OPT_CHOICE, &common.compute, "TYPE", "type in which the first model's products are computed: f32 or bf16; the "
     "reference is always computed in f32 (default: f32)", .choices = compute_choices},
    {0, "atol", OPT_REAL, &o.atol, "X", "numbers agree when |A - B| <= atol + rtol |B| (default: 1e-5)", .flags = 0},
    {0, "rtol", OPT_REAL, &o.rtol, "X", "relative tolerance: rtol in the formula of --atol (default: 1e-5)", .flags = 0},
    {0, "exact", OPT_FLAG, &o.exact, NULL, "numbers agree only if their bits are the same", .flags = 0},
    {0, "all", OPT_FLAG, &o.all, NULL, "list every tensor, even those that agree", .flags = 0},
    {0, "format", OPT_CHOICE, &o.format, "F", "how to print: text or json (default: text)", .choices = formats},
    {.name = NULL},
};

const struct command diff_command = {
    .name = "diff",
    .run = diff,
    .usage = "diff A B [-m DIR|NAME] [--atol X] [--rtol X] [--exact] [--all] | diff -m DIR|NAME --with DIR|NAME -s TEXT "
    "[--show LIST]",
    .summary = "compare two dumps or two models: the first tensor that differs, and why",
    .about = "Compares what two runs computed, name by name in the order of the forward pass; B is the reference.  A and B are "
             "each a directory of .npy or .csv files, an .npz archive, one .npy file or the JSON document of run; your own "
             "arrays can be compared if they have the names of our activations (blocks.0.attn.pattern.npy) and type float16, "
             "float32 or float64, with or without batch axes of one.  Names that only one side has are listed, but are no "
             "difference.  With --with, two models run the same tokens, those of the first one's tokenizer, and everything that "
             "both compute is compared.  Where the shape of the first difference reveals its cause, the cause is named: dump "
             "everything (run --show '*') on both sides to help with that; with -m MODEL the weights are tried too.  The exit "
             "status is 0 when nothing differs, 1 when something does, and also 1, without a line on standard output, when a "
             "side cannot be read.",
    .examples = (const struct pair[]){
        {"attn-cli run -m ./gpt2 -s \"Hello there\" --show '*' -o ours.npz && attn-cli diff port/ ours.npz", "a port's .npy files "
         "against ours: where does it go wrong?"},
        {"attn-cli diff -m ./gpt2 --with ./converted -s \"Hello there\"", "two models on the same tokens"},
        {"attn-cli diff -m ./gpt2 --with ./gpt2 -s \"Hello there\" --compute bf16 --all", "how far is bf16 from f32?"},
        {"attn-cli diff -m tiny --with tiny -s \"Lily lost her red ball\" --ablate L0H1", "everything that one head changes"},
        {"attn-cli diff before.npz after.npz --exact", "the same bits?"},
        {"attn-cli diff a.json b.json --format json | jq .cause", "for scripts"},
        {NULL, NULL}},
    .list_title = "What the columns say",
    .list = (const struct pair[]){
        {"max abs, mean abs", "the largest and the mean |A - B|"},
        {"max ulp", "the largest distance between the two, counted in float32 numbers"},
        {"NMSE", "mean squared difference over the variance of B: below 1e-4 a port is excellent, below 1e-2 good"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, encode_options, ids_options, label_options, cross_options,
                                             select_options, options, edit_options, from_options, thread_options, general_options,
                                             NULL},
    .word = "A",
    .second = "B",
    .paths = true,
};
