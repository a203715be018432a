#include "model/layout.h"

#include <stdio.h>
#include <string.h>

static const struct { const char *name; bool in_block; } parts[ATTN_PARTS] = {
    [ATTN_PART_EMBED] = {"embed", false},           [ATTN_PART_POS_EMBED] = {"pos_embed", false},
    [ATTN_PART_NORM1] = {"norm1", true},            [ATTN_PART_Q] = {"q", true},
    [ATTN_PART_K] = {"k", true},                    [ATTN_PART_V] = {"v", true},
    [ATTN_PART_O] = {"o", true},                    [ATTN_PART_NORM2] = {"norm2", true},
    [ATTN_PART_MLP_GATE] = {"mlp.gate", true},      [ATTN_PART_MLP_IN] = {"mlp.in", true},
    [ATTN_PART_MLP_OUT] = {"mlp.out", true},
    [ATTN_PART_NORM_FINAL] = {"norm_final", false}, [ATTN_PART_UNEMBED] = {"unembed", false},
};

const char *attn_part_name(enum attn_part p)
{
    return parts[p].name;
}

bool attn_part_in_block(enum attn_part p)
{
    return parts[p].in_block;
}

size_t attn_layout_width(const struct attn_config *c)
{
    return c->L == 0 || c->output_projection || c->mlp != ATTN_MLP_NONE ? c->d : c->H * c->dv;
}

static bool is_norm(enum attn_part p)
{
    return p == ATTN_PART_NORM1 || p == ATTN_PART_NORM2 || p == ATTN_PART_NORM_FINAL;
}

static bool is_table(enum attn_part p)
{
    return p == ATTN_PART_EMBED || p == ATTN_PART_POS_EMBED;
}

/* Whether the forward pass uses the part at all. */
static bool has_part(const struct attn_config *c, enum attn_part p)
{
    switch (p) {
    case ATTN_PART_POS_EMBED:
        return c->position == ATTN_POS_LEARNED;
    case ATTN_PART_O:
        return c->output_projection;
    case ATTN_PART_NORM1:
    case ATTN_PART_NORM_FINAL:
        return c->norm != ATTN_NORM_NONE;
    case ATTN_PART_NORM2:
        return c->norm != ATTN_NORM_NONE && c->mlp != ATTN_MLP_NONE;
    case ATTN_PART_MLP_GATE:
        return c->mlp == ATTN_MLP_SWIGLU;
    case ATTN_PART_MLP_IN:
    case ATTN_PART_MLP_OUT:
        return c->mlp != ATTN_MLP_NONE;
    case ATTN_PART_UNEMBED:
        return c->unembed;
    default:
        return true;
    }
}

static bool has_tensor(const struct attn_config *c, enum attn_part p, bool bias)
{
    if (!has_part(c, p))
        return false;
    if (bias)
        return is_norm(p) ? c->norm == ATTN_NORM_LAYER : !is_table(p);
    return p != ATTN_PART_UNEMBED || !c->tied;          /* tied: the embedding is used instead */
}

static bool is_required(const struct attn_config *c, enum attn_part p, bool bias)
{
    if (p == ATTN_PART_NORM_FINAL)
        return c->unembed;
    if (!bias || is_norm(p))
        return true;
    switch (c->family->part[p].bias) {
    case ATTN_BIAS_ALWAYS: return true;
    case ATTN_BIAS_ASKED:  return p < ATTN_PART_NORM2 ? c->attention_bias : c->mlp_bias;
    case ATTN_BIAS_MAYBE:  break;
    }
    return c->bias && p != ATTN_PART_UNEMBED;
}

