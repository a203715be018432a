/* clue_position.c - causes in rotary positions: are queries and keys rotated by what the model's configuration says?
 *
 * With a model one side must be rotated as the model does it, and the other in some other way: those that ports take by
 * mistake are tried, and then the angles are measured.  Without one, usual rotations are tried on both sides. */
#include "compare/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "compare/recompute.h"
#include "compute/position.h"
#include "model/model.h"
#include "model/rope.h"

enum { MOST = 64, NAME = 160 };

/* Rotations to try, and what is said of each; frequencies are rows of `inv_freq`, [MOST, half]. */
struct rotations {
    struct attn_rotation item[MOST]; size_t n;
    const char *more[MOST];             /* said of it, after a comma; or NULL */
    double *inv_freq; size_t half;
};

static const char unscaled[] = "not scaled", scaled[] = "scaled as the configuration says";

static double *inv_freq_at(struct rotations *all, size_t i) { return all->inv_freq + i * all->half; }

/* Adds a rotation; returns the row for its frequencies, which it has if they do not follow from theta. */
static double *add(struct rotations *all, struct attn_rotation by, const char *more, bool own_inv_freq)
{
    if (all->n == MOST || by.r / 2 > all->half)
        return NULL;
    double *inv_freq = inv_freq_at(all, all->n);
    if (own_inv_freq)
        by.inv_freq = inv_freq;
    all->more[all->n] = more;
    all->item[all->n++] = by;
    return inv_freq;
}

/* Whether the angles are other ones than those of theta. */
static bool is_scaled(const struct attn_rotation *rope)
{
    bool other = rope->attention_factor > 0 && rope->attention_factor != 1;
    for (size_t i = 0; i < rope->r / 2 && rope->inv_freq; i++)
        other |= fabs(rope->inv_freq[i] / pow(rope->theta, -2 * (double)i / (double)rope->r) - 1) > 1e-9;
    return other;
}

/* As the model rotates some of its layers, in a text of so many tokens. */
static void add_models(struct rotations *all, const struct attn_weights *w, size_t which, size_t tokens)
{
    const struct attn_rope *rope = &w->rope[which];
    const struct attn_rotation r = {.pairing = w->interleaved ? ATTN_ADJACENT : ATTN_HALVES, .theta = rope->theta,
                                    .r = w->rotary, .attention_factor = rope->attention_factor};
    double *inv_freq = add(all, r, NULL, true);
    for (size_t i = 0; inv_freq && i < w->rotary / 2; i++)
        inv_freq[i] = attn_rope_inv_freq(w, rope, i, tokens);
    if (inv_freq && is_scaled(&all->item[all->n - 1]))
        all->more[all->n - 1] = scaled;
}

/* As `by`, but the angles are those of theta; scales: the model's are not. */
static void add_plain(struct rotations *all, struct attn_rotation by, bool scales)
{
    by.inv_freq = NULL;
    by.attention_factor = 0;
    add(all, by, scales ? unscaled : NULL, false);
}

/* Rotation number `which` with the scaling that the configuration has, and another theta. */
static void add_theta(struct rotations *all, const struct clue *c, struct attn_rotation by, int which, double theta)
{
    struct attn_config config = c->model->config;
    struct attn_weights w = c->model->w;
    double *tables[2] = {NULL, NULL};
    config.rope_theta = config.local_theta = theta;
    if (attn_rope_fill(&w, tables, &config) && w.rotary == by.r) {
        by.theta = theta;
        by.attention_factor = w.rope[which].attention_factor;
        double *inv_freq = add(all, by, scaled, true);
        for (size_t i = 0; inv_freq && i < by.r / 2; i++)
            inv_freq[i] = attn_rope_inv_freq(&w, &w.rope[which], i, c->p.T);
    }
    free(tables[0]);
    free(tables[1]);
}

/* Otherwise in one respect: pairs, direction, where positions start. */
static void add_variants(struct rotations *all, struct attn_rotation right, const char *more)
{
    struct attn_rotation other = right;
    other.pairing = right.pairing == ATTN_HALVES ? ATTN_ADJACENT : ATTN_HALVES;
    add(all, other, more, false);
    other = right;
    other.backwards = true;
    add(all, other, more, false);
    for (long start = 1; start <= 8; start++) {
        other = right;
        other.start = start;
        add(all, other, more, false);
    }
    if (right.attention_factor > 0 && right.attention_factor != 1) {
        other = right;
        other.attention_factor = 0;
        add(all, other, "without the factor of cosines and sines", false);
    }
}

