/* adamw_body.h - the optimizer's step for a row of parameters.  Included by vec_body.h alone. */

static double squares(const float *x, size_t n)
{
    return sum_squares(x, 0, n);
}

static void adamw(const struct attn_adamw *a, float *x, float *m, float *v, const float *g, size_t n)
{
    const v16 scale = all(a->scale), keep = all(a->keep), rate = all(-a->rate), spread = all(a->spread), eps = all(a->eps);
    const v16 b1 = all(a->beta1), rest1 = all(1 - a->beta1), b2 = all(a->beta2), rest2 = all(1 - a->beta2);
    for (size_t i = 0; i < n; i += LANES) {
        v16 grad = mul(get(g + i, n - i, 0), scale);
        v16 mean = fma16(rest1, grad, mul(b1, get(m + i, n - i, 0)));
        v16 square = fma16(rest2, mul(grad, grad), mul(b2, get(v + i, n - i, 0)));
        v16 step = quot(mean, fma16(root(square), spread, eps));
        put(m + i, mean, n - i);
        put(v + i, square, n - i);
        put(x + i, fma16(rate, step, mul(keep, get(x + i, n - i, 0))), n - i);
    }
}
