/* block.h - the forward pass from the ids of a sentence to its logits: embedding, blocks, unembedding.
 *
 * One decoder block:
 *
 *     x = x + attn(norm1(x))
 *     x = x + mlp(norm2(x))
 *
 * A model without residual connections has no "x +", one without norms or MLP leaves these out.  If
 * the branches are parallel, x = x + attn(norm1(x)) + mlp(norm2(x)).  Some models normalise or scale what
 * a branch gives before it is added, or normalise the sum: weights.h lists all that a model may do.
 *
 * The rows of all sentences are stacked and share every product; only attention looks at one
 * sentence at a time.  Once the last block's has, the last row of each goes on alone where nobody reads another.
 * plan.c of room run owns the memory and lays it out; nothing here allocates. */
#ifndef ATTN_COMPUTE_BLOCK_H
#define ATTN_COMPUTE_BLOCK_H

#include "base/arena.h"
#include "base/team.h"
#include "compute/fusion.h"
#include "compute/multi_head.h"
#include "compute/rows.h"
#include "compute/weights.h"
#include "trace/trace.h"

/* The key/value cache of one sentence, [L, Hkv, attn_keys_size(capacity)], and what linear attention caches instead,
 * [L, Hkv, attn_linear_size]. */
struct attn_kv {
    float *keys, *state; size_t capacity, length; const struct attn_dims *n; struct attn_arena memory;
    bool taken;                         /* a sentence of the current pass uses it */
};

struct attn_pass_seq {                  /* one sentence among the rows */
    size_t row, T, pos;                 /* its first row, how many rows, the position of the first */
    struct attn_kv *kv;                 /* its cache; NULL: its keys are its own rows */
    const struct attn_pass_seq *keys;   /* cross-attention: the other sentence whose rows are its keys; NULL: none */
};

struct attn_pass {
    const struct attn_weights *w;
    bool unread;                        /* no pass has read the weights yet: their pages may not be mapped */
    struct attn_team *team;
    struct attn_trace *trace;
    const struct attn_pass_seq *seq; size_t seqs;
    size_t rows, R;                     /* of all sentences of this pass; the most there can be, the rows of the plan */
    const struct attn_fusion *fusion;   /* [L] what is done in one go */
    int layer;                          /* of the block that runs; -1: none */
    size_t blocks;                      /* how many are computed: nobody reads what comes after them */
    bool last;                          /* the rows are the last one of each sentence by now: nobody reads the others */

    size_t ldx;                         /* of x: the larger of d and the width after a block */
    float *x;                           /* [R, ldx] the residual stream */
    float *y;                           /* [R, d] the normalised input of a branch */
    float *q, *k, *v;                   /* [R, H*dh], [R, Hkv*dh], [R, Hkv*dv] */
    float *context;                     /* [R, H*dv] */
    float *out;                         /* [R, d] the output of a branch, if an observer wants it or it changes first */
    float *parallel_out;                /* [R, d] parallel branches: attention's output while the MLP still reads x */
    float *pre, *linear;                /* [R, m] hidden layer of the MLP; linear: if it is gated */
    float *cos, *sin;                   /* [ropes, R, rotary/2] of the angles of the rows' positions */
    float *bias; size_t bias_ld;        /* [H, bias_ld] what ALiBi adds to the scores of each key; NULL: nothing */
    float *embed_proj;                  /* [R, in of project_in] what project_in reads, or unembed after project_out */
    float *norm_w, *norm_b;             /* [the widest norm] a norm's weights in float32 */
    float *rounded;                     /* scratch of gemm.h to compute in bf16; NULL: computes in float32 */
    float *y_bf16, *inner_bf16;         /* in bf16, y and the context or hidden layer (fusion.h); NULL: float32 */
    struct attn_heads_seq *heads_seq;   /* [seqs] the sentences as attention sees them */
    struct attn_scratch scratch;
    atomic_bool *overflowed;            /* [seqs] which of them have rows whose dots overflow */
    struct attn_lost lost, nonfinite;   /* attention's rows that see nothing; those whose dots overflow */
    float *logits; size_t logit_rows;   /* [logit_rows, V] */
};

/* x = embedding of each id (below V), plus the learned vector of its position; or computes the
 * angles of rotary positions. */
void attn_embed_run(struct attn_pass *p, const int32_t *ids);
/* The same for a pass that begins at a later block: x[i] is what that block reads of sentence i, [T, width] numbers. */
void attn_embed_resume(struct attn_pass *p, const float *const *x, size_t width);
void attn_block_run(struct attn_pass *p, int layer);
/* Computes norm_final and logits if an observer wants them: of all rows, or of the last one of each sentence. */
void attn_unembed_run(struct attn_pass *p);
/* Logits [x->n, V] of rows that are normalised already.  embed_proj is scratch: x->n rows of project_in's input. */
void attn_unembed_rows(struct attn_team *t, const struct attn_weights *w, float *logits, const struct attn_rows *x,
                       float *embed_proj, float *rounded);

#endif
