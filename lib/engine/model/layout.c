#include "model/layout.h"

#include <string.h>

#include "base/num.h"

static const struct { const char *name; bool in_block, norm, table; } parts[ATTN_PARTS] = {
    [ATTN_PART_EMBED] = {.name = "embed", .table = true},
    [ATTN_PART_PROJECT_IN] = {.name = "project_in"},
    [ATTN_PART_EMBED_NORM] = {.name = "norm_embed", .norm = true},
    [ATTN_PART_POS_EMBED] = {.name = "pos_embed", .table = true},
    [ATTN_PART_NORM1] = {.name = "norm1", .in_block = true, .norm = true},
    [ATTN_PART_Q] = {.name = "q", .in_block = true},
    [ATTN_PART_K] = {.name = "k", .in_block = true},
    [ATTN_PART_V] = {.name = "v", .in_block = true},
    [ATTN_PART_Q_NORM] = {.name = "q_norm", .in_block = true, .norm = true},
    [ATTN_PART_K_NORM] = {.name = "k_norm", .in_block = true, .norm = true},
    [ATTN_PART_O] = {.name = "o", .in_block = true},
    [ATTN_PART_POST1] = {.name = "post1", .in_block = true, .norm = true},
    [ATTN_PART_SUM1] = {.name = "sum1", .in_block = true, .norm = true},
    [ATTN_PART_NORM2] = {.name = "norm2", .in_block = true, .norm = true},
    [ATTN_PART_MLP_GATE] = {.name = "mlp.gate", .in_block = true},
    [ATTN_PART_MLP_IN] = {.name = "mlp.in", .in_block = true},
    [ATTN_PART_MLP_OUT] = {.name = "mlp.out", .in_block = true},
    [ATTN_PART_POST2] = {.name = "post2", .in_block = true, .norm = true},
    [ATTN_PART_SUM2] = {.name = "sum2", .in_block = true, .norm = true},
    [ATTN_PART_NORM_FINAL] = {.name = "norm_final", .norm = true},
    [ATTN_PART_PROJECT_OUT] = {.name = "project_out"},
    [ATTN_PART_UNEMBED] = {.name = "unembed"},
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

static bool is_norm(enum attn_part p) { return parts[p].norm; }
static bool is_table(enum attn_part p) { return parts[p].table; }

/* Whether the forward pass uses the part at all, with a tensor or, if norms have none, without. */
static bool uses_part(const struct attn_config *c, enum attn_part p)
{
    if (!c->family->part[p].path)
        return false;
    switch (p) {
    case ATTN_PART_PROJECT_IN:
    case ATTN_PART_PROJECT_OUT:
        return c->d_embed != 0;
    case ATTN_PART_Q_NORM:
    case ATTN_PART_K_NORM:
        return c->qk_norm;
    case ATTN_PART_POS_EMBED:
        return c->position == ATTN_POS_LEARNED;
    case ATTN_PART_O:
        return c->output_projection;
    case ATTN_PART_EMBED_NORM:
        return c->norm_embed;
    case ATTN_PART_NORM1:
        return c->norm != ATTN_NORM_NONE;
    case ATTN_PART_NORM_FINAL:
        return c->norm != ATTN_NORM_NONE && !c->no_final;
    case ATTN_PART_NORM2:
        return c->norm != ATTN_NORM_NONE && c->mlp != ATTN_MLP_NONE && !(c->parallel && c->one_norm);
    case ATTN_PART_MLP_GATE:
        return attn_mlp_gated(c->mlp);
    case ATTN_PART_MLP_IN:
    case ATTN_PART_MLP_OUT:
        return c->mlp != ATTN_MLP_NONE;
    case ATTN_PART_UNEMBED:
        return c->unembed;
    default:
        return true;
    }
}

static bool has_part(const struct attn_config *c, enum attn_part p)
{
    return uses_part(c, p) && !(is_norm(p) && c->plain_norms);
}

bool attn_layout_plain_norm(const struct attn_config *c, enum attn_part p)
{
    return c->plain_norms && is_norm(p) && uses_part(c, p);
}

/* Whether a bias that its family leaves to the configuration is asked for there. */
static bool asks_bias(const struct attn_config *c, enum attn_part p)
{
    return p < ATTN_PART_NORM2 ? c->attention_bias : c->mlp_bias;
}

static bool has_tensor(const struct attn_config *c, enum attn_part p, bool bias)
{
    if (!has_part(c, p))
        return false;
    if (bias && (p == ATTN_PART_PROJECT_IN || p == ATTN_PART_PROJECT_OUT || c->family->part[p].bias == ATTN_BIAS_NEVER))
        return false;
    if (bias && !is_norm(p) && c->family->part[p].bias == ATTN_BIAS_ASKED && !asks_bias(c, p))
        return false;                   /* one that is there all the same would change numbers */
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
    case ATTN_BIAS_ASKED:  return asks_bias(c, p);
    case ATTN_BIAS_NEVER:
    case ATTN_BIAS_MAYBE:  break;
    }
    return c->bias && p != ATTN_PART_UNEMBED;
}

