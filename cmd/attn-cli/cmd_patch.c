/* cmd_patch.c - which piece of an activation, taken from another text, changes what the model says. */
#include "attn_ask.h"
#include "attn_tools.h"
#include "asking.h"
#include "opts_attention.h"
#include "opts_language.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "say.h"
#include "session.h"
#include "texts.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *what, *over, *metric, *method, *format, *path;
    struct number precision;
} o = {.precision = {.n = 2}};

struct patch {
    struct session of;                    /* its edits have the other text */
    struct attn_metric *metric;
    struct attn_patch *patch;
    int32_t *ids;
    struct steps steps;
};

/* ---- what is asked ----------------------------------------------------------------------- */

/* All that is missing at once, and the command line as it was typed with that in it. */
static int check_needed(struct attn_err *err)
{
    const struct { bool given; const char *option, *example; } needed[] = {
        {sourcing.text || sourcing.ids, "--from TEXT (the other text, or --from-ids IDS)", " --from TEXT2"},
        {o.what, "--what NAME (what is taken from the other text)", " --what resid_pre"},
        {o.over, "--over AXES (the pieces it is taken in)", " --over layer,pos"},
        {o.metric, "--metric METRIC (what is measured)", " --metric loss"}};
    char list[256] = "", more[96] = "";
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].given) {
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", needed[i].option);
            snprintf(more + strlen(more), sizeof more - strlen(more), "%s", needed[i].example);
        }
    if (!*list)
        return ATTN_OK;
    char *typed = brief_command(&patch_command);
    bool input = common.sentence || common.file || common.ids;
    attn_fail(err, ATTN_EUSAGE, "give %s: %s%s%s", list, typed ? typed : "attn-cli patch", input ? "" : " -s TEXT",
              more);
    free(typed);
    return err->code;
}

static int check(struct attn_err *err)
{
    int code = check_needed(err);
    return code ? code : output_choose_format(&o.format, o.path, &patch_command, err);
}

static int open_all(struct patch *s, struct attn_err *err)
{
    int code = check(err);
    if (!code)
        code = attn_metric_new(&s->metric, o.metric, err);
    if (!code)
        code = session_open(&s->of, &patch_command, o.format, o.path, SESSION_SPELLS, err);
    if (!code)
        code = edits_open(&s->of.edits, &s->of.tokenizer, err);
    if (!code)
        code = input_label(s->of.edits.from, &s->of.tokenizer, &s->of.edits.input, s->of.model,
                           output_is_seen(o.format, o.path), err);
    if (!code)
        code = attn_tokens_to_ids(&s->ids, s->of.tokens, err);
    if (!code)
        code = bind_metric(s->metric, s->of.model, &s->of.tokenizer, s->ids, s->of.tokens->n, err);
    return code ? code : edits_bind(&s->of.edits, s->of.model, s->of.tokens, NULL, EDITS_TEXT, err);
}

/* ---- the grid ---------------------------------------------------------------------------- */

static int say_step(void *self, size_t done, size_t all, struct attn_err *err)
{
    struct patch *s = self;
    (void)err;
    steps_say(&s->steps, "%zu of %zu", done, all);
    return ATTN_OK;
}

static int make(struct patch *s, struct attn_err *err)
{
    const struct attn_patch_opts opts = {
        .tokens = s->of.tokens, .from = s->of.edits.from, .what = o.what, .over = o.over, .method = o.method,
        .metric = s->metric,
        .editor = s->of.edits.editor,
        .plan = plan_asked(), .step = say_step, .overflow = note_overflow, .self = s};
    int code = attn_patch_new(&s->patch, s->of.model, &opts, err);
    erase_line(&s->steps.shown);
    return code;
}

static int report(const struct patch *s, struct attn_err *err)
{
    bool terminal = terminal_is(o.path);
    struct attn_patch_report_opts opts = {
        .format = o.format, .path = o.path, .model = s->of.model, .tokens = s->of.tokens, .from = s->of.edits.from,
        .text = s->of.in.text, .text_len = s->of.in.len, .from_text = s->of.edits.input.text,
        .from_len = s->of.edits.input.len,
        .what = o.what, .edits = s->of.edits.list, .method = o.method ? o.method : "exact", .metric = o.metric,
        .kind = attention_kind(), .precision = (int)o.precision.n, .width = terminal_columns(terminal),
        .color = terminal_colored(terminal), .picture = picture_look(terminal)};
    if (!opts.picture.palette)
        opts.picture.palette = "balance";                   /* effects have signs */
    return attn_patch_write(s->patch, &opts, err);
}

