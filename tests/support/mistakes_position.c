/* mistakes_position.c - what a port gets wrong about positions: learned, rotary, ALiBi, of padded texts. */
#include "mistakes.h"

#include "reference_position.h"

#include <math.h>

static bool learned(const struct ref_config *c) { return is(c->position, "learned"); }

static bool rotates(const struct ref_config *c, int layer)
{
    return is(c->position, "rope") && !c->still[layer] && !(c->part && !c->rotary);
}

/* ---- learned ---- */

static bool one_late(struct planted *p)
{
    p->c->start = 1;
    return learned(p->c);
}

static bool one_early(struct planted *p)
{
    p->c->start = -1;
    return learned(p->c);
}

static bool no_positions(struct planted *p)
{
    bool had = learned(p->c);
    p->c->position = "none";
    return had;
}

/* ---- rotary ---- */

static bool rotary_from_one(struct planted *p)
{
    p->c->start = 1;
    return rotates(p->c, p->from);
}

static bool other_theta(struct planted *p)
{
    double *theta = p->c->local_theta > 0 && p->c->local[p->from] ? &p->c->local_theta : &p->c->theta;
    bool can = rotates(p->c, p->from);
    *theta = *theta == 10000 ? 500000 : 10000;
    SAYS("theta %g", *theta);
    return can;
}

static bool theta_of_others(struct planted *p)
{
    bool can = p->c->local_theta > 0 && p->c->local[p->from];
    SAYS("theta %g", p->c->theta);
    p->c->local_theta = 0, p->c->scaling = NULL;
    return can;
}

static bool no_scaling(struct planted *p)
{
    bool had = p->c->scaling && rotates(p->c, p->from) && !(p->c->local_theta > 0 && p->c->local[p->from]);
    p->c->scaling = NULL, p->c->grow = 0;
    return had;
}

static bool other_pairs(struct planted *p)
{
    p->c->interleaved = !p->c->interleaved;
    SAYS("A rotates pairs %s", p->c->interleaved ? "(2i, 2i + 1)" : "(i, i + r/2)");
    return rotates(p->c, p->from) && (p->c->part ? p->c->rotary : p->c->dh) > 2;
}

static bool whole_head(struct planted *p)
{
    bool can = p->c->part && p->c->rotary < p->c->dh && rotates(p->c, p->from);
    p->c->part = false;
    SAYS("(%d numbers", p->c->dh);
    return can && !p->c->scaling;
}

static bool half_head(struct planted *p)
{
    bool can = (!p->c->part || p->c->rotary == p->c->dh) && rotates(p->c, p->from) && p->c->dh % 4 == 0;
    p->c->part = true, p->c->rotary = p->c->dh / 2;
    SAYS("(%d numbers", p->c->rotary);
    return can && !p->c->scaling;
}

static bool not_rotated(struct planted *p)
{
    bool can = rotates(p->c, p->from);
    p->c->position = "none";
    return can;
}

static bool if_rotated(struct planted *p)
{
    return rotates(p->c, p->from);
}

/* Turns [heads, T, dh] back, as often as told. */
static void turn_back(const struct planted *p, int layer, double *x, size_t n, int times)
{
    const struct ref_config *c = model_of(p);
    int T = p->port->T, rotary = c->part ? c->rotary : c->dh, half = rotary / 2;
    double grow = c->grow > 0 && !(c->local_theta > 0 && c->local[layer]) ? c->grow : 1;
    for (size_t row = 0; row < n / (size_t)c->dh; row++)
        for (int i = 0; i < half; i++) {
            double turn = times * (double)(row % (size_t)T) * ref_angle(c, layer, T, i, rotary);
            double *one = x + row * (size_t)c->dh + (c->interleaved ? 2 * i : i);
            double *two = c->interleaved ? one + 1 : one + half, a = *one, b = *two;
            *one = (a * cos(turn) + b * sin(turn)) / (times == 1 ? grow : times < 0 ? 1 / grow : 1);
            *two = (b * cos(turn) - a * sin(turn)) / (times == 1 ? grow : times < 0 ? 1 / grow : 1);
        }
}

static void not_turned(struct planted *p, int layer, double *x, size_t n)
{
    turn_back(p, layer, x, n, 1);
}

static void turned_backwards(struct planted *p, int layer, double *x, size_t n)
{
    turn_back(p, layer, x, n, 2);
}

static bool if_head_norm(struct planted *p)
{
    const struct ref_config *c = p->c;
    return rotates(c, p->from) && c->qk_norm && is(c->qk_norm, "head") && is(c->norm, "rmsnorm") &&
           !c->plain && !c->late;
}

static double mean_square(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i] / (double)n;
    return sum;
}

/* What is normalised has then been rotated: the weights act on other numbers, and what rotation grows by is undone. */
static void norm_after_rotation(struct planted *p, int layer, double *x, size_t n, const char *tail)
{
    const struct ref_config *c = model_of(p);
    const double *w = port_weight(p->port, layer, tail);
    size_t dh = (size_t)c->dh;
    turn_back(p, layer, x, n, 1);
    for (size_t i = 0; i < n; i++)
        x[i] /= w[i % dh] + (c->from_one ? 1 : 0);
    turn_back(p, layer, x, n, -1);
    for (size_t row = 0; row < n; row += dh) {
        double by = 1 / sqrt(mean_square(x + row, dh));
        for (size_t i = 0; i < dh; i++)
            x[row + i] *= by * (w[i] + (c->from_one ? 1 : 0));
    }
}

