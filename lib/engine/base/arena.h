/* arena.h - one block of memory for everything a run needs.
 *
 * The layout is one function that is walked twice: first without memory, to count the bytes, then to hand out the
 * pieces, so that sizes and pointers cannot disagree.  The sizes are multiplied with overflow checks; the first
 * overflow sticks and attn_arena_make reports it. */
#ifndef ATTN_BASE_ARENA_H
#define ATTN_BASE_ARENA_H

#include "attn.h"

struct attn_arena { unsigned char *base; size_t used, size; bool overflow; };

/* A piece is zeroed and aligned to a cache line.  It is NULL during the counting walk, as base is. */
void *attn_arena_bytes(struct attn_arena *a, size_t n, size_t size);
float *attn_arena_f32(struct attn_arena *a, size_t n0, size_t n1, size_t n2);

/* Call it after the counting walk: allocates the memory and rewinds for the second walk. */
int attn_arena_make(struct attn_arena *a, struct attn_err *err);
/* Asks for large pages of 2 MB: address translation through small pages costs more, where rows lie far apart, than
 * clearing the somewhat larger memory. */
void attn_arena_large_pages(struct attn_arena *a);
void attn_arena_free(struct attn_arena *a);

#endif
