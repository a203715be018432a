/* near.h - how far a mistyped name is from a known one.
 *
 * This is the edit distance over code points, where swapping two neighbours counts as one slip.  Distances are in half
 * slips: a letter in the wrong case costs one. */
#ifndef ATTN_BASE_NEAR_H
#define ATTN_BASE_NEAR_H

#include <limits.h>

#include "attn.h"

#define ATTN_FAR UINT_MAX
enum { ATTN_NEAR_LONGEST = 64 };        /* code points; a longer name has no near ones */

struct attn_letters { size_t n; int32_t as_is[ATTN_NEAR_LONGEST], lower[ATTN_NEAR_LONGEST]; };

/* One mistyped name, to be compared with many.  `work` counts bytes read and letters compared, some nanoseconds each,
 * so that a search through a whole vocabulary can be cut short. */
struct attn_near { struct attn_letters typed; bool comparable; size_t work; };

/* Words of other programs and of articles; a word may mean several names.  A list ends with NULL. */
struct attn_meaning { const char *word, *name; };
/* Whether what was typed means this name, in any case, as "heatmap" means term. */
bool attn_near_means(const struct attn_meaning *m, const char *typed, size_t len, const char *name);

void attn_near_start(struct attn_near *n, const char *typed, size_t len);       /* valid UTF-8, like all names here */
/* The distance; FAR if it is too large for a likely slip (about one in three letters is allowed) or not below
 * `below`, the distance of a better match. */
unsigned attn_near(struct attn_near *n, const char *known, size_t len, unsigned below);

#endif
