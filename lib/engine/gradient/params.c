#include "gradient/params.h"

#include "base/err.h"
#include "base/size.h"
#include "compute/vec.h"
#include "model/family.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 16 };                     /* floats of a cache line */

static enum attn_dtype type_of(const struct attn_st_tensor *t)
{
    enum attn_dtype type;
    attn_dtype_named(t->dtype, &type);
    return type;
}

/* ---- the blocks ---- */

/* Tensors that one norm reads one after the other lie so in memory. */
static bool is_further_piece(const struct attn_model *m, size_t tensor)
{
    for (size_t i = 0; i < m->n_made; i++)
        if (tensor > m->made[i].tensor && tensor < m->made[i].tensor + m->made[i].pieces)
            return true;
    return false;
}

/* The numbers of a tensor in their stored type, at an address where they can be read. */
static const unsigned char *stored(const struct attn_model *m, const struct attn_st_tensor *t)
{
    const unsigned char *copy = m->copy[attn_shards_index(&m->weights, t)];
    return copy ? copy : t->data;
}

/* Whether a norm reads the tensor: those of heads may have a row for each. */
static bool is_norm(const struct attn_model *m, const struct attn_st_tensor *t)
{
    for (size_t i = 0; i < m->w.n.L && m->config.family->qk_norm == ATTN_QK_TABLE; i++)
        if (m->w.block[i].q_norm.weight.data == stored(m, t) || m->w.block[i].k_norm.weight.data == stored(m, t))
            return true;
    return false;
}

static int list(struct attn_params *p, struct attn_err *err)
{
    const struct attn_model *m = p->model;
    p->param = calloc(m->tensors + 1, sizeof *p->param);
    if (!p->param)
        return attn_no_memory(err, NULL, "for a list of %zu parameters", m->tensors);
    for (; p->n < m->tensors; p->n++) {       /* no more than the bytes of mapped files: sums cannot overflow */
        const struct attn_st_tensor *t = m->tensor[p->n];
        p->param[p->n] = (struct attn_param){
            .name = t->name, .ndim = t->ndim, .shape = {t->shape[0], t->ndim > 1 ? t->shape[1] : 0},
            .at = is_further_piece(m, p->n) ? p->count : up(p->count, LINE), .count = t->count,
            .decays = t->ndim == 2 && !is_norm(m, t)};
        p->count = p->param[p->n].at + t->count;
    }
    p->count = up(p->count, LINE);
    return ATTN_OK;
}

static void lay_out(struct attn_arena *a, struct attn_params *p)
{
    p->value = attn_arena_f32(a, p->count, 1, 1);
    p->grad = attn_arena_f32(a, p->count, 1, 1);
    p->w.block = attn_arena_bytes(a, p->model->w.n.L, sizeof *p->w.block);
    p->g.block = attn_arena_bytes(a, p->model->w.n.L, sizeof *p->g.block);
}

static void widen_all(struct attn_params *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct attn_st_tensor *t = p->model->tensor[i];
        attn_vec_widen(p->value + p->param[i].at, stored(p->model, t), type_of(t), 0, t->count);
    }
}

/* ---- views ---- */

/* Moves a view from the stored numbers to those in `block` that correspond to them. */
static void rebind(const struct attn_params *p, struct attn_vec *v, const float *block)
{
    for (size_t i = 0; v->data && i < p->n; i++) {
        const struct attn_st_tensor *t = p->model->tensor[i];
        uintptr_t at = (uintptr_t)v->data, from = (uintptr_t)stored(p->model, t);
        if (at < from || at >= from + t->bytes)
            continue;
        const struct attn_dtype_row *type = &attn_dtypes[type_of(t)];       /* views begin with whole blocks */
        size_t element = (at - from) / type->bytes * type->values;
        *v = (struct attn_vec){block + p->param[i].at + element, ATTN_F32};
        return;
    }
}

static void rebind_mat(const struct attn_params *p, struct attn_mat *m, const float *block)
{
    struct attn_vec v = {m->data, m->type};
    rebind(p, &v, block);
    m->data = v.data;
    m->type = v.type;
    rebind(p, &m->bias, block);
}

