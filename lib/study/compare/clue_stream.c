/* clue_stream.c - causes in the residual stream: what is normalised and how, what is added, what happens at the end. */
#include "compare/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "compare/recompute.h"
#include "model/model.h"

/* ---- norms ----------------------------------------------------------------------------- */

static const char *norm_name(const struct attn_norm_fit *f)
{
    return f->kind == ATTN_FIT_RMS ? "RMSNorm" : "LayerNorm";
}

/* Each side's best norm fits that side ten times better than the other side's norm does. */
static bool fits_differ(const struct clue *c, const struct attn_pair *x, struct attn_norm_fit *a,
                        struct attn_norm_fit *b)
{
    const struct attn_pair *p = &c->p;
    if (!attn_fit_norm(a, x->a, p->a, p->T, p->n) || !attn_fit_norm(b, x->b, p->b, p->T, p->n))
        return false;
    return (a->kind != b->kind || a->eps != b->eps) &&
           attn_gap_explained(a->gap, attn_fit_norm_gap(b, x->a, p->a, p->T, p->n)) &&
           attn_gap_explained(b->gap, attn_fit_norm_gap(a, x->b, p->b, p->T, p->n));
}

static bool norm_input(const struct clue *c, struct attn_pair *x)
{
    return attn_clue_input(c, x) && x->T == c->p.T && x->n == c->p.n;
}

/* By how much the weights of a's norm that fit are larger than those of b's. */
static double gain_of(const struct clue *c, const struct attn_pair *x, const struct attn_norm_fit *a,
                      const struct attn_norm_fit *b)
{
    return attn_fit_norm_gain(a, x->a, c->p.a, c->p.T, c->p.n) / attn_fit_norm_gain(b, x->b, c->p.b, c->p.T, c->p.n);
}

static bool near(double x, double y) { return fabs(x / y - 1) <= 0.05; }

/* What an epsilon may be; one that is small beside every variance may be any that is small. */
static const char *name_eps(char buf[48], const struct attn_norm_fit *f, const float *x, const float *y, size_t T,
                            size_t n)
{
    struct attn_eps_range r = attn_fit_norm_range(f, x, y, T, n);
    if (r.least >= r.most)
        attn_snprintf(buf, 48, "%g", r.most);
    else if (r.least > 0)
        attn_snprintf(buf, 48, "%g to %g", r.least, r.most);
    else
        attn_snprintf(buf, 48, "at most %g", r.most);
    return buf;
}

/* Another epsilon leaves the weights as they are. */
bool attn_clue_epsilon(struct clue *c)
{
    struct attn_pair x;
    struct attn_norm_fit a, b;
    char of_a[48], of_b[48];
    return norm_input(c, &x) && fits_differ(c, &x, &a, &b) && a.kind == b.kind && near(gain_of(c, &x, &a, &b), 1) &&
           attn_clue_say(c, "the epsilon of the norm: A adds %s to the variance, B %s",
                         name_eps(of_a, &a, x.a, c->p.a, c->p.T, c->p.n),
                         name_eps(of_b, &b, x.b, c->p.b, c->p.T, c->p.n));
}

/* Divided by the root of the sum of squares, not of their mean: all weights seem smaller by the root of the width. */
bool attn_clue_norm_sum(struct clue *c)
{
    struct attn_pair x;
    struct attn_norm_fit a, b;
    double root = sqrt((double)c->p.n);
    if (!norm_input(c, &x) || !attn_fit_norm(&a, x.a, c->p.a, c->p.T, c->p.n) ||
        !attn_fit_norm(&b, x.b, c->p.b, c->p.T, c->p.n) || a.kind != b.kind || a.gap > 1e-4 || b.gap > 1e-4)
        return false;
    double gain = gain_of(c, &x, &a, &b);
    bool of_a = near(gain * root, 1);
    return (of_a || near(gain, root)) &&
           attn_clue_tell(c, of_a, "the norm: @ divides by the root of the sum of the squares, # by that of their "
                                   "mean");
}

bool attn_clue_norm_kind(struct clue *c)
{
    struct attn_pair x;
    struct attn_norm_fit a, b;
    return norm_input(c, &x) && fits_differ(c, &x, &a, &b) && a.kind != b.kind &&
           attn_clue_say(c, "A uses %s, B %s", norm_name(&a), norm_name(&b));
}

