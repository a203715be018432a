/* diff_models.c - what differs between two models before they are run, for eyes and for scripts. */
#include "diff_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "opts_output.h"
#include "cli_print.h"

#include "table/columns.h"

static size_t least(size_t n, bool all) { return all || n < DIFF_MOST ? n : DIFF_MOST; }

static void print_left(size_t n, bool all, const char *what)
{
    if (least(n, all) < n)
        printf("  ... and %zu more %s (--all lists them)\n", n - least(n, all), what);
}

/* ---- configuration ---- */

enum { VALUE = 30 };                    /* columns of a value; a longer one is cut */

static size_t print_value(FILE *f, const char *json)
{
    if (!json)
        json = "-";
    size_t n = strlen(json), cut = n > VALUE ? VALUE - 3 : n;
    while (cut < n && cut && ((unsigned char)json[cut] & 0xc0) == 0x80)
        cut--;
    if (f) {
        print_text(f, json, cut, true);
        fputs(cut < n ? "..." : "", f);
    }
    return attn_utf8_width(json, cut) + (cut < n ? 3 : 0);
}

static void print_fields(const struct attn_contrasted *c, bool all)
{
    int width = 0, a = 1;
    size_t n = least(c->fields, all);
    for (size_t i = 0; i < n; i++) {
        int name = (int)strlen(c->field[i].name), value = (int)print_value(NULL, c->field[i].a);
        width = name > width ? name : width;
        a = value > a ? value : a;
    }
    printf("\nconfiguration: %zu field%s differ%s%s\n", c->fields, c->fields == 1 ? "" : "s", c->fields == 1 ? "s" : "",
           c->translated ? " (in our words: the families differ)" : "");
    for (size_t i = 0; i < n; i++) {
        fputs("  ", stdout);
        print_text(stdout, c->field[i].name, strlen(c->field[i].name), true);
        printf("%*s  A ", width - (int)strlen(c->field[i].name), "");
        size_t used = print_value(stdout, c->field[i].a);
        printf("%*s  B ", a > (int)used ? a - (int)used : 0, "");
        print_value(stdout, c->field[i].b);
        putchar('\n');
    }
    print_left(c->fields, all, "fields");
}

/* ---- vocabulary and tokenizer ---- */

static void print_spelling(const char *s, size_t len)
{
    if (s)
        json_visible(stdout, s, len);
    else
        fputs("-", stdout);
}

static void print_tokens(const struct attn_contrasted *c, bool all)
{
    printf("\nvocabulary: %zu tokens in A, %zu in B; %zu id%s differ%s", c->vocab[0], c->vocab[1], c->tokens,
           c->tokens == 1 ? "" : "s", c->tokens == 1 ? "s" : "");
    if (!c->only[0] && !c->only[1])
        fputs(", but both have the same tokens", stdout);
    else
        printf("; %zu token%s only in A, %zu only in B", c->only[0], c->only[0] == 1 ? "" : "s", c->only[1]);
    putchar('\n');
    for (size_t i = 0; i < least(c->tokens, all); i++) {
        printf("  %-8" PRId32 "  A ", c->token[i].id);
        print_spelling(c->token[i].a, c->token[i].a_len);
        fputs("  B ", stdout);
        print_spelling(c->token[i].b, c->token[i].b_len);
        putchar('\n');
    }
    print_left(c->tokens, all, "ids");
}

static void print_files(const struct attn_contrasted *c)
{
    const char *a = c->tokenizer[0] ? attn_tokenizer_kind(c->tokenizer[0]) : NULL;
    const char *b = c->tokenizer[1] ? attn_tokenizer_kind(c->tokenizer[1]) : NULL;
    bool kinds = a && b && strcmp(a, b);
    if (!c->files && !kinds)
        return;
    fputs("\ntokenizer:", stdout);
    if (kinds)
        printf(" %s in A, %s in B", a, b);
    for (size_t i = 0; i < c->files; i++) {
        const struct attn_contrast_file *f = &c->file[i];
        printf("%s %s ", i || kinds ? ";" : "", f->name);
        if (f->line)
            printf("differs, first in line %zu", f->line);
        else
            printf("is only in %c", f->has_a ? 'A' : 'B');
    }
    putchar('\n');
}

