#include "reference.h"

#include "reference_position.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct memory { int T; double *k[8], *v[8]; };           /* keys and values of each layer */

struct ref {
    const struct ref_config *model, *c; /* c: of this layer */
    const struct ref_port *port;        /* NULL: none */
    int T, layer;
    struct memory *leave;               /* where to leave keys and values */
    const struct memory *cross;         /* where to take them from instead */
    double *rollout;                    /* [T, T] of the layer before; NULL: there is none */
    ref_weight *weight;
    ref_tell *tell;
    void *ctx;
};

static double *zeros(size_t n)
{
    double *p = calloc(n + 1, sizeof *p);
    if (!p)
        abort();
    return p;
}

static const char *in_block(const struct ref *r, const char *tail)
{
    static char name[96];
    if (r->layer < 0)
        snprintf(name, sizeof name, "%s", tail);
    else
        snprintf(name, sizeof name, "blocks.%d.%s", r->layer, tail);
    return name;
}

static const double *weight(const struct ref *r, const char *tail)
{
    return r->weight(r->ctx, in_block(r, tail));
}

static void ignore(void *ctx, const char *name, const double *data, size_t n)
{
    (void)ctx, (void)name, (void)data, (void)n;
}

static void tell(const struct ref *r, const char *tail, double *data, size_t n)
{
    if (r->port && r->port->edit)
        r->port->edit(r->ctx, in_block(r, tail), data, n);
    r->tell(r->ctx, in_block(r, tail), data, n);
}

/* The sum of x[i] y[i], or for y NULL of x[i]. */
static double dot(const struct ref *r, const double *x, const double *y, int n)
{
    if (r->port && r->port->dot)
        return r->port->dot(x, y, n);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * (y ? y[i] : 1);
    return sum;
}

/* y[T, out] = x[T, in] W[in, out] + b */
static double *linear(const struct ref *r, const char *tail, const double *x, int in, int out)
{
    char name[64];
    snprintf(name, sizeof name, "%s.weight", tail);
    const double *w = weight(r, name);
    snprintf(name, sizeof name, "%s.bias", tail);
    const double *b = weight(r, name);
    double *y = zeros((size_t)r->T * (size_t)out), *column = zeros((size_t)in);
    for (int j = 0; j < out; j++) {
        for (int k = 0; k < in; k++)
            column[k] = w[k * out + j];
        for (int t = 0; t < r->T; t++)
            y[t * out + j] = dot(r, x + t * in, column, in) + (b ? b[j] : 0);
    }
    free(column);
    return y;
}

/* Normalises n numbers in place; without weights w, b only to a mean square of 1. */
static void normalise(const struct ref *r, double *x, int n, const double *w, const double *b)
{
    const struct ref_config *c = r->c;
    double mean = strcmp(c->norm, "layernorm") == 0 ? dot(r, x, NULL, n) / n : 0;
    for (int i = 0; i < n; i++)
        x[i] -= mean;
    double square = dot(r, x, x, n) / n;
    for (int i = 0; i < n; i++)
        x[i] = x[i] / sqrt(square + c->eps) * (w ? w[i] + (c->from_one ? 1 : 0) : 1) + (b ? b[i] : 0);
}

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static bool has_norm(const struct ref_config *c, const char *tail)
{
    bool before = is(tail, "norm1") || is(tail, "norm2"), post = is(tail, "post1") || is(tail, "post2");
    if (is(c->norm, "none") || (is(tail, "norm_final") && c->no_final))
        return false;
    return before ? !c->no_before : post ? c->post : is(tail, "sum1") || is(tail, "sum2") ? c->after : true;
}

/* A normalised copy, or a plain copy if the model has no such norm. */
static double *norm(const struct ref *r, const char *tail, const double *x)
{
    int d = r->c->d;
    char name[64];
    double *y = zeros((size_t)r->T * (size_t)d);
    memcpy(y, x, (size_t)r->T * (size_t)d * sizeof *y);
    if (!has_norm(r->c, tail))
        return y;
    snprintf(name, sizeof name, "%s.weight", tail);
    const double *w = weight(r, name);
    snprintf(name, sizeof name, "%s.bias", tail);
    const double *b = is(r->c->norm, "layernorm") ? weight(r, name) : NULL;
    for (int t = 0; t < r->T; t++)
        normalise(r, y + t * d, d, r->c->plain ? NULL : w, b);
    if (tail[0] == 'n' && !is(tail, "norm_embed"))
        tell(r, tail, y, (size_t)r->T * (size_t)d);
    return y;
}

