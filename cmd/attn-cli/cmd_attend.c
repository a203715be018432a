/* cmd_attend.c - attention on numbers that are typed or read from files. */
#include "attn_tools.h"
#include "cosines.h"
#include "opts_attention.h"
#include "opts_language.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "pager.h"
#include "pick_token.h"
#include "say.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct {
    const char *given[ATTN_ATTEND_INPUTS], *hide, *weights, *names, *key_names, *format, *path, *key, *cosines;
    struct number heads, precision;
    struct real cap;
    bool transposed, late, explain, all;
} o = {.precision = {.n = OUTPUT_PRECISION}};

/* ---- what is given ----------------------------------------------------------------------- */

/* A mask may be one that has a name in a model's configuration. */
static int read_mask(struct attn_attend_opts *a, struct attn_err *err)
{
    const char *mask = o.given[ATTN_ATTEND_MASK];
    if (o.hide && mask)
        return attn_fail(err, ATTN_EUSAGE, "--mask and --hide: both say which keys are seen: leave one of them out");
    a->hides = o.hide != NULL;
    if (o.hide)
        a->given[ATTN_ATTEND_MASK] = o.hide;
    a->causal = mask && !strcmp(mask, "causal");
    if (a->causal || (mask && !strcmp(mask, "none")))
        a->given[ATTN_ATTEND_MASK] = NULL;
    return ATTN_OK;
}