/* A side without a tokenizer beside one that has one, or one that cannot be read. */
static void print_missing(const struct attn_contrasted *c)
{
    for (int i = 0; i < 2; i++)
        if (!c->tokenizer[i] && c->config[i] && c->tokenizer[!i]) {
            printf("\ntokenizer: %c has none that can be read: ", "AB"[i]);
            print_text(stdout, c->why[i] ? c->why[i] : "", c->why[i] ? strlen(c->why[i]) : 0, true);
            putchar('\n');
        }
}

/* ---- weights ---- */

enum { PLACE = 8 * sizeof ", 18446744073709551615" };

static const char *place(char buf[PLACE], const size_t *at, int n)
{
    size_t len = (size_t)snprintf(buf, PLACE, "[");
    for (int i = 0; i < n; i++)
        len += (size_t)snprintf(buf + len, PLACE - len, i ? ", %zu" : "%zu", at[i]);
    snprintf(buf + len, PLACE - len, "]");
    return buf;
}

static bool paired(const struct attn_contrast_weight *w) { return w->kind <= ATTN_DIFF_SHAPE; }
static bool differs(const struct attn_contrast_weight *w)
{
    return w->kind == ATTN_DIFF_NUMBERS || w->kind == ATTN_DIFF_SHAPE;
}

/* What is said of all weights at once need not be said of each. */
struct tally { size_t same, other_type, rounded[2], listed, only[2]; const char *type[2][2]; };

static struct tally count(const struct attn_contrasted *c)
{
    struct tally t = {0};
    for (size_t i = 0; i < c->weight_rows; i++) {
        const struct attn_contrast_weight *w = &c->weight[i];
        t.only[0] += w->kind == ATTN_DIFF_ONLY_A;
        t.only[1] += w->kind == ATTN_DIFF_ONLY_B;
        if (!paired(w))
            continue;
        t.same += w->kind == ATTN_DIFF_SAME;
        t.other_type += w->kind == ATTN_DIFF_SAME && strcmp(w->dtype[0], w->dtype[1]) != 0;
        t.listed += differs(w) && !w->rounded;
        if (w->rounded && !t.rounded[w->rounded - 1]++)
            memcpy(t.type[w->rounded - 1], w->dtype, sizeof w->dtype);
    }
    return t;
}

/* A row of the embedding is a token's. */
static void print_place(const struct attn_contrasted *c, const struct attn_contrast_weight *w)
{
    char at[PLACE];
    size_t len;
    const struct attn_tokenizer *t = c->tokenizer[0] ? c->tokenizer[0] : c->tokenizer[1];
    const char *token = w->of_tokens && t && w->at[0] <= INT32_MAX ? attn_tokenizer_raw(t, (int32_t)w->at[0], &len) :
                        NULL;
    fputs(place(at, w->at, w->ndim[0]), stdout);
    if (token) {
        fputs(", of ", stdout);
        json_visible(stdout, token, len);
        putchar(',');
    }
}

/* Whether numbers share scales in blocks: every type but those of single numbers. */
static bool in_blocks(const char *dtype)
{
    static const char *const single[] = {"F32", "F16", "BF16", "F64"};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (!strcmp(dtype, single[i]))
            return false;
    return dtype[0] == 'Q' || !strncmp(dtype, "IQ", 2);
}

static bool quantised(const struct attn_contrast_weight *w)
{
    return w->squares_b > 0 && (in_blocks(w->dtype[0]) || in_blocks(w->dtype[1]));
}

/* The root mean square of a - b, as a part of that of b. */
static double relative(double squares, double squares_b)
{
    return squares_b > 0 ? sqrt(squares / squares_b) : (double)NAN;
}

static void print_numbers(const struct attn_contrasted *c, const struct attn_contrast_weight *w)
{
    if (!w->differing && w->kind != ATTN_DIFF_CLOSE) {
        printf("; the %zu numbers that both have are the same\n", w->count);
        return;
    }
    printf("%s%zu of %zu number%s differ%s", w->kind == ATTN_DIFF_SHAPE ? "; of what both have, " :
           "  ", w->differing, w->count, w->count == 1 ? "" : "s", w->differing == 1 ? "s" : "");
    printf(w->differing == 1 ? "\n    at " : isnan(w->max_abs) ? "\n    first at " : "\n    most at ");
    print_place(c, w);
    if (isnan(w->max_abs))
        puts(", compared as bytes");
    else
        printf(" by %.3g: A %.9g, B %.9g%s", w->max_abs, w->a, w->b, quantised(w) ? "" : "\n");
    if (quantised(w))
        printf("; error %.3g %% in the root mean square\n", 100 * relative(w->squares, w->squares_b));
}

