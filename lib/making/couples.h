/* couples.h - which two tokens are neighbours, how often, and where.
 *
 * Couples are numbered in order of arrival.  The most frequent one is found by a heap whose entries are
 * checked when they come up: counts that fell since are put back, and those that rose were put in anew.
 * Places are not taken out when a couple leaves them: whoever reads them looks whether it is still there. */
#ifndef ATTN_MAKING_COUPLES_H
#define ATTN_MAKING_COUPLES_H

#include "attn.h"

struct attn_couple {
    int32_t left, right;
    uint64_t count;
    uint32_t *at; size_t n, room;       /* places: of the left one */
    bool rising;                        /* in the list below */
};

struct attn_couples {
    struct attn_couple *list; size_t n, room;
    uint32_t *slot; size_t slots;                                   /* number + 1, 0: free; slots is a power of 2 */
    uint64_t seed;
    uint32_t *rising; size_t rises, rising_room;                    /* whose count rose since they were last ranked */
    struct attn_ranked *heap; size_t heap_n, heap_room;
};

/* left and right are neighbours `count` times more, at this place; false: no memory. */
bool attn_couples_add(struct attn_couples *c, int32_t left, int32_t right, uint64_t count, uint32_t at);
/* ... or less; they were. */
void attn_couples_drop(struct attn_couples *c, int32_t left, int32_t right, uint64_t count);
/* Call it after adding, before the next top; false: no memory. */
bool attn_couples_rank(struct attn_couples *c);
/* The most frequent; of equals the one with the lower left token, then the lower right one.  Each comes up once.
 * NULL: there is none. */
struct attn_couple *attn_couples_top(struct attn_couples *c);
void attn_couples_free(struct attn_couples *c);                     /* zeroed is fine */

#endif