bool attn_clue_norm_weight(struct clue *c)
{
    struct attn_pair x;
    struct attn_norm_fit a, b;
    if (!norm_input(c, &x) || !attn_fit_norm(&a, x.a, c->p.a, c->p.T, c->p.n) ||
        !attn_fit_norm(&b, x.b, c->p.b, c->p.T, c->p.n))
        return false;
    return a.gap < 1e-4 && b.gap < 1e-4 && a.kind == b.kind &&
           attn_clue_say(c, "the same norm of the same input with a different weight or bias (such as 1 + weight)");
}

/* What a branch adds may also be what it gives times a number. */
static bool is_norm_of(const struct clue *c, const struct attn_pair *x, bool a)
{
    struct attn_norm_fit fit;
    bool added = c->act == ATTN_ACT_ADDED || c->act == ATTN_ACT_MLP_ADDED;
    return !added || (attn_fit_norm(&fit, a ? x->a : x->b, a ? c->p.a : c->p.b, x->T, x->n) &&
                      attn_gap_explained(fit.gap, 1));
}

bool attn_clue_norm_left_out(struct clue *c)
{
    struct attn_pair x;
    if (!attn_clue_input(c, &x) || x.H != 1 || x.T != c->p.T || x.n != c->p.n)
        return false;
    double gap_a = attn_gap(c->p.a, x.a, x.T * x.n), gap_b = attn_gap(c->p.b, x.b, x.T * x.n);
    bool a = attn_gap_explained(gap_a, gap_b);
    return (a || attn_gap_explained(gap_b, gap_a)) && is_norm_of(c, &x, !a) &&
           attn_clue_tell(c, a, "@'s %s is what the norm reads, unchanged: it leaves the norm out, # does not",
                          attn_act_tail(c->act));
}

/* What is added in the middle of a block, or at its end: where that is not told apart, what the branch gives. */
static bool branch_of(const struct clue *c, bool mid, struct attn_pair *x)
{
    return attn_clue_other(c, mid ? ATTN_ACT_ADDED : ATTN_ACT_MLP_ADDED, x) ||
           attn_clue_other(c, mid ? ATTN_ACT_OUT : ATTN_ACT_MLP_OUT, x);
}

/* Sums of both sides, of what a norm after the addition reads; owned, NULL: there are none. */
static float *sums_before_norm(const struct clue *c, struct attn_pair *x)
{
    struct attn_pair stream, branch;
    bool mid = c->act == ATTN_ACT_RESID_MID;
    if (!attn_clue_other(c, mid ? ATTN_ACT_RESID_PRE : ATTN_ACT_RESID_MID, &stream) ||
        !branch_of(c, mid, &branch) || stream.H != 1 || branch.H != 1 || stream.T != branch.T || stream.n != branch.n)
        return NULL;
    size_t n = stream.T * stream.n;
    float *sum = malloc(2 * n * sizeof *sum + 1);
    if (!sum)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        sum[i] = stream.a[i] + branch.a[i];
        sum[n + i] = stream.b[i] + branch.b[i];
    }
    *x = attn_pair_of(sum, sum + n, 1, stream.T, stream.n);
    return sum;
}

static bool say_kind(struct clue *c, bool a)
{
    bool rms = attn_remake_norm(c)->rms != a;           /* whether that is A's */
    return attn_clue_say(c, "A uses %s, B %s", rms ? "RMSNorm" : "LayerNorm", rms ? "LayerNorm" : "RMSNorm");
}

static bool say_from_one(struct clue *c, bool a)
{
    bool alone = c->model->config.norm_from_one == a;   /* whether A multiplies by the weight alone */
    return attn_clue_tell(c, !alone, "the norm: @ multiplies by 1 + weight, # by the weight alone");
}

static bool say_slip(struct clue *c, const struct attn_how *how, bool a)
{
    static const char *const text[ATTN_SLIPS][2] = {
        [ATTN_SLIP_LEFT_OUT] = {"is left out", "is there"},
        [ATTN_SLIP_NO_MEAN] = {"does not subtract the mean", "does"},
        [ATTN_SLIP_LATE] = {"comes after rotation", "before"},
        [ATTN_SLIP_OF_SAMPLE] = {"divides by the variance of a sample (n - 1)", "by that of all n numbers"},
        [ATTN_SLIP_EPS_OUTSIDE] = {"adds the epsilon to the root of the variance", "to the variance itself"},
        [ATTN_SLIP_NO_WEIGHTS] = {"does not multiply by its weight", "does"}};
    double eps = (double)c->model->w.eps;
    if (how->slip == ATTN_SLIP_OTHER_KIND)
        return say_kind(c, a);
    if (how->slip == ATTN_SLIP_FROM_ONE)
        return say_from_one(c, a);
    if (how->slip == ATTN_SLIP_EPS)
        return attn_clue_say(c, "the epsilon of the norm: A adds %g to the variance, B %g", a ? how->eps : eps,
                             a ? eps : how->eps);
    return attn_clue_tell(c, a, "the norm that %s shows: in @ it %s, in # %s", attn_act_tail(c->act),
                          text[how->slip][0], text[how->slip][1]);
}

