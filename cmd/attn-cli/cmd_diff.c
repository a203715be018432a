/* cmd_diff.c - compares two dumps, or two models: what their files say, and on one input the first tensor that differs,
 * and its likely cause. */
#include "diff_dumps.h"
#include "diff_report.h"
#include "opts_language.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "say.h"
#include "session.h"

#include "base/err.h"
#include "base/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *with, *format, *path;
    struct real atol, rtol;
    bool exact, all;
} o = {.atol = {NULL, 1e-5}, .rtol = {NULL, 1e-5}};

struct sides {
    struct session of;                  /* model A, or that beside dumps, its edits and the texts of a run */
    struct attn_model *model_b;
    struct attn_dump *a, *b;
    struct attn_contrast *contrast;     /* of two models */
    struct attn_naming *naming;         /* of the arrays of dumps */
};

static bool input_given(void)
{
    return common.sentence || common.file || common.ids || crossing.text || crossing.file || crossing.ids;
}

/* ---- what is compared ---- */

static int one_model(const char *model, const char *dump, struct attn_err *err)
{
    if (access(dump, F_OK))
        return attn_fail(err, ATTN_EIO, "%s: there is no such file or directory, nor a model of that name (%s is a "
                                        "model; attn-cli models lists those that have names)", dump, model);
    return attn_fail(err, ATTN_EFORMAT, "%s is a model and %s is not: to compare a model with saved arrays, let it run "
                                        "the same tokens: attn-cli run -m %s --ids ... --show '*' -o ours.npz, then "
                                        "diff the two", model, dump,
                     model);
}

/* Two models as A and B are those of -m and --with. */
static int choose_sides(const struct attn_naming *names, struct attn_err *err)
{
    if (o.with || !common.second)
        return ATTN_OK;
    bool a = diff_is_model(common.word, names), b = diff_is_model(common.second, names);
    if (a != b && diff_may_be_dump(a ? common.word : common.second))
        return ATTN_OK;
    if (a != b)
        return a ? one_model(common.word, common.second, err) : one_model(common.second, common.word, err);
    if (a && common.model && common.model != getenv("ATTN_MODEL"))
        return attn_fail(err, ATTN_EUSAGE,
                         "-m is for dumps: %s and %s are two models already", common.word, common.second);
    if (a) {
        common.model = common.word;
        o.with = common.second;
        common.word = common.second = NULL;
    }
    return ATTN_OK;
}

static bool as_picture(void)
{
    const struct attn_format *f = o.format ? attn_format_find(o.format) : NULL;
    return f && f->flags & ATTN_FORMAT_PICTURE;
}

static bool chosen(void) { return selection.show || selection.layer || selection.head; }

static int check_usage(struct attn_err *err)
{
    bool input = input_given();
    if (o.path && !as_picture())
        return attn_fail(err, ATTN_EUSAGE, "-o is for a picture of B - A, as in -o x.png: a report goes to standard "
                                           "output");
    if (o.with && !input && as_picture())
        return attn_fail(err, ATTN_EUSAGE, "a picture is of what both models compute: give a text with -s TEXT, or ids "
                                           "with --ids");
    if (o.with && common.word)
        return attn_fail(err, ATTN_EUSAGE, "dumps and --with do not go together: give two dumps, or two models and an "
                                           "input");
    if (o.with && diff_dumps_given())
        return attn_fail(err, ATTN_EUSAGE, "--map, --maps and --dump are for dumps of other programs: two models "
                         "have our names already");
    if (!o.with && !common.second)
        return attn_fail(err, ATTN_EUSAGE,
                         "nothing to compare: give two dumps, or two models: -m MODEL --with MODEL -s TEXT");
    if (!o.with && input)
        return attn_fail(err, ATTN_EUSAGE, "an input is for two models: -m MODEL --with MODEL -s TEXT");
    if (!o.with && chosen() && !as_picture())
        return attn_fail(err, ATTN_EUSAGE, "--show, --layer and --head are for two models, or choose what -o x.png "
                                           "draws");
    if (!o.with && (common.other_as || (common.as && !common.model)))
        return attn_fail(err, ATTN_EUSAGE, "--as is for the file of a model: %s and %s are dumps", common.word,
                         common.second);
    if (!o.with && common.compute)
        return attn_fail(err, ATTN_EUSAGE, "--compute is for two models: -m MODEL --with MODEL -s TEXT");
    if (!o.with && option_given(label_options))
        return attn_fail(err, ATTN_EUSAGE, "--labels names the ids that two models run: -m MODEL --with MODEL --ids "
                                           "5,1,2");
    if (!o.with && edits_given())
        return attn_fail(err, ATTN_EUSAGE, "edits are for two models: -m MODEL --with MODEL -s TEXT");
    if (o.with && !input && (chosen() || common.compute || option_given(label_options) || edits_given()))
        return attn_fail(err, ATTN_EUSAGE, "--show, --layer, --head, --compute, --labels and edits are for a run of "
                                           "both models: give a text with -s TEXT, or ids with --ids");
    if (o.atol.x < 0 || o.rtol.x < 0)
        return attn_fail(err, ATTN_EUSAGE, "a tolerance is not negative");
    if (o.exact && (o.atol.given || o.rtol.given))
        return attn_fail(err, ATTN_EUSAGE, "--exact tolerates nothing: it does not go with --atol and --rtol");
    return ATTN_OK;
}

