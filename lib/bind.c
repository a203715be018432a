/* bind.c - from tensor names to the views the arithmetic reads.
 *
 * Two walks over the layout: the first checks that each tensor is there, with a type and the shape
 * the config asks for, and stops at the first fault, so that no number in the config sizes memory
 * the file does not justify; the second binds. */
#include "model.h"

#include "base/err.h"
#include "io/layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(const struct attn_model *m, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s: out of memory: no room for the list of tensors", m->weights_path);
}

/* ---- first walk ---- */

static bool type_of(const char *dtype, enum attn_dtype *type)
{
    static const struct { const char *name; enum attn_dtype type; } types[] = {
        {"F32", ATTN_F32}, {"F16", ATTN_F16}, {"BF16", ATTN_BF16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(dtype, types[i].name) == 0) {
            *type = types[i].type;
            return true;
        }
    return false;
}

static void print_shape(char *buf, size_t size, const size_t *shape, int ndim)
{
    size_t n = (size_t)snprintf(buf, size, "[");
    for (int i = 0; i < ndim && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%zu", i ? ", " : "", shape[i]);
    if (n < size)
        snprintf(buf + n, size - n, "]");
}

static bool same_shape(const struct attn_slot *s, const struct attn_st_tensor *t, bool turned)
{
    if (t->ndim != s->ndim)
        return false;
    for (int i = 0; i < s->ndim; i++)
        if (t->shape[i] != s->shape[turned ? s->ndim - 1 - i : i])
            return false;
    return true;
}

static int check_tensor(const struct attn_model *m, const struct attn_slot *s, const struct attn_st_tensor *t,
                        struct attn_err *err)
{
    enum attn_dtype type;
    char want[64], found[256];
    print_shape(want, sizeof want, s->shape, s->ndim);
    if (!t)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' is missing; config.json asks for it with shape %s",
                         m->weights_path, s->name, want);
    if (!type_of(t->dtype, &type))
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' is stored as %s, expected F32, F16 or BF16",
                         m->weights_path, s->name, t->dtype);
    if (same_shape(s, t, false))
        return ATTN_OK;
    print_shape(found, sizeof found, t->shape, t->ndim);
    return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' has shape %s, config.json expects %s%s", m->weights_path,
                     s->name, found, want, same_shape(s, t, true) ? " (it is stored transposed: expected [in, out])" : "");
}

static bool slot_used(const struct attn_slot *s, const struct attn_st_tensor *t)
{
    return s->required || t;
}

static int check_all(struct attn_model *m, struct attn_err *err)
{
    struct attn_layout walk = attn_layout_start(&m->config);
    struct attn_slot slot;
    m->tensors = 0;
    while (attn_layout_next(&walk, &slot)) {
        const struct attn_st_tensor *t = attn_st_find(m->st, slot.name);
        if (!slot_used(&slot, t))
            continue;
        int rc = check_tensor(m, &slot, t, err);
        if (rc)
            return rc;
        m->tensors++;
    }
    return ATTN_OK;
}

/* ---- second walk ---- */

/* The tensor's bytes, at an address its type can be read from. */
static int data_of(struct attn_model *m, const struct attn_st_tensor *t, enum attn_dtype type, const void **out,
                   struct attn_err *err)
{
    *out = t->data;
    if ((uintptr_t)t->data % attn_dtype_size(type) == 0)
        return ATTN_OK;
    void *copy = malloc(t->bytes ? t->bytes : 1);
    if (!copy)
        return no_memory(m, err);
    memcpy(copy, t->data, t->bytes);
    m->copy[m->copies++] = copy;
    *out = copy;
    return ATTN_OK;
}

