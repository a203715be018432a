/* escape.h - what a backslash begins in a string of JSON. */
#ifndef ATTN_IO_ESCAPE_H
#define ATTN_IO_ESCAPE_H

#include "attn.h"

/* The escape at s[0..n), s[0] a backslash: its character, and its bytes or 0 if it is none.  A pair of
 * surrogates is one escape; half a pair, which UTF-8 cannot spell, is none. */
size_t attn_escape_read(const char *s, size_t n, uint32_t *c);

#endif