/* Rows and columns of a weight; a norm has columns only. */
static void weight_shape(const struct attn_config *c, enum attn_part p, size_t *rows, size_t *cols)
{
    size_t d = c->d, q = c->H * c->dh, k = c->Hkv * c->dh, v = c->Hkv * c->dv, context = c->H * c->dv;
    size_t narrow = c->d_embed ? c->d_embed : d;
    const enum attn_qk_norm heads = c->family->qk_norm;
    bool whole = heads == ATTN_QK_WHOLE || heads == ATTN_QK_TABLE;
    const size_t shape[ATTN_PARTS][2] = {
        [ATTN_PART_EMBED] = {c->V, narrow}, [ATTN_PART_POS_EMBED] = {c->n_ctx, d}, [ATTN_PART_EMBED_NORM] = {0, d},
        [ATTN_PART_PROJECT_IN] = {narrow, d}, [ATTN_PART_PROJECT_OUT] = {d, narrow},
        [ATTN_PART_NORM1] = {0, d}, [ATTN_PART_NORM2] = {0, d}, [ATTN_PART_NORM_FINAL] = {0, d},
        [ATTN_PART_POST1] = {0, d}, [ATTN_PART_POST2] = {0, d}, [ATTN_PART_SUM1] = {0, d}, [ATTN_PART_SUM2] = {0, d},
        [ATTN_PART_Q_NORM] = {0, whole ? q : c->dh}, [ATTN_PART_K_NORM] = {0, whole ? k : c->dh},
        [ATTN_PART_Q] = {d, q}, [ATTN_PART_K] = {d, k}, [ATTN_PART_V] = {d, v}, [ATTN_PART_O] = {context, d},
        [ATTN_PART_MLP_GATE] = {d, c->m}, [ATTN_PART_MLP_IN] = {d, c->m}, [ATTN_PART_MLP_OUT] = {c->m, d},
        [ATTN_PART_UNEMBED] = {narrow, c->V},
    };
    *rows = shape[p][0];
    *cols = shape[p][1];
}

/* Parts that share a tensor: how many outputs it has, how many come before this part's, how many this part takes. */
struct sharing { size_t all, first, mine; };

/* Of q, k and v with so many heads of each. */
static struct sharing share_heads(const struct attn_config *c, enum attn_part p, size_t queries, size_t keys)
{
    size_t q = queries * c->dh, k = keys * c->dh, v = keys * c->dv;
    bool values_first = c->family->part[p].share == ATTN_FOURTHS;
    size_t first_k = values_first ? q + v : q, first_v = values_first ? q : q + k;
    return (struct sharing){q + k + v, p == ATTN_PART_Q ? 0 : p == ATTN_PART_K ? first_k : first_v,
                            p == ATTN_PART_Q ? q : p == ATTN_PART_K ? k : v};
}

/* How many times q, k and v take turns in their tensor; 0: they lie side by side. */
static size_t groups_of(const struct attn_config *c, const struct attn_tensor_storage *at)
{
    return at->share == ATTN_GROUPED ? c->Hkv : at->share == ATTN_FOURTHS ? 4 : 0;
}

