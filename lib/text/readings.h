/* readings.h - the readable text of each token of a vocabulary.
 *
 * A token reads as the decoder says, an added one as its own text.
 * Tokens are decoded on demand: most runs meet a handful of 50,000.  Those who need a pointer get it from a table of
 * all, built at the first such call.  Its memory is reserved from the start, though only as address space, so that
 * asking never fails.  Threads may call at the same time. */
#ifndef ATTN_TEXT_READINGS_H
#define ATTN_TEXT_READINGS_H

#include "text/decode.h"
#include "text/vocab.h"

struct attn_readings;
struct attn_added;
struct attn_added_token;
/* Borrows the vocabulary, the decoder and the two sets of added tokens (NULL: there are none that
 * read differently); NULL: no memory. */
struct attn_readings *attn_readings_new(const struct attn_vocab *v, const struct attn_decoder *d, const struct attn_added *added);
void attn_readings_free(struct attn_readings *r);                   /* NULL is fine */

/* The added token of that rank; NULL: it is none. */
const struct attn_added_token *attn_readings_own(const struct attn_readings *r, size_t rank);

/* The most bytes the text of the token of that rank takes; and a function that writes the text and returns its
 * length. */
size_t attn_readings_room(const struct attn_readings *r, size_t rank);
size_t attn_readings_spell(const struct attn_readings *r, size_t rank, char *out);
/* NUL-terminated; lives as long as r. */
const char *attn_readings_at(struct attn_readings *r, size_t rank, size_t *len);

#endif
