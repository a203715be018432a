/* reference_position.c - how positions enter the decoder in double precision: angles and slopes. */
#include "reference_position.h"

#include <math.h>
#include <string.h>

/* What part of its speed a pair gives up under "yarn", as the paper has it: none if it turns often in
 * the original context. */
static double slowed(const struct ref_config *c, int i, int rotary)
{
    double context = c->original > 0 ? c->original : c->n_ctx, bound[2];
    double turns[2] = {c->beta_fast > 0 ? c->beta_fast : 32, c->beta_slow > 0 ? c->beta_slow : 1};
    for (int k = 0; k < 2; k++)
        bound[k] = rotary * log(context / (2 * acos(-1) * turns[k])) / (2 * log(c->theta));
    double low = fmax(c->real ? bound[0] : floor(bound[0]), 0),
        high = fmin(c->real ? bound[1] : ceil(bound[1]), rotary - 1);
    return fmin(1, fmax(0, (i - low) / (high == low ? 0.001 : high - low)));
}

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* The rotation angle of pair i at position 1; "llama3" scaling depends on the wavelength, as in the paper of Llama 3.1;
 * two kinds depend on the length of the text. */
double ref_angle(const struct ref_config *c, int layer, int T, int i, int rotary)
{
    bool own = c->local_theta > 0 && c->local[layer];
    double plain = pow(own ? c->local_theta : c->theta, -2.0 * i / rotary);
    if (!c->scaling || own)
        return plain;
    double slow = plain / c->factor;
    if (is(c->scaling, "linear"))
        return slow;
    if (is(c->scaling, "yarn"))
        return slowed(c, i, rotary) * slow + (1 - slowed(c, i, rotary)) * plain;
    if (is(c->scaling, "dynamic")) {
        double n = T > c->n_ctx ? T : c->n_ctx;
        return pow(c->theta * pow(c->factor * n / c->n_ctx - c->factor + 1, rotary / (rotary - 2.0)),
                   -2.0 * i / rotary);
    }
    if (is(c->scaling, "longrope"))
        return plain / (T > c->original ? c->many : c->few)[i];
    double wavelength = 2 * acos(-1) / plain;
    if (wavelength > c->original / c->low)
        return slow;
    if (wavelength < c->original / c->high)
        return plain;
    double smooth = (c->original / wavelength - c->low) / (c->high - c->low);
    return (1 - smooth) * slow + smooth * plain;
}

/* ---- sinusoids ---- */

/* Sines, then cosines, of speeds from 1 to 1/10000; the last number of an odd width is 0. */
void ref_sinusoid(double *x, int d, int p)
{
    int half = d / 2;
    for (int m = 0; m < half; m++) {
        double speed = pow(10000, -(double)m / (half - 1));
        x[m] = sin(p * speed);
        x[half + m] = cos(p * speed);
    }
    if (d % 2)
        x[d - 1] = 0;
}

/* ---- ALiBi ---- */

static double to_bf16(double x)
{
    int e;
    double m = frexp(x, &e);            /* 8 bits of it stay */
    return ldexp(rint(ldexp(m, 8)), e - 8);
}

/* The slope of head h of H: powers of 2^(-8/p) for the largest power of two p up to H, then odd powers of 2^(-4/p). */
static double slope(int h, int H)
{
    int p = 1;
    while (2 * p <= H)
        p *= 2;
    return h < p ? pow(2, -8.0 * (h + 1) / p) : pow(2, -4.0 * (2 * (h - p) + 1) / p);
}

/* The score of key j, which is its scaled product with the query before this. */
double ref_score(const struct ref_config *c, int h, int j, double dot, double scale)
{
    double early = c->alibi && is(c->alibi, "early") ? to_bf16(to_bf16(slope(h, c->H)) * to_bf16(j)) : 0;
    double score = (dot + early) * scale + (c->alibi && !is(c->alibi, "early") ? slope(h, c->H) * j : 0);
    return c->cap > 0 ? c->cap * tanh(score / c->cap) : score;
}