static void print_weight(const struct attn_contrasted *c, const struct attn_contrast_weight *w, int width)
{
    char a[PLACE], b[PLACE];
    int len = (int)strlen(w->name);
    fputs("  ", stdout);
    print_text(stdout, w->name, (size_t)len, true);
    printf("%*s  ", len < width ? width - len : 0, "");
    bool types = strcmp(w->dtype[0], w->dtype[1]) != 0, shapes = w->kind == ATTN_DIFF_SHAPE;
    fputs(place(a, w->shape[0], w->ndim[0]), stdout);
    if (types)
        printf(" %s", w->dtype[0]);
    if (shapes || types)
        fputs(" in A, ", stdout);
    if (shapes)
        fputs(place(b, w->shape[1], w->ndim[1]), stdout);
    if (types)
        printf("%s%s", shapes ? " " : "", w->dtype[1]);
    if (shapes || types)
        fputs(" in B", stdout);
    if (w->kind == ATTN_DIFF_SAME)
        fputs("  the same\n", stdout);
    else if (w->count)
        print_numbers(c, w);
    else
        putchar('\n');
}

static void print_rounded(const struct tally *t)
{
    for (int i = 0; i < 2; i++)
        if (t->rounded[i])
            printf("  %zu weight%s %s in A and %s in B: each number of %c is that of %c, rounded\n", t->rounded[i],
                   t->rounded[i] == 1 ? " is" : "s are", t->type[i][0], t->type[i][1], "AB"[i], "BA"[i]);
    if (t->other_type)
        printf("  %zu of the same are stored as another type, with the same numbers\n", t->other_type);
}

/* Weights that are stored in blocks of few bits in A, and otherwise in B, have an error that their type explains. */
struct of_type { const char *type[2]; size_t n; double squares, squares_b, most; const char *worst; };

static bool same_types(const struct of_type *t, const struct attn_contrast_weight *w)
{
    return !strcmp(t->type[0], w->dtype[0]) && !strcmp(t->type[1], w->dtype[1]);
}

/* Those of the types of row `first`, if it is the first of them; n 0: it is not, or nothing was measured. */
static struct of_type sum_type(const struct attn_contrasted *c, size_t first)
{
    const struct attn_contrast_weight *w = &c->weight[first];
    struct of_type t = {.type = {w->dtype[0], w->dtype[1]}};
    for (size_t i = 0; paired(w) && i < c->weight_rows; i++) {
        const struct attn_contrast_weight *x = &c->weight[i];
        if (!paired(x) || !(x->squares_b > 0) || !same_types(&t, x))
            continue;
        if (i < first)
            return (struct of_type){.n = 0};
        double error = relative(x->squares, x->squares_b);
        t.n++;
        t.squares += x->squares;
        t.squares_b += x->squares_b;
        t.worst = error > t.most ? x->name : t.worst;
        t.most = error > t.most ? error : t.most;
    }
    return t;
}

/* Each pair of types once, where there are several weights that differ. */
static void print_types(const struct attn_contrasted *c)
{
    const char *before = "  error by type, root mean square of A - B over that of B:\n";
    for (size_t i = 0; i < c->weight_rows; i++) {
        struct of_type t = sum_type(c, i);
        if (!t.n || !quantised(&c->weight[i]))
            continue;
        printf("%s    %-6s in A, %-4s in B  %.3g %% in %zu weight%s", before, t.type[0], t.type[1],
               100 * relative(t.squares, t.squares_b), t.n, t.n == 1 ? "" : "s");
        if (t.n > 1 && t.worst) {
            printf(", most in ");
            print_text(stdout, t.worst, strlen(t.worst), true);
            printf(" (%.3g %%)", 100 * t.most);
        }
        putchar('\n');
        before = "";
    }
}

