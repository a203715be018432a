/* arena.h - one block of memory for everything a run needs.
 *
 * The layout is one function, walked twice: first with no memory, to count, then to carve, so that
 * sizes and pointers cannot disagree.  Factors are multiplied with overflow checks inside; the
 * first failure sticks and shows when the arena is made. */
#ifndef ATTN_BASE_ARENA_H
#define ATTN_BASE_ARENA_H

#include "attn.h"

struct attn_arena { unsigned char *base; size_t used, size; bool overflow; };

/* Zeroed by the kernel, each piece aligned to a cache line.  While counting (base NULL) NULL is
 * returned. */
void *attn_arena_bytes(struct attn_arena *a, size_t n, size_t size);
float *attn_arena_f32(struct attn_arena *a, size_t n0, size_t n1, size_t n2);

/* After the counting walk: gets the memory and rewinds. */
int attn_arena_make(struct attn_arena *a, struct attn_err *err);
/* Asks for large pages, 2 MB each: finding the small ones of rows that lie far apart takes longer than clearing
 * somewhat more than is used. */
void attn_arena_large_pages(struct attn_arena *a);
void attn_arena_free(struct attn_arena *a);

#endif
