/* words.c - the tokenizers by whole words and by characters.
 *
 * Characters of `drop` are removed, white space (Unicode's) separates words, letters may be lowercased.  Whatever is
 * left between two white spaces is a word, if anything, and is looked up.  An unknown word is an error that names it,
 * its position and the nearest known words, unless the vocabulary has a token for unknown words.  attn_vocab_build
 * splits a text in the same way, so that a text's words are always in the vocabulary built from it.  By characters,
 * each that is left is a word, white space too. */
#include "text/tokens.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/out.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "text/vocab.h"

/* ---- words ----------------------------------------------------------------------------- */

struct words {
    const char *text; size_t len, at;   /* text is the caller's; at: next byte to read */
    struct attn_strings drop;           /* the characters to remove */
    bool lowercase, chars;              /* chars: each character is a word */
    int16_t byte[256];                  /* what becomes of each byte, computed once */
    char *word; size_t word_len, room;  /* the word just read */
    size_t start, end;                  /* in bytes of the text: from its first kept character to the end of its last */
    bool failed;                        /* out of memory */
};

/* What becomes of a character that is not kept. */
enum { DROPPED = -1, SEPARATOR = -2, NOT_ASCII = -3 };

/* What becomes of c, the character of the len bytes at s: the one it is kept as, or one of the values above. */
static int32_t become(const struct words *w, const char *s, size_t len, int32_t c)
{
    if (attn_strings_find(&w->drop, s, len) != ATTN_STRINGS_NONE)
        return DROPPED;
    if (attn_utf8_space((uint32_t)c) && !w->chars)
        return SEPARATOR;
    return w->lowercase ? utf8proc_tolower(c) : c;
}

