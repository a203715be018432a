/* cmd_run.c - runs one sentence through a model and prints or writes its activations. */
#include "attn_ask.h"
#include "attn_tools.h"
#include "ablations.h"
#include "asking.h"
#include "opts_attention.h"
#include "metrics.h"
#include "opts_language.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "pager.h"
#include "run_page.h"
#include "say.h"
#include "session.h"
#include "texts.h"

#include "base/err.h"
#include "base/format.h"

#include <stdlib.h>
#include <string.h>

enum { LIVE_MOST = 64 << 20 };           /* bytes of weights that a page can hold, as the library says */

static struct {
    const char *format, *path, *gradient;
    bool times, ablations, dry_run, words, live;
    const struct command *page;         /* that writes one; NULL: run itself */
    struct number precision;
    struct many metrics;
} o = {.precision = {.n = OUTPUT_PRECISION}};

struct run {
    struct session of;
    struct attn_select *select;
    struct attn_metric *metric;         /* of --gradient; NULL: activations are shown */
    struct attn_slopes *slopes;
    struct metrics metrics;
    struct attn_ablated *ablated; size_t n_ablated;     /* of --ablations */
    struct steps steps;                 /* the heads of --ablations */
};

/* Whether a table is written in place of activations. */
static bool answers(void)
{
    return o.ablations || o.metrics.n;
}

/* Rollout goes back through the layers of one text; this is said before the output begins. */
static int check_rollout(const struct run *s, struct attn_err *err)
{
    struct attn_info info;
    attn_model_info(s->of.model, &info);
    for (size_t layer = 0; layer < info.L && s->of.cross; layer++)
        if (attn_select_wants(s->select, ATTN_ACT_ROLLOUT, (int)layer))
            return attn_fail(err, ATTN_EUSAGE, "--show rollout: follows attention from layer to layer within one text, "
                                               "and with --cross the keys are another's: leave one of them out");
    return ATTN_OK;
}

static int open_all(struct run *s, struct attn_err *err)
{
    struct attn_kind kind = attention_kind();
    int code = session_open(&s->of, &run_command, o.format, o.path, SESSION_CROSSES, err);
    if (!code)
        code = select_shown(&s->select, s->of.model, &kind, format_default_show(o.format), err);
    if (!code)
        code = check_rollout(s, err);
    if (!code)
        code = metrics_bind(&s->metrics, &s->of, err);
    if (!code)
        code = session_edit(&s->of, o.dry_run ? EDITS_UNRUN : EDITS_TEXT, err);
    const struct attn_format *format = attn_format_find(o.format ? o.format : "text");
    if (!code && !s->metric && !o.metrics.n && format->flags & ATTN_FORMAT_COMPARE)
        code = edits_compare(&s->of.edits, s->of.model, err);
    return code;
}

/* ---- gradients --------------------------------------------------------------------------- */

static int check_gradient(struct run *s, struct attn_err *err)
{
    if (!o.gradient)
        return o.times ? attn_fail(err, ATTN_EUSAGE,
                                   "--times multiplies gradients by activations: give --gradient METRIC, too")
                       : ATTN_OK;
    if (crossing.text || crossing.file || crossing.ids)
        return attn_fail(err, ATTN_EUSAGE, "--gradient with --cross: there is no backward pass through the keys of "
                                           "another text");
    return attn_metric_new(&s->metric, o.gradient, err);
}

static int find_slopes(struct run *s, const int32_t *ids, struct attn_err *err)
{
    struct progress progress;
    struct attn_plan plan = plan_asked();
    progress_start(&progress, s->of.model, true);
    struct attn_observer watcher = progress_observer(&progress);
    struct attn_slopes_opts opts = {.metric = s->metric, .select = s->select, .times = o.times, .plan = plan,
                                    .editor = s->of.edits.editor, .observers = &watcher, .n_observers = 1};
    int code = bind_metric(s->metric, s->of.model, &s->of.tokenizer, ids, s->of.tokens->n, err);
    if (!code)
        code = attn_metric_refer_to(s->metric, s->of.model, s->of.tokens, &plan, err);
    if (!code && attn_metric_refers(s->metric) && !s->of.edits.list)
        say_note("attn-cli run: without edits kl is 0, and so are its derivatives: it measures how far edits move the "
                 "prediction");
    if (!code)
        code = attn_slopes_new(&s->slopes, s->of.model, s->of.tokens, &opts, err);
    progress_end(&progress);
    return code;
}

