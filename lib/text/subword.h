/* subword.h - a byte-level BPE tokenizer: text to ids.
 *
 * The steps: added tokens are found in the text; what is between them is normalised if the tokenizer says so; added
 * tokens of the second kind are found in that; what is between them is cut into pieces by one cut after the other;
 * each piece is merged by itself (bpe.h).  Every token knows its bytes of the original text: after normalisation,
 * those of the clusters it lies in (nfc.c).  A space that the tokenizer put in front has no bytes. */
#ifndef ATTN_TEXT_SUBWORD_H
#define ATTN_TEXT_SUBWORD_H

#include "base/tree.h"
#include "text/bpe.h"
#include "text/bytes.h"
#include "text/pretoken.h"
#include "text/tokens.h"

/* ---- tokens found before a text is cut into pieces, such as <|endoftext|> ---- */

struct attn_added_token {
    char *text; size_t len;             /* owned, not empty */
    int32_t id;
    bool special, lstrip, rstrip;       /* strip: the token includes white space on that side */
};

/* A zeroed struct is an empty set.  first: whether a token begins with that byte; ordinary: whether some are not
 * special. */
struct attn_added { struct attn_added_token *token; size_t n, room; bool first[256], ordinary; };
/* Takes ownership of t->text, also on failure; false: no memory. */
bool attn_added_put(struct attn_added *a, const struct attn_added_token *t);

/* ---- normal form C (nfc.c) ---- */

struct attn_nfc {
    const char *text; size_t len;       /* `own` or, if nothing had to be changed, the original */
    char *own; size_t room;
    struct change { size_t at, len, from, from_len; } *change;      /* place in the new text and in the original; ascending */
    size_t n, change_room;
    struct letter *letter; size_t letter_room;                      /* of one cluster, decomposed */
    int32_t *point; size_t point_room;                              /* and composed */
};

/* s must be valid UTF-8 and outlive *out, whose former content is replaced; false: no memory. */
bool attn_nfc_make(struct attn_nfc *out, const char *s, size_t len);
/* Where a piece that begins (ends) at byte `at` of the normalised text begins (ends) in s. */
size_t attn_nfc_start(const struct attn_nfc *t, size_t at);
size_t attn_nfc_end(const struct attn_nfc *t, size_t at);
void attn_nfc_free(struct attn_nfc *t);                             /* zeroed is fine */

/* ---- the tokenizer (subword.c) ---- */

enum { ATTN_CUTS_MAX = 8, ATTN_AROUND_MAX = 4 };

struct attn_around { int32_t id[ATTN_AROUND_MAX]; size_t n; };      /* tokens put before or after a text */

struct attn_subword {
    struct attn_bpe_rules rules;
    bool nfc, prefix;                   /* prefix: put a space before text that does not begin with one */
    enum attn_pretoken cut[ATTN_CUTS_MAX]; size_t cuts, prefix_cut;      /* prefix_cut: number of cuts before the prefix */
    struct attn_added added[2];         /* those found before normalisation, and after */
    struct attn_around before, after;   /* tokens that the tokenizer's own files put around a text */
    bool templated;                     /* the files define `before` and `after` explicitly, even if as nothing */
    int32_t bos;                        /* -1 if no file defines it */
    struct attn_readings *readings;
};

struct attn_text_file { const char *text; size_t len; const char *name; };
/* Reads vocab.json and merges.txt (tokenizer_merges.c).  The text of those that are absent, `added` (added_tokens.json) or
 * `config` (tokenizer_config.json), is NULL. */
struct attn_merges_files { struct attn_text_file vocab, merges, added, config; };
int attn_subword_read(struct attn_subword **out, const struct attn_merges_files *files, struct attn_err *err);
/* Builds the lookup tables, once vocabulary, merges and added tokens are there. */
int attn_subword_finish(struct attn_subword *b, const char *name, struct attn_err *err);
void attn_subword_free(struct attn_subword *b);               /* NULL is fine */

/* Sets the BOS token unless a file already has; unknown ids are ignored. */
void attn_subword_set_bos(struct attn_subword *b, int32_t id);

int attn_subword_encode(struct attn_encoding *out, const struct attn_subword *b, const char *text, size_t len,
                           const struct attn_encode_opts *o, struct attn_err *err);

/* Takes ownership of b, also on failure. */
int attn_tokenizer_subword(struct attn_tokenizer **out, struct attn_subword *b, const char *name, struct attn_err *err);

/* ---- Hugging Face's tokenizer.json (tokenizer_json.c), and the components around its model (tokenizer_steps.c) ---- */

int attn_tokenizer_json_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err);

struct attn_steps {
    struct attn_subword *b;
    const char *name;                   /* of the file and the component, for messages */
    struct attn_err *err;
    bool byte_level;                    /* the ByteLevel step has come */
};

int attn_steps_normalizer(struct attn_steps *s, const cJSON *v);
int attn_steps_pre_tokenizer(struct attn_steps *s, const cJSON *v);
int attn_steps_decoder(struct attn_steps *s, const cJSON *v);
/* Needs the vocabulary. */
int attn_steps_post_processor(struct attn_steps *s, const cJSON *v);

/* Tokens to be found in the text (tokenizer_added.c): an array of them; an object of them by id; names with their ids in a
 * file, which are special where the object of tokenizer_config.json (or NULL) says so.  They need the vocabulary. */
int attn_steps_added(struct attn_steps *s, const cJSON *v);
int attn_steps_added_by_id(struct attn_steps *s, const cJSON *v);
int attn_steps_added_names(struct attn_steps *s, const struct attn_text_file *file, const cJSON *config);

/* Reads a flag of such an object; `otherwise` is its value if it is absent. */
int attn_steps_flag(struct attn_steps *s, const cJSON *v, const char *key, bool otherwise, bool *out);
/* Refuses keys that are not in the list, which ends with NULL. */
int attn_steps_keys(struct attn_steps *s, const cJSON *v, const char *const *known);
/* Fails with "NAME: WHAT is not supported ..." */
int attn_steps_refuse(struct attn_steps *s, const char *what);

#endif
