/* tokens.h - the core of every tokenizer: text to ids and back, behind the public functions of attn.h.
 *
 * A kind of tokenizer is a row of functions, struct attn_tokenizing; words.c and subword.c have them.  What is the same
 * for all is in tokens.c: packing tokens with their spellings, decoding, the ends of a text that grows.  A tokenizer by
 * pieces of words is described by tables, which its files fill (subword.h), and takes several steps:
 *
 *     encode.c      leads a text through the steps; added.c finds tokens such as <|endoftext|>
 *     normal.c      changes it; forms.c, squeeze.c and charsmap.c are large changes, mapped.c knows what came from
 *     where
 *     split.c         cuts it into pieces: by a scanner of pretoken.c or any regular expression: regex.c reads it, by
 *     charset.c and
 *                   scripts.c, regex_walk.c finds its matches; letters.c knows the characters
 *     bpe.c         the model: the tokens of one piece, by the rules of merges.c; or unigram.c, by a trie and scores;
 *     or lookup.c,
 *                   word by word
 *     decode.c      goes back: the text of ids; subword.c, that of one token
 *     characters.c  finds the tokens that are parts of one character, for people
 *
 * tokenizer.c chooses by a model's files; tokenizer_json.c and its neighbours, tokenizer_merges.c, sentencepiece.c and
 * llama2c.c read them; those of a built-in model are ready in memory (index.c).
 * */
#ifndef ATTN_TEXT_TOKENS_H
#define ATTN_TEXT_TOKENS_H

#include "base/grow.h"
#include "base/out.h"
#include "model/config.h"
#include "text/vocab.h"

/* The tokens of a text while it is encoded: ids and, unless ids_only is set, the bytes of the text they stand for. */
struct attn_byte_range { size_t start, end; };
struct attn_encoding {
    int32_t *id; size_t n, room;
    struct attn_byte_range *range; size_t range_room;                    /* [n]; NULL with ids_only */
    bool ids_only;
};

/* Makes room for n more; false: no memory. */
static inline bool attn_encoding_reserve(struct attn_encoding *s, size_t n)
{
    int32_t *id = attn_grow(s->id, &s->room, s->n + n, sizeof *id);
    if (!id)
        return false;
    s->id = id;
    struct attn_byte_range *range = s->ids_only ? NULL : attn_grow(s->range, &s->range_room, s->n + n, sizeof *range);
    if (range)
        s->range = range;
    return range || s->ids_only;
}

/* false: no memory. */
static inline bool attn_encoding_add(struct attn_encoding *s, int32_t id, size_t start, size_t end)
{
    if (!attn_encoding_reserve(s, 1))
        return false;
    s->id[s->n] = id;
    if (!s->ids_only)
        s->range[s->n] = (struct attn_byte_range){start, end};
    s->n++;
    return true;
}

static inline void attn_encoding_free(struct attn_encoding *s)            /* zeroed is fine */
{
    free(s->id);
    free(s->range);
}

/* In characters.c: finds the tokens that are parts of one character, and sets part, parts and whole of each. */
void attn_tokens_find_parts(struct attn_tokens *t);

/* Whether a space stands between the texts of two tokens. */
bool attn_tokenizer_spaced(const struct attn_tokenizer *t);

/* A kind of tokenizer; self is its data.  Tokens are counted by their rank in the vocabulary. */
struct attn_tokenizing {
    const char *kind;                   /* as attn_tokenizer_kind says it */
    bool spaced;                        /* a space stands between the texts of two tokens */
    int (*encode)(struct attn_encoding *out, const void *self, const char *text, size_t len,
                  const struct attn_encode_opts *o, struct attn_err *err);
    /* The text of ids, all of which have tokens; NULL: the texts of the tokens one after the other. */
    int (*decode)(char **out, size_t *len, const void *self, const int32_t *ids, size_t n, struct attn_err *err);
    size_t (*room)(const void *self, size_t rank);                          /* most bytes of a token's text */
    size_t (*spell)(const void *self, size_t rank, char *out);              /* writes it, returns its length */
    const char *(*text)(const void *self, size_t rank, size_t *len);        /* NUL-terminated; lives as long as self */
    int32_t (*unknown)(const void *self);   /* the id of what the vocabulary lacks; -1: there is none */
    void (*close)(void *self);
};

/* What a model's other files say of its tokenizer. */
struct attn_said {
    int32_t bos, eos;                   /* ids of tokenizer_config.json's "bos_token" and "eos_token"; -1: none said */
    int32_t config_bos;                 /* config.json's "bos_token_id"; -1: not said */
    double longest;                     /* "model_max_length"; 0: not said */
};
const struct attn_said *attn_tokenizer_says(const struct attn_tokenizer *t);
/* bos, eos: the tokens; NULL: not said. */
void attn_tokenizer_hear(struct attn_tokenizer *t, const char *bos, const char *eos, int32_t config_bos,
                         double longest);
const struct attn_vocab *attn_tokenizer_vocab(const struct attn_tokenizer *t);
/* the id of what the vocabulary lacks; -1: there is none */
int32_t attn_tokenizer_unknown(const struct attn_tokenizer *t);

/* Takes ownership of self, also on failure; `name` is the path of the vocabulary's file. */
int attn_tokenizer_new(struct attn_tokenizer **out, const struct attn_tokenizing *as, void *self,
                       const struct attn_vocab *vocab, const char *name, struct attn_err *err);

/* The tokenizer by whole words (words.c).  Takes ownership of v, also on failure; copies the rule and the name, which
 * is the path of the vocabulary's file. */
int attn_tokenizer_word(struct attn_tokenizer **out, struct attn_vocab *v, const struct attn_word_rule *rule,
                        const char *name, struct attn_err *err);

#endif
