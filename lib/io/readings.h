/* readings.h - what the tokens of a byte-level vocabulary read as.
 *
 * A token reads as the bytes it spells, an added one as its own text, and one that spells no bytes as it is
 * written.  Tokens are spelled when somebody asks: most runs meet a handful of 50,000.  Who must be given a
 * pointer gets it from a table of all of them, made at the first such call.  Its memory is there from the
 * start, though only as address space, so that asking never fails.  Threads may ask at once. */
#ifndef ATTN_IO_READINGS_H
#define ATTN_IO_READINGS_H

#include "io/added.h"
#include "io/vocab.h"

struct attn_readings;
/* Borrows both; NULL: no memory. */
struct attn_readings *attn_readings_new(const struct attn_vocab *v, const struct attn_added added[2]);
void attn_readings_free(struct attn_readings *r);                   /* NULL is fine */

/* Bytes that the token of that rank reads as, at most; and writes them, returning how many they are. */
size_t attn_readings_room(const struct attn_readings *r, size_t rank);
size_t attn_readings_spell(const struct attn_readings *r, size_t rank, char *out);
/* NUL-terminated, as long as r. */
const char *attn_readings_at(struct attn_readings *r, size_t rank, size_t *len);

#endif
