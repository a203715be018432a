#include "compare/rounding.h"
#include "compare/summed.h"

#include "base/elementary.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two to three times what was measured over right ports of 21 families, 64 to 768 wide, with dots up to 150 and
 * columns up to 1,024 times larger than others (tests/compare/test_ports.c). */
enum { OF_ROOT = 4 };                   /* roundings of a sum, times the root of its terms */
/* What a step may make of the gap of its inputs.  Most: a product of two activations; and logits, since columns of a
 * tied embedding can be as large as those of the stream. */
enum { TIMES = 4, TIMES_ROW = 8, TIMES_PRODUCT = 8, TIMES_MOST = 12 };

/* A rounding of a number is one of float32 unless one side turns out to have numbers of 16 bits, or products of such.
 * own: how many of them a step adds; factors are rounded before a sum, in which they may cancel. */
static const struct kind { const char *name; float (*round)(float); double unit, least; int own; }
    float32 = {"float32", NULL, 0x1p-24, FLT_MIN, 16}, bf16 = {"bf16", attn_round_bf16, 0x1p-8, FLT_MIN, 4},
    float16 = {"float16", attn_round_f16, 0x1p-11, 0x1p-14, 4}, bf16_factors = {"bf16", NULL, 0x1p-8, FLT_MIN, 12},
    tf32_factors = {"TF32", NULL, 0x1p-11, FLT_MIN, 12};

#define BIT(act) (1u << (act))

/* What each activation of the pass is computed from. */
#define STEPS(ROW) \
    ROW(EMBED, 0, TIMES) \
    ROW(POS_EMBED, 0, TIMES) \
    ROW(RESID_PRE, READ(EMBED) | READ(POS_EMBED) | READ(RESID_POST), TIMES) \
    ROW(NORM1, READ(RESID_PRE), TIMES_ROW) \
    ROW(Q, READ(NORM1), TIMES_PRODUCT) \
    ROW(K, READ(NORM1), TIMES_PRODUCT) \
    ROW(V, READ(NORM1), TIMES_PRODUCT) \
    ROW(DOTS, READ(Q) | READ(K), TIMES) \
    ROW(SCORES, READ(DOTS), TIMES) \
    ROW(PATTERN, READ(SCORES), TIMES) \
    ROW(CONTEXT, READ(PATTERN) | READ(V), TIMES_ROW) \
    ROW(OUT, READ(CONTEXT), TIMES_PRODUCT) \
    ROW(ADDED, READ(OUT), TIMES_ROW) \
    ROW(RESID_MID, READ(RESID_PRE) | READ(ADDED), TIMES) \
    ROW(NORM2, READ(RESID_MID), TIMES_ROW) \
    ROW(MLP_PRE, READ(NORM2), TIMES_PRODUCT) \
    ROW(MLP_LINEAR, READ(NORM2), TIMES_PRODUCT) \
    ROW(MLP_POST, READ(MLP_PRE) | READ(MLP_LINEAR), TIMES_MOST) \
    ROW(MLP_OUT, READ(MLP_POST), TIMES_PRODUCT) \
    ROW(MLP_ADDED, READ(MLP_OUT), TIMES_ROW) \
    ROW(RESID_POST, READ(RESID_MID) | READ(MLP_ADDED), TIMES) \
    ROW(NORM_FINAL, READ(RESID_POST), TIMES_ROW) \
    ROW(LOGITS, READ(NORM_FINAL), TIMES_MOST)
#define READ(id) BIT(ATTN_ACT_##id)
#define STEP(id, inputs, times) [ATTN_ACT_##id] = {inputs, times},
#define STEP_BIT(id, ...) | READ(id)
static const struct step { unsigned inputs; int times; } steps[ATTN_ACT_DERIVED] = { STEPS(STEP) };
_Static_assert((0u STEPS(STEP_BIT)) == BIT(ATTN_ACT_DERIVED) - 1, "an activation of the pass has no row in STEPS");

struct judge {
    struct attn_diff *d;
    const struct kind *kind;
    double handed[ATTN_ACT_DERIVED];    /* the gap that each activation hands on, of this layer or the one before */
    bool lost;                          /* something was beyond: what follows is measured against a port without it */
    struct attn_summed size;            /* of the activation that is measured */
};

static double larger(double x, double y) { return x > y ? x : y; }
static double smaller(double x, double y) { return x < y ? x : y; }

static size_t at(const struct attn_pair *p, size_t h, size_t t) { return h * p->ld_head + t * p->ld; }

/* ---- gaps ---- */

struct measured { double gap, handed; size_t beyond; };
struct row_gap { double sum, most; };   /* of |a - b| */

static bool same(float a, float b, bool loose)
{
    return a == b || (isnan(a) && isnan(b)) || (loose && !isfinite(a) && !isfinite(b));
}

