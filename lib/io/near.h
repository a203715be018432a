/* near.h - how far a mistyped name is from a known one.
 *
 * Edit distance over code points, two swapped neighbours counting as one slip, in half slips: a
 * letter in the other case costs one half. */
#ifndef ATTN_IO_NEAR_H
#define ATTN_IO_NEAR_H

#include <limits.h>

#include "attn.h"

#define ATTN_FAR UINT_MAX

/* FAR when it is no likely slip of the other: about one slip in three letters is forgiven.  Valid
 * UTF-8 both. */
unsigned attn_near(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
