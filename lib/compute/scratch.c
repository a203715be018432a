/* scratch.c - the memory of attention: bands, and for each worker what its method needs and copies of keys and values. */
#include "compute/heads.h"

#include "base/size.h"
#include "compute/vec.h"

enum { WAVE = 1 << 20 };                /* floats of the bands of a wave, if there are so many: enough for all threads */

static size_t times(size_t a, size_t b)
{
    size_t all;
    return __builtin_mul_overflow(a, b, &all) ? SIZE_MAX : all;
}

/* Whole panels plus 16, which avoids powers of two: rows at such distances map to the same cache sets. */
size_t attn_scratch_ld(const struct attn_scratch *s, size_t keys)
{
    bool blocks = s->kind.form == ATTN_BLOCK && !s->watched && s->kind.dropout <= 0;
    size_t columns = blocks ? attn_online_columns(s->kind.b, keys) : keys;
    return up(columns, ATTN_PANEL) + 16;
}

static size_t method_floats(const struct attn_scratch *s)
{
    struct attn_kind kind = s->kind;
    kind.dropout = 0;                   /* what changes weights takes no more */
    const struct attn_method *method = attn_method_of(&kind, false, false);
    return method->scratch ? method->scratch(s->keys, s->dh, s->dv) : 0;
}

/* How many keys a worker copies at most.  In linear attention it also has phi of cached keys. */
static size_t most_keys(const struct attn_scratch *s)
{
    return s->kind.form == ATTN_LINEAR ? s->keys : s->own;
}

void attn_scratch_lay_out(struct attn_scratch *s, struct attn_arena *a)
{
    size_t ld = attn_scratch_ld(s, s->keys), threads = (size_t)s->threads, rows = times(threads, smaller(s->longest, ATTN_BAND));
    if (s->watched)
        rows = larger(rows, smaller(WAVE / ld, times(s->H, s->rows)));
    if (s->whole)
        rows = larger(rows, times(s->H, s->longest));
    s->band_floats = times(rows, ld);
    s->keys_floats = attn_keys_size(most_keys(s), s->dh, s->dv);
    s->method_floats = method_floats(s);
    s->worker = attn_arena_bytes(a, threads, sizeof *s->worker);
    s->keys_of_worker = attn_arena_f32(a, threads, s->keys_floats, 1);
    s->bands = attn_arena_f32(a, s->band_floats, 1, 1);
    s->method_x = attn_arena_f32(a, threads, s->method_floats, 1);
    s->list = attn_arena_bytes(a, attn_kind_picks(&s->kind) ? times(2 * threads, s->positions) : 0, sizeof *s->list);
}

struct attn_method_scratch attn_scratch_method(const struct attn_scratch *s, int worker)
{
    size_t *list = s->list + 2 * (size_t)worker * s->positions;
    return (struct attn_method_scratch){s->method_x + (size_t)worker * s->method_floats, list, list + s->positions};
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

/* Copies the first n keys, or values, or both, as the steps need them.  The bands of a head follow each other, so most are
 * there already. */
static struct attn_keys own_keys(const struct attn_heads *a, const struct attn_heads_seq *s, size_t kv,
                                 const struct attn_keys *from, size_t n, const struct attn_method *method, unsigned steps,
                                 int worker)
{
    const struct attn_scratch *all = a->scratch;
    struct attn_worker *w = &all->worker[worker];
    float *at = all->keys_of_worker + (size_t)worker * all->keys_floats;
    struct attn_keys own = attn_keys_in(at, most_keys(all), a->head.dh, a->head.dv);
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

/* ---- rows that something is wrong with ---- */

static bool before(const struct attn_lost *a, const struct attn_lost *b)
{
    if (a->layer != b->layer)
        return a->layer < b->layer;
    if (a->seq != b->seq)
        return a->seq < b->seq;
    return a->head != b->head ? a->head < b->head : a->row < b->row;
}

void attn_lost_add(struct attn_lost *to, const struct attn_lost *more)
{
    size_t rows = to->rows + more->rows;
    if (more->rows && (!to->rows || before(more, to)))
        *to = *more;
    to->rows = rows;
}

void attn_heads_found(const struct attn_heads *a, int worker, size_t seq, size_t head, const struct attn_found *found)
{
    struct attn_worker *w = &a->scratch->worker[worker];
    struct attn_lost at = {.seq = seq, .head = head, .layer = a->layer};
    at.rows = found->empty.rows;
    at.row = found->empty.first;
    attn_lost_add(&w->lost, &at);
    at.rows = found->nonfinite.rows;
    at.row = found->nonfinite.first;
    attn_lost_add(&w->nonfinite, &at);
    if (at.rows && a->overflowed)
        atomic_store_explicit(&a->overflowed[seq], true, memory_order_relaxed);
}
