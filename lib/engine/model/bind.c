/* bind.c - binds tensor names to the views that the arithmetic reads.
 *
 * It walks over the layout twice.  The first walk checks that each tensor is there, with a type we know
 * and the shape the config asks for, and stops at the first fault: no memory is allocated for sizes in the
 * config that the file does not bear out.  The second walk binds, and makes what is not stored as it is used.  Then
 * tensors without a place are looked for (strays.c), and the rest of what the arithmetic needs is filled in. */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "compute/vec.h"
#include "model/container.h"
#include "model/layout.h"
#include "model/quantized.h"
#include "model/rope.h"
#include "model/strays.h"

static int no_memory(const struct attn_model *m, struct attn_err *err)
{
    return attn_no_memory(err, attn_shards_path(&m->weights), "for the list of tensors");
}

/* ---- finding a tensor ---- */

struct found { const struct attn_st_tensor *t; const struct attn_shard *in; };

/* A file may lack the family's prefix.  Of two tied tensors it may have either: writers that store
 * shared numbers once take the first name of the alphabet. */
static struct found find(const struct attn_model *m, const struct attn_slot *s)
{
    struct found f = {0};
    f.t = attn_shards_find(&m->weights, s->name, &f.in);
    if (!f.t && s->prefix)
        f.t = attn_shards_find(&m->weights, s->name + s->prefix, &f.in);
    if (!f.t && s->part == ATTN_PART_EMBED)
        f.t = attn_strays_tied(m, &f.in);
    return f;
}

/* Files of some families have another prefix than the usual one. */
static void choose_prefix(struct attn_model *m)
{
    const struct attn_shard *in;
    for (const char *const *p = m->config.family->prefixes; p && *p; p++)
        for (size_t i = 0; i < m->weights.tensors; i++)
            if (!strncmp(attn_shards_at(&m->weights, i, &in)->name, *p, strlen(*p)))
                m->config.prefix = *p;
}

/* ---- first walk ---- */

static void print_shape(char *buf, size_t size, const size_t *shape, int ndim)
{
    size_t n = (size_t)snprintf(buf, size, "[");
    for (int i = 0; i < ndim && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%zu", i ? ", " : "", shape[i]);
    if (n < size)
        snprintf(buf + n, size - n, "]");
}

static bool same_shape(const struct attn_slot *s, const struct attn_st_tensor *t, bool transposed)
{
    if (t->ndim != s->ndim)
        return false;
    for (int i = 0; i < s->ndim; i++)
        if (t->shape[i] != s->shape[transposed ? s->ndim - 1 - i : i])
            return false;
    return true;
}

static int check_tensor(const struct attn_model *m, const struct attn_slot *s, const struct found *f,
                        struct attn_err *err)
{
    enum attn_dtype type;
    char want[64], found[256];
    const bool stored = f->t && attn_dtype_named(f->t->dtype, &type) &&
                        (m->source.kind->recast || !attn_dtype_in_blocks(type));
    if (stored && same_shape(s, f->t, false))
        return ATTN_OK;
    print_shape(want, sizeof want, s->shape, s->ndim);
    if (!f->t)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' is missing; %s asks for it with shape %s",
                         attn_shards_path(&m->weights), s->name + (m->bare ? s->prefix : 0),
                         m->source.kind->config, want);
    if (!stored)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' is stored as %s, expected F32, F16 or BF16",
                         f->in->path, f->t->name, f->t->dtype);
    print_shape(found, sizeof found, f->t->shape, f->t->ndim);
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: tensor '%s' has shape %s, %s expects %s%s", f->in->path, f->t->name, found,
                     m->source.kind->config, want, same_shape(s, f->t, true) ? s->transposed ?
                     " (it is stored transposed: expected [out, in])" :
                     " (it is stored transposed: expected [in, out])" : "");
}

static int check_all(struct attn_model *m, struct attn_err *err)
{
    struct attn_layout walk = attn_layout_start(&m->config);
    struct attn_slot slot;
    int rc = ATTN_OK;
    while (!rc && attn_layout_next(&walk, &slot)) {
        struct found f = find(m, &slot);
        if (slot.part == ATTN_PART_EMBED)
            m->bare = f.t && slot.prefix && strcmp(f.t->name, slot.name + slot.prefix) == 0;
        if (!f.t && slot.part == ATTN_PART_UNEMBED && slot.required && m->bare)
            m->config.unembed = false;  /* the model was saved without its output layer: it has no logits */
        else if (f.t || slot.required)
            rc = check_tensor(m, &slot, &f, err);
    }
    return rc;
}