const char *diff_quantised(char buf[DIFF_QUANTISED], const struct attn_contrasted *c)
{
    for (size_t i = 0; c && i < c->weight_rows; i++) {
        const struct attn_contrast_weight *w = &c->weight[i];
        if (!differs(w) || !w->dtype[0] || !w->dtype[1] || in_blocks(w->dtype[0]) == in_blocks(w->dtype[1]))
            continue;
        int side = in_blocks(w->dtype[1]);
        snprintf(buf, DIFF_QUANTISED, "the weights of %c are quantised (the first that differs in %s)", "AB"[side],
                 w->dtype[side]);
        return buf;
    }
    return NULL;
}

static void print_only(const struct attn_contrasted *c, int side, size_t n, bool all)
{
    size_t found = 0;
    if (!n)
        return;
    printf("  only in %c:", "AB"[side]);
    for (size_t i = 0; i < c->weight_rows; i++)
        if (c->weight[i].kind == (side ? ATTN_DIFF_ONLY_B : ATTN_DIFF_ONLY_A) && found++ < least(n, all)) {
            putchar(' ');
            print_text(stdout, c->weight[i].name, strlen(c->weight[i].name), true);
        }
    if (least(n, all) < n)
        printf(" ... and %zu more (--all)", n - least(n, all));
    putchar('\n');
}

static void print_weights(const struct attn_contrasted *c, bool all)
{
    struct tally t = count(c);
    int width = 0;
    size_t listed = 0;
    printf("\nweights: %zu of %zu are the same\n", t.same, c->compared);
    if (!c->compared)
        fputs("  no name of A is one of B: with -s TEXT the numbers that both compute are compared\n", stdout);
    print_rounded(&t);
    print_types(c);
    for (size_t i = 0; i < c->weight_rows; i++)
        if ((differs(&c->weight[i]) || all) && paired(&c->weight[i]) && strlen(c->weight[i].name) < 60)
            width = (int)strlen(c->weight[i].name) > width ? (int)strlen(c->weight[i].name) : width;
    for (size_t i = 0; i < c->weight_rows; i++) {
        const struct attn_contrast_weight *w = &c->weight[i];
        if (paired(w) && (all || (differs(w) && !w->rounded)) && (listed++ < DIFF_MOST || all))
            print_weight(c, w, width);
    }
    if (!all)
        print_left(t.listed, all, "weights");
    print_only(c, 0, t.only[0], all);
    print_only(c, 1, t.only[1], all);
}

void diff_print_contrast(const struct attn_contrasted *c, bool all)
{
    if (!attn_contrast_differs(c) && !all) {
        printf("models  the same %zu weight%s", c->compared, c->compared == 1 ? "" : "s");
        puts(c->config[0] ? c->tokenizer[0] && c->tokenizer[1] ? ", configuration and vocabulary" :
             " and configuration" : "");
        return;
    }
    if (c->fields)
        print_fields(c, all);
    for (int i = 0; i < 2; i++)
        if (c->config[i] && !c->config[!i])
            printf("\nconfiguration: only in %c\n", "AB"[i]);
    if (c->tokens)
        print_tokens(c, all);
    print_files(c);
    print_missing(c);
    if (c->differing || all || count(c).other_type)
        print_weights(c, all);
}

/* "2 fields of the configuration, 3 ids of the vocabulary, 1 of 28 weights" */
static void print_parts(const struct attn_contrasted *c)
{
    const char *between = "";
    if (c->fields || c->config[0] != c->config[1]) {
        printf("the configuration");
        between = ", ";
    }
    if (c->tokens) {
        printf("%s%zu token%s", between, c->tokens, c->tokens == 1 ? "" : "s");
        between = ", ";
    }
    if (c->files) {
        printf("%sthe tokenizer", between);
        between = ", ";
    }
    if (c->differing)
        printf("%s%zu of %zu weight%s", between, c->differing, c->weight_rows, c->weight_rows == 1 ? "" : "s");
}

void diff_print_models(const struct differences *r)
{
    const struct attn_contrasted *c = r->contrast;
    if (attn_contrast_differs(c)) {
        fputs("the models differ: ", stdout);
        print_parts(c);
        putchar('\n');
    } else {
        printf("nothing differs: %zu weight%s the same bit for bit\n", c->compared, c->compared == 1 ? " is" : "s are");
    }
    diff_print_name('A', r->name_a);
    diff_print_name('B', r->name_b);
    diff_print_contrast(c, r->all);
}

