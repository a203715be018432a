#include "ask/away.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"

static const double least = 0.1;        /* below it a head is hardly away */

int attn_away_new(struct attn_away *a, size_t L, size_t heads, struct attn_err *err)
{
    *a = (struct attn_away){heads, calloc(L * heads + 1, sizeof *a->sum), calloc(L * heads + 1, sizeof *a->rows)};
    return a->sum && a->rows ? ATTN_OK : attn_no_memory(err, NULL, "for %zu heads", L * heads);
}

void attn_away_free(struct attn_away *a)
{
    free(a->sum);
    free(a->rows);
    *a = (struct attn_away){0};
}

void attn_away_add(struct attn_away *a, size_t layer, size_t head, size_t i, const float *weight, size_t keys)
{
    if (i < 2 || i >= keys)
        return;
    a->sum[layer * a->heads + head] += 1 - (double)weight[0] - (double)weight[i];
    a->rows[layer * a->heads + head]++;
}

double attn_away_of(const struct attn_away *a, size_t layer, size_t head)
{
    size_t at = layer * a->heads + head;
    return a->rows[at] ? a->sum[at] / (double)a->rows[at] : (double)NAN;
}

bool attn_away_most(const struct attn_away *a, size_t L, size_t *layer, size_t *head, double *away)
{
    *layer = *head = 0;
    *away = 0;
    for (size_t l = 0; l < L; l++)
        for (size_t h = 0; h < a->heads; h++)
            if (attn_away_of(a, l, h) > *away) {
                *away = attn_away_of(a, l, h);
                *layer = l;
                *head = h;
            }
    if (*away < least)
        *layer = *head = 0;
    return *away >= least;
}

static bool is_before(const struct attn_telling *a, const struct attn_telling *b)
{
    if (a->layer != b->layer || a->head != b->head)
        return a->layer < b->layer || (a->layer == b->layer && a->head < b->head);
    return a->query < b->query || (a->query == b->query && a->key < b->key);
}

void attn_telling_add(struct attn_telling *t, size_t layer, size_t head, size_t i, const float *weight, size_t keys)
{
    for (size_t k = 1; k < keys; k++) {
        const struct attn_telling here = {weight[k], layer, head, i, k};
        if (k != i && (weight[k] > t->weight || (weight[k] == t->weight && t->weight > 0 && is_before(&here, t))))
            *t = here;
    }
}

/* ---- a run that finds it ---- */

struct finding { struct attn_telling *to; };

static unsigned wants(void *self, int act, int layer)
{
    (void)self;
    (void)layer;
    return act == ATTN_ACT_PATTERN ? ATTN_WATCH : 0;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    const struct finding *f = self;
    (void)err;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t i = 0; i < p->rows; i++)
            attn_telling_add(f->to, (size_t)p->layer, p->head0 + h, p->row0 + i, p->data + h * p->ld_head + i * p->ld,
                             p->cols);
    return ATTN_OK;
}

int attn_telling_find(struct attn_telling *out, const struct attn_model *m, const struct attn_plan *plan,
                      const struct attn_tokens *tokens, const struct attn_observer *edits, struct attn_err *err)
{
    struct finding f = {out};
    struct attn_observer observers[2] = {{.wants = wants, .watch = watch, .self = &f}, {0}};
    size_t n = 1;
    *out = (struct attn_telling){0};
    if (edits) {
        observers[1] = observers[0];
        observers[0] = *edits;
        n = 2;
    }
    return attn_run_tokens(m, plan, tokens, NULL, observers, n, err);
}
