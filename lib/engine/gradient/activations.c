/* activations.c - what must be kept of a run so that its activations get gradients?  Copies of what the chain rule
 * reads: what norms, attention and nonlinearities were given. */
#include "gradient/activations.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "compute/mask.h"

struct attn_backward {
    const struct attn_model *model;
    struct attn_work work;
    struct attn_taps taps;
    struct attn_arena arena;
};

int attn_backward_check(const struct attn_model *m, const struct attn_kind *kind, struct attn_err *err)
{
    if (!m->config.unembed)
        return attn_fail(err, ATTN_EFORMAT, "model %s has no output layer (\"unembed\": false), so nothing to "
                                            "differentiate",
                         m->source.name);
    if (kind->form == ATTN_LINEAR)
        return attn_fail(err, ATTN_EUSAGE, "linear attention has no backward pass here: gradients need a kind with a "
                                           "softmax");
    if (kind->dropout > 0)
        return attn_fail(err, ATTN_EUSAGE, "gradients with dropout are those of one draw: leave --dropout out");
    return ATTN_OK;
}

/* ---- memory ---- */

static bool keeps_pattern(const struct attn_backward *b, int layer, bool edited)
{
    const struct attn_taps *t = &b->taps;
    unsigned all = t->wants(t->self, ATTN_ACT_PATTERN, layer);
    if (!edited)
        all |= t->wants(t->self, ATTN_ACT_DOTS, layer) | t->wants(t->self, ATTN_ACT_SCORES, layer);
    return (all & ATTN_EDIT) || (!edited && b->work.kind.form != ATTN_MODEL);
}

static bool keeps_scores(const struct attn_backward *b, int layer)
{
    return b->work.w->cap != 0 && (b->taps.wants(b->taps.self, ATTN_ACT_DOTS, layer) & ATTN_EDIT);
}

static void lay_out(struct attn_backward *b)
{
    const struct attn_dims *n = &b->work.w->n;
    attn_work_lay_out(&b->arena, &b->work);
    for (size_t i = 0; i < n->L; i++) {
        bool kept = keeps_pattern(b, (int)i, false), edited = keeps_pattern(b, (int)i, true);
        bool bent = keeps_scores(b, (int)i);
        float *scores = attn_arena_f32(&b->arena, bent ? n->H : 0, b->work.R, b->work.R);
        float *softmax = attn_arena_f32(&b->arena, kept ? n->H : 0, b->work.R, b->work.R);
        float *pattern = attn_arena_f32(&b->arena, edited ? n->H : 0, b->work.R, b->work.R);
        if (b->work.layer) {
            b->work.layer[i].scores = bent ? scores : NULL;
            b->work.layer[i].softmax = kept ? softmax : NULL;
            b->work.layer[i].pattern = edited ? pattern : NULL;
        }
    }
}

int attn_backward_new(struct attn_backward **out, const struct attn_model *m, const struct attn_backward_plan *p,
                      struct attn_err *err)
{
    *out = NULL;
    int rc = attn_backward_check(m, &p->kind, err);
    if (rc)
        return rc;
    struct attn_backward *b = calloc(1, sizeof *b);
    if (!b)
        return attn_no_memory(err, NULL, "for gradients");
    b->model = m;
    b->taps = p->taps;
    b->work = (struct attn_work){.w = &m->w, .threads = p->threads, .R = p->T, .longest = p->T, .band = p->rows,
                                 .kind = p->kind};
    b->work.kind.causal = m->w.causal;
    lay_out(b);
    rc = attn_arena_make(&b->arena, err);
    if (rc) {
        attn_backward_free(b);
        return rc;
    }
    lay_out(b);
    b->work.taps = &b->taps;
    attn_work_place(&b->work);
    *out = b;
    return ATTN_OK;
}

void attn_backward_free(struct attn_backward *b)
{
    if (!b)
        return;
    attn_arena_free(&b->arena);
    free(b);
}

/* ---- what is kept ---- */