/* ---- second walk ---- */

/* The tensor's bytes, copied if the file does not have them at an address that is aligned for its type. */
static int data_of(struct attn_model *m, const struct attn_st_tensor *t, enum attn_dtype type, const void **out,
                   struct attn_err *err)
{
    *out = t->data;
    if ((uintptr_t)t->data % attn_dtype_size(type) == 0)
        return ATTN_OK;
    void **copy = &m->copy[attn_shards_index(&m->weights, t)];      /* shared by q, k and v of a fused tensor */
    if (!*copy)
        *copy = malloc(t->bytes ? t->bytes : 1);
    if (!*copy)
        return no_memory(m, err);
    *out = memcpy(*copy, t->data, t->bytes);
    return ATTN_OK;
}

struct attn_mat *attn_slot_mat(struct attn_weights *w, const struct attn_slot *s)
{
    struct attn_block *b = &w->block[s->layer];
    switch (s->part) {
    case ATTN_PART_EMBED:       return &w->embed;
    case ATTN_PART_PROJECT_IN:  return &w->project_in;
    case ATTN_PART_PROJECT_OUT: return &w->project_out;
    case ATTN_PART_POS_EMBED:   return &w->pos;
    case ATTN_PART_Q:           return &b->q;
    case ATTN_PART_K:           return &b->k;
    case ATTN_PART_V:           return &b->v;
    case ATTN_PART_O:           return &b->o;
    case ATTN_PART_MLP_GATE:    return &b->gate;
    case ATTN_PART_MLP_IN:      return &b->in;
    case ATTN_PART_MLP_OUT:     return &b->out;
    case ATTN_PART_UNEMBED:     return &w->unembed;
    default:                    return NULL;
    }
}

struct attn_norm *attn_slot_norm(struct attn_weights *w, const struct attn_slot *s)
{
    struct attn_block *b = &w->block[s->layer];
    switch (s->part) {
    case ATTN_PART_EMBED_NORM:  return &w->embed_norm;
    case ATTN_PART_NORM1:       return &b->norm1;
    case ATTN_PART_Q_NORM:      return &b->q_norm;
    case ATTN_PART_K_NORM:      return &b->k_norm;
    case ATTN_PART_POST1:       return &b->post1;
    case ATTN_PART_SUM1:        return &b->sum1;
    case ATTN_PART_NORM2:       return &b->norm2;
    case ATTN_PART_POST2:       return &b->post2;
    case ATTN_PART_SUM2:        return &b->sum2;
    default:                    return &w->final;
    }
}

/* Where the slot's first output is in the data of a tensor, a matrix or a bias; of a table, where its first row is. */
static const void *from_first(const void *data, const struct attn_slot *s, enum attn_dtype type)
{
    size_t each = s->is_bias ? 1 : s->transposed ? s->in : s->part == ATTN_PART_POS_EMBED ? s->out : 1;
    return attn_element(data, type, s->first * each);
}

/* ---- norms whose weights are not used as they are stored ---- */

/* Room for the weights of the next such norm, n numbers made from so many tensors, of which the next is the first;
 * NULL: no memory. */
static float *new_weights(struct attn_model *m, size_t n, size_t pieces)
{
    float *x = malloc((n + 1) * sizeof *x);
    struct attn_made *more = x ? realloc(m->made, (m->n_made + 1) * sizeof *more) : NULL;
    if (!more) {
        free(x);
        return NULL;
    }
    m->made = more;
    m->made[m->n_made++] = (struct attn_made){x, m->tensors, pieces, pieces && m->config.norm_from_one};
    return x;
}

/* Weights of all heads, which have a tensor each, one after the other. */
static int gather_piece(struct attn_model *m, const struct attn_slot *s, const struct attn_vec *piece,
                        struct attn_err *err)
{
    struct attn_norm *norm = attn_slot_norm(&m->w, s);
    if (s->piece == 0)
        *norm = (struct attn_norm){.weight = {new_weights(m, s->pieces * s->out, s->pieces), ATTN_F32}};
    if (!norm->weight.data)
        return no_memory(m, err);
    attn_vec_widen((float *)norm->weight.data + s->piece * s->out, piece->data, piece->type, 0, s->out);
    return ATTN_OK;
}

