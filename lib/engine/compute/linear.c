/* linear.c - attention without a softmax, in time that grows with the sentence and not with its square.
 *
 *     weight(q, k) = phi(q).phi(k) / sum over keys j of phi(q).phi(j),     phi(x) = elu(x) + 1
 *     context(q)   = phi(q) S / phi(q).z,    S = sum of phi(k) v' [dh, dv],    z = sum of phi(k) [dh]
 *
 * Keys are added to S and z one after the other: at each query, both hold just what it may see if attention is causal.
 * A sentence that grows keeps both in its cache.  Where the sum is below FLT_MIN the row is lost: weights and context
 * are 0.  The pattern is computed only for observers.  But if one edits it, or with dropout, contexts are computed from
 * the pattern, as in other kinds. */
#include "compute/multi_head.h"

#include "base/size.h"
#include "compute/vec.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PANEL = ATTN_PANEL, LINE = 16 };

/* y = x / sum, the n numbers of row t.  Below FLT_MIN floats are denormal and weights have few bits left, and soon 1
 * / sum is infinite: the row is lost and becomes zeros.  A sum that is NaN, or beyond what a float can hold, makes it
 * nonfinite; where 1 / sum is 0 or NaN, its numbers become NaN rather than 0. */
static void divide(float *y, const float *x, double sum, size_t n, size_t t, struct attn_found *found)
{
    bool lost = sum < (double)FLT_MIN;
    if (!(sum <= (double)FLT_MAX))
        attn_count_row(&found->nonfinite, t);
    if (lost) {
        attn_count_row(&found->empty, t);
        memset(y, 0, n * sizeof *y);
    } else {
        const float inverse = (float)(1 / sum);
        attn_vec_scale(y, x, inverse > 0 ? inverse : NAN, n);
    }
}

/* ---- the sums ---- */

/* How many keys were added so far, and their z[dh].  A cache of attn_linear_size floats has S, [dh, up(dv, PANEL)],
 * and then this. */
struct tally { size_t keys; double z[]; };

static size_t tally_size(size_t dh)
{
    return up((sizeof(struct tally) + dh * sizeof(double)) / sizeof(float), LINE);
}

size_t attn_linear_size(size_t dh, size_t dv)
{
    return dh * up(dv, PANEL) + tally_size(dh);
}

struct sums { float *s; size_t ld; struct tally *tally; };

static struct sums sums_in(float *x, size_t dh, size_t dv)
{
    size_t ld = up(dv, PANEL);
    return (struct sums){x, ld, (struct tally *)(void *)(x + dh * ld)};
}

/* ---- the scratch of a worker ---- */

/* The sums of a sentence without a cache, phi of a band's rows, ldphi apart, and one row of values. */
struct scratch { float *sums, *phi; size_t ldphi; float *value; };

static struct scratch scratch_in(float *x, size_t dh, size_t dv)
{
    float *phi = x + attn_linear_size(dh, dv);
    size_t ldphi = up(dh, LINE);
    return (struct scratch){x, phi, ldphi, phi + ldphi * ATTN_BAND};
}

static size_t scratch_floats(size_t keys, size_t dh, size_t dv)
{
    (void)keys;
    return attn_linear_size(dh, dv) + up(dh, LINE) * ATTN_BAND + up(dv, PANEL);
}

/* ---- contexts ---- */

struct walk {
    const struct attn_heads *a;
    const struct attn_heads_seq *t;
    struct attn_keys keys;              /* all keys of one key/value head; values are in v */
    const float *v; size_t ldv;
    struct sums sums;
    float *phi, *value;
};

static struct walk walk_of(const struct attn_heads *a, size_t item, int worker)
{
    size_t dh = a->head.dh, dv = a->head.dv, kv = item % a->Hkv;
    struct attn_heads_seq *t = &a->seq[item / a->Hkv];
    struct scratch s = scratch_in(attn_scratch_method(a->scratch, worker).x, dh, dv);
    float *state = t->state ? t->state + kv * attn_linear_size(dh, dv) : s.sums;
    struct walk w = {.a = a, .t = t, .keys = attn_heads_keys(a, t, kv), .sums = sums_in(state, dh, dv), .phi = s.phi,
                     .value = s.value};
    w.v = t->cache ? w.keys.v : t->v + kv * a->next_v;
    w.ldv = t->cache ? w.keys.ldv : a->ldv;
    if (!t->state || w.sums.tally->keys > t->pos)       /* more keys: of a pass that failed, which do not count */
        memset(state, 0, attn_linear_size(dh, dv) * sizeof *state);
    return w;
}

