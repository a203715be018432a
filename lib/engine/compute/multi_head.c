#include "compute/multi_head.h"

#include "base/size.h"
#include "compute/gemm.h"
#include "compute/vec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct job {
    struct attn_heads *a;
    const struct attn_method *method;
    size_t ld, slot;                    /* floats from row to row; floats of a slot, which holds a band of the batch */
    bool by_worker;                     /* ... or the band that one thread is working on */
    bool whole;                         /* ... or all bands of a sentence as one [H, Tq, ld] */
    size_t first;                       /* first item of the batch */
    unsigned steps;                     /* which steps one_item takes */
};

/* Floats of the bands of a batch, if there are so many; with more threads for each, so that all have a few bands. */
enum { BATCH = 1 << 20, BATCH_OF_THREAD = BATCH / 4 };

static size_t bands_of(size_t Tq) { return parts_of(Tq, ATTN_BAND); }

/* Which one computes a kind.  shown, edited: whether observers see or change dots, scores or pattern. */
static const struct attn_method *method_of(const struct attn_kind *k, bool shown, bool edited)
{
    bool changed = edited || k->dropout > 0;
    switch (k->form) {
    case ATTN_STRIDED:
    case ATTN_RANDOM: return edited ? &attn_dense : shown ? &attn_sparse_shown : &attn_sparse;
    case ATTN_BLOCK:  return changed ? &attn_dense : &attn_online;
    case ATTN_LINEAR: return changed ? &attn_linear_shown : &attn_linear;
    default:          return &attn_dense;
    }
}

/* ---- memory: bands, and for each worker copies of keys and values and what its method needs ---- */

static size_t times(size_t a, size_t b)
{
    size_t all;
    return __builtin_mul_overflow(a, b, &all) ? SIZE_MAX : all;
}

/* Floats from one row to the next of a band of so many keys: whole panels plus 16, which avoids powers of two, as
 * rows at such distances map to the same cache sets.  Each distance needs kernels of its own, so that longer rows are
 * rounded up more. */
static size_t row_floats(const struct attn_scratch *s, size_t keys)
{
    bool online = method_of(&s->kind, s->watched, s->watched) == &attn_online;
    size_t columns = online ? attn_online_columns(s->kind.b, keys) : keys, whole = ATTN_PANEL;
    while (columns / whole > 16)
        whole *= 2;
    return up(columns, whole) + 16;
}

static size_t method_floats(const struct attn_scratch *s)
{
    struct attn_kind kind = s->kind;
    kind.dropout = 0;                   /* what changes weights takes no more */
    const struct attn_method *method = method_of(&kind, false, false);
    return method->scratch ? method->scratch(s->keys, s->dh, s->dv) : 0;
}

