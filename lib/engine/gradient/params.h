/* params.h - every number of a model that training may change, and its gradient.
 *
 * Values and gradients are float32 whatever the checkpoint stores, each in one block of memory, tensor after tensor
 * in the order of the forward pass, under the checkpoint's own names and in its own layout.  A tensor that is used
 * twice (a tied embedding) or holds several matrices (GPT-2's c_attn) is one parameter.  Tensors start at cache
 * lines, but for those that one norm reads one after the other; the numbers between them are zeros and stay zeros, so
 * that an optimizer, a norm or a copy may process all `count` numbers in one loop.
 *
 * `w` is the decoder as the arithmetic sees it, with its views bound to `value`; `g` has the same views of `grad`. */
#ifndef ATTN_GRADIENT_PARAMS_H
#define ATTN_GRADIENT_PARAMS_H

#include "base/arena.h"
#include "compute/weights.h"
#include "io/safetensors.h"
#include "model/model.h"

struct attn_param {
    const char *name;                   /* as in the file; lives as long as the model */
    int ndim; size_t shape[2];
    size_t at, count;                   /* its numbers are value[at] to value[at + count - 1], likewise in grad */
    bool decays;                        /* subject to weight decay: matrices are, biases and norms are not */
};

struct attn_params {
    const struct attn_model *model;     /* borrowed */
    struct attn_param *param; size_t n;
    float *value, *grad; size_t count;  /* count: of each block, a multiple of 16 */
    struct attn_weights w, g;
    struct attn_arena memory;
};

/* Starts with the model's values and zero gradients.  The model must outlive the result and is not changed. */
int attn_params_new(struct attn_params **out, const struct attn_model *m, struct attn_err *err);
void attn_params_free(struct attn_params *p);                       /* NULL is fine */

/* Makes w the model's views of the numbers in `block`, which must be laid out like value and grad; w->block must have
 * room for L blocks. */
void attn_params_bind(const struct attn_params *p, struct attn_weights *w, const float *block);

/* Fails, naming tensor and position, if a value is not finite. */
int attn_params_check(const struct attn_params *p, struct attn_err *err);

/* Fills t[n] with name, F32, shape and data of each parameter, as attn_st_write takes them; data is p->value, p->grad
 * or another block with the same layout, such as an optimizer's moments. */
void attn_params_tensors(struct attn_st_tensor *t, const struct attn_params *p, const float *data);

#endif
