/* mistakes_stream.c - what a port gets wrong about the residual stream: norms, what is added, the ends, the mlp. */
#include "mistakes.h"

#include "draw.h"

#include <math.h>

/* ---- norms ---- */

static bool pre_norm(const struct ref_config *c) { return !c->no_before && !is(c->norm, "none"); }

/* What a norm of the layer makes first. */
static void shown_by_norm(struct planted *p, const struct ref_config *c)
{
    if (!pre_norm(c))
        p->first = c->qk_norm ? "attn.q" : c->after ? "resid_mid" : "attn.added";
}

static bool other_norm(struct planted *p)
{
    bool layer = is(p->c->norm, "layernorm");
    shown_by_norm(p, p->c);
    p->c->norm = layer ? "rmsnorm" : "layernorm";
    SAYS("%s", layer ? "A uses RMSNorm" : "A uses LayerNorm");
    return true;
}

static bool other_final_norm(struct planted *p)
{
    return !p->c->no_final && other_norm(p) && (p->first = p->mistake->first);
}

static bool other_eps(struct planted *p)
{
    shown_by_norm(p, p->c);
    p->c->eps = p->c->eps > 5e-6 ? 1e-6 : 1e-5;
    SAYS("A adds %g", p->c->eps);
    return true;
}

static bool larger_eps(struct planted *p)
{
    shown_by_norm(p, p->c);
    p->c->eps = 1e-3;
    SAYS("A adds 0.001");
    return true;
}

static bool weight_alone(struct planted *p)
{
    bool had = p->c->from_one;
    shown_by_norm(p, p->c);
    p->c->from_one = false;
    return had;
}

static bool no_norm_weights(struct planted *p)
{
    bool had = !p->c->plain;
    if (!pre_norm(p->c))
        p->first = p->c->after ? "resid_mid" : "attn.added";
    p->c->plain = true;
    return had;
}

static bool if_pre_norm(struct planted *p) { return pre_norm(p->c); }
static bool if_final_norm(struct planted *p) { return !p->c->no_final && !is(p->c->norm, "none"); }

/* Multiplies what the norm of a row of the stream divides by its spread. */
typedef double spread(double variance, double eps, double d);
static void rescale(struct planted *p, int layer, double *x, size_t n, spread *by)
{
    const struct ref_config *c = model_of(p);
    const double *stream = port_told(p->port, layer, "resid_pre"), *b = port_weight(p->port, layer, "norm1.bias");
    int d = c->d;
    for (int t = 0; t < (int)n / d; t++) {
        double mean = 0, square = 0;
        for (int i = 0; i < d && is(c->norm, "layernorm"); i++)
            mean += stream[t * d + i] / d;
        for (int i = 0; i < d; i++)
            square += (stream[t * d + i] - mean) * (stream[t * d + i] - mean) / d;
        for (int i = 0; i < d; i++)
            x[t * d + i] = (x[t * d + i] - (b ? b[i] : 0)) * by(square, c->eps, d) + (b ? b[i] : 0);
    }
}

static double of_sample(double variance, double eps, double d)
{
    return sqrt((variance + eps) / (variance * d / (d - 1) + eps));
}

static double outside(double variance, double eps, double d)
{
    (void)d;
    return sqrt(variance + eps) / (sqrt(variance) + eps);
}

static void variance_of_sample(struct planted *p, int layer, double *x, size_t n)
{
    rescale(p, layer, x, n, of_sample);
}

static void eps_outside(struct planted *p, int layer, double *x, size_t n)
{
    rescale(p, layer, x, n, outside);
}

static void no_norm(struct planted *p, int layer, double *x, size_t n)
{
    memcpy(x, port_told(p->port, layer, "resid_pre"), n * sizeof *x);
}

static bool if_second_norm(struct planted *p) { return pre_norm(p->c) && !p->c->one_norm && !p->c->parallel; }

static void no_second_norm(struct planted *p, int layer, double *x, size_t n)
{
    memcpy(x, port_told(p->port, layer, "resid_mid"), n * sizeof *x);
}

