/* turns.c - how fast do the pairs of a head turn from one position to the next?
 *
 * Pair m of r numbers turns by theta^(-2m/r) radians.  To take longer texts than they were trained with, models scale that:
 * linear and yarn slow down, yarn only the slow pairs, as does llama3; dynamic and longrope do so only for texts that are longer,
 * see struct attn_turn. */
#include "model/turns.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

static double clip(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Slow rotations are slowed by the factor, fast ones are left alone, and those in between blend both. */
static double llama3(const struct attn_rope_scaling *s, double speed)
{
    double fast = (s->original * speed / (2 * pi) - s->low) / (s->high - s->low);
    if (fast <= 0)
        return speed / s->factor;
    return fast >= 1 ? speed : (1 - fast) * speed / s->factor + fast * speed;
}

/* The pair that makes so many turns in the original context; a real number. */
static double pair_of(double turns, double r, double theta, double context)
{
    return r * log(context / (2 * pi * turns)) / (2 * log(theta));
}

/* What part of its speed a pair gives up for the slower one. */
static double slowed(const struct attn_rope_scaling *s, double pair, double r, double theta, double context)
{
    double low = pair_of(s->beta_fast > 0 ? s->beta_fast : 32, r, theta, context);
    double high = pair_of(s->beta_slow > 0 ? s->beta_slow : 1, r, theta, context);
    if (s->rounded) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, r - 1);
    return clip((pair - low) / (high == low ? 0.001 : high - low));
}

static double yarn_speed(const struct attn_rope_scaling *s, double speed, double pair, double r, double theta, double context)
{
    double slow = slowed(s, pair, r, theta, s->original > 0 ? s->original : context);
    return (1 - slow) * speed + slow * speed / s->factor;
}

static double mscale(double a, double factor) { return factor <= 1 ? 1 : 0.1 * a * log(factor) + 1; }

static double yarn_grows(const struct attn_rope_scaling *s)
{
    if (s->grow > 0)
        return s->grow;
    if (s->mscale > 0 && s->mscale_all > 0)
        return mscale(s->mscale, s->factor) / mscale(s->mscale_all, s->factor);
    return mscale(1, s->factor);
}

/* Longrope: the context before it was extended, and by what. */
struct extension { double context, factor; };

/* Older files state the context beside the scaling, and what stands in the scaling did not count; in newer files both do. */
static struct extension extension_of(const struct attn_config *c, const struct attn_rope_scaling *s)
{
    double n = (double)c->trained_ctx, original = c->original_ctx ? (double)c->original_ctx : c->rope_section ? s->original : 0;
    double context = original > 0 ? original : n;
    bool stated = s->factor > 0 && (c->rope_section || original <= 0);
    return (struct extension){context, stated ? s->factor : n / context};
}

double attn_longrope_grows(const struct attn_config *c, const struct attn_rope_scaling *s)
{
    struct extension e = extension_of(c, s);
    return s->grow > 0 ? s->grow : e.factor <= 1 ? 1 : sqrt(1 + log(e.factor) / log(e.context));
}

static void fill_speeds(double *speed, const struct attn_config *c, const struct attn_rope_scaling *s, double theta)
{
    double r = (double)c->rotary;
    for (size_t m = 0; m < c->rotary / 2; m++) {
        double own = pow(theta, -2 * (double)m / r);
        switch (s->kind) {
        case ATTN_ROPE_LINEAR:   speed[m] = own / s->factor; break;
        case ATTN_ROPE_LLAMA3:   speed[m] = llama3(s, own); break;
        case ATTN_ROPE_YARN:     speed[m] = yarn_speed(s, own, (double)m, r, theta, (double)c->trained_ctx); break;
        case ATTN_ROPE_LONGROPE: speed[m] = own / s->few.x[m]; break;
        case ATTN_ROPE_DEFAULT:
        case ATTN_ROPE_DYNAMIC:  speed[m] = own; break;
        }
    }
}

static bool fill_turn(struct attn_turn *t, double **speed, const struct attn_config *c, const struct attn_rope_scaling *s,
                      double theta)
{
    size_t half = c->rotary / 2;
    *speed = calloc(2 * half + 1, sizeof **speed);
    if (!*speed)
        return false;
    fill_speeds(*speed, c, s, theta);
    *t = (struct attn_turn){.speed = *speed, .grow = 1, .theta = theta, .factor = s->factor};
    if (s->kind == ATTN_ROPE_YARN)
        t->grow = yarn_grows(s);
    if (s->kind == ATTN_ROPE_DYNAMIC)
        t->up_to = c->trained_ctx;
    if (s->kind == ATTN_ROPE_LONGROPE) {
        struct extension e = extension_of(c, s);
        for (size_t m = 0; m < half; m++)
            (*speed)[half + m] = pow(theta, -2 * (double)m / (double)c->rotary) / s->many.x[m];
        t->beyond = *speed + half;
        t->up_to = e.context < (double)SIZE_MAX ? (size_t)e.context : SIZE_MAX;
        t->grow = attn_longrope_grows(c, s);
    }
    return true;
}

bool attn_turns_fill(struct attn_weights *w, double *speeds[2], const struct attn_config *c)
{
    w->rotary = c->rotary;
    w->neighbours = c->neighbours;
    w->turns = !c->rotary ? 0 : c->rope_apart ? 2 : 1;
    for (size_t i = 0; i < w->turns; i++)
        if (!fill_turn(&w->turn[i], &speeds[i], c, i ? &c->local_rope : &c->rope, i ? c->local_theta : c->rope_theta))
            return false;
    return true;
}

/* Powers of 2^(-8/p), where p is the largest power of two up to H; then, for further heads, odd powers of 2^(-4/p). */
void attn_alibi_slopes(float *slope, size_t H)
{
    size_t p = 1;
    while (2 * p <= H)
        p *= 2;
    for (size_t i = 0; i < H; i++)
        slope[i] = (float)(i < p ? exp2(-8 * (double)(i + 1) / (double)p) : exp2(-4 * (double)(2 * (i - p) + 1) / (double)p));
}
