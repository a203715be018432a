/* gradients_body.h - derivatives of vec_body.h's functions, the loss, where back-propagation begins, and the
 * optimizer's step.
 *
 * Included by vec_body.h alone.  Some functions are computed again together with their derivatives, which share
 * the exponential, so that nobody has to keep their results. */
#ifndef ATTN_COMPUTE_GRADIENTS_BODY_H
#define ATTN_COMPUTE_GRADIENTS_BODY_H

/* (x Phi(x))' = Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi) */
static void vec_gelu_backward(float *dy, float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 bell, at = get(x + i, n - i, 0), phi = phi16(at, &bell);
        v16 slope = fma16(mul(at, all(0.39894228f)), bell, phi);
        put(dy + i, mul(get(dy + i, n - i, 0), slope), n - i);
        put(x + i, mul(at, phi), n - i);
    }
}

/* The sigmoid s = 1 / (1 + e), e = exp(-u); *rest is 1 - s, computed as e s to avoid cancellation. */
static inline v16 sigmoid16(v16 u, v16 *rest)
{
    v16 e = exp16(mul(u, all(-1.0f))), s = quot(all(1.0f), add(all(1.0f), e));
    *rest = mul(e, s);
    return s;
}

/* (x s(u))' = s + x s (1 - s) u', u = 2 sqrt(2/pi) (x + 0.044715 x^3) */
static void vec_gelu_new_backward(float *dy, float *x, size_t n)
{
    const v16 two = all(1.59576912f);
    for (size_t i = 0; i < n; i += LANES) {
        v16 at = get(x + i, n - i, 0), cube = mul(mul(at, at), all(0.044715f)), rest;
        v16 s = sigmoid16(mul(two, mul(at, add(cube, all(1.0f)))), &rest);
        v16 du = mul(two, fma16(cube, all(3.0f), all(1.0f)));
        v16 slope = fma16(mul(mul(at, s), rest), du, s);
        put(dy + i, mul(get(dy + i, n - i, 0), slope), n - i);
        put(x + i, mul(at, s), n - i);
    }
}

/* (x s(x))' = s + x s (1 - s) */
static void vec_silu_backward(float *dy, float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 rest, at = get(x + i, n - i, 0), s = sigmoid16(at, &rest), silu = mul(at, s);
        put(dy + i, mul(get(dy + i, n - i, 0), fma16(silu, rest, s)), n - i);
        put(x + i, silu, n - i);
    }
}

static void vec_silu_mul_backward(float *dy, float *g, float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 rest, at = get(g + i, n - i, 0), by = get(x + i, n - i, 0), d = get(dy + i, n - i, 0);
        v16 s = sigmoid16(at, &rest), silu = mul(at, s);
        put(dy + i, mul(mul(d, by), fma16(silu, rest, s)), n - i);
        put(x + i, mul(d, silu), n - i);
        put(g + i, mul(silu, by), n - i);
    }
}

/* The gates of gelu: as above, times the other factor. */
static void vec_gelu_mul_backward(float *dy, float *g, float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 bell, at = get(g + i, n - i, 0), by = get(x + i, n - i, 0), d = get(dy + i, n - i, 0),
            phi = phi16(at, &bell);
        v16 slope = fma16(mul(at, all(0.39894228f)), bell, phi), gelu = mul(at, phi);
        put(dy + i, mul(mul(d, by), slope), n - i);
        put(x + i, mul(d, gelu), n - i);
        put(g + i, mul(gelu, by), n - i);
    }
}

static void vec_gelu_new_mul_backward(float *dy, float *g, float *x, size_t n)
{
    const v16 two = all(1.59576912f);
    for (size_t i = 0; i < n; i += LANES) {
        v16 at = get(g + i, n - i, 0), by = get(x + i, n - i, 0), d = get(dy + i, n - i, 0), rest;
        v16 cube = mul(mul(at, at), all(0.044715f)), s = sigmoid16(mul(two, mul(at, add(cube, all(1.0f)))), &rest);
        v16 du = mul(two, fma16(cube, all(3.0f), all(1.0f))), gelu = mul(at, s);
        put(dy + i, mul(mul(d, by), fma16(mul(gelu, rest), du, s)), n - i);
        put(x + i, mul(d, gelu), n - i);
        put(g + i, mul(gelu, by), n - i);
    }
}

static void vec_relu_backward(float *dy, float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 at = get(x + i, n - i, 0);
        put(dy + i, above(at, all(0), get(dy + i, n - i, 0)), n - i);
        put(x + i, max(all(0), at), n - i);
    }
}

static void vec_relu2_backward(float *dy, float *x, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        v16 at = max(all(0), get(x + i, n - i, 0));
        put(dy + i, mul(get(dy + i, n - i, 0), add(at, at)), n - i);
        put(x + i, mul(at, at), n - i);
    }
}

