/* mistakes_weights.c - weights that a port reads otherwise: transposed, in another order, another one, none at all. */
#include "mistakes.h"

#include <stdlib.h>

/* ---- heads ---- */

/* Moves the heads of a matrix [rows, heads * dh] by one. */
static void move_heads(struct planted *p, int layer, const char *tail, size_t rows, size_t heads)
{
    const double *from = port_weight(p->port, layer, tail);
    size_t dh = (size_t)model_of(p)->dh, out = heads * dh;
    if (!from)
        return;
    double *x = port_weight_own(p->port, layer, tail, NULL, rows * out);
    for (size_t i = 0; i < rows * out; i++)
        x[i] = from[i / out * out + (i + dh) % out];
}

static bool queries_moved(struct planted *p, int layer)
{
    const struct ref_config *c = model_of(p);
    move_heads(p, layer, "attn.q.weight", (size_t)c->d, (size_t)c->H);
    move_heads(p, layer, "attn.q.bias", 1, (size_t)c->H);
    return c->H > 1 && (!c->qk_norm || is(c->qk_norm, "head"));
}

static bool values_moved(struct planted *p, int layer)
{
    const struct ref_config *c = model_of(p);
    move_heads(p, layer, "attn.v.weight", (size_t)c->d, (size_t)c->Hkv);
    move_heads(p, layer, "attn.v.bias", 1, (size_t)c->Hkv);
    return c->Hkv > 1;
}

/* Columns are taken number by number, as if heads were the last axis. */
static bool queries_by_number(struct planted *p, int layer)
{
    const struct ref_config *c = model_of(p);
    size_t H = (size_t)c->H, dh = (size_t)c->dh, out = H * dh, d = (size_t)c->d;
    const double *w = port_weight(p->port, layer, "attn.q.weight"), *b = port_weight(p->port, layer, "attn.q.bias");
    double *x = port_weight_own(p->port, layer, "attn.q.weight", NULL, d * out);
    double *y = b ? port_weight_own(p->port, layer, "attn.q.bias", NULL, out) : NULL;
    for (size_t i = 0; i < d * out; i++)
        x[i] = w[i / out * out + i % dh * H + i % out / dh];
    for (size_t i = 0; i < out && y; i++)
        y[i] = b[i % dh * H + i / dh];
    return H > 1;
}

/* ---- transposed ---- */

/* Only where the matrix, [d, out], is square. */
static bool transpose(struct planted *p, int layer, const char *tail, int out)
{
    size_t n = (size_t)out;
    if (out != p->c->d)
        return false;
    const double *from = port_weight(p->port, layer, tail);
    double *x = port_weight_own(p->port, layer, tail, NULL, n * n);
    for (size_t i = 0; i < n * n; i++)
        x[i] = from[i % n * n + i / n];
    return true;
}

static int heads_width(const struct planted *p) { return model_of(p)->H * model_of(p)->dh; }
static int kv_width(const struct planted *p) { return model_of(p)->Hkv * model_of(p)->dh; }

static bool transposed_q(struct planted *p, int layer) { return transpose(p, layer, "attn.q.weight", heads_width(p)); }
static bool transposed_k(struct planted *p, int layer) { return transpose(p, layer, "attn.k.weight", kv_width(p)); }
static bool transposed_v(struct planted *p, int layer) { return transpose(p, layer, "attn.v.weight", kv_width(p)); }
static bool transposed_o(struct planted *p, int layer) { return transpose(p, layer, "attn.o.weight", heads_width(p)); }
static bool transposed_out(struct planted *p, int layer) { return transpose(p, layer, "mlp.out.weight", p->c->m); }

static bool transposed_in(struct planted *p, int layer)
{
    p->first = gated(p->c) ? "mlp.linear" : "mlp.pre";
    return transpose(p, layer, "mlp.in.weight", p->c->m);
}

/* ---- biases ---- */

static bool lose(struct planted *p, int layer, const char *tail)
{
    bool had = port_weight(p->port, layer, tail);
    port_weight_lose(p->port, layer, tail);
    return had;
}

