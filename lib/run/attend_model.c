/* attend_model.c - the model of one block that numbers of one's own are run through. */
#include "run/attend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sha256.h"
#include "model/family.h"
#include "model/model.h"

/* Room for rows x cols numbers, zeros, that the model owns; NULL: no memory. */
static float *make(struct attn_model *m, size_t rows, size_t cols, struct attn_err *err)
{
    size_t n;
    float *x = __builtin_mul_overflow(rows, cols, &n) ? NULL : calloc(n, sizeof *x);
    if (x)
        m->made[m->n_made++] = (struct attn_made){.x = x};
    else
        attn_no_memory(err, NULL, "for %zu rows of %zu numbers", rows, cols);
    return x;
}

/* A weight [d, heads * width]; zeros where none is given. */
static int make_weight(struct attn_model *m, struct attn_mat *to, const struct attn_attend *a, int input, size_t heads,
                       size_t width, struct attn_err *err)
{
    const struct attn_attend_view *v = &a->view[input];
    size_t out = heads * width;
    float *x = make(m, a->d, out, err);
    for (size_t h = 0; x && v->x && h < heads; h++)
        for (size_t i = 0; i < a->d; i++)
            for (size_t j = 0; j < width; j++)
                x[i * out + h * width + j] = v->x[h * v->next_head + i * v->next_row + j * v->next_col];
    *to = (struct attn_mat){.data = x, .type = ATTN_F32, .in = a->d, .out = out, .ld = out};
    return x ? ATTN_OK : ATTN_ENOMEM;
}

/* The rows of x, then those of the other text. */
static int make_embedding(struct attn_model *m, const struct attn_attend *a, struct attn_err *err)
{
    float *x = make(m, m->w.n.V, a->d, err);
    for (int input = ATTN_ATTEND_X; x && input <= ATTN_ATTEND_CROSS; input++) {
        const struct attn_attend_view *v = &a->view[input];
        if (v->x)
            memcpy(x + (input == ATTN_ATTEND_CROSS ? a->Tq * a->d : 0), v->x, v->rows * a->d * sizeof *x);
    }
    m->w.embed = (struct attn_mat){.data = x, .type = ATTN_F32, .in = m->w.n.V, .out = a->d, .ld = a->d};
    return x ? ATTN_OK : ATTN_ENOMEM;
}

static void set_config(struct attn_model *m, const struct attn_attend *a, const struct attn_attend_opts *o)
{
    size_t n_ctx = a->Tq > a->Tk ? a->Tq : a->Tk;
    m->config = (struct attn_config){
        .family = attn_families[0], .V = a->Tq + (a->cross ? a->Tk : 0), .n_ctx = n_ctx, .L = 1, .H = a->H,
        .Hkv = a->Hkv, .d = a->d, .dh = a->dh, .dv = a->dv, .norm_eps = 1e-5, .rope_theta = 10000,
        .causal = o->causal, .scale = true, .cap = o->cap};
    m->w.n = (struct attn_dims){.L = 1, .d = a->d, .H = a->H, .Hkv = a->Hkv, .dh = a->dh, .dv = a->dv,
                                .V = m->config.V, .n_ctx = n_ctx, .width = a->H * a->dv};
    m->w.eps = 1e-5f;
    m->w.causal = o->causal;
    m->w.cap = (float)o->cap;
    m->w.cross_masked = m->checked = true;
    snprintf(m->scale, sizeof m->scale, "sqrt");
}

/* Only what follows from what is given is announced. */
static void set_hooks(struct attn_model *m, const struct attn_attend *a)
{
    const struct attn_attend_view *v = a->view;
    bool *has = m->hooks.has;
    m->hooks.L = 1;
    m->hooks.H = a->H;
    m->hooks.Hkv = a->Hkv;
    has[ATTN_ACT_EMBED] = has[ATTN_ACT_RESID_PRE] = v[ATTN_ATTEND_X].x;
    has[ATTN_ACT_Q] = v[ATTN_ATTEND_Q].x || v[ATTN_ATTEND_WQ].x;
    has[ATTN_ACT_K] = v[ATTN_ATTEND_K].x || v[ATTN_ATTEND_WK].x;
    has[ATTN_ACT_V] = a->valued;
    has[ATTN_ACT_DOTS] = a->dotted;
    has[ATTN_ACT_SCORES] = has[ATTN_ACT_PATTERN] = a->scored;
    has[ATTN_ACT_CONTEXT] = has[ATTN_ACT_NORMS] = a->scored && a->valued;
}

/* Of everything that is given, in place of files. */
static int find_digest(struct attn_model *m, const struct attn_attend *a, struct attn_err *err)
{
    struct attn_sha256 h;
    char hex[65], head[ATTN_SHAPE_TEXT + 64], shape[ATTN_SHAPE_TEXT];
    attn_sha256_start(&h);
    int n = snprintf(head, sizeof head, "%zu %zu %d %d\n", a->H, a->Hkv, m->w.causal, a->hides);
    attn_sha256_add(&h, head, (size_t)n);
    attn_sha256_add(&h, &m->w.cap, sizeof m->w.cap);
    for (int i = 0; i < ATTN_ATTEND_INPUTS; i++) {
        const struct attn_array *of = &a->numbers[i].of;
        if (!of->data)
            continue;
        n = snprintf(head, sizeof head, "%s %s\n", attn_attend_option(i), attn_shape_text(shape, of));
        attn_sha256_add(&h, head, (size_t)n);
        attn_sha256_add(&h, of->data, of->n * sizeof *of->data);
    }
    attn_sha256_end(&h, hex);
    m->digest = malloc(sizeof "sha256:" + sizeof hex);
    if (!m->digest)
        return attn_no_memory(err, NULL, "for a digest");
    strcpy(stpcpy(m->digest, "sha256:"), hex);
    return ATTN_OK;
}

int attn_attend_make(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    enum { ARRAYS = 4 };
    struct attn_model *m = a->model = calloc(1, sizeof *m);
    if (!m)
        return attn_no_memory(err, NULL, "for a model");
    set_config(m, a, o);
    set_hooks(m, a);
    m->attend = a;
    m->source.name = strdup("attend");
    m->made = calloc(ARRAYS, sizeof *m->made);
    struct attn_block *b = m->w.block = calloc(1, sizeof *b);
    if (!m->source.name || !m->made || !b)
        return attn_no_memory(err, NULL, "for a model");
    b->scale = (float)(1 / sqrt((double)a->dh));
    int rc = make_embedding(m, a, err);
    if (!rc)
        rc = make_weight(m, &b->q, a, ATTN_ATTEND_WQ, a->H, a->dh, err);
    if (!rc)
        rc = make_weight(m, &b->k, a, ATTN_ATTEND_WK, a->Hkv, a->dh, err);
    if (!rc)
        rc = make_weight(m, &b->v, a, ATTN_ATTEND_WV, a->Hkv, a->dv, err);
    return rc ? rc : find_digest(m, a, err);
}
