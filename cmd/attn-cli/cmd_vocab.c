/* cmd_vocab.c - makes a vocabulary from the words of a text, or learns byte-level BPE from it. */
#include "attn_tools.h"
#include "input.h"
#include "opts_output.h"
#include "say.h"

#include "base/err.h"
#include "base/folder.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 4096 };                   /* default of --size */

static struct { const char *path; bool bpe; struct number size; } o;

static int check_usage(struct attn_err *err)
{
    if (o.size.given && !o.bpe)
        return attn_fail(err, ATTN_EUSAGE, "--size is for --bpe: words are as many as the text has");
    for (const struct option *row = word_options; o.bpe && row->name; row++)
        if (option_given(row))
            return attn_fail(err, ATTN_EUSAGE, "--bpe and --%s do not go together: only words are split so", row->name);
    if (o.bpe && (!o.path || !strcmp(o.path, "-")))
        return attn_fail(err, ATTN_EUSAGE, "where to? --bpe writes vocab.json and merges.txt: give a directory with -o "
                                           "DIR");
    return ATTN_OK;
}

/* Another vocab.json would break a training, or make a model misread every text. */
static int protect_tokenizer(const char *dir, struct attn_err *err)
{
    int code = protect_training(dir, err);
    return code || !attn_folder_has(dir, "config.json") || !attn_folder_has(dir, "vocab.json") ? code
         : attn_fail(err, ATTN_EUSAGE, "%s: holds a model, whose vocab.json this would replace: choose another place, "
                                       "or remove that file first", dir);
}

static int learn(const struct input *in, struct attn_err *err)
{
    size_t tokens, size = o.size.given ? (size_t)o.size.n : SIZE;
    if (protect_tokenizer(o.path, err))
        return err->code;
    if (attn_bpe_learn(o.path, &tokens, in->text, in->len, size, err))
        return err->code;
    say_note("%zu tokens%s", tokens, tokens < size ? ": the text gives no more" : "");
    return ATTN_OK;
}

static int protect_directory(struct attn_err *err)
{
    const char *slash = o.path ? strrchr(o.path, '/') : NULL;
    if (!o.path || strcmp(slash ? slash + 1 : o.path, "vocab.json") != 0)
        return ATTN_OK;
    char *dir = slash ? strndup(o.path, (size_t)(slash + 1 - o.path)) : strdup(".");
    int code = dir ? protect_tokenizer(dir, err) : attn_no_memory(err, NULL, "for a path");
    free(dir);
    return code;
}

/* Whether a script has no spaces between words: Thai to Tibetan, Burmese, Khmer, kana, Han. */
static bool is_unspaced(uint32_t c)
{
    static const struct { uint32_t from, to; } scripts[] = {
        {0xE00, 0xFFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x3040, 0x30FF}, {0x3400, 0x9FFF}, {0xF900, 0xFAFF},
        {0x20000, 0x3FFFF}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (c >= scripts[i].from && c <= scripts[i].to)
            return true;
    return false;
}

/* Of such a text whole sentences are words. */
static void note_unspaced(const struct input *in, size_t words)
{
    enum { SENTENCE = 12 };             /* no word has so many, except where it is all there is */
    size_t n = 0, longest = 0, step;
    for (size_t at = 0; at < in->len; at += step) {
        n = is_unspaced(attn_utf8_next(in->text + at, in->len - at, &step)) ? n + 1 : 0;
        longest = n > longest ? n : longest;
    }
    if (longest >= (words == 1 ? 2 : SENTENCE))
        say_note("the text has %zu characters without white space, which make one word: put spaces between words, "
                 "take each character with --chars, or learn parts of words with --bpe -o DIR", longest);
}

static int build(const struct input *in, struct attn_err *err)
{
    struct attn_vocab_opts rule = {word_rule.drop, word_rule.lowercase, word_rule.unknown, word_rule.chars};
    char *json;
    size_t len, words;
    if (protect_directory(err))
        return err->code;
    if (attn_vocab_build(&json, &len, &words, in->text, in->len, &rule, err))
        return err->code;
    int code = attn_write_file(o.path, json, len, err);
    if (!code)
        say_note("%zu %s%s", words, word_rule.chars ? "character" : "word", words == 1 ? "" : "s");
    if (!code && !word_rule.chars)
        note_unspaced(in, words);
    free(json);
    return code;
}

static int vocab(struct attn_err *err)
{
    struct input in = {0};
    int code = check_usage(err);
    if (!code)
        code = input_read(&in, err);
    if (!code)
        code = o.bpe ? learn(&in, err) : build(&in, err);
    input_free(&in);
    return code;
}

static const struct option options[] = {
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file (default: -, standard output); with --bpe the "
                                               "directory for vocab.json and merges.txt",
     .flags = OPT_OUTPUT | OPT_VOCABULARY},
    {0, "bpe", OPT_FLAG, &o.bpe, NULL, "learn byte-level BPE instead of words: the text is split as in GPT-2; of "
                                       "equally frequent neighbours, those with the lower ids are merged first; "
                                       "<|endoftext|> separates documents and is the last token",
     .flags = 0},
    {0, "size", OPT_NUMBER, &o.size, "N", "the size of the vocabulary with --bpe, bytes and <|endoftext|> included "
                                          "(default: 4096)",
     .min = ATTN_BPE_LEAST, .max = ATTN_BPE_MOST},
    {.name = NULL},
};

const struct command vocab_command = {
    .name = "vocab",
    .schemas = (const char *const[]){"vocabulary", NULL},
    .run = vocab,
    .product = true,
    .usage = "vocab -f PATH [--chars] [--drop CHARS] [--lowercase] [--unknown TOKEN] [-o vocab.json] | vocab --bpe "
             "[--size N] -f PATH -o DIR",
    .section = IN_MODELS,
    .summary = "build a JSON vocabulary (words or characters) or a byte-level BPE from text",
    .about = "Splits a text at white space and numbers its distinct words from 0, sorted by code point; with --chars "
             "its distinct characters.  init makes a model from it; give it the same --drop, --lowercase, --chars and "
             "--unknown.  With --bpe it learns which "
             "neighbouring bytes and tokens to merge, and writes the two files of GPT-2's tokenizer, which tokenize -m "
             "DIR and train read.",
    .examples = (const struct pair[]){
        {"attn-cli vocab -s \"Life is short, eat dessert first\" --drop , -o vocab.json", "six words"},
        {"attn-cli vocab -f book.txt --lowercase --unknown '<unk>' -o vocab.json", "the words of a book"},
        {"attn-cli vocab -f names.txt --chars -o vocab.json", "the characters of a text, line breaks too"},
        {"attn-cli vocab --bpe --size 4096 -f stories.txt -o ./tokens", "pieces of words, for train"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){corpus_options, word_options, options, general_options, NULL},
};