/* Weights stored as what they are more than 1. */
static int add_one(struct attn_model *m, struct attn_vec *v, size_t n, struct attn_err *err)
{
    float *x = new_weights(m, n, 1);
    if (!x)
        return no_memory(m, err);
    attn_vec_widen(x, v->data, v->type, 0, n);
    for (size_t i = 0; i < n; i++)
        x[i] += 1;
    *v = (struct attn_vec){x, ATTN_F32};
    return ATTN_OK;
}

/* What a norm normalises by, and how much of a row at a time. */
static void shape_norm(struct attn_model *m, const struct attn_slot *s)
{
    struct attn_norm *norm = attn_slot_norm(&m->w, s);
    bool heads = s->part == ATTN_PART_Q_NORM || s->part == ATTN_PART_K_NORM;
    norm->rms = m->config.norm == ATTN_NORM_RMS;
    norm->own = heads && (s->pieces || (m->config.family->qk_norm == ATTN_QK_TABLE && !m->config.plain_norms));
    norm->span = heads && m->config.family->qk_norm != ATTN_QK_WHOLE ? m->config.dh : 0;
}

static int bind_norm(struct attn_model *m, const struct attn_slot *s, struct attn_vec v, struct attn_err *err)
{
    struct attn_norm *norm = attn_slot_norm(&m->w, s);
    int rc = ATTN_OK;
    if (s->is_bias)
        norm->bias = v;
    else if (s->pieces)
        rc = gather_piece(m, s, &v, err);
    else if (m->config.norm_from_one)
        rc = add_one(m, &v, s->out, err);
    if (!s->is_bias && !s->pieces)
        *norm = (struct attn_norm){.weight = v};
    shape_norm(m, s);
    return rc;
}

static int bind_one(struct attn_model *m, const struct attn_slot *s, const struct attn_st_tensor *t,
                    struct attn_err *err)
{
    struct attn_vec v = {0};
    attn_dtype_named(t->dtype, &v.type);
    int rc = data_of(m, t, v.type, &v.data, err);
    if (rc)
        return rc;
    v.data = from_first(v.data, s, v.type);
    struct attn_mat *mat = attn_slot_mat(&m->w, s);
    if (mat && !s->is_bias)
        *mat = (struct attn_mat){.data = v.data, .type = v.type, .in = s->in, .out = s->out, .ld = s->shape[1],
                                 .transposed = s->transposed, .group = s->group, .step = s->step, .paired = s->paired};
    else if (mat)
        mat->bias = v;
    else
        return bind_norm(m, s, v, err);
    return ATTN_OK;
}

/* Lists a tensor once, even if q, k and v share it. */
static void list_tensor(struct attn_model *m, const struct attn_st_tensor *t, bool *used)
{
    size_t i = attn_shards_index(&m->weights, t);
    if (!used[i])
        m->tensor[m->tensors++] = t;
    used[i] = true;
}

static int bind_all(struct attn_model *m, bool *used, struct attn_err *err)
{
    struct attn_layout walk = attn_layout_start(&m->config);
    struct attn_slot slot;
    while (attn_layout_next(&walk, &slot)) {
        struct found f = find(m, &slot);
        if (!f.t)
            continue;
        int rc = bind_one(m, &slot, f.t, err);
        if (rc)
            return rc;
        list_tensor(m, f.t, used);
    }
    return ATTN_OK;
}

/* ---- the rest of what the arithmetic needs to know ---- */

static double scale_of(const struct attn_config *c)
{
    if (c->attention_scale > 0)
        return c->attention_scale;
    return c->query_scalar > 0 ? 1 / sqrt(c->query_scalar) : c->scale ? 1 / sqrt((double)c->dh) : 1;
}

