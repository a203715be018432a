#include "compute/heads.h"

#include "base/size.h"
#include "compute/linear.h"
#include "compute/way.h"

#include <assert.h>
#include <string.h>

struct job {
    struct attn_heads *a;
    const struct attn_way *way;
    size_t ld, slot;                    /* floats from one row to the next; floats of a slot, which holds one band of the wave */
    bool by_worker;                     /* ... or the band that one thread is working on */
    bool whole;                         /* ... or all bands of a sentence as one [H, Tq, ld] */
    size_t first;                       /* first item of the wave */
    unsigned steps;                     /* which steps one_item takes */
};

static size_t bands_of(size_t Tq) { return parts_of(Tq, ATTN_BAND); }

/* ---- items ---- */

/* Numbers the items and returns how many there are.  Slots are as large as the longest sentence needs. */
static size_t count(struct job *j)
{
    struct attn_heads *a = j->a;
    size_t items = 0, Tq = 0, Tk = 0;
    for (size_t i = 0; i < a->texts; i++) {
        struct attn_text *t = &a->text[i];
        assert(t->Tk <= a->room->keys && (t->all || t->pos + t->Tq <= a->room->positions));
        t->first = items;
        items += a->H * bands_of(t->Tq);
        Tq = larger(Tq, t->Tq);
        Tk = larger(Tk, t->Tk);
    }
    j->ld = attn_room_ld(a->room, Tk);
    j->slot = j->ld * (j->whole ? a->H * Tq : smaller(Tq, ATTN_BAND));
    return items;
}

static const struct attn_text *text_of(const struct attn_heads *a, size_t item)
{
    size_t lo = 0, hi = a->texts;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        *(a->text[mid].first <= item ? &lo : &hi) = mid;
    }
    return &a->text[lo];
}

struct place { const struct attn_text *text; size_t head; struct attn_band band; };

static struct place place_of(const struct job *j, size_t item, size_t slot)
{
    const struct attn_heads *a = j->a;
    const struct attn_text *t = text_of(a, item);
    size_t bands = bands_of(t->Tq), head = (item - t->first) / bands, row0 = (item - t->first) % bands * ATTN_BAND;
    float *m = a->room->bands;
    m += j->whole ? (size_t)(t - text_of(a, j->first)) * j->slot + (head * t->Tq + row0) * j->ld : slot * j->slot;
    const float *q = t->q + head * a->next_q + row0 * a->ldq;
    return (struct place){t, head, {row0, smaller(t->Tq - row0, ATTN_BAND), q, a->ldq, m, j->ld}};
}

static struct attn_head head_of(const struct attn_heads *a, const struct place *p, int worker)
{
    struct attn_head h = a->head;
    h.context = p->text->context + p->head * a->next_context;
    h.Tq = p->text->Tq;
    h.Tk = p->text->Tk;
    h.pos = p->text->pos;
    h.kind.form = p->text->all ? ATTN_FULL : h.kind.form;
    h.drop = attn_drop_of(&h.kind, a->layer, p->head);
    h.spare = attn_room_spare(a->room, worker);
    return h;
}

/* ---- keys ---- */

/* How many keys, or values, of this head the thread's place has already. */
static size_t *held(struct attn_held *h, const struct attn_text *t, size_t kv)
{
    if (h->text != t || h->kv != kv)
        *h = (struct attn_held){t, kv, 0};
    return &h->n;
}

static struct attn_keys cached(const struct attn_heads *a, const struct attn_text *t, size_t kv)
{
    size_t dh = a->head.dh, dv = a->head.dv;
    return attn_keys_in(t->cache + kv * attn_keys_size(t->capacity, dh, dv), t->capacity, dh, dv);
}

struct attn_keys attn_heads_keys(const struct attn_heads *a, const struct attn_text *t, size_t kv)
{
    if (t->cache)
        return cached(a, t, kv);
    return (struct attn_keys){.rows = t->k + kv * a->next_k, .ldk = a->ldk, .dh = a->head.dh, .dv = a->head.dv};
}

/* Copies the first n keys, or values, or both, as the steps need them, into the thread's place.  The bands of a head follow
 * each other, so most are there already. */
static struct attn_keys own_keys(const struct job *j, const struct place *p, const struct attn_keys *from, size_t n, int worker)
{
    const struct attn_heads *a = j->a;
    const struct attn_text *t = p->text;
    size_t kv = p->head / (a->H / a->Hkv), to = attn_room_own(a->room);
    struct attn_keys own = attn_keys_in(a->room->place + (size_t)worker * a->room->each, to, a->head.dh, a->head.dv);
    size_t *k = held(&a->room->seat[worker].k, t, kv), *v = held(&a->room->seat[worker].v, t, kv);
    own.rows = from->rows;
    own.ldk = from->ldk;
    if (j->steps & j->way->keys && *k < n) {
        if (j->way->features)
            attn_linear_put(&own, *k, from, n - *k, attn_room_spare(a->room, worker).x);
        else
            attn_keys_put(&own, *k, from->rows + *k * from->ldk, from->ldk, n - *k);
        *k = n;
    }
    if (j->steps & j->way->values && !t->cache && *v < n) {
        attn_values_put(&own, *v, t->v + kv * a->next_v + *v * a->ldv, a->ldv, n - *v);
        *v = n;
    }
    return own;
}