/* Where a matrix of the model goes; NULL for tables and norms. */
static struct attn_mat *mat_of(struct attn_weights *w, const struct attn_slot *s)
{
    struct attn_block *b = &w->block[s->layer];
    switch (s->part) {
    case ATTN_PART_EMBED:       return &w->embed;
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

static struct attn_norm *norm_of(struct attn_weights *w, const struct attn_slot *s)
{
    struct attn_block *b = &w->block[s->layer];
    return s->part == ATTN_PART_NORM1 ? &b->norm1 : s->part == ATTN_PART_NORM2 ? &b->norm2 : &w->final;
}

static int bind_one(struct attn_model *m, const struct attn_slot *s, const struct attn_st_tensor *t,
                    struct attn_err *err)
{
    struct attn_vec v = {0};
    type_of(t->dtype, &v.type);
    int rc = data_of(m, t, v.type, &v.data, err);
    if (rc)
        return rc;
    struct attn_mat *mat = mat_of(&m->w, s);
    if (mat && !s->is_bias)
        *mat = (struct attn_mat){.data = v.data, .type = v.type, .in = s->shape[0], .out = s->shape[1], .ld = s->shape[1]};
    else if (mat)
        mat->bias = v;
    else if (s->is_bias)
        norm_of(&m->w, s)->bias = v;
    else
        *norm_of(&m->w, s) = (struct attn_norm){.weight = v, .rms = m->config.norm == ATTN_NORM_RMS};
    return ATTN_OK;
}

/* Anything we do not know might change a number. */
static int find_stranger(const struct attn_model *m, const bool *used, struct attn_err *err)
{
    for (size_t i = 0; i < attn_st_count(m->st); i++)
        if (!used[i])
            return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' has no place in the model that config.json describes",
                             m->weights_path, attn_st_at(m->st, i)->name);
    return ATTN_OK;
}

static size_t index_of(const struct attn_model *m, const struct attn_st_tensor *t)
{
    return (size_t)(t - attn_st_at(m->st, 0));
}

static int bind_all(struct attn_model *m, bool *used, struct attn_err *err)
{
    struct attn_layout walk = attn_layout_start(&m->config);
    struct attn_slot slot;
    size_t n = 0;
    while (attn_layout_next(&walk, &slot)) {
        const struct attn_st_tensor *t = attn_st_find(m->st, slot.name);
        if (!slot_used(&slot, t))
            continue;
        int rc = bind_one(m, &slot, t, err);
        if (rc)
            return rc;
        m->tensor[n++] = t;
        used[index_of(m, t)] = true;
    }
    return find_stranger(m, used, err);
}

/* ---- the rest of what the arithmetic needs to know ---- */

static enum attn_mlp_form mlp_form(enum attn_mlp_kind kind)
{
    switch (kind) {
    case ATTN_MLP_GELU:     return ATTN_GELU;
    case ATTN_MLP_GELU_NEW: return ATTN_GELU_NEW;
    case ATTN_MLP_SWIGLU:   return ATTN_SWIGLU;
    case ATTN_MLP_NONE:     break;
    }
    return ATTN_NO_MLP;
}

static void fill_arch(struct attn_weights *w, const struct attn_config *c)
{
    w->n = (struct attn_dims){
        .L = c->L, .d = c->d, .H = c->H, .Hkv = c->Hkv, .dh = c->dh, .dv = c->dv, .m = c->m, .V = c->V,
        .n_ctx = c->n_ctx, .width = attn_layout_width(c)};
    w->eps = (float)c->norm_eps;
    w->rope = c->position == ATTN_POS_ROPE;
    w->theta = c->rope_theta;
    w->residual = c->residual;
    w->causal = c->causal;
    w->mlp = mlp_form(c->mlp);
    for (size_t i = 0; i < c->L; i++)
        w->block[i].scale = c->scale ? (float)(1 / sqrt((double)c->dh)) : 1.0f;
}

/* The embedding transposed is the output layer where they are tied. */
static void tie(struct attn_weights *w, const struct attn_config *c)
{
    if (!c->unembed || !c->tied)
        return;
    struct attn_vec bias = w->unembed.bias;
    w->unembed = w->embed;
    w->unembed.in = w->embed.out;
    w->unembed.out = w->embed.in;
    w->unembed.by_output = true;
    w->unembed.bias = bias;
}

/* norm_final without an output layer is optional; where a block's output is not d wide there is
 * nothing it could be applied to. */
static void drop_final(struct attn_weights *w)
{
    if (w->n.width != w->n.d)
        w->final = (struct attn_norm){0};
}

int attn_model_bind(struct attn_model *m, struct attn_err *err)
{
    int rc = check_all(m, err);
    if (rc)
        return rc;
    bool *used = calloc(attn_st_count(m->st) + 1, sizeof *used);
    m->w.block = calloc(m->config.L, sizeof *m->w.block);
    m->tensor = calloc(m->tensors + 1, sizeof *m->tensor);
    m->copy = calloc(m->tensors + 1, sizeof *m->copy);
    if (!used || !m->w.block || !m->tensor || !m->copy) {
        free(used);
        return no_memory(m, err);
    }
    rc = bind_all(m, used, err);
    free(used);
    if (rc)
        return rc;
    fill_arch(&m->w, &m->config);
    tie(&m->w, &m->config);
    drop_final(&m->w);
    return ATTN_OK;
}