static void stream_as_final(struct planted *p, int layer, double *x, size_t n)
{
    (void)layer;
    memcpy(x, port_told(p->port, model_of(p)->L - 1, "resid_post"), n * sizeof *x);
}

static bool residual_of_normed(struct planted *p)
{
    bool can = !p->c->post_norm_residual && pre_norm(p->c);
    if (p->c->parallel)
        p->first = p->c->one_norm ? "resid_post" : "norm2";
    p->c->post_norm_residual = true;
    return can;
}

static bool residual_before_norm(struct planted *p)
{
    bool had = p->c->post_norm_residual;
    p->first = "resid_mid";
    p->c->post_norm_residual = false;
    return had;
}

static bool norm_after(struct planted *p)
{
    bool can = pre_norm(p->c) && !p->c->parallel && !p->c->post;
    p->c->after = p->c->no_before = true;
    return can;
}

/* The norms of a layer get another name, and with it another place. */
static void move_norm(struct planted *p, int layer, const char *to, const char *from)
{
    static const char *const kinds[] = {"weight", "bias"};
    for (int i = 0; i < 2; i++) {
        char tail[32];
        snprintf(tail, sizeof tail, "%s.%s", from, kinds[i]);
        const double *x = port_weight(p->port, layer, tail);
        snprintf(tail, sizeof tail, "%s.%s", to, kinds[i]);
        if (x)
            port_weight_own(p->port, layer, tail, x, (size_t)model_of(p)->d);
    }
}

static bool norms_after(struct planted *p, int layer)
{
    move_norm(p, layer, "sum1", "norm1");
    move_norm(p, layer, "sum2", "norm2");
    return true;
}

static bool norm_before(struct planted *p)
{
    bool had = p->c->after;
    p->c->after = p->c->no_before = false;
    return had;
}

static bool norms_before(struct planted *p, int layer)
{
    move_norm(p, layer, "norm1", "sum1");
    move_norm(p, layer, "norm2", "sum2");
    return true;
}

static bool no_post_norm(struct planted *p)
{
    bool had = p->c->post;
    p->c->post = false;
    return had;
}

static bool no_final_norm(struct planted *p)
{
    bool had = !p->c->no_final && !is(p->c->norm, "none");
    p->c->no_final = true;
    return had;
}

static bool no_qk_norm(struct planted *p)
{
    bool had = p->c->qk_norm;
    p->c->qk_norm = NULL;
    return had;
}

static bool norms_exchanged(struct planted *p, int layer)
{
    const struct ref_config *c = model_of(p);
    bool can = pre_norm(c) && !c->plain && port_weight(p->port, layer, "norm2.weight");
    move_norm(p, layer, "norm1", "norm2");
    move_norm(p, layer, "norm2", "norm1");
    return can;
}

/* ---- what is added ---- */

static bool in_parallel(struct planted *p)
{
    bool can = !p->c->parallel && !p->c->after;
    p->c->parallel = true;
    return can;
}

static bool in_sequence(struct planted *p)
{
    bool can = p->c->parallel;
    p->c->parallel = p->c->one_norm = false;
    return can;
}

static bool same_norm_again(struct planted *p, int layer)
{
    if (model_of(p)->one_norm)
        move_norm(p, layer, "norm2", "norm1");
    return true;
}

static bool one_norm(struct planted *p)
{
    bool can = p->c->parallel && !p->c->one_norm;
    p->c->one_norm = true;
    return can;
}

static bool no_residual(struct planted *p)
{
    p->first = p->c->parallel ? "resid_post" : "resid_mid";
    p->c->residual = false;
    return true;
}

static bool no_branch_scale(struct planted *p)
{
    bool had = p->c->branch_scale > 0 && p->c->branch_scale != 1;
    p->c->branch_scale = 0;
    return had;
}

static bool if_sequential(struct planted *p) { return !p->c->parallel && !p->c->after && !p->c->post_norm_residual; }

static void added_twice(struct planted *p, int layer, double *x, size_t n)
{
    const double *before = port_told(p->port, layer, "resid_pre");
    for (size_t i = 0; i < n; i++)
        x[i] += before[i];
}

