/* grow.h - arrays that grow with what a file really contains.
 *
 * No allocation is sized by a number that a file claims: arrays start small and double. */
#ifndef ATTN_BASE_GROW_H
#define ATTN_BASE_GROW_H

#include <stdint.h>
#include <stdlib.h>

#include "attn.h"

/* Returns `array`, reallocated if needed, with room for `need` items of `size` bytes, and updates *room, which counts
 * items.  NULL if there is no memory: then the array is unchanged. */
static inline void *attn_grow(void *array, size_t *room, size_t need, size_t size)
{
    if (need <= *room && array)
        return array;
    size_t want, bytes;
    if (__builtin_add_overflow(*room, *room < 8 ? 16 : *room, &want) || want < need)
        want = need;
    if (__builtin_mul_overflow(want, size, &bytes) || bytes == 0)
        return NULL;
    void *moved = realloc(array, bytes);
    if (moved)
        *room = want;
    return moved;
}

#endif
