/* clue_attention.c - mistakes between queries and context, of heads and of fused matrices; and dropout. */
#include "compare/diff.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/recompute.h"
#include "model/model.h"

static const float *numbers(const struct attn_pair *p, bool a) { return a ? p->a : p->b; }

/* ---- scores as dots make them ---------------------------------------------------------- */

static const double fits = 1e-4;        /* float32 products are summed in different orders on different machines */

static bool fit_both(const struct clue *c, struct attn_score_fit f[2], struct attn_pair *dots)
{
    if (!attn_clue_alike(c, ATTN_ACT_DOTS, dots))
        return false;
    for (int side = 0; side < 2; side++)
        f[side] = attn_fit_scores(&c->p, numbers(&c->p, !side), numbers(dots, !side));
    return f[0].gap <= fits && f[1].gap <= fits;
}

static bool near(double x, double y, double share) { return fabs(x / y - 1) <= share; }

/* One side without a cap may have scores that are too small to show it. */
static bool same_cap(const struct clue *c, struct attn_score_fit f[2], const struct attn_pair *dots)
{
    for (int side = 0; side < 2; side++)
        if (isfinite(f[side].cap) && !isfinite(f[!side].cap)) {
            struct attn_score_fit under = {.cap = f[side].cap};
            under.gap = attn_scores_gap(&c->p, numbers(&c->p, side), numbers(dots, side), &under.scale, under.cap);
            if (under.gap <= 1e-6 || under.gap <= 2 * f[!side].gap)     /* rounding leaves as much */
                f[!side] = under;
        }
    return near(f[0].cap, f[1].cap, 1e-3) || (isinf(f[0].cap) && isinf(f[1].cap));
}

bool attn_clue_scores_capped(struct clue *c)
{
    struct attn_score_fit f[2];
    struct attn_pair dots;
    if (!fit_both(c, f, &dots) || same_cap(c, f, &dots))
        return false;
    for (int side = 0; side < 2; side++) {
        const struct attn_score_fit *x = &f[side], *y = &f[!side];
        if (isinf(x->cap))
            return attn_clue_tell(c, !side, "@ does not cap scores, # makes them %g tanh(score / %g)", y->cap, y->cap);
        if (near(x->cap, y->cap * y->scale, 1e-3) && near(x->scale, y->scale, 1e-3))
            return attn_clue_tell(c, !side, "@ caps dots before they are scaled, # scores after, at %g", y->cap);
    }
    return attn_clue_say(c, "the cap of scores: %g in A, %g in B", f[0].cap, f[1].cap);
}

/* ---- ALiBi ---- */

struct slopes { double *of[2]; struct attn_slopes_fit fit[2]; bool has[2]; };

/* Slopes that are added in bfloat16 are off by 2^-9 of themselves, and their product with a position as much again. */
static bool fit_slopes(const struct clue *c, struct slopes *s)
{
    struct attn_pair dots;
    if (!attn_clue_alike(c, ATTN_ACT_DOTS, &dots) || c->p.H > ATTN_HEADS_TRIED)
        return false;
    s->of[0] = calloc(2 * c->p.H + 1, sizeof **s->of);
    if (!s->of[0])
        return false;
    s->of[1] = s->of[0] + c->p.H;
    for (int side = 0; side < 2; side++) {
        struct attn_slopes_fit *f = &s->fit[side];
        *f = attn_fit_score_slopes(s->of[side], &c->p, numbers(&c->p, !side), numbers(&dots, !side));
        s->has[side] = f->gap <= 0.1 * f->plain && f->plain > 1e-6;
        if (!(s->has[side] ? f->gap <= fits + 0x1p-8 * f->plain : f->plain <= fits))
            return false;
    }
    return true;
}

/* The published slope of a head: powers of 2^(-8/p), p the largest power of two up to H, then odd ones of 2^(-4/p). */
static double published(size_t h, size_t H)
{
    size_t p = 1;
    while (2 * p <= H)
        p *= 2;
    return h < p ? exp2(-8.0 * (double)(h + 1) / (double)p) : exp2(-4.0 * (double)(2 * (h - p) + 1) / (double)p);
}

static const double by_bf16 = 0.02;     /* slopes that bfloat16 alone sets apart: it has 8 bits, and keys are few */

static bool as_published(const double *slope, size_t H, double scale)
{
    for (size_t h = 0; h < H; h++)
        if (!near(slope[h], scale * published(h, H), by_bf16))
            return false;
    return true;
}

