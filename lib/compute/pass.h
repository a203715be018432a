/* pass.h - everything one forward pass works on: the decoder, the sentences, the buffers.
 *
 * The rows of all sentences are stacked and share every product; only attention looks at one
 * sentence at a time.  run.c owns the memory and lays it out; nothing here allocates. */
#ifndef ATTN_COMPUTE_PASS_H
#define ATTN_COMPUTE_PASS_H

#include "base/arena.h"
#include "base/team.h"
#include "compute/heads.h"
#include "compute/weights.h"
#include "trace/trace.h"

/* The key/value cache of one sentence, [L, Hkv, attn_keys_size(capacity)], and what linear attention caches instead,
 * [L, Hkv, attn_linear_size]. */
struct attn_kv {
    float *keys, *state; size_t capacity, length; const struct attn_dims *n; struct attn_arena memory;
    bool taken;                         /* a sentence of the current pass uses it */
};

struct attn_pass_seq {                      /* one sentence among the rows */
    size_t row, T, pos;                 /* its first row, how many rows, the position of the first */
    struct attn_kv *kv;                 /* its cache; NULL: its keys are its own rows */
    const struct attn_pass_seq *keys;       /* cross-attention: the other sentence whose rows are its keys; NULL: none */
};

struct attn_pass {
    const struct attn_weights *w;
    struct attn_team *team;
    struct attn_trace *trace;
    const struct attn_pass_seq *span; size_t spans;
    size_t rows;                        /* of all sentences of this pass; at most R, the rows of the plan */

    size_t ldx;                         /* of x: the larger of d and the width after a block */
    float *x;                           /* [R, ldx] the residual stream */
    float *y;                           /* [R, d] the normalised input of a branch */
    float *q, *k, *v;                   /* [R, H*dh], [R, Hkv*dh], [R, Hkv*dv] */
    float *context;                     /* [R, H*dv] */
    float *out;                         /* [R, d] the output of a branch */
    float *second;                      /* [R, d] the output of the MLP, if branches are parallel and both are needed at once */
    float *pre, *linear;                /* [R, m] hidden layer of the MLP; linear: swiglu only */
    float *cos, *sin;                   /* [R, rotary/2] of the angles of the rows' positions */
    float *norm_w, *norm_b;             /* [d] a norm's weights in float32 */
    float *rounded;                     /* scratch of gemm.h to compute in bf16; NULL: computes in float32 */
    struct attn_text *text;             /* [spans] the sentences as attention sees them */
    struct attn_room room;
    atomic_bool *overflowed;            /* [spans] which of them have rows whose dots overflow */
    struct attn_lost lost, wild;        /* attention's rows that see nothing; those whose dots overflow */
    float *logits; size_t logit_rows;   /* [logit_rows, V] */
};

#endif
