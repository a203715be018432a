/* cmd_generate.c - continues a prompt token by token. */
#include "attn_ask.h"
#include "attn_tools.h"
#include "opts_attention.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "cli_print.h"
#include "opts_language.h"
#include "say.h"
#include "session.h"
#include "texts.h"
#include "transcript.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *format, *path, *stop;
    struct number most, top_k;
    struct real temperature, top_p;
    bool ignore_eos;
} o = {.most = {.n = 32}, .top_p = {.x = 1}};

struct generation {
    struct session of;                  /* its tokens are the prompt */
    struct attn_info info;
    struct attn_select *select;
    struct attn_sampler *sampler;
    struct attn_growth *growth;
    const float *logits;                /* of the next token */
    struct transcript transcript;
    const char *stop;                   /* why it ended; NULL: it goes on */
};

/* ---- before ------------------------------------------------------------------------------ */

static bool as_json(void)
{
    return o.format && !strcmp(o.format, "json");
}

static bool for_files(const char *format)
{
    return format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0;
}

/* The format of the activations: --format if it is for files only, else that of the path's ending, if any. */
static const char *dump_format(void)
{
    const char *by_path = activations_format_of(o.path);
    return for_files(o.format) || !by_path ? o.format : by_path;
}

static int check_usage(struct attn_err *err)
{
    bool selects = selection.show || selection.layer || selection.head;
    if (o.path && !strcmp(o.path, "-"))
        return attn_fail(err, ATTN_EUSAGE, "-o -: standard output has the text; give the activations a file or "
                                           "directory");
    if (!o.path && (selects || for_files(o.format)))
        return attn_fail(err, ATTN_EUSAGE, "%s%s is for activations: give them a file or directory with -o",
                         selects ? "--" : "--format ",
                         selection.show ? "show" : selection.layer ? "layer" : selects ? "head" : o.format);
    if (o.temperature.x < 0)
        return attn_fail(err, ATTN_EUSAGE, "--temperature: %s is below 0", o.temperature.given);
    if (o.stop && !*o.stop)
        return attn_fail(err, ATTN_EUSAGE, "--stop: the text is empty");
    if (picture_check(&generate_command, o.path ? dump_format() : NULL, err))
        return err->code;
    return o.path ? output_check_format(dump_format(), o.path, err) : ATTN_OK;
}

/* Options that shape the random draw imply a temperature of 1: at 0 they would have no effect. */
static double temperature(void)
{
    bool draws = o.top_k.given || o.top_p.given || (dropout_seed.given && attention_kind().dropout <= 0);
    return !o.temperature.given && draws ? 1 : o.temperature.x;
}

/* Ids need no tokenizer, but if there is one the text is shown as well, unless --labels says otherwise. */
static int read_names(struct generation *s, struct attn_err *err)
{
    const char *given = option_given(label_options);
    bool other = given && strcmp(given, "auto");
    struct attn_err why = {.msg = "--labels none"};
    int code = other ? input_labels(&s->transcript.labels, &s->of.tokenizer, s->of.model, false, err) : ATTN_OK;
    if (code || s->transcript.labels || (!other && !open_tokenizer(&s->of.tokenizer, &why)))
        return code;
    if (o.stop)
        return attn_fail(err, ATTN_EFORMAT, "--stop searches the text, and there is none: %s", why.msg);
    if (!other)
        say_note("no text: %s", why.msg);
    return ATTN_OK;
}

static int read_prompt(struct generation *s, struct attn_err *err)
{
    if (input_tokens(&s->of.tokens, &s->of.tokenizer, &s->of.in, err) || (!s->of.in.text && read_names(s, err)))
        return err->code;
    if (!s->of.tokens->n)
        return attn_fail(err, ATTN_EFORMAT, "the prompt is empty: there is no token to continue");
    return ATTN_OK;
}

static size_t room(const struct generation *s)
{
    size_t left = s->info.n_ctx > s->of.tokens->n ? s->info.n_ctx - s->of.tokens->n : 0;
    return s->of.tokens->n + (o.most.n < left ? (size_t)o.most.n : left);
}

/* The last token is not read, as nothing comes after it, but by the pass that -o asks for. */
static size_t rows(const struct generation *s)
{
    size_t all = room(s);
    return all > s->of.tokens->n && !o.path ? all - 1 : all;
}

static int start(struct generation *s, struct attn_err *err)
{
    struct attn_observer notes = {.overflow = note_overflow};
    const struct attn_growth_opts opts = {
        .prompt = s->of.tokens, .room = room(s), .logprobs = as_json(), .plan = plan_asked(),
        .editor = s->of.edits.editor, .observers = &notes, .n_observers = 1};
    return attn_growth_new(&s->growth, s->of.model, &opts, err);
}

