/* ranges.h - sets of indices, as ranges that are sorted and lie apart.
 *
 * A set is made of ranges in any order and then joined.  A zeroed struct is an empty set. */
#ifndef ATTN_ASK_RANGES_H
#define ATTN_ASK_RANGES_H

#include "compute/mask.h"

struct attn_ranges { struct attn_range *r; size_t n, room; };       /* lo <= i < hi, as everywhere */

/* Adds one; an empty range adds nothing.  False: no memory. */
bool attn_ranges_add(struct attn_ranges *s, size_t lo, size_t hi);
void attn_ranges_join(struct attn_ranges *s);         /* sorts and joins them; all functions below need that */
size_t attn_ranges_count(const struct attn_ranges *s);  /* how many indices it has */
bool attn_ranges_has(const struct attn_ranges *s, size_t i);
/* The first range that reaches beyond `at`; s->n if there is none. */
size_t attn_ranges_from(const struct attn_ranges *s, size_t at);
void attn_ranges_free(struct attn_ranges *s);

#endif