/* The norm of queries or keys [T, heads, dh]. */
static void norm_heads(const struct ref *r, const char *tail, double *x, int heads)
{
    const struct ref_config *c = r->c;
    char name[64];
    if (!c->qk_norm)
        return;
    snprintf(name, sizeof name, "%s.weight", tail);
    const double *w = weight(r, name);
    snprintf(name, sizeof name, "%s.bias", tail);
    const double *b = weight(r, name);
    int n = is(c->qk_norm, "whole") ? heads * c->dh : c->dh;
    bool own = is(c->qk_norm, "own") || is(c->qk_norm, "table");
    for (int i = 0; i < r->T * heads * c->dh; i += n)
        normalise(r, x + i, n, own ? w + i % (heads * c->dh) : w, b);
}

static void rope(const struct ref *r, double *x, int heads)
{
    const struct ref_config *c = r->c;
    int dh = c->dh, rotary = c->part ? c->rotary : dh, half = rotary / 2;
    double grow = c->grow > 0 && !(c->local_theta > 0 && c->local[r->layer]) ? c->grow : 1;
    for (int t = 0; t < r->T && !c->still[r->layer]; t++)
        for (int h = 0; h < heads; h++)
            for (int i = 0; i < half; i++) {
                double turn = (t + c->start) * ref_angle(c, r->layer, r->T, i, rotary), *p = x + (t * heads + h) * dh;
                turn = c->backwards ? -turn : turn;
                double *one = c->interleaved ? p + 2 * i : p + i, *two = c->interleaved ? one + 1 : one + half,
                    a = *one, b = *two;
                *one = (a * cos(turn) - b * sin(turn)) * grow;
                *two = (b * cos(turn) + a * sin(turn)) * grow;
            }
}

/* Swaps the first two axes of [a, b, n]. */
static void swap_axes(double *out, const double *x, int a, int b, int n)
{
    for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            memcpy(out + (j * a + i) * n, x + (i * b + j) * n, (size_t)n * sizeof *out);
}

/* Announces [T, heads, n] as [heads, T, n]. */
static void tell_heads(const struct ref *r, const char *tail, double *x, int heads, int n)
{
    double *y = zeros((size_t)r->T * (size_t)heads * (size_t)n);
    swap_axes(y, x, r->T, heads, n);
    tell(r, tail, y, (size_t)r->T * (size_t)heads * (size_t)n);
    swap_axes(x, y, heads, r->T, n);
    free(y);
}

static int keys_of(const struct ref *r)
{
    return r->cross ? r->cross->T : r->T;
}

/* How many numbers [H, T, keys] are. */
static size_t square(const struct ref *r)
{
    return (size_t)r->c->H * (size_t)r->T * (size_t)keys_of(r);
}

static int kv_head(const struct ref_config *c, int h)
{
    return c->tiled ? h % c->Hkv : h / (c->H / c->Hkv);
}

static double *dots_of(const struct ref *r, const double *q, const double *k)
{
    const struct ref_config *c = r->c;
    double *dots = zeros(square(r)), *at = dots;
    for (int h = 0; h < c->H; h++)
        for (int t = 0; t < r->T; t++)
            for (int j = 0; j < keys_of(r); j++)
                *at++ = dot(r, q + (t * c->H + h) * c->dh, k + (j * c->Hkv + kv_head(c, h)) * c->dh, c->dh);
    tell(r, "attn.dots", dots, square(r));
    return dots;
}

static bool sees(const struct ref *r, int t, int j)
{
    const struct ref_config *c = r->c;
    bool later = c->causal && j > t + c->ahead, far = c->local[r->layer] && j <= t - c->window;
    return r->cross || (!later && !far);
}

static double *scores_of(const struct ref *r, const double *dots)
{
    const struct ref_config *c = r->c;
    double *scores = zeros(square(r)), scale = (c->scale ? 1 / sqrt(c->dh) : 1) / (c->by_layer ? r->layer + 1 : 1);
    if (c->attention_scale > 0)
        scale = c->attention_scale;
    for (int h = 0, at = 0; h < c->H; h++)
        for (int t = 0; t < r->T; t++)
            for (int j = 0; j < keys_of(r); j++, at++)
                scores[at] = sees(r, t, j) ? ref_score(c, h, j + c->start, dots[at], scale) : -INFINITY;
    tell(r, "attn.scores", scores, square(r));
    return scores;
}

