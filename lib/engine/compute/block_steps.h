/* block_steps.h - the steps that block.c is made of, each for the rows of all sentences of a pass.
 *
 * A step computes, then announces its result to the observers of the pass.  fusion.h says what happens in one go. */
#ifndef ATTN_COMPUTE_BLOCK_STEPS_H
#define ATTN_COMPUTE_BLOCK_STEPS_H

#include "compute/block.h"
#include "compute/gemm.h"

/* [R, cols].  bf16: the same in bf16, in place of rows.data, for products alone; NULL: the numbers are in float32. */
struct attn_activation { struct attn_rows rows; float *bf16; };

struct attn_activation attn_pass_rows(const struct attn_pass *p, float *data, size_t cols);
struct attn_activation attn_pass_stream(const struct attn_pass *p);             /* the residual stream [R, d] */
struct attn_activation attn_pass_hidden(const struct attn_pass *p);             /* the hidden layer of the MLP [R, m] */

/* Whether an observer sees or edits it. */
bool attn_pass_wanted(const struct attn_pass *p, int act);
/* Announces all rows of `act`, sentence by sentence.  heads 0: it has no head axis; else its columns are so many
 * heads side by side. */
void attn_pass_announce(struct attn_pass *p, int act, const struct attn_activation *x, size_t heads);
/* y = norm(x), and y may be x; nothing where there is no such norm. */
void attn_pass_normalise(struct attn_pass *p, const struct attn_activation *y, const struct attn_activation *x,
                         const struct attn_norm *norm);

/* What a branch reads: x normalised, or x itself where there is no norm. */
struct attn_activation attn_pass_norm(struct attn_pass *p, int act, const struct attn_activation *x,
                                      const struct attn_norm *norm);
/* Queries, keys and values of all heads: h times three weights. */
void attn_pass_qkv(struct attn_pass *p, const struct attn_activation *h, const struct attn_block *b);
/* Rotates queries and keys by the angles of their positions, where the block does so, and announces all three. */
void attn_pass_rotate(struct attn_pass *p, const struct attn_block *b);
/* Dots, scores and pattern [H, T, Tk] of each sentence -> contexts.  In the last block only the last row of each
 * sentence goes on if nobody reads another: then x and h shrink, too. */
struct attn_activation attn_pass_attend(struct attn_pass *p, struct attn_activation *x, struct attn_activation *h);
/* y = epilogue(x w), where `act` is x w.  Without w, x stands for the product, and y takes on its width.  What is
 * added to the residual stream is normalised or scaled before, where the model does that to what a branch gives. */
void attn_pass_linear(struct attn_pass *p, int act, struct attn_activation *y, const struct attn_activation *x,
                      const struct attn_mat *w, enum attn_epilogue epilogue);
/* y += x */
void attn_pass_add(struct attn_pass *p, const struct attn_activation *y, const struct attn_activation *x);
/* Goes on with the last row of each sentence alone, if that is not so already. */
void attn_pass_keep_last(struct attn_pass *p, struct attn_activation *x);

#endif