/* ---- for scripts ---- */

static void json_fields(const struct attn_contrasted *c)
{
    fputs("\"config\": [", stdout);
    for (size_t i = 0; i < c->fields; i++) {
        fputs(i ? ", {\"field\": " : "{\"field\": ", stdout);
        json_text(stdout, c->field[i].name);
        if (c->field[i].a)
            printf(", \"a\": %s", c->field[i].a);
        if (c->field[i].b)
            printf(", \"b\": %s", c->field[i].b);
        putchar('}');
    }
    putchar(']');
}

static void json_kind_of(const char *key, const struct attn_tokenizer *t)
{
    printf("\"%s\": ", key);
    json_text(stdout, t ? attn_tokenizer_kind(t) : NULL);
}

static void json_tokens(const struct attn_contrasted *c)
{
    printf(",\n  \"vocabulary\": {\"a\": %zu, \"b\": %zu, \"only_a\": %zu, \"only_b\": %zu, \"differing\": [",
           c->vocab[0], c->vocab[1], c->only[0], c->only[1]);
    for (size_t i = 0; i < c->tokens; i++) {
        const struct attn_contrast_token *t = &c->token[i];
        printf("%s{\"id\": %" PRId32 ", \"a\": ", i ? ", " : "", t->id);
        json_string(stdout, t->a, t->a_len);
        fputs(", \"b\": ", stdout);
        json_string(stdout, t->b, t->b_len);
        putchar('}');
    }
    fputs("]},\n  \"tokenizer\": {", stdout);
    json_kind_of("a", c->tokenizer[0]);
    fputs(", ", stdout);
    json_kind_of("b", c->tokenizer[1]);
    fputs(", \"files\": [", stdout);
    for (size_t i = 0; i < c->files; i++) {
        const struct attn_contrast_file *f = &c->file[i];
        printf("%s{\"file\": \"%s\", \"status\": \"%s\"", i ? ", " : "", f->name,
               f->line ? "differs" : f->has_a ? "only_a" : "only_b");
        if (f->line)
            printf(", \"line\": %zu", f->line);
        putchar('}');
    }
    fputs("]}", stdout);
}

static void put_place(struct attn_out *o, const size_t *at, int n)
{
    char buf[PLACE];
    attn_out_str(o, place(buf, at, n));
}

static const struct attn_contrast_weight *weight_at(const void *self, size_t i)
{
    return &((const struct attn_contrasted *)self)->weight[i];
}

static void put_shape_a(struct attn_out *o, const void *self, size_t i)
{
    put_place(o, weight_at(self, i)->shape[0], weight_at(self, i)->ndim[0]);
}

static void put_shape_b(struct attn_out *o, const void *self, size_t i)
{
    put_place(o, weight_at(self, i)->shape[1], weight_at(self, i)->ndim[1]);
}

static void put_at(struct attn_out *o, const void *self, size_t i)
{
    put_place(o, weight_at(self, i)->at, weight_at(self, i)->ndim[0]);
}

/* Cells of columns[], in their order. */
static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    static const char *const status[] = {
        [ATTN_DIFF_SAME] = "same", [ATTN_DIFF_CLOSE] = "close", [ATTN_DIFF_NUMBERS] = "differs",
        [ATTN_DIFF_SHAPE] = "shape", [ATTN_DIFF_ONLY_A] = "only_a", [ATTN_DIFF_ONLY_B] = "only_b"};
    static const char *const sides[] = {NULL, "a", "b"};
    const struct attn_contrast_weight *w = weight_at(self, i);
    *cell++ = attn_datum_str(w->name);
    *cell++ = attn_datum_str(strcmp(w->name, w->name_b) ? w->name_b : NULL);
    *cell++ = attn_datum_str(status[w->kind]);
    for (int side = 0; side < 2; side++) {
        *cell++ = attn_datum_str(w->dtype[side]);
        *cell++ = (struct attn_datum){.there = w->dtype[side] != NULL};
    }
    if (w->count) {
        cell[0] = attn_datum_whole(w->count);
        cell[1] = attn_datum_whole(w->differing);
    }
    cell[2] = attn_datum_str(sides[(int)w->rounded]);
    if (w->count && (w->differing || w->kind == ATTN_DIFF_CLOSE)) {
        cell[3] = attn_datum_real(w->max_abs);
        cell[4] = attn_datum_truth(true);
        cell[5] = attn_datum_real(w->a);
        cell[6] = attn_datum_real(w->b);
        if (w->squares_b > 0)
            cell[7] = attn_datum_real(relative(w->squares, w->squares_b));
    }
}