static int patch(struct attn_err *err)
{
    struct patch s = {.of.edits.needs_from = true};
    int code = open_all(&s, err);
    if (!code)
        code = make(&s, err);
    if (!code)
        code = report(&s, err);
    attn_patch_free(s.patch);
    attn_metric_free(s.metric);
    session_close(&s.of);
    free(s.ids);
    return code;
}

/* ---- options ----------------------------------------------------------------------------- */

static const char *const methods[] = {"exact", "gradient", "ig:", NULL};

static void explain_format(char help[OPTION_HELP])
{
    explain_answers(help, "both texts and a grid", "a picture of the effects");
}

static const struct option options[] = {
    {0, "from", OPT_TEXT, &sourcing.text, "TEXT",
     "the other text, of as many tokens, that pieces are taken from; also that "
     "of edits", .section = OF_INPUT, .flags = OPT_OTHER | OPT_COUNTS | OPT_USUAL},
    {0, "from-ids", OPT_TEXT, &sourcing.ids, "IDS", "the same as token ids",
     .section = OF_INPUT, .flags = OPT_OTHER | OPT_COUNTS},
    {0, "what", OPT_TEXT, &o.what, "NAME",
     "which activation, as run names them: context, attn.out, resid_pre, mlp.out, v, embed",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "over", OPT_TEXT, &o.over, "AXES", "the grid: layer, or with commas layer,head, layer,pos, layer,head,pos; pos "
                                           "alone for activations that belong to no layer, such as embed.  A head of k "
                                           "or v is a key/value head",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "metric", OPT_TEXT, &o.metric, "METRIC", "what is measured: loss, kl (from the first text), or terms such as "
                                                 "logit(\" the\")-2*prob(5,pos=3); also logprob and rank; TOKEN is a "
                                                 "text or an id, pos the row, the last one by default",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "method", OPT_LIST, &o.method, "M", "exact: a run for each piece (the default); gradient: all predicted from "
                                            "one gradient; ig:STEPS: from the mean gradient of so many runs between "
                                            "the texts' embeddings", .choices = methods,
         .flags = OPT_COUNTS | OPT_USUAL},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = answer_format, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file (default: -, standard output)",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "precision", OPT_NUMBER, &o.precision, "N", "digits of effects after the point, in text only (default: 2)",
     .max = ATTN_PRECISION_MOST,
     .section = OF_OUTPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct command patch_command = {
    .name = "patch",
    .schemas = (const char *const[]){"patch", "many", NULL},
    .run = patch,
    .texts = TEXTS,
    .usage = "patch -s TEXT --from TEXT2 --what NAME --over AXES --metric METRIC [-m DIR|NAME] [--method M] [--format "
             "F] [-o PATH]",
    .section = IN_HEADS,
    .summary = "which piece of the activations matters: take each from the run of another text",
    .about = "For each piece of an activation, runs the text with that piece taken from the run of the other text, and "
             "measures.  The effect is 0 where the metric stays that of the text, and 1 where it becomes that of the "
             "other.  A run begins at the layer and the position of its piece, so a grid costs a fraction of as many "
             "whole runs, with the same bits.",
    .examples = (const struct pair[]){
        {"attn-cli patch -m tiny -s \"Lily lost her red ball\" --from \"Lily lost her big ball\" --what resid_pre "
         "--over layer,pos --metric 'logprob(\".\")'", "where the difference between two texts is carried"},
        {"attn-cli patch -m ./gpt2 -s \"When Mary and John went out, John gave it to\" --from \"When Mary and John "
         "went out, Mary gave it to\" --what context --over layer,head --metric 'logit(\" Mary\")-logit(\" John\")' -o "
         "heads.png",
             "which heads decide"},
        {"attn-cli patch -m tiny --ids 634,1085,324,723,500 --from-ids 767,1085,343,723,500 --what mlp.out --over "
         "layer,pos --metric loss --method gradient --format csv", "all pieces at once, to first order"},
        {"attn-cli patch -m tiny --ids 634,1085,324,723,500 --from-ids 767,1085,343,723,500 --what embed --over pos "
         "--metric 'logprob(13)' --method ig:32", "integrated gradients: the effects of all positions add up to 1"},
        {NULL, NULL}},
    .refused = (const struct pair[]){
        {"cross", "the pieces of a text that looks at another have no counterparts; 'run' shows the patterns"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options,
                                             encode_options, ids_options, label_options,
                                             options, edit_options, page_language_options, picture_options,
                                             attention_options,
                                             dropout_seed_options, compute_options, thread_options, general_options,
                                             NULL},
    .report = true,
};
