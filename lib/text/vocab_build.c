#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/out.h"
#include "base/utf8.h"
#include "base/strings.h"
#include "text/vocab.h"
#include "text/words.h"

struct word { const char *s; size_t len; };

static int no_memory(struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "no memory for the words of a text");
}

static int collect(struct attn_strings *distinct, struct attn_words *w, struct attn_err *err)
{
    while (attn_words_next(w))
        if (attn_strings_add(distinct, w->word, w->word_len) == ATTN_STRINGS_NONE)
            return no_memory(err);
    return w->failed ? no_memory(err) : ATTN_OK;
}

static int check_words(const struct attn_strings *distinct, const char *unknown, struct attn_err *err)
{
    size_t len = unknown ? strlen(unknown) : 0;
    if (distinct->n == 0)
        return attn_fail(err, ATTN_EFORMAT, "the text has no words, expected at least one");
    if (distinct->n >= ATTN_VOCAB_MAX)
        return attn_fail(err, ATTN_EFORMAT, "the text has %zu distinct words, expected fewer than %d", distinct->n,
                         ATTN_VOCAB_MAX);
    if (unknown && (len == 0 || attn_utf8_valid(unknown, len) < len))
        return attn_fail(err, ATTN_EUSAGE, "the token for unknown words is %s, expected UTF-8 text",
                         len == 0 ? "empty" : "not UTF-8");
    if (unknown && attn_strings_find(distinct, unknown, len) != ATTN_STRINGS_NONE)
        return attn_fail(err, ATTN_EUSAGE, "the token '%.*s' for unknown words is a word of the text, expected "
                         "another", attn_shown(unknown, len), unknown);
    return ATTN_OK;
}

/* Compares by bytes, which in UTF-8 is by code point. */
static int compare_words(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    int c = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static int write_words(char **json, size_t *len, const struct word *word, size_t n, struct attn_err *err)
{
    struct attn_out *out;
    int rc = attn_out_open_memory(&out, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        attn_out_str(out, i == 0 ? "{\n  " : ",\n  ");
        attn_out_json(out, word[i].s, word[i].len);
        attn_out_str(out, ": ");
        attn_out_u64(out, i);
    }
    attn_out_str(out, "\n}\n");
    rc = attn_out_take(out, json, len, err);
    attn_out_close(out);
    return rc;
}

/* Writes the words in sorted order, followed by `unknown` unless it is NULL. */
static int write_sorted(char **json, size_t *len, size_t *words, const struct attn_strings *distinct,
                        const char *unknown, struct attn_err *err)
{
    size_t n = distinct->n;
    struct word *word = calloc(n + 1, sizeof *word);
    if (!word)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        word[i].s = attn_strings_at(distinct, i, &word[i].len);
    qsort(word, n, sizeof *word, compare_words);
    if (unknown)
        word[n++] = (struct word){.s = unknown, .len = strlen(unknown)};
    int rc = write_words(json, len, word, n, err);
    free(word);
    *words = n;
    return rc;
}

int attn_vocab_build(char **json, size_t *len, size_t *words, const char *text, size_t text_len,
                     const struct attn_vocab_opts *o, struct attn_err *err)
{
    struct attn_words w;
    struct attn_strings distinct = {0};
    int rc = attn_words_start(&w, o->drop, o->lowercase, text, text_len, err);
    if (!rc)
        rc = collect(&distinct, &w, err);
    if (!rc)
        rc = check_words(&distinct, o->unknown, err);
    if (!rc)
        rc = write_sorted(json, len, words, &distinct, o->unknown, err);
    attn_words_free(&w);
    attn_strings_free(&distinct);
    return rc;
}