/* The weights may be made from what is stored, or constants, which have no gradient. */
static void rebind_norm(const struct attn_params *p, struct attn_norm *n, const float *block)
{
    const struct attn_model *m = p->model;
    const struct attn_made *made = NULL;
    for (size_t i = 0; i < m->n_made && !made && attn_has(n); i++)
        made = m->made[i].x == n->weight.data ? &m->made[i] : NULL;
    if (!made)
        rebind(p, &n->weight, block);
    else if (made->pieces)
        n->weight = (struct attn_vec){block + p->param[made->tensor].at, ATTN_F32};
    else if (block != p->value)
        n->weight.data = NULL;
    n->from_one = made && made->from_one;
    rebind(p, &n->bias, block);
}

static void rebind_block(const struct attn_params *p, struct attn_block *b, const float *block)
{
    struct attn_mat *mats[] = {&b->q, &b->k, &b->v, &b->o, &b->gate, &b->in, &b->out};
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++)
        rebind_mat(p, mats[i], block);
    struct attn_norm *norms[] = {&b->norm1, &b->norm2, &b->post1, &b->post2, &b->sum1, &b->sum2, &b->q_norm,
                                 &b->k_norm};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
        rebind_norm(p, norms[i], block);
}

void attn_params_bind(const struct attn_params *p, struct attn_weights *w, const float *block)
{
    struct attn_block *own = w->block;
    *w = p->model->w;
    w->block = memcpy(own, w->block, w->n.L * sizeof *own);
    for (size_t i = 0; i < w->n.L; i++)
        rebind_block(p, &w->block[i], block);
    struct attn_mat *mats[] = {&w->embed, &w->pos, &w->project_in, &w->project_out, &w->unembed};
    for (size_t i = 0; i < sizeof mats / sizeof *mats; i++)
        rebind_mat(p, mats[i], block);
    rebind_norm(p, &w->embed_norm, block);
    rebind_norm(p, &w->final, block);
}

/* ---- parameters ---- */

static int make_memory(struct attn_params *p, struct attn_err *err)
{
    lay_out(&p->memory, p);
    int rc = attn_arena_make(&p->memory, err);
    if (rc)
        return rc;
    attn_arena_large_pages(&p->memory);
    lay_out(&p->memory, p);
    return ATTN_OK;
}

int attn_params_new(struct attn_params **out, const struct attn_model *m, struct attn_err *err)
{
    *out = NULL;
    struct attn_params *p = calloc(1, sizeof *p);
    if (!p)
        return attn_no_memory(err, NULL, "for parameters");
    p->model = m;
    int rc = list(p, err);
    if (!rc)
        rc = make_memory(p, err);
    if (rc) {
        attn_params_free(p);
        return rc;
    }
    widen_all(p);
    attn_params_bind(p, &p->w, p->value);
    attn_params_bind(p, &p->g, p->grad);
    *out = p;
    return ATTN_OK;
}

void attn_params_free(struct attn_params *p)
{
    if (!p)
        return;
    attn_arena_free(&p->memory);
    free(p->param);
    free(p);
}

void attn_params_tensors(struct attn_st_tensor *t, const struct attn_params *p, const float *data)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct attn_param *q = &p->param[i];
        t[i] = (struct attn_st_tensor){
            .name = q->name, .dtype = "F32", .ndim = q->ndim, .shape = {q->shape[0], q->shape[1]}, .count = q->count,
            .bytes = q->count * sizeof(float), .data = (const unsigned char *)(data + q->at)};
    }
}

int attn_params_check(const struct attn_params *p, struct attn_err *err)
{
    for (const struct attn_param *t = p->param; t < p->param + p->n; t++) {
        const float *x = p->value + t->at;
        size_t i = 0;
        if (attn_vec_finite(x, t->count))
            continue;
        while (isfinite(x[i]))
            i++;
        return attn_fail(err, ATTN_EFORMAT, "%s[%zu] is %g", t->name, i, (double)x[i]);
    }
    return ATTN_OK;
}