/* Rows and columns of a weight; a norm has columns only. */
static void weight_shape(const struct attn_config *c, enum attn_part p, size_t *rows, size_t *cols)
{
    size_t d = c->d, q = c->H * c->dh, k = c->Hkv * c->dh, v = c->Hkv * c->dv, context = c->H * c->dv;
    const size_t shape[ATTN_PARTS][2] = {
        [ATTN_PART_EMBED] = {c->V, d}, [ATTN_PART_POS_EMBED] = {c->n_ctx, d},
        [ATTN_PART_NORM1] = {0, d}, [ATTN_PART_NORM2] = {0, d}, [ATTN_PART_NORM_FINAL] = {0, d},
        [ATTN_PART_Q] = {d, q}, [ATTN_PART_K] = {d, k}, [ATTN_PART_V] = {d, v}, [ATTN_PART_O] = {context, d},
        [ATTN_PART_MLP_GATE] = {d, c->m}, [ATTN_PART_MLP_IN] = {d, c->m}, [ATTN_PART_MLP_OUT] = {c->m, d},
        [ATTN_PART_UNEMBED] = {d, c->V},
    };
    *rows = shape[p][0];
    *cols = shape[p][1];
}

/* Which third of a shared tensor a part is. */
static size_t third(enum attn_part p)
{
    return p == ATTN_PART_K ? 1 : p == ATTN_PART_V ? 2 : 0;
}

static void fill_shape(struct attn_slot *s, const struct attn_config *c, const struct attn_tensor_storage *at)
{
    size_t n = at->share == ATTN_ALONE ? 1 : 3, all = s->out * n;
    s->out_in = at->storage == ATTN_OUT_IN && !is_table(s->part);
    if (at->share == ATTN_THIRD)
        s->first = third(s->part) * s->out;
    if (at->share == ATTN_HEAD_THIRD) {
        s->first = third(s->part) * c->dh;
        s->group = c->dh;
        s->step = 3 * c->dh;
    }
    s->ndim = s->is_bias || is_norm(s->part) ? 1 : 2;
    s->shape[0] = s->ndim == 1 || s->out_in ? all : s->in;
    s->shape[1] = s->ndim == 1 ? 0 : s->out_in ? s->in : all;
}

/* The output layer's name has no prefix in any family. */
static void fill_name(struct attn_slot *s, const struct attn_family *f)
{
    const char *kind = s->is_bias ? "bias" : "weight", *path = f->part[s->part].path;
    const char *prefix = s->part == ATTN_PART_UNEMBED ? "" : f->prefix;
    s->prefix = strlen(prefix);
    if (parts[s->part].in_block)
        snprintf(s->name, sizeof s->name, "%s%s%zu.%s.%s", prefix, f->block, s->layer, path, kind);
    else
        snprintf(s->name, sizeof s->name, "%s%s.%s", prefix, path, kind);
}

static void fill(struct attn_slot *out, const struct attn_layout *at)
{
    enum attn_part p = (enum attn_part)at->part;
    *out = (struct attn_slot){
        .part = p, .is_bias = at->bias, .required = is_required(at->config, p, at->bias), .layer = at->layer};
    weight_shape(at->config, p, &out->in, &out->out);
    fill_shape(out, at->config, &at->config->family->part[p]);
    fill_name(out, at->config->family);
}

/* Goes on to the next possible tensor: weight, bias, next part, next layer. */
static void step(struct attn_layout *at)
{
    at->bias = !at->bias;
    if (at->bias)
        return;
    at->part++;
    if (at->part < ATTN_PARTS && !parts[at->part].in_block && parts[at->part - 1].in_block) {
        at->layer++;
        if (at->layer < at->config->L)
            at->part = ATTN_PART_NORM1;
        else
            at->layer = 0;
    }
}

struct attn_layout attn_layout_start(const struct attn_config *c)
{
    return (struct attn_layout){.config = c};
}

bool attn_layout_next(struct attn_layout *walk, struct attn_slot *out)
{
    for (; walk->part < ATTN_PARTS; step(walk)) {
        enum attn_part p = (enum attn_part)walk->part;
        if ((parts[p].in_block && walk->config->L == 0) || !has_tensor(walk->config, p, walk->bias))
            continue;
        fill(out, walk);
        step(walk);
        return true;
    }
    return false;
}