static void dropout(struct planted *p, int layer, double *x, size_t n)
{
    (void)layer;
    for (size_t i = 0; i < n; i++)
        x[i] = draw_below(&p->port->seed, 10) ? x[i] / 0.9 : 0;
}

static bool first_layer(struct planted *p)
{
    return p->from == 0;
}

/* ---- ends ---- */

static bool no_embed_scale(struct planted *p)
{
    bool had = p->c->embed_scale > 0 && p->c->embed_scale != 1;
    if (fabs(p->c->embed_scale - sqrt(p->c->d)) < 1e-9)
        SAYS("1/sqrt(d_model)");
    p->c->embed_scale = 0;
    return had;
}

static bool no_logit_cap(struct planted *p)
{
    bool had = p->c->logit_cap > 0;
    p->c->logit_cap = 0;
    return had;
}

static bool logits_not_divided(struct planted *p)
{
    bool had = p->c->logits_divided > 0 && p->c->logits_divided != 1;
    p->c->logits_divided = 0;
    return had;
}

static bool tied(struct planted *p)
{
    bool can = !p->c->tied;
    p->c->tied = true;
    return can;
}

/* ---- functions of the mlp ---- */

static const char *spelled(const char *mlp)
{
    if (is(mlp, "swiglu") || is(mlp, "relu"))
        return is(mlp, "relu") ? "A uses ReLU" : "A uses SiLU";
    return strstr(mlp, "_new") ? "A uses the tanh form" : "A uses the erf form";
}

static bool other_function(struct planted *p, const char *const pairs[][2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is(p->c->mlp, pairs[i][0])) {
            p->c->mlp = pairs[i][1];
            SAYS("%s", spelled(p->c->mlp));
            return true;
        }
    return false;
}

static bool other_gelu(struct planted *p)
{
    static const char *const pairs[][2] = {
        {"gelu", "gelu_new"}, {"gelu_new", "gelu"}, {"geglu", "geglu_new"}, {"geglu_new", "geglu"}};
    return other_function(p, pairs, sizeof pairs / sizeof *pairs);
}

static bool other_act(struct planted *p)
{
    static const char *const pairs[][2] = {
        {"swiglu", "geglu"}, {"geglu", "swiglu"}, {"geglu_new", "swiglu"}, {"gelu", "relu"}, {"gelu_new", "relu"},
        {"relu", "gelu"}};
    return other_function(p, pairs, sizeof pairs / sizeof *pairs);
}

static bool if_gelu(struct planted *p)
{
    return !gated(p->c) && !is(p->c->mlp, "relu");
}

static void quick_gelu(struct planted *p, int layer, double *x, size_t n)
{
    const double *pre = port_told(p->port, layer, "mlp.pre");
    for (size_t i = 0; i < n; i++)
        x[i] = pre[i] / (1 + exp(-1.702 * pre[i]));
}

static bool if_gated(struct planted *p)
{
    return gated(p->c);
}

static void wrong_half(struct planted *p, int layer, double *x, size_t n)
{
    const double *pre = port_told(p->port, layer, "mlp.pre"), *up = port_told(p->port, layer, "mlp.linear");
    for (size_t i = 0; i < n; i++)
        x[i] = ref_activate(model_of(p)->mlp, up[i]) * pre[i];
}

/* ---- the table ---- */