/* Optional: there only where it says something. */
#define COLUMN(title, as) {.name = title, .kind = ATTN_COLUMN_##as, .flags = ATTN_COLUMN_OPTIONAL}
#define NESTED(title, put) \
    {.name = title, .kind = ATTN_COLUMN_NESTED, .flags = ATTN_COLUMN_OPTIONAL, .write = put}
static const struct attn_column columns[] = {
    {.name = "name"}, COLUMN("name_b", TEXT), {.name = "status"}, COLUMN("dtype_a", TEXT),
    NESTED("shape_a", put_shape_a), COLUMN("dtype_b", TEXT), NESTED("shape_b", put_shape_b),
    COLUMN("count", WHOLE), COLUMN("differing", WHOLE),
    COLUMN("rounded", TEXT), COLUMN("max_abs", REAL), NESTED("at", put_at), COLUMN("a", REAL), COLUMN("b", REAL),
    COLUMN("relative", REAL)};

static struct attn_table weights_of(const struct attn_contrasted *c)
{
    return (struct attn_table){.column = columns, .columns = sizeof columns / sizeof *columns, .rows = c->weight_rows,
                               .row = fill, .self = c, .spaced = true, .csv_safe = csv_safe()};
}

static void json_types(const struct attn_contrasted *c)
{
    const char *before = "";
    fputs(",\n  \"types\": [", stdout);
    for (size_t i = 0; i < c->weight_rows; i++) {
        struct of_type t = sum_type(c, i);
        if (!t.n)
            continue;
        printf("%s{\"dtype_a\": \"%s\", \"dtype_b\": \"%s\", \"weights\": %zu, \"relative\": ", before, t.type[0],
               t.type[1], t.n);
        json_real(stdout, relative(t.squares, t.squares_b));
        fputs(", \"worst\": ", stdout);
        json_text(stdout, t.worst);
        fputs(", \"worst_relative\": ", stdout);
        json_real(stdout, t.most);
        putchar('}');
        before = ", ";
    }
    putchar(']');
}

int diff_json_contrast(const struct attn_contrasted *c, struct attn_err *err)
{
    const struct attn_table weights = weights_of(c);
    printf(",\n \"models\": {\"differs\": %s,\n  ", attn_contrast_differs(c) ? "true" : "false");
    json_fields(c);
    json_tokens(c);
    fputs(",\n  \"weights\": [", stdout);
    int code = table_objects(&weights, "\n   ", "\n   ", err);
    putchar(']');
    json_types(c);
    putchar('}');
    return code;
}

int diff_print_models_table(const struct differences *r, const char *format, struct attn_err *err)
{
    const struct attn_table weights = weights_of(r->contrast);
    return table_print(&weights, format, err);
}

/* The members of every report, so that one script reads both; there is no run, and so no tensor of it. */
int diff_print_models_json(const struct differences *r, struct attn_err *err)
{
    printf("{\"version\": \"%s\",\n \"a\": ", attn_version());
    json_text(stdout, r->name_a);
    fputs(",\n \"b\": ", stdout);
    json_text(stdout, r->name_b);
    printf(",\n \"differs\": %s, \"exact\": %s, \"atol\": ", attn_contrast_differs(r->contrast) ? "true" : "false",
           r->opts->exact ? "true" : "false");
    json_real(stdout, r->opts->atol);
    fputs(", \"rtol\": ", stdout);
    json_real(stdout, r->opts->rtol);
    fputs(",\n \"first\": null,\n \"cause\": null,\n \"tensors\": [],\n \"only_a\": [],\n \"only_b\": []", stdout);
    int code = diff_json_contrast(r->contrast, err);
    fputs("}\n", stdout);
    return code;
}