void attn_scratch_lay_out(struct attn_scratch *s, struct attn_arena *a)
{
    size_t ld = row_floats(s, s->keys), threads = (size_t)s->threads,
           rows = times(threads, smaller(s->longest, ATTN_BAND));
    if (s->watched)
        rows = larger(rows, smaller(larger(BATCH, times(threads, BATCH_OF_THREAD)) / ld, times(s->H, s->rows)));
    if (s->whole)
        rows = larger(rows, times(s->H, s->longest));
    s->band_floats = times(rows, ld);
    /* linear attention has phi of cached keys, too */
    s->copied = s->kind.form == ATTN_LINEAR ? s->keys : s->own;
    s->keys_floats = attn_keys_size(s->copied, s->dh, s->dv);
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

/* ---- what is done with a band ---- */

/* Whether the dots of row t with all keys that it sees are finite once they are scaled. */
static bool is_finite(const struct attn_head *h, const float *dots, size_t t)
{
    bool finite = true;
    if (attn_kind_picks(&h->kind)) {
        size_t n = attn_kind_pick(h->scratch.list, h->scratch.swaps, &h->kind, h->pos + t, h->Tk);
        for (size_t i = 0; i < n; i++)
            finite &= isfinite(dots[h->scratch.list[i]] * h->scale);
        return finite;
    }
    struct attn_range r = attn_head_seen(h, t);
    attn_vec_max(dots + r.lo, h->scale, r.hi - r.lo, &finite);
    return finite;
}

/* If the scores step is done: without it, the softmax finds them while it looks for the largest score. */
static struct attn_row_count nonfinite_rows(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_row_count nonfinite = {0};
    for (size_t i = 0; i < b->rows && h->scored; i++)
        if (!is_finite(h, b->m + i * b->ld, b->row0 + i))
            attn_count_row(&nonfinite, b->row0 + i);
    return nonfinite;
}

/* Returns what was found by the steps that contexts depend on.  What is wrong with a pattern that is computed for
 * observers only does not count: observers must not change the result. */
static struct attn_found take_steps(const struct job *j, const struct attn_head *h, const struct attn_band *b)
{
    const struct attn_method *method = j->method;
    struct attn_found found = {0};
    struct attn_row_count nonfinite = {0};
    if (j->steps & ATTN_DOTS) {
        method->dots(h, b);
        nonfinite = nonfinite_rows(h, b);
    }
    if (j->steps & ATTN_SCORES)
        method->scores(h, b);
    if (j->steps & ATTN_PATTERN)
        found = method->pattern(h, b);
    if (nonfinite.rows)
        found.nonfinite = nonfinite;    /* then the pattern, made of scores, does not look for them */
    if (!(method->steps & ATTN_PATTERN))
        found = (struct attn_found){0};
    if (j->steps & ATTN_CONTEXT && method->rows)
        found = method->rows(h, b);
    else if (j->steps & ATTN_CONTEXT)
        method->context(h, b);
    return found;
}

/* ---- items: a band of a head of a sentence ---- */

/* Numbers the items and returns how many there are.  Slots are as large as the longest sentence needs. */
static size_t count(struct job *j)
{
    struct attn_heads *a = j->a;
    size_t items = 0, Tq = 0, Tk = 0;
    for (size_t i = 0; i < a->seqs; i++) {
        struct attn_heads_seq *t = &a->seq[i];
        assert(t->Tk <= a->scratch->keys && (t->all || t->pos + t->Tq <= a->scratch->positions));
        t->first = items;
        items += a->H * bands_of(t->Tq);
        Tq = larger(Tq, t->Tq);
        Tk = larger(Tk, t->Tk);
    }
    j->ld = row_floats(a->scratch, Tk);
    j->slot = j->ld * (j->whole ? a->H * Tq : smaller(Tq, ATTN_BAND));
    return items;
}

static const struct attn_heads_seq *seq_of(const struct attn_heads *a, size_t item)
{
    size_t lo = 0, hi = a->seqs;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        *(a->seq[mid].first <= item ? &lo : &hi) = mid;
    }
    return &a->seq[lo];
}

struct item { const struct attn_heads_seq *seq; size_t head; struct attn_band band; };

static struct item item_at(const struct job *j, size_t item, size_t slot)
{
    const struct attn_heads *a = j->a;
    const struct attn_heads_seq *t = seq_of(a, item);
    size_t bands = bands_of(t->Tq), head = (item - t->first) / bands, row0 = (item - t->first) % bands * ATTN_BAND;
    float *m = a->scratch->bands;
    m += j->whole ? (size_t)(t - seq_of(a, j->first)) * j->slot + (head * t->Tq + row0) * j->ld : slot * j->slot;
    const float *q = t->q + head * a->next_q + row0 * a->ldq;
    return (struct item){t, head, {row0, smaller(t->Tq - row0, ATTN_BAND), q, a->ldq, m, j->ld}};
}

static struct attn_head head_of(const struct attn_heads *a, const struct item *it, int worker)
{
    struct attn_head h = a->head;
    h.context = it->seq->context + it->head * a->next_context;
    h.Tq = it->seq->Tq;
    h.Tk = it->seq->Tk;
    h.pos = it->seq->pos;
    h.bias = a->bias ? a->bias + it->head * a->next_bias : NULL;
    h.kind.form = it->seq->all ? ATTN_FULL : h.kind.form;
    h.drop = attn_kind_drop(&h.kind, a->layer, it->head);
    h.scratch = attn_scratch_method(a->scratch, worker);
    return h;
}

