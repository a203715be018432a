/* cmd_tokenize.c - encodes text as token ids, and decodes them. */
#include "attn_tools.h"
#include "input.h"
#include "opts_output.h"
#include "outputs.h"
#include "texts.h"
#include "cli_print.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct { const char *format; bool decode; } o;

enum { ID_DIGITS = 10, GAP = 2 };       /* bytes of an id, and of the separator, at most */

static const char *const formats[] = {"text", "json", "ids", NULL};

static void print_table(const struct attn_tokens *t)
{
    size_t width = strlen("token");
    for (size_t i = 0; i < t->n; i++) {
        size_t w = print_reading(NULL, &t->tok[i]);
        width = w > width ? w : width;
    }
    printf("index     id  %-*s  bytes\n", (int)width, "token");
    for (size_t i = 0; i < t->n; i++) {
        const struct attn_token *k = &t->tok[i];
        printf("%5zu %6d  ", i, k->id);
        size_t w = print_reading(stdout, k);
        printf("%*s  %zu-%zu\n", (int)(w < width ? width - w : 0), "", k->start, k->end);
    }
}

/* Writes the digits of an id, which is never negative; returns how many there are. */
static size_t spell_id(char *out, int32_t id)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    uint32_t left = (uint32_t)id, some = left | 1;
    size_t tens = (32 - (size_t)__builtin_clz(some)) * 1233 >> 12;  /* 1233 / 4096 is nearly log10(2) */
    size_t n = tens + (some >= powers[tens]);
    for (size_t i = n; i-- > 0; left /= 10)
        out[i] = (char)('0' + left % 10);
    return n;
}

/* A text can have millions of ids, and printf would take longer than encoding it. */
static void print_ids(const int32_t *ids, size_t n, const char between[GAP])
{
    char buf[8192];
    size_t used = 0, gap = strlen(between);
    for (size_t i = 0; i < n; i++) {
        memcpy(buf + used, between, GAP);
        used += i > 0 ? gap : 0;
        used += spell_id(buf + used, ids[i]);
        if (i + 1 == n || used + GAP + ID_DIGITS > sizeof buf) {
            fwrite(buf, 1, used, stdout);
            used = 0;
        }
    }
}

/* The members after the first ones; `eol` comes before each, and `item` before each token. */
static void print_json(const struct attn_tokens *t, const int32_t *ids, const char *text, size_t len, const char *eol,
                       const char *item)
{
    printf(",%s\"text\": ", eol);
    json_string(stdout, text, len);
    printf(",%s\"ids\": [", eol);
    print_ids(ids, t->n, ", ");
    printf("],%s\"tokens\": [", eol);
    for (size_t i = 0; i < t->n; i++) {
        const struct attn_token *k = &t->tok[i];
        printf("%s%s{", i ? "," : "", item + (i == 0 && *item == ' '));
        json_token(stdout, k);
        printf(", \"start\": %zu, \"end\": %zu}", k->start, k->end);
    }
    fputs("]}\n", stdout);
}

/* An empty text has the tokens that a template puts around any text. */
static struct attn_encode_opts opts_of_text(void)
{
    struct attn_encode_opts opts = input_encode_opts();
    opts.empty = true;
    return opts;
}

/* Encodes to ids alone, which is faster. */
static int encode_ids(const struct attn_tokenizer *t, const char *text, size_t len, struct attn_err *err)
{
    struct attn_encode_opts opts = opts_of_text();
    int32_t *ids;
    size_t n;
    if (attn_encode_ids(&ids, &n, t, text, len, &opts, err))
        return err->code;
    print_ids(ids, n, " ");
    putchar('\n');
    free(ids);
    return ATTN_OK;
}