static int open_all(struct generation *s, struct attn_err *err)
{
    struct attn_sampling sampling = {temperature(), o.top_p.x, (size_t)o.top_k.n, dropout_seed.n};
    struct attn_kind kind = attention_kind();
    if (session_read(&s->of, 0, err) || open_model(&s->of.model, &generate_command, err) ||
        attn_model_continues(s->of.model, &kind, err) || read_prompt(s, err) ||
        attn_model_check_tokens(s->of.model, s->of.tokens, err))
        return err->code;
    attn_model_info(s->of.model, &s->info);
    s->of.edits.rows = rows(s);
    if (session_edit(&s->of, EDITS_PROMPT, err))
        return err->code;
    if (o.path && s->of.edits.editor && attn_editor_replay(s->of.edits.editor, 0, err))
        return err->code;               /* what dump() will need */
    s->transcript.tokenizer = s->of.tokenizer;
    s->transcript.stop = o.stop;
    if ((o.path && select_shown(&s->select, s->of.model, &kind, format_default_show(dump_format()), err)) ||
        attn_sampler_new(&s->sampler, s->info.V, &sampling, err) || start(s, err) ||
        transcript_start(&s->transcript, s->of.tokens, s->of.in.text, s->of.in.len, room(s), err))
        return err->code;
    return ATTN_OK;
}

/* ---- token by token ---------------------------------------------------------------------- */

static const char *limit(const struct generation *s)
{
    size_t n;
    attn_growth_ids(s->growth, &n);
    return n - s->of.tokens->n == o.most.n ? "length" : n == s->info.n_ctx ? "context" : NULL;
}

static int add_token(struct generation *s, struct attn_err *err)
{
    int32_t id;
    if (attn_growth_logits(s->growth, &s->logits, err) || attn_sampler_next(s->sampler, &id, s->logits, err) ||
        attn_growth_add(s->growth, id, err))
        return err->code;
    bool ends = !o.ignore_eos && attn_model_ends(s->of.model, id);
    if (transcript_add(&s->transcript, id, ends, err))
        return err->code;
    s->stop = ends ? "eos" : s->transcript.stopped ? "text" : NULL;
    return ATTN_OK;
}

/* Writes and adds tokens until a limit is reached, or until standard output fails, as it does when its reader is gone,
 * unless a file is to be written, too. */
static int go_on(struct generation *s, struct attn_err *err)
{
    int code = ATTN_OK;
    size_t edits = attn_edits_count(s->of.edits.list);
    if (edits)
        say_note("edited: %s%s", excerpt(attn_edits_text(s->of.edits.list, 0)).text, edits > 1 ? " and more" : "");
    if (!as_json())
        transcript_show(&s->transcript, false);
    code = attn_growth_logits(s->growth, &s->logits, err);      /* even if no token is asked for */
    while (!code && !s->stop && (o.path || !ferror(stdout))) {
        s->stop = limit(s);
        if (!s->stop)
            code = add_token(s, err);
        if (!code && !as_json())
            transcript_show(&s->transcript, s->stop != NULL);
    }
    if (s->stop && !strcmp(s->stop, "context"))
        say_note("the text now has %zu tokens, as many as model %s takes (n_ctx)", s->info.n_ctx, s->info.name);
    return code;
}

/* ---- after ------------------------------------------------------------------------------- */

static int print_json(const struct generation *s, struct attn_err *err)
{
    const struct transcript *t = &s->transcript;
    printf("{\"version\": \"%s\",\n \"model\": ", attn_version());
    if (json_model(stdout, s->of.model, err))
        return err->code;
    json_kind(stdout, attention_kind());
    fputs(",\n \"tokens\": [", stdout);
    for (size_t i = 0; i < t->n; i++) {
        printf("%s\n  {", i ? "," : "");
        json_token(stdout, &t->tok[i]);
        fputs(", \"logprob\": ", stdout);
        i ? json_real(stdout, attn_growth_logprobs(s->growth)[i]) : (void)fputs("null", stdout);
        fputc('}', stdout);
    }
    size_t len;
    const char *text = transcript_continuation(t, &len);
    fputc(']', stdout);
    json_edits(stdout, s->of.edits.list);
    printf(",\n \"n_prompt\": %zu,\n \"text\": ", t->prompt);
    json_string(stdout, text, len);
    printf(",\n \"stop\": \"%s\"}\n", s->stop);
    return ATTN_OK;
}

/* Tells the editor the tokens that no pass has seen yet: the last one. */
static int read_rest(const struct generation *s, struct attn_err *err)
{
    size_t n, seen = attn_growth_seen(s->growth);
    const int32_t *ids = attn_growth_ids(s->growth, &n);
    return attn_editor_more(s->of.edits.editor, 0, ids + seen, n - seen, err);
}

/* Runs the whole text once more in one pass, which gives the same bits as the steps did. */
static int dump(const struct generation *s, struct attn_err *err)
{
    const struct transcript *t = &s->transcript;
    struct attn_tokens tokens = {.n = t->n, .tok = t->tok};
    struct output output = {
        .command = &generate_command, .format = dump_format(), .path = o.path, .precision = OUTPUT_PRECISION,
        .model = s->of.model, .select = s->select, .tokens = &tokens, .tokenizer = s->of.tokenizer,
        .text = s->of.tokenizer || t->labels ? t->text : NULL, .len = t->len, .edits = &s->of.edits};
    if (s->of.edits.editor && (read_rest(s, err) || attn_editor_replay(s->of.edits.editor, 0, err)))
        return err->code;
    return output_write(&output, err);
}