static int take_drop(struct words *w, const char *drop, struct attn_err *err)
{
    size_t len = strlen(drop), valid = attn_utf8_valid(drop, len), step;
    if (valid < len)
        return attn_fail(err, ATTN_EUSAGE, "the characters to drop are not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)drop[valid]);
    for (size_t at = 0; at < len; at += step) {
        attn_utf8_next(drop + at, len - at, &step);
        if (attn_strings_add(&w->drop, drop + at, step) == ATTN_STRINGS_NONE)
            return attn_no_memory(err, NULL, "for %zu characters to drop", len);
    }
    return ATTN_OK;
}

static int check_text(const char *text, size_t len, struct attn_err *err)
{
    size_t valid = attn_utf8_valid(text, len);
    if (valid < len)
        return attn_fail(err, ATTN_EFORMAT, "the text is not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)text[valid]);
    const char *nul = len > 0 ? memchr(text, '\0', len) : NULL;
    if (nul)                            /* no vocabulary can spell it */
        return attn_fail(err, ATTN_EFORMAT, "the text has a NUL at byte %zu, expected none", (size_t)(nul - text));
    return ATTN_OK;
}

/* Fails if text or drop are not UTF-8 or the text contains a NUL. */
static int words_start(struct words *w, const struct attn_vocab_opts *rule, const char *text, size_t len,
                       struct attn_err *err)
{
    *w = (struct words){.text = text, .len = len, .lowercase = rule->lowercase, .chars = rule->chars};
    int rc = take_drop(w, rule->drop ? rule->drop : "", err);
    if (!rc)
        rc = check_text(text, len, err);
    for (int c = 0; !rc && c < 256; c++)
        w->byte[c] = (int16_t)(c < 0x80 ? become(w, &(char){(char)c}, 1, c) : NOT_ASCII);
    return rc;
}

/* Makes room for `more` bytes at the end of the word. */
static char *extend(struct words *w, size_t more)
{
    char *word = attn_grow(w->word, &w->room, w->word_len + more, 1);
    w->failed = !word;
    if (!word)
        return NULL;
    w->word = word;
    return word + w->word_len;
}

/* Takes the run of kept ASCII characters at w->at, the usual case, as far as there is room; returns its length. */
static size_t take_ascii(struct words *w)
{
    char *to = extend(w, 1);
    if (!to)
        return 0;
    const unsigned char *s = (const unsigned char *)w->text + w->at;
    size_t n = 0, left = w->len - w->at, room = w->room - w->word_len;
    int16_t c;
    for (left = left < room ? left : room; n < left && (c = w->byte[s[n]]) > 0; n++)
        to[n] = (char)c;
    w->word_len += n;
    return n;
}

/* Takes the character at w->at if it is kept; *step gets its length. */
static int32_t take_other(struct words *w, size_t *step)
{
    const char *s = w->text + w->at;
    int32_t c = (int32_t)attn_utf8_next(s, w->len - w->at, step), kept = become(w, s, *step, c);
    char *to = kept > 0 ? extend(w, 4) : NULL;
    if (to)
        w->word_len += attn_utf8_put(to, (uint32_t)kept);
    return kept;
}

/* The next character that is kept; false: no more, or failed. */
static bool chars_next(struct words *w)
{
    size_t step;
    for (w->word_len = 0; w->at < w->len && !w->failed && !w->word_len; w->at += step) {
        w->start = w->at;
        take_other(w, &step);
        w->end = w->at + step;
    }
    return w->word_len > 0 && !w->failed;
}

/* False: no more, or failed. */
static bool words_next(struct words *w)
{
    size_t step;
    if (w->chars)
        return chars_next(w);
    for (w->word_len = 0; w->at < w->len && !w->failed; w->at += step) {
        size_t before = w->word_len;
        int32_t c = w->byte[(unsigned char)w->text[w->at]];
        step = c > 0 ? take_ascii(w) : 1;
        if (c == NOT_ASCII)
            c = take_other(w, &step);
        if (c == SEPARATOR && before > 0)
            break;
        if (before == 0)
            w->start = w->at;
        if (w->word_len > before)
            w->end = w->at + step;
    }
    return w->word_len > 0 && !w->failed;
}

static void words_free(struct words *w)
{
    attn_strings_free(&w->drop);
    free(w->word);
    *w = (struct words){0};
}

/* ---- a vocabulary from a text ---------------------------------------------------------- */

static int no_memory_for_words(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the words of a text");
}

static int collect(struct attn_strings *distinct, struct words *w, struct attn_err *err)
{
    while (words_next(w))
        if (attn_strings_add(distinct, w->word, w->word_len) == ATTN_STRINGS_NONE)
            return no_memory_for_words(err);
    return w->failed ? no_memory_for_words(err) : ATTN_OK;
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
    const struct attn_str_view *x = a, *y = b;
    int c = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static int write_words(char **json, size_t *len, const struct attn_str_view *word, size_t n, struct attn_err *err)
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
    struct attn_str_view *word = calloc(n + 1, sizeof *word);
    if (!word)
        return no_memory_for_words(err);
    for (size_t i = 0; i < n; i++)
        word[i].s = attn_strings_at(distinct, i, &word[i].len);
    qsort(word, n, sizeof *word, compare_words);
    if (unknown)
        word[n++] = (struct attn_str_view){.s = unknown, .len = strlen(unknown)};
    int rc = write_words(json, len, word, n, err);
    free(word);
    *words = n;
    return rc;
}

int attn_vocab_build(char **json, size_t *len, size_t *words, const char *text, size_t text_len,
                     const struct attn_vocab_opts *o, struct attn_err *err)
{
    struct words w;
    struct attn_strings distinct = {0};
    int rc = words_start(&w, o, text, text_len, err);
    if (!rc)
        rc = collect(&distinct, &w, err);
    if (!rc)
        rc = check_words(&distinct, o->unknown, err);
    if (!rc)
        rc = write_sorted(json, len, words, &distinct, o->unknown, err);
    words_free(&w);
    attn_strings_free(&distinct);
    return rc;
}

/* ---- the tokenizer --------------------------------------------------------------------- */

enum { SUGGESTIONS = 3, LISTED = 10 };  /* LISTED: so many words of a vocabulary are shown, from its first on */

/* Copies s, or NULL. */
static bool copy_text(char **out, const char *s)
{
    *out = s ? strdup(s) : NULL;
    return *out || !s;
}

struct by_word {
    struct attn_vocab *vocab;
    char *name, *drop;                  /* name: the path of the vocabulary; drop: characters to drop or NULL */
    bool lowercase, chars;
    int32_t unknown;                    /* -1: an unknown word is an error */
};

static int fill(struct by_word *w, const struct attn_word_rule *rule, const char *name, struct attn_err *err)
{
    const char *unknown = rule->unknown;
    if (!copy_text(&w->name, name) || !copy_text(&w->drop, rule->drop))
        return attn_no_memory(err, name, "for a tokenizer");
    w->lowercase = rule->lowercase;
    w->chars = rule->kind == ATTN_RULE_CHAR;
    w->unknown = unknown ? attn_vocab_id(w->vocab, unknown, strlen(unknown)) : -1;
    if (unknown && w->unknown < 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: the token '%.*s' for unknown words (\"tokenizer.unknown\") is not "
                         "among its %zu words", name, attn_shown(unknown, strlen(unknown)), unknown,
                         attn_vocab_size(w->vocab));
    return ATTN_OK;
}

static void free_words(void *self)
{
    struct by_word *w = self;
    if (!w)
        return;
    attn_vocab_free(w->vocab);
    free(w->name);
    free(w->drop);
    free(w);
}

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the tokens of a text");
}

/* Appends "LEAD'word'" to hint while there is room. */
static void add_word(char *hint, size_t size, const char *lead, const char *word, size_t len)
{
    size_t n = strlen(hint);
    snprintf(hint + n, size - n, "%s'%.*s'", lead, attn_shown(word, len), word);
}

static int unknown_word(const struct by_word *t, const struct words *w, struct attn_err *err)
{
    const char *near[SUGGESTIONS];
    size_t near_len[SUGGESTIONS], len, words = attn_vocab_size(t->vocab);
    char similar[320] = "", known[512] = "";
    size_t n = t->chars ? 0 : attn_vocab_nearest(t->vocab, w->word, w->word_len, near, near_len, SUGGESTIONS);
    for (size_t i = 0; i < n; i++)
        add_word(similar, sizeof similar, i == 0 ? "; did you mean " : i + 1 < n ? ", " : " or ", near[i],
                 near_len[i]);
    for (size_t i = 0; i < words && i < LISTED; i++) {
        const char *word = attn_vocab_at(t->vocab, i, &len);
        add_word(known, sizeof known, i ? " " : words > LISTED ? ", the first: " : ": ", word, len);
    }
    return attn_fail(err, ATTN_EFORMAT, "unknown %s '%.*s' at byte %zu of the text%s%s (%s has %zu %s%s%s)",
                     t->chars ? "character" : "word", attn_shown(w->word, w->word_len), w->word, w->start, similar,
                     n > 0 ? "?" : "", t->name, words, t->chars ? "token" : "word", words == 1 ? "" : "s", known);
}

static int find_words(struct attn_encoding *found, const struct by_word *t, struct words *w,
                      struct attn_err *err)
{
    while (words_next(w)) {
        int32_t id = attn_vocab_id(t->vocab, w->word, w->word_len);
        if (id < 0 && t->unknown < 0)
            return unknown_word(t, w, err);
        if (!attn_encoding_add(found, id < 0 ? t->unknown : id, w->start, w->end))
            return no_memory(err);
    }
    return w->failed ? no_memory(err) : ATTN_OK;
}

static int encode(struct attn_encoding *out, const void *self, const char *text, size_t len,
                  const struct attn_encode_opts *o, struct attn_err *err)
{
    const struct by_word *w = self;
    struct words words;
    if (o->bos == ATTN_BOS_YES)
        return attn_fail(err, ATTN_EUSAGE, "%s: a tokenizer by %s has no BOS", w->name,
                         w->chars ? "characters" : "words");
    const struct attn_vocab_opts rule = {.drop = w->drop, .lowercase = w->lowercase, .chars = w->chars};
    int rc = words_start(&words, &rule, text, len, err);
    if (!rc)
        rc = find_words(out, w, &words, err);
    words_free(&words);
    return rc;
}

/* A word reads as it is spelled. */
static const char *text_of(const void *self, size_t rank, size_t *len)
{
    return attn_vocab_at(((const struct by_word *)self)->vocab, rank, len);
}

static size_t text_room(const void *self, size_t rank)
{
    size_t len;
    text_of(self, rank, &len);
    return len;
}

static size_t spell(const void *self, size_t rank, char *out)
{
    size_t len;
    const char *word = text_of(self, rank, &len);
    memcpy(out, word, len);
    return len;
}

static int32_t unknown_of(const void *self) { return ((const struct by_word *)self)->unknown; }

#define BY(name, between) { \
    .kind = name, .spaced = between, .encode = encode, .room = text_room, .spell = spell, .text = text_of, \
    .unknown = unknown_of, .close = free_words}
static const struct attn_tokenizing by_words = BY("word", true), by_chars = BY("char", false);

int attn_tokenizer_word(struct attn_tokenizer **out, struct attn_vocab *v, const struct attn_word_rule *rule,
                        const char *name, struct attn_err *err)
{
    struct by_word *w = calloc(1, sizeof *w);
    if (!w) {
        attn_vocab_free(v);
        return attn_no_memory(err, name, "for a tokenizer");
    }
    w->vocab = v;
    int rc = fill(w, rule, name, err);
    if (!rc)
        return attn_tokenizer_new(out, w->chars ? &by_chars : &by_words, w, v, name, err);
    free_words(w);
    return rc;
}