static void round_contexts(const struct attn_heads *a, const struct item *it)
{
    const struct attn_head *h = &a->head;
    const float *context = it->seq->context + it->head * a->next_context;
    for (size_t i = it->band.row0; i < it->band.row0 + it->band.rows; i++)
        attn_gemm_round(a->rounded, a->H * h->dv, it->seq->row + i, it->head * h->dv, context + i * h->ldc, h->dv);
}

static void one_item(void *ctx, size_t i, int worker)
{
    struct job *j = ctx;
    const struct attn_heads *a = j->a;
    struct item it = item_at(j, j->first + i, j->by_worker ? (size_t)worker : i);
    struct attn_head h = head_of(a, &it, worker);
    size_t kv = it.head / (a->H / a->Hkv), n = attn_band_keys(&h, &it.band);
    h.keys = attn_heads_keys_for(a, it.seq, kv, n, j->method, j->steps, worker);
    struct attn_found found = take_steps(j, &h, &it.band);
    attn_heads_found(a, worker, (size_t)(it.seq - a->seq), it.head, &found);
    if (a->rounded && j->steps & ATTN_CONTEXT)
        round_contexts(a, &it);
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

static void gather_found(struct attn_heads *a, int threads)
{
    a->lost = a->nonfinite = (struct attn_lost){0};
    for (int i = 0; i < threads; i++) {
        attn_lost_add(&a->lost, &a->scratch->worker[i].lost);
        attn_lost_add(&a->nonfinite, &a->scratch->worker[i].nonfinite);
    }
}

/* ---- batches: items up to a step that observers want ---- */

static bool wanted(const struct attn_heads *a, int act, unsigned flags)
{
    return a->trace && attn_trace_wants(a->trace, act, a->layer, flags);
}

static bool any_wanted(const struct attn_heads *a, unsigned flags)
{
    return wanted(a, ATTN_ACT_DOTS, flags) || wanted(a, ATTN_ACT_SCORES, flags) || wanted(a, ATTN_ACT_PATTERN, flags);
}

static void announce_band(const struct attn_heads *a, int act, const struct attn_heads_seq *t, size_t head0,
                          size_t heads, const struct attn_band *b)
{
    struct attn_probe p = {
        .act = act, .layer = a->layer, .seq = (size_t)(t - a->seq), .ndim = 3, .shape = {a->H, t->Tq, t->Tk},
        .head0 = head0, .heads = heads, .row0 = b->row0, .rows = b->rows, .cols = t->Tk,
        .ld = b->ld, .ld_head = t->Tq * b->ld};
    attn_trace_announce(a->trace, &p, b->m);
}

/* Announces the batch's bands, by ascending head and then row; if `whole`, all heads of a sentence at once. */
static void announce(const struct job *j, int act, size_t n)
{
    for (size_t i = 0; i < n;) {
        struct item it = item_at(j, j->first + i, i);
        size_t heads = j->whole ? j->a->H : 1;
        if (j->whole)
            it.band.rows = it.seq->Tq;
        announce_band(j->a, act, it.seq, it.head, heads, &it.band);
        i += j->whole ? j->a->H * bands_of(it.seq->Tq) : 1;
    }
}

/* A rough estimate of operations: masked keys count, too, and fewer than 6 rows count as 6, as they wait for memory. */
static double cost_of(const struct attn_heads *a, size_t first, size_t n)
{
    double pairs = 0;
    for (const struct attn_heads_seq *t = seq_of(a, first); t < a->seq + a->seqs && t->first < first + n; t++)
        pairs += (double)larger(t->Tq, 6) * (double)t->Tk;
    return 2.0 * (double)(a->H * (a->head.dh + a->head.dv)) * pairs;
}

/* The steps that contexts need, and all steps up to the last one that an observer wants. */
static unsigned steps_of(const struct job *j)
{
    const struct attn_heads *a = j->a;
    unsigned all = j->method->steps, flags = ATTN_WATCH | ATTN_EDIT;
    all |= wanted(a, ATTN_ACT_PATTERN, flags) ? 2 * ATTN_PATTERN - 1
           : wanted(a, ATTN_ACT_SCORES, flags) ? 2 * ATTN_SCORES - 1
           : wanted(a, ATTN_ACT_DOTS, flags) ? ATTN_DOTS : 0;
    return a->head.scored ? all : all & ~(unsigned)ATTN_SCORES;
}

/* Computes n items, stopping after each step that observers want, to announce it. */
static void run_batch(struct job *j, size_t n, struct attn_team *team)
{
    static const struct { unsigned step; int act; } shown[] = {
        {ATTN_DOTS, ATTN_ACT_DOTS}, {ATTN_SCORES, ATTN_ACT_SCORES}, {ATTN_PATTERN, ATTN_ACT_PATTERN}};
    struct attn_heads *a = j->a;
    double cost = cost_of(a, j->first, n);
    unsigned left = steps_of(j);
    for (size_t s = 0; s < sizeof shown / sizeof *shown; s++) {
        if (!wanted(a, shown[s].act, ATTN_WATCH | ATTN_EDIT))
            continue;
        bool stays =
            shown[s].step == ATTN_PATTERN && !wanted(a, ATTN_ACT_PATTERN, ATTN_EDIT) && j->method->steps & ATTN_PATTERN;
        j->steps = stays ? left : left & (2 * shown[s].step - 1);
        left &= ~j->steps;
        attn_team_run(team, n, cost, one_item, j);
        announce(j, shown[s].act, n);
    }
    j->steps = left;
    if (left)
        attn_team_run(team, n, cost, one_item, j);
}

/* How many items the batch that begins with item `first` has: one per slot or, if `whole`, a sentence per slot. */
static size_t batch_of(const struct job *j, size_t items)
{
    const struct attn_heads *a = j->a;
    size_t left = items - j->first, slots = a->scratch->band_floats / j->slot;
    if (j->by_worker || (!j->whole && left <= slots))
        return left;
    if (!j->whole)
        return slots;
    size_t next = (size_t)(seq_of(a, j->first) - a->seq) + slots;
    return next < a->seqs ? a->seq[next].first - j->first : left;
}

/* Sets what depends on the kind of attention and on what observers want. */
static void prepare(struct attn_heads *a)
{
    struct attn_head *h = &a->head;
    h->shown = any_wanted(a, ATTN_WATCH | ATTN_EDIT);
    h->shown_dots = wanted(a, ATTN_ACT_DOTS, ATTN_WATCH | ATTN_EDIT);
    h->edited = any_wanted(a, ATTN_EDIT);
    h->bias = a->bias;                  /* of the first head: whether there is one */
    h->scored = h->kind.form != ATTN_LINEAR && (!attn_head_scales(h) || h->shown_dots || h->edited ||
                                                wanted(a, ATTN_ACT_SCORES, ATTN_WATCH));
}

bool attn_heads_can_round(enum attn_form form, size_t dv)
{
    return form != ATTN_LINEAR && dv % ATTN_ROUND_STEP == 0;
}

void attn_heads_run(struct attn_heads *a, struct attn_team *team)
{
    prepare(a);
    struct job j = {.a = a, .method = method_of(&a->head.kind, a->head.shown, a->head.edited),
                    .by_worker = !a->head.shown, .whole = any_wanted(a, ATTN_WHOLE)};
    assert(!(j.whole && j.by_worker));
    memset(a->scratch->worker, 0, (size_t)attn_team_size(team) * sizeof *a->scratch->worker);
    attn_heads_cache(a, team);
    size_t items = steps_of(&j) ? count(&j) : 0;
    for (size_t n; j.first < items; j.first += n) {
        n = batch_of(&j, items);
        run_batch(&j, n, team);
    }
    if (j.method->run)
        j.method->run(a, team);
    gather_found(a, attn_team_size(team));
}