static void add_thetas(struct rotations *all, const struct clue *c, struct attn_rotation right, int which, bool scales)
{
    static const double thetas[] = {10000, 500000, 1000000, 100000};
    for (size_t i = 0; i < sizeof thetas / sizeof *thetas; i++)
        if (thetas[i] != right.theta) {
            struct attn_rotation other = right;
            if (scales)
                add_theta(all, c, right, which, thetas[i]);
            other.theta = thetas[i];
            add_plain(all, other, scales);
        }
}

static void add_widths(struct rotations *all, const struct attn_rotation *right, size_t dh, bool scales)
{
    const size_t widths[] = {dh, dh / 2, dh / 4};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (widths[i] != right->r && widths[i] >= 2 && widths[i] % 2 == 0) {
            struct attn_rotation other = *right;
            other.r = widths[i];
            add_plain(all, other, scales);
        }
}

/* The last numbers of a head instead of the first. */
static void add_last(struct rotations *all, struct attn_rotation right, size_t dh, const char *more)
{
    right.first = dh - right.r;
    if (right.first)
        add(all, right, more, false);
}

/* The first is the model's own in this layer; the others are what ports take for it. */
static void list_rotations(struct rotations *all, const struct clue *c)
{
    const struct attn_weights *w = &c->model->w;
    const struct attn_rotation unrotated = {.pairing = ATTN_UNROTATED};
    int which = c->act == ATTN_ACT_V ? -1 : w->block[c->layer].rope;
    if (which < 0)
        add(all, unrotated, NULL, false);
    for (size_t i = 0; i < w->ropes; i++)
        add_models(all, w, which < 0 ? i : which == 0 ? i : w->ropes - 1 - i, c->p.T);
    if (which < 0 || !all->n)
        return;
    const struct attn_rotation right = all->item[0];
    bool scales = all->more[0] != NULL;
    add(all, unrotated, NULL, false);
    for (size_t i = 0; i < w->ropes; i++)
        if (i > 0 || scales)
            add_plain(all, all->item[i], all->more[i] != NULL);
    add_variants(all, right, all->more[0]);
    add_last(all, right, c->p.n, all->more[0]);
    add_widths(all, &right, c->p.n, scales);
    add_thetas(all, c, right, which, scales);
}

/* ---- words ----------------------------------------------------------------------------- */

static void name_rotation(char out[NAME], const struct attn_rotation *t, const char *more)
{
    char by[64];
    if (t->theta > 0 || !t->inv_freq)
        attn_snprintf(by, sizeof by, "theta %g", t->theta);
    else
        attn_snprintf(by, sizeof by, "the last pair by %.6g radians a token, times %.6g", t->inv_freq[t->r / 2 - 1],
                      t->attention_factor);
    if (t->pairing == ATTN_UNROTATED)
        snprintf(out, NAME, "does not rotate");
    else
        snprintf(out, NAME, "rotates pairs %s%s (%s%zu numbers, %s, from position %ld%s%s)",
                 t->pairing == ATTN_HALVES ? "(i, i + r/2)" : "(2i, 2i + 1)", t->backwards ? " backwards" : "",
                 t->first ? "the last " : "", t->r, by, t->start,
                 more ? ", " : "", more ? more : "");
}

static bool say(struct clue *c, const struct attn_rotation *a, const char *more_a, const struct attn_rotation *b,
                const char *more_b)
{
    char of_a[NAME], of_b[NAME];
    name_rotation(of_a, a, more_a);
    name_rotation(of_b, b, more_b);
    return attn_clue_say(c, "rotary positions: A %s, B %s", of_a, of_b);
}

/* Whether the input tells that side a is computed as the model does, and the other is not. */
static bool is_right(const struct clue *c, bool a)
{
    static const struct attn_how as_is = {0};
    struct attn_pair x;
    return attn_clue_input(c, &x) &&
           attn_gap_explained(attn_remake_gap(c, a, &x, &as_is), attn_remake_gap(c, !a, &x, &as_is));
}

/* That one side starts later is the same as that the other starts earlier. */
static bool say_rotations(struct clue *c, struct rotations *all, size_t other, bool a)
{
    if (all->item[other].start > 0 && is_right(c, a)) {
        all->item[other].start = -all->item[other].start;
        a = !a;
    }
    size_t of_a = a ? other : 0, of_b = a ? 0 : other;
    return say(c, &all->item[of_a], all->more[of_a], &all->item[of_b], all->more[of_b]);
}