static struct attn_keys keys_of(const struct job *j, const struct place *p, size_t n, int worker)
{
    struct attn_keys all = attn_heads_keys(j->a, p->text, p->head / (j->a->H / j->a->Hkv));
    if (p->text->cache && !j->way->features)
        return all;
    struct attn_keys own = own_keys(j, p, &all, n, worker);
    if (p->text->cache) {
        own.v = all.v;
        own.ldv = all.ldv;
    }
    return own;
}

/* Item i: puts the new keys and values of kv head i % Hkv of sentence i / Hkv into its cache. */
static void remember(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct attn_heads *a = ctx;
    const struct attn_text *t = &a->text[i / a->Hkv];
    size_t kv = i % a->Hkv;
    if (!t->cache)
        return;
    struct attn_keys keys = cached(a, t, kv);
    attn_keys_put(&keys, t->pos, t->k + kv * a->next_k, a->ldk, t->Tq);
    attn_values_put(&keys, t->pos, t->v + kv * a->next_v, a->ldv, t->Tq);
}

static void remember_all(struct attn_heads *a, struct attn_team *team)
{
    const double each = 4;              /* operations that the copy of a number stands for */
    double numbers = 0;
    for (size_t i = 0; i < a->texts; i++)
        numbers += a->text[i].cache ? (double)(a->text[i].Tq * a->Hkv * (a->head.dh + a->head.dv)) : 0;
    if (numbers > 0)
        attn_team_run(team, a->texts * a->Hkv, each * numbers, remember, a);
}

/* ---- work ---- */

/* Returns what was found by the steps that contexts depend on.  What is wrong with a pattern that is computed for observers only
 * does not count: observers must not change the result. */
static struct attn_found take_steps(const struct job *j, const struct attn_head *h, const struct attn_band *b)
{
    const struct attn_way *way = j->way;
    struct attn_found found = {0};
    struct attn_few wild = {0};
    if (j->steps & ATTN_DOTS) {
        way->dots(h, b);
        wild = attn_band_wild(h, b);
    }
    if (j->steps & ATTN_SCORES)
        way->scores(h, b);
    if (j->steps & ATTN_PATTERN)
        found = way->pattern(h, b);
    if (wild.rows)
        found.wild = wild;              /* then the pattern, made of scores, does not look for them */
    if (!(way->steps & ATTN_PATTERN))
        found = (struct attn_found){0};
    if (j->steps & ATTN_CONTEXT && way->rows)
        found = way->rows(h, b);
    else if (j->steps & ATTN_CONTEXT)
        way->context(h, b);
    return found;
}

void attn_heads_found(const struct attn_heads *a, int worker, size_t seq, size_t head, const struct attn_found *found)
{
    struct attn_seat *seat = &a->room->seat[worker];
    struct attn_lost at = {.seq = seq, .head = head, .layer = a->layer};
    at.rows = found->empty.rows;
    at.row = found->empty.first;
    attn_lost_add(&seat->lost, &at);
    at.rows = found->wild.rows;
    at.row = found->wild.first;
    attn_lost_add(&seat->wild, &at);
    if (at.rows && a->overflowed)
        atomic_store_explicit(&a->overflowed[seq], true, memory_order_relaxed);
}

static void one_item(void *ctx, size_t i, int worker)
{
    struct job *j = ctx;
    struct place p = place_of(j, j->first + i, j->by_worker ? (size_t)worker : i);
    struct attn_head h = head_of(j->a, &p, worker);
    h.keys = keys_of(j, &p, attn_band_keys(&h, &p.band), worker);
    struct attn_found found = take_steps(j, &h, &p.band);
    attn_heads_found(j->a, worker, (size_t)(p.text - j->a->text), p.head, &found);
}

static bool heard(const struct attn_heads *a, int act, unsigned flags)
{
    return a->trace && attn_trace_wants(a->trace, act, a->layer, flags);
}

static bool listened(const struct attn_heads *a, unsigned flags)
{
    return heard(a, ATTN_ACT_DOTS, flags) || heard(a, ATTN_ACT_SCORES, flags) || heard(a, ATTN_ACT_PATTERN, flags);
}

static void tell_band(const struct attn_heads *a, int act, const struct attn_text *t, size_t head0, size_t heads,
                      const struct attn_band *b)
{
    struct attn_probe p = {
        .act = act, .layer = a->layer, .seq = (size_t)(t - a->text), .ndim = 3, .shape = {a->H, t->Tq, t->Tk},
        .head0 = head0, .heads = heads, .row0 = b->row0, .rows = b->rows, .cols = t->Tk,
        .ld = b->ld, .ld_head = t->Tq * b->ld};
    attn_trace_tell(a->trace, &p, b->m);
}

