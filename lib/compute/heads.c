#include "compute/heads.h"

#include <stdatomic.h>

struct job {
    struct attn_heads *a;
    size_t first, bands;                /* first item of the wave; bands of a head */
    unsigned steps;                     /* which of the four */
    bool by_worker;                     /* a slot a thread, not an item */
    bool whole;                         /* slots are laid out as one [H, Tq, ld] */
    atomic_size_t empty;
};
enum { DOTS = 1, SCORES = 2, PATTERN = 4, CONTEXT = 8 };

size_t attn_heads_ld(size_t keys)
{
    return (keys + 15) / 16 * 16;       /* rows start at a cache line */
}

static size_t bands_of(size_t Tq)
{
    return (Tq + ATTN_BAND - 1) / ATTN_BAND;
}

size_t attn_heads_slots(size_t H, size_t Tq, int threads, bool whole)
{
    return whole ? H * bands_of(Tq) : (size_t)threads;
}

static struct attn_head head_of(const struct attn_heads *a, size_t h)
{
    struct attn_head head = a->head;
    size_t kv = h / (a->H / a->Hkv);
    head.q += h * a->next_q;
    head.k += kv * a->next_k;
    head.v += kv * a->next_v;
    head.context += h * a->next_context;
    return head;
}

static struct attn_band band_of(const struct job *j, size_t item, size_t slot)
{
    const struct attn_heads *a = j->a;
    size_t row0 = item % j->bands * ATTN_BAND, left = a->head.Tq - row0;
    size_t at = j->whole ? item / j->bands * a->head.Tq + row0 : slot * ATTN_BAND;
    return (struct attn_band){row0, left < ATTN_BAND ? left : ATTN_BAND, a->scratch + at * a->ld, a->ld};
}

static void one_item(void *ctx, size_t i, int worker)
{
    struct job *j = ctx;
    size_t item = j->first + i;
    struct attn_head h = head_of(j->a, item / j->bands);
    struct attn_band b = band_of(j, item, j->by_worker ? (size_t)worker : i);
    if (j->steps & DOTS)
        attn_band_dots(&h, &b);
    if (j->steps & SCORES)
        attn_band_scores(&h, &b);
    if (j->steps & PATTERN)
        atomic_fetch_add_explicit(&j->empty, attn_band_pattern(&h, &b), memory_order_relaxed);
    if (j->steps & CONTEXT)
        attn_band_context(&h, &b);
}

static void tell_band(const struct attn_heads *a, int act, size_t head0, size_t heads,
                      const struct attn_band *b)
{
    struct attn_probe p = {
        .act = act, .layer = a->layer, .seq = a->seq, .ndim = 3, .shape = {a->H, a->head.Tq, a->head.Tk},
        .head0 = head0, .heads = heads, .row0 = b->row0, .rows = b->rows, .cols = a->head.Tk,
        .ld = b->ld, .ld_head = a->head.Tq * b->ld};
    attn_trace_tell(a->trace, &p, b->m);
}

/* The wave's bands, heads then rows ascending; all heads at once where they lie together. */
static void tell(const struct job *j, int act, size_t n)
{
    const struct attn_heads *a = j->a;
    if (!attn_trace_wants(a->trace, act, a->layer, ATTN_WATCH | ATTN_EDIT))
        return;
    if (j->whole) {
        struct attn_band all = {0, a->head.Tq, a->scratch, a->ld};
        tell_band(a, act, 0, a->H, &all);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct attn_band b = band_of(j, j->first + i, i);
        tell_band(a, act, (j->first + i) / j->bands, 1, &b);
    }
}

static bool listened(const struct attn_heads *a, unsigned flags)
{
    return a->trace && (attn_trace_wants(a->trace, ATTN_ACT_DOTS, a->layer, flags) ||
                        attn_trace_wants(a->trace, ATTN_ACT_SCORES, a->layer, flags) ||
                        attn_trace_wants(a->trace, ATTN_ACT_PATTERN, a->layer, flags));
}

void attn_heads_run(struct attn_heads *a, struct attn_team *team)
{
    static const struct { unsigned step; int act; } steps[] = {
        {DOTS, ATTN_ACT_DOTS}, {SCORES, ATTN_ACT_SCORES}, {PATTERN, ATTN_ACT_PATTERN}, {CONTEXT, -1}};
    struct job j = {.a = a, .bands = bands_of(a->head.Tq)};
    size_t items = a->H * j.bands;
    double cost = 2.0 * (double)a->H * (double)a->head.Tq * (double)a->head.Tk * (double)(a->head.dh + a->head.dv);
    if (!listened(a, ATTN_WATCH | ATTN_EDIT)) {
        j.steps = DOTS | SCORES | PATTERN | CONTEXT;
        j.by_worker = true;
        attn_team_run(team, items, cost, one_item, &j);
    } else {
        a->head.shown = true;
        a->head.shown_dots = attn_trace_wants(a->trace, ATTN_ACT_DOTS, a->layer, ATTN_WATCH | ATTN_EDIT);
        a->head.edited = listened(a, ATTN_EDIT);
        j.whole = listened(a, ATTN_WHOLE);
        for (size_t n; j.first < items; j.first += n) {
            n = j.whole ? items : items - j.first < a->slots ? items - j.first : a->slots;
            for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
                j.steps = steps[s].step;
                attn_team_run(team, n, cost * (double)n / (double)items, one_item, &j);
                if (steps[s].act >= 0)
                    tell(&j, steps[s].act, n);
            }
        }
    }
    a->empty += atomic_load(&j.empty);
}
