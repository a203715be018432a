/* cmd_variants.c - runs one sentence under every kind of attention. */
#include "attn_tools.h"
#include "opts_attention.h"
#include "opts_language.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "session.h"

#include <string.h>

#include "base/err.h"

static struct { const char *kinds, *format, *path; bool difference; const char *layer, *head; } o;

static struct attn_variants_opts options_of(const struct input *in)
{
    bool terminal = terminal_is(o.path);
    struct attn_picture_opts look = picture_look(terminal);
    if (o.difference && !look.palette)
        look.palette = "balance";       /* also where all differences have one sign */
    return (struct attn_variants_opts){
        .kinds = o.kinds, .text = in->text, .text_len = in->len,
        .format = o.format, .path = o.path, .width = terminal_columns(terminal), .color = terminal_colored(terminal),
        .picture = look, .difference = o.difference, .threads = (int)common.threads.n, .bf16 = compute_bf16()};
}

/* A table has the patterns as they are. */
static int check_difference(struct attn_err *err)
{
    const struct attn_format *f = o.format ? attn_format_find(o.format) : NULL;
    return o.difference && f && !(f->flags & ATTN_FORMAT_PICTURE)
               ? attn_fail(err, ATTN_EUSAGE, "--difference: a picture shows it, not %s: give a path such as -o x.png",
                           f->name)
               : ATTN_OK;
}

static int compare(struct session *s, struct attn_err *err)
{
    if (output_choose_format(&o.format, o.path, &variants_command, err) || check_difference(err) ||
        session_open(s, &variants_command, o.format, o.path, SESSION_EMPTY, err))
        return err->code;
    struct attn_variants_opts opts = options_of(&s->in);
    progress_start(&s->progress, s->model, !terminal_is(o.path));
    struct attn_observer observer = progress_observer(&s->progress);
    opts.observer = &observer;
    int code = attn_select_one(&opts.layer, &opts.head, s->model, o.layer, o.head, err);
    if (!code)
        code = attn_variants(s->model, s->tokens, &opts, err);
    progress_end(&s->progress);
    return code;
}

static int variants(struct attn_err *err)
{
    struct session s = {.model = NULL};
    int code = compare(&s, err);
    session_close(&s);
    return code;
}

/* The beginning of the i-th kind, up to its numbers, for completion. */
static const char *kind_choice(size_t i)
{
    static char begin[32];
    const char *form = attention_forms(false)[i].term;
    if (form)
        snprintf(begin, sizeof begin, "%.*s", (int)(strcspn(form, ":") + (strchr(form, ':') != NULL)), form);
    return form ? begin : NULL;
}

static void explain_kinds(char help[OPTION_HELP])
{
    char forms[OPTION_HELP / 2];
    list_terms(forms, sizeof forms, attention_forms(false), ", ");
    snprintf(help, OPTION_HELP, "which kinds, separated by commas or blanks: %s (default: one of each, with W, S and B "
                                "the square root of the sentence's length)", forms);
}

static void explain_format(char help[OPTION_HELP])
{
    explain_answers(help, "tables and the picture", "the picture alone");
}

static const struct option options[] = {
    {0, "kinds", OPT_LIST, &o.kinds, "LIST", NULL, .choice = kind_choice, .explain = explain_kinds,
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "layer", OPT_TEXT, &o.layer, "N",
     "the layer whose head is drawn, counted from 0, or from the end as in -1 (default: 0)",
     .section = OF_SHOWN, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "head", OPT_TEXT, &o.head, "N", "the query head that is drawn, counted from 0, or with its layer as in L3H0 "
     "(default: 0)",
     .section = OF_SHOWN, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "difference", OPT_FLAG, &o.difference, NULL, "draw what each kind changes: its pattern less the model's own",
     .section = OF_SHOWN, .flags = OPT_COUNTS},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = answer_format, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file (default: -, standard output)",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {.name = NULL},
};

const struct command variants_command = {
    .name = "variants",
    .schemas = (const char *const[]){"variants", NULL},
    .run = variants,
    .usage = "variants -s TEXT [-m DIR|NAME] [--kinds LIST] [--layer N] [--head N] [--format F] [-o PATH]",
    .section = IN_SENTENCE,
    .summary = "one sentence under every kind of attention: what changes, what it costs",
    .about = "Runs the sentence with the model's own attention, then, on the same weights, with each kind in every "
             "layer, and compares: the largest and the mean difference of patterns, context vectors and the last "
             "residual stream, over all layers and heads; the divergence of the next token's probabilities if there "
             "are logits; scores and operations; memory when nothing is watched; and the time attention takes.  Then "
             "it draws one head under each kind.",
    .examples = (const struct pair[]){
        {"attn-cli variants -s \"Life is short, eat dessert first\"", "every kind, as tables and shades"},
        {"attn-cli variants -m ./gpt2 -f note.txt --kinds \"causal window:64 linear\" --layer 3 --head 5",
         "some kinds, one head of interest"},
        {"attn-cli variants -s \"Life is short, eat dessert first\" -o kinds.png",
         "the picture alone; .html to look around in"},
        {"attn-cli variants -s \"Life is short, eat dessert first\" --difference -o changes.png",
         "what each kind changes"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, corpus_options, encode_options, ids_options, label_options,
                                             options, page_language_options, picture_options, key_picture_options,
                                             compute_options,
                                             thread_options, general_options, NULL},
    .plain = "term",
    .report = true,
};
