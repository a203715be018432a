#include "orders.h"

#include "draw.h"

#include "compare/evidence.h"

#include <math.h>
#include <string.h>

/* ---- sums of n products x[i] y[i], or for y NULL of numbers x[i], all of them float32 ---- */

static double factor(const double *y, int i) { return y ? y[i] : 1; }
static float product(const double *x, const double *y, int i) { return (float)x[i] * (float)factor(y, i); }
static double rounded(double x) { return (double)(float)x; }
static double multiply_add(double sum, double x, double y) { return rounded(sum + x * y); }

static double ascending(const double *x, const double *y, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += product(x, y, i);
    return (double)sum;
}

static double descending(const double *x, const double *y, int n)
{
    float sum = 0;
    for (int i = n; i-- > 0;)
        sum += product(x, y, i);
    return (double)sum;
}

static double fused(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum = multiply_add(sum, x[i], factor(y, i));
    return sum;
}

static double pairwise(const double *x, const double *y, int n)
{
    int half = n / 2;
    if (n < 9)
        return ascending(x, y, n);
    return rounded(pairwise(x, y, half) + pairwise(x + half, y ? y + half : NULL, n - half));
}

/* Number i goes to lane i % lanes, as in vectors; lanes are then added by halves, or one after the other. */
static inline double in_lanes(const double *x, const double *y, int n, int lanes, bool by_halves)
{
    double sum[32] = {0};
    for (int i = 0; i < n; i += lanes)
        for (int k = 0; k < lanes && i + k < n; k++)
            sum[k] = multiply_add(sum[k], x[i + k], factor(y, i + k));
    for (int half = lanes / 2; by_halves && half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            sum[i] = rounded(sum[i] + sum[i + half]);
    for (int i = 1; !by_halves && i < lanes; i++)
        sum[0] = rounded(sum[0] + sum[i]);
    return sum[0];
}

static double lanes_8(const double *x, const double *y, int n) { return in_lanes(x, y, n, 8, true); }
static double lanes_16(const double *x, const double *y, int n) { return in_lanes(x, y, n, 16, true); }
static double lanes_32(const double *x, const double *y, int n) { return in_lanes(x, y, n, 32, false); }

/* Parts of 32 numbers are summed alone, as by several threads. */
static double in_parts(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i += 32)
        sum = rounded(sum + fused(x + i, y ? y + i : NULL, n - i < 32 ? n - i : 32));
    return sum;
}

static double exact(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * factor(y, i);
    return rounded(sum);
}

/* ---- steps done otherwise ---- */

static bool is(const char *a, const char *b) { return !strcmp(a, b); }

static double scale_of(const struct ref_config *c, int layer)
{
    double plain = (c->scale ? 1 / sqrt(c->dh) : 1) / (c->by_layer ? layer + 1 : 1);
    return c->attention_scale > 0 ? c->attention_scale : plain;
}

/* Scores from queries, and perhaps keys, that were multiplied before; only where scores are nothing but products. */
static void scale_before(const struct port *p, const struct order *o, int layer, double *scores)
{
    const struct ref_config *c = p->model->config;
    const double *q = port_told(p, layer, "attn.q"), *k = port_told(p, layer, "attn.k");
    double scale = rounded(scale_of(c, layer)), root = rounded(sqrt(scale));
    double of_q = o->scale == SCALE_BOTH ? root : scale, of_k = o->scale == SCALE_BOTH ? root : 1;
    double x[512], y[512];
    for (int h = 0, at = 0; h < c->H && !c->alibi && !(c->cap > 0); h++)
        for (int t = 0; t < p->T; t++)
            for (int j = 0; j < p->T; j++, at++) {
                for (int i = 0; i < c->dh; i++) {
                    x[i] = rounded(q[(h * p->T + t) * c->dh + i] * of_q);
                    y[i] = rounded(k[(h / (c->H / c->Hkv) * p->T + j) * c->dh + i] * of_k);
                }
                if (isfinite(scores[at]))
                    scores[at] = o->dot(x, y, c->dh);
            }
}

static void other_softmax(const struct port *p, const struct order *o, int layer, double *pattern, size_t n)
{
    const double *scores = port_told(p, layer, "attn.scores");
    for (size_t row = 0; row < n; row += (size_t)p->T) {
        const double *x = scores + row;
        double *y = pattern + row;
        bool plain = o->softmax == SOFTMAX_NO_MAXIMUM;
        double max = -INFINITY;
        for (int j = 0; j < p->T; j++)
            max = fmax(max, rounded(x[j]));
        if (plain && fabs(max) > 60)    /* would overflow or be 0 / 0, and a right port is not */
            continue;
        for (int j = 0; j < p->T; j++)
            y[j] = (double)(plain ? expf((float)x[j]) : exp2f(((float)x[j] - (float)max) * (float)M_LOG2E));
        double sum = o->dot(y, NULL, p->T);
        for (int j = 0; j < p->T; j++)
            y[j] = rounded(y[j] / sum);
    }
}

static void finish(struct port *p, int layer, const char *tail, double *x, size_t n)
{
    const struct order *o = p->order;
    if (is(tail, "attn.scores") && o->scale != SCALE_DOTS)
        scale_before(p, o, layer, x);
    if (is(tail, "attn.pattern") && o->softmax != SOFTMAX_USUAL)
        other_softmax(p, o, layer, x, n);
    bool inexact = o->off && (is(tail, "attn.pattern") || is(tail, "mlp.post"));
    for (size_t i = 0; i < n; i++) {
        if (inexact)
            x[i] *= 1 + o->off * (double)draw_number(&p->seed) * 0x1p-23;
        x[i] = (double)(o->round ? o->round((float)x[i]) : (float)x[i]);
    }
}

void order_follow(struct port *p, const struct order *o)
{
    p->dot = o->dot;
    p->finish = finish;
    p->order = o;
}

/* ---- the tables ---- */

const struct order orders[] = {
    {"ascending", .dot = ascending},
    {"ascending, queries scaled", .dot = ascending, .scale = SCALE_QUERIES},
    {"ascending, no maximum", .dot = ascending, .softmax = SOFTMAX_NO_MAXIMUM},
    {"fused, off by 2", .dot = fused, .off = 2},
    {"descending", .dot = descending},
    {"descending, powers of 2", .dot = descending, .softmax = SOFTMAX_POWERS_OF_2},
    {"pairwise", .dot = pairwise},
    {"pairwise, both scaled", .dot = pairwise, .scale = SCALE_BOTH},
    {"8 lanes", .dot = lanes_8, .scale = SCALE_QUERIES, .softmax = SOFTMAX_NO_MAXIMUM},
    {"16 lanes, off by 4", .dot = lanes_16, .off = 4},
    {"32 lanes", .dot = lanes_32, .scale = SCALE_BOTH, .softmax = SOFTMAX_POWERS_OF_2, .off = 2},
    {"parts of 32", .dot = in_parts},
    {"exact sums", .dot = exact},
};
const size_t orders_n = sizeof orders / sizeof *orders;

const struct order narrow_orders[] = {
    {"bf16", .dot = lanes_16, .round = attn_round_bf16},
    {"float16", .dot = lanes_8, .round = attn_round_f16},
};
const size_t narrow_orders_n = sizeof narrow_orders / sizeof *narrow_orders;