static int differentiate(struct run *s, struct attn_err *err)
{
    int32_t *ids = NULL;
    int code = attn_tokens_to_ids(&ids, s->of.tokens, err);
    if (!code)
        code = find_slopes(s, ids, err);
    free(ids);
    return code;
}

/* ---- a page that computes ---------------------------------------------------------------- */

/* What keeps a page from computing, which is then shown as it was computed; NULL: nothing. */
static const char *keeps_still(const struct run *s)
{
    struct attn_info info;
    attn_model_info(s->of.model, &info);
    return info.bytes > LIVE_MOST ? "its model has more than 64 MB of weights"
           : s->of.cross ? "it shows two texts (--cross)" : compute_bf16() ? "it computes in float32 (--compute)"
               : NULL;
}

static bool is_live(const struct run *s)
{
    const char *why = o.live ? keeps_still(s) : NULL;
    if (why)
        say_note("%s: the page only shows what was computed: %s", o.path, why);
    return o.live && !why;
}

/* ---- metrics ----------------------------------------------------------------------------- */

static int check_metrics(struct run *s, struct attn_err *err)
{
    const struct { bool given; const char *name, *instead; } shown[] = {
        {o.gradient, "gradient", "which shows its metric's value beside the derivatives"},
        {selection.show && !o.ablations, "show", "which chooses activations, and these are not shown"},
        {selection.layer && !o.ablations, "layer", "which chooses activations, and these are not shown"},
        {selection.head && !o.ablations, "head", "which chooses activations, and these are not shown"},
        {o.words, "words", "which merges tokens of activations, and these are not shown"}};
    char names[64];
    const struct attn_format *f = attn_format_find(o.format ? o.format : "text");
    if (!o.metrics.n)
        return ATTN_OK;
    list_formats(names, sizeof names, ATTN_FORMAT_TABLE, false, " or ");
    if (!(f->flags & ATTN_FORMAT_TABLE))
        return attn_fail(err, ATTN_EUSAGE, "--metric: only --format %s has one row per metric, not %s", names, f->name);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (shown[i].given)
            return attn_fail(err, ATTN_EUSAGE, "--metric with --%s, %s: leave one of them out", shown[i].name,
                             shown[i].instead);
    return metrics_read(&s->metrics, &o.metrics, err);
}

/* ---- what comes next without each head ----------------------------------------------------- */

static int check_ablations(struct attn_err *err)
{
    char names[64];
    const struct attn_format *f = attn_format_find(o.format ? o.format : "text");
    if (!o.ablations)
        return ATTN_OK;
    list_formats(names, sizeof names, ATTN_FORMAT_ABLATED, false, " or ");
    if (!(f->flags & ATTN_FORMAT_ABLATED))
        return attn_fail(err, ATTN_EUSAGE, "--ablations: only --format %s shows what comes next without each head, not "
                                           "%s; for one head, --ablate L1H2 works in every format", names, f->name);
    if (crossing.text || crossing.file || crossing.ids)
        return attn_fail(err, ATTN_EUSAGE, "--ablations with --cross: a run without a head begins at its layer, where "
                                           "nothing is kept of the other text: leave one of them out");
    if (o.gradient)
        return attn_fail(err, ATTN_EUSAGE, "--ablations with --gradient: a page of gradients shows no next tokens: "
                                           "leave one of them out");
    return ATTN_OK;
}

static int say_step(void *self, size_t done, size_t all, struct attn_err *err)
{
    struct run *s = self;
    (void)err;
    steps_say(&s->steps, "without head %zu of %zu", done, all);
    return ATTN_OK;
}

static int ablate(struct run *s, struct attn_err *err)
{
    const struct attn_ablate_opts opts = {
        .tokens = s->of.tokens, .heads = s->select, .editor = s->of.edits.editor,
        .plan = plan_asked(), .step = say_step, .self = s, .metric = s->metrics.without, .n_metrics = s->metrics.n};
    int code = attn_ablate_heads(&s->ablated, &s->n_ablated, s->of.model, &opts, err);
    erase_line(&s->steps.shown);
    if (!code && !s->n_ablated)
        code = attn_fail(err, ATTN_EUSAGE,
                         "--ablations: --show selects no matrix of a head, such as pattern, where the page could show "
                         "what comes next without it");
    return code;
}

/* ---- the first look ------------------------------------------------------------------------ */

/* Whoever names neither a format nor activations gets one screen, wherever it goes. */
static bool is_first_look(void)
{
    return !o.format && !selection.show && !selection.layer && !selection.head && !o.gradient && !o.precision.given &&
           !answers();
}

