/* attention_backward.c - attention of all heads, and its gradients.
 *
 *     pattern = softmax(scale q k'),  dropped = dropout(pattern),  context = dropped v
 *
 *     dv      = dropped' dcontext
 *     ddots   = scale pattern (dpattern - sum over the row of pattern dpattern),  dpattern = dropped dcontext v'
 *     dq      = ddots k,  dk = ddots' q
 *
 * An item is one key/value head of one sentence with all query heads that read it, so that dk and dv are summed in one
 * order whichever thread takes it.  They are summed transposed, [dh, keys], as wide products are fastest. */
#include "compute/attention.h"
#include "base/size.h"
#include "gradient/work.h"

#include <stdint.h>
#include <string.h>

enum { PANEL = ATTN_PANEL };

struct job { struct attn_work *t; size_t layer; const float *dcontext; struct attn_drop drop; };

/* The scratch memory of a thread. */
struct scratch {
    struct attn_keys k, v;              /* each transposed, and in rows */
    float *m, *dm, *scores;             /* [ATTN_BAND, ld]; scores: with a soft cap */
    float *dk, *dv;                     /* [dh, ld], [dv, ld] */
    float *rows;                        /* [longest, 64] */
    size_t ld;
};

/* ---- scratch ---- */

/* Avoids powers of two, with which rows compete for the same cache sets. */
static size_t ld_of(size_t keys) { return up(keys, PANEL) + 16; }

size_t attn_work_scratch(const struct attn_work *t)
{
    const struct attn_dims *n = &t->w->n;
    size_t k = attn_keys_size(t->longest, n->dh, n->dh), v = attn_keys_size(t->longest, n->dv, n->dv), bands, all;
    if (k == SIZE_MAX || v == SIZE_MAX ||
        __builtin_mul_overflow(n->dh + n->dv + 3 * (size_t)ATTN_BAND, ld_of(t->longest), &bands) ||
        __builtin_add_overflow(k, v, &all) || __builtin_add_overflow(all, bands, &all) ||
        __builtin_add_overflow(all, (t->longest + 1) * PANEL, &all))
        return SIZE_MAX;
    return up(all, 16);
}

static struct scratch scratch_of(const struct attn_work *t, int worker)
{
    const struct attn_dims *n = &t->w->n;
    float *at = t->scratch + (size_t)worker * attn_work_scratch(t);
    struct scratch d = {.ld = ld_of(t->longest)};
    d.k = attn_keys_in(at, t->longest, n->dh, n->dh);
    at += attn_keys_size(t->longest, n->dh, n->dh);
    d.v = attn_keys_in(at, t->longest, n->dv, n->dv);
    at += attn_keys_size(t->longest, n->dv, n->dv);
    d.m = at;
    d.dm = d.m + ATTN_BAND * d.ld;
    d.scores = d.dm + ATTN_BAND * d.ld;
    d.dk = d.scores + ATTN_BAND * d.ld;
    d.dv = d.dk + n->dh * d.ld;
    d.rows = d.dv + n->dv * d.ld;
    return d;
}

/* ---- what an item works on ---- */

struct item { struct scratch scratch; size_t row, T, kv; };           /* row: the first of its sentence */

static struct item item_of(const struct job *j, size_t i, int worker)
{
    const struct attn_work_seq *s = &j->t->seq[i / j->t->w->n.Hkv];
    return (struct item){scratch_of(j->t, worker), s->row, s->T, i % j->t->w->n.Hkv};
}

static struct attn_head head_of(const struct job *j, const struct item *it, size_t head)
{
    const struct attn_kind *asked = &j->t->kind;
    const struct attn_weights *w = j->t->w;
    const struct attn_dims *n = &w->n;
    const struct attn_kept *kept = &j->t->layer[j->layer];
    struct attn_head h = {
        .keys = {.k = it->scratch.k.k, .v = it->scratch.v.v, .dh = n->dh, .dv = n->dv, .ldv = it->scratch.v.ldv},
        .context = kept->context + it->row * n->H * n->dv + head * n->dv, .ldc = n->H * n->dv,
        .Tq = it->T, .Tk = it->T, .dh = n->dh, .dv = n->dv,
        .scale = attn_kind_scale(asked, w->block[j->layer].scale, n->dh),
        .kind = attn_kind_in(asked, w->causal, w->block[j->layer].window), .cap = w->cap,
        .bias = j->t->bias ? j->t->bias + head * j->t->longest : NULL};
    h.scored = !attn_head_scales(&h);
    return h;
}

/* The band of queries of a head that starts at row0. */
static struct attn_band queries(const struct job *j, const struct item *it, size_t head, size_t row0)
{
    const struct attn_dims *n = &j->t->w->n;
    size_t ld = n->H * n->dh;
    const float *q = j->t->layer[j->layer].q + (it->row + row0) * ld + head * n->dh;
    return (struct attn_band){row0, smaller(it->T - row0, ATTN_BAND), q, ld, it->scratch.m, it->scratch.ld};
}