bool attn_clue_norm_slip(struct clue *c)
{
    static const struct attn_how slips[] = {
        {.slip = ATTN_SLIP_LEFT_OUT}, {.slip = ATTN_SLIP_OTHER_KIND}, {.slip = ATTN_SLIP_NO_MEAN},
        {.slip = ATTN_SLIP_NO_WEIGHTS}, {.slip = ATTN_SLIP_FROM_ONE}, {.slip = ATTN_SLIP_OF_SAMPLE},
        {.slip = ATTN_SLIP_LATE}, {ATTN_SLIP_EPS, .eps = 1e-5}, {ATTN_SLIP_EPS, .eps = 1e-6},
        {ATTN_SLIP_EPS, .eps = 1e-12}, {ATTN_SLIP_EPS, .eps = 1e-8}, {ATTN_SLIP_EPS, .eps = 1e-7},
        {ATTN_SLIP_EPS, .eps = 1e-4}, {ATTN_SLIP_EPS, .eps = 1e-3}, {ATTN_SLIP_EPS, .eps = 1e-2},
        {.slip = ATTN_SLIP_EPS_OUTSIDE}};
    struct attn_pair x;
    bool sum = c->act == ATTN_ACT_RESID_MID || c->act == ATTN_ACT_RESID_POST, a, found = false;
    if (!c->model || !attn_remake_norm(c))
        return false;
    float *sums = sum ? sums_before_norm(c, &x) : NULL;
    if (sum ? sums != NULL : attn_clue_input(c, &x))
        for (size_t i = 0; i < sizeof slips / sizeof *slips && !found; i++)
            found = attn_remade_with(c, &x, &slips[i], &a) && say_slip(c, &slips[i], a);
    free(sums);
    return found;
}

/* Without the weights: all columns are stretched by the factor that the two variances differ by. */
bool attn_clue_norm_sample(struct clue *c)
{
    double factor, n = (double)c->p.n, of_sample = sqrt((n - 1) / n);
    if (c->p.H != 1 || !attn_seems_stretched(&c->p, &factor))
        return false;
    bool a = fabs(factor / of_sample - 1) < 0.01 / n, b = fabs(factor * of_sample - 1) < 0.01 / n;
    return (a || b) && attn_clue_tell(c, a, "the norm: @ divides by the variance of a sample (n - 1), # by that of all "
                                      "n numbers");
}

/* ---- what a norm reads ----------------------------------------------------------------- */

static const int norm_sources[] = {ATTN_ACT_RESID_MID, ATTN_ACT_RESID_PRE, ATTN_ACT_NORM1};

/* The gap between a side's norm and that of another activation: with the model's weights, or those that fit best. */
static double normed_gap(const struct clue *c, bool a, int act)
{
    static const struct attn_how as_is = {0};
    struct attn_pair x;
    struct attn_norm_fit fit;
    if (!attn_clue_either(c, act, &x) || !(a ? x.a : x.b) || x.n != c->p.n || x.T != c->p.T)
        return INFINITY;
    if (c->model && attn_remake_norm(c))
        return attn_remake_gap(c, a, &x, &as_is);
    return attn_fit_norm(&fit, a ? x.a : x.b, a ? c->p.a : c->p.b, x.T, x.n) ? fit.gap : INFINITY;
}

static int normed_by(const struct clue *c, bool a)
{
    double least = INFINITY;
    int found = -1;
    for (size_t i = 0; i < sizeof norm_sources / sizeof *norm_sources; i++) {
        double gap = normed_gap(c, a, norm_sources[i]);
        if (gap < least) {
            least = gap;
            found = norm_sources[i];
        }
    }
    return attn_gap_explained(least, 1) ? found : -1;
}