/* What to go on with, as fits the model and the input. */
static void make_hints(struct attn_sink_hint list[4], const struct run *s)
{
    struct attn_info info;
    size_t n = 0;
    attn_model_info(s->of.model, &info);
    list[n++] = (struct attn_sink_hint){explain_command.name, true};
    if (!s->of.cross)
        list[n++] = (struct attn_sink_hint){info.L * info.H > 1 ? heads_command.name : variants_command.name, false};
    list[n++] = (struct attn_sink_hint){page_command.name, false};
    list[n] = (struct attn_sink_hint){NULL, false};
}

/* Tokens are as they were before any edit: in a format without the comparison they say nothing of what edits do. */
static void note_edits(const struct run *s)
{
    struct attn_info info;
    attn_model_info(s->of.model, &info);
    const struct attn_format *f = attn_format_find(o.format ? o.format : "text");
    bool tokens = selection.show && !strcmp(selection.show, "tokens");
    if (tokens && s->of.edits.list && info.unembed && !s->metric && !(f->flags & ATTN_FORMAT_COMPARE) &&
        !option_given(compare_options))
        say_note("edits do not change tokens, which is all that %s shows: what comes next before and after them is in "
                 "--format text, and in json under \"compare\"", f->name);
}

/* What --ablations and --metric ask for, in place of activations. */
static int answer(struct run *s, const struct run_answer *a, struct attn_err *err)
{
    if (!o.metrics.n)
        return ablations_write(&(struct ablations){s->ablated, s->n_ablated, s->of.tokenizer}, a, err);
    int code = o.ablations ? ATTN_OK : metrics_measure(&s->metrics, &s->of, !terminal_is(o.path), err);
    return code ? code : metrics_write(&s->metrics, a, (int)o.precision.n, s->ablated, s->n_ablated, err);
}

static int show(struct run *s, struct attn_err *err)
{
    const struct run_answer a = {&s->of, o.format, o.path};
    int code = open_all(s, err);
    if (!code && o.dry_run)
        return edits_print(&s->of.edits, err);
    if (!code && o.ablations)
        code = metrics_refer(&s->metrics, &s->of, err);
    if (!code && o.ablations)
        code = ablate(s, err);
    if (!code && s->metric)
        code = differentiate(s, err);
    struct attn_sink_gradient gradient = {.metric = o.gradient, .times = o.times,
                                          .value = s->slopes ? attn_slopes_value(s->slopes) : 0};
    struct attn_sink_hint hints[4];
    bool screen = is_first_look() || (o.format && !strcmp(o.format, "screen"));
    if (!code && screen)
        make_hints(hints, s);
    if (!screen && (!o.format || !strcmp(o.format, "text") || !strcmp(o.format, "term")))
        pager_hold();
    struct output output = {
        .command = o.page ? o.page : &run_command, .format = screen ? "screen" : o.format, .hints = screen ? hints
            : NULL, .path = o.path,
        .precision = (int)o.precision.n, .model = s->of.model,
        .select = s->select, .tokens = s->of.tokens, .tokenizer = s->of.tokenizer, .text = s->of.in.text,
        .len = s->of.in.len, .cross = s->of.cross,
        .cross_text = s->of.other.text, .cross_len = s->of.other.len, .slopes = s->slopes,
        .gradient = s->slopes ? &gradient : NULL,
        .ablated = s->ablated, .n_ablated = s->n_ablated, .words = o.words, .live = is_live(s),
        .edits = &s->of.edits};
    const struct attn_format *format = attn_format_find(output.format ? output.format : "text");
    if (!code && answers() && format->flags & ATTN_FORMAT_TABLE)
        code = answer(s, &a, err);
    else if (!code)
        code = output_write(&output, err);
    if (!code && !answers())
        note_edits(s);
    return code;
}

static void end(struct run *s)
{
    free(s->ablated);
    metrics_free(&s->metrics);
    attn_slopes_free(s->slopes);
    attn_metric_free(s->metric);
    attn_select_free(s->select);
    session_close(&s->of);
}

/* Sets the format only if it is given or implied, so that the repro command has no defaults. */
static int choose_format(struct attn_err *err)
{
    char names[128];
    if (!o.format)
        o.format = activations_format_of(o.path);
    if (answers())
        return output_choose_format(&o.format, o.path, &run_command, err);
    list_formats(names, sizeof names, ATTN_FORMAT_RUN, false, " or ");
    if (o.format && !(attn_format_find(o.format)->flags & ATTN_FORMAT_RUN))
        return attn_fail(err, ATTN_EUSAGE, "--format %s is for a table, which --metric and --ablations make: expected, "
                                           "for activations, %s", o.format, names);
    if (picture_check(&run_command, is_first_look() ? "screen" : o.format, err))
        return err->code;
    return output_check_format(o.format, o.path, err);
}

