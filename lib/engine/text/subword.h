/* subword.h - a tokenizer by pieces of words: text to ids and back.
 *
 * The steps: added tokens are found in the text; what is between them is normalised; added tokens of the second kind
 * are found in that; what is between them is cut into pieces by one step after the other; the model makes tokens of
 * each piece by itself.  Every token knows its bytes of the original text: where that was changed, those of the stretch
 * it comes from (mapped.h).  What the tokenizer put in has no bytes. */
#ifndef ATTN_TEXT_SUBWORD_H
#define ATTN_TEXT_SUBWORD_H

#include "base/tree.h"
#include "text/added.h"
#include "text/bpe.h"
#include "text/bytes.h"
#include "text/decode.h"
#include "text/lookup.h"
#include "text/normal.h"
#include "text/pretoken.h"
#include "text/tokens.h"
#include "text/unigram.h"

/* ---- the tokenizer (subword.c, encode.c) ---- */

enum {
    ATTN_STEPS_MAX = 24, ATTN_AROUND_MAX = 4,
    ATTN_STRING_LONGEST = 64            /* bytes that a step looks for or puts in; those in use have a few */
};

struct attn_around { int32_t id[ATTN_AROUND_MAX]; size_t n; };      /* tokens put before or after a text */

/* A step that cuts a text, or one that changes it. */
struct attn_pre_step { bool cuts; struct attn_split cut; struct attn_normal change; };

struct attn_subword {
    struct attn_bpe_rules rules;        /* of BPE; the vocabulary and the tokens of bytes are there for any model */
    struct attn_unigram *unigram;       /* of Unigram, */
    struct attn_lookup *lookup;         /* or of WordLevel and WordPiece; both NULL: the model is BPE */
    float *score; unsigned char *type;  /* [tokens] of a sentencepiece model; NULL */
    bool byte_level;                    /* tokens spell bytes as bytes.h says */
    struct attn_normal normal[ATTN_STEPS_MAX]; size_t normals;
    struct attn_pre_step pre[ATTN_STEPS_MAX]; size_t pres;
    struct attn_added added[2];         /* those found before normalisation, and after */
    struct attn_trie kept;              /* what sentencepiece's normalisation copies */
    struct attn_around before, after;   /* tokens that the tokenizer's own files put around a text */
    bool templated;                     /* the files define `before` and `after` explicitly, even if as nothing */
    int32_t bos, eos;                   /* -1 if no file defines it */
    struct attn_decoder decoder;
    struct attn_readings *readings;     /* how each token reads */
};

struct attn_text_file { const char *text; size_t len; const char *name; };

struct attn_subword *attn_subword_new(void);                        /* NULL: no memory */
void attn_subword_free(struct attn_subword *b);                     /* NULL is fine */
/* Builds the lookup tables, once vocabulary, model, added tokens and decoder are there. */
int attn_subword_finish(struct attn_subword *b, const char *name, struct attn_err *err);
/* Adds a step; NULL: there are too many. */
struct attn_normal *attn_subword_normal(struct attn_subword *b, enum attn_normal_kind kind);
struct attn_pre_step *attn_subword_pre(struct attn_subword *b);
struct attn_decode_step *attn_subword_decode(struct attn_subword *b, enum attn_decode_kind kind);

/* Sets the BOS token unless a file already has; unknown ids are ignored. */
void attn_subword_set_bos(struct attn_subword *b, int32_t id);

int attn_subword_encode(struct attn_encoding *out, const struct attn_subword *b, const char *text, size_t len,
                        const struct attn_encode_opts *o, struct attn_err *err);

/* Takes ownership of b, also on failure. */
int attn_tokenizer_subword(struct attn_tokenizer **out, struct attn_subword *b, const char *name, struct attn_err *err);

/* ---- vocab.json and merges.txt (tokenizer_merges.c) ---- */

/* The text of those that are absent, `added` (added_tokens.json) or `config` (tokenizer_config.json), is NULL.  index:
 * of vocab and merges (index.h), which must outlive the tokenizer; NULL: they are read. */
struct attn_merges_files { struct attn_text_file vocab, merges, added, config; const void *index; };
int attn_subword_read(struct attn_subword **out, const struct attn_merges_files *files, struct attn_err *err);

/* ---- sentencepiece's tokenizer.model (sentencepiece.c), llama2.c's tokenizer.bin (llama2c.c) ---- */

int attn_sentencepiece_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err);
int attn_llama2c_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err);

/* ---- Hugging Face's tokenizer.json (tokenizer_json.c), and what is around its model (tokenizer_steps.c) ---- */

int attn_tokenizer_json_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err);

struct attn_steps {
    struct attn_subword *b;
    const char *name;                   /* of the file and the component, for messages */
    struct attn_err *err;
    struct attn_regex_effort effort;    /* of normalising added tokens */
};

int attn_steps_normalizer(struct attn_steps *s, const cJSON *v);
int attn_steps_pre_tokenizer(struct attn_steps *s, const cJSON *v);
int attn_steps_decoder(struct attn_steps *s, const cJSON *v);
/* Needs the vocabulary. */
int attn_steps_post_processor(struct attn_steps *s, const cJSON *v);

/* Tokens to be found in the text (tokenizer_added.c): an array of them; an object of them by id; names with their ids
 * in a file, which are special where the object of tokenizer_config.json (or NULL) says so.  They need the vocabulary
 * and the normalisation. */
int attn_steps_added(struct attn_steps *s, const cJSON *v);
int attn_steps_added_by_id(struct attn_steps *s, const cJSON *v);
int attn_steps_added_names(struct attn_steps *s, const struct attn_text_file *file, const cJSON *config);

/* A component that is an object with a "type", a Sequence of them in a list, or null. */
struct attn_component {
    const char *list;                   /* the member of a Sequence that holds the list; NULL: there are no Sequences */
    const struct attn_component_row { const char *type; int (*take)(struct attn_steps *s,
                                                                    const cJSON *v); } *row; size_t rows;
};
int attn_steps_take(struct attn_steps *s, const struct attn_component *c, const cJSON *v);

/* Reads a flag of such an object; `otherwise` is its value if it is absent. */
int attn_steps_flag(struct attn_steps *s, const cJSON *v, const char *key, bool otherwise, bool *out);
/* The text of a member; "" if it is no string.  A string that must be there. */
const char *attn_steps_text(const cJSON *v, const char *key);
int attn_steps_string(struct attn_steps *s, const cJSON *v, const char *key, const char **out);
/* Copies a text, which must not be long; len may be NULL. */
int attn_steps_copy(struct attn_steps *s, char **out, size_t *len, const char *text);
int attn_steps_regex(struct attn_steps *s, struct attn_regex **out, const char *pattern);
/* Refuses keys that are not in the list, which ends with NULL. */
int attn_steps_keys(struct attn_steps *s, const cJSON *v, const char *const *known);
/* Fails with "NAME: WHAT is not supported ..." */
int attn_steps_refuse(struct attn_steps *s, const char *what);
bool attn_steps_is_one(const char *text);           /* one character */
int attn_steps_too_many(struct attn_steps *s);

#endif
