/* mistakes_attention.c - what a port gets wrong between queries and context: scale, mask, softmax, order of heads. */
#include "mistakes.h"

#include "draw.h"

#include <math.h>
#include <stdlib.h>

/* ---- scale ---- */

static double scale_of(const struct ref_config *c)
{
    return c->attention_scale > 0 ? c->attention_scale : c->scale ? 1 / sqrt(c->dh) : 1;
}

static bool no_scale(struct planted *p)
{
    bool had = scale_of(p->c) < 1;
    if (!(p->c->attention_scale > 0) && !p->c->by_layer)
        SAYS("sqrt(d_head)");
    p->c->scale = false, p->c->attention_scale = 0;
    return had;
}

static bool added_scale(struct planted *p)
{
    SAYS("1/sqrt(d_head)");
    return scale_of(p->c) == 1 && (p->c->scale = true);
}

static bool scale_of_width(struct planted *p)
{
    bool other = p->c->d != p->c->dh && !p->c->by_layer;
    p->c->attention_scale = 1 / sqrt(p->c->d);
    return other;
}

static bool scaled_twice(struct planted *p)
{
    double scale = scale_of(p->c);
    p->c->attention_scale = scale * scale;
    return scale < 1 && !p->c->by_layer;
}

static bool scale_of_head(struct planted *p)
{
    bool had = p->c->attention_scale > 0;
    p->c->attention_scale = 0, p->c->scale = true;
    return had;
}

static bool not_by_layer(struct planted *p)
{
    bool had = p->c->by_layer && p->to > 0;
    p->c->by_layer = false;
    p->from += p->from == 0;            /* layer 0 is divided by 1 */
    return had;
}

static bool no_cap(struct planted *p)
{
    bool had = p->c->cap > 0;
    p->c->cap = 0;
    return had;
}

static bool if_capped(struct planted *p) { return p->c->cap > 0; }

static void capped_before(struct planted *p, int layer, double *x, size_t n)
{
    double cap = model_of(p)->cap;
    const double *dots = port_told(p->port, layer, "attn.dots");
    for (size_t i = 0; i < n; i++)
        x[i] = isfinite(x[i]) ? cap * tanh(dots[i] / cap) * scale_of(model_of(p)) : x[i];
}

/* ---- which keys are seen ---- */

static bool sees_next(struct planted *p)
{
    p->c->ahead = 1;
    return p->c->causal;
}

static bool not_itself(struct planted *p)
{
    p->c->ahead = -1;
    return p->c->causal;
}

static bool no_mask(struct planted *p)
{
    bool had = p->c->causal;
    p->c->causal = false;
    return had;
}

static bool wider_window(struct planted *p)
{
    p->c->window++;
    return p->c->local[p->from];
}

static bool narrower_window(struct planted *p)
{
    return p->c->local[p->from] && p->c->window-- > 1;
}

static bool no_window(struct planted *p)
{
    p->c->window = p->c->n_ctx;
    return p->c->local[p->from];
}

static bool window_of_others(struct planted *p)
{
    bool had = p->c->window > 0 && !p->c->local[p->from] && !(p->c->local_theta > 0);
    for (int i = p->from; i <= p->to; i++)
        p->c->local[i] = true;
    return had;
}

static void hidden_by_zero(struct planted *p, int layer, double *x, size_t n)
{
    (void)p, (void)layer;
    for (size_t i = 0; i < n; i++)
        x[i] = isfinite(x[i]) ? x[i] : 0;
}

static bool if_plain(struct planted *p)
{
    return !p->c->alibi && !(p->c->cap > 0) && !p->c->by_layer;
}