/* Parallel branches both read the block's input, sequential ones do not. */
bool attn_clue_norm_reads(struct clue *c)
{
    int a = normed_by(c, true), b = a < 0 ? -1 : normed_by(c, false);
    if (b < 0 || a == b || !attn_gap_explained(normed_gap(c, true, a), normed_gap(c, true, b)) ||
        !attn_gap_explained(normed_gap(c, false, b), normed_gap(c, false, a)))
        return false;
    bool late = a == ATTN_ACT_RESID_MID;
    if (late || b == ATTN_ACT_RESID_MID)
        return attn_clue_tell(c, !late, "@'s norm reads the block's input (parallel branches), #'s the residual after "
                              "attention (sequential)");
    bool normed = a == ATTN_ACT_NORM1;
    return attn_clue_tell(c, normed, "@'s norm reads what the first norm gives, #'s the stream itself: what is "
                          "normalised takes the place of the stream on one side only");
}

/* ---- what is added --------------------------------------------------------------------- */

enum { TERMS = 8, TAIL = 160 };
struct terms { int act[TERMS]; size_t n; };

static struct terms terms_of(const struct clue *c)
{
    struct attn_pair x;
    int out = attn_clue_either(c, ATTN_ACT_OUT, &x) ? ATTN_ACT_OUT : ATTN_ACT_CONTEXT;
    switch (c->act) {
    case ATTN_ACT_RESID_PRE:
        return (struct terms){{ATTN_ACT_EMBED, ATTN_ACT_POS_EMBED}, c->layer == 0 ? 2 : 0};
    case ATTN_ACT_RESID_MID:
        return (struct terms){{ATTN_ACT_RESID_PRE, ATTN_ACT_NORM1, out, ATTN_ACT_ADDED}, 4};
    case ATTN_ACT_RESID_POST:
        return (struct terms){{ATTN_ACT_RESID_MID, ATTN_ACT_RESID_PRE, ATTN_ACT_NORM1, ATTN_ACT_NORM2, out,
                               ATTN_ACT_ADDED, ATTN_ACT_MLP_OUT, ATTN_ACT_MLP_ADDED}, 8};
    default:
        return (struct terms){.n = 0};
    }
}

/* The terms as a side has them; NULL: not at all, or in another shape. */
static void gather(const struct clue *c, const struct terms *of, bool a, const float *x[TERMS])
{
    struct attn_pair p;
    for (size_t i = 0; i < of->n; i++) {
        bool has = attn_clue_either(c, of->act[i], &p) && p.T == c->p.T && p.n == c->p.n;
        x[i] = !has ? NULL : a ? p.a : p.b;
    }
}

struct two_sums { struct terms of; int a[TERMS], b[TERMS]; };   /* how often each side adds each term */

/* Each side is a sum of terms that does not explain the other one. */
static bool sums_differ(const struct clue *c, struct two_sums *s)
{
    const float *x[TERMS], *y[TERMS];
    double gap_a, gap_b;
    size_t n = s->of.n, T = c->p.T, width = c->p.n;
    if (c->p.H != 1 || !n)
        return false;
    gather(c, &s->of, true, x);
    gather(c, &s->of, false, y);
    return attn_fit_sum(s->a, &gap_a, c->p.a, x, n, T, width) && attn_fit_sum(s->b, &gap_b, c->p.b, y, n, T, width) &&
           attn_gap_explained(gap_a, attn_fit_sum_gap(s->b, c->p.a, x, n, T, width)) &&
           attn_gap_explained(gap_b, attn_fit_sum_gap(s->a, c->p.b, y, n, T, width));
}

static void list_terms(char out[TAIL], const struct terms *of, const int *times)
{
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < of->n && n < TAIL - 32; i++)
        if (times[i])
            n += (size_t)snprintf(out + n, TAIL - n, "%s%s%s", n ? " + " : "", times[i] > 1 ? "2 " : "",
                                  attn_act_tail(of->act[i]));
}

static bool is_branch(int act, bool mlp)
{
    return mlp ? act == ATTN_ACT_MLP_OUT : act == ATTN_ACT_OUT || act == ATTN_ACT_CONTEXT;
}