/* ---- what they are ---- */

static int say_step(void *self, uint64_t done, uint64_t all, struct attn_err *err)
{
    (void)err;
    steps_say(self, "weights: %.0f of %.0f MB", (double)done / 1e6, (double)all / 1e6);
    return ATTN_OK;
}

/* Weights are compared exactly unless a tolerance is asked for: its default is that of sums of products. */
static int contrast(struct sides *s, struct attn_err *err)
{
    struct steps steps = {0};
    const char *a = common.model ? common.model : attn_model_builtin()[0];
    bool given = o.atol.given || o.rtol.given;
    struct attn_contrast_opts opts = {.atol = given ? o.atol.x : 0, .rtol = given ? o.rtol.x : 0, .step = say_step,
                                      .self = &steps, .given = {given_of(false), given_of(true)}};
    int code = attn_contrast_new(&s->contrast, a, o.with, &opts, err);
    erase_line(&steps.shown);
    for (int side = 0; side < 2 && !code; side++) {
        const struct attn_contrasted *c = attn_contrast_result(s->contrast);
        note_assumed(side ? o.with : a, c->assumed[side], c->n_assumed[side]);
    }
    return code;
}

static void put_token(char *buf, size_t size, const struct attn_token *t)
{
    int most = t->text_len < 40 ? (int)t->text_len : 40;
    if (t->known)
        snprintf(buf, size, "%" PRId32 " '%.*s'", t->id, most, t->text);
    else
        snprintf(buf, size, "%" PRId32, t->id);
}

/* Both models run the ids of a: that b would read the text otherwise is worth knowing. */
static void warn_of_tokens(const struct attn_tokens *a, const struct attn_tokens *b)
{
    char x[80] = "none", y[80] = "none";
    size_t i = 0;
    while (i < a->n && i < b->n && a->tok[i].id == b->tok[i].id)
        i++;
    if (i == a->n && i == b->n)
        return;
    if (i < a->n)
        put_token(x, sizeof x, &a->tok[i]);
    if (i < b->n)
        put_token(y, sizeof y, &b->tok[i]);
    say_note("attn-cli diff: warning: the two models tokenise this text differently: token %zu is %s in A and %s in B; "
             "both run the ids of A", i, x, y);
}

static void warn_of_ids(const struct attn_contrasted *c, const struct attn_tokens *t)
{
    for (size_t i = 0; i < t->n; i++) {
        size_t n = 0, m = 0;
        const char *a = attn_tokenizer_raw(c->tokenizer[0], t->tok[i].id, &n);
        const char *b = attn_tokenizer_raw(c->tokenizer[1], t->tok[i].id, &m);
        if (a && (!b || n != m || memcmp(a, b, n))) {
            say_note("attn-cli diff: warning: id %" PRId32 " (token %zu) is '%.*s' in A's vocabulary and %s%.*s%s in "
                                                           "B's: the same ids are other texts", t->tok[i].id, i,
                     n < 40 ? (int)n : 40, a, b ? "'" :
                     "no token", m < 40 ? (int)m : 40, b ? b : "", b ? "'" : "");
            return;
        }
    }
}

