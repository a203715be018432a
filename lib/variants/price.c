/* price.c - the cost of a kind of attention: operations by its definition, memory by the layout of a run. */
#include "variants/variants.h"

#include "base/err.h"
#include "compute/kind.h"
#include "run/cost.h"

#include <stdlib.h>

struct picking { size_t *list, *swaps; };               /* buffers for lists of keys */

/* The number of keys that all T queries see together; causal-renorm also sees the hidden ones, before it masks them. */
static double pairs(const struct attn_kind *k, size_t T, const struct picking *p)
{
    double n = 0;
    for (size_t q = 0; q < T; q++) {
        struct attn_range r = attn_kind_bounds(k, q, T);
        n += attn_kind_picks(k) ? (double)attn_kind_pick(p->list, p->swaps, k, q, T) : (double)(r.hi - r.lo);
    }
    return n;
}

/* Adds the cost of one layer: products of queries and keys, and of weights and values.  Linear attention instead has
 * products of features and values, and the sum of features by which each row is divided. */
static void add_layer(struct attn_variant *v, const struct attn_variants *s, size_t layer, const struct picking *p)
{
    const struct attn_weights *w = &s->model->w;
    struct attn_kind k = attn_kind_in(&v->kind, w->causal, w->block[layer].window);
    double T = (double)s->tokens->n, H = (double)w->n.H, dh = (double)w->n.dh, dv = (double)w->n.dv;
    double scores = pairs(&k, s->tokens->n, p);
    if (k.form == ATTN_LINEAR) {
        v->operations += H * T * (4 * dh * dv + 3 * dh + dv);
        return;
    }
    v->scores += H * scores;
    v->operations += 2 * H * scores * (dh + dv);
}

static int price(struct attn_variants *s, const struct picking *p, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < s->n && !rc; i++) {
        struct attn_variant *v = &s->v[i];
        struct attn_cost cost = {0};
        struct attn_plan plan = {.rows = s->tokens->n, .seqs = 1, .threads = s->o->threads, .kind = v->kind};
        for (size_t layer = 0; layer < s->model->w.n.L; layer++)
            add_layer(v, s, layer, p);
        rc = attn_run_measure(&cost, s->model, &plan, NULL, 0, err);
        v->bytes = cost.scratch;
    }
    return rc;
}

int attn_variants_price(struct attn_variants *s, struct attn_err *err)
{
    size_t T = s->tokens->n;
    struct picking p = {calloc(T + 1, sizeof *p.list), calloc(T + 1, sizeof *p.swaps)};
    int rc = p.list && p.swaps ? price(s, &p, err) : attn_fail(err, ATTN_ENOMEM, "no memory to list %zu keys", T);
    free(p.list);
    free(p.swaps);
    return rc;
}
