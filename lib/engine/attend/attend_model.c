/* attend_model.c - the model of one block as which numbers of one's own are run. */
#include "attend/attend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sha256.h"
#include "model/container.h"
#include "model/family.h"
#include "model/model.h"

static void set_config(struct attn_model *m, const struct attn_attend *a, const struct attn_attend_opts *o)
{
    size_t n_ctx = a->Tq > a->Tk ? a->Tq : a->Tk;
    size_t d = a->out && !a->view[ATTN_ATTEND_X].x ? a->out : a->d;
    m->config = (struct attn_config){
        .family = attn_families[0], .V = a->Tq + (a->cross ? a->Tk : 0), .n_ctx = n_ctx, .L = 1, .H = a->H,
        .Hkv = a->Hkv, .d = d, .dh = a->dh, .dv = a->dv, .norm_eps = 1e-5, .rope_theta = 10000,
        .causal = o->causal, .scale = true, .cap = o->cap};
    m->w.n = (struct attn_dims){.L = 1, .d = d, .H = a->H, .Hkv = a->Hkv, .dh = a->dh, .dv = a->dv,
                                .V = m->config.V, .n_ctx = n_ctx, .width = a->H * a->dv};
    m->w.eps = 1e-5f;
    m->w.causal = o->causal;
    m->w.cap = (float)o->cap;
    m->checked = true;
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
    has[ATTN_ACT_OUT] = a->out;
    has[ATTN_ACT_CONTEXT] = has[ATTN_ACT_NORMS] = a->scored && a->valued;
}

/* Of everything that is given, in place of files. */
static int find_digest(struct attn_model *m, const struct attn_attend *a, struct attn_err *err)
{
    struct attn_sha256 h;
    char hex[65], head[ATTN_SHAPE_TEXT + 64], shape[ATTN_SHAPE_TEXT];
    attn_sha256_start(&h);
    int n = snprintf(head, sizeof head, "%zu %zu %d %d %d %d\n", a->H, a->Hkv, m->w.causal, a->hides,
                     (int)a->weights, a->late);
    attn_sha256_add(&h, head, (size_t)n);
    attn_sha256_add(&h, &a->cap, sizeof a->cap);
    for (int i = 0; i < ATTN_ATTEND_INPUTS; i++) {
        const struct attn_array *of = &a->numbers[i].of;
        if (!of->f64)
            continue;
        n = snprintf(head, sizeof head, "%s %s\n", attn_attend_option(i), attn_shape_text(shape, of));
        attn_sha256_add(&h, head, (size_t)n);
        attn_sha256_add(&h, of->f64, of->n * sizeof *of->f64);
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
    struct attn_model *m = a->model = calloc(1, sizeof *m);
    if (!m)
        return attn_no_memory(err, NULL, "for a model");
    set_config(m, a, o);
    set_hooks(m, a);
    m->attend = a;
    m->source = (struct attn_source){.kind = &attn_container_builtin, .name = strdup("attend")};
    m->w.block = calloc(1, sizeof *m->w.block);
    if (!m->source.name || !m->w.block)
        return attn_no_memory(err, NULL, "for a model");
    m->w.block->scale = (float)(1 / sqrt((double)a->dh));
    return find_digest(m, a, err);
}