static int continue_prompt(struct generation *s, struct attn_err *err)
{
    int code = check_usage(err);
    if (!code)
        code = open_all(s, err);
    if (!code)
        code = go_on(s, err);
    if (!code && s->stop && as_json())
        code = print_json(s, err);
    if (!code && s->stop && o.path)
        code = dump(s, err);
    return code;
}

static int generate(struct attn_err *err)
{
    struct generation s = {.stop = NULL};
    int code = continue_prompt(&s, err);
    transcript_free(&s.transcript);
    attn_growth_free(s.growth);
    attn_sampler_free(s.sampler);
    attn_select_free(s.select);
    session_close(&s.of);
    return code;
}

static const char *format_choice(size_t i)
{
    return format_name(i, ATTN_FORMAT_RUN);
}

static const struct option options[] = {
    {'n', "max-tokens", OPT_NUMBER, &o.most, "N", "how many tokens to add at most (default: 32)", .max = INT32_MAX,
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "temperature", OPT_REAL, &o.temperature, "T",
     "divide the logits by T before a token is drawn; 0 always takes the "
     "likeliest (default: 0, or 1 with --top-k or --top-p, and with --seed unless --dropout is given)",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "top-k", OPT_NUMBER, &o.top_k, "K", "draw only from the K likeliest tokens (default: 0, all)", .max = INT32_MAX,
     .flags = OPT_COUNTS},
    {0, "top-p", OPT_REAL, &o.top_p, "P",
     "of those, draw from the fewest that together have probability P (default: 1, all)",
     .max = 1, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "seed", OPT_NUMBER, &dropout_seed, "N", "seed of the random numbers, for the draws and for --dropout (default: "
                                                "0); the same seed draws the same tokens",
     .max = UINT64_MAX, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "stop", OPT_TEXT, &o.stop, "TEXT", "stop where the continuation contains TEXT, which is not printed",
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "ignore-eos", OPT_FLAG, &o.ignore_eos, NULL, "do not stop after a token that ends a text: eos_token_id of "
     "generation_config.json, or else of config.json",
     .flags = OPT_COUNTS},
    {0, "format", OPT_CHOICE, &o.format, "F", "format of the result: text (default) or json; of the activations with "
                                              "-o: csv, tidy, npy, npz, term, png, svg, pdf, html, or screen, text and "
                                              "json where the ending of PATH says nothing",
     .choice = format_choice, .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write activations to this file or directory",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {.name = NULL},
};

const struct command generate_command = {
    .name = "generate",
    .schemas = (const char *const[]){"generate", "run", "manifest", "many", NULL},
    .run = generate,
    .product = true,
    .texts = TEXTS,
    .usage = "generate TEXT... [-f FILE] [-m DIR|NAME] [-n N] [--temperature T] [--format F] [-o PATH]",
    .section = IN_TEXTS,
    .summary = "continue a prompt",
    .about = "Prints the prompt and its continuation, as it is generated; an end-of-text token is not printed, and on "
             "a terminal control bytes are shown, as \\x1B, instead of obeyed.  JSON has every token with its "
             "log-probability (natural, at temperature 1, null for the first), the continuation as text, and why it "
             "stopped: length (-n tokens), eos, context (n_ctx tokens, including the prompt) or text (--stop).  Each "
             "token is computed once, with a key/value cache.  With -o the whole text then runs once more, as in run, "
             "and its activations are written, with the same bits as in the generation (except where rotation depends "
             "on the length of the text: \"dynamic\", \"longrope\").  With --ids and no tokenizer, the text is printed "
             "as ids, and is null in JSON.",
    .examples = (const struct pair[]){
        {"attn-cli generate -s \"Once upon a time\"", "the likeliest 32 tokens, by the built-in model"},
        {"attn-cli generate -m ./gpt2 -s \"Once\" -n 100 --temperature 0.8 --top-p 0.95 --seed 7",
         "a text drawn at random"},
        {"attn-cli generate -m ./gpt2 -f note.txt --stop \".\" --format json",
         "up to a full stop, with log-probabilities"},
        {"attn-cli generate -s \"Once upon a time\" --edit 'L3.resid_post[pos=-1] += noise(0.5,7)'",
         "with activations changed at each step"},
        {"attn-cli generate -m ./gpt2 -s \"Hello\" --show pattern --layer 5 -o out.npz", "and who attended to whom"},
        {NULL, NULL}},
    .refused = (const struct pair[]){
        {"cross", "a continuation looks at its own text, as it grows; 'run' and 'explain' look at another text"},
        {"cross-file", "a continuation looks at its own text, as it grows; 'run' and 'explain' look at another text"},
        {"cross-ids", "a continuation looks at its own text, as it grows; 'run' and 'explain' look at another text"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options, encode_options,
                                             ids_options, label_options, options, edit_options, from_options,
                                             select_options, page_language_options, csv_options, picture_options,
                                             key_picture_options, attention_options, compute_options, thread_options,
                                             general_options, NULL},
};
