/* room.h - the scratch of attention: bands of scores and, for each thread, a place for keys and what some kinds need. */
#ifndef ATTN_COMPUTE_ROOM_H
#define ATTN_COMPUTE_ROOM_H

#include "base/arena.h"
#include "compute/attention.h"

/* Which keys or values a thread's place holds: the first n of a key/value head. */
struct attn_held { const struct attn_text *text; size_t kv, n; };
struct attn_seat { struct attn_held k, v; struct attn_lost lost, wild; };
/* Adds the number of rows; `to` keeps the first row of both, by layer, sentence, head and row. */
void attn_lost_add(struct attn_lost *to, const struct attn_lost *more);

/* The members before `bands` are set by the caller; each is the most that a pass will need. */
struct attn_room {
    size_t H, dh, dv;
    size_t rows, longest;               /* queries of all sentences; of one sentence */
    size_t keys, own;                   /* keys a query sees; keys of a sentence without a cache */
    size_t positions;                   /* the last position of a query, plus 1 */
    struct attn_kind kind;              /* as asked for; ATTN_MODEL needs no scratch but bands, whatever the layer's mask is */
    int threads;
    bool told, whole;                   /* observers want bands; want whole activations */
    float *bands, *place, *spare; size_t numbers, each, spare_each;     /* floats of all bands, of a place, of a thread's spare */
    size_t *list;                       /* [threads, 2, positions] */
    struct attn_seat *seat;             /* [threads] */
};
/* Call this twice, as an arena is laid out (base/arena.h). */
void attn_room_lay_out(struct attn_room *r, struct attn_arena *a);

/* Floats from one row to the next of a band of so many keys. */
size_t attn_room_ld(const struct attn_room *r, size_t keys);
/* How many keys a thread's place has room for.  In linear attention it also holds phi of cached keys. */
size_t attn_room_own(const struct attn_room *r);
struct attn_spare attn_room_spare(const struct attn_room *r, int worker);

#endif
