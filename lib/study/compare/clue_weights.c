/* clue_weights.c - if both sides are models: does a weight differ that makes the first different activation? */
#include "compare/diff.h"

#include <stdio.h>
#include <string.h>

#include "compute/vec.h"
#include "model/layout.h"
#include "model/model.h"

/* The activation that shows a part first: what is added where norms follow, queries and keys after theirs. */
static int shown_by(const struct attn_config *c, enum attn_part p)
{
    static const int acts[ATTN_PARTS] = {
        [ATTN_PART_EMBED] = ATTN_ACT_EMBED, [ATTN_PART_PROJECT_IN] = ATTN_ACT_EMBED,
        [ATTN_PART_EMBED_NORM] = ATTN_ACT_EMBED, [ATTN_PART_POS_EMBED] = ATTN_ACT_POS_EMBED,
        [ATTN_PART_NORM1] = ATTN_ACT_NORM1, [ATTN_PART_Q] = ATTN_ACT_Q, [ATTN_PART_K] = ATTN_ACT_K,
        [ATTN_PART_V] = ATTN_ACT_V, [ATTN_PART_Q_NORM] = ATTN_ACT_Q, [ATTN_PART_K_NORM] = ATTN_ACT_K,
        [ATTN_PART_O] = ATTN_ACT_OUT, [ATTN_PART_POST1] = ATTN_ACT_ADDED, [ATTN_PART_SUM1] = ATTN_ACT_RESID_MID,
        [ATTN_PART_NORM2] = ATTN_ACT_NORM2, [ATTN_PART_MLP_GATE] = ATTN_ACT_MLP_PRE,
        [ATTN_PART_MLP_IN] = ATTN_ACT_MLP_PRE, [ATTN_PART_MLP_OUT] = ATTN_ACT_MLP_OUT,
        [ATTN_PART_POST2] = ATTN_ACT_MLP_ADDED, [ATTN_PART_SUM2] = ATTN_ACT_RESID_POST,
        [ATTN_PART_NORM_FINAL] = ATTN_ACT_NORM_FINAL, [ATTN_PART_PROJECT_OUT] = ATTN_ACT_LOGITS,
        [ATTN_PART_UNEMBED] = ATTN_ACT_LOGITS};
    bool gated = c->family->part[ATTN_PART_MLP_GATE].path && attn_mlp_gated(c->mlp);
    return p == ATTN_PART_MLP_IN && gated ? ATTN_ACT_MLP_LINEAR : acts[p];
}

static const struct attn_st_tensor *tensor_of(const struct attn_model *m, const struct attn_slot *s)
{
    const struct attn_shard *in;
    const struct attn_st_tensor *t = attn_shards_find(&m->weights, s->name, &in);
    return t || !s->prefix ? t : attn_shards_find(&m->weights, s->name + s->prefix, &in);
}

/* Number i of a tensor, which need not be aligned. */
static double number(const struct attn_st_tensor *t, size_t i)
{
    size_t size = t->bytes / t->count;
    uint32_t bits = 0;
    float x = 0;
    memcpy(&bits, t->data + i * size, size);
    attn_vec_widen(&x, &bits, size == 4 ? ATTN_F32 : strcmp(t->dtype, "F16") ? ATTN_BF16 : ATTN_F16, 0, 1);
    return (double)x;
}

/* Whether the tensors have the same shape but other numbers.  Another type explains them by rounding: no mistake. */
static bool compare(struct clue *c, const struct attn_slot *s, const struct attn_st_tensor *a,
                    const struct attn_st_tensor *b)
{
    if (!a || !b || strcmp(a->dtype, b->dtype) || a->ndim != b->ndim || memcmp(a->shape, b->shape, sizeof a->shape) ||
        !a->count)
        return false;
    size_t n = 0, first = 0, size = a->bytes / a->count;
    if (!memcmp(a->data, b->data, a->bytes))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (memcmp(a->data + i * size, b->data + i * size, size))
            first = n++ ? first : i;
    size_t columns = s->ndim == 2 ? a->shape[1] : a->count;
    char at[48];
    if (s->ndim == 2)
        snprintf(at, sizeof at, "[%zu,%zu]", first / columns, first % columns);
    else
        snprintf(at, sizeof at, "[%zu]", first);
    return attn_clue_say(c, "the models differ in the weight %s: in %zu of %zu numbers, first at %s, where A has %.9g "
                            "and B %.9g",
                         a->name, n, a->count, at, number(a, first), number(b, first));
}

bool attn_clue_weight(struct clue *c)
{
    const struct attn_model *a = c->d->o.model_a, *b = c->d->o.model_b;
    struct attn_slot s;
    if (!a || !b)
        return false;
    struct attn_layout walk = attn_layout_start(&a->config);
    while (attn_layout_next(&walk, &s)) {
        bool here = !attn_part_in_block(s.part) || (int)s.layer == c->layer;
        bool tied = c->act == ATTN_ACT_LOGITS && s.part == ATTN_PART_EMBED && a->config.tied;
        if (here && (tied || shown_by(&a->config, s.part) == c->act) &&
            compare(c, &s, tensor_of(a, &s), tensor_of(b, &s)))
            return true;
    }
    return false;
}
