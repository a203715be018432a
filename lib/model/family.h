/* family.h - the families of decoders.
 *
 * Each is a row of tables: how its config.json spells what we need to know, what absent keys mean, what its tensors
 * are called and how they are stored.  A new family is one more file, with a row in the list of family.c.  Nothing under
 * compute/ knows about them. */
#ifndef ATTN_MODEL_FAMILY_H
#define ATTN_MODEL_FAMILY_H

#include "model/config.h"
#include "base/keys.h"

enum attn_part {                        /* in the order of the forward pass */
    ATTN_PART_EMBED, ATTN_PART_POS_EMBED,
    ATTN_PART_NORM1, ATTN_PART_Q, ATTN_PART_K, ATTN_PART_V, ATTN_PART_O,
    ATTN_PART_NORM2, ATTN_PART_MLP_GATE, ATTN_PART_MLP_IN, ATTN_PART_MLP_OUT,
    ATTN_PART_NORM_FINAL, ATTN_PART_UNEMBED,
    ATTN_PARTS
};

enum attn_storage { ATTN_IN_OUT, ATTN_OUT_IN };

/* Where a part's tensor is stored: its name without prefix, block and ".weight".  q, k and v may be thirds of one
 * tensor, either side by side or interleaved head by head. */
struct attn_tensor_storage {
    const char *path;
    enum attn_storage storage;
    enum { ATTN_ALONE, ATTN_THIRD, ATTN_HEAD_THIRD } share;
    enum { ATTN_BIAS_MAYBE, ATTN_BIAS_ALWAYS, ATTN_BIAS_ASKED } bias;   /* ASKED: if attention_bias or mlp_bias says so */
};

struct attn_family {
    const char *name;                   /* "model_type" */
    bool native;                         /* the native format: unknown keys are errors */
    const struct attn_key *keys;
    /* Reads what a table of keys cannot say; NULL: nothing.  Sizes that were left out are still 0. */
    int (*more)(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root);
    const char *const *required;        /* keys that must be there */
    const struct attn_config *defaults;
    const char *prefix;                 /* of all names but the output layer's; files may omit it */
    const char *block;                  /* precedes the layer's number, such as "h." */
    struct attn_tensor_storage part[ATTN_PARTS];
    const char *const *buffers;         /* names of tensors that are not weights, in a block or outside: ignored */
};

/* All families, NULL after the last; our own comes first. */
extern const struct attn_family *const attn_families[];

#endif
