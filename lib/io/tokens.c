#include "io/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "io/strings.h"
#include "io/words.h"

enum { SUGGESTIONS = 3, LISTED = 10 };  /* a vocabulary this small is shown whole */

struct attn_tokenizer {
    struct attn_vocab *vocab;
    char *name, *drop;                  /* drop NULL: nothing */
    bool lowercase;
    int32_t unknown;                    /* -1: an unknown word is an error */
};

/* Copies s, which may be NULL. */
static bool copy_text(char **out, const char *s)
{
    *out = s ? strdup(s) : NULL;
    return *out || !s;
}

int attn_tokenizer_word(struct attn_tokenizer **out, struct attn_vocab *v, const struct attn_word_rule *rule,
                        const char *name, struct attn_err *err)
{
    int rc = ATTN_OK;
    struct attn_tokenizer *t = calloc(1, sizeof *t);
    if (!t) {
        attn_vocab_free(v);
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a tokenizer", name);
    }
    t->vocab = v;
    t->lowercase = rule->lowercase;
    t->unknown = rule->unknown ? attn_vocab_id(v, rule->unknown, strlen(rule->unknown)) : -1;
    if (!copy_text(&t->name, name) || !copy_text(&t->drop, rule->drop))
        rc = attn_fail(err, ATTN_ENOMEM, "%s: no memory for a tokenizer", name);
    else if (rule->unknown && t->unknown < 0)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: the token '%.*s' for unknown words (\"tokenizer.unknown\") is not "
                       "among its %zu words", name, attn_shown(rule->unknown, strlen(rule->unknown)), rule->unknown,
                       attn_vocab_size(v));
    if (rc)
        attn_tokenizer_close(t);
    else
        *out = t;
    return rc;
}

void attn_tokenizer_close(struct attn_tokenizer *t)
{
    if (!t)
        return;
    attn_vocab_free(t->vocab);
    free(t->name);
    free(t->drop);
    free(t);
}

const char *attn_tokenizer_kind(const struct attn_tokenizer *t)
{
    (void)t;
    return "word";
}

size_t attn_tokenizer_size(const struct attn_tokenizer *t)
{
    return attn_vocab_size(t->vocab);
}

const char *attn_tokenizer_text(const struct attn_tokenizer *t, int32_t id, size_t *len)
{
    return attn_vocab_word(t->vocab, id, len);
}

const char *attn_tokenizer_raw(const struct attn_tokenizer *t, int32_t id, size_t *len)
{
    return attn_vocab_word(t->vocab, id, len);          /* a word reads as it is spelled */
}

/* ---- text to tokens -------------------------------------------------------------------- */

struct span { int32_t id; size_t start, end; };
struct spans { struct span *span; size_t n, room; };

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

static int unknown_word(const struct attn_tokenizer *t, const struct attn_words *w, struct attn_err *err)
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

static int find_words(struct spans *found, const struct attn_tokenizer *t, struct attn_words *w,
                      struct attn_err *err)
{
    while (attn_words_next(w)) {
        int32_t id = attn_vocab_id(t->vocab, w->word, w->word_len);
        if (id < 0 && t->unknown < 0)
            return unknown_word(t, w, err);
        struct span *span = attn_grow(found->span, &found->room, found->n + 1, sizeof *span);
        if (!span)
            return no_memory(err);
        found->span = span;
        span[found->n++] = (struct span){.id = id < 0 ? t->unknown : id, .start = w->start, .end = w->end};
    }
    return w->failed ? no_memory(err) : ATTN_OK;
}

/* One block for n tokens and `bytes` of their spellings, which start at *spell. */
static struct attn_tokens *new_tokens(size_t n, size_t bytes, char **spell)
{
    struct attn_tokens *t;
    size_t size;
    if (__builtin_mul_overflow(n, sizeof *t->tok, &size) || __builtin_add_overflow(size, sizeof *t, &size) ||
        __builtin_add_overflow(size, bytes, &size) || !(t = malloc(size)))
        return NULL;
    t->n = n;
    t->tok = (struct attn_token *)(t + 1);
    *spell = (char *)(t->tok + n);
    return t;
}

static int pack(struct attn_tokens **out, const struct attn_tokenizer *t, const struct spans *found,
                struct attn_err *err)
{
    size_t bytes = 0, len;
    char *spell;
    for (size_t i = 0; i < found->n; i++) {
        attn_vocab_word(t->vocab, found->span[i].id, &len);
        bytes += len + 1;
    }
    struct attn_tokens *tokens = new_tokens(found->n, bytes, &spell);
    if (!tokens)
        return no_memory(err);
    for (size_t i = 0; i < found->n; i++) {
        const struct span *s = &found->span[i];
        const char *word = attn_vocab_word(t->vocab, s->id, &len);
        memcpy(spell, word, len + 1);
        tokens->tok[i] = (struct attn_token){
            .id = s->id, .known = true, .text = spell, .raw = spell, .text_len = len, .raw_len = len,
            .start = s->start, .end = s->end
        };
        spell += len + 1;
    }
    *out = tokens;
    return ATTN_OK;
}

int attn_encode(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                struct attn_err *err)
{
    struct attn_words w;
    struct spans found = {0};
    int rc = attn_words_start(&w, t->drop, t->lowercase, text, len, err);
    if (!rc)
        rc = find_words(&found, t, &w, err);
    if (!rc)
        rc = pack(out, t, &found, err);
    free(found.span);
    attn_words_free(&w);
    return rc;
}

int attn_tokens_from_ids(struct attn_tokens **out, const int32_t *ids, size_t n, struct attn_err *err)
{
    char *spell;
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0)
            return attn_fail(err, ATTN_EFORMAT, "id %d at position %zu, expected a whole number from 0",
                             (int)ids[i], i);
    struct attn_tokens *t = new_tokens(n, 1, &spell);
    if (!t)
        return no_memory(err);
    *spell = '\0';                      /* the text of all */
    for (size_t i = 0; i < n; i++)
        t->tok[i] = (struct attn_token){.id = ids[i], .text = spell, .raw = spell};
    *out = t;
    return ATTN_OK;
}

void attn_tokens_free(struct attn_tokens *t)
{
    free(t);
}

/* ---- ids to text ----------------------------------------------------------------------- */

/* Bytes of the words of n ids, each with a space after it. */
static int measure_text(const struct attn_tokenizer *t, const int32_t *ids, size_t n, size_t *bytes,
                        struct attn_err *err)
{
    size_t len;
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (!attn_vocab_word(t->vocab, ids[i], &len))
            return attn_fail(err, ATTN_EFORMAT, "id %d at position %zu has no token: %s has %zu, with ids from 0 to %d",
                             (int)ids[i], i, t->name, attn_vocab_size(t->vocab), (int)attn_vocab_top(t->vocab));
        if (__builtin_add_overflow(*bytes, len + 1, bytes))
            return no_memory(err);
    }
    return ATTN_OK;
}

int attn_decode(char **out, size_t *len, const struct attn_tokenizer *t, const int32_t *ids, size_t n,
                struct attn_err *err)
{
    size_t bytes, word_len;
    int rc = measure_text(t, ids, n, &bytes, err);
    if (rc)
        return rc;
    char *text = malloc(bytes + 1), *s = text;
    if (!text)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const char *word = attn_vocab_word(t->vocab, ids[i], &word_len);
        memcpy(s, word, word_len);
        s += word_len;
        *s++ = ' ';
    }
    *out = text;
    *len = bytes > 0 ? bytes - 1 : 0;   /* no space after the last */
    text[*len] = '\0';
    return ATTN_OK;
}