static double *pattern_of(const struct ref *r, const double *scores)
{
    int Tk = keys_of(r);
    double *pattern = zeros(square(r));
    for (int row = 0; row < r->c->H * r->T; row++) {
        const double *x = scores + row * Tk;
        double *p = pattern + row * Tk, max = -INFINITY;
        for (int j = 0; j < Tk; j++)
            max = x[j] > max ? x[j] : max;
        for (int j = 0; j < Tk; j++)
            p[j] = exp(x[j] - max);
        double sum = dot(r, p, NULL, Tk);
        for (int j = 0; j < Tk; j++)
            p[j] /= sum;
    }
    tell(r, "attn.pattern", pattern, square(r));
    return pattern;
}

/* [T, H * dv] */
static double *context_of(const struct ref *r, const double *pattern, const double *v)
{
    const struct ref_config *c = r->c;
    int Tk = keys_of(r), width = c->H * c->dv;
    double *context = zeros((size_t)(r->T * width)), *column = zeros((size_t)Tk);
    for (int h = 0; h < c->H; h++)
        for (int i = 0; i < c->dv; i++) {
            for (int j = 0; j < Tk; j++)
                column[j] = v[(j * c->Hkv + kv_head(c, h)) * c->dv + i];
            for (int t = 0; t < r->T; t++)
                context[t * width + h * c->dv + i] = dot(r, pattern + (h * r->T + t) * Tk, column, Tk);
        }
    tell(r, "attn.context", context, (size_t)(r->T * width));
    free(column);
    return context;
}

/* ---- what is derived from attention ---- */

/* out[d] += x[dv] times head h's rows of the output projection; without one, the numbers themselves, in
 * the head's columns. */
static void project_head(const struct ref *r, int h, const double *x, double *out)
{
    const struct ref_config *c = r->c;
    const double *w = c->projection ? weight(r, "attn.o.weight") : NULL;
    for (int i = 0; i < c->dv; i++)
        for (int j = 0; j < (w ? c->d : 1); j++)
            out[w ? j : h * c->dv + i] += x[i] * (w ? w[(h * c->dv + i) * c->d + j] : 1);
}

static void tell_result(const struct ref *r, const double *context)
{
    const struct ref_config *c = r->c;
    size_t n = (size_t)(c->H * r->T * c->d);
    double *result = zeros(n);
    for (int h = 0; h < c->H; h++)
        for (int t = 0; t < r->T; t++)
            project_head(r, h, context + (t * c->H + h) * c->dv, result + (h * r->T + t) * c->d);
    tell(r, "attn.result", result, n);
    free(result);
}

static void tell_norms(const struct ref *r, const double *pattern, const double *v)
{
    const struct ref_config *c = r->c;
    int Tk = keys_of(r), width = c->projection ? c->d : c->H * c->dv;
    double *norms = zeros((size_t)(c->H * r->T * Tk));
    for (int h = 0; h < c->H; h++)
        for (int k = 0; k < Tk; k++) {
            double *added = zeros((size_t)width), squares = 0;
            project_head(r, h, v + (k * c->Hkv + kv_head(c, h)) * c->dv, added);
            for (int i = 0; i < width; i++)
                squares += added[i] * added[i];
            for (int t = 0; t < r->T; t++)
                norms[(h * r->T + t) * Tk + k] = pattern[(h * r->T + t) * Tk + k] * sqrt(squares);
            free(added);
        }
    tell(r, "attn.norms", norms, (size_t)(c->H * r->T * Tk));
    free(norms);
}

static void tell_rollout(struct ref *r, const double *pattern)
{
    int T = r->T, H = r->c->H;
    double *mean = zeros((size_t)(T * T)), *next = zeros((size_t)(T * T));
    for (int q = 0; q < T; q++)
        for (int k = 0; k < T; k++) {
            mean[q * T + k] = q == k ? 0.5 : 0;
            for (int h = 0; h < H; h++)
                mean[q * T + k] += 0.5 * pattern[(h * T + q) * T + k] / H;
        }
    for (int q = 0; q < T; q++)
        for (int k = 0; k < T; k++)
            for (int j = 0; j < T; j++)
                next[q * T + k] += mean[q * T + j] * (r->rollout ? r->rollout[j * T + k] : j == k);
    tell(r, "rollout", next, (size_t)(T * T));
    free(r->rollout), free(mean);
    r->rollout = next;
}

