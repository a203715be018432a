/* byte_level.h - a byte-level BPE tokenizer: text to ids.
 *
 * In this order: added tokens are found in the text; what is between them is normalised, if the
 * tokenizer says so; added tokens of the second kind are found in that; what is between them is cut
 * into pieces by one cut after the other; each piece is merged by itself (bpe.h).  Every token knows its
 * bytes of the original text: after normalisation, those of the clusters it lies in (nfc.h); a space
 * that the tokenizer put in front has none. */
#ifndef ATTN_IO_BYTE_LEVEL_H
#define ATTN_IO_BYTE_LEVEL_H

#include "io/added.h"
#include "io/bpe.h"
#include "io/pretoken.h"
#include "io/readings.h"
#include "io/spans.h"

enum { ATTN_CUTS_MAX = 8, ATTN_AROUND_MAX = 4 };

struct attn_around { int32_t id[ATTN_AROUND_MAX]; size_t n; };      /* tokens put before or after a text */

struct attn_byte_level {
    struct attn_bpe_rules rules;
    bool nfc, prefix;                   /* prefix: a space before what does not begin with one */
    enum attn_cut cut[ATTN_CUTS_MAX]; size_t cuts, prefix_cut;      /* prefix_cut: how many cuts come before the prefix */
    struct attn_added added[2];         /* found before normalisation, and after */
    struct attn_around before, after;   /* what the tokenizer's own files add */
    bool templated;                     /* they say so in so many words, even that it is nothing */
    int32_t bos;                        /* -1: no file says which */
    struct attn_readings *readings;
};

struct attn_text_file { const char *text; size_t len; const char *name; };
/* From vocab.json and merges.txt: GPT-2's cut, no normalisation.  Entries like <|endoftext|> that no
 * rule makes are special tokens. */
int attn_byte_level_read(struct attn_byte_level **out, const struct attn_text_file *vocab,
                         const struct attn_text_file *merges, struct attn_err *err);
/* When vocabulary, merges and added tokens are there: the tables made of them. */
int attn_byte_level_finish(struct attn_byte_level *b, const char *name, struct attn_err *err);
void attn_byte_level_free(struct attn_byte_level *b);               /* NULL is fine */

/* Names the BOS token, unless a file did; ids that there are not are passed over. */
void attn_byte_level_set_bos(struct attn_byte_level *b, int32_t id);

int attn_byte_level_encode(struct attn_spans *out, const struct attn_byte_level *b, const char *text, size_t len,
                           const struct attn_encode_opts *o, struct attn_err *err);

#endif