static void warn(const struct sides *s)
{
    const struct attn_contrasted *c = attn_contrast_result(s->contrast);
    const struct session *t = &s->of;
    struct attn_encode_opts opts = input_encode_opts();
    struct attn_tokens *other = NULL;
    struct attn_err why = {0};
    if (t->in.text) {
        doubt_side(&diff_command, "A", s->of.model, c->tokenizer[0]);
        doubt_side(&diff_command, "B", s->model_b, c->tokenizer[1]);
    }
    if (!c->tokenizer[0] || !c->tokenizer[1])
        return;
    if (!t->in.text)
        warn_of_ids(c, t->tokens);
    else if (attn_encode_with(&other, c->tokenizer[1], t->in.text, t->in.len, &opts, &why))
        say_note("attn-cli diff: warning: B's tokenizer cannot read this text (%s); both run the ids of A", why.msg);
    else
        warn_of_tokens(t->tokens, other);
    attn_tokens_free(other);
}

/* ---- what they compute ---- */

/* The width of an activation's rows in a dump; 0: it is not there. */
static size_t width_in(const struct attn_dump *d, const char *name)
{
    struct attn_dump_array a;
    int axes = 0;
    for (size_t i = 0; (axes = attn_dump_array(d, i, &a)) >= 0; i++)
        if (axes > 0 && a.name && !strcmp(a.name, name))
            return a.shape[axes - 1];
    return 0;
}

/* A model helps to read dumps only if it is theirs.  In one of them a width may be the mistake that is looked for. */
static int check_model(const struct sides *s, struct attn_err *err)
{
    struct attn_info info;
    attn_model_info(s->of.model, &info);
    const struct { const char *name; size_t width; } rows[] = {{"logits", info.V}, {"embed", info.d},
                                                               {"norm_final", info.d}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t a = width_in(s->a, rows[i].name), b = width_in(s->b, rows[i].name);
        if (a && b && a != rows[i].width && b != rows[i].width)
            return attn_fail(err, ATTN_EUSAGE, "the dumps are not of model %s (-m): a row of their %s has %zu numbers, "
                                               "there it has %zu", info.name, rows[i].name, a, rows[i].width);
    }
    return ATTN_OK;
}

static int open_dumps(struct sides *s, struct attn_err *err)
{
    bool weights = common.model && common.model != getenv("ATTN_MODEL");    /* not ATTN_MODEL's: dumps need none */
    int code = open_dump(&s->a, common.word, &diff_command, err);
    if (!code)
        code = open_dump(&s->b, common.second, &diff_command, err);
    if (!code && weights)
        code = open_model(&s->of.model, &diff_command, err);
    if (!code && weights)
        code = check_model(s, err);
    if (!code)
        diff_warn_of_tokens(s->a, s->b);
    struct attn_err why = {0};
    if (!code && weights && attn_model_tokenizer(&s->of.tokenizer, s->of.model, &why))
        s->of.tokenizer = NULL;         /* ids then stay without a name */
    return code;
}

/* Each model dumps all activations that match the list; attn_diff then compares those that both have. */
static int run_one(struct attn_dump **out, const struct attn_model *m, const struct sides *s, bool bf16,
                   const struct edits *edits, struct attn_err *err)
{
    struct attn_select *what;
    struct attn_plan plan = {.threads = (int)common.threads.n, .bf16 = bf16};
    int code = select_shown(&what, m, NULL, "*", err);
    if (code)
        return code;
    struct progress progress;
    progress_start(&progress, m, true);
    struct edits_and_progress both;
    struct attn_observer observer = edits_and_progress(&both, edits, &progress);
    code = attn_dump_run(out, m, s->of.tokens, s->of.cross, what, &plan, &observer, err);
    progress_end(&progress);
    attn_select_free(what);
    return code;
}

/* Both models run the ids of A's text, which B may lack. */
static int check_other(const struct sides *s, struct attn_err *err)
{
    struct attn_info a, b;
    struct attn_err why = {0};
    const struct attn_tokens *t = s->of.tokens;
    int code = attn_run_check_tokens(s->model_b, t, s->of.cross, &why);
    attn_model_info(s->of.model, &a);
    attn_model_info(s->model_b, &b);
    for (size_t i = 0; code && i < t->n; i++)
        if ((size_t)t->tok[i].id >= b.V && (size_t)t->tok[i].id < a.V)
            return attn_fail(err, code, "token %zu has id %d in %s, and %s has ids 0 to %zu: they have other "
                                        "vocabularies; without a text, configuration and weights are compared", i,
                             (int)t->tok[i].id, common.model ? common.model : "A", o.with, b.V - 1);
    return attn_fail_as(err, &why);
}

