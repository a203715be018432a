/* rope.c - the frequencies of rotary positions: how far is each pair of a head rotated from one position to the next?
 *
 * Pair m of r numbers is rotated by theta^(-2m/r) radians.  To take longer texts than they were trained with, models
 * scale that: linear and yarn slow down, yarn only the slow pairs, as does llama3; dynamic and longrope do so only for
 * texts that are longer, see struct attn_rope. */
#include "model/rope.h"

#include "base/elementary.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

static double clip(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Slow rotations are slowed by the factor, fast ones are left alone, and those in between blend both. */
static double llama3(const struct attn_rope_scaling *s, double inv_freq)
{
    double fast = (s->original * inv_freq / (2 * pi) - s->low) / (s->high - s->low);
    if (fast <= 0)
        return inv_freq / s->factor;
    return fast >= 1 ? inv_freq : (1 - fast) * inv_freq / s->factor + fast * inv_freq;
}

/* The pair that makes so many turns in the original context; a real number. */
static double pair_of(double turns, double r, double theta, double context)
{
    return r * attn_log(context / (2 * pi * turns)) / (2 * attn_log(theta));
}

/* What part of its frequency a pair gives up for the lower one. */
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

static double yarn_inv_freq(const struct attn_rope_scaling *s, double inv_freq, double pair, double r, double theta,
                            double context)
{
    double slow = slowed(s, pair, r, theta, s->original > 0 ? s->original : context);
    return (1 - slow) * inv_freq + slow * inv_freq / s->factor;
}

static double mscale(double a, double factor) { return factor <= 1 ? 1 : 0.1 * a * attn_log(factor) + 1; }

static double yarn_attention_factor(const struct attn_rope_scaling *s)
{
    if (s->attention_factor > 0)
        return s->attention_factor;
    if (s->mscale > 0 && s->mscale_all > 0)
        return mscale(s->mscale, s->factor) / mscale(s->mscale_all, s->factor);
    return mscale(1, s->factor);
}

/* Longrope: the context before it was extended, and by what. */
struct extension { double context, factor; };

/* Older files state the context beside the scaling, and one inside it did not count; in newer files both count. */
static struct extension extension_of(const struct attn_config *c, const struct attn_rope_scaling *s)
{
    double n = (double)c->trained_ctx,
    original = c->original_ctx ? (double)c->original_ctx : c->rope_section ? s->original : 0;
    double context = original > 0 ? original : n;
    bool stated = s->factor > 0 && (c->rope_section || original <= 0);
    return (struct extension){context, stated ? s->factor : n / context};
}

double attn_longrope_attention_factor(const struct attn_config *c, const struct attn_rope_scaling *s)
{
    struct extension e = extension_of(c, s);
    if (s->attention_factor > 0)
        return s->attention_factor;
    return e.factor <= 1 ? 1 : sqrt(1 + attn_log(e.factor) / attn_log(e.context));
}

static void fill_inv_freq(double *inv_freq, const struct attn_config *c, const struct attn_rope_scaling *s,
                          double theta)
{
    double r = (double)c->rotary;
    for (size_t m = 0; m < c->rotary / 2; m++) {
        double own = attn_pow(theta, -2 * (double)m / r);
        switch (s->kind) {
        case ATTN_ROPE_LINEAR:   inv_freq[m] = own / s->factor; break;
        case ATTN_ROPE_LLAMA3:   inv_freq[m] = llama3(s, own); break;
        case ATTN_ROPE_YARN:     inv_freq[m] = yarn_inv_freq(s, own, (double)m, r, theta,
                                                             (double)c->trained_ctx); break;
        case ATTN_ROPE_LONGROPE: inv_freq[m] = own / s->few.x[m]; break;
        case ATTN_ROPE_DEFAULT:
        case ATTN_ROPE_DYNAMIC:  inv_freq[m] = own; break;
        }
    }
}

static bool fill_rope(struct attn_rope *t, double **inv_freq, const struct attn_config *c,
                      const struct attn_rope_scaling *s, double theta)
{
    size_t half = c->rotary / 2;
    *inv_freq = calloc(2 * half + 1, sizeof **inv_freq);
    if (!*inv_freq)
        return false;
    fill_inv_freq(*inv_freq, c, s, theta);
    *t = (struct attn_rope){.inv_freq = *inv_freq, .attention_factor = 1, .theta = theta, .factor = s->factor};
    if (s->kind == ATTN_ROPE_YARN)
        t->attention_factor = yarn_attention_factor(s);
    if (s->kind == ATTN_ROPE_DYNAMIC)
        t->original_max_position = c->trained_ctx;
    if (s->kind == ATTN_ROPE_LONGROPE) {
        struct extension e = extension_of(c, s);
        for (size_t m = 0; m < half; m++)
            (*inv_freq)[half + m] = attn_pow(theta, -2 * (double)m / (double)c->rotary) / s->many.x[m];
        t->long_inv_freq = *inv_freq + half;
        t->original_max_position = e.context < (double)SIZE_MAX ? (size_t)e.context : SIZE_MAX;
        t->attention_factor = attn_longrope_attention_factor(c, s);
    }
    return true;
}

bool attn_rope_fill(struct attn_weights *w, double *inv_freq[2], const struct attn_config *c)
{
    w->rotary = c->rotary;
    w->interleaved = c->interleaved;
    w->backwards = c->backwards;
    w->ropes = !c->rotary ? 0 : c->rope_apart ? 2 : 1;
    for (size_t i = 0; i < w->ropes; i++)
        if (!fill_rope(&w->rope[i], &inv_freq[i], c, i ? &c->local_rope : &c->rope, i ? c->local_theta : c->rope_theta))
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
        slope[i] = (float)(i < p ? attn_pow(2, -8 * (double)(i + 1) / (double)p) :
                           attn_pow(2, -4 * (double)(2 * (i - p) + 1) / (double)p));
}
