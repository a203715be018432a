/* room.h - the scratch of attention: bands, places for keys, and what some kinds need besides, for each thread. */
#ifndef ATTN_COMPUTE_ROOM_H
#define ATTN_COMPUTE_ROOM_H

#include "base/arena.h"
#include "compute/attention.h"

/* Which keys or values a thread has in its place: the first n of a kv head. */
struct attn_held { const struct attn_text *text; size_t kv, n; };
struct attn_seat { struct attn_held k, v; struct attn_lost lost; };
/* More rows; the first of all comes first by layer, sentence, head and row. */
void attn_lost_add(struct attn_lost *to, const struct attn_lost *more);

/* Sizes are the most that will be asked of it. */
struct attn_room {
    size_t H, dh, dv;
    size_t rows, longest;               /* queries of all sentences, of one */
    size_t keys, own;                   /* keys a query sees; keys of a sentence without a cache */
    size_t positions;                   /* a query's at most, plus 1 */
    struct attn_kind kind;              /* as asked for: of ATTN_MODEL, no kind needs more than rows of all keys */
    int threads;
    bool told, whole;                   /* somebody listens; wants activations whole */
    float *bands, *place, *spare; size_t numbers, each, spare_each;
    size_t *list;                       /* [threads, 2, positions] */
    struct attn_seat *seat;             /* [threads] */
};
/* Twice, as an arena is laid out. */
void attn_room_lay_out(struct attn_room *r, struct attn_arena *a);

/* From a row of a band of so many keys to the next. */
size_t attn_room_ld(const struct attn_room *r, size_t keys);
/* Keys that a thread's place has room for; of linear, phi of those in a cache come there, too. */
size_t attn_room_own(const struct attn_room *r);
struct attn_spare attn_room_spare(const struct attn_room *r, int worker);

#endif
