/* decode.h - ids back to text: a chain of steps over the list of tokens, as tokenizer.json describes it.
 *
 * Each step makes a new list from the last one; in the end all are joined.  What is then no UTF-8 becomes U+FFFD, as in
 * the implementations that wrote the files. */
#ifndef ATTN_TEXT_DECODE_H
#define ATTN_TEXT_DECODE_H

#include "attn.h"

enum attn_decode_kind {
    ATTN_DECODE_BYTE_LEVEL,             /* each token by the bytes it spells */
    ATTN_DECODE_REPLACE,                /* `find` by `with` in each */
    ATTN_DECODE_BYTES,                  /* runs of <0xHH> by their text, or by one U+FFFD each if they are no UTF-8 */
    ATTN_DECODE_FUSE,                   /* all tokens become one */
    ATTN_DECODE_STRIP,                  /* up to so many copies of `find` at both ends of each */
    ATTN_DECODE_METASPACE,              /* `find` by a space; in the first token by nothing, if `drop` is set */
    ATTN_DECODE_SUFFIX,                 /* `find` by a space, in the last token by nothing */
    ATTN_DECODE_JOIN,                   /* a space between two tokens */
    ATTN_DECODE_WORD_PIECE,             /* the same, unless a token begins with `find`, which is taken away; with
                                         * `drop`, no spaces in front of punctuation and English endings */
    ATTN_DECODE_SENTENCEPIECE           /* all that sentencepiece does: `find` is a space, the first one is dropped with
                                         * `drop`, leading ones with `squeeze`; unknown tokens read `with` */
};

enum { ATTN_DECODES_MAX = 8 };

struct attn_decode_step { enum attn_decode_kind kind; char *find, *with; size_t start, stop; bool drop, squeeze; };
struct attn_decoder { struct attn_decode_step step[ATTN_DECODES_MAX]; size_t n; };

/* A token: its spelling, and which kind of piece it is (enum attn_piece_type). */
struct attn_spelled { const char *s; size_t len; unsigned char type; };

/* malloc'd and NUL-terminated. */
int attn_decoder_run(char **out, size_t *len, const struct attn_decoder *d, const struct attn_spelled *token, size_t n,
                     struct attn_err *err);
void attn_decoder_free(struct attn_decoder *d);                     /* what its steps own */

/* How one token reads by itself: what does not depend on its place is done, and a byte is that byte.  The text of an
 * added token spells no bytes.  Writes at most attn_decoder_room bytes; returns how many. */
size_t attn_decoder_room(const struct attn_decoder *d, size_t len);
size_t attn_decoder_read(const struct attn_decoder *d, const char *s, size_t len, bool added, char *out);

/* The byte of "<0xHH>", or -1. */
int attn_byte_of(const char *s, size_t len);

#endif