/* Weights are hidden after the softmax over all keys, and no longer add up to 1. */
static void hidden_too_late(struct planted *p, int layer, double *x, size_t n)
{
    const double *dots = port_told(p->port, layer, "attn.dots");
    size_t T = (size_t)p->port->T;
    for (size_t row = 0; row < n; row += T) {
        double sum = 0, max = -INFINITY, scale = scale_of(model_of(p));
        for (size_t j = 0; j < T; j++)
            max = fmax(max, dots[row + j] * scale);
        for (size_t j = 0; j < T; j++)
            sum += exp(dots[row + j] * scale - max);
        for (size_t j = 0; j < T; j++)
            x[row + j] = x[row + j] > 0 ? exp(dots[row + j] * scale - max) / sum : 0;
    }
}

/* ---- softmax ---- */

/* Divides the exponentials of n scores, `step` apart, by their sum. */
static void softmax(double *x, const double *scores, size_t n, size_t step)
{
    double max = -1e9, sum = 0;         /* what such ports hide keys with */
    for (size_t i = 0; i < n; i++)
        max = fmax(max, scores[i * step]);
    for (size_t i = 0; i < n; i++)
        sum += exp(fmax(scores[i * step], -1e9) - max);
    for (size_t i = 0; i < n; i++)
        x[i * step] = exp(fmax(scores[i * step], -1e9) - max) / sum;
}

static void over_queries(struct planted *p, int layer, double *x, size_t n)
{
    const double *scores = port_told(p->port, layer, "attn.scores");
    size_t T = (size_t)p->port->T;
    for (size_t i = 0; i < n / T; i++)
        softmax(x + i / T * T * T + i % T, scores + i / T * T * T + i % T, T, T);
}

static void over_heads(struct planted *p, int layer, double *x, size_t n)
{
    const double *scores = port_told(p->port, layer, "attn.scores");
    size_t T = (size_t)p->port->T;
    for (size_t i = 0; i < T * T; i++)
        softmax(x + i, scores + i, n / (T * T), T * T);
}

static void without_maximum(struct planted *p, int layer, double *x, size_t n)
{
    const double *scores = port_told(p->port, layer, "attn.scores");
    size_t T = (size_t)p->port->T;
    for (size_t i = 0; i < n; i += T) {
        float sum = 0;
        for (size_t j = 0; j < T; j++)
            sum += expf((float)scores[i + j]);
        for (size_t j = 0; j < T; j++)
            x[i + j] = (double)(expf((float)scores[i + j]) / sum);
    }
}

static void dropout(struct planted *p, int layer, double *x, size_t n)
{
    (void)layer;
    for (size_t i = 0; i < n; i++)
        x[i] = draw_below(&p->port->seed, 10) ? x[i] / 0.9 : 0;
}

static bool no_scale_at_all(struct planted *p) { return scale_of(p->c) == 1; }

/* ---- heads ---- */

static bool tiled(struct planted *p)
{
    p->c->tiled = true;
    return p->c->Hkv > 1 && p->c->Hkv < p->c->H;
}

static bool if_grouped(struct planted *p)
{
    return p->c->Hkv > 1 && p->c->Hkv < p->c->H;
}

static void tiled_values(struct planted *p, int layer, double *x, size_t n)
{
    const struct ref_config *c = model_of(p);
    const double *pattern = port_told(p->port, layer, "attn.pattern"), *v = port_told(p->port, layer, "attn.v");
    int T = p->port->T, width = c->H * c->dv;
    for (int at = 0; at < (int)n; at++) {
        int t = at / width, h = at % width / c->dv, i = at % c->dv;
        x[at] = 0;
        for (int j = 0; j < T; j++)
            x[at] += pattern[(h * T + t) * T + j] * v[(h % c->Hkv * T + j) * c->dv + i];
    }
}

static bool if_heads(struct planted *p)
{
    return p->c->H > 1;
}

static double *copied(const double *x, size_t n)
{
    double *y = calloc(n + 1, sizeof *y);
    memcpy(y, x, n * sizeof *y);
    return y;
}

static void interleaved_heads(struct planted *p, int layer, double *x, size_t n)
{
    (void)layer;
    size_t H = (size_t)model_of(p)->H, dv = (size_t)model_of(p)->dv;
    double *was = copied(x, n);
    for (size_t i = 0; i < n; i++)
        x[i / (H * dv) * H * dv + i % dv * H + i % (H * dv) / dv] = was[i];
    free(was);
}