static struct row_gap measure_row(struct measured *m, const float *a, const float *b, size_t n,
                                  const struct attn_summed_row *s, double explained, bool loose)
{
    struct row_gap out = {0};
    for (size_t k = 0; k < n; k++) {
        if (a[k] == b[k] || same(a[k], b[k], loose))
            continue;
        double x = a[k], y = b[k], far = fabs(x - y), size = attn_summed_at(s, x, y, k);
        if (!(far < DBL_MAX))
            far = INFINITY;
        if (far > m->gap * size)        /* divides as rarely as it can */
            m->gap = far / size;
        m->beyond += far > explained * size;
        out.sum += far;
        out.most = larger(far, out.most);
    }
    return out;
}

static void measure(struct measured *m, const struct judge *j, const struct attn_pair *p, int act, double explained,
                    bool loose)
{
    *m = (struct measured){0};
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++) {
            const float *a = p->a + at(p, h, t), *b = p->b + at(p, h, t);
            const struct attn_summed_row size = attn_summed_row(&j->size, p, h, t, j->kind->least);
            struct row_gap row = measure_row(m, a, b, p->n, &size, explained, loose);
            if (act == ATTN_ACT_PATTERN)                /* what a weighted mean of values makes of it */
                m->handed = larger(row.sum, m->handed);
            if (act == ATTN_ACT_SCORES && row.most > 0) /* what softmax makes of it */
                m->handed = larger(row.most / (1 + larger(attn_largest(a, p->n), attn_largest(b, p->n))), m->handed);
        }
    if (act != ATTN_ACT_PATTERN && act != ATTN_ACT_SCORES)
        m->handed = m->gap;
}

/* ---- what is explained ---- */

static double own(const struct judge *j, size_t terms)
{
    double sums = OF_ROOT * sqrt((double)terms) * float32.unit;
    return j->kind->own * j->kind->unit + sums;
}

static double of_inputs(const struct judge *j, int act, int layer)
{
    unsigned inputs = steps[act].inputs;
    if (act == ATTN_ACT_RESID_PRE)
        inputs = layer > 0 ? BIT(ATTN_ACT_RESID_POST) : inputs & ~BIT(ATTN_ACT_RESID_POST);
    double most = 0;
    for (int i = 0; i < ATTN_ACT_DERIVED; i++)
        most = inputs & BIT(i) ? larger(j->handed[i], most) : most;
    return most;
}

/* A step that a dump lacks is taken to add a rounding of its own, in any direction. */
static void pass_over(struct judge *j, int act, int layer)
{
    j->handed[act] = attn_hypot(steps[act].inputs ? own(j, 0) : 0, of_inputs(j, act, layer));
}

static bool judge_row(struct judge *j, struct attn_diff_row *row)
{
    struct attn_pair p;
    struct measured m;
    int act = row->act;
    double inputs = of_inputs(j, act, row->layer);
    if (!attn_diff_pair(j->d, act, row->layer, &p) || !p.T || !p.n) {
        pass_over(j, act, row->layer);
        return true;
    }
    size_t terms = p.H * p.n;
    row->explained = own(j, terms) + steps[act].times * inputs;
    if (row->kind != ATTN_DIFF_SAME) {
        if (!attn_summed_of(&j->size, j->d, &p, act, row->layer))
            return false;
        measure(&m, j, &p, act, row->explained, attn_diff_is_loose(j->d, row));
    } else {
        m = (struct measured){0};
    }
    row->gap = m.gap;
    row->beyond = m.beyond;
    j->lost |= m.beyond > 0;
    j->handed[act] = j->lost ? smaller(m.handed, own(j, terms) + inputs) : m.handed;
    return true;
}

/* ---- in the order of the forward pass ---- */

struct place { int act, layer; };

static bool is_judged(const struct attn_diff_row *r)
{
    return r->act >= 0 && r->act < ATTN_ACT_DERIVED && r->kind <= ATTN_DIFF_NUMBERS;
}

/* The next row from i on that is judged; n if there is none. */
static size_t next_row(const struct attn_diff *d, size_t i)
{
    while (i < d->n && !is_judged(&d->row[i]))
        i++;
    return i;
}

static bool is_at(const struct attn_diff_row *row, struct place p)
{
    return row->act == p.act && row->layer == p.layer;
}

/* A dump may number its layers as it likes: passing over more than these would explain anything. */
static int next_layer(int layer, const struct attn_diff_row *row)
{
    enum { FARTHEST = 1024 };
    return row->layer - FARTHEST > layer ? row->layer - FARTHEST : layer + 1;
}