/* The same for all heads. */
static void tell_masks(const struct ref *r)
{
    int Tk = keys_of(r);
    size_t n = (size_t)(r->T * Tk);
    double *mask = zeros(n), *added = zeros(n);
    for (int t = 0; t < r->T; t++)
        for (int j = 0; j < Tk; j++) {
            mask[t * Tk + j] = sees(r, t, j);
            added[t * Tk + j] = sees(r, t, j) ? 0 : -INFINITY;
        }
    tell(r, "attn.mask", mask, n);
    tell(r, "attn.mask_inf", added, n);
    free(mask), free(added);
}

static void tell_derived(struct ref *r, const double *pattern, const double *v, const double *context)
{
    tell_norms(r, pattern, v);
    tell_masks(r);
    if (!r->cross && !r->leave)
        tell_rollout(r, pattern);
    if (r->c->projection)
        tell_result(r, context);
}

static void clip(const struct ref *r, double *x, int width)
{
    for (int i = 0; i < r->T * width && r->c->clip > 0; i++)
        x[i] = fmin(fmax(x[i], -r->c->clip), r->c->clip);
}

/* What is done with queries or keys after their product. */
static void finish_heads(const struct ref *r, const char *tail, double *x, int heads)
{
    clip(r, x, heads * r->c->dh);
    if (!r->c->late)
        norm_heads(r, tail, x, heads);
    if (is(r->c->position, "rope"))
        rope(r, x, heads);
    if (r->c->late)
        norm_heads(r, tail, x, heads);
}

static double *attention(struct ref *r, const double *y)
{
    const struct ref_config *c = r->c;
    double *q = linear(r, "attn.q", y, c->d, c->H * c->dh);
    double *k = r->cross ? r->cross->k[r->layer] : linear(r, "attn.k", y, c->d, c->Hkv * c->dh);
    double *v = r->cross ? r->cross->v[r->layer] : linear(r, "attn.v", y, c->d, c->Hkv * c->dv);
    finish_heads(r, "attn.q_norm", q, c->H);
    if (!r->cross) {
        finish_heads(r, "attn.k_norm", k, c->Hkv);
        clip(r, v, c->Hkv * c->dv);
    }
    tell_heads(r, "attn.q", q, c->H, c->dh);
    if (!r->cross) {
        tell_heads(r, "attn.k", k, c->Hkv, c->dh);
        tell_heads(r, "attn.v", v, c->Hkv, c->dv);
    }
    double *dots = dots_of(r, q, k), *scores = scores_of(r, dots), *pattern = pattern_of(r, scores);
    double *context = context_of(r, pattern, v);
    if (!r->port)
        tell_derived(r, pattern, v, context);
    if (c->projection) {
        double *out = linear(r, "attn.o", context, c->H * c->dv, c->d);
        tell(r, "attn.out", out, (size_t)r->T * (size_t)c->d);
        free(context);
        context = out;
    }
    if (r->leave) {
        r->leave->k[r->layer] = k, r->leave->v[r->layer] = v;
    } else if (!r->cross) {
        free(k), free(v);
    }
    free(q), free(dots), free(scores), free(pattern);
    return context;
}

double ref_activate(const char *kind, double x)
{
    if (is(kind, "gelu") || is(kind, "geglu"))
        return 0.5 * x * (1 + erf(x / sqrt(2)));
    if (is(kind, "gelu_new") || is(kind, "geglu_new"))
        return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    if (is(kind, "relu2"))
        return fmax(x, 0) * fmax(x, 0);
    return is(kind, "relu") ? fmax(x, 0) : x / (1 + exp(-x));
}