static void put_keys(const struct job *j, const struct item *it, bool back)
{
    const struct attn_dims *n = &j->t->w->n;
    const struct attn_kept *kept = &j->t->layer[j->layer];
    const float *k = kept->k + (it->row * n->Hkv + it->kv) * n->dh, *v = kept->v + (it->row * n->Hkv + it->kv) * n->dv;
    attn_keys_put(&it->scratch.k, 0, k, n->Hkv * n->dh, it->T);
    if (back) {
        attn_values_put(&it->scratch.k, 0, k, n->Hkv * n->dh, it->T);
        attn_keys_put(&it->scratch.v, 0, v, n->Hkv * n->dv, it->T);
    } else {
        attn_values_put(&it->scratch.v, 0, v, n->Hkv * n->dv, it->T);
    }
}

/* ---- one band ---- */

static void pattern(const struct attn_head *h, const struct attn_band *b)
{
    attn_band_dots(h, b);
    if (h->scored)
        attn_band_scores(h, b);
    attn_band_pattern(h, b);
}

/* Sets the dropped numbers of a band to 0, the same ones forwards and backwards. */
static void drop_band(const struct job *j, const struct item *it, const struct attn_head *h, const struct attn_band *b,
                      size_t head)
{
    for (size_t i = 0; i < b->rows; i++) {
        struct attn_range seen = attn_head_seen(h, b->row0 + i);
        float *m = b->m + i * b->ld + seen.lo;
        attn_vec_drop(m, m, &j->drop, (j->t->first + it->row + b->row0 + i) * j->t->w->n.H + head, seen.hi - seen.lo);
    }
}

/* The columns, rounded to whole panels, that some row of the band sees. */
static struct attn_range reach_of(const struct attn_head *h, const struct attn_band *b)
{
    size_t lo = attn_head_seen(h, b->row0).lo, hi = attn_head_seen(h, b->row0 + b->rows - 1).hi;
    return (struct attn_range){lo / PANEL * PANEL, up(hi, PANEL)};
}

/* Clears m wherever a row sees nothing. */
static void clear_unseen(const struct attn_head *h, const struct attn_band *b, struct attn_range r)
{
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        struct attn_range seen = attn_head_seen(h, b->row0 + i);
        memset(row + r.lo, 0, (seen.lo - r.lo) * sizeof *row);
        memset(row + seen.hi, 0, (r.hi - seen.hi) * sizeof *row);
    }
}

static void softmax_backward(const struct attn_head *h, const struct attn_band *p, const struct attn_band *dp,
                             float scale)
{
    for (size_t i = 0; i < p->rows; i++) {
        struct attn_range seen = attn_head_seen(h, p->row0 + i);
        attn_vec_softmax_backward(dp->m + i * dp->ld + seen.lo, p->m + i * p->ld + seen.lo, scale, seen.hi - seen.lo);
    }
}

/* Takes a band of a head's pattern as it was when the model ran. */
static void recall(const struct attn_band *b, const float *stored, size_t head, size_t T)
{
    for (size_t i = 0; i < b->rows; i++)
        memcpy(b->m + i * b->ld, stored + ((head * T) + b->row0 + i) * T, T * sizeof *stored);
}

/* y[n, keys] += x' m over the rows of the band; x may be the band itself or another one. */
static void grow(float *y, const struct attn_band *x, size_t n, const struct attn_band *b, struct attn_range r)
{
    for (size_t j = r.lo; j < r.hi; j += PANEL)
        attn_vec_outer(y + j, b->ld, x->q, x->ldq, b->m + j, b->ld, n, b->rows);
}

/* ---- forward ---- */

static void attend(void *ctx, size_t i, int worker)
{
    const struct job *j = ctx;
    const struct attn_dims *n = &j->t->w->n;
    struct item it = item_of(j, i, worker);
    size_t group = n->H / n->Hkv;
    put_keys(j, &it, false);
    for (size_t head = it.kv * group; head < (it.kv + 1) * group; head++) {
        struct attn_head h = head_of(j, &it, head);
        for (size_t row0 = 0; row0 < it.T; row0 += ATTN_BAND) {
            struct attn_band b = queries(j, &it, head, row0);
            pattern(&h, &b);
            if (j->drop.below)
                drop_band(j, &it, &h, &b, head);
            attn_band_context(&h, &b);
        }
    }
}

/* Operations of all dots, or of all contexts, including the masked half. */
static double work(const struct attn_work *t)
{
    double pairs = 0;
    for (size_t i = 0; i < t->seqs; i++)
        pairs += (double)t->seq[i].T * (double)t->seq[i].T;
    return 2.0 * pairs * (double)(t->w->n.H * t->w->n.dh);
}