static struct place next_place(struct place p, const struct attn_diff_row *row)
{
    bool more = row && row->layer > p.layer;
    if (p.act == ATTN_ACT_POS_EMBED || p.act == ATTN_ACT_RESID_POST)
        return more ? (struct place){ATTN_ACT_RESID_PRE, next_layer(p.layer, row)}
               : (struct place){ATTN_ACT_NORM_FINAL, -1};
    return (struct place){p.act + 1, p.layer};
}

static bool judge_all(struct judge *j)
{
    const struct attn_diff *d = j->d;
    size_t i = next_row(d, 0);
    memset(j->handed, 0, sizeof j->handed);
    j->lost = false;
    for (struct place p = {ATTN_ACT_EMBED, -1}; p.act < ATTN_ACT_DERIVED && i < d->n;) {
        if (!is_at(&d->row[i], p))
            pass_over(j, p.act, p.layer);
        for (; i < d->n && is_at(&d->row[i], p); i = next_row(d, i + 1))
            if (!judge_row(j, &d->row[i]))
                return false;
        if (p.act == ATTN_ACT_RESID_POST)
            attn_diff_forget_moved(d);
        p = next_place(p, i < d->n ? &d->row[i] : NULL);
    }
    return true;
}

static const struct attn_diff_row *first_beyond(const struct attn_diff *d)
{
    for (size_t i = next_row(d, 0); i < d->n; i = next_row(d, i + 1))
        if (d->row[i].beyond)
            return &d->row[i];
    return NULL;
}

/* ---- numbers of 16 bits ---- */

static bool has_only(const struct attn_pair *p, const float *x, float (*round)(float))
{
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t k = 0; k < p->n; k++) {
                float v = x[at(p, h, t) + k];
                if (isfinite(v) && round(v) != v)
                    return false;
            }
    return true;
}

/* How far two sides are apart: the root mean square, and the part of it that is a multiple of b. */
struct noise { double gap, along; };

static struct noise noise_of(const struct attn_pair *p)
{
    double dd = 0, db = 0, bb = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t k = 0; k < p->n; k++) {
                double a = p->a[at(p, h, t) + k], b = p->b[at(p, h, t) + k];
                dd += (a - b) * (a - b), db += (a - b) * b, bb += b * b;
            }
    return (struct noise){bb > 0 ? sqrt(dd / bb) : 0, dd > 0 && bb > 0 ? fabs(db) / sqrt(dd * bb) : 1};
}

/* Products of factors of 16 bits, summed in float32, are noise in queries, keys and values alike, where a mistake
 * would be in one of them, or in their input.  With both factors rounded to bf16 the gap is about 2^-9, with TF32 an
 * eighth of that. */
static const struct kind *kind_of_products(const struct attn_diff *d, int layer)
{
    const double most = 4e-3, between = 6e-4, alike = 8, random = 0.5;
    double low = HUGE_VAL, high = 0;
    struct attn_pair p;
    if (!attn_diff_pair(d, attn_diff_has(d, ATTN_ACT_NORM1, layer) ? ATTN_ACT_NORM1 : ATTN_ACT_RESID_PRE, layer, &p))
        return NULL;
    for (int act = ATTN_ACT_Q; act <= ATTN_ACT_V; act++) {
        if (!attn_diff_pair(d, act, layer, &p))
            return NULL;
        struct noise x = noise_of(&p);
        if (!(x.along < random) || attn_seems_offset(&p))
            return NULL;
        low = smaller(low, x.gap), high = larger(high, x.gap);
    }
    return high > most || high > alike * low ? NULL : high > between ? &bf16_factors : &tf32_factors;
}

/* The kind of numbers that one side alone has; NULL: none. */
static const struct kind *kind_of(const struct attn_diff *d, const struct attn_diff_row *row)
{
    const struct kind *const kinds[] = {&bf16, &float16};
    struct attn_pair p;
    if (!attn_diff_pair(d, row->act, row->layer, &p))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_only(&p, p.a, kinds[i]->round) != has_only(&p, p.b, kinds[i]->round))
            return kinds[i];
    return row->act >= ATTN_ACT_Q && row->act <= ATTN_ACT_V ? kind_of_products(d, row->layer) : NULL;
}

bool attn_rounding_judge(struct attn_diff *d)
{
    struct judge j = {.d = d, .kind = &float32};
    d->rounded_to = NULL;
    bool done = judge_all(&j);
    const struct attn_diff_row *first = done ? first_beyond(d) : NULL;
    const struct kind *kind = first ? kind_of(d, first) : NULL;
    if (kind) {
        j.kind = kind;
        done = judge_all(&j);
        d->rounded_to = first->beyond ? NULL : kind->name;
    }
    if (kind && done && first->beyond) {        /* the numbers of 16 bits are a part of the mistake */
        j.kind = &float32;
        done = judge_all(&j);
    }
    attn_summed_free(&j.size);
    return done;
}