static bool no_bias_q(struct planted *p, int layer) { return lose(p, layer, "attn.q.bias"); }
static bool no_bias_k(struct planted *p, int layer) { return lose(p, layer, "attn.k.bias"); }
static bool no_bias_v(struct planted *p, int layer) { return lose(p, layer, "attn.v.bias"); }
static bool no_bias_o(struct planted *p, int layer) { return lose(p, layer, "attn.o.bias"); }
static bool no_bias_out(struct planted *p, int layer) { return lose(p, layer, "mlp.out.bias"); }
static bool no_bias_unembed(struct planted *p, int layer) { return lose(p, layer, "unembed.bias"); }

static bool no_bias_in(struct planted *p, int layer)
{
    p->first = gated(model_of(p)) ? "mlp.linear" : "mlp.pre";
    return lose(p, layer, "mlp.in.bias");
}

static bool no_bias_norm(struct planted *p, int layer) { return !p->c->no_before && lose(p, layer, "norm1.bias"); }

/* ---- another weight ---- */

static bool gate_and_up(struct planted *p, int layer)
{
    const struct ref_config *c = model_of(p);
    size_t n = (size_t)c->d * (size_t)c->m;
    if (!gated(c))
        return false;
    port_weight_own(p->port, layer, "mlp.gate.weight", port_weight(p->port, layer, "mlp.in.weight"), n);
    port_weight_own(p->port, layer, "mlp.in.weight", port_weight(p->port, layer, "mlp.gate.weight"), n);
    return true;
}

static bool q_and_k(struct planted *p, int layer)
{
    const struct ref_config *c = model_of(p);
    size_t n = (size_t)c->d * (size_t)(c->H * c->dh);
    if (c->H != c->Hkv)
        return false;
    port_weight_own(p->port, layer, "attn.q.weight", port_weight(p->port, layer, "attn.k.weight"), n);
    port_weight_own(p->port, layer, "attn.k.weight", port_weight(p->port, layer, "attn.q.weight"), n);
    return true;
}

static bool of_next_layer(struct planted *p, int layer)
{
    const struct ref_config *c = model_of(p);
    size_t n = (size_t)c->d * (size_t)(c->H * c->dh);
    port_weight_own(p->port, layer, "attn.q.weight", port_weight(p->port, (layer + 1) % c->L, "attn.q.weight"), n);
    return c->L > 1;
}

/* Ids are one too large. */
static bool next_rows(struct planted *p, int layer)
{
    size_t V = (size_t)model_of(p)->V, d = (size_t)(model_of(p)->narrow ? model_of(p)->narrow : model_of(p)->d);
    const double *table = port_weight(p->port, layer, "embed.weight");
    double *x = port_weight_own(p->port, layer, "embed.weight", NULL, V * d);
    for (size_t i = 0; i < V * d; i++)
        x[i] = table[(i + d) % (V * d)];
    return true;
}

/* ---- q, k and v in one matrix ---- */

/* Column i of all that the fused matrix has: which part it belongs to, and which of its columns it is.  The matrix has
 * groups, each with some queries, keys and values, or is one. */
static size_t column_of(const struct ref_config *c, bool grouped, size_t i, size_t *part)
{
    size_t groups = grouped ? (size_t)c->Hkv : 1;
    size_t kv = (size_t)(c->Hkv * c->dh) / groups, q = (size_t)(c->H * c->dh) / groups;
    size_t group = i / (q + 2 * kv), at = i % (q + 2 * kv);
    *part = at < q ? 0 : at < q + kv ? 1 : 2;
    return *part == 0 ? group * q + at : group * kv + (at - q) % kv;
}