/* ---- angles that are measured ---------------------------------------------------------- */

/* Theta has few digits: what was measured has some more, of rounding.  0: none. */
static double theta_of(const double *inv_freq, size_t r)
{
    if (r < 4 || !(inv_freq[1] > 0) || !(inv_freq[1] < 1))
        return 0;
    double theta = pow(inv_freq[1], -(double)r / 2), digit = pow(10, floor(log10(theta)) - 3);
    return isfinite(theta) && digit > 0 ? rint(theta / digit) * digit : 0;
}

/* Whether side a is the other one turned from position 0 on by angles that no list has; `all` has room for them.  If
 * nothing tells which side is right, these must be those of some theta: others could be made up for either side. */
static bool measured(struct clue *c, struct rotations *all, bool a, float *back)
{
    const struct attn_rotation right = all->item[0];
    struct attn_rotation other = right;
    size_t which;
    bool side;
    all->n = 1;
    attn_rotate_back(back, a ? c->p.b : c->p.a, &c->p, &right);
    double *inv_freq = add(all, other, "angles of its own", true);
    all->item[1].theta = 0;
    all->item[1].attention_factor = attn_rope_measure(inv_freq, a ? c->p.a : c->p.b, back, &c->p, &other);
    other.theta = theta_of(inv_freq, other.r);
    if (other.theta > 0)
        add_plain(all, other, all->more[0] != NULL);
    for (size_t i = all->n - 1, least = is_right(c, !a) ? 1 : 2; i >= least; i--)
        if (attn_seems_misrotated(&c->p, &right, &all->item[i], 1, &which, &side) && side == a)
            return say_rotations(c, all, i, a);
    return false;
}

/* The model if its heads are as wide as these, and some of them rotate. */
static const struct attn_weights *rotating(const struct clue *c)
{
    const struct attn_weights *w = c->model ? &c->model->w : NULL;
    bool here = w && c->layer >= 0 && (size_t)c->layer < w->n.L && c->p.n == w->n.dh;
    return here && w->rotary && c->p.T > 1 ? w : NULL;
}

static bool by_model(struct clue *c)
{
    if (!rotating(c))
        return false;
    struct rotations all = {.half = c->p.n / 2};
    size_t which;
    bool a, found = false;
    float *back = malloc(c->p.H * c->p.T * c->p.n * sizeof *back + 1);
    all.inv_freq = malloc(MOST * all.half * sizeof *all.inv_freq + 1);
    if (back && all.inv_freq) {
        list_rotations(&all, c);
        found = attn_seems_misrotated(&c->p, &all.item[0], all.item + 1, all.n - 1, &which, &a) &&
                say_rotations(c, &all, which + 1, a);
        for (int s = 0; s < 2 && !found && all.item[0].pairing != ATTN_UNROTATED; s++)
            found = !is_right(c, s == 0) && measured(c, &all, s == 0, back);
    }
    free(all.inv_freq);
    free(back);
    return found;
}

bool attn_clue_rotary(struct clue *c)
{
    struct attn_rotation a, b;
    if (by_model(c))
        return true;
    return c->p.n >= 2 && c->p.T >= 2 && attn_seems_rotated(&c->p, attn_clue_theta(c), &a, &b) &&
           say(c, &a, NULL, &b, NULL);
}

/* Before both are rotated as the model does, the difference is the same in all rows. */
bool attn_clue_rotated_offset(struct clue *c)
{
    const struct attn_weights *w = rotating(c);
    if (!w || w->block[c->layer].rope < 0)
        return false;
    struct rotations all = {.half = c->p.n / 2};
    size_t n = c->p.H * c->p.T * c->p.n;
    float *back = malloc(2 * n * sizeof *back + 1);
    all.inv_freq = malloc(all.half * sizeof *all.inv_freq + 1);
    bool found = false;
    if (back && all.inv_freq) {
        add_models(&all, w, (size_t)w->block[c->layer].rope, c->p.T);
        attn_rotate_back(back, c->p.a, &c->p, &all.item[0]);
        attn_rotate_back(back + n, c->p.b, &c->p, &all.item[0]);
        const struct attn_pair before = attn_pair_of(back, back + n, c->p.H, c->p.T, c->p.n);
        found = attn_seems_offset(&before);
    }
    free(all.inv_freq);
    free(back);
    return found && attn_clue_say(c, "A - B is the same in every row before rotation: a bias is missing or different "
                                  "on one side");
}
