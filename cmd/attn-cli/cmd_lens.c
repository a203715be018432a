/* cmd_lens.c - what the model would predict if it ended at each point of the residual stream. */
#include "attn_ask.h"
#include "asking.h"
#include "opts_attention.h"
#include "opts_language.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "say.h"
#include "session.h"
#include "texts.h"

#include "base/err.h"

#include <string.h>

static struct {
    const char *target, *points, *format, *path;
    struct number top;
} o;

struct lens {
    struct session of;
    int32_t target;
};

static int open_all(struct lens *s, struct attn_err *err)
{
    if (output_choose_format(&o.format, o.path, &lens_command, err) ||
        session_open(&s->of, &lens_command, o.format, o.path, SESSION_SPELLS, err) ||
        (o.target && read_token(&s->target, o.target, s->of.model, s->of.tokenizer, err)))
        return err->code;
    return session_edit(&s->of, EDITS_TEXT, err);
}

static int look(struct lens *s, struct attn_err *err)
{
    bool terminal = terminal_is(o.path);
    int code = open_all(s, err);
    if (code)
        return code;
    struct attn_observer observers[2];
    size_t n = session_observe(&s->of, observers, !terminal);
    const struct attn_lens_opts opts = {
        .tokenizer = s->of.tokenizer, .text = s->of.in.text, .text_len = s->of.in.len,
        .target = o.target ? &s->target : NULL,
        .top = (size_t)o.top.n, .all = o.points && !strcmp(o.points, "all"), .format = o.format, .path = o.path,
        .width = terminal_columns(terminal), .color = terminal_colored(terminal), .csv_safe = csv_safe(),
        .picture = picture_look(terminal),
        .threads = (int)common.threads.n, .bf16 = compute_bf16(), .kind = attention_kind(), .observers = observers,
        .n_observers = n, .edits = s->of.edits.list};
    code = attn_lens(s->of.model, s->of.tokens, &opts, err);
    progress_end(&s->of.progress);
    return code;
}

static int lens(struct attn_err *err)
{
    struct lens s = {.target = 0};
    int code = look(&s, err);
    session_close(&s.of);
    return code;
}

static const char *const points[] = {"resid_post", "all", NULL};

/* A heat map on the terminal would have no words. */
static const char *format_choice(size_t i)
{
    const char *name = NULL;
    for (size_t at = 0; (name = answer_format(at)) && (!strcmp(name, "term") || i-- > 0);)
        at++;
    return name;
}

static void explain_format(char help[OPTION_HELP])
{
    explain_tables(help, "tables of points by positions", "; or a picture: png, svg, pdf, html; default: by the "
                   "ending of the -o path, else text");
}

static const struct option options[] = {
    {0, "target", OPT_TEXT, &o.target, "TOKEN", "a token to follow: its logit, log-probability and rank at each point; "
                                                "a text that is one token, with its space, as in \" Mary\", or an id",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "top", OPT_NUMBER, &o.top, "K", "how many of the likeliest tokens (default: 1 in text and pictures, 5 in other "
                                        "formats); png, svg and pdf show only the first",
     .min = 1, .max = INT32_MAX, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "points", OPT_CHOICE, &o.points, "WHERE",
     "resid_post: the embedding and after each layer (the default); all: also "
     "between attention and mlp", .choices = points, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = format_choice, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file (default: -, standard output)",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {.name = NULL},
};

#define REFUSED "a lens looks at one text by itself; 'run --show lens' takes another"

const struct command lens_command = {
    .name = "lens",
    .schemas = (const char *const[]){"lens", "many", NULL},
    .run = lens,
    .texts = TEXTS,
    .usage = "lens TEXT... [-f FILE] [-m DIR|NAME] [--target TOKEN] [--top K] [--points resid_post|all] [--format "
             "F] [-o PATH]",
    .section = IN_HEADS,
    .summary = "what the model would predict at each layer",
    .about = "Applies the final norm and the output layer to the residual stream at each point: the embedding "
             "(resid_pre of layer 0) and what each layer leaves (resid_post), at every position.  Shows the likeliest "
             "next tokens there with their probabilities, the entropy of that prediction, its divergence KL(final || "
             "lens) from the final one, in nats, and the logit, log-probability and rank (1 is the likeliest) of a "
             "target.  Each row of the stream is normalised by its own statistics.  In pictures the likeliest token "
             "stands in each cell, coloured by its probability or, with a target, by that of the target.",
    .examples = (const struct pair[]){
        {"attn-cli lens -s \"Lily lost her red\"", "how the prediction forms, by the built-in model"},
        {"attn-cli lens -s \"Lily lost her red\" --target \" ball\" --points all", "where one token rises"},
        {"attn-cli lens -m tiny -s \"Lily lost her red\" --ablate L2.mlp.out", "without the MLP of layer 2"},
        {"attn-cli lens -m ./gpt2 -f note.txt --format csv --top 3 -o lens.csv", "a table for R or pandas"},
        {"attn-cli lens -s \"Lily lost her red\" -o lens.svg", "as a picture; .html to look around in"},
        {NULL, NULL}},
    .refused = (const struct pair[]){
        {"head", "a lens reads the residual stream, which has no heads; 'attribute' says what each head adds to it"},
        {"layer", "a lens shows every layer: --points all has the points between them, too"},
        {"cross", REFUSED}, {"cross-file", REFUSED}, {"cross-ids", REFUSED},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options,
                                             encode_options, ids_options, label_options,
                                             options, edit_options, from_options, page_language_options, csv_options,
                                             picture_options,
                                             attention_options, dropout_seed_options, compute_options, thread_options,
                                             general_options, NULL},
    .report = true,
};
