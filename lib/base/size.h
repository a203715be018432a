/* size.h - what C has no word for, of sizes. */
#ifndef ATTN_BASE_SIZE_H
#define ATTN_BASE_SIZE_H

#include <stddef.h>

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t larger(size_t a, size_t b) { return a > b ? a : b; }
/* Into how many parts of at most so much n falls. */
static inline size_t parts_of(size_t n, size_t much) { return (n + much - 1) / much; }
/* n, or what follows it and is a multiple. */
static inline size_t up(size_t n, size_t by) { return parts_of(n, by) * by; }

#endif
