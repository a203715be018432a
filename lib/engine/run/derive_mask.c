/* derive_mask.c - which keys a query sees, as a matrix, and what renormalising divides by. */
#include "run/derive.h"

#include <math.h>
#include <string.h>

#include "base/size.h"
#include "compute/vec.h"

static bool wants_masks(const struct attn_derive *d, unsigned flags)
{
    return attn_derives(d, ATTN_ACT_MASK, flags) ||
           attn_derives(d, ATTN_ACT_MASK_INF, flags);
}

void attn_derive_mask_lay_out(struct attn_derive *d, struct attn_arena *a)
{
    const struct attn_scratch *s = &d->pass->scratch;
    size_t longest = larger(s->longest, s->keys), positions = larger(longest, s->positions);
    size_t picked = wants_masks(d, ATTN_WATCH) && attn_kind_picks(&s->kind) ? positions : 0;
    bool masks = wants_masks(d, ATTN_WATCH), divisors = attn_derives(d, ATTN_ACT_DIVISORS, ATTN_WATCH);
    d->mask.n = !masks ? 0 : wants_masks(d, ATTN_WHOLE) ? s->longest : smaller(s->longest, ATTN_BAND);
    d->mask.rows = attn_arena_f32(a, d->mask.n, longest, 1);
    d->mask.seen = attn_arena_bytes(a, masks ? longest : 0, sizeof *d->mask.seen);
    d->mask.list = attn_arena_bytes(a, picked, sizeof *d->mask.list);
    d->mask.swaps = attn_arena_bytes(a, picked, sizeof *d->mask.swaps);
    d->mask.scores = attn_arena_f32(a, divisors, longest, 1);
    d->mask.divisors = attn_arena_f32(a, divisors ? d->pass->w->n.H : 0, longest, 1);
}

/* ---- masks ---- */

/* A text that looks at another sees all of it. */
static struct attn_kind kind_of(const struct attn_pass *p, const struct attn_pass_seq *s, int layer)
{
    struct attn_kind k = attn_kind_in(&p->scratch.kind, p->w->causal, p->w->block[layer].window);
    k.form = s->keys ? ATTN_FULL : k.form;
    return k;
}

static void put_row(const struct attn_derive *d, float *to, const struct attn_kind *k, size_t q, size_t Tk, float seen,
                    float hidden)
{
    bool *of = d->mask.seen;
    memset(of, 0, Tk * sizeof *of);
    attn_kind_mark(of, d->mask.list, d->mask.swaps, k, q, Tk);
    for (size_t j = 0; j < Tk; j++)
        to[j] = of[j] ? seen : hidden;
}

static void announce(struct attn_derive *d, const struct attn_probe *q, int act, float seen, float hidden)
{
    const struct attn_pass_seq *s = &d->pass->seq[q->seq], *keys = s->keys ? s->keys : s;
    const struct attn_kind k = kind_of(d->pass, s, q->layer);
    size_t Tk = keys->pos + keys->T;
    struct attn_probe band = {.act = act, .layer = q->layer, .seq = q->seq, .ndim = 2, .shape = {s->T, Tk}, .heads = 1,
                              .cols = Tk, .ld = Tk};
    for (; band.row0 < s->T; band.row0 += band.rows) {
        band.rows = smaller(s->T - band.row0, d->mask.n);
        for (size_t i = 0; i < band.rows; i++)
            put_row(d, d->mask.rows + i * Tk, &k, s->pos + band.row0 + i, Tk, seen, hidden);
        attn_trace_announce(d->pass->trace, &band, d->mask.rows);
    }
}

void attn_derive_mask(struct attn_derive *d, const struct attn_probe *q)
{
    if (attn_derive_wants(d, ATTN_ACT_MASK, q->layer, ATTN_WATCH))
        announce(d, q, ATTN_ACT_MASK, 1, 0);
    if (attn_derive_wants(d, ATTN_ACT_MASK_INF, q->layer, ATTN_WATCH))
        announce(d, q, ATTN_ACT_MASK_INF, 0, -INFINITY);
}

/* ---- divisors ---- */

/* Of the softmax of n scores the weights of the first `keep` stay: their sum, as compute/attention.c takes it. */
static float divisor(float *row, const float *scores, size_t n, size_t keep)
{
    bool finite;
    double sum = 0;
    memcpy(row, scores, n * sizeof *row);
    float max = attn_vec_max(row, 1, n, &finite);
    if (max == -INFINITY)               /* an edit has hidden all keys */
        return 0;
    attn_vec_softmax(row, 1, max, n);
    for (size_t j = 0; j < keep; j++)
        sum += (double)row[j];
    return (float)sum;
}

void attn_derive_divisors(struct attn_derive *d, const struct attn_probe *scores)
{
    struct attn_probe band = *scores;
    band.act = ATTN_ACT_DIVISORS;
    band.shape[2] = band.cols = band.ld = 1;
    band.ld_head = band.rows;
    for (size_t h = 0; h < band.heads; h++)
        for (size_t t = 0; t < band.rows; t++) {
            size_t q = d->pass->seq[band.seq].pos + band.row0 + t;
            d->mask.divisors[h * band.rows + t] = divisor(d->mask.scores, scores->data + h * scores->ld_head +
                                                          t * scores->ld, scores->cols, smaller(q + 1, scores->cols));
        }
    attn_trace_announce(d->pass->trace, &band, d->mask.divisors);
}
