/* model.h - an open model: its files, and the views the arithmetic reads. */
#ifndef ATTN_MODEL_MODEL_H
#define ATTN_MODEL_MODEL_H

#include "compute/weights.h"
#include "model/config.h"
#include "model/shards.h"
#include "trace/trace.h"

struct attn_attend;

struct attn_model {
    struct attn_source source;
    struct attn_map config_map;
    struct attn_config config;
    struct attn_shards weights;
    const struct attn_st_tensor **tensor;   /* [tensors] in the order of the forward pass */
    size_t tensors;
    double *inv_freq[2];                /* of the rotations, see struct attn_rope */
    /* Weights that are not used as they are stored: those of `pieces` tensors from number `tensor` on, one after the
     * other, each one more if from_one; or with pieces 0 constants.  x is owned. */
    struct attn_made { float *x; size_t tensor, pieces; bool from_one; } *made;
    size_t n_made;
    char *warning;                      /* see attn_model_warning */
    bool bare;                          /* tensor names lack the family's prefix */
    void **copy;                        /* [tensors of all files] copies of those not aligned for their type */
    struct attn_weights w;
    struct attn_hook_points hooks;      /* which activations it announces with its own kind of attention */
    char scale[32];                     /* what dots are multiplied by: "sqrt", "none" or a number */
    bool checked;                       /* every weight is known to be finite */
    char *digest;                       /* of a model without files; NULL: it has some */
    const struct attn_attend *attend;   /* numbers that take the place of those it would compute, in a model without
                                         * files (attend/attend.h); NULL: none */
};

/* Which activations it announces with this kind of attention: linear attention has no dots and scores. */
struct attn_hook_points attn_model_hook_points(const struct attn_model *m, const struct attn_kind *kind);

/* Whether the model is so small that every weight is checked when it is opened. */
static inline bool attn_model_is_small(const struct attn_model *m) { return m->weights.bytes <= (size_t)16 << 20; }

const char *attn_model_family(const struct attn_model *m);          /* its name */

/* In bind.c.  Checks names, types and shapes of all tensors, then fills m->w and m->tensor. */
int attn_model_bind(struct attn_model *m, struct attn_err *err);
/* Where the matrix of a slot goes; NULL: it is none. */
struct attn_slot;
struct attn_mat *attn_slot_mat(struct attn_weights *w, const struct attn_slot *s);
/* ... and the norm, of those that are none. */
struct attn_norm *attn_slot_norm(struct attn_weights *w, const struct attn_slot *s);

struct attn_save_opts;
/* attn_model_save into a directory that the caller holds (save.c). */
int attn_model_save_held(const struct attn_model *m, const char *dir, const struct attn_save_opts *o, size_t *tensors,
                         struct attn_err *err);

/* Fails if the model does not have one of the ids; the error names the first. */
int attn_model_check_ids(const struct attn_model *m, const int32_t *ids, size_t n, struct attn_err *err);

#endif
