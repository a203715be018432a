/* heads.h - attention of all heads of all sentences, divided among threads and announced to a trace.
 *
 * Each band of each head of each sentence is an independent item.  If no observer wants dots, scores
 * or pattern, each thread takes an item through all steps in its own scratch.  Otherwise a wave of items is
 * taken up to the first step that somebody wants to see; then the calling thread announces their bands
 * in order, and the wave goes on: so an edit of the pattern reaches the context.  For an observer that
 * wants whole activations, the scratch holds all heads of a sentence.
 *
 * A key/value cache already holds keys and values in the layout that products read.  Without one, each
 * thread copies those of the head it works on into a place of its own. */
#ifndef ATTN_COMPUTE_HEADS_H
#define ATTN_COMPUTE_HEADS_H

#include <stdatomic.h>

#include "base/team.h"
#include "compute/room.h"
#include "trace/trace.h"

struct attn_text {                      /* one sentence */
    const float *q, *k, *v;             /* of its first head; k and v: without a cache all keys, else those of the new tokens */
    float *context;
    size_t Tq, Tk, pos;                 /* queries; keys they look at; position of the first query */
    bool all;                           /* cross-attention: every query sees every key, whatever the kind */
    float *cache; size_t capacity;      /* [Hkv, attn_keys_size], which holds pos keys before the run; NULL: no cache */
    float *state;                       /* [Hkv, attn_linear_size]: the cache of linear attention */
    size_t first;                       /* number of its first item; set by attn_heads_run */
};

struct attn_heads {
    struct attn_head head;              /* what all heads have in common: sizes, strides, masking */
    size_t H, Hkv, next_q, next_k, next_v, next_context;        /* next_: floats from one head to the next */
    size_t ldq, ldk, ldv;
    struct attn_text *text; size_t texts;
    const struct attn_room *room;
    struct attn_trace *trace;           /* NULL: no observers */
    int layer;
    atomic_bool *overflowed;            /* [texts] becomes true for those with such rows; NULL: nobody wants to know */
    struct attn_lost lost, wild;        /* results: rows that see nothing; rows whose dots overflow */
};
/* Adds the new keys and values to the caches and computes the contexts of all queries. */
void attn_heads_run(struct attn_heads *a, struct attn_team *team);

/* Notes what a worker found in rows of one head of a sentence. */
void attn_heads_found(const struct attn_heads *a, int worker, size_t seq, size_t head, const struct attn_found *found);

/* All keys and values of one key/value head of a sentence: in the layout of its cache or, without one, the keys as rows. */
struct attn_keys attn_heads_keys(const struct attn_heads *a, const struct attn_text *t, size_t kv);

#endif