static struct job job_of(struct attn_work *t, size_t layer, const float *dcontext)
{
    return (struct job){t, layer, dcontext, attn_work_drop(t, ATTN_DROP_PATTERN, layer, t->drop_pattern)};
}

void attn_work_attend(struct attn_work *t, size_t layer)
{
    struct job j = job_of(t, layer, NULL);
    attn_team_run(t->team, t->seqs * t->w->n.Hkv, 2 * work(t), attend, &j);
}

/* ---- backward ---- */

/* The head for computing dpattern: values take the place of keys ... */
static struct attn_head by_pattern(const struct job *j, const struct item *it, const struct attn_head *h)
{
    struct attn_head d = *h;
    d.dh = j->t->w->n.dv;
    d.keys.k = it->scratch.v.k;
    return d;
}

/* ... and the band for it: dcontext takes the place of queries, so that their dots are dpattern. */
static struct attn_band contexts(const struct job *j, const struct item *it, size_t head, const struct attn_band *p)
{
    const struct attn_dims *n = &j->t->w->n;
    size_t ld = n->H * n->dv;
    const float *dcontext = j->dcontext + (it->row + p->row0) * ld + head * n->dv;
    return (struct attn_band){p->row0, p->rows, dcontext, ld, it->scratch.dm, p->ld};
}

/* The head for computing dq: keys take the place of values, so that its context is dq. */
static struct attn_head by_query(const struct job *j, const struct item *it, const struct attn_head *h, size_t head)
{
    const struct attn_dims *n = &j->t->w->n;
    struct attn_head d = *h;
    d.context = j->t->dq + it->row * n->H * n->dh + head * n->dh;
    d.ldc = n->H * n->dh;
    d.dv = n->dh;
    d.keys.v = it->scratch.k.v;
    d.keys.ldv = it->scratch.k.ldv;
    return d;
}

/* Clears the columns of a band that its rows do not see: all of them, also between keys that they see. */
static void clear_hidden(const struct item *it, const struct attn_head *h, const struct attn_band *b)
{
    size_t *list = (size_t *)(void *)it->scratch.rows;              /* not in use before dk and dv are complete */
    clear_unseen(h, b, (struct attn_range){0, up(it->T, PANEL)});
    for (size_t i = 0; i < b->rows; i++) {
        size_t q = b->row0 + i, n, at = 0;
        float *row = b->m + i * b->ld;
        if (h->kind.form == ATTN_CAUSAL_RENORM)
            memset(row + q + 1, 0, (it->T - q - 1) * sizeof *row);
        if (!attn_kind_picks(&h->kind))
            continue;
        memset(list + it->T, 0, it->T * sizeof *list);
        n = attn_kind_pick(list, list + it->T, &h->kind, q, it->T);
        for (size_t k = 0; k < it->T; k++) {
            bool seen = at < n && list[at] == k;
            at += seen;
            row[k] = seen ? row[k] : 0;
        }
    }
}

/* From the gradient by the scores to that before their soft cap. */
static void uncap(const struct job *j, const struct item *it, const struct attn_head *h, const struct attn_band *p,
                  const struct attn_band *d, size_t head)
{
    const float *kept = j->t->layer[j->layer].scores;
    struct attn_band scores = *p;
    struct attn_head own = *h;
    size_t *list = (size_t *)(void *)it->scratch.rows;              /* not in use before dk and dv are complete */
    scores.m = it->scratch.scores;
    own.scratch = (struct attn_method_scratch){.list = list, .swaps = list + it->T};
    memset(list, 0, 2 * it->T * sizeof *list);
    if (kept) {
        recall(&scores, kept, head, it->T);
    } else {
        attn_band_dots(&own, &scores);
        attn_band_scores(&own, &scores);
    }
    for (size_t i = 0; i < d->rows; i++) {
        struct attn_range seen = attn_head_seen(h, d->row0 + i);
        attn_vec_cap_backward(d->m + i * d->ld + seen.lo, scores.m + i * scores.ld + seen.lo, h->cap,
                              seen.hi - seen.lo);
    }
    clear_hidden(it, h, d);             /* -inf has no gradient */
}

static void tell(const struct job *j, const struct item *it, int act, const struct attn_band *b, size_t head)
{
    const struct attn_work *t = j->t;
    size_t H = t->w->n.H, T = it->T;
    struct attn_probe p = {.act = act, .layer = (int)j->layer, .ndim = 3, .shape = {H, T, T}, .head0 = head, .heads = 1,
                           .row0 = b->row0, .rows = b->rows, .cols = T, .ld_head = T * b->ld, .ld = b->ld};
    if (attn_work_taps(t, act, p.layer))
        t->taps->pass(t->taps->self, &p, b->m);
}

