/* byte_level.h - a byte-level BPE tokenizer: text to ids.
 *
 * The steps: added tokens are found in the text; what is between them is normalised if the tokenizer says so; added
 * tokens of the second kind are found in that; what is between them is cut into pieces by one cut after the other;
 * each piece is merged by itself (bpe.h).  Every token knows its bytes of the original text: after normalisation,
 * those of the clusters it lies in (nfc.h).  A space that the tokenizer put in front has no bytes. */
#ifndef ATTN_TEXT_BYTE_LEVEL_H
#define ATTN_TEXT_BYTE_LEVEL_H

#include "text/added.h"
#include "text/bpe.h"
#include "text/bytes.h"
#include "text/pretoken.h"
#include "text/tokens.h"

enum { ATTN_CUTS_MAX = 8, ATTN_AROUND_MAX = 4 };

struct attn_around { int32_t id[ATTN_AROUND_MAX]; size_t n; };      /* tokens put before or after a text */

struct attn_byte_level {
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
/* Reads vocab.json and merges.txt and uses GPT-2's cut without normalisation.  Entries such as <|endoftext|> that no
 * rule makes become special tokens. */
int attn_byte_level_read(struct attn_byte_level **out, const struct attn_text_file *vocab,
                         const struct attn_text_file *merges, struct attn_err *err);
/* Reads Hugging Face's tokenizer.json; see tokenizer_json.c. */
int attn_tokenizer_json_read(struct attn_byte_level **out, const struct attn_text_file *file, struct attn_err *err);
/* Builds the lookup tables, once vocabulary, merges and added tokens are there. */
int attn_byte_level_finish(struct attn_byte_level *b, const char *name, struct attn_err *err);
void attn_byte_level_free(struct attn_byte_level *b);               /* NULL is fine */

/* Sets the BOS token unless a file already has; unknown ids are ignored. */
void attn_byte_level_set_bos(struct attn_byte_level *b, int32_t id);

int attn_byte_level_encode(struct attn_encoding *out, const struct attn_byte_level *b, const char *text, size_t len,
                           const struct attn_encode_opts *o, struct attn_err *err);

/* Takes ownership of b, also on failure. */
int attn_tokenizer_bytes(struct attn_tokenizer **out, struct attn_byte_level *b, const char *name, struct attn_err *err);

#endif