/* How what is added differs from what the branch gives, on a side that has both. */
static void say_made(const struct clue *c, int added, int out, char text[TAIL])
{
    struct attn_pair x, y;
    struct attn_norm_fit fit;
    double factor;
    if (!attn_clue_either(c, added, &x) || !attn_clue_either(c, out, &y) || x.T != y.T || x.n != y.n)
        return;
    const float *to = x.a && y.a ? x.a : x.b, *from = x.a && y.a ? y.a : y.b;
    if (!to || !from)
        return;
    struct attn_pair both = attn_pair_of(to, from, 1, x.T, x.n);
    if (attn_seems_scaled(&both, &factor))
        attn_snprintf(text, TAIL, ", where %s is %s times %.6g", attn_act_tail(added), attn_act_tail(out), factor);
    else if (attn_fit_norm(&fit, from, to, x.T, x.n) && attn_gap_explained(fit.gap, 1))
        snprintf(text, TAIL, ", where %s is %s after a norm", attn_act_tail(added), attn_act_tail(out));
}

/* What two terms have to do with each other that take each other's place. */
static void say_exchange(const struct clue *c, const struct two_sums *s, char text[TAIL])
{
    int only[2] = {-1, -1};
    text[0] = '\0';
    for (size_t i = 0; i < s->of.n; i++)
        if (s->a[i] != s->b[i])
            only[s->a[i] < s->b[i]] = s->of.act[i];
    for (int k = 0; k < 2; k++)
        if (only[k] == ATTN_ACT_NORM1 || only[k] == ATTN_ACT_NORM2)
            snprintf(text, TAIL, ": on %c the residual is what the norm gives", k ? 'B' : 'A');
        else if (only[k] == ATTN_ACT_ADDED && is_branch(only[!k], false))
            say_made(c, only[k], only[!k], text);
        else if (only[k] == ATTN_ACT_MLP_ADDED && is_branch(only[!k], true))
            say_made(c, only[k], only[!k], text);
}

/* Whether x has every term at least as often as y. */
static bool covers(const struct two_sums *s, const int *x, const int *y)
{
    for (size_t i = 0; i < s->of.n; i++)
        if (x[i] < y[i])
            return false;
    return true;
}

/* One side lacks some of the terms that the other has. */
static bool say_lacking(struct clue *c, const struct two_sums *s, bool a)
{
    const int *fewer = a ? s->a : s->b, *more = a ? s->b : s->a;
    int lacking[TERMS] = {0};
    char text[TAIL];
    bool twice = true;
    for (size_t i = 0; i < s->of.n; i++) {
        lacking[i] = more[i] - fewer[i];
        twice &= !lacking[i] || fewer[i];
    }
    list_terms(text, &s->of, lacking);
    return twice ? attn_clue_tell(c, !a, "@ adds %s twice, # once", text)
                 : attn_clue_tell(c, a, "@ lacks %s, which # adds", text);
}

bool attn_clue_sums(struct clue *c)
{
    struct two_sums s = {.of = terms_of(c)};
    char a[TAIL], b[TAIL], more[TAIL];
    if (!sums_differ(c, &s))
        return false;
    if (covers(&s, s.b, s.a) || covers(&s, s.a, s.b))
        return say_lacking(c, &s, covers(&s, s.b, s.a));
    list_terms(a, &s.of, s.a);
    list_terms(b, &s.of, s.b);
    say_exchange(c, &s, more);
    return attn_clue_say(c, "A is %s, B is %s%s", a, b, more);
}

/* Where terms are not on both sides, the difference may still be one. */
bool attn_clue_added(struct clue *c)
{
    static const int terms[] = {ATTN_ACT_RESID_PRE, ATTN_ACT_EMBED, ATTN_ACT_POS_EMBED, ATTN_ACT_OUT, ATTN_ACT_CONTEXT,
                                ATTN_ACT_RESID_MID, ATTN_ACT_MLP_OUT};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        struct attn_pair term;
        double sign;
        if (terms[i] != c->act && attn_clue_other(c, terms[i], &term) && term.H * term.n == c->p.n &&
            term.T == c->p.T && attn_seems_sum(&c->p, term.a, &sign))
            return attn_clue_tell(c, sign < 0, "@ lacks %s, which # adds", attn_act_tail(terms[i]));
    }
    return false;
}

/* ---- the end --------------------------------------------------------------------------- */

bool attn_clue_capped(struct clue *c)
{
    double cap;
    bool a;
    return attn_seems_capped(&c->p, &cap, &a) &&
           attn_clue_tell(c, a, "the soft cap: @ is %.6g * tanh(# / %.6g), # is not capped", cap, cap);
}