static void fill_arch(struct attn_weights *w, const struct attn_config *c)
{
    w->n = (struct attn_dims){
        .L = c->L, .d = c->d, .H = c->H, .Hkv = c->Hkv, .dh = c->dh, .dv = c->dv, .m = c->m, .V = c->V,
        .n_ctx = c->n_ctx, .width = attn_layout_width(c)};
    w->eps = (float)c->norm_eps;
    w->residual = c->residual;
    w->parallel = c->parallel;
    w->one_norm = c->parallel && c->one_norm;
    w->post_norm_residual = c->post_norm_residual;
    w->causal = c->causal;
    w->alibi_early = c->alibi_early;
    w->cap = (float)c->cap;
    w->logit_cap = (float)c->logit_cap;
    w->embed_scale = (float)c->embed_scale;
    w->branch_scale = (float)c->branch_scale;
    w->logit_scale = c->logits_divided > 0 ? (float)(1 / c->logits_divided) : (float)c->logits_times;
    w->late_norms = c->late_norms;
    w->clip = (float)c->clip;
    w->sinusoid = c->position == ATTN_POS_SINUSOID;
    w->mlp = c->mlp;
    for (size_t i = 0; i < c->L; i++) {
        double scale = scale_of(c);
        w->block[i].scale = (float)(c->scale_by_layer ? scale / (double)(i + 1) : scale);
        w->block[i].window = c->local && c->local[i] ? c->window : 0;
        w->block[i].rope = c->no_rope && c->no_rope[i] ? -1 : c->rope_apart && w->block[i].window ? 1 : 0;
    }
}

/* If they are tied, the output layer is the transposed embedding. */
static void tie(struct attn_weights *w, const struct attn_config *c)
{
    if (!c->unembed || !c->tied)
        return;
    struct attn_vec bias = w->unembed.bias;
    w->unembed = w->embed;
    w->unembed.in = w->embed.out;
    w->unembed.out = w->embed.in;
    w->unembed.transposed = true;
    w->unembed.bias = bias;
}

/* The final norm is optional without an output layer; where a block's output is not d wide there is
 * nothing it could be applied to. */
static void drop_final(struct attn_weights *w)
{
    if (w->n.width != w->n.d)
        w->final = (struct attn_norm){0};
}

static bool fill_slopes(struct attn_model *m)
{
    if (m->config.position != ATTN_POS_ALIBI)
        return true;
    float *slope = new_weights(m, m->config.H, 0);
    if (slope)
        attn_alibi_slopes(slope, m->config.H);
    m->w.alibi = slope;
    return slope != NULL;
}

/* Norms that have no weights multiply with 1. */
static int fill_plain_norms(struct attn_model *m, struct attn_err *err)
{
    const struct attn_config *c = &m->config;
    const size_t widest = larger(c->d, c->H * c->dh);
    float *ones = c->plain_norms ? new_weights(m, widest, 0) : NULL;
    if (!c->plain_norms)
        return ATTN_OK;
    if (!ones)
        return no_memory(m, err);
    for (size_t i = 0; i < widest; i++)
        ones[i] = 1;
    for (enum attn_part p = 0; p < ATTN_PARTS; p++)
        for (size_t layer = 0; attn_layout_plain_norm(c, p) && layer < (attn_part_in_block(p) ? c->L : 1); layer++) {
            const struct attn_slot at = {.part = p, .layer = layer};
            *attn_slot_norm(&m->w, &at) = (struct attn_norm){.weight = {ones, ATTN_F32}};
            shape_norm(m, &at);
        }
    return ATTN_OK;
}

int attn_model_bind(struct attn_model *m, struct attn_err *err)
{
    choose_prefix(m);
    int rc = attn_strays_absent(m, err);
    if (!rc)
        rc = check_all(m, err);
    if (rc) {
        attn_quantized_tensors(&m->weights, err);       /* which explains what is missing */
        return rc;
    }
    bool *used = calloc(m->weights.tensors + 1, sizeof *used);
    m->w.block = calloc(m->config.L, sizeof *m->w.block);
    m->tensor = calloc(m->weights.tensors + 1, sizeof *m->tensor);
    m->copy = calloc(m->weights.tensors + 1, sizeof *m->copy);
    if (!used || !m->w.block || !m->tensor || !m->copy || !attn_rope_fill(&m->w, m->inv_freq, &m->config) ||
        !fill_slopes(m)) {
        free(used);
        return no_memory(m, err);
    }
    rc = bind_all(m, used, err);
    if (!rc)
        rc = attn_strays_find(m, used, err);
    free(used);
    if (rc)
        return rc;
    fill_arch(&m->w, &m->config);
    rc = fill_plain_norms(m, err);
    if (rc)
        return rc;
    tie(&m->w, &m->config);
    drop_final(&m->w);
    return ATTN_OK;
}
