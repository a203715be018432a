/* cmd_explain.c - one attention weight derived step by step. */
#include "explained.h"

#include "attn_tools.h"
#include "opts_attention.h"
#include "opts_language.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "pick_token.h"
#include "say.h"
#include "session.h"
#include "texts.h"

#include "base/err.h"
#include "base/format.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct {
    const char *format, *path, *query, *key, *layer, *head;
    struct number precision;
    bool all;
} o = {.precision = {.n = OUTPUT_PRECISION}};

static int find_tokens(struct attn_explain_opts *e, const struct attn_tokens *t, struct attn_err *err)
{
    if (!t->n)
        return attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to explain");
    e->query = t->n - 1;
    e->key = ATTN_KEY_LARGEST;
    if (o.query && pick_token(&e->query, "query", o.query, t, "sentence", err))
        return err->code;
    if (!o.key)
        return ATTN_OK;
    return e->cross ? pick_token(&e->key, "key", o.key, e->cross, "other text", err)
                    : pick_token(&e->key, "key", o.key, t, "sentence", err);
}

/* ---- explaining -------------------------------------------------------------------------- */

static const char *format_of(const char *path)
{
    static const struct pair known[] = {
        {".md", "md"}, {".markdown", "md"}, {".html", "html"}, {".htm", "html"}, {".pdf", "pdf"}, {NULL, NULL}
    };
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (const struct pair *p = known; dot && p->term; p++)
        if (!strcasecmp(dot, p->term))
            return p->text;
    return "text";
}

static char note[ATTN_PLOT_NOTE];       /* what attn_explain says of a PDF's letters */

struct attn_explain_opts explained_opts(void)
{
    bool terminal = terminal_is(o.path);
    return (struct attn_explain_opts){
        .all = o.all,
        .format = o.format ? o.format : format_of(o.path),
        .path = o.path, .precision = (int)o.precision.n, .width = terminal_columns(terminal),
        .color = terminal_colored(terminal),
        .threads = (int)common.threads.n, .kind = attention_kind(),
        .font = picture_look(terminal).font, .font_index = picture_look(terminal).font_index,
        .note = note, .lang = language_of(terminal)};
}

/* Malloc'd, NULL: no memory. */
static char *command_for_run(void)
{
    const struct number seed = dropout_seed;
    if (!(attention_kind().dropout > 0))
        dropout_seed.given = NULL;      /* a worksheet's: a run has no use for it */
    char *same = repro_command(&run_command), *all = NULL;
    dropout_seed = seed;
    if (!same || !o.precision.given)
        return same;
    if (attn_asprintf(&all, "%s --precision %s", same, o.precision.given) < 0)
        all = NULL;
    free(same);
    return all;
}

/* Where nothing is chosen, the weight that tells most; a text of two tokens has none. */
static int choose_weight(struct attn_explain_opts *e, const struct session *s, struct attn_err *err)
{
    struct attn_telling t = {.weight = 0};
    const struct attn_plan plan = plan_asked();
    int code = attn_telling_find(&t, s->model, &plan, s->tokens, e->observer, err);
    if (code || !(t.weight > 0))
        return code;
    e->layer = t.layer;
    e->head = t.head;
    e->query = t.query;
    e->key = t.key;
    if (!terminal_is(o.path))
        return ATTN_OK;
    say_note("the largest weight on another token than the first and itself: L%zuH%zu, query %zu, key %zu; --head, "
             "--query and --key choose another", t.layer, t.head, t.query, t.key);
    return ATTN_OK;
}

static int derive(struct session *s, const struct command *c, const struct attn_explain_opts *asked, char **run,
                  struct attn_err *err)
{
    struct attn_explain_opts own = *asked, *e = &own;
    if (session_open(s, c, e->format, o.path, SESSION_CROSSES | SESSION_EMPTY, err) ||
        attn_select_one(&e->layer, &e->head, s->model, o.layer, o.head, err))
        return err->code;
    e->cross = s->cross;
    e->run = *run = command_for_run();
    if (!e->run)
        return attn_no_memory(err, NULL, "for the command line");
    progress_start(&s->progress, s->model, !terminal_is(o.path));
    int code = find_tokens(e, s->tokens, err);
    if (!code)
        code = session_edit(s, EDITS_TEXT, err);
    struct edits_and_progress both;
    struct attn_observer observer = edits_and_progress(&both, &s->edits, &s->progress);
    e->observer = &observer;
    e->edits = s->edits.list;
    if (!code && c == &explain_command && !o.layer && !o.head && !o.query && !o.key && !s->cross)
        code = choose_weight(e, s, err);
    if (!code)
        code = attn_explain(s->model, s->tokens, e, err);
    progress_end(&s->progress);
    return code ? code : renorm_report(s->model, s->tokens, e->threads, err);
}

int explained_write(const struct command *c, const struct attn_explain_opts *e, struct attn_err *err)
{
    struct session s = {0};
    char *run = NULL;                   /* the same input for run, which shares the options for it */
    int code = derive(&s, c, e, &run, err);
    session_close(&s);
    free(run);
    return code;
}

