/* heads.h - all heads of all sentences, shared out among threads and told to a trace.
 *
 * Sentences, heads and bands are independent items.  When nobody listens each thread takes an item
 * through all four steps in its own scratch.  When somebody does, a wave of items goes up to a step
 * that is listened to, and the caller tells their bands in order before the wave goes on, so that an
 * edit of the pattern reaches the context.  An observer that wants activations whole gets a scratch
 * for all heads of a sentence.
 *
 * Keys and values lie in a cache as products read them, or each thread puts those of the head it is
 * at into a place of its own. */
#ifndef ATTN_COMPUTE_HEADS_H
#define ATTN_COMPUTE_HEADS_H

#include "base/arena.h"
#include "base/team.h"
#include "compute/attention.h"
#include "trace/trace.h"

struct attn_text {                      /* one sentence */
    const float *q, *k, *v;             /* of its first head; without a cache k and v are all keys there are */
    float *context;
    size_t Tq, Tk, pos;                 /* queries; keys they look at; causal: query t sees keys 0 .. pos + t */
    bool all;                           /* every query sees every key, whatever the mask of the others */
    float *cache; size_t capacity;      /* [Hkv, attn_keys_size] with pos keys: k and v are those of the queries */
    size_t first;                       /* its first item, for attn_heads_run */
};

/* Scratch.  Sizes are the most that will be asked of it. */
struct attn_room {
    size_t H, dh, dv;
    size_t rows, longest;               /* queries of all sentences, of one */
    size_t keys, own;                   /* keys a query sees; keys of a sentence without a cache */
    int threads;
    bool told, whole;                   /* somebody listens; wants activations whole */
    float *bands, *place; size_t numbers, each;
    struct attn_seat *seat;             /* [threads] */
};
/* Twice, as an arena is laid out. */
void attn_room_lay_out(struct attn_room *r, struct attn_arena *a);

struct attn_heads {
    struct attn_head head;              /* what all have in common: sizes, strides, masking */
    size_t H, Hkv, next_q, next_k, next_v, next_context;        /* from one head to the next */
    size_t ldk, ldv;
    struct attn_text *text; size_t texts;
    const struct attn_room *room;
    struct attn_trace *trace;           /* NULL: nobody listens */
    int layer;
    size_t empty;                       /* out: rows that see nothing */
};
/* Puts new keys and values into the caches; contexts of all queries. */
void attn_heads_run(struct attn_heads *a, struct attn_team *team);

#endif