/* Announces the wave's bands, by ascending head and then row; if `whole`, all heads of a sentence at once. */
static void tell(const struct job *j, int act, size_t n)
{
    for (size_t i = 0; i < n;) {
        struct place p = place_of(j, j->first + i, i);
        size_t heads = j->whole ? j->a->H : 1;
        if (j->whole)
            p.band.rows = p.text->Tq;
        tell_band(j->a, act, p.text, p.head, heads, &p.band);
        i += j->whole ? j->a->H * bands_of(p.text->Tq) : 1;
    }
}

/* A rough estimate of operations: masked keys count, too, and fewer than 6 rows count as 6, as they wait for memory. */
static double cost_of(const struct attn_heads *a, size_t first, size_t n)
{
    double pairs = 0;
    for (const struct attn_text *t = text_of(a, first); t < a->text + a->texts && t->first < first + n; t++)
        pairs += (double)larger(t->Tq, 6) * (double)t->Tk;
    return 2.0 * (double)(a->H * (a->head.dh + a->head.dv)) * pairs;
}

/* The steps that contexts need, and all steps up to the last one that an observer wants. */
static unsigned steps_of(const struct job *j)
{
    const struct attn_heads *a = j->a;
    unsigned all = j->way->steps, told = ATTN_WATCH | ATTN_EDIT;
    all |= heard(a, ATTN_ACT_PATTERN, told) ? 2 * ATTN_PATTERN - 1 : heard(a, ATTN_ACT_SCORES, told) ? 2 * ATTN_SCORES - 1
           : heard(a, ATTN_ACT_DOTS, told) ? ATTN_DOTS : 0;
    return a->head.scored ? all : all & ~(unsigned)ATTN_SCORES;
}

/* Computes n items, stopping after each step that observers want, to announce it. */
static void wave(struct job *j, size_t n, struct attn_team *team)
{
    static const struct { unsigned step; int act; } told[] = {
        {ATTN_DOTS, ATTN_ACT_DOTS}, {ATTN_SCORES, ATTN_ACT_SCORES}, {ATTN_PATTERN, ATTN_ACT_PATTERN}};
    struct attn_heads *a = j->a;
    double cost = cost_of(a, j->first, n);
    unsigned left = steps_of(j);
    for (size_t s = 0; s < sizeof told / sizeof *told; s++) {
        if (!heard(a, told[s].act, ATTN_WATCH | ATTN_EDIT))
            continue;
        bool stays = told[s].step == ATTN_PATTERN && !heard(a, ATTN_ACT_PATTERN, ATTN_EDIT) && j->way->steps & ATTN_PATTERN;
        j->steps = stays ? left : left & (2 * told[s].step - 1);
        left &= ~j->steps;
        attn_team_run(team, n, cost, one_item, j);
        tell(j, told[s].act, n);
    }
    j->steps = left;
    if (left)
        attn_team_run(team, n, cost, one_item, j);
}

/* How many items the wave that begins with item `first` has: one per slot, or, if `whole`, all of one sentence per slot. */
static size_t wave_of(const struct job *j, size_t items)
{
    const struct attn_heads *a = j->a;
    size_t left = items - j->first, slots = a->room->numbers / j->slot;
    if (j->by_worker || (!j->whole && left <= slots))
        return left;
    if (!j->whole)
        return slots;
    size_t next = (size_t)(text_of(a, j->first) - a->text) + slots;
    return next < a->texts ? a->text[next].first - j->first : left;
}

/* Sets what depends on the kind of attention and on what observers want. */
static void settle(struct attn_heads *a)
{
    struct attn_head *h = &a->head;
    h->shown = listened(a, ATTN_WATCH | ATTN_EDIT);
    h->shown_dots = heard(a, ATTN_ACT_DOTS, ATTN_WATCH | ATTN_EDIT);
    h->edited = listened(a, ATTN_EDIT);
    h->scored = h->kind.form != ATTN_LINEAR && (!attn_head_scales(h) || h->shown_dots || h->edited ||
                                                heard(a, ATTN_ACT_SCORES, ATTN_WATCH));
}

static void gather_found(struct attn_heads *a, int threads)
{
    a->lost = a->wild = (struct attn_lost){0};
    for (int i = 0; i < threads; i++) {
        attn_lost_add(&a->lost, &a->room->seat[i].lost);
        attn_lost_add(&a->wild, &a->room->seat[i].wild);
    }
}

void attn_heads_run(struct attn_heads *a, struct attn_team *team)
{
    settle(a);
    struct job j = {.a = a, .way = attn_way_of(&a->head), .by_worker = !a->head.shown, .whole = listened(a, ATTN_WHOLE)};
    memset(a->room->seat, 0, (size_t)attn_team_size(team) * sizeof *a->room->seat);
    remember_all(a, team);
    size_t items = steps_of(&j) ? count(&j) : 0;
    for (size_t n; j.first < items; j.first += n) {
        n = wave_of(&j, items);
        wave(&j, n, team);
    }
    if (j.way->apart)
        attn_linear_run(a, team);
    gather_found(a, attn_team_size(team));
}