static size_t other_slope(const struct slopes *s, size_t H)
{
    size_t h = 0;
    while (h < H && near(s->of[0][h], s->of[1][h], by_bf16))
        h++;
    return h;
}

static bool say_slopes(struct clue *c, const struct slopes *s)
{
    size_t H = c->p.H, h = other_slope(s, H);
    if (s->has[0] != s->has[1])
        return attn_clue_tell(c, s->has[0], "ALiBi: @ adds slopes times the position of the key to scores (%g in head "
                              "0), # does not", s->of[s->has[1]][0]);
    if (!s->has[0] || h == H)
        return false;
    for (int side = 0; side < 2; side++)
        if (near(s->fit[0].scale, s->fit[1].scale, 1e-2) && as_published(s->of[side], H, s->fit[side].scale) &&
            as_published(s->of[!side], H, 1))
            return attn_clue_tell(c, !side, "ALiBi: @ adds slopes before dots are scaled, # after");
    return attn_clue_say(c, "ALiBi: the slope of head %zu is %.6g in A, %.6g in B", h, s->of[0][h], s->of[1][h]);
}

bool attn_clue_alibi(struct clue *c)
{
    struct slopes s = {0};
    bool found = fit_slopes(c, &s) && say_slopes(c, &s);
    free(s.of[0]);
    return found;
}

/* ---- the scale of what is not proportional to dots ---- */

static bool say_scale(struct clue *c, const char *where, double a, double b)
{
    char name[64];
    return !near(a, b, 1e-3) && attn_clue_say(c, "the scale: %s, A is B times %.6g%s", where, a / b,
                                              attn_clue_factor(c, a / b, name));
}

/* In the words of a person: what scores are made of dots by. */
static const char *done_to_dots(const struct clue *c, double scale)
{
    double dh = (double)attn_clue_head_width(c), d = (double)attn_clue_width(c), layer = c->layer + 1;
    const struct { const char *words; double scale; } known[] = {
        {"not divided by sqrt(d_head)", 1}, {"divided by sqrt(d_head)", 1 / sqrt(dh)}, {"divided by d_head", 1 / dh},
        {"multiplied by sqrt(d_head)", sqrt(dh)}, {"divided by sqrt(d_model)", 1 / sqrt(d)},
        {"divided by the number of the layer from 1, too", 1 / sqrt(dh) / layer}};
    for (size_t i = 0; dh > 1 && i < sizeof known / sizeof *known; i++)
        if (near(scale, known[i].scale, 2e-5))
            return known[i].words;
    return NULL;
}

/* From dots of the same side if there are some; else what the factor says if one side does the usual. */
bool attn_clue_undivided(struct clue *c, double factor)
{
    struct attn_pair scores, dots;
    double dh = (double)attn_clue_head_width(c), a = 0, b = 0;
    char name[64];
    if (c->act != ATTN_ACT_SCORES && c->act != ATTN_ACT_PATTERN)
        return false;
    bool known = attn_clue_other(c, ATTN_ACT_SCORES, &scores) && attn_clue_other(c, ATTN_ACT_DOTS, &dots) &&
                 attn_pair_alike(&scores, &dots);
    if (known) {
        a = attn_fit_scores(&scores, scores.a, dots.a).scale;
        b = attn_fit_scores(&scores, scores.b, dots.b).scale;
    } else if (near(factor, sqrt(dh), 2e-5)) {
        a = 1, b = 1 / sqrt(dh);
    }
    const char *of_a = done_to_dots(c, a), *of_b = done_to_dots(c, b);
    const char *times = attn_clue_factor(c, factor, name);
    if (of_a && of_b && of_a != of_b)
        return attn_clue_say(c, "A's scores are %s, B's are %s: A is B times %.6g%s", of_a, of_b, factor, times);
    return dh > 1 && near(factor, 1 / sqrt(dh), 2e-5) && !known &&
           attn_clue_say(c, "A's scores are divided by sqrt(d_head) once more than B's: A is B times %.6g%s", factor,
                         times);
}

bool attn_clue_score_scale(struct clue *c)
{
    struct attn_score_fit f[2];
    struct slopes s = {0};
    struct attn_pair dots;
    if (fit_both(c, f, &dots))
        return same_cap(c, f, &dots) && isfinite(f[0].cap) &&
               say_scale(c, "before scores are capped", f[0].scale, f[1].scale);
    bool found = fit_slopes(c, &s) && s.has[0] && s.has[1] && other_slope(&s, c->p.H) == c->p.H &&
                 say_scale(c, "without ALiBi", s.fit[0].scale, s.fit[1].scale);
    free(s.of[0]);
    return found;
}