static int check_output(struct attn_err *err)
{
    if (o.dry_run && (o.format || o.path))
        return attn_fail(err, ATTN_EUSAGE, "--dry-run runs nothing and lists edits on standard output: leave --format "
                                           "and -o out");
    return choose_format(err);
}

static int run(struct attn_err *err)
{
    struct run s = {.metric = NULL};
    int code = check_output(err);
    if (!code)
        code = check_ablations(err);
    if (!code)
        code = check_metrics(&s, err);
    if (!code)
        code = check_gradient(&s, err);
    if (!code)
        code = show(&s, err);
    end(&s);
    return code;
}

int run_page(const struct command *c, const char *path, bool live, struct attn_err *err)
{
    o.format = "html";
    o.path = path;
    o.live = live;
    o.page = c;
    return run(err);
}

/* Many texts, as batch writes them. */
static int stream(struct attn_err *err)
{
    const struct option *row;
    if (answers() || o.gradient || o.words || o.dry_run)
        return attn_fail(err, ATTN_EUSAGE, "%s has several texts, which are written as batch does, without --metric, "
                         "--ablations, --gradient, --words and --dry-run: --nth 0 takes the first, and "
                         "--format text or json has them all", texts_source());
    for (size_t i = 0; (row = option_at(&batch_command, i)); i++)
        if (!strcmp(row->name, "format") || !strcmp(row->name, "output"))
            *(const char **)row->to = !strcmp(row->name, "format") ? o.format : o.path;
        else if (!strcmp(row->name, "force"))
            *(bool *)row->to = true;    /* run has always replaced what it wrote */
    return batch_command.run(err);
}

static const char *format_choice(size_t i)
{
    return format_name(i, ATTN_FORMAT_RUN | ATTN_FORMAT_TABLE);
}

static void explain_format(char help[OPTION_HELP])
{
    char names[OPTION_HELP / 2], more[64] = "";
    list_formats(names, sizeof names, ATTN_FORMAT_RUN, true, ", ");
    for (const struct attn_format *f = NULL; (f = attn_format_next(f));)
        if (f->flags & ATTN_FORMAT_TABLE && !(f->flags & ATTN_FORMAT_RUN))
            snprintf(more + strlen(more), sizeof more - strlen(more), "%s%s", *more ? " and " : "", f->name);
    snprintf(help, OPTION_HELP, "how to print: %s; the tables of --metric and --ablations also as %s; default: by the "
             "ending of the -o path, else text", names, more);
}

