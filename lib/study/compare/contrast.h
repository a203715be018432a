/* contrast.h - two models side by side as their files say it, before anything is run.
 *
 * contrast.c opens both sides; contrast_config.c, contrast_text.c and contrast_weights.c each compare one thing, and
 * contrast_types.c adds up what storing weights as another type does.  All of them take time in proportion to the
 * files, or a logarithm more, whatever the files say. */
#ifndef ATTN_COMPARE_CONTRAST_H
#define ATTN_COMPARE_CONTRAST_H

#include "attn_tools.h"
#include "base/strings.h"
#include "model/config.h"
#include "model/container.h"
#include "model/shards.h"

struct attn_contrast_side {
    struct attn_source source;          /* empty: a file of weights */
    char *path;                         /* of its config.json */
    struct attn_map map;                /* of config.json; data NULL: there is none */
    struct attn_config config;
    bool known;                         /* the config is one of a family we read */
    struct attn_shards weights;
    struct attn_recast *recast;         /* the tensors as its family has them, where it has others, and the model that
                                         * they are made of; else NULL */
    struct attn_model *model;
    struct attn_tokenizer *tokenizer;
    char *why;
};

struct attn_contrast {
    struct attn_contrast_side side[2];
    struct attn_contrast_opts o;
    struct attn_contrasted result;
    struct attn_contrast_field *field; size_t field_room;
    struct attn_contrast_token *token; size_t token_room;
    struct attn_contrast_file *file; size_t file_room;
    struct attn_contrast_weight *weight; size_t weight_room;
    struct attn_contrast_type *type; size_t type_room;
};

static inline bool attn_contrast_lone(const struct attn_contrast_side *s) { return !s->source.name; }

int attn_contrast_configs(struct attn_contrast *c, struct attn_err *err);
int attn_contrast_texts(struct attn_contrast *c, struct attn_err *err);
int attn_contrast_weights(struct attn_contrast *c, struct attn_err *err);
int attn_contrast_types(struct attn_contrast *c, struct attn_err *err);     /* of weights that were compared */

#endif