/* tanh' = 1 - tanh^2 */
static void vec_cap_backward(float *dy, const float *y, float cap, size_t n)
{
    const v16 c = all(cap);
    for (size_t i = 0; i < n; i += LANES) {
        v16 t = quot(get(y + i, n - i, 0), c);
        put(dy + i, mul(get(dy + i, n - i, 0), sub(all(1.0f), mul(t, t))), n - i);
    }
}

/* Smaller probabilities count as 0: they change no weight, and arithmetic on denormals is ten times as slow. */
#define PROB_EPS 1e-25f

/* p (dp - sum p dp) s */
static void vec_softmax_backward(float *dp, const float *p, float s, size_t n)
{
    v16 sum = all(0);
    for (size_t i = 0; i < n; i += LANES)
        sum = fma16(get(p + i, n - i, 0), get(dp + i, n - i, 0), sum);
    const v16 dot = all((float)dsum(wide(sum))), by = all(s), least = all(PROB_EPS);
    for (size_t i = 0; i < n; i += LANES) {
        v16 at = get(p + i, n - i, 0);
        put(dp + i, above(at, least, mul(mul(at, by), sub(get(dp + i, n - i, 0), dot))), n - i);
    }
}

/* With h = (x - mean) inv and g = dy w: dx += inv (g - mean(g) - h mean(g h)); without the mean in RMS norms. */
static void vec_norm_backward(const struct attn_norm_backward *b, const float *dy, const float *x, size_t n)
{
    double mu = b->rms ? 0 : sum_row(x, n) / (double)n;
    double sd = 1 / sqrt(sum_squares(x, mu, n) / (double)n + (double)b->eps);
    const d16 mean = dall(mu), inv = dall(sd);
    d16 sum = dall(0), dot = dall(0);
    for (size_t i = 0; i < n; i += LANES) {
        v16 h = centred(get(x + i, n - i, (float)mu), mean, inv), d = get(dy + i, n - i, 0);
        v16 g = mul(d, get(b->w + i, n - i, 0));
        sum = dadd(sum, wide(g));
        dot = dadd(dot, dmul(wide(g), wide(h)));
        put(b->dw + i, fma16(d, h, get(b->dw + i, n - i, 0)), n - i);
        if (b->db)
            put(b->db + i, add(get(b->db + i, n - i, 0), d), n - i);
    }
    const v16 by = all((float)sd), all_g = all(b->rms ? 0 : (float)(dsum(sum) / (double)n));
    const v16 along = all((float)(-dsum(dot) / (double)n));
    for (size_t i = 0; i < n; i += LANES) {
        v16 h = centred(get(x + i, n - i, 0), mean, inv), g = mul(get(dy + i, n - i, 0), get(b->w + i, n - i, 0));
        put(b->dx + i, fma16(by, fma16(h, along, sub(g, all_g)), get(b->dx + i, n - i, 0)), n - i);
    }
}

static double vec_loss(float *x, size_t target, float weight, size_t n)
{
    bool finite;                        /* if not, the loss is not either */
    float at = x[target], top = vec_max(x, 1, n, &finite);
    double total = vec_exp_and_sum(x, 1, top, n);
    const v16 by = all((float)(weight / total)), least = all(PROB_EPS);
    for (size_t i = 0; i < n; i += LANES) {
        v16 e = get(x + i, n - i, 0);
        put(x + i, above(e, least, mul(e, by)), n - i);
    }
    x[target] -= weight;
    return attn_log(total) + (double)top - (double)at;
}

/* A 32-bit hash that looks random (C. Wellons' lowbias32). */
static inline uint32_t scatter(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static void vec_drop(float *y, const float *x, const struct attn_drop *d, uint64_t row, size_t n)
{
    uint64_t mixed = (d->key ^ row) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
    uint32_t low = (uint32_t)mixed, high = (uint32_t)(mixed >> 32);
    for (size_t i = 0; i < n; i++)
        y[i] = scatter(scatter(low + (uint32_t)i) ^ high) >= d->below ? x[i] * d->scale : 0;
}

static double vec_squares(const float *x, size_t n)
{
    return sum_squares(x, 0, n);
}

static void vec_adamw(const struct attn_adamw *a, float *x, float *m, float *v, const float *g, size_t n)
{
    const v16 scale = all(a->scale), decay = all(a->decay), lr = all(-a->lr), bias2 = all(a->bias2), eps = all(a->eps);
    const v16 b1 = all(a->beta1), rest1 = all(1 - a->beta1), b2 = all(a->beta2), rest2 = all(1 - a->beta2);
    for (size_t i = 0; i < n; i += LANES) {
        v16 grad = mul(get(g + i, n - i, 0), scale);
        v16 mean = fma16(rest1, grad, mul(b1, get(m + i, n - i, 0)));
        v16 square = fma16(rest2, mul(grad, grad), mul(b2, get(v + i, n - i, 0)));
        v16 step = quot(mean, fma16(root(square), bias2, eps));
        put(m + i, mean, n - i);
        put(v + i, square, n - i);
        put(x + i, fma16(lr, step, mul(decay, get(x + i, n - i, 0))), n - i);
    }
}

#endif