static double *mlp(const struct ref *r, const double *y)
{
    const struct ref_config *c = r->c;
    size_t n = (size_t)r->T * (size_t)c->m;
    bool gated = is(c->mlp, "swiglu") || strncmp(c->mlp, "geglu", 5) == 0;
    double *pre = linear(r, gated ? "mlp.gate" : "mlp.in", y, c->d, c->m);
    double *in = gated ? linear(r, "mlp.in", y, c->d, c->m) : NULL;
    tell(r, "mlp.pre", pre, n);
    if (gated)
        tell(r, "mlp.linear", in, n);
    for (size_t i = 0; i < n; i++)
        pre[i] = ref_activate(c->mlp, pre[i]) * (gated ? in[i] : 1);
    tell(r, "mlp.post", pre, n);
    double *out = linear(r, "mlp.out", pre, c->m, c->d);
    tell(r, "mlp.out", out, (size_t)r->T * (size_t)c->d);
    free(pre), free(in);
    return out;
}

/* What a branch adds: normalised or scaled, if the model does that; frees the branch. */
static double *added(const struct ref *r, double *branch, const char *post, const char *told)
{
    const struct ref_config *c = r->c;
    if (!c->post && !(c->branch_scale > 0))
        return branch;
    double *y = norm(r, post, branch);
    for (int i = 0; i < r->T * c->d && c->branch_scale > 0; i++)
        y[i] *= c->branch_scale;
    tell(r, told, y, (size_t)r->T * (size_t)c->d);
    free(branch);
    return y;
}

/* x + branch, or the branch alone in a model without residual connections; frees x. */
static double *join(const struct ref *r, double *x, double *branch, const char *after)
{
    const struct ref_config *c = r->c;
    for (int i = 0; i < r->T * c->d && c->residual; i++)
        branch[i] += x[i];
    free(x);
    if (!c->after)
        return branch;
    x = norm(r, after, branch);
    free(branch);
    return x;
}

static void unembed(const struct ref *r, const double *x, bool lens);

/* What a branch reads; it may take the place of x. */
static double *read_by(const struct ref *r, const char *tail, double *x)
{
    double *y = norm(r, tail, x);
    if (r->c->post_norm_residual)
        memcpy(x, y, (size_t)r->T * (size_t)r->c->d * sizeof *x);
    return y;
}

static double *block(struct ref *r, double *x)
{
    const struct ref_config *c = r->c;
    size_t width = (size_t)(c->projection ? c->d : c->H * c->dv);
    tell(r, "resid_pre", x, (size_t)r->T * (size_t)c->d);
    double *y = read_by(r, "norm1", x), *first = added(r, attention(r, y), "post1", "attn.added");
    if (!c->parallel)
        x = join(r, x, first, "sum1");
    if (strcmp(c->mlp, "none")) {
        if (!c->parallel)
            tell(r, "resid_mid", x, (size_t)r->T * (size_t)c->d);
        double *z = c->one_norm ? y : read_by(r, "norm2", x), *second = added(r, mlp(r, z), "post2", "mlp.added");
        if (c->parallel)
            x = join(r, x, first, "sum1");
        x = join(r, x, second, "sum2");
        free(z == y ? NULL : z);
    }
    free(y);
    tell(r, "resid_post", x, (size_t)r->T * width);
    if (c->unembed && !r->port)
        unembed(r, x, true);
    return x;
}

static void multiply(double *x, size_t n, double by)
{
    for (size_t i = 0; i < n && by > 0; i++)
        x[i] *= by;
}

static double *embed(const struct ref *r, const int32_t *ids)
{
    const struct ref_config *c = r->c;
    int d = c->d, width = c->narrow ? c->narrow : d;
    size_t n = (size_t)r->T * (size_t)d;
    const double *table = weight(r, "embed.weight");
    double *x = zeros((size_t)r->T * (size_t)width), *y;
    for (int t = 0; t < r->T; t++)
        memcpy(x + t * width, table + ids[t] * width, (size_t)width * sizeof *x);
    if (c->narrow) {
        y = linear(r, "project_in", x, width, d);
        free(x), x = y;
    }
    multiply(x, n, c->embed_scale);
    bool learned = is(c->position, "learned"), placed = learned || is(c->position, "sinusoid");
    if (c->norm_embed && !placed) {
        y = norm(r, "norm_embed", x);
        free(x), x = y;
    }
    tell(r, "embed", x, n);
    if (placed) {
        const double *rows = learned ? weight(r, "pos_embed.weight") : NULL;
        double *pos = zeros(n);
        for (int t = 0; t < r->T; t++) {
            int at = t + c->start > 0 ? t + c->start : 0;
            if (learned)
                memcpy(pos + t * d, rows + at * d, (size_t)d * sizeof *pos);
            else
                ref_sinusoid(pos + t * d, d, at + 2);
        }
        tell(r, "pos_embed", pos, n);
        for (size_t i = 0; i < n; i++)
            x[i] += pos[i];
        free(pos);
        if (c->norm_embed) {
            y = norm(r, "norm_embed", x);
            free(x), x = y;
        }
    }
    return x;
}