static int run_models(struct sides *s, struct attn_err *err)
{
    const struct edits none = {0};
    int code = session_read(&s->of, SESSION_CROSSES, err);
    if (!code)
        code = attn_model_open_with(&s->of.model, common.model, given_of(false), err);
    if (!code)
        code = attn_model_open_with(&s->model_b, o.with, given_of(true), err);
    if (!code)
        code = session_encode(&s->of, o.format, NULL, SESSION_CROSSES, err);
    if (!code)
        warn(s);
    if (!code)
        code = check_other(s, err);
    if (!code)
        code = session_edit(&s->of, EDITS_TEXT, err);
    if (!code)
        code = run_one(&s->a, s->of.model, s, compute_bf16(), &s->of.edits, err);
    return code ? code : run_one(&s->b, s->model_b, s, false, &none, err);
}

static const char *model_name(const struct attn_model *m)
{
    struct attn_info info;
    attn_model_info(m, &info);
    return info.path ? info.path : info.name;
}

static bool as_text(void) { return !o.format || !strcmp(o.format, "text"); }

/* Without a run, or where the second model cannot do it, what the two models are. */
static int report_models(const struct sides *s, const struct attn_diff_opts *opts, struct attn_err *err)
{
    const struct attn_contrasted *c = attn_contrast_result(s->contrast);
    struct differences r = {.opts = opts, .all = o.all, .name_a = common.model ? common.model : attn_model_builtin()[0],
                            .name_b = o.with, .contrast = c, .err = err};
    common.status = attn_contrast_differs(c);
    return diff_report(&r, o.format);
}

/* What was chosen, else the first that differs: all its heads. */
static int draw(const struct attn_diff *d, const struct differences *r, struct attn_err *err)
{
    const struct attn_diff_row *first = attn_diff_first(d);
    char title[256], note[ATTN_PLOT_NOTE] = "";
    struct attn_dump *difference = NULL;
    bool terminal = terminal_is(o.path);
    struct attn_plot_opts opts = {
        .format = o.format, .path = o.path, .title = title, .layers = selection.layer, .heads = selection.head,
        .show = selection.show ? selection.show : first && first->kind == ATTN_DIFF_NUMBERS ? first->name : NULL,
        .width = terminal_columns(terminal), .picture = picture_look(terminal), .note = note};
    if (!opts.picture.palette)
        opts.picture.palette = "balance";       /* also where all differences have one sign */
    attn_snprintf(title, sizeof title, "B - A: %s - %s", r->name_b, r->name_a);
    int code = attn_diff_dump(&difference, d, err);
    if (!code)
        code = attn_plot(difference, &opts, err);
    if (!code && *note)
        say_note("%s", note);
    attn_dump_free(difference);
    return code;
}

static int report_run(const struct sides *s, const struct attn_diff_opts *opts, struct attn_err *err)
{
    struct attn_diff *d;
    if (attn_diff_new(&d, s->a, s->b, opts, err))
        return err->code;
    const struct attn_contrasted *c = s->contrast ? attn_contrast_result(s->contrast) : NULL;
    struct differences r = {.diff = d, .opts = opts, .a = s->a, .b = s->b, .all = o.all,
                            .name_a = o.with ? model_name(s->of.model) : common.word,
                            .name_b = o.with ? model_name(s->model_b) : common.second, .same_ids = o.with != NULL,
                            .edits = s->of.edits.list, .contrast = c,
                            .tokenizer = {c ? c->tokenizer[0] : s->of.tokenizer,
                                          c ? c->tokenizer[1] : s->of.tokenizer}, .err = err};
    int code = as_picture() ? draw(d, &r, err) : diff_report(&r, o.format);
    common.status = attn_diff_first(d) != NULL;
    attn_diff_free(d);
    return code;
}

