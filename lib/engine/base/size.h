/* size.h - small functions on sizes that C lacks. */
#ifndef ATTN_BASE_SIZE_H
#define ATTN_BASE_SIZE_H

#include <stddef.h>

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t larger(size_t a, size_t b) { return a > b ? a : b; }
/* The number of parts of at most `much` that n splits into. */
static inline size_t parts_of(size_t n, size_t much) { return (n + much - 1) / much; }
/* n rounded up to a multiple of `by`. */
static inline size_t up(size_t n, size_t by) { return parts_of(n, by) * by; }

#endif
