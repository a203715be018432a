/* vocab.c - the words of a text as a vocabulary. */
#include "file.h"
#include "input.h"
#include "say.h"
#include "table.h"

#include <stdlib.h>

static const char *path;

static int build(const struct input *in, struct attn_err *err)
{
    struct attn_vocab_opts rule = {word_rule.drop, word_rule.lowercase, word_rule.unknown};
    char *json;
    size_t len, words;
    if (attn_vocab_build(&json, &len, &words, in->text, in->len, &rule, err))
        return err->code;
    int code = file_write(path, json, len, err);
    if (!code)
        say_note("%zu words", words);
    free(json);
    return code;
}

static int vocab(struct attn_err *err)
{
    struct input in = {0};
    int code = input_read(&in, err);
    if (!code)
        code = build(&in, err);
    input_free(&in);
    return code;
}

static const struct option options[] = {
    {'o', "output", OPT_FILE, &path, "PATH", "write to this file (default: -, standard output)", .flags = 0},
    {.name = NULL},
};

const struct command vocab_command = {
    .name = "vocab",
    .run = vocab,
    .usage = "vocab -f PATH [--drop CHARS] [--lowercase] [--unknown TOKEN] [-o vocab.json]",
    .summary = "build a JSON vocabulary from the words of a text",
    .about = "Splits a text at white space and numbers its distinct words, sorted by code point, from 0.  init makes a "
             "model of it; give it the same --drop, --lowercase and --unknown.",
    .examples = (const struct pair[]){
        {"attn-cli vocab -s \"Life is short, eat dessert first\" --drop , -o vocab.json", "six words"},
        {"attn-cli vocab -f book.txt --lowercase --unknown '<unk>' -o vocab.json", "the words of a book"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){text_options, word_options, options, general_options, NULL},
};
