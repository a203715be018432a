/* multi_head.h - attention of all heads of all sentences, divided among threads and announced to a trace.
 *
 * Each band of each head of each sentence is an independent item.  If no observer wants dots, scores
 * or pattern, each thread takes an item through all steps in its own scratch.  Otherwise a batch of items is
 * taken up to the first step that somebody wants to see; then the calling thread announces their bands
 * in order, and the batch goes on: so an edit of the pattern reaches the context.  For an observer that
 * wants whole activations, the scratch holds all heads of a sentence.
 *
 * A key/value cache already holds keys and values in the layout that products read.  Without one, each
 * thread copies those of the head it works on into memory of its own. */
#ifndef ATTN_COMPUTE_MULTI_HEAD_H
#define ATTN_COMPUTE_MULTI_HEAD_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/team.h"
#include "compute/attention.h"
#include "trace/trace.h"

struct attn_heads_seq {                 /* one sentence */
    const float *q, *k, *v;             /* of its first head; k and v: all keys or, with a cache, those of new tokens */
    float *context;
    size_t row;                         /* of its first query, among those of all sentences */
    size_t Tq, Tk, pos;                 /* queries; keys they look at; position of the first query */
    bool all;                           /* cross-attention: every query sees every key, whatever the kind */
    float *cache; size_t capacity;      /* [Hkv, attn_keys_size], which holds pos keys before the run; NULL: no cache */
    float *state;                       /* [Hkv, attn_linear_size]: the cache of linear attention */
    size_t first;                       /* number of its first item; set by attn_heads_run */
};

/* ---- scratch ---- */

/* What a worker has copied: the first n keys, or values, of a key/value head. */
struct attn_copied { const struct attn_heads_seq *seq; size_t kv, n; };
struct attn_worker { struct attn_copied k, v; struct attn_lost lost, nonfinite; };

/* The members before `bands` are set by the caller; each is the most that a pass will need. */
struct attn_scratch {
    size_t H, dh, dv;
    size_t rows, longest;               /* queries of all sentences; of one sentence */
    size_t keys, own;                   /* keys a query sees; keys of a sentence without a cache */
    size_t positions;                   /* the last position of a query, plus 1 */
    struct attn_kind kind;              /* as asked for; ATTN_MODEL needs only bands, whatever a layer's mask is */
    int threads;
    bool watched, whole;                /* observers want bands; want whole activations */
    float *bands; size_t band_floats;   /* all bands, and how many floats that is */
    float *keys_of_worker; size_t keys_floats, copied;          /* [threads, keys_floats] copies of `copied` keys */
    float *method_x; size_t method_floats;                      /* [threads, method_floats] */
    size_t *list;                       /* [threads, 2, positions] */
    struct attn_worker *worker;         /* [threads] */
};
/* Call this twice, as an arena is laid out (base/arena.h). */
void attn_scratch_lay_out(struct attn_scratch *s, struct attn_arena *a);
struct attn_method_scratch attn_scratch_method(const struct attn_scratch *s, int worker);

/* ---- attention ---- */

struct attn_heads {
    struct attn_head head;              /* what all heads have in common: sizes, strides, masking */
    size_t H, Hkv, next_q, next_k, next_v, next_context;        /* next_: floats from one head to the next */
    size_t ldq, ldk, ldv;
    const float *bias; size_t next_bias;                /* [H] numbers for each key, see attn_head; NULL: none */
    struct attn_heads_seq *seq; size_t seqs;
    const struct attn_scratch *scratch;
    struct attn_trace *trace;           /* NULL: no observers */
    int layer;
    float *rounded;                     /* in bf16: contexts are put here, too (attn_gemm_round); NULL: they are not */
    atomic_bool *overflowed;            /* [seqs] becomes true for those with such rows; NULL: nobody wants to know */
    struct attn_lost lost, nonfinite;   /* results: rows that see nothing; rows whose dots overflow */
};
/* Whether heads of such attention can round their contexts: each has whole steps of a row, and is computed as items. */
bool attn_heads_can_round(enum attn_form form, size_t dv);
/* Adds the new keys and values to the caches and computes the contexts of all queries. */
void attn_heads_run(struct attn_heads *a, struct attn_team *team);

/* Notes what a worker found in rows of one head of a sentence. */
void attn_heads_found(const struct attn_heads *a, int worker, size_t seq, size_t head, const struct attn_found *found);
/* Adds the number of rows; `to` keeps the first row of both, by layer, sentence, head and row. */
void attn_lost_add(struct attn_lost *to, const struct attn_lost *more);

/* All keys and values of a key/value head of a sentence: in its cache's layout or, without one, with keys as rows. */
struct attn_keys attn_heads_keys(const struct attn_heads *a, const struct attn_heads_seq *s, size_t kv);
/* The same, at least the first n of them, in the layout that the given steps of a method read: copied where need be. */
struct attn_keys attn_heads_keys_for(const struct attn_heads *a, const struct attn_heads_seq *s, size_t kv, size_t n,
                                     const struct attn_method *method, unsigned steps, int worker);
/* Puts the new keys and values of all sentences into their caches. */
void attn_heads_cache(struct attn_heads *a, struct attn_team *team);

#endif