/* Where an activation is kept; NULL: it is not needed. */
static float *place(const struct attn_backward *b, int act, int layer)
{
    const struct attn_work *t = &b->work;
    const size_t L = t->w->n.L;
    const bool sums = attn_norms_positions(t->w), bent = t->w->logit_cap != 0;
    if (layer < 0)
        return act == ATTN_ACT_NORM_FINAL && bent ? t->final : act == ATTN_ACT_EMBED && sums ? t->embedded :
               act == ATTN_ACT_POS_EMBED && sums ? t->placed : NULL;
    struct attn_kept *k = &t->layer[layer];
    switch (act) {
    case ATTN_ACT_RESID_PRE:  return k->x;
    case ATTN_ACT_Q:          return k->q;
    case ATTN_ACT_K:          return k->k;
    case ATTN_ACT_V:          return k->v;
    case ATTN_ACT_PATTERN:    return k->pattern ? k->pattern : k->softmax;
    case ATTN_ACT_NORM1:      return k->read;
    case ATTN_ACT_OUT:        return k->out;
    case ATTN_ACT_MLP_OUT:    return k->mlp_out;
    case ATTN_ACT_RESID_MID:  return t->w->parallel ? NULL : k->mid;
    case ATTN_ACT_MLP_PRE:    return k->pre;
    case ATTN_ACT_MLP_LINEAR: return k->linear;
    case ATTN_ACT_RESID_POST: return (size_t)layer + 1 == L ? t->layer[L].x : NULL;
    default:                  return NULL;
    }
}

/* Heads lie side by side in a row of q, k and v, and one after the other in patterns. */
static void keep(float *to, const struct attn_probe *p, size_t T)
{
    bool square = attn_act_square(p->act);
    size_t heads = p->ndim == 3 ? p->shape[0] : 1, ld = square ? p->cols : heads * p->cols,
    next = square ? T * p->cols : p->cols;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            memcpy(to + (p->head0 + h) * next + (p->row0 + t) * ld, p->data + h * p->ld_head + t * p->ld,
                   p->cols * sizeof *to);
}

static unsigned keeper_wants(void *self, int act, int layer)
{
    return place(self, act, layer) ? ATTN_WATCH : 0;
}

static int keeper_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    const struct attn_backward *b = self;
    keep(place(b, p->act, p->layer), p, b->work.R);
    return ATTN_OK;
}

struct attn_observer attn_backward_keeper(struct attn_backward *b)
{
    return (struct attn_observer){.wants = keeper_wants, .watch = keeper_watch, .self = b};
}

/* Scores and softmax before they are edited: an observer that edits nothing, but sees them before those that do. */
static float *first_place(const struct attn_backward *b, int act, int layer)
{
    const struct attn_kept *k = layer < 0 ? NULL : &b->work.layer[layer];
    if (!k || (act != ATTN_ACT_SCORES && act != ATTN_ACT_PATTERN))
        return NULL;
    return act == ATTN_ACT_SCORES ? k->scores : k->pattern ? k->softmax : NULL;
}

static unsigned first_wants(void *self, int act, int layer)
{
    return first_place(self, act, layer) ? ATTN_EDIT : 0;
}

static int first_edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    (void)data;
    (void)err;
    const struct attn_backward *b = self;
    keep(first_place(b, p->act, p->layer), p, b->work.R);
    return ATTN_OK;
}

struct attn_observer attn_backward_first(struct attn_backward *b)
{
    return (struct attn_observer){.wants = first_wants, .edit = first_edit, .self = b};
}

/* ---- the way back ---- */

float *attn_backward_logits(struct attn_backward *b)
{
    return b->work.logits;
}

void attn_backward_run(struct attn_backward *b, struct attn_team *team)
{
    struct attn_work *t = &b->work;
    t->team = team;
    t->rows = t->R;
    t->seqs = 1;
    t->seq[0] = (struct attn_work_seq){0, t->R};
    if (t->w->rotary)
        attn_work_set_rotation(t, t->seq);
    attn_work_from_logits(t, t->band);
    attn_work_backward(t, NULL);
}