/* ---- masks, softmax -------------------------------------------------------------------- */

bool attn_clue_blind(struct clue *c)
{
    bool a;
    return attn_seems_blind_to_itself(&c->p, c->act == ATTN_ACT_PATTERN, &a) &&
           attn_clue_tell(c, a, "the mask: in @ a token does not see itself, only what precedes it; in # it does");
}

bool attn_clue_zero_mask(struct clue *c)
{
    bool a;
    return attn_seems_hidden_by_zero(&c->p, &a) &&
           attn_clue_tell(c, a, "the mask: @ hides keys with 0 instead of -inf, so softmax gives them weight");
}

bool attn_clue_axis(struct clue *c)
{
    bool a = attn_seems_wrong_axis(c->p.a, &c->p), b = attn_seems_wrong_axis(c->p.b, &c->p);
    if (a != b)
        return attn_clue_tell(c, a, "@'s columns sum to 1, not its rows: softmax over the wrong axis");
    a = attn_seems_over_heads(&c->p, c->p.a), b = attn_seems_over_heads(&c->p, c->p.b);
    return a != b && attn_clue_tell(c, a, "the heads of @ sum to 1, not its rows: softmax over heads, the wrong axis");
}

/* The pattern as if no key were hidden; scale is the scores'. */
static bool hidden_late(const struct clue *c, bool a)
{
    struct attn_pair dots, scores;
    struct attn_score_fit f;
    if (!attn_clue_alike(c, ATTN_ACT_DOTS, &dots) || !attn_clue_alike(c, ATTN_ACT_SCORES, &scores))
        return false;
    f = attn_fit_scores(&scores, numbers(&scores, a), numbers(&dots, a));
    return f.gap <= fits && isinf(f.cap) && attn_seems_hidden_late(&c->p, a, numbers(&dots, a), f.scale);
}

/* Whether rows that hide no key add up to 1, and there is one. */
static bool whole_rows(const struct attn_pair *p, bool a)
{
    bool some = false;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++) {
            size_t at = h * p->ld_head + t * p->ld, k = 0;
            const float *shown = numbers(p, !a) + at, *x = numbers(p, a) + at;
            while (k < p->n && shown[k] > 0)
                k++;
            if (k == p->n && fabs(attn_row_sum(x, p->n) - 1) > fits)
                return false;
            some |= k == p->n;
        }
    return some;
}

bool attn_clue_hidden_late(struct clue *c)
{
    bool a, dots = attn_diff_has(c->d, ATTN_ACT_DOTS, c->layer);
    return attn_seems_short_of_one(&c->p, &a) && (dots ? hidden_late(c, a) : whole_rows(&c->p, a)) &&
           attn_clue_tell(c, a, "the mask: rows of @ are those of # times a number, and do not add up to 1: keys were "
                          "hidden after softmax, not before");
}

bool attn_clue_padding(struct clue *c)
{
    bool a;
    return attn_seems_short_of_one(&c->p, &a) && !hidden_late(c, a) && !whole_rows(&c->p, a) &&
           attn_clue_tell(c, a, "rows of @ are those of # times a number, and do not add up to 1: the rest is on other "
                          "keys, which are not in the dump, such as padding that is not masked");
}

bool attn_clue_dropout(struct clue *c)
{
    bool a;
    double rate;
    return attn_seems_dropped(&c->p, &a, &rate) &&
           attn_clue_tell(c, a, "dropout is on in @: some of its numbers are 0 and the others %.4g times those of # (p "
                          "= %.2g)", 1 / (1 - rate), rate);
}

/* ---- heads ----------------------------------------------------------------------------- */

/* Whether one side repeats key/value heads in one order, and the other in the other. */
static bool grouped(struct clue *c, const struct attn_pair *x, const struct attn_pair *from, const struct attn_pair *kv,
                    double (*gap)(const struct attn_grouped *g, bool tiled))
{
    double tiled[2], repeated[2];
    if (kv->H < 2 || kv->H >= x->H || x->H % kv->H || from->H != x->H || from->T != x->T)
        return false;
    for (int side = 0; side < 2; side++) {
        const struct attn_grouped g = {x, from, kv, numbers(x, !side), numbers(from, !side), numbers(kv, !side)};
        tiled[side] = gap(&g, true);
        repeated[side] = gap(&g, false);
    }
    bool a = attn_gap_explained(tiled[0], repeated[0]) && attn_gap_explained(repeated[1], tiled[1]);
    bool b = attn_gap_explained(tiled[1], repeated[1]) && attn_gap_explained(repeated[0], tiled[0]);
    return (a || b) && attn_clue_tell(c, a, "@ repeats %s heads as 0 1 0 1 (tile), # as 0 0 1 1 (repeat_interleave)",
                                      c->act == ATTN_ACT_DOTS ? "key" : "value");
}

