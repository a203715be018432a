/* keys_values.c - keys and values of one head: the layout that products read fastest, and where a head finds them in
 * it, in the cache of its sentence or in a copy that a worker makes. */
#include "compute/multi_head.h"

#include "base/size.h"
#include "compute/vec.h"

#include <stdint.h>
#include <string.h>

enum { PANEL = ATTN_PANEL, LINE = 16 };         /* floats */

/* ---- the layout ---- */

size_t attn_keys_size(size_t n, size_t dh, size_t dv)
{
    size_t k, v, all;
    if (n > SIZE_MAX - PANEL || dv > SIZE_MAX - LINE || __builtin_mul_overflow(up(n, PANEL), dh, &k) ||
        __builtin_mul_overflow(n, up(dv, LINE), &v) || __builtin_add_overflow(k, v, &all) || all > SIZE_MAX - PANEL)
        return SIZE_MAX;
    return all + PANEL;
}

struct attn_keys attn_keys_in(float *at, size_t n, size_t dh, size_t dv)
{
    return (struct attn_keys){.k = at, .v = at + up(n, PANEL) * dh, .dh = dh, .dv = dv, .ldv = up(dv, LINE)};
}

static void put_one(const struct attn_keys *to, size_t at, const float *k)
{
    float *column = to->k + at / PANEL * PANEL * to->dh + at % PANEL;
    for (size_t i = 0; i < to->dh; i++)
        column[i * PANEL] = k[i];
}

/* Transposes n (at most 16) keys into 16 columns; those behind the last key get copies of it. */
static void transpose(const struct attn_keys *to, size_t at, const float *k, size_t ld, size_t n)
{
    const void *row[ATTN_TRANSPOSE];
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++)
        row[l] = k + (l < n ? l : n - 1) * ld;
    attn_vec_of(ATTN_F32)->transpose(to->k + at / PANEL * PANEL * to->dh + at % PANEL, row, to->dh);
}

void attn_keys_put(const struct attn_keys *to, size_t first, const float *k, size_t ld, size_t n)
{
    for (size_t i = 0, part; i < n; i += part) {
        size_t at = first + i;
        part = at % ATTN_TRANSPOSE ? 1 : n - i < ATTN_TRANSPOSE ? n - i : ATTN_TRANSPOSE;
        if (part == 1)
            put_one(to, at, k + i * ld);
        else
            transpose(to, at, k + i * ld, ld, part);
    }
}

void attn_values_put(const struct attn_keys *to, size_t first, const float *v, size_t ld, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to->v + (first + i) * to->ldv, v + i * ld, to->dv * sizeof *v);
}

static const float *column(const struct attn_keys *from, size_t at)
{
    return from->k + at / PANEL * PANEL * from->dh + at % PANEL;
}

void attn_keys_row(float *to, const struct attn_keys *from, size_t at)
{
    if (from->rows) {
        memcpy(to, from->rows + at * from->ldk, from->dh * sizeof *to);
        return;
    }
    const float *k = column(from, at);
    for (size_t i = 0; i < from->dh; i++)
        to[i] = k[i * PANEL];
}

/* Transposes the listed rows (at most 16) into 16 columns; those behind the last get copies of it. */
static void gather_rows(float *to, const struct attn_keys *from, const size_t *list, size_t n)
{
    const void *row[ATTN_TRANSPOSE];
    for (size_t l = 0; l < ATTN_TRANSPOSE; l++)
        row[l] = from->rows + list[l < n ? l : n - 1] * from->ldk;
    attn_vec_of(ATTN_F32)->transpose(to, row, from->dh);
}

static void gather_columns(float *to, const struct attn_keys *from, const size_t *list, size_t n)
{
    const float *k[ATTN_TRANSPOSE];
    for (size_t l = 0; l < n; l++)
        k[l] = column(from, list[l]);
    for (size_t i = 0; i < from->dh; i++)
        for (size_t l = 0; l < n; l++)
            to[i * PANEL + l] = k[l][i * PANEL];
}