static struct sharing share(const struct attn_config *c, const struct attn_slot *s,
                            const struct attn_tensor_storage *at)
{
    if (at->share == ATTN_ALONE)
        return (struct sharing){s->out, 0, s->out};
    if (s->part == ATTN_PART_MLP_GATE || s->part == ATTN_PART_MLP_IN)
        return (struct sharing){2 * s->out, s->part == ATTN_PART_MLP_IN ? s->out : 0, s->out};
    const size_t groups = groups_of(c, at) ? groups_of(c, at) : 1;
    return share_heads(c, s->part, c->H / groups, c->Hkv / groups);
}

/* Whether a norm of queries or keys has a row for each head. */
static bool is_heads_table(const struct attn_config *c, enum attn_part p)
{
    return c->family->qk_norm == ATTN_QK_TABLE && (p == ATTN_PART_Q_NORM || p == ATTN_PART_K_NORM);
}

static void fill_shape(struct attn_slot *s, const struct attn_config *c, const struct attn_tensor_storage *at)
{
    struct sharing of = share(c, s, at);
    const size_t groups = groups_of(c, at), all = groups ? of.all * groups : of.all;
    s->transposed = at->storage == ATTN_OUT_IN && !is_table(s->part);
    s->first = of.first;
    if (groups) {
        s->group = of.mine;
        s->step = of.all;
    }
    if (c->paired && (s->part == ATTN_PART_Q || s->part == ATTN_PART_K)) {
        s->group = s->step = c->dh;
        s->paired = true;
    }
    if (s->part == ATTN_PART_POS_EMBED)
        s->first = c->family->pos_offset;
    s->ndim = s->is_bias || is_norm(s->part) ? 1 : 2;
    if (is_heads_table(c, s->part)) {
        s->ndim = 2;
        s->shape[0] = s->out / c->dh;
        s->shape[1] = c->dh;
        return;
    }
    s->shape[0] = s->ndim == 1 || s->transposed ? all : is_table(s->part) ? s->in + s->first : s->in;
    s->shape[1] = s->ndim == 1 ? 0 : s->transposed ? s->in : all;
}

const char *attn_layout_prefix(const struct attn_config *c, enum attn_part p)
{
    const char *head = c->family->head_prefix ? c->family->head_prefix : "";
    return p == ATTN_PART_UNEMBED ? head : c->prefix ? c->prefix : c->family->prefix;
}

static void fill_name(struct attn_slot *s, const struct attn_config *c)
{
    const struct attn_family *f = c->family;
    const char *kind = s->is_bias ? "bias" : "weight", *path = f->part[s->part].path;
    const char *prefix = attn_layout_prefix(c, s->part);
    s->prefix = strlen(prefix);
    char *at = stpcpy(s->name, prefix);  /* without printf: a small model's names took as long as its header */
    if (parts[s->part].in_block) {
        at = stpcpy(at, f->block);
        at += attn_num_u64(at, s->layer);
        at = stpcpy(at, ".");
    }
    at = stpcpy(at, path);
    if (s->pieces) {
        at = stpcpy(at, ".");
        at += attn_num_u64(at, s->piece);
    }
    stpcpy(stpcpy(at, "."), kind);
}

/* How many tensors a part has that is divided; 0: it is not. */
static size_t pieces_of(const struct attn_config *c, int part)
{
    if (c->family->qk_norm != ATTN_QK_OWN)
        return 0;
    return part == ATTN_PART_Q_NORM ? c->H : part == ATTN_PART_K_NORM ? c->Hkv : 0;
}

static void fill(struct attn_slot *out, const struct attn_layout *at)
{
    enum attn_part p = (enum attn_part)at->part;
    *out = (struct attn_slot){
        .part = p, .is_bias = at->bias, .required = is_required(at->config, p, at->bias), .layer = at->layer,
        .piece = at->piece, .pieces = pieces_of(at->config, at->part)};
    weight_shape(at->config, p, &out->in, &out->out);
    fill_shape(out, at->config, &at->config->family->part[p]);
    fill_name(out, at->config);
}

/* Goes on to the next possible tensor: weight, bias, next piece, next part, next layer. */
static void step(struct attn_layout *at)
{
    at->bias = !at->bias;
    if (at->bias)
        return;
    at->piece++;
    if (at->piece < pieces_of(at->config, at->part) && has_part(at->config, (enum attn_part)at->part))
        return;
    at->piece = 0;
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
