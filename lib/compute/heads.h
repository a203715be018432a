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

#include "base/team.h"
#include "compute/room.h"
#include "trace/trace.h"

struct attn_text {                      /* one sentence */
    const float *q, *k, *v;             /* of its first head; without a cache k and v are all keys there are */
    float *context;
    size_t Tq, Tk, pos;                 /* queries; keys they look at; position of the first query */
    bool all;                           /* every query sees every key, whatever the kind of the others */
    float *cache; size_t capacity;      /* [Hkv, attn_keys_size] with pos keys: k and v are those of the queries */
    float *state;                       /* [Hkv, attn_linear_size] of the cache */
    size_t first;                       /* its first item, for attn_heads_run */
};

struct attn_heads {
    struct attn_head head;              /* what all have in common: sizes, strides, masking */
    size_t H, Hkv, next_q, next_k, next_v, next_context;        /* from one head to the next */
    size_t ldq, ldk, ldv;
    struct attn_text *text; size_t texts;
    const struct attn_room *room;
    struct attn_trace *trace;           /* NULL: nobody listens */
    int layer;
    struct attn_lost lost;              /* out: rows that see nothing */
};
/* Puts new keys and values into the caches; contexts of all queries. */
void attn_heads_run(struct attn_heads *a, struct attn_team *team);

/* All keys of a sentence and a key/value head: those of its cache, or rows. */
struct attn_keys attn_heads_keys(const struct attn_heads *a, const struct attn_text *t, size_t kv);

#endif