static const struct mistake rows[] = {
    {"another kind of norm", IN_LAYERS, "norm1", "norm", NULL, .config = other_norm},
    {"another kind of final norm", AFTER_LAYERS, "norm_final", "norm", NULL, .config = other_final_norm},
    {"epsilon 1e-6 or 1e-5", IN_LAYERS, "norm1", "epsilon", NULL, .config = other_eps},
    {"epsilon 1e-3", IN_LAYERS, "norm1", "epsilon", NULL, .config = larger_eps},
    {"epsilon outside of the root", IN_LAYERS, "norm1", "epsilon|norm", "epsilon",
     .config = if_pre_norm, .edit = eps_outside},
    {"variance of a sample", IN_LAYERS, "norm1", "scale|norm", "variance of a sample",
     .config = if_pre_norm, .edit = variance_of_sample},
    {"norm without 1 +", IN_LAYERS, "norm1", "norm", "1 + weight", .config = weight_alone},
    {"norm without weights", IN_LAYERS, "norm1", "norm", "weight", .config = no_norm_weights},
    {"norms exchanged", IN_LAYERS, "norm1", "norm|weight", "weight", .weights = norms_exchanged},
    {"first norm left out", IN_LAYERS, "norm1", "norm", "norm", .config = if_pre_norm, .edit = no_norm},
    {"second norm left out", IN_LAYERS, "norm2", "norm", "norm", .config = if_second_norm, .edit = no_second_norm},
    {"final norm left out", AFTER_LAYERS, "norm_final", "norm", "norm",
     .config = if_final_norm, .edit = stream_as_final},
    {"residual of the normed stream", IN_LAYERS, "resid_mid", "residual", "norm", .config = residual_of_normed},
    {"residual not of the normed stream", IN_LAYERS, "resid_mid", "residual", "norm", .config = residual_before_norm},
    {"norm after the addition", IN_LAYERS, "attn.q", "norm", "norm", .config = norm_after, .weights = norms_after},
    {"norm before the branch", IN_LAYERS, "attn.q", "norm", "norm", .config = norm_before, .weights = norms_before},
    {"no norm after the branch", IN_LAYERS, "resid_mid", "norm|residual", "norm", .config = no_post_norm},
    {"no final norm", AFTER_LAYERS, "logits", "norm", "norm", .config = no_final_norm},
    {"no norm of queries and keys", IN_LAYERS, "attn.q", "norm", "norm", .config = no_qk_norm},
    {"parallel for sequential", IN_LAYERS, "norm2|mlp.pre", "residual", "parallel", .config = in_parallel},
    {"sequential for parallel", IN_LAYERS, "norm2|mlp.pre", "residual", "sequential",
     .config = in_sequence, .weights = same_norm_again},
    {"both branches read the first norm", IN_LAYERS, "norm2|mlp.pre", "norm|residual", "norm", .config = one_norm},
    {"no residual", IN_LAYERS, "resid_mid", "residual", "lacks resid_pre", .config = no_residual},
    {"residual added twice", IN_LAYERS, "resid_mid", "residual", "resid_pre",
     .config = if_sequential, .edit = added_twice},
    {"branch not scaled", IN_LAYERS, "resid_mid", "scale|residual", "times", .config = no_branch_scale},
    {"embedding not scaled", BEFORE_LAYERS, "embed", "scale", "times", .config = no_embed_scale},
    {"logits not capped", AFTER_LAYERS, "logits", "cap", "cap", .config = no_logit_cap},
    {"logits not divided", AFTER_LAYERS, "logits", "scale", "times", .config = logits_not_divided},
    {"tied output", AFTER_LAYERS, "logits", "tied", "A's output layer is the embedding", .config = tied},
    {"another form of GELU", IN_LAYERS, "mlp.post", "gelu", NULL, .config = other_gelu},
    {"another activation function", IN_LAYERS, "mlp.post", "gelu", NULL, .config = other_act},
    {"quick GELU", IN_LAYERS, "mlp.post", "gelu", "quick", .config = if_gelu, .edit = quick_gelu},
    {"wrong half activated", IN_LAYERS, "mlp.post", "gate", "A activates the wrong half",
     .config = if_gated, .edit = wrong_half},
    {"dropout of attention", IN_LAYERS, "attn.out", "dropout", "dropout", .edit = dropout},
    {"dropout of the mlp", IN_LAYERS, "mlp.out", "dropout", "dropout", .edit = dropout},
    {"dropout of the embedding", IN_LAYERS, "resid_pre", "dropout", "dropout", .config = first_layer, .edit = dropout},
};
const struct mistakes mistakes_of_streams = {rows, sizeof rows / sizeof *rows};
