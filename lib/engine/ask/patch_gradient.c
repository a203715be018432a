/* patch_gradient.c - predicts from gradients what the metric would become.  To first order a patch changes it by
 *
 *     sum over the cell of (a_from - a_text) * dm/da
 *
 * with the gradient at the text or, for ig, its mean over runs on the straight line between the embeddings of the two
 * texts, from this one's on. */
#include "ask/patch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct linearised {
    struct attn_patch *p;
    double by;                          /* 1 / number of gradients */
    double along;                       /* ig: how far on the way */
    struct attn_whole text, from;        /* ig: embeddings */
};

/* ---- sums over cells ---- */

static unsigned wants(void *self, int act, int layer)
{
    const struct linearised *s = self;
    return attn_select_wants(s->p->select, act, layer) ? ATTN_WATCH : 0;
}

/* The cells of what layer `layer` (-1: outside the blocks) has; NULL: none. */
static struct attn_patch_cell *cells_of(const struct attn_patch *p, int layer)
{
    size_t at = 0;
    while (layer >= 0 && at < p->grid[0] && p->layer[at] != (size_t)layer)
        at++;
    return at < p->grid[0] ? p->cell + at * p->grid[1] * p->grid[2] : NULL;
}

/* Which of them column `col` of row t of a head belongs to. */
static size_t place_of(const struct attn_patch *p, size_t head, size_t t, size_t col)
{
    if (p->act == ATTN_ACT_CONTEXT)
        head = col / p->info.dv;
    return (p->over & ATTN_OVER_HEAD ? head : 0) * p->grid[2] + (p->over & ATTN_OVER_POS ? t : 0);
}

/* Numbers that are -inf in both texts do not differ. */
static int add(void *self, const struct attn_probe *b, struct attn_err *err)
{
    (void)err;
    const struct linearised *s = self;
    const float *text = attn_whole_at(&s->p->text, b->act, b->layer),
    *from = attn_whole_at(&s->p->from, b->act, b->layer);
    struct attn_patch_cell *cell = cells_of(s->p, b->layer);
    size_t rows = b->shape[b->ndim - 2];
    for (size_t h = 0; cell && h < b->heads; h++)
        for (size_t t = 0; t < b->rows; t++)
            for (size_t j = 0; j < b->cols; j++) {
                size_t at = (h * rows + t) * b->cols + j;
                double g = (double)b->data[h * b->ld_head + t * b->ld + j];
                if (g != 0 && text[at] != from[at])
                    cell[place_of(s->p, h, t, j)].metric += s->by * g * ((double)from[at] - (double)text[at]);
            }
    return ATTN_OK;
}

/* ---- gradients ---- */

static int differentiate(struct linearised *s, const struct attn_observer *more, double *value, struct attn_err *err)
{
    struct attn_patch *p = s->p;
    struct attn_slopes *gradients = NULL;
    const struct attn_observer to = {.wants = wants, .watch = add, .self = s},
    observers[] = {*more, attn_patch_teller(p)};
    const struct attn_slopes_opts o = {.metric = &p->metric, .select = p->select, .plan = p->o->plan,
                                       .editor = p->o->editor,
                                       .observers = observers, .n_observers = sizeof observers / sizeof *observers};
    int rc = attn_slopes_new(&gradients, p->model, p->o->tokens, &o, err);
    if (!rc) {
        *value = attn_slopes_value(gradients);
        rc = attn_slopes_show(gradients, &to, err);
    }
    attn_slopes_free(gradients);
    return rc;
}

static int at_text(struct linearised *s, struct attn_err *err)
{
    struct attn_observer keep = attn_whole_observer(&s->p->text);
    return differentiate(s, &keep, &s->p->metric_text, err);
}

/* ---- on the way from one embedding to the other ---- */

static unsigned way_wants(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_EMBED ? ATTN_EDIT : 0;
}

static int way_edit(void *self, const struct attn_probe *b, float *data, struct attn_err *err)
{
    (void)err;
    const struct linearised *s = self;
    const float *text = attn_whole_at(&s->text, ATTN_ACT_EMBED, -1),
    *from = attn_whole_at(&s->from, ATTN_ACT_EMBED, -1);
    for (size_t t = 0; t < b->rows; t++)
        for (size_t j = 0; j < b->cols; j++) {
            size_t at = (b->row0 + t) * b->cols + j;
            data[t * b->ld + j] = (float)((double)text[at] + s->along * ((double)from[at] - (double)text[at]));
        }
    return ATTN_OK;
}

static int hold_embeddings(struct linearised *s, struct attn_err *err)
{
    struct attn_patch *p = s->p;
    struct attn_select *embed = NULL;
    int rc = attn_select_new(&embed, p->model, &p->o->plan.kind, "embed", NULL, NULL, err);
    if (!rc)
        rc = attn_whole_make(&s->text, p->model, &p->o->plan.kind, embed, p->T, err);
    if (!rc)
        rc = attn_whole_make(&s->from, p->model, &p->o->plan.kind, embed, p->T, err);
    attn_select_free(embed);
    struct attn_measure measure = {.metric = &p->metric};
    struct attn_observer of_text[] = {attn_patch_editor(p), attn_whole_observer(&s->text),
                                      attn_whole_observer(&p->text), attn_measure_observer(&measure),
                                      attn_patch_teller(p)};
    struct attn_observer of_from = attn_whole_observer(&s->from);
    if (!rc)
        rc = attn_run_tokens(p->model, &p->o->plan, p->o->tokens, NULL, of_text, sizeof of_text / sizeof *of_text, err);
    if (!rc)
        rc = attn_run_tokens(p->model, &p->o->plan, p->o->from, NULL, &of_from, 1, err);
    p->metric_text = measure.value;
    return rc;
}

static int along_the_way(struct linearised *s, struct attn_err *err)
{
    struct attn_patch *p = s->p;
    const struct attn_observer way = {.wants = way_wants, .edit = way_edit, .self = s};
    double ignored;
    int rc = hold_embeddings(s, err);
    for (size_t k = 0; k < p->steps && !rc; k++) {
        s->along = ((double)k + 0.5) / (double)p->steps;
        s->by = 1 / (double)p->steps;
        rc = attn_patch_step(p, k, p->steps, err);
        if (!rc)
            rc = differentiate(s, &way, &ignored, err);
    }
    attn_whole_free(&s->text);
    attn_whole_free(&s->from);
    return rc;
}

int attn_patch_gradient(struct attn_patch *p, struct attn_err *err)
{
    struct linearised s = {.p = p, .by = 1};
    int rc = p->method == ATTN_PATCH_IG ? along_the_way(&s, err) : at_text(&s, err);
    for (size_t i = 0; i < p->n; i++)
        p->cell[i].metric += p->metric_text;
    return rc;
}
