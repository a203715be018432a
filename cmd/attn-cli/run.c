/* run.c - one sentence through a model, its activations printed or dumped. */
#include "canonical.h"
#include "input.h"
#include "say.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    const char *show, *layer, *head, *format, *path;
    struct number precision;
} o = {.precision = {.n = 4}};          /* as the articles print */

enum { WIDTH_OF_FILES = 80, TERMINAL_NUMBERS = 4000 };

static bool to_stdout(void)
{
    return !o.path || !strcmp(o.path, "-");
}

static bool to_terminal(void)
{
    return to_stdout() && isatty(STDOUT_FILENO);
}

static const char *format_of(const char *path)
{
    static const struct pair known[] = {{".csv", "csv"}, {".npy", "npy"}, {".npz", "npz"}, {".json", "json"}, {NULL, NULL}};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (const struct pair *p = known; dot && p->term; p++)
        if (!strcasecmp(dot, p->term))
            return p->text;
    return "text";
}

static int settle_format(struct attn_err *err)
{
    if (!o.format && strcmp(format_of(o.path), "text"))
        o.format = format_of(o.path);   /* what is not given or implied stays out of the canonical command */
    bool binary = o.format && (!strcmp(o.format, "npy") || !strcmp(o.format, "npz"));
    if (binary && to_terminal())
        return fail(err, ATTN_EUSAGE, "%s is not for a terminal: give a file or directory with -o", o.format);
    return ATTN_OK;
}

static int columns(void)
{
    struct winsize w;
    if (!to_terminal())
        return WIDTH_OF_FILES;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col)
        return w.ws_col;
    const char *env = getenv("COLUMNS");
    long n = env ? strtol(env, NULL, 10) : 0;
    return n > 0 && n < 10000 ? (int)n : WIDTH_OF_FILES;
}

