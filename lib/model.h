/* model.h - an open model: its files, and the views the arithmetic reads. */
#ifndef ATTN_MODEL_H
#define ATTN_MODEL_H

#include "compute/weights.h"
#include "io/config.h"
#include "shards.h"
#include "trace/names.h"

struct attn_model {
    struct attn_source source;
    struct attn_map config_map;
    struct attn_config config;
    struct attn_shards weights;
    const struct attn_st_tensor **tensor;   /* [tensors] in the order of the forward pass */
    size_t tensors;
    double *speed;                      /* [rotary/2] */
    char *warning;                      /* NULL: nothing odd */
    bool bare;                          /* names lack the family's prefix */
    void **copy;                        /* [of all files] aligned copies of tensors that lie at odd addresses */
    struct attn_weights w;
    struct attn_stage stage;            /* what it announces, with its own attention */
    bool checked;                       /* every weight is known to be finite */
};

/* What it announces with another kind: linear attention has no dots and scores. */
struct attn_stage attn_model_stage(const struct attn_model *m, const struct attn_kind *kind);

/* Small enough that every weight is looked at when it is opened. */
static inline bool attn_model_is_small(const struct attn_model *m) { return m->weights.bytes <= (size_t)16 << 20; }

/* bind.c: checks names, types and shapes of all tensors, then fills m->w and m->tensor. */
int attn_model_bind(struct attn_model *m, struct attn_err *err);

/* An error names the first id that the model does not have. */
int attn_model_check_ids(const struct attn_model *m, const int32_t *ids, size_t n, struct attn_err *err);

#endif
