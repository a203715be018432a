/* grow.h - arrays that grow with what a file really holds.
 *
 * A number a file claims never sizes an allocation here: arrays start small and double. */
#ifndef ATTN_BASE_GROW_H
#define ATTN_BASE_GROW_H

#include <stdint.h>
#include <stdlib.h>

#include "attn.h"

/* Returns `array` with room for `need` items of `size` bytes, moved if it must be, and updates
 * *room, which counts items.  NULL when there is no memory: the array is as it was. */
static inline void *attn_grow(void *array, size_t *room, size_t need, size_t size)
{
    if (need <= *room && array)
        return array;
    size_t more = *room < 8 ? 16 : *room;
    size_t want = more > SIZE_MAX - *room ? need : *room + more;
    if (want < need)
        want = need;
    if (want > SIZE_MAX / size)
        return NULL;
    void *moved = realloc(array, want * size);
    if (moved)
        *room = want;
    return moved;
}

#endif