void attn_keys_gather(float *to, const struct attn_keys *from, const size_t *list, size_t n)
{
    for (size_t i = 0; i < n; i += ATTN_TRANSPOSE) {
        size_t some = n - i < ATTN_TRANSPOSE ? n - i : ATTN_TRANSPOSE;
        (from->rows ? gather_rows : gather_columns)(to + i, from, list + i, some);
    }
}

/* ---- keys and values: cached or copied ---- */

static struct attn_keys cached(const struct attn_heads *a, const struct attn_heads_seq *s, size_t kv)
{
    size_t dh = a->head.dh, dv = a->head.dv;
    return attn_keys_in(s->cache + kv * attn_keys_size(s->capacity, dh, dv), s->capacity, dh, dv);
}

struct attn_keys attn_heads_keys(const struct attn_heads *a, const struct attn_heads_seq *s, size_t kv)
{
    if (s->cache)
        return cached(a, s, kv);
    return (struct attn_keys){.rows = s->k + kv * a->next_k, .ldk = a->ldk, .dh = a->head.dh, .dv = a->head.dv};
}

/* How many keys, or values, of this head the worker has copied. */
static size_t *copied(struct attn_copied *c, const struct attn_heads_seq *s, size_t kv)
{
    if (c->seq != s || c->kv != kv)
        *c = (struct attn_copied){s, kv, 0};
    return &c->n;
}

/* Copies the first n keys, or values, or both, as the steps need them.  The bands of a head follow each other, so
 * most are there already. */
static struct attn_keys own_keys(const struct attn_heads *a, const struct attn_heads_seq *s, size_t kv,
                                 const struct attn_keys *from, size_t n, const struct attn_method *method,
                                 unsigned steps, int worker)
{
    const struct attn_scratch *all = a->scratch;
    struct attn_worker *w = &all->worker[worker];
    float *at = all->keys_of_worker + (size_t)worker * all->keys_floats;
    struct attn_keys own = attn_keys_in(at, all->copied, a->head.dh, a->head.dv);
    size_t *k = copied(&w->k, s, kv), *v = copied(&w->v, s, kv);
    own.rows = from->rows;
    own.ldk = from->ldk;
    if (steps & method->keys && *k < n) {
        if (method->put)
            method->put(&own, *k, from, n - *k, attn_scratch_method(all, worker).x);
        else
            attn_keys_put(&own, *k, from->rows + *k * from->ldk, from->ldk, n - *k);
        *k = n;
    }
    if (steps & method->values && !s->cache && *v < n) {
        attn_values_put(&own, *v, s->v + kv * a->next_v + *v * a->ldv, a->ldv, n - *v);
        *v = n;
    }
    return own;
}

struct attn_keys attn_heads_keys_for(const struct attn_heads *a, const struct attn_heads_seq *s, size_t kv, size_t n,
                                     const struct attn_method *method, unsigned steps, int worker)
{
    struct attn_keys all = attn_heads_keys(a, s, kv);
    if (s->cache && !method->put)
        return all;
    struct attn_keys own = own_keys(a, s, kv, &all, n, method, steps, worker);
    if (s->cache) {
        own.v = all.v;
        own.ldv = all.ldv;
    }
    return own;
}

/* Item i: key/value head i % Hkv of sentence i / Hkv. */
static void cache_head(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct attn_heads *a = ctx;
    const struct attn_heads_seq *s = &a->seq[i / a->Hkv];
    size_t kv = i % a->Hkv;
    if (!s->cache)
        return;
    struct attn_keys keys = cached(a, s, kv);
    attn_keys_put(&keys, s->pos, s->k + kv * a->next_k, a->ldk, s->Tq);
    attn_values_put(&keys, s->pos, s->v + kv * a->next_v, a->ldv, s->Tq);
}

void attn_heads_cache(struct attn_heads *a, struct attn_team *team)
{
    const double each = 4;              /* operations that the copy of a number stands for */
    double numbers = 0;
    for (size_t i = 0; i < a->seqs; i++)
        numbers += a->seq[i].cache ? (double)(a->seq[i].Tq * a->Hkv * (a->head.dh + a->head.dv)) : 0;
    if (numbers > 0)
        attn_team_run(team, a->seqs * a->Hkv, each * numbers, cache_head, a);
}
