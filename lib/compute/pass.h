/* pass.h - everything one forward pass works on: the decoder, the sentences, the buffers.
 *
 * Rows of all sentences lie below each other and share every product; only attention looks at one
 * sentence at a time.  run.c owns the memory and lays it out; nothing here allocates. */
#ifndef ATTN_COMPUTE_PASS_H
#define ATTN_COMPUTE_PASS_H

#include "base/arena.h"
#include "base/team.h"
#include "compute/heads.h"
#include "compute/weights.h"
#include "trace/trace.h"

/* Keys and values of one sentence so far, [L, Hkv, attn_keys_size(capacity)], and what linear attention keeps of
 * them, [L, Hkv, attn_linear_size]. */
struct attn_kv {
    float *keys, *state; size_t capacity, length; const struct attn_dims *n; struct attn_arena memory;
    bool taken;                         /* by a sentence of the pass */
};

struct attn_span {                      /* one sentence among the rows */
    size_t row, T, pos;                 /* its rows; the position of the first */
    struct attn_kv *kv;                 /* NULL: its own rows are the keys */
    const struct attn_span *keys;       /* cross-attention: another one whose rows are; NULL: none */
};

struct attn_pass {
    const struct attn_weights *w;
    struct attn_team *team;
    struct attn_trace *trace;
    const struct attn_span *span; size_t spans;
    size_t rows;                        /* of this pass, at most R of the plan */

    size_t ldx;                         /* of x: the wider of d and the width after a block */
    float *x;                           /* [R, ldx] the residual stream */
    float *y;                           /* [R, d] what a branch reads */
    float *q, *k, *v;                   /* [R, H*dh], [R, Hkv*dh], [R, Hkv*dv] */
    float *context;                     /* [R, H*dv] */
    float *out;                         /* [R, d] what a branch gives */
    float *second;                      /* [R, d] the same of the mlp, where both are needed at once */
    float *pre, *linear;                /* [R, m] inside the MLP; linear: swiglu only */
    float *cos, *sin;                   /* [R, rotary/2] of the rows' positions */
    float *norm_w, *norm_b;             /* [d] a norm's weights in float32 */
    float *rounded;                     /* the room gemm.h asks for to compute in bf16; NULL: in float32 */
    struct attn_text *text;             /* [spans] the sentences as attention sees them */
    struct attn_room room;
    struct attn_lost lost;              /* rows of attention that see nothing */
    float *logits; size_t logit_rows;   /* [logit_rows, V] */
};

#endif
