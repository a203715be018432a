/* model.h - an open model: its files, and the views the arithmetic reads. */
#ifndef ATTN_MODEL_H
#define ATTN_MODEL_H

#include "compute/weights.h"
#include "io/config.h"
#include "io/safetensors.h"
#include "source.h"
#include "trace/names.h"

struct attn_model {
    struct attn_source source;
    struct attn_map config_map, weights_map;
    char *weights_path;                 /* for messages */
    struct attn_config config;
    struct attn_st *st;
    const struct attn_st_tensor **tensor;   /* [tensors] in the order of the forward pass */
    size_t tensors;
    void **copy; size_t copies;         /* aligned copies of tensors that lie at odd addresses */
    struct attn_weights w;
    struct attn_stage stage;            /* what it announces */
    bool checked;                       /* every weight is known to be finite */
};

/* bind.c: checks names, types and shapes of all tensors, then fills m->w and m->tensor. */
int attn_model_bind(struct attn_model *m, struct attn_err *err);

#endif
