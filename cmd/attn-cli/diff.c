/* diff.c - compares two dumps, or two models on one input: the first tensor that differs, and its likely cause. */
#include "diff_report.h"
#include "edits.h"
#include "input.h"
#include "output.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

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
    if (!o.with && option_given(label_options))
        return attn_fail(err, ATTN_EUSAGE, "--labels names the ids that two models run: -m MODEL --with MODEL --ids 5,1,2");
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
    struct differences r = {.diff = d, .opts = &opts, .a = s->a, .b = s->b, .all = o.all,
                            .name_a = o.with ? model_name(s->model_a) : common.word,
                            .name_b = o.with ? model_name(s->model_b) : common.second, .same_ids = o.with != NULL,
                            .edits = s->edits.list};
    if (o.format && !strcmp(o.format, "json"))
        diff_print_json(&r);
    else
        diff_print(&r);
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
    {0, "with", OPT_MODEL, &o.with, "DIR|NAME", "the model to compare with, on the same input",
     .section = OF_MODEL, .flags = OPT_USUAL},
    {0, "compute", OPT_CHOICE, &common.compute, "TYPE", "type in which the first model's products are computed: f32 or bf16; the "
     "reference is always computed in f32 (default: f32)", .choices = compute_choices, .section = OF_MODEL},
    {0, "atol", OPT_REAL, &o.atol, "X", "numbers agree when |A - B| <= atol + rtol |B| (default: 1e-5)", .flags = OPT_USUAL},
    {0, "rtol", OPT_REAL, &o.rtol, "X", "relative tolerance: rtol in the formula of --atol (default: 1e-5)",
     .flags = OPT_USUAL},
    {0, "exact", OPT_FLAG, &o.exact, NULL, "numbers agree only if their bits are the same", .flags = OPT_USUAL},
    {0, "all", OPT_FLAG, &o.all, NULL, "list every tensor, even those that agree", .section = OF_SHOWN, .flags = OPT_USUAL},
    {0, "format", OPT_CHOICE, &o.format, "F", "how to print: text or json (default: text)", .choices = formats,
     .section = OF_OUTPUT, .flags = OPT_USUAL},
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
             "everything (run --show '*') on both sides to help with that; with -m MODEL the weights are tried too, and of two "
             "models the weight in which they differ is named.  The exit "
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
    .report = true,
};
