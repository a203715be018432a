/* cmd_attribute.c - takes a logit apart into what embeddings, heads and MLPs add to it. */
#include "attn_ask.h"
#include "asking.h"
#include "opts_attention.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "say.h"
#include "session.h"
#include "texts.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

static struct {
    const char *target, *foil, *pos, *format, *path;
    struct number neurons, top;
} o;

struct attribute {
    struct session of;
    int32_t target, foil;
    int64_t pos;
};

/* A position from the start, or with a minus from the end. */
static int read_pos(int64_t *pos, struct attn_err *err)
{
    char *end = NULL;
    errno = 0;
    long long n = o.pos ? strtoll(o.pos, &end, 10) : -1;
    *pos = n;
    if (o.pos && (!*o.pos || *end || errno || (*o.pos != '-' && (*o.pos < '0' || *o.pos > '9'))))
        return attn_fail(err, ATTN_EUSAGE,
                         "--pos: '%s' is not a position, such as 3 or, from the end, -1", excerpt(o.pos).text);
    return ATTN_OK;
}

static int check_usage(struct attribute *s, struct attn_err *err)
{
    if (!o.target)
        return attn_fail(err, ATTN_EUSAGE, "--target is missing: which token's logit is to be taken apart?");
    if (compute_bf16())
        return attn_fail(err, ATTN_EUSAGE,
                         "--compute bf16 does not go with attribution: rounded products do not add up to the logit");
    if (read_pos(&s->pos, err))
        return err->code;
    return output_choose_format(&o.format, o.path, &attribute_command, err);
}

static int open_all(struct attribute *s, struct attn_err *err)
{
    if (check_usage(s, err) || session_open(&s->of, &attribute_command, o.format, o.path, SESSION_SPELLS, err) ||
        read_token(&s->target, o.target, s->of.model, s->of.tokenizer, err) ||
        (o.foil && read_token(&s->foil, o.foil, s->of.model, s->of.tokenizer, err)))
        return err->code;
    return session_edit(&s->of, EDITS_TEXT, err);
}

static int take_apart(struct attribute *s, struct attn_err *err)
{
    bool terminal = terminal_is(o.path);
    int code = open_all(s, err);
    if (code)
        return code;
    struct attn_observer observers[2];
    size_t n = session_observe(&s->of, observers, !terminal);
    const struct attn_picture_opts picture = picture_look(terminal);
    const struct attn_attribute_opts opts = {
        .tokenizer = s->of.tokenizer, .text = s->of.in.text, .text_len = s->of.in.len, .target = s->target,
        .foil = o.foil ? &s->foil : NULL, .pos = s->pos, .neurons = (size_t)o.neurons.n, .top = (size_t)o.top.n,
        .format = o.format, .path = o.path, .width = terminal_columns(terminal), .color = terminal_colored(terminal),
        .bars = terminal, .threads = (int)common.threads.n, .kind = attention_kind(), .observers = observers,
        .n_observers = n,
        .edits = s->of.edits.list, .picture = &picture, .layers = selection.layer, .heads = selection.head};
    code = attn_attribute(s->of.model, s->of.tokens, &opts, err);
    progress_end(&s->of.progress);
    return code;
}

static int attribute(struct attn_err *err)
{
    struct attribute s = {.target = 0};
    int code = take_apart(&s, err);
    session_close(&s.of);
    return code;
}

static void explain_format(char help[OPTION_HELP])
{
    explain_tables(help, "parts and their sum", "; or png, svg and pdf, signed bars; default: by the ending of the -o "
                   "path, else text");
}

static const char *format_choice(size_t i)
{
    return format_name(i, ATTN_FORMAT_TABLE | ATTN_FORMAT_FIGURE);
}

static const struct option options[] = {
    {0, "target", OPT_TEXT, &o.target, "TOKEN", "the token whose logit is taken apart: a text that is one token, with "
                                                "its space, as in \" Mary\", or an id",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "foil", OPT_TEXT, &o.foil, "TOKEN", "a token whose logit is subtracted", .flags = OPT_COUNTS | OPT_USUAL},
    {0, "pos", OPT_TEXT, &o.pos, "P", "the position whose prediction it is, from the start or, below 0, from the end "
     "(default: -1, the last)", .flags = OPT_COUNTS | OPT_USUAL},
    {0, "neurons", OPT_NUMBER, &o.neurons, "K",
     "also list the K neurons of all MLPs that are largest in size (default: 0); they are parts of the MLPs and not in "
     "the sum", .max = INT32_MAX,
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "top", OPT_NUMBER, &o.top, "K",
     "text and figures: only the K parts largest in size, and the sum of the others (default: 0, all in the order of "
     "the forward pass)", .max = INT32_MAX, .section = OF_SHOWN,
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = format_choice, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file (default: -, standard output)",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {.name = NULL},
};

#define REFUSED "what is taken apart is the stream of one text by itself"

const struct command attribute_command = {
    .name = "attribute",
    .schemas = (const char *const[]){"attribute", "many", NULL},
    .run = attribute,
    .texts = TEXTS,
    .usage = "attribute -s TEXT --target TOKEN [-m DIR|NAME] [--foil TOKEN] [--pos P] [--neurons K] [--format F] [-o "
             "PATH]",
    .section = IN_HEADS,
    .summary = "which heads and layers a logit comes from",
    .about = "The residual stream at a position is the sum of what was added to it: embeddings, each head, each bias "
             "of attention, each MLP.  With the scale of the final norm frozen at what it is for that row, a logit is "
             "then a sum of one share per part and a constant.  This is direct logit attribution.  Heads are L0H0 and "
             "so on; where values have biases, these are part of the heads.  bias is that of the final norm and of the "
             "output layer.  With --foil the difference of two logits is taken apart, which says what favours one "
             "token over the other.  The remainder is what rounding, or an edit of the stream itself, leaves between "
             "the sum and the logit.  With edits all numbers are those of the edited run.",
    .examples = (const struct pair[]){
        {"attn-cli attribute -s \"Lily lost her red\" --target \" ball\"", "by the built-in model"},
        {"attn-cli attribute -s \"Lily lost her red\" --target \" ball\" --foil \" dress\" --top 8",
         "why this rather than that"},
        {"attn-cli attribute -s \"Lily lost her red\" --target \" ball\" --neurons 5", "and which neurons"},
        {"attn-cli attribute -s \"Lily lost her red\" --target \" ball\" --top 12 -o parts.pdf",
         "as bars, for a paper"},
        {"attn-cli attribute -m tiny -s \"Lily lost her red\" --target \" ball\" --ablate L2H0",
         "in a run without one head"},
        {"attn-cli attribute -m ./gpt2 -f note.txt --target \" Mary\" --pos 12 --format csv -o parts.csv", "a table"},
        {NULL, NULL}},
    .refused = (const struct pair[]){
        {"cross", REFUSED}, {"cross-file", REFUSED}, {"cross-ids", REFUSED},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options,
                                             encode_options, ids_options, label_options,
                                             options, place_options, edit_options, from_options, paper_options,
                                                 attention_options,
                                             dropout_seed_options, compute_options, thread_options, general_options,
                                             NULL},
    .report = true,
};
