/* near.h - how far a mistyped name is from a known one.
 *
 * Edit distance over code points, two swapped neighbours counting as one slip, in half slips: a
 * letter in the other case costs one half. */
#ifndef ATTN_IO_NEAR_H
#define ATTN_IO_NEAR_H

#include <limits.h>

#include "attn.h"

#define ATTN_FAR UINT_MAX
enum { ATTN_NEAR_LONGEST = 64 };        /* code points; what is longer is near to nothing */

struct attn_letters { size_t n; int32_t as_is[ATTN_NEAR_LONGEST], lower[ATTN_NEAR_LONGEST]; };

/* One mistyped name, to be held against many.  `work` counts bytes read and letters compared, some
 * nanoseconds each: whoever offers a whole vocabulary ends when it is enough. */
struct attn_near { struct attn_letters typed; bool comparable; size_t work; };

void attn_near_start(struct attn_near *n, const char *typed, size_t len);       /* valid UTF-8, as all here */
/* FAR when it is no likely slip of the other, about one slip in three letters being forgiven, or when it
 * is not below `below`, the distance of a better one. */
unsigned attn_near(struct attn_near *n, const char *known, size_t len, unsigned below);

#endif