static void q_norm_after(struct planted *p, int layer, double *x, size_t n)
{
    norm_after_rotation(p, layer, x, n, "attn.q_norm.weight");
}

/* ---- ALiBi ---- */

static bool no_alibi(struct planted *p)
{
    bool had = p->c->alibi;
    p->c->alibi = NULL;
    return had;
}

static bool alibi_elsewhere(struct planted *p)
{
    bool had = p->c->alibi;
    p->c->alibi = had && is(p->c->alibi, "early") ? "late" : "early";
    return had;
}

static bool if_alibi(struct planted *p)
{
    return p->c->alibi && is(p->c->alibi, "late");
}

/* What is added to scores has slopes that follow from the number of the head. */
static void add_slopes(struct planted *p, int layer, double *x, size_t n, int first)
{
    const struct ref_config *c = model_of(p);
    const double *dots = port_told(p->port, layer, "attn.dots");
    size_t T = (size_t)p->port->T;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]))
            x[i] = dots[i] / sqrt(c->dh) + pow(2, -8 * ((double)(i / (T * T)) + first) / c->H) * (double)(i % T);
}

static void plain_slopes(struct planted *p, int layer, double *x, size_t n)
{
    add_slopes(p, layer, x, n, 1);
}

static void slopes_from_one(struct planted *p, int layer, double *x, size_t n)
{
    add_slopes(p, layer, x, n, 0);
}

/* ---- padding ---- */

static bool left_padded(struct planted *p)
{
    p->c->start = -p->mistake->padded;
    return true;
}

static bool padded_positions(struct planted *p)
{
    bool learned = is(p->c->position, "learned"), rope = rotates(p->c, 0);
    p->first = learned ? "pos_embed" : rope ? "attn.q" : "attn.pattern";
    return (learned && p->c->n_ctx > p->port->T + p->mistake->padded) || rope;
}

/* ---- the table ---- */

static const struct mistake rows[] = {
    {"positions one late", BEFORE_LAYERS, "pos_embed", "position", "row t of A is row t + 1 of B", .config = one_late},
    {"positions one early", BEFORE_LAYERS, "pos_embed", "position", "row t of B is row t + 1 of A",
     .config = one_early},
    {"no positions", EVERYWHERE, "resid_pre", "position|residual", "A lacks pos_embed", .config = no_positions},
    {"rotary positions from 1", IN_LAYERS, "attn.q", "rotary", "from position 1", .config = rotary_from_one},
    {"another theta", IN_LAYERS, "attn.q", "rotary", NULL, .config = other_theta},
    {"theta of the global layers", IN_LAYERS, "attn.q", "rotary", NULL, .config = theta_of_others},
    {"no rotary scaling", IN_LAYERS, "attn.q", "rotary", "scal", .config = no_scaling},
    {"other rotary pairs", IN_LAYERS, "attn.q", "rotary", NULL, .config = other_pairs},
    {"rotary on the whole head", IN_LAYERS, "attn.q", "rotary", NULL, .config = whole_head},
    {"rotary on half a head", IN_LAYERS, "attn.q", "rotary", NULL, .config = half_head},
    {"not rotated", IN_LAYERS, "attn.q", "rotary", "A does not rotate", .config = not_rotated},
    {"keys not rotated", IN_LAYERS, "attn.k", "rotary", "A does not rotate", .config = if_rotated, .edit = not_turned},
    {"rotated backwards", IN_LAYERS, "attn.q", "rotary", "direction|backwards|sign",
     .config = if_rotated, .edit = turned_backwards, .also = "attn.k"},
    {"queries normalised after rotation", IN_LAYERS, "attn.q", "norm|rotary", "norm",
     .config = if_head_norm, .edit = q_norm_after},
    {"no ALiBi", IN_LAYERS, "attn.scores", "alibi|position", "ALiBi|slope", .config = no_alibi},
    {"ALiBi on the other side of the scale", IN_LAYERS, "attn.scores", "alibi|position", "ALiBi|slope",
     .config = alibi_elsewhere},
    {"ALiBi slopes not split", IN_LAYERS, "attn.scores", "alibi|position", "ALiBi|slope",
     .config = if_alibi, .edit = plain_slopes},
    {"ALiBi slopes from 1", IN_LAYERS, "attn.scores", "alibi|position", "ALiBi|slope",
     .config = if_alibi, .edit = slopes_from_one},
    {"padded in front", EVERYWHERE, "attn.pattern", "padding|mask", "pad|other keys",
     .config = left_padded, .padded = 2},
    {"padded in front, positions too", EVERYWHERE, NULL, "position|rotary|padding|mask", "position|pad",
     .config = padded_positions, .padded = 2},
};
const struct mistakes mistakes_of_positions = {rows, sizeof rows / sizeof *rows};