bool attn_clue_grouped(struct clue *c)
{
    struct attn_pair q, kv, x = c->p;
    if (c->act == ATTN_ACT_DOTS)
        return attn_clue_other(c, ATTN_ACT_Q, &q) && attn_clue_other(c, ATTN_ACT_K, &kv) && q.n == kv.n &&
               kv.T == x.n && grouped(c, &x, &q, &kv, attn_grouped_dots_gap);
    if (!attn_clue_other(c, ATTN_ACT_PATTERN, &q) || !attn_clue_other(c, ATTN_ACT_V, &kv) || kv.T != q.n || x.H != 1 ||
        x.n != q.H * kv.n)
        return false;
    x = attn_pair_split(&x, q.H);
    return grouped(c, &x, &q, &kv, attn_grouped_context_gap);
}

bool attn_clue_unswapped(struct clue *c)
{
    bool a, context = c->act == ATTN_ACT_CONTEXT;
    struct attn_pair p = c->p;
    if ((context && (p.H != 1 || !attn_clue_heads_apart(c, &p))) || !attn_seems_unswapped(&p, &a))
        return false;
    a = context ? a : !a;               /* split up, not joined: the same numbers, from the other side */
    return attn_clue_tell(c, a, "@ reshapes heads and tokens without swapping their axes first, # swaps them");
}

/* ---- queries, keys, values: products with other columns ------------------------------- */

static const struct attn_mat *matrix(const struct attn_block *b, size_t part)
{
    return part == 0 ? &b->q : part == 1 ? &b->k : &b->v;
}

static const struct attn_block *block_of(const struct clue *c)
{
    return c->model && c->layer >= 0 && (size_t)c->layer < c->model->w.n.L ? &c->model->w.block[c->layer] : NULL;
}

static size_t part_of(const struct clue *c) { return c->act == ATTN_ACT_Q ? 0 : c->act == ATTN_ACT_K ? 1 : 2; }

/* Products of one row with all three matrices, side by side. */
struct making {
    const struct clue *c;
    const struct attn_block *b;
    double *all;
    float *line;
    size_t at[4];                       /* where the columns of q, k and v start in `all`, and where they end */
    int way;                            /* of the ways to make the mistake, the one that is tried */
};

static void make_by_number(double *y, const double *x, const void *self)
{
    const struct making *m = self;
    const struct attn_mat *w = matrix(m->b, part_of(m->c));
    size_t H = m->c->p.H, n = m->c->p.n;
    attn_remake_multiply(m->all, x, w, m->line);
    for (size_t h = 0; h < H; h++)
        for (size_t j = 0; j < n; j++)
            y[h * n + j] = m->all[j * H + h];
}

/* Queries from the weight of keys, or keys from that of queries; in the second way the bias stays where it was. */
static void make_exchanged(double *y, const double *x, const void *self)
{
    const struct making *m = self;
    size_t part = part_of(m->c);
    attn_remake_multiply(y, x, matrix(m->b, 1 - part), m->line);
    if (m->way == 0)
        return;
    attn_remake_add_bias(y, matrix(m->b, 1 - part), -1);
    attn_remake_add_bias(y, matrix(m->b, part), 1);
}

/* Of column i of a fused matrix: which part it belongs to, and which of its columns it is.  Grouped, the matrix has for
 * each key/value head its queries, its key and its value; else it is one such group. */
static size_t column_of(const struct making *m, bool by_group, size_t i, size_t *part)
{
    size_t groups = by_group ? m->c->model->w.n.Hkv : 1;
    size_t q = m->at[1] / groups, kv = (m->at[2] - m->at[1]) / groups, group = i / (q + 2 * kv), at = i % (q + 2 * kv);
    *part = at < q ? 0 : at < q + kv ? 1 : 2;
    return *part == 0 ? group * q + at : group * kv + (at - q) % kv;
}

