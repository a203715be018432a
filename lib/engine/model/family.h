/* family.h - the families of decoders.
 *
 * Each is a row of tables: how its config.json spells what we need to know, what absent keys mean, what its
 * tensors are called and how they are stored.  A new family is a row beside its relatives or in a file of its own,
 * and its name in the list of family.c; what `init` draws for it is a row of the program's families.c.  Nothing in
 * compute/ knows families. */
#ifndef ATTN_MODEL_FAMILY_H
#define ATTN_MODEL_FAMILY_H

#include "model/config.h"
#include "base/json_keys.h"

enum attn_part {                        /* in the order of the forward pass */
    ATTN_PART_EMBED, ATTN_PART_PROJECT_IN, ATTN_PART_EMBED_NORM, ATTN_PART_POS_EMBED,
    ATTN_PART_NORM1, ATTN_PART_Q, ATTN_PART_K, ATTN_PART_V, ATTN_PART_Q_NORM, ATTN_PART_K_NORM, ATTN_PART_O,
    ATTN_PART_POST1, ATTN_PART_SUM1,    /* norms of what a branch gives, and of the stream after it is added */
    ATTN_PART_NORM2, ATTN_PART_MLP_GATE, ATTN_PART_MLP_IN, ATTN_PART_MLP_OUT, ATTN_PART_POST2, ATTN_PART_SUM2,
    ATTN_PART_NORM_FINAL, ATTN_PART_PROJECT_OUT, ATTN_PART_UNEMBED,
    ATTN_PARTS
};

enum attn_storage { ATTN_IN_OUT, ATTN_OUT_IN };

/* Where a part's tensor is stored: its name without prefix, block and ".weight"; NULL: the family has no such part.  q,
 * k and v may share one tensor, either side by side or interleaved: for each key/value head its queries, its key, its
 * value; or for each fourth of the heads its queries, its values, its keys.  So may gate and in, side by side. */
struct attn_tensor_storage {
    const char *path;
    enum attn_storage storage;
    enum { ATTN_ALONE, ATTN_BESIDE, ATTN_GROUPED, ATTN_FOURTHS } share;
    /* ASKED: if attention_bias or mlp_bias says so; NEVER: a norm that has none though the other norms do. */
    enum { ATTN_BIAS_MAYBE, ATTN_BIAS_ALWAYS, ATTN_BIAS_ASKED, ATTN_BIAS_NEVER } bias;
};

/* What the norms of queries and keys see: each head by itself, with the weights that all share or its own, which are
 * tensors of their own or rows of a table, or all heads at once. */
enum attn_qk_norm { ATTN_QK_HEADS, ATTN_QK_OWN, ATTN_QK_TABLE, ATTN_QK_WHOLE };

/* Which layers have the window if no "layer_types" says so: all; those from layer window_from on; all but every
 * window_from-th; those that do not rotate.  NEVER: see `more`. */
enum attn_windows { ATTN_WINDOWS_NEVER, ATTN_WINDOWS_ALL, ATTN_WINDOWS_FROM, ATTN_WINDOWS_BUT, ATTN_WINDOWS_NO_ROPE };

struct attn_family {
    const char *name;                   /* "model_type" */
    bool native;                         /* the native format: unknown keys are errors */
    const struct attn_key *keys;
    enum attn_qk_norm qk_norm;
    enum attn_windows windows;
    bool layer_types;                   /* the file may list which layers have the window */
    bool full_still;                    /* where some layers have a window, the others do without rotation */
    size_t pos_offset;                  /* rows of the position table before the one of position 0 */
    /* Reads what a table of keys cannot say; NULL: nothing.  Sizes that were left out are still 0.  May put another
     * family in c->family, with the same keys and other tensors. */
    int (*more)(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root);
    const char *const *required;        /* keys that must be there */
    const struct attn_config *defaults;
    const char *section;                /* the object of the file that holds the keys; NULL: the file itself */
    const char *prefix;                 /* of all names but the output layer's; files may omit it */
    const char *const *prefixes;        /* others that files have in its place; NULL: none */
    const char *head_prefix;            /* of the output layer's name; files may omit it; NULL: it has none */
    const char *const *beside;          /* what names of tensors of other models in the file begin with, perhaps after
                                         * "model."; NULL: there are none */
    const char *block;                  /* precedes the layer's number, such as "h." */
    struct attn_tensor_storage part[ATTN_PARTS];
    const char *const *buffers;         /* names of tensors that are not weights, in a block or outside: ignored */
};

/* Finds layers with a window or without rotation, from the file's lists or the family's rule (family_layers.c). */
int attn_family_layers(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root);
/* Reads the list of layers without rotation: "no_rope_layers". */
int attn_family_no_rope(const struct attn_key_reader *r, struct attn_config *c, const cJSON *root);

/* All families, NULL after the last; our own comes first. */
extern const struct attn_family *const attn_families[];

#endif