static int compare(struct sides *s, struct attn_err *err)
{
    int code = o.with ? contrast(s, err) : open_dumps(s, err);
    if (code)
        return code;
    struct attn_diff_opts opts = {.atol = o.exact ? 0 : o.atol.x, .rtol = o.exact ? 0 : o.rtol.x, .exact = o.exact,
                                  .rounding = !o.atol.given && !o.rtol.given && !o.exact};
    bool run = !o.with || input_given();
    if (o.with && run)
        code = run_models(s, err);
    opts.naming = s->naming;
    opts.contrast = s->contrast ? attn_contrast_result(s->contrast) : NULL;
    opts.model_a = s->of.model;
    opts.model_b = s->model_b;
    opts.editor_a = s->of.edits.editor;
    if (!code && run)
        return report_run(s, &opts, err);
    if (!code)
        return report_models(s, &opts, err);
    /* What a run lacks may be what differs; but a script gets the whole document or none. */
    struct attn_err why = {0};
    if (code == ATTN_EFORMAT && as_text() && attn_contrast_differs(attn_contrast_result(s->contrast)))
        report_models(s, &opts, &why);
    return code;
}

static int diff(struct attn_err *err)
{
    struct sides s = {0};
    int code = output_choose_format(&o.format, o.path, &diff_command, err);
    if (!code)
        code = diff_names_read(&s.naming, err);
    if (!code)
        code = choose_sides(s.naming, err);
    if (!code)
        code = check_usage(err);
    if (!code)
        code = compare(&s, err);
    session_close(&s.of);
    attn_naming_free(s.naming);
    attn_contrast_free(s.contrast);
    attn_dump_free(s.a);
    attn_dump_free(s.b);
    attn_model_close(s.model_b);
    return code;
}

static void explain_format(char help[OPTION_HELP])
{
    explain_tables(help, "a report",
                   ": of tensors or, of models without a run, of weights; default: text.  term, png, svg, pdf and html "
                   "draw B - A");
}

static const struct option options[] = {
    {0, "with", OPT_MODEL, &o.with, "DIR|NAME", "the model to compare with, on the same input",
     .section = OF_MODEL, .flags = OPT_USUAL},
    {0, "compute", OPT_CHOICE, &common.compute, "TYPE",
     "type in which the first model's products are computed: f32 or bf16; the "
     "reference is always computed in f32 (default: f32)", .choices = compute_choices, .section = OF_MODEL},
    {0, "atol", OPT_REAL, &o.atol, "X", "numbers agree when |A - B| <= atol + rtol |B|, whatever rounding explains "
                                        "(default, for arrays that are no activations: 1e-5)", .flags = OPT_USUAL},
    {0, "rtol", OPT_REAL, &o.rtol, "X", "relative tolerance: rtol in the formula of --atol (default: 1e-5)",
     .flags = OPT_USUAL},
    {0, "exact", OPT_FLAG, &o.exact, NULL, "numbers agree only if their bits are the same", .flags = OPT_USUAL},
    {0, "all", OPT_FLAG, &o.all, NULL,
     "list every tensor, even those that agree", .section = OF_SHOWN, .flags = OPT_USUAL},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = answer_format, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH",
     "draw B - A into this file, x.png, .svg, .pdf or .html: the first activation that differs, or what --show, "
     "--layer and --head choose",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {.name = NULL},
};

