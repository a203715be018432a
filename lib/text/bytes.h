/* bytes.h - how a byte-level vocabulary spells bytes, and so how its tokens read.
 *
 * Each byte is one visible character: 0x21-7E, A1-AC and AE-FF are the character with that number, the other 68 are
 * U+0100 to U+0143 in the order of the bytes.  So a space is spelled U+0120 and a line feed U+010A. */
#ifndef ATTN_TEXT_BYTES_H
#define ATTN_TEXT_BYTES_H

#include "text/vocab.h"

/* Writes the UTF-8 spelling of a byte and returns its length. */
size_t attn_bytes_spell(char out[4], unsigned char byte);
/* Decodes s to at most len bytes; SIZE_MAX if it contains a character that spells no byte. */
size_t attn_bytes_read(char *out, const char *s, size_t len);

/* The readable text of the tokens of such a vocabulary.
 *
 * A token reads as the bytes it spells, an added one as its own text, and one that spells no bytes as it is written.
 * Tokens are decoded on demand: most runs meet a handful of 50,000.  Those who need a pointer get it from a table of
 * all, built at the first such call.  Its memory is reserved from the start, though only as address space, so that
 * asking never fails.  Threads may call at the same time. */
struct attn_readings;
struct attn_added;
/* Borrows the vocabulary and the two sets of added tokens; NULL: no memory. */
struct attn_readings *attn_readings_new(const struct attn_vocab *v, const struct attn_added *added);
void attn_readings_free(struct attn_readings *r);                   /* NULL is fine */

/* The most bytes the text of the token of that rank takes; and a function that writes the text and returns its
 * length. */
size_t attn_readings_room(const struct attn_readings *r, size_t rank);
size_t attn_readings_spell(const struct attn_readings *r, size_t rank, char *out);
/* NUL-terminated; lives as long as r. */
const char *attn_readings_at(struct attn_readings *r, size_t rank, size_t *len);

#endif
