/* describe.h - a model as JSON and bytes, from which a program that is not this one can compute: the page that computes
 * (picture/page/decoder.js).
 *
 *     {"name": ..., "n": {"L", "d", "H", "Hkv", "dh", "dv", "m", "V", "n_ctx", "width"}, "eps": ..., ...,
 *      "block": [...]}
 *
 * It is struct attn_weights, member by member, in its names.  A matrix is {"at", "type", "in", "out", "transposed",
 * "bias"}: its numbers as they are stored, row by row without gaps, from byte `at` of the bytes on; transposed: a row
 * for each output.  Numbers in blocks are decoded, as float16, and "blocks" lists the types that were.  A vector is
 * {"at", "type", "n"}.  What the model does not have is null.  What two matrices share, as a tied output layer and the
 * embedding do, is there once. */
#ifndef ATTN_MODEL_DESCRIBE_H
#define ATTN_MODEL_DESCRIBE_H

#include "base/out.h"
#include "model/model.h"

/* The numbers of a model, malloc'd.  Zeroed: empty. */
struct attn_description {
    unsigned char *bytes; size_t n, room;
    struct attn_described { const void *data; size_t at, rows, cols, ld, group, step, skip; bool paired;
                            enum attn_dtype type; } *what;
    size_t whats, what_room;            /* the matrices and vectors that are there already */
    unsigned blocks;                    /* bit t: blocks of type t were decoded */
    size_t most;                        /* bytes that there may be; 0: any number */
    const char *name;                   /* of the model, for messages */
    struct attn_err *err; int rc;       /* the first failure stays */
};

/* Appends the JSON to `out` and the numbers to *to, of which the caller has set `most`. */
int attn_model_describe(struct attn_description *to, struct attn_out *out, const struct attn_model *m,
                        struct attn_err *err);
void attn_description_free(struct attn_description *d);

#endif