/* The fused matrix is by group in the first way, and three blocks in the second. */
static void make_split(double *y, const double *x, const void *self)
{
    const struct making *m = self;
    size_t mine = part_of(m->c);
    for (size_t part = 0; part < 3; part++)
        attn_remake_multiply(m->all + m->at[part], x, matrix(m->b, part), m->line);
    for (size_t i = 0; i < m->at[3]; i++) {
        size_t was, is_now, column = column_of(m, m->way == 0, i, &was), place = column_of(m, m->way == 1, i, &is_now);
        if (is_now == mine)
            y[place] = m->all[m->at[was] + column];
    }
}

static bool begin(struct making *m, const struct clue *c, struct attn_pair *x)
{
    const struct attn_dims *n = c->model ? &c->model->w.n : NULL;
    *m = (struct making){.c = c, .b = block_of(c)};
    if (!m->b || !attn_clue_input(c, x) || x->n != n->d || x->T != c->p.T ||
        c->p.H * c->p.n != matrix(m->b, part_of(c))->out || c->p.n != (part_of(c) < 2 ? n->dh : n->dv))
        return false;
    size_t widest = n->d;
    for (size_t part = 0; part < 3; part++) {
        const struct attn_mat *w = matrix(m->b, part);
        if (!w->data || w->in != n->d)
            return false;
        m->at[part + 1] = m->at[part] + w->out;
        widest = w->out > widest ? w->out : widest;
    }
    m->all = malloc(m->at[3] * sizeof *m->all);
    m->line = malloc((widest + 1) * sizeof *m->line);
    return m->all && m->line;
}

/* The first of some ways in which one side is what `make` gives, and the other the product as it should be; a: A is
 * the former.  `ways`: none. */
static int made(const struct clue *c, attn_remake_product *make, int ways, bool *a)
{
    struct making m;
    struct attn_pair x;
    bool can = begin(&m, c, &x);
    while (m.way < ways && !(can && attn_remade_with(c, &x, &(struct attn_how){.make = make, .self = &m}, a)))
        m.way++;
    free(m.all);
    free(m.line);
    return m.way;
}

bool attn_clue_by_number(struct clue *c)
{
    bool a;
    return (attn_seems_by_number(&c->p, &a) || (c->p.H > 1 && c->p.n > 1 && made(c, make_by_number, 1, &a) < 1)) &&
           attn_clue_tell(c, a, "@ takes heads number by number, each %zu apart; # as blocks of %zu side by side",
                          c->p.H, c->p.n);
}

/* Whether each of two activations of one side is the other's on the other side. */
static bool exchanged_numbers(const struct clue *c, int first, int second)
{
    struct attn_pair x, y;
    if (!attn_clue_other(c, first, &x) || !attn_clue_other(c, second, &y) || !attn_pair_alike(&x, &y))
        return false;
    struct attn_pair one = x, two = y;
    one.b = y.b;
    two.b = x.b;
    return attn_gap_explained(attn_pair_gap(&one), attn_pair_gap(&x)) &&
           attn_gap_explained(attn_pair_gap(&two), attn_pair_gap(&y));
}

bool attn_clue_exchanged(struct clue *c)
{
    const struct attn_block *b = block_of(c);
    bool a;
    if (exchanged_numbers(c, ATTN_ACT_Q, ATTN_ACT_K))
        return attn_clue_say(c, "q and k are exchanged: q of A is k of B, k of A is q of B");
    return b && b->q.out == b->k.out && made(c, make_exchanged, 2, &a) < 2 &&
           attn_clue_tell(c, a, "q and k are exchanged: @ multiplies by the other's weight");
}

bool attn_clue_split(struct clue *c)
{
    const struct attn_block *b = block_of(c);
    bool a = false;
    int way = b && b->k.out == b->v.out ? made(c, make_split, 2, &a) : 2;
    bool blocks = a == (way == 0);      /* A reads it as three blocks */
    return way < 2 && attn_clue_tell(c, blocks, "the fused qkv matrix: @ reads it as three blocks, # group by group "
                                                "(queries, key and value of each)");
}

bool attn_clue_gate_exchanged(struct clue *c)
{
    return exchanged_numbers(c, ATTN_ACT_MLP_PRE, ATTN_ACT_MLP_LINEAR) &&
           attn_clue_say(c, "gate and up are swapped: the gate of A is what B multiplies by it, and the other way "
                         "round");
}

/* ---- positions of padding -------------------------------------------------------------- */

bool attn_clue_ahead(struct clue *c)
{
    size_t by;
    bool a;
    return attn_seems_ahead(&c->p, &by, &a) &&
           attn_clue_tell(c, a, "row t of @ is row t + %zu of #: positions start at different numbers, as where "
                          "padding in front is counted", by);
}