/* From dpattern to ddots, as softmax_backward does, in steps that others can see and change. */
static void softmax_backward_watched(const struct job *j, const struct item *it, const struct attn_head *h,
                                     const struct attn_band *p,
                                     const struct attn_band *d, size_t head)
{
    clear_hidden(it, h, d);
    tell(j, it, ATTN_ACT_PATTERN, d, head);
    softmax_backward(h, p, d, 1);
    tell(j, it, ATTN_ACT_SCORES, d, head);
    if (h->cap > 0)
        uncap(j, it, h, p, d, head);
    for (size_t i = 0; i < d->rows; i++)
        for (size_t k = 0; k < it->T; k++)
            d->m[i * d->ld + k] *= h->scale;
    tell(j, it, ATTN_ACT_DOTS, d, head);
}

/* Edits of dots may have read hidden ones, as subtracting a component does: then dq and dk have terms of these, too. */
static bool reads_hidden(const struct job *j)
{
    return (attn_work_taps(j->t, ATTN_ACT_DOTS, (int)j->layer) & ATTN_EDIT) != 0;
}

static void band_backward(const struct job *j, const struct item *it, size_t head, size_t row0)
{
    const struct attn_dims *n = &j->t->w->n;
    const struct attn_kept *kept = &j->t->layer[j->layer];
    struct attn_head h = head_of(j, it, head), dp = by_pattern(j, it, &h), dq = by_query(j, it, &h, head);
    struct attn_band p = queries(j, it, head, row0), d = contexts(j, it, head, &p);
    struct attn_range r = reach_of(&h, &p), dots = r;
    if (kept->softmax)
        recall(&p, kept->softmax, head, it->T);
    else
        pattern(&h, &p);
    attn_band_dots(&dp, &d);
    if (j->drop.below)
        drop_band(j, it, &h, &d, head);
    if (j->t->taps || h.cap > 0)
        softmax_backward_watched(j, it, &h, &p, &d, head);
    else
        softmax_backward(&h, &p, &d, h.scale);
    dq.edited = reads_hidden(j);
    if (dq.edited)
        dots = (struct attn_range){0, up(it->T, PANEL)};
    else
        clear_unseen(&h, &d, dots);
    attn_band_context(&dq, &d);
    grow(it->scratch.dk, &p, n->dh, &d, dots);
    if (kept->pattern)
        recall(&p, kept->pattern, head, it->T);
    if (j->drop.below)
        drop_band(j, it, &h, &p, head);
    clear_unseen(&h, &p, r);
    grow(it->scratch.dv, &d, n->dv, &p, r);
}

/* Transposes x[n, ld] back to y[T, n]. */
static void transpose_backward(float *y, size_t ldy, const float *x, const struct item *it, size_t n)
{
    for (size_t j = 0; j < n; j += PANEL) {
        size_t cols = smaller(n - j, PANEL);
        for (size_t l = 0; l < cols; l += ATTN_TRANSPOSE) {
            const void *row[ATTN_TRANSPOSE];
            for (size_t i = 0; i < ATTN_TRANSPOSE; i++)
                row[i] = x + (j + smaller(l + i, cols - 1)) * it->scratch.ld;
            attn_vec_of(ATTN_F32)->transpose(it->scratch.rows + l, row, it->T);
        }
        for (size_t t = 0; t < it->T; t++)
            memcpy(y + t * ldy + j, it->scratch.rows + t * PANEL, cols * sizeof *y);
    }
}

static void attend_backward(void *ctx, size_t i, int worker)
{
    const struct job *j = ctx;
    const struct attn_dims *n = &j->t->w->n;
    struct item it = item_of(j, i, worker);
    size_t group = n->H / n->Hkv, ldk = n->Hkv * n->dh, ldv = n->Hkv * n->dv;
    put_keys(j, &it, true);
    memset(it.scratch.dk, 0, (n->dh + n->dv) * it.scratch.ld * sizeof *it.scratch.dk);
    for (size_t head = it.kv * group; head < (it.kv + 1) * group; head++)
        for (size_t row0 = 0; row0 < it.T; row0 += ATTN_BAND)
            band_backward(j, &it, head, row0);
    transpose_backward(j->t->dk + it.row * ldk + it.kv * n->dh, ldk, it.scratch.dk, &it, n->dh);
    transpose_backward(j->t->dv + it.row * ldv + it.kv * n->dv, ldv, it.scratch.dv, &it, n->dv);
}

void attn_work_attend_backward(struct attn_work *t, size_t layer, const float *dcontext)
{
    struct job j = job_of(t, layer, dcontext);
    attn_team_run(t->team, t->seqs * t->w->n.Hkv, 5 * work(t), attend_backward, &j);
}
