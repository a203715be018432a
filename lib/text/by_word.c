#include "text/by_word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"
#include "text/words.h"

enum { SUGGESTIONS = 3, LISTED = 10 };  /* LISTED: a vocabulary of at most so many words is shown in full */

/* Copies s, or NULL. */
static bool copy_text(char **out, const char *s)
{
    *out = s ? strdup(s) : NULL;
    return *out || !s;
}

static int fill(struct attn_by_word *w, const struct attn_word_rule *rule, const char *name, struct attn_err *err)
{
    const char *unknown = rule->unknown;
    if (!copy_text(&w->name, name) || !copy_text(&w->drop, rule->drop))
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a tokenizer", name);
    w->lowercase = rule->lowercase;
    w->unknown = unknown ? attn_vocab_id(w->vocab, unknown, strlen(unknown)) : -1;
    if (unknown && w->unknown < 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: the token '%.*s' for unknown words (\"tokenizer.unknown\") is not "
                         "among its %zu words", name, attn_shown(unknown, strlen(unknown)), unknown,
                         attn_vocab_size(w->vocab));
    return ATTN_OK;
}

int attn_by_word_new(struct attn_by_word **out, struct attn_vocab *v, const struct attn_word_rule *rule, const char *name,
                     struct attn_err *err)
{
    struct attn_by_word *w = calloc(1, sizeof *w);
    if (!w) {
        attn_vocab_free(v);
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a tokenizer", name);
    }
    w->vocab = v;
    int rc = fill(w, rule, name, err);
    if (rc)
        attn_by_word_free(w);
    else
        *out = w;
    return rc;
}

void attn_by_word_free(struct attn_by_word *w)
{
    if (!w)
        return;
    attn_vocab_free(w->vocab);
    free(w->name);
    free(w->drop);
    free(w);
}

static int no_memory(struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "no memory for the tokens of a text");
}

/* Appends "LEAD'word'" to hint while there is room. */
static void add_word(char *hint, size_t size, const char *lead, const char *word, size_t len)
{
    size_t n = strlen(hint);
    snprintf(hint + n, size - n, "%s'%.*s'", lead, attn_shown(word, len), word);
}

static int unknown_word(const struct attn_by_word *t, const struct attn_words *w, struct attn_err *err)
{
    const char *near[SUGGESTIONS];
    size_t near_len[SUGGESTIONS], len, words = attn_vocab_size(t->vocab);
    char similar[320] = "", known[512] = "";
    size_t n = attn_vocab_nearest(t->vocab, w->word, w->word_len, near, near_len, SUGGESTIONS);
    for (size_t i = 0; i < n; i++)
        add_word(similar, sizeof similar, i == 0 ? "; did you mean " : i + 1 < n ? ", " : " or ", near[i],
                 near_len[i]);
    for (size_t i = 0; i < words && words <= LISTED; i++) {
        const char *word = attn_vocab_at(t->vocab, i, &len);
        add_word(known, sizeof known, i == 0 ? ": " : " ", word, len);
    }
    return attn_fail(err, ATTN_EFORMAT, "unknown word '%.*s' at byte %zu of the text%s%s (%s has %zu word%s%s)",
                     attn_shown(w->word, w->word_len), w->word, w->start, similar, n > 0 ? "?" : "", t->name, words,
                     words == 1 ? "" : "s", known);
}

static int find_words(struct attn_spans *found, const struct attn_by_word *t, struct attn_words *w,
                      struct attn_err *err)
{
    while (attn_words_next(w)) {
        int32_t id = attn_vocab_id(t->vocab, w->word, w->word_len);
        if (id < 0 && t->unknown < 0)
            return unknown_word(t, w, err);
        if (!attn_spans_add(found, id < 0 ? t->unknown : id, w->start, w->end))
            return no_memory(err);
    }
    return w->failed ? no_memory(err) : ATTN_OK;
}

int attn_by_word_encode(struct attn_spans *out, const struct attn_by_word *w, const char *text, size_t len,
                        struct attn_err *err)
{
    struct attn_words words;
    int rc = attn_words_start(&words, w->drop, w->lowercase, text, len, err);
    if (!rc)
        rc = find_words(out, w, &words, err);
    attn_words_free(&words);
    return rc;
}