/* Logits from what the output layer reads: the table of the embedding, or a matrix of its own; perhaps with a bias. */
static double *output(const struct ref *end, const double *y, int width)
{
    const struct ref_config *c = end->c;
    if (!c->tied)
        return linear(end, "unembed", y, width, c->V);
    const double *table = weight(end, "embed.weight"), *bias = weight(end, "unembed.bias");
    double *logits = zeros((size_t)end->T * (size_t)c->V);
    for (int t = 0; t < end->T; t++)
        for (int j = 0; j < c->V; j++)
            logits[t * c->V + j] = dot(end, y + t * width, table + j * width, width) + (bias ? bias[j] : 0);
    return logits;
}

/* The logits, or for the lens what they would be if x, which a block gives, were the last. */
static void unembed(const struct ref *r, const double *x, bool lens)
{
    const struct ref_config *c = r->c;
    struct ref end = *r;
    end.layer = -1;
    if (lens)
        end.tell = ignore;
    double *y = norm(&end, "norm_final", x),
        *narrow = c->narrow ? linear(&end, "project_out", y, c->d, c->narrow) : NULL;
    double *logits = output(&end, narrow ? narrow : y, narrow ? c->narrow : c->d);
    size_t n = (size_t)r->T * (size_t)c->V;
    multiply(logits, n, c->logits_divided > 0 ? 1 / c->logits_divided : c->logits_times);
    for (size_t i = 0; i < n && c->logit_cap > 0; i++)
        logits[i] = c->logit_cap * tanh(logits[i] / c->logit_cap);
    tell(r, lens ? "lens" : "logits", logits, n);
    free(y), free(narrow), free(logits);
}

/* layer -1: what precedes the blocks; L: what follows them. */
static const struct ref_config *config_of(const struct ref *r, int layer)
{
    const struct ref_port *p = r->port;
    return p && p->other && layer >= p->from && layer <= p->to ? p->other : r->model;
}

static void forward(struct ref *r, const int32_t *ids)
{
    int L = r->model->L;
    r->layer = -1;
    r->c = config_of(r, -1);
    double *x = embed(r, ids);
    for (r->layer = 0; r->layer < L; r->layer++) {
        r->c = config_of(r, r->layer);
        x = block(r, x);
    }
    r->layer = -1;
    const struct ref_config *c = r->c = config_of(r, L);
    if (c->unembed)
        unembed(r, x, false);
    else if ((weight(r, "norm_final.weight") || (c->plain && has_norm(c, "norm_final"))) &&
             (c->projection || c->H * c->dv == c->d))
        free(norm(r, "norm_final", x));
    free(x);
    free(r->rollout);
}

void ref_run_port(const struct ref_config *c, const struct ref_port *port, const int32_t *ids, int T, ref_weight *get,
                  ref_tell *hear, void *ctx)
{
    struct ref r = {.model = c, .port = port, .T = T, .weight = get, .tell = hear, .ctx = ctx};
    forward(&r, ids);
}

void ref_run(const struct ref_config *c, const int32_t *ids, int T, ref_weight *get, ref_tell *hear, void *ctx)
{
    ref_run_port(c, NULL, ids, T, get, hear, ctx);
}

void ref_run_cross(const struct ref_config *c, const int32_t *ids, int T, const int32_t *other, int T_other,
                   ref_weight *get, ref_tell *hear, ref_tell *hear_other, void *ctx)
{
    struct memory memory = {.T = T_other};
    struct ref second = {.model = c, .T = T_other, .leave = &memory, .weight = get, .tell = hear_other, .ctx = ctx};
    struct ref first = {.model = c, .T = T, .cross = &memory, .weight = get, .tell = hear, .ctx = ctx};
    forward(&second, other);
    forward(&first, ids);
    for (int layer = 0; layer < c->L; layer++)
        free(memory.k[layer]), free(memory.v[layer]);
}