/* S += phi(k) v', z += phi(k), for keys up to `end`. */
static void absorb(struct walk *w, size_t end)
{
    size_t dh = w->a->head.dh, dv = w->a->head.dv;
    for (size_t *j = &w->sums.tally->keys; *j < end; ++*j) {
        attn_keys_row(w->phi, &w->keys, *j);
        attn_vec_feature(w->phi, w->phi, dh);
        memcpy(w->value, w->v + *j * w->ldv, dv * sizeof(float));
        for (size_t i = 0; i < dh; i++)
            w->sums.tally->z[i] += (double)w->phi[i];
        for (size_t col = 0; col < dv; col += PANEL)
            attn_vec_panel(w->sums.s + col, w->sums.ld, w->phi, 1, w->value + col, 0, dh, 1, true);
    }
}

/* context = phi(q) S / phi(q).z, for row t. */
static struct attn_found read_out(const struct walk *w, float *context, const float *q, size_t t)
{
    size_t dh = w->a->head.dh;
    struct attn_found found = {0};
    double sum = 0;
    attn_vec_feature(w->phi, q, dh);
    for (size_t i = 0; i < dh; i++)
        sum += (double)w->phi[i] * w->sums.tally->z[i];
    attn_head_mix(&w->a->head, w->value, w->sums.ld, w->phi, dh, 1, w->sums.s, w->sums.ld, dh, false);
    divide(context, w->value, sum, w->a->head.dv, t, &found);
    return found;
}

static void item(void *ctx, size_t i, int worker)
{
    struct attn_heads *a = ctx;
    struct walk w = walk_of(a, i, worker);
    const struct attn_heads_seq *t = w.t;
    size_t group = a->H / a->Hkv, first = i % a->Hkv * group;
    for (size_t row = 0; row < t->Tq; row++) {
        absorb(&w, attn_kind_bounds(&a->head.kind, t->pos + row, t->Tk).hi);
        for (size_t head = first; head < first + group; head++) {
            struct attn_found found = read_out(&w, t->context + head * a->next_context + row * a->head.ldc,
                                               t->q + head * a->next_q + row * a->ldq, row);
            attn_heads_found(a, worker, i / a->Hkv, head, &found);
        }
    }
}

static void run(struct attn_heads *a, struct attn_team *team)
{
    double tokens = 0, each = 2.0 * (double)a->head.dh * (double)a->head.dv;
    for (size_t i = 0; i < a->seqs; i++)
        tokens += (double)a->seq[i].Tq;
    attn_team_run(team, a->seqs * a->Hkv, tokens * each * (double)(a->H + a->Hkv), item, a);
}

/* ---- the pattern ---- */

/* Puts phi of n keys, from number `first` on, into `to`. */
static void put(const struct attn_keys *to, size_t first, const struct attn_keys *from, size_t n, float *one)
{
    for (size_t j = first; j < first + n; j++) {
        attn_keys_row(one, from, j);
        attn_vec_feature(one, one, to->dh);
        attn_keys_put(to, j, one, to->dh, 1);
    }
}

static void dots(const struct attn_head *h, const struct attn_band *b)
{
    struct scratch s = scratch_in(h->scratch.x, h->dh, h->dv);
    struct attn_band phi = *b;
    phi.q = s.phi;
    phi.ldq = s.ldphi;
    for (size_t i = 0; i < b->rows; i++)
        attn_vec_feature(s.phi + i * s.ldphi, b->q + i * b->ldq, h->dh);
    attn_band_dots(h, &phi);
}

static struct attn_found pattern(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_found found = {0};
    for (size_t i = 0; i < b->rows; i++) {
        float *row = b->m + i * b->ld;
        size_t n = attn_head_seen(h, b->row0 + i).hi;
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += (double)row[j];
        divide(row, row, sum, n, b->row0 + i, &found);
        attn_drop_keys(&h->drop, row, h->pos + b->row0 + i, NULL, 0, n);
        memset(row + n, 0, (h->Tk - n) * sizeof *row);
    }
    return found;
}

const struct attn_method attn_linear = {
    dots, .pattern = pattern, .keys = ATTN_DOTS, .put = put, .scratch = scratch_floats,
    .run = run};
const struct attn_method attn_linear_shown = {
    dots, .pattern = pattern, .context = attn_band_context, .steps = ATTN_DOTS | ATTN_PATTERN | ATTN_CONTEXT,
    .keys = ATTN_DOTS, .values = ATTN_CONTEXT, .put = put, .scratch = scratch_floats};