static const struct option options[] = {
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = format_choice, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file, or to this directory, made with its parents; "
     "DIR/ is one of CSV tables (default: -, standard output)",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "metric", OPT_MANY, &o.metrics, "METRIC",
     "print the value of METRIC instead of activations: loss, kl (from the run without edits), or terms such as "
     "logit(\" the\")-2*prob(5,pos=3); also logprob and rank; TOKEN is a text or an id, pos the row, the last one by "
     "default.  With edits also what it is without them, and the difference; with --ablations, without each head.  May "
     "be given again: one row per metric", .section = OF_SHOWN, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "gradient", OPT_TEXT, &o.gradient, "METRIC",
     "show the derivative of METRIC with respect to each activation: of loss, or of terms such as "
     "logit(\" the\")-2*prob(5,pos=3); also logprob; TOKEN is a text or an id, pos the row, the last one by default",
     .section = OF_SHOWN, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "times", OPT_FLAG, &o.times, NULL, "with --gradient: each derivative times the activation (gradient x input)",
     .section = OF_SHOWN, .flags = OPT_COUNTS},
    {0, "dry-run", OPT_FLAG, &o.dry_run, NULL,
     "run nothing: list what each edit would change (activation, heads, rows, columns or keys, how many numbers)",
     .section = OF_EDIT,
     .flags = OPT_COUNTS},
    {0, "precision", OPT_NUMBER, &o.precision, "N", "digits after the point, in text only (default: 4)",
     .max = ATTN_PRECISION_MOST,
     .section = OF_OUTPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct option run_page_options[] = {
    {0, "words", OPT_FLAG, &o.words, NULL,
     "merge the tokens of each word, in every format, as a page does: pattern and rollout are summed over the tokens "
     "of a key's word and averaged over those of a query's, so that rows still sum to 1; context is averaged",
     .section = OF_SHOWN, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "ablations", OPT_FLAG, &o.ablations, NULL, "what comes next without each head: in formats of text a row a "
     "head, with the divergence KL(with it || without it) in nats, in place of activations; with --format html a "
     "button at each head, and the overview says how much it matters; with --metric one row per head and metric: with "
     "all heads, without it, the difference; computes one more run from each head's layer on",
     .section = OF_SHOWN, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct pair *run_activations(void)
{
    enum { NOTE = 48 };
    static char text[ATTN_ACTS][ATTN_ACT_TEXT], help[ATTN_ACTS][ATTN_ACT_HELP + NOTE];
    static struct pair list[ATTN_ACTS + 2];
    for (int act = 0; act < ATTN_ACTS; act++) {
        list[act] = (struct pair){attn_act_text(text[act], act), attn_act_help(help[act], act)};
        if (act == ATTN_ACT_DERIVED)
            strcat(help[act], ".  From here on derived; not included in *");
    }
    list[ATTN_ACTS] = (struct pair){"tokens", "the token table"};
    return list;
}

const struct command run_command = {
    .name = "run",
    .schemas = (const char *const[]){"run", "measured", "manifest", "many", NULL},
    .run = run,
    .texts = TEXTS,
    .streams = stream,
    .usage = "run TEXT... [-f FILE] [-m DIR|NAME] [--show LIST] [--format F] [-o PATH]",
    .section = IN_SENTENCE,
    .summary = "one sentence: print or dump the chosen activations",
    .about = "Turns a sentence into tokens, runs it through the model and shows what was computed on the way: by "
             "default a first look, at most 40 lines of 80 columns.  It has the attention matrix (who attends to whom; "
             "rows sum to 1) and the context vectors of the head whose rows look most beyond themselves and the first "
             "token, that head among those of its layer, the main role of each head, what the last tokens look at, and "
             "what comes next.  With --show, --layer, --head or a format it prints or writes what is named; --format "
             "text has every matrix and context vector; more than 4000 numbers on a terminal are summarised.  Several "
             "texts are written as batch writes them.",
    .examples = (const struct pair[]){
        {"attn-cli run \"Life is short, eat dessert first\"", "a first look: who looks at whom"},
        {"attn-cli run \"Life is short\" --format text", "every matrix and context vector"},
        {"attn-cli run -s \"Life is short\" --show dots,scores,pattern --precision 6", "from dot products to weights"},
        {"attn-cli run -m ./gpt2 -s \"Hello there\" --layer 0-2 --head 5 -o heads.npz", "some heads, for NumPy"},
        {"attn-cli run -s \"Life is short\" -o life.png", "the patterns as heat maps; .svg for papers"},
        {"attn-cli run -m tiny -s \"Lily lost her red ball\" --ablations --show pattern,lens -o ball.html",
         "a page: every head, what comes next without it, what each layer would predict"},
        {"attn-cli run -s \"Life is short\" --cross \"eat dessert first\"",
         "cross-attention: how one text looks at another"},
        {"attn-cli run -s \"Life is short\" --attention window:2", "the same weights, but each token sees only two"},
        {"attn-cli run -m tiny -s \"Lily lost her red\" --gradient 'logit(\" ball\")' --show context",
         "what a prediction depends on"},
        {"attn-cli run -s \"Lily lost her red ball\" --show tokens --edit 'L2H0 = 0'",
         "without head 0 of layer 2: what comes next, before and after"},
        {"attn-cli run -s \"Lily lost her red\" --metric 'logprob(\" ball\")' --metric loss --edit 'L2H0 = 0'",
         "what that does to numbers of the prediction"},
        {"attn-cli run -s \"Lily lost her red\" --ablations --metric 'logprob(\" ball\")' -o heads.csv",
         "and without each head, as a table"},
        {"attn-cli run -s \"Lily lost her red ball\" --patch 'L1.resid_post[pos=3]' --from \"Lily lost her big ball\"",
         "one activation taken from a run of another text"},
        {"attn-cli run -m tiny \"Lily lost her red ball\" --show L2H3,L5.mlp.out -o ball.npz",
         "one head, and a part of another layer"},
        {"echo \"eat dessert first\" | attn-cli run --format json", "for jq"},
        {NULL, NULL}},
    .list_title = "Activations (short names; H heads, T tokens, N layers)",
    .rows = run_activations,
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options, encode_options,
                                             ids_options, label_options, cross_options, select_options, options,
                                             run_page_options, page_language_options, edit_options, from_options,
                                             compare_options, csv_options, picture_options, key_picture_options,
                                             attention_options, dropout_seed_options, compute_options, thread_options,
                                             general_options, NULL},
};