static int encode(const struct attn_tokenizer *t, const struct input *in, struct attn_err *err)
{
    struct attn_encode_opts opts = opts_of_text();
    struct attn_tokens *tokens = NULL;
    int32_t *ids = NULL;
    bool json = o.format && !strcmp(o.format, "json");
    if (!in->text)
        return attn_fail(err, ATTN_EFORMAT, "has ids, and no text to encode");
    if (o.format && !strcmp(o.format, "ids"))
        return encode_ids(t, in->text, in->len, err);
    int code = attn_encode_with(&tokens, t, in->text, in->len, &opts, err);
    if (!code && json)
        code = attn_tokens_to_ids(&ids, tokens, err);
    if (!code && json)
        printf("{\"version\": \"%s\"", attn_version());
    if (!code && json)
        print_json(tokens, ids, in->text, in->len, "\n ", "\n  ");
    else if (!code)
        print_table(tokens);
    free(ids);
    attn_tokens_free(tokens);
    return code;
}

/* ---- and back ---------------------------------------------------------------------------- */

static int decode(const struct attn_tokenizer *t, struct input *in, struct attn_err *err)
{
    char *text;
    size_t len;
    if (in->text && strlen(in->text) != in->len)
        return attn_fail(err, ATTN_EFORMAT, "byte %zu of the input is NUL: ids are as in 5,1,2", strlen(in->text));
    if (in->text && input_parse_ids(in, in->text, err))
        return err->code;
    if (attn_decode(&text, &len, t, in->ids, in->n, err))
        return err->code;
    if (terminal_is(NULL))
        print_text(stdout, text, len, true);
    else
        fwrite(text, 1, len, stdout);
    putchar('\n');
    free(text);
    return ATTN_OK;
}

static int check_usage(struct attn_err *err)
{
    if (common.ids && !o.decode)
        return attn_fail(err, ATTN_EUSAGE, "--ids are tokens already: --decode turns them into text");
    if (o.decode && o.format)
        return attn_fail(err, ATTN_EUSAGE, "--decode prints text: --format does not go with it");
    return ATTN_OK;
}

static int tokenize(struct attn_err *err)
{
    struct input in = {0};
    struct attn_tokenizer *t = NULL;
    int code = check_usage(err);
    if (!code)
        code = input_read(&in, err);
    if (!code)
        code = open_tokenizer(&t, err);
    if (!code)
        code = o.decode ? decode(t, &in, err) : encode(t, &in, err);
    close_tokenizer(t);
    input_free(&in);
    return code;
}

/* Ids with blanks between them. */
static bool joins(void) { return o.decode; }

static const struct option options[] = {
    {0, "format", OPT_CHOICE, &o.format, "F", "how to print: text (a table), json or ids (on one line); default: text",
     .choices = formats},
    {0, "decode", OPT_FLAG, &o.decode, NULL, "the input is ids: print the text they stand for", .flags = 0},
    {.name = NULL},
};

const struct command tokenize_command = {
    .name = "tokenize",
    .schemas = (const char *const[]){"tokenize", "many", NULL},
    .run = tokenize,
    .texts = TEXTS,
    .joins = joins,
    .usage = "tokenize TEXT... [-f FILE] [-m DIR|NAME] [--special] [--format F] | tokenize --decode 5,1,2",
    .section = IN_TEXTS,
    .summary = "text to token ids and back",
    .about = "Shows how a model reads a text: index, id, token and the bytes of the text it came from.  It needs no "
             "weights, only a directory with a vocabulary: vocab.json for words; vocab.json and merges.txt, or "
             "tokenizer.json, for byte-level BPE.  In the table a dot stands for a space, arrows for line feed and "
             "tab, and \\xE2 for a byte that is no character by itself.  An empty text is no error: it has no tokens, "
             "except those that a template adds.",
    .examples = (const struct pair[]){
        {"attn-cli tokenize -s \"Life is short, eat dessert first\"", "a table of tokens"},
        {"attn-cli tokenize -f note.txt --format ids", "ids only, for scripts"},
        {"attn-cli tokenize -f sentences.txt --format json | jq '.records[].ids | length'", "of many texts at once"},
        {"attn-cli tokenize --decode 0,4,5", "and back"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options, encode_options,
                                             ids_options, options, printed_options, general_options, NULL},
    .report = true,
};