static void split_otherwise(struct planted *p, int layer, const char *kind, size_t rows, bool grouped)
{
    const struct ref_config *c = model_of(p);
    size_t width[3] = {(size_t)(c->H * c->dh), (size_t)(c->Hkv * c->dh), (size_t)(c->Hkv * c->dh)};
    const double *from[3];
    double *to[3];
    for (size_t i = 0; i < 3; i++) {
        char tail[32];
        snprintf(tail, sizeof tail, "attn.%c.%s", "qkv"[i], kind);
        from[i] = port_weight(p->port, layer, tail);
        to[i] = from[i] ? port_weight_own(p->port, layer, tail, NULL, rows * width[i]) : NULL;
    }
    for (size_t r = 0; r < rows && from[0]; r++)
        for (size_t i = 0; i < width[0] + 2 * width[1]; i++) {
            size_t was, is_now, column = column_of(c, grouped, i, &was), place = column_of(c, !grouped, i, &is_now);
            to[is_now][r * width[is_now] + place] = from[was][r * width[was] + column];
        }
}

static bool fused_otherwise(struct planted *p, int layer)
{
    static const struct { const char *family; bool grouped; } fused[] = {
        {"gpt2\"", false}, {"phi3\"", false}, {"gpt_neox\"", true}, {"bloom\"", true}, {"falcon\"", true}};
    for (size_t i = 0; i < sizeof fused / sizeof *fused; i++)
        if (!strncmp(p->port->family, fused[i].family, strlen(fused[i].family))) {
            split_otherwise(p, layer, "weight", (size_t)model_of(p)->d, fused[i].grouped);
            split_otherwise(p, layer, "bias", 1, fused[i].grouped);
            return true;
        }
    return false;
}

/* ---- the table ---- */

static const struct mistake rows[] = {
    {"queries' heads moved", IN_LAYERS, "attn.q", "heads", "another order", .weights = queries_moved},
    {"values' heads moved", IN_LAYERS, "attn.v", "heads", "another order", .weights = values_moved},
    {"queries number by number", IN_LAYERS, "attn.q", "heads|permuted", "number by number|order",
     .weights = queries_by_number},
    {"q transposed", IN_LAYERS, "attn.q", "transposed", "A multiplies by the transpose", .weights = transposed_q},
    {"k transposed", IN_LAYERS, "attn.k", "transposed", "A multiplies by the transpose", .weights = transposed_k},
    {"v transposed", IN_LAYERS, "attn.v", "transposed", "A multiplies by the transpose", .weights = transposed_v},
    {"o transposed", IN_LAYERS, "attn.out", "transposed", "A multiplies by the transpose", .weights = transposed_o},
    {"mlp.in transposed", IN_LAYERS, NULL, "transposed", "A multiplies by the transpose", .weights = transposed_in},
    {"mlp.out transposed", IN_LAYERS, "mlp.out", "transposed", "A multiplies by the transpose",
     .weights = transposed_out},
    {"q without bias", IN_LAYERS, "attn.q", "bias", "bias", .weights = no_bias_q},
    {"k without bias", IN_LAYERS, "attn.k", "bias", "bias", .weights = no_bias_k},
    {"v without bias", IN_LAYERS, "attn.v", "bias", "bias", .weights = no_bias_v},
    {"o without bias", IN_LAYERS, "attn.out", "bias", "bias", .weights = no_bias_o},
    {"mlp.in without bias", IN_LAYERS, NULL, "bias", "bias", .weights = no_bias_in},
    {"mlp.out without bias", IN_LAYERS, "mlp.out", "bias", "bias", .weights = no_bias_out},
    {"norm without bias", IN_LAYERS, "norm1", "bias", "bias", .weights = no_bias_norm},
    {"output without bias", AFTER_LAYERS, "logits", "bias", "bias", .weights = no_bias_unembed},
    {"gate and up swapped", IN_LAYERS, "mlp.pre", "gate", "swapped", .weights = gate_and_up},
    {"q and k exchanged", IN_LAYERS, "attn.q", "qkv|heads", "exchanged|swapped|k of B", .weights = q_and_k},
    {"q of the next layer", IN_LAYERS, "attn.q", "weight", "layer|weight", .weights = of_next_layer},
    {"rows of the next ids", BEFORE_LAYERS, "embed", "tokens|weight", "token|id|row", .weights = next_rows},
    {"fused matrix split otherwise", IN_LAYERS, "attn.q", "qkv", "fused", .weights = fused_otherwise},
};
const struct mistakes mistakes_of_weights = {rows, sizeof rows / sizeof *rows};
