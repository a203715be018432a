/* couples.h - which two tokens are neighbours, how often, and where.
 *
 * Couples are numbered in the order they were added.  The most frequent one is found by a heap whose entries are
 * checked when they come up: a couple whose count has fallen since is put back, and one whose count rose was added a
 * second time.  A position is not removed when the couple there is gone: readers must check that it is still there. */
#ifndef ATTN_MAKING_COUPLES_H
#define ATTN_MAKING_COUPLES_H

#include "attn.h"

struct attn_couple {
    int32_t left, right;
    uint64_t count;
    uint32_t *at; size_t n, room;       /* positions of the left token */
    bool rising;                        /* in the list below */
};

struct attn_couples {
    struct attn_couple *list; size_t n, room;
    uint32_t *slot; size_t slots;                                   /* number + 1, 0: free; slots is a power of 2 */
    uint64_t seed;
    uint32_t *rising; size_t rises, rising_room;                    /* couples whose counts rose since the last ranking */
    struct attn_ranked *heap; size_t heap_n, heap_room;
};

/* Counts left and right as neighbours `count` more times, at this position; false: no memory. */
bool attn_couples_add(struct attn_couples *c, int32_t left, int32_t right, uint64_t count, uint32_t at);
/* Counts them `count` fewer times; they must have been added. */
void attn_couples_drop(struct attn_couples *c, int32_t left, int32_t right, uint64_t count);
/* Call it after adding and before the next call of top; false: no memory. */
bool attn_couples_rank(struct attn_couples *c);
/* The most frequent couple; of equally frequent ones the one with the lower left token, then the lower right one.
 * Each is returned once.  NULL: none is left. */
struct attn_couple *attn_couples_top(struct attn_couples *c);
void attn_couples_free(struct attn_couples *c);                     /* zeroed is fine */

#endif