const struct command diff_command = {
    .name = "diff",
    .schemas = (const char *const[]){"diff", NULL},
    .run = diff,
    .usage = "diff A B [-m DIR|NAME] [--map NAME=ACTIVATION] [--atol X] [--rtol X] [--exact] [--all] | "
    "diff -m DIR|NAME --with DIR|NAME [-s TEXT] [--show LIST] [-o PATH]",
    .section = IN_TWO,
    .summary = "compare two dumps or two models: the first tensor that differs, and why",
    .about = "Compares two models by what their files say, or what two runs computed, name by name in the order of "
             "the forward pass; B is the reference.  The exit status is 0 when nothing differs, 1 when something "
             "does, and 2 when that cannot be said, as where a side cannot be read; standard output is then empty.\n"
             "Two models: they are directories, names or two files of weights, of any architecture.  Listed are the "
             "fields of the configuration that differ, ids that are other tokens, files of the tokenizer that are "
             "others, and of every weight how many numbers differ, the largest difference and where it is.  Weights "
             "agree only if their numbers are the same, unless --atol or --rtol is given; where shapes differ in one "
             "dimension, the part that both have is compared.\n"
             "With a text (-m A --with B -s TEXT): both models also run it, as the tokens of A's tokenizer (a note "
             "says if B's reads it differently).  Everything that both compute is compared, and the exit status is "
             "about that.\n"
             "Saved runs: each is a directory of .npy or .csv files, an .npz archive, a .safetensors file, one .npy "
             "file or the JSON document of run.  A .safetensors file is a dump if a name in it is that of an "
             "activation, or if nothing else makes sense (or with --dump), else weights.  Names that only one side "
             "has are listed, but are no difference.\n"
             "Arrays of your own: they need the names of our activations (blocks.0.attn.pattern.npy) or those of "
             "TransformerLens (blocks.0.attn.hook_pattern), or --map to say which they are, and type float16, "
             "float32 or float64; batch axes of one do not matter.  Heads may be [heads, tokens, width], [tokens, "
             "heads, width] or side by side, [tokens, heads * width]; where there are as many heads as tokens, the "
             "order that agrees better is taken and a note says so.\n"
             "Names of TransformerLens: hook_q and hook_k are our q and k unless there are hook_rot_q and "
             "hook_rot_k, after rotation; hook_attn_out and hook_mlp_out are what a branch adds; hook_normalized is "
             "our norm, before its weight and bias or after them.\n"
             "No mistake: what changes no prediction is recognised, told and not counted, unless with --exact.  "
             "Embedding, outputs of branches and the stream may be less the mean of each row where LayerNorms read "
             "them (centred), norms may come before their weight and bias (folded), values may be less their bias "
             "(moved), logits less a number for each row (shifted), as TransformerLens makes them unless it is told "
             "not to; and masks may be numbers as low as -1e4, -1e9 or the lowest there is.\n"
             "Rounding: activations agree if it explains what differs.  Sums of float32 numbers in another order "
             "differ in the last places of what was summed, not of what is left, so a difference is measured against "
             "the row, or for dots against |q| |k|, and against the differences of what the activation is computed "
             "from.  Where one side has only numbers of bf16 or float16, these are what is rounded to, and the first "
             "line says \"agrees to bf16 rounding\".  With --atol, --rtol or --exact every number has the same "
             "limit.\n"
             "The cause: it is named where the shape of the first difference reveals it; with -m MODEL the weights "
             "are tried too, and of two models the weight in which they differ is named, or the edits of A.  Dump "
             "everything (run --show '*') on both sides: that helps with the cause, and what is missing between two "
             "activations is taken to be right.\n"
             "What comes next: where both sides have logits, the end says what it is on each, and the divergence "
             "KL(B || A) of the two distributions in nats, at the last token and in the mean over all rows.",
    .examples = (const struct pair[]){
        {"attn-cli run -m ./gpt2 -s \"Hello there\" --show '*' -o ours.npz && attn-cli diff port/ ours.npz",
         "a port's .npy files "
         "against ours: where does it go wrong?"},
        {"attn-cli diff port.npz ours.npz --map 'layer{}_att=blocks.{}.attn.pattern' --map 'layer{}_out=resid_post'",
         "a port with names of its own; TransformerLens's are known"},
        {"attn-cli diff ./gpt2 ./converted", "two models: configuration, vocabulary, every weight"},
        {"attn-cli diff a.safetensors b.safetensors", "two files of weights"},
        {"attn-cli diff -m ./gpt2 --with ./converted -s \"Hello there\"", "two models on the same tokens"},
        {"attn-cli diff -m ./gpt2 --with ./gpt2 -s \"Hello there\" --compute bf16 --all", "how far is bf16 from f32?"},
        {"attn-cli diff -m tiny --with tiny -s \"Lily lost her red ball\" --ablate L0H1",
         "everything that one head changes"},
        {"attn-cli diff before.npz after.npz --exact", "the same bits?"},
        {"attn-cli diff port.npz ours.npz -o x.png", "B - A of the first activation that differs, as a picture"},
        {"attn-cli diff a.json b.json --format json | jq .cause", "for scripts"},
        {NULL, NULL}},
    .list_title = "What the columns say",
    .list = (const struct pair[]){
        {"max abs, mean abs", "the largest and the mean |A - B|"},
        {"max ulp", "the largest distance between the two, counted in float32 numbers"},
        {"~", "differs by no more than rounding explains"},
        {"NMSE", "mean squared difference over the variance of B: below 1e-4 a port is excellent, below 1e-2 good"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, corpus_options, encode_options, ids_options, label_options,
                                             cross_options, select_compared_options, diff_dump_options, options,
                                             edit_options, from_options, csv_options, page_language_options,
                                             picture_options, key_picture_options, thread_options, general_options,
                                             NULL},
    .word = "A",
    .second = "B",
    .paths = true,
    .verdict = true,
    .report = true,
};