/* Refuses a path whose ending stands for a format that explain does not write. */
int explained_check_path(struct attn_err *err)
{
    const char *promised = o.format ? NULL : output_format_of(o.path);
    if (promised && strcmp(promised, format_of(o.path)))
        return attn_fail(err, ATTN_EUSAGE, "%s: explain writes text, .md, .html or .pdf, and run writes %s; with "
                                           "--format the name may be any", o.path, promised);
    if (picture_check(&explain_command, o.format ? o.format : format_of(o.path), err))
        return err->code;
    bool known = strcmp(format_of(o.path), "text") != 0;
    return known && !o.format ? ATTN_OK : output_check_format(o.format, o.path, err);
}

void explained_note(int code)
{
    if (!code && *note)
        say_note("%s", note);
}

const char *explained_given(void)
{
    const struct pair given[] = {{"layer", o.layer}, {"head", o.head}, {"query", o.query}, {"key", o.key}, {0}};
    const struct pair *g = given;
    while (g->term && !g->text)
        g++;
    return g->term;
}

static int explain(struct attn_err *err)
{
    struct attn_explain_opts e = explained_opts();
    int code = explained_check_path(err);
    if (!code)
        code = explained_write(&explain_command, &e, err);
    explained_note(code);
    return code;
}

static const char *const formats[] = {"text", "md", "html", "pdf", NULL};

const struct option explained_options[] = {
    {0, "layer", OPT_TEXT, &o.layer, "N", "the layer, counted from 0, or from the end as in -1 (default: that of the "
     "largest weight on another token than the first and the query itself; with any other choice 0)",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "head", OPT_TEXT, &o.head, "N", "the query head, counted from 0, or with its layer as in L3H0 (default: 0)",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "query", OPT_TEXT, &o.query, "TOKEN", "the token that looks: its index, counted from 0, or its text if it "
                                              "occurs once; of a word of several tokens it is the last (default: the "
                                              "last)", .flags = OPT_COUNTS | OPT_USUAL},
    {0, "key", OPT_TEXT, &o.key, "TOKEN", "the token it looks at, given the same way, from the other text if there is "
                                          "one (default: the one with the largest weight)",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "all", OPT_FLAG, &o.all, NULL, "shorten nothing: show every number of long vectors and texts",
     .section = OF_SHOWN, .flags = OPT_COUNTS},
    {0, "format", OPT_CHOICE, &o.format, "F",
     "text, md (Markdown), html (one page that needs nothing else) or pdf (A4, to print) (default: by the ending of "
     "the -o path, else text)",
     .choices = formats,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file (default: -, standard output)",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "precision", OPT_NUMBER, &o.precision, "N", "digits after the point (default: 4)",
     .max = ATTN_PRECISION_MOST,
     .section = OF_OUTPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct command explain_command = {
    .name = "explain",
    .run = explain,
    .texts = TEXTS,
    .one = true,
    .usage = "explain TEXT... [-f FILE] [-m DIR|NAME] [--layer N] [--head N] [--query TOKEN] [--key TOKEN] "
             "[--format F] [-o PATH]",
    .section = IN_SENTENCE,
    .summary = "derive one attention weight and one context vector step by step, with the numbers",
    .about = "Shows how a weight is computed: what the layer reads of both tokens, query and key as sums of products, "
             "the rotation where the model has rotary positions, the dot product term by term, scale, mask and softmax "
             "(or what --attention puts in their place), what the scale does to the weights, and how the weights mix "
             "the values into the context vector.  The numbers are those of a run, with the digits that run prints; "
             "anything computed in addition is marked.  Long vectors are shortened in the middle; their sums include "
             "all numbers.",
    .examples = (const struct pair[]){
        {"attn-cli explain -s \"Life is short, eat dessert first\" --query eat --key is",
         "why \"eat\" gives \"is\" the weight it does"},
        {"attn-cli explain -m ./gpt2 -s \"Hello there\" --layer 3 --head 5 -o handout.html",
         "for the last token, as a page to "
         "hand out"},
        {"attn-cli explain -s \"Life is short\" --scale none", "the largest weight and the entropy without scaling"},
        {NULL, NULL}},
    .refused = (const struct pair[]){
        {"worksheet", "'attn-cli lesson' makes worksheets, with --blank N"},
        {"blank", "'attn-cli lesson' makes worksheets"}, {"answers", "'attn-cli lesson' makes worksheets"},
        {"article", "'attn-cli lesson NAME' works through one"},
        {"words", "a derivation is of one weight, between two tokens; --query and --key find words that the tokenizer "
                  "has cut, and 'run' merges them"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options, encode_options,
                                             ids_options, label_options, cross_options, explained_options,
                                             language_options, font_options, edit_options, from_options,
                                             attention_options, dropout_seed_options, thread_options, general_options,
                                             NULL},
    .report = true,
};