/* [H, T, dv], read as if it were [T, H, dv]. */
static void unswapped_heads(struct planted *p, int layer, double *x, size_t n)
{
    (void)layer;
    size_t H = (size_t)model_of(p)->H, dv = (size_t)model_of(p)->dv, T = (size_t)p->port->T;
    double *was = copied(x, n);
    for (size_t i = 0; i < n; i++)
        x[(i % (H * dv) / dv * T + i / (H * dv)) * dv + i % dv] = was[i];
    free(was);
}

/* ---- the table ---- */

static const struct mistake rows[] = {
    {"no scale", IN_LAYERS, "attn.scores", "scale", "times", .config = no_scale},
    {"a scale where there is none", IN_LAYERS, "attn.scores", "scale", NULL, .config = added_scale},
    {"scale of the model's width", IN_LAYERS, "attn.scores", "scale", "times", .config = scale_of_width},
    {"scaled twice", IN_LAYERS, "attn.scores", "scale", "times", .config = scaled_twice},
    {"scale of the head's width", IN_LAYERS, "attn.scores", "scale", "times", .config = scale_of_head},
    {"scale not divided by layer", IN_LAYERS, "attn.scores", "scale", "layer", .config = not_by_layer},
    {"scores not capped", IN_LAYERS, "attn.scores", "cap", "cap", .config = no_cap},
    {"capped before the scale", IN_LAYERS, "attn.scores", "cap", "cap", .config = if_capped, .edit = capped_before},
    {"sees the next key", IN_LAYERS, "attn.scores", "mask", "next key|1 key|one key|later keys", .config = sees_next},
    {"does not see itself", IN_LAYERS, "attn.scores", "mask", "itself|own key", .config = not_itself},
    {"no mask", IN_LAYERS, "attn.scores", "mask", "B is causal, A sees later keys", .config = no_mask},
    {"window one wider", IN_LAYERS, "attn.scores", "mask", "window", .config = wider_window},
    {"window one narrower", IN_LAYERS, "attn.scores", "mask", "window", .config = narrower_window},
    {"no window", IN_LAYERS, "attn.scores", "mask", "window", .config = no_window},
    {"window in every layer", IN_LAYERS, "attn.scores", "mask", "window", .config = window_of_others},
    {"hidden by zeros", IN_LAYERS, "attn.scores", "mask", "with 0", .edit = hidden_by_zero},
    {"hidden after softmax", IN_LAYERS, "attn.pattern", "mask", "after softmax|add up",
     .config = if_plain, .edit = hidden_too_late},
    {"softmax over queries", IN_LAYERS, "attn.pattern", "axis", "columns sum to 1", .edit = over_queries},
    {"softmax over heads", IN_LAYERS, "attn.pattern", "axis", "heads", .config = if_heads, .edit = over_heads},
    {"softmax overflows", IN_LAYERS, "attn.pattern", "nan", "A has NaN",
     .config = no_scale_at_all, .edit = without_maximum},
    {"dropout of the pattern", IN_LAYERS, "attn.pattern", "dropout", "dropout", .edit = dropout},
    {"key/value heads tiled", IN_LAYERS, "attn.dots", "heads", "repeat|tile", .config = tiled},
    {"value heads tiled", IN_LAYERS, "attn.context", "heads", "repeat|tile",
     .config = if_grouped, .edit = tiled_values},
    {"heads interleaved", IN_LAYERS, "attn.context", "heads", "A interleaves",
     .config = if_heads, .edit = interleaved_heads},
    {"heads not swapped", IN_LAYERS, "attn.context", "heads|axes|permuted", "axes|swap",
     .config = if_heads, .edit = unswapped_heads},
};
const struct mistakes mistakes_of_attention = {rows, sizeof rows / sizeof *rows};