static int open_numbers(struct attn_attend **out, struct attn_err *err)
{
    struct attn_attend_opts a = {.names = o.names, .key_names = o.key_names, .heads = (size_t)o.heads.n,
                                 .transposed = o.transposed, .vectors = o.cosines, .cap = o.cap.x, .late = o.late,
                                 .kind = attention_kind()};
    if (o.weights && !strcmp(o.weights, "sum"))
        a.weights = ATTN_WEIGHTS_SUM;
    memcpy(a.given, o.given, sizeof a.given);
    if (o.cap.given && o.cap.x <= 0)
        return attn_fail(err, ATTN_EUSAGE, "--softcap: %s is not above 0", excerpt(o.cap.given).text);
    int code = read_mask(&a, err);
    return code ? code : attn_attend_open(out, &a, err);
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Whether there is such an activation. */
static int has(bool *there, const struct attn_attend *a, const char *activation, struct attn_err *err)
{
    struct attn_select *s;
    const struct attn_kind kind = attention_kind();
    int code = attn_select_new(&s, attn_attend_model(a), &kind, activation, NULL, NULL, err);
    *there = !code;
    if (!code)
        attn_select_free(s);
    return code == ATTN_ENOMEM ? code : ATTN_OK;
}

/* Without values there is no context to show, and without weights of the output no output. */
static int default_show(const char **shown, const struct attn_attend *a, struct attn_err *err)
{
    bool context = false, output = false;
    *shown = format_default_show(o.format);
    if (*shown)
        return ATTN_OK;
    int code = has(&context, a, "context", err);
    if (!code)
        code = has(&output, a, "blocks.0.attn.out", err);
    *shown = output ? "pattern,context,blocks.0.attn.out" : context ? NULL : "pattern";
    return code;
}

static int show(const struct attn_attend *a, struct attn_err *err)
{
    const struct attn_kind kind = attention_kind();
    struct output output = {.command = &attend_command, .format = o.format, .path = o.path,
                            .precision = (int)o.precision.n, .model = attn_attend_model(a),
                            .tokens = attn_attend_tokens(a), .cross = attn_attend_keys(a)};
    struct attn_select *select;
    const char *shown;
    int code = default_show(&shown, a, err);
    if (!code)
        code = select_shown(&select, output.model, &kind, shown, err);
    if (code)
        return code;
    if (!o.format || !strcmp(o.format, "text"))
        say_note("%s", attn_attend_about(a));
    if (language_is_given())
        say_note("--lang is the language of --explain: tables stay as they are");
    output.select = select;
    code = output_write(&output, err);
    attn_select_free(select);
    return code;
}

/* ---- a derivation ------------------------------------------------------------------------ */

static int pick(struct attn_explain_opts *e, const struct attn_attend *a, struct attn_err *err)
{
    const struct attn_tokens *rows = attn_attend_tokens(a), *keys = attn_attend_keys(a) ? attn_attend_keys(a) : rows;
    e->query = rows->n - 1;
    e->key = ATTN_KEY_LARGEST;
    const char *head = selection.head;
    if (head && (strspn(head, "0123456789") != strlen(head) || strlen(head) > 9))
        return attn_fail(err, ATTN_EUSAGE, "--explain is of one head: --head '%s' is not its number",
                         excerpt(head).text);
    e->head = head ? strtoul(head, NULL, 10) : 0;
    const char *query = picture_look(false).query;
    int code = query ? pick_token(&e->query, "query", query, rows, "list of queries", err) : ATTN_OK;
    return code || !o.key ? code : pick_token(&e->key, "key", o.key, keys, "list of keys", err);
}

static int explain(const struct attn_attend *a, struct attn_err *err)
{
    char note[ATTN_PLOT_NOTE] = "";
    bool terminal = terminal_is(o.path);
    const struct attn_picture_opts look = picture_look(terminal);
    struct attn_explain_opts e = {
        .cross = attn_attend_keys(a), .all = o.all, .format = o.format, .path = o.path,
        .precision = (int)o.precision.n, .width = terminal_columns(terminal), .color = terminal_colored(terminal),
        .threads = (int)common.threads.n, .kind = attention_kind(), .font = look.font, .font_index = look.font_index,
        .note = note, .lang = language_of(terminal)};
    char *same = repro_command(&attend_command);
    int code = same ? pick(&e, a, err) : attn_no_memory(err, NULL, "for the command line");
    e.run = same;
    if (!code && (!o.format || !strcmp(o.format, "text")))
        pager_hold();
    if (!code)
        code = attn_explain(attn_attend_model(a), attn_attend_tokens(a), &e, err);
    if (!code && *note)
        say_note("%s", note);
    free(same);
    return code;
}

/* ---- which of these ---------------------------------------------------------------------- */

static int check_together(struct attn_err *err)
{
    const struct { bool given; const char *name; } of_explain[] = {{o.key, "key"}, {o.all, "all"}};
    if (o.explain && o.cosines)
        return attn_fail(err, ATTN_EUSAGE, "--explain and --cosines: each writes something else: leave one out");
    for (size_t i = 0; i < 2 && !o.explain; i++)
        if (of_explain[i].given)
            return attn_fail(err, ATTN_EUSAGE, "--%s is of a derivation: give --explain, too", of_explain[i].name);
    if (o.explain && (selection.show || selection.layer))
        return attn_fail(err, ATTN_EUSAGE, "--explain and --%s: a derivation shows all that leads to one weight",
                         selection.show ? "show" : "layer");
    return ATTN_OK;
}

static int check_explained(struct attn_err *err)
{
    static const char *const formats[] = {"text", "md", "html", "pdf"};
    const char *dot = o.path ? strrchr(o.path, '.') : NULL;
    if (!o.format && dot && (!strcasecmp(dot, ".md") || !strcasecmp(dot, ".markdown")))
        o.format = "md";
    o.format = o.format ? o.format : output_format_of(o.path);
    bool known = !o.format;
    for (size_t i = 0; i < sizeof formats / sizeof *formats && o.format; i++)
        known |= !strcmp(o.format, formats[i]);
    if (!known)
        return attn_fail(err, ATTN_EUSAGE, "--explain: a derivation is text, md, html or pdf, not %s", o.format);
    return output_check_format(o.format, o.path, err);
}

static int choose_format(struct attn_err *err)
{
    if (o.explain)
        return check_explained(err);
    const char *by_path = o.cosines ? NULL : activations_format_of(o.path);
    o.format = o.format ? o.format : by_path;
    if (o.cosines && output_choose_format(&o.format, o.path, &attend_command, err))
        return err->code;
    if (o.format && !(attn_format_find(o.format)->flags & (o.cosines ? ATTN_FORMAT_TABLE : ATTN_FORMAT_RUN)))
        return attn_fail(err, ATTN_EUSAGE, "--format %s is for %s", o.format, o.cosines ?
                         "activations: --cosines makes a table" : "a table, as --cosines and --explain make it");
    return o.cosines ? ATTN_OK : output_check_format(o.format, o.path, err);
}

static int attend(struct attn_err *err)
{
    struct attn_attend *a = NULL;
    int code = check_together(err);
    if (!code)
        code = choose_format(err);
    if (!code)
        code = open_numbers(&a, err);
    if (!code)
        code = o.explain ? explain(a, err) : o.cosines ? cosines_write(a, o.cosines, o.format, o.path, err)
                                                       : show(a, err);
    attn_attend_close(a);
    return code;
}

/* ---- options ----------------------------------------------------------------------------- */

static const char *format_choice(size_t i)
{
    return format_name(i, ATTN_FORMAT_RUN | ATTN_FORMAT_TABLE);
}

static void explain_format(char help[OPTION_HELP])
{
    char names[OPTION_HELP / 2];
    list_formats(names, sizeof names, ATTN_FORMAT_RUN, true, ", ");
    snprintf(help, OPTION_HELP, "how to print: %s; of --explain text, md, html or pdf; of --cosines a table, also as "
             "md or ndjson; default: by the ending of the -o path, else text", names);
}

#define GIVEN(name, at, help, more) \
    {0, name, OPT_FILE, &o.given[at], "FILE|NUMBERS", help, .section = OF_INPUT, .flags = OPT_COUNTS | (more)}

static const struct option given_options[] = {
    GIVEN("q", ATTN_ATTEND_Q, "queries: a row for each, typed as \"1 0 1; 0 2 2\" or \"[[1, 0, 1], [0, 2, 2]]\", or in "
          "a file, - is standard input; heads side by side (--heads), or [heads, T, n]", OPT_USUAL),
    GIVEN("k", ATTN_ATTEND_K, "keys, of the same width; another number of rows is cross-attention, fewer heads are "
          "shared", OPT_USUAL),
    GIVEN("v", ATTN_ATTEND_V, "values, a row for each key: without them there is no context", OPT_USUAL),
    GIVEN("mask", ATTN_ATTEND_MASK, "which keys a query sees: 1 it does, 0 it does not; any other numbers are added to "
          "the scores, -inf hides; one row is for all queries; or causal, or none (the default)", OPT_USUAL),
    {0, "hide", OPT_FILE, &o.hide, "FILE|NUMBERS", "the same the other way round, as torch's masked_fill takes it: 1 "
     "hides a key", .section = OF_INPUT, .flags = OPT_COUNTS},
    GIVEN("scores", ATTN_ATTEND_SCORES, "in place of queries and keys what the softmax reads: [T, keys] or [heads, T, "
          "keys], -inf hides", OPT_USUAL),
    GIVEN("dots", ATTN_ATTEND_DOTS, "the same before the scale, the products q·k; --scale says what they are "
          "multiplied by", 0),
    GIVEN("x", ATTN_ATTEND_X, "what queries, keys and values are made of: a row for each token; without weights rows "
          "are all three themselves", OPT_USUAL),
    GIVEN("wq", ATTN_ATTEND_WQ, "weights of the queries, q = x wq: a row for each column of x", OPT_USUAL),
    GIVEN("wk", ATTN_ATTEND_WK, "weights of the keys", OPT_USUAL),
    GIVEN("wv", ATTN_ATTEND_WV, "weights of the values", OPT_USUAL),
    GIVEN("wo", ATTN_ATTEND_WO, "weights of the output, which read the contexts of all heads side by side: out = "
          "context wo, shown after the context", OPT_USUAL),
    GIVEN("bq", ATTN_ATTEND_BQ, "what is added to the products with wq: a number for each column", 0),
    GIVEN("bk", ATTN_ATTEND_BK, "the same of wk", 0),
    GIVEN("bv", ATTN_ATTEND_BV, "the same of wv", 0),
    GIVEN("bo", ATTN_ATTEND_BO, "the same of wo", 0),
    GIVEN("cross", ATTN_ATTEND_CROSS, "rows of another text, of which keys and values are made (cross-attention)", 0),
    {0, "transposed", OPT_FLAG, &o.transposed, NULL,
     "weights, wo too, are [out, in], as torch's Linear has them: q = x wq^T",
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "heads", OPT_NUMBER, &o.heads, "H", "how many heads of queries lie side by side (default: 1)", .min = 1,
     .max = 65536, .section = OF_INPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "names", OPT_TEXT, &o.names, "WORDS", "what the rows are called, words with blanks between them (default: the "
     "labels of a table, else 0, 1, ...)", .section = OF_INPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "key-names", OPT_TEXT, &o.key_names, "WORDS", "what the rows of keys and values are called, where they are of "
     "another text", .section = OF_INPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

static const char *const weighings[] = {"softmax", "sum", NULL};

static const struct option options[] = {
    {0, "explain", OPT_FLAG, &o.explain, NULL, "derive one weight and the context of its query step by step, as "
     "'explain' does, from these numbers: that of --query (default: the last) for --key", .flags = OPT_USUAL},
    {0, "key", OPT_TEXT, &o.key, "TOKEN", "with --explain: the key, by its index or its name (default: the one with "
     "the largest weight)", .flags = OPT_USUAL},
    {0, "all", OPT_FLAG, &o.all, NULL, "with --explain: shorten nothing", .section = OF_SHOWN},
    {0, "cosines", OPT_CHOICE, &o.cosines, "ROWS", "in place of attention the cosine of the angle between each two "
     "rows: of x, q, k, v or context", .choices = cosine_rows, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "weights", OPT_CHOICE, &o.weights, "HOW", "how scores become weights: softmax (the default), or sum: each is "
     "divided by their sum", .choices = weighings, .section = OF_ATTENTION, .flags = OPT_COUNTS},
    {0, "mask-weights", OPT_FLAG, &o.late, NULL, "hide keys after that: their weights become 0, and the others are not "
     "divided again", .section = OF_ATTENTION, .flags = OPT_COUNTS},
    {0, "softcap", OPT_REAL, &o.cap, "C", "bound the scores, before the mask: s becomes C tanh(s / C)",
     .section = OF_ATTENTION, .flags = OPT_COUNTS},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = format_choice, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file, or to this directory; DIR/ is one of CSV tables "
     "(default: -, standard output)", .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "precision", OPT_NUMBER, &o.precision, "N", "digits after the point, in text only (default: 4)",
     .max = ATTN_PRECISION_MOST, .section = OF_OUTPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct command attend_command = {
    .name = "attend",
    .run = attend,
    .usage = "attend --q NUMBERS --k NUMBERS [--v NUMBERS] [--mask NUMBERS] [--kind KIND] [--explain]",
    .section = IN_SENTENCE,
    .summary = "attention on numbers of your own: queries, keys, values, a mask, or scores alone",
    .schemas = (const char *const[]){"run", "manifest", "cosines", NULL},
    .about = "Computes attention on matrices that you type or have in files, in double precision: q and k, and v for "
             "context vectors; or x and weights; or dots or scores alone.  Everything that run shows can be shown: "
             "dots, scores, pattern, context, as text, tables, arrays and pictures (which round to float32).  Rows of "
             "the matrices are tokens.  No model is needed.",
    .examples = (const struct pair[]){
        {"attn-cli attend --q \"1 0; 0 1\" --k \"1 1; 0 2\" --v \"1 2 3; 4 5 6\"", "two queries, two keys, two values"},
        {"attn-cli attend --q q.csv --k k.csv --v v.csv --kind causal --show scores,pattern",
         "from tables of a spreadsheet; a query does not see later keys"},
        {"attn-cli attend --q \"1 0; 0 1\" --k \"1 1; 0 2\" --mask \"1 0; 1 1\" --explain --query 1",
         "the weights of query 1, step by step"},
        {"attn-cli attend --scores \"0.3 0.1; 0.2 0.9\" --names \"the cat\"", "a softmax over rows"},
        {"attn-cli attend --x x.npy --wq wq.npy --wk wk.npy --wv wv.npy --heads 2 -o heads.png",
         "inputs and weights that NumPy saved, as heat maps"},
        {"attn-cli run -m life -s \"Life is short\" --show q,k,v -o life.npz && attn-cli attend --q life.npz --k "
         "life.npz --v life.npz --kind window:2", "what a model computed, under another kind of attention"},
        {"attn-cli attend --x \"1 0; 1 1; 0 2\" --names \"a b c\" --cosines x", "how alike the rows are"},
        {NULL, NULL}},
    .list_title = attention_title,
    .rows = attention_kinds,
    .groups = (const struct option *const[]){given_options, options, page_language_options, select_options,
                                             kind_options, attention_options, dropout_seed_options, csv_options,
                                             picture_options, key_picture_options, thread_options,
                                             general_options, NULL},
};