static bool colored(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return to_terminal() && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

struct session {
    struct attn_model *model;
    struct attn_tokenizer *tokenizer;   /* NULL with --ids */
    struct attn_tokens *tokens;
    struct attn_select *select;
    struct attn_sink *sink;
    struct attn_run *run;
    int32_t *ids;
    char *command;
};

static int read_tokens(struct session *s, const struct input *in, struct attn_err *err)
{
    if (!in->text)
        return attn_tokens_from_ids(&s->tokens, in->ids, in->n, err);
    int code = attn_tokenizer_open(&s->tokenizer, common.model, err);
    return code ? code : attn_encode(&s->tokens, s->tokenizer, in->text, in->len, err);
}

static int gather_ids(struct session *s, struct attn_err *err)
{
    size_t n = s->tokens->n;
    if (!n)
        return fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to run");
    s->ids = calloc(n, sizeof *s->ids);
    if (!s->ids)
        return fail(err, ATTN_ENOMEM, "no memory for %zu tokens", n);
    for (size_t i = 0; i < n; i++)
        s->ids[i] = s->tokens->tok[i].id;
    return ATTN_OK;
}

static int open_sink(struct session *s, const struct input *in, struct attn_err *err)
{
    s->command = canonical_command(&run_command);
    if (!s->command)
        return fail(err, ATTN_ENOMEM, "no memory for the command line");
    struct attn_sink_opts sink = {
        .format = o.format ? o.format : "text", .path = o.path, .model = s->model, .select = s->select,
        .tokens = s->tokens, .tokenizer = s->tokenizer, .text = in->text, .text_len = in->len, .command = s->command,
        .precision = (int)o.precision.n, .width = columns(), .limit = to_terminal() ? TERMINAL_NUMBERS : 0,
        .color = colored()};
    return attn_sink_open(&s->sink, &sink, err);
}

static int forward(struct session *s, struct attn_err *err)
{
    struct attn_plan plan = {.rows = s->tokens->n, .seqs = 1, .threads = (int)common.threads.n};
    struct attn_seq seq = {.T = s->tokens->n};
    struct attn_observer watch = attn_sink_observer(s->sink);
    if (attn_run_new(&s->run, s->model, &plan, &watch, 1, err) || attn_run_forward(s->run, s->ids, &seq, 1, err))
        return err->code;
    return attn_sink_finish(s->sink, err);
}

static int show(struct session *s, const struct input *in, struct attn_err *err)
{
    if (attn_model_open(&s->model, common.model, err) || read_tokens(s, in, err) || gather_ids(s, err) ||
        attn_select_new(&s->select, s->model, o.show, o.layer, o.head, err) || open_sink(s, in, err) || forward(s, err))
        return err->code;
    return ATTN_OK;
}

static void end(struct session *s)
{
    attn_run_free(s->run);
    attn_sink_close(s->sink);
    attn_select_free(s->select);
    attn_tokens_free(s->tokens);
    attn_tokenizer_close(s->tokenizer);
    attn_model_close(s->model);
    free(s->ids);
    free(s->command);
}

static int run(struct attn_err *err)
{
    struct session s = {0};
    struct input in = {0};
    int code = settle_format(err);
    if (!code)
        code = input_read(&in, err);
    if (!code)
        code = show(&s, &in, err);
    end(&s);
    input_free(&in);
    return code;
}

static const char *const formats[] = {"text", "json", "csv", "tidy", "npy", "npz", NULL};
static const char *const names[] = {
    "tokens", "embed", "pos_embed", "resid_pre", "norm1", "q", "k", "v", "dots", "scores", "pattern", "context", "blocks.*.attn.out",
    "resid_mid", "norm2", "pre", "linear", "post", "blocks.*.mlp.out", "resid_post", "norm_final", "logits", NULL};

static const struct option options[] = {
    {0, "show", OPT_LIST, &o.show, "LIST", "activations to show, with commas between them: full names "
     "(blocks.0.attn.pattern), patterns (blocks.*.attn.*), short names (pattern), tokens, or * for all "
     "(default: pattern,context)", .choices = names, .flags = OPT_COUNTS},
    {0, "layer", OPT_TEXT, &o.layer, "SPEC", "only these layers, counted from 0: 0,2-4 (default: all)", .flags = OPT_COUNTS},
    {0, "head", OPT_TEXT, &o.head, "SPEC", "only these query heads, counted from 0: 0,2-4 (default: all)",
     .flags = OPT_COUNTS},
    {0, "format", OPT_CHOICE, &o.format, "F", "how to print: text, json, csv (a file a matrix), tidy (one long table), npy, npz "
     "(default: by the ending of the -o path, else text)", .choices = formats, .flags = OPT_COUNTS},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file or directory (default: -, standard output)", .flags = 0},
    {0, "precision", OPT_NUMBER, &o.precision, "N", "digits after the point, in text only (default: 4)", .max = 17,
     .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct command run_command = {
    .name = "run",
    .run = run,
    .usage = "run -s TEXT [-m DIR|NAME] [--show LIST] [--format F] [-o PATH]",
    .summary = "one sentence: print or dump the chosen activations",
    .about = "Turns a sentence into tokens, runs it through the model and shows what was computed on the way: by default "
             "the attention patterns (who attends to whom; rows sum to 1) and the context vectors.  More than 4000 numbers "
             "on a terminal are summarised; files and pipes get all of them.",
    .examples = (const struct pair[]){
        {"attn-cli run -s \"Life is short, eat dessert first\"", "patterns and context vectors as text"},
        {"attn-cli run -s \"Life is short\" --show dots,scores,pattern --precision 6", "from dot products to weights"},
        {"attn-cli run -m ./gpt2 -s \"Hello there\" --layer 0-2 --head 5 -o heads.npz", "some heads, for NumPy"},
        {"echo \"eat dessert first\" | attn-cli run -f - --format json", "for jq"},
        {NULL, NULL}},
    .list_title = "Activations (short names; H heads, T tokens, N layers)",
    .list = (const struct pair[]){
        {"embed, pos_embed", "[T,d] token rows; position rows"},
        {"resid_pre, resid_mid, resid_post", "[T,d] the residual stream of a layer: before, between, after"},
        {"norm1, norm2", "[T,d] what attention and mlp read"},
        {"q, k, v", "[H,T,dh] queries, keys, values"},
        {"dots", "[H,T,T] q.k, neither scaled nor masked"},
        {"scores", "[H,T,T] scaled and masked: -inf where hidden"},
        {"pattern", "[H,T,T] softmax of the scores: rows sum to 1, hidden ones are 0"},
        {"context", "[T,H*dv] the context vectors, heads side by side"},
        {"blocks.*.attn.out", "[T,d] after the output projection"},
        {"pre, linear, post", "[T,m] inside the mlp"},
        {"blocks.*.mlp.out", "[T,d] what the mlp adds"},
        {"norm_final, logits", "[T,d] and [T,V] at the end of the model"},
        {"tokens", "the token table"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, ids_options, options, thread_options,
                                             general_options, NULL},
};
