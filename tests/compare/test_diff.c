/* test_diff.c - mistakes planted in checkpoints and dumps: diff must name the first tensor that differs,
 * and the mistake. */
#include "suites.h"
#include "attn_tools.h"

#include "made.h"
#include "scratch.h"
#include "shell.h"
#include "wrong.h"

#include "io/dump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int32_t ids[] = {1, 5, 7, 2, 9, 3, 4, 8, 11, 12, 13, 14};
enum { T = sizeof ids / sizeof *ids };

/* ---- runs ---- */

struct ran { struct attn_model *model; struct attn_dump *dump; };

static struct ran run_ids(const char *path, const int32_t *list, size_t n, const char *show, int threads)
{
    struct ran r = {.model = made_open(path)};
    struct attn_err err = {0};
    struct attn_tokens *tokens = NULL;
    struct attn_select *what = NULL;
    int rc = attn_tokens_from_ids(&tokens, list, n, &err);
    if (!rc)
        rc = attn_select_new(&what, r.model, NULL, show, NULL, NULL, &err);
    if (!rc)
        rc = attn_dump_run(&r.dump, r.model, tokens, NULL, what, &(struct attn_plan){.threads = threads}, NULL, &err);
    ck_assert_msg(rc == 0, "%s", err.msg);
    attn_select_free(what);
    attn_tokens_free(tokens);
    return r;
}

static struct ran run(const char *path)
{
    return run_ids(path, ids, T, "*", 2);
}

static void ran_free(struct ran *r)
{
    attn_dump_free(r->dump);
    attn_model_close(r->model);
}

/* Compares two runs.  `first` is the tensor that must be found, NULL: none; the cause must be of this kind
 * and contain `says`. */
static void expect_diff(const struct ran *a, const struct ran *b, const char *first, const char *kind, const char *says)
{
    struct attn_err err = {0};
    struct attn_diff *d;
    const char *found_kind;
    struct attn_diff_opts o = {.atol = 1e-5, .rtol = 1e-5, .model_a = a->model, .model_b = b->model};
    ck_assert_msg(attn_diff_new(&d, a->dump, b->dump, &o, &err) == 0, "%s", err.msg);
    const struct attn_diff_row *row = attn_diff_first(d);
    const char *cause = attn_diff_cause(d, &found_kind);
    if (!first)
        ck_assert_msg(!row, "%s differs", row->name);
    else {
        ck_assert_msg(row && !strcmp(row->name, first),
                      "expected %s, found %s (%s)", first, row ? row->name : "nothing", cause);
        ck_assert_msg(cause && !strcmp(found_kind, kind) && strstr(cause, says),
                      "expected %s '%s', found %s '%s'", kind, says,
                      found_kind, cause);
    }
    attn_diff_free(d);
}

/* ---- mistakes in a checkpoint ---- */

/* gpt2-a: q, k and v are 16 columns each, with heads 8 wide. */
static void swapped_heads(size_t *i, size_t *j)
{
    (void)i;
    *j ^= 8;
}

/* neox-i: the interleaved layout gets the columns of three stacked blocks; there are 2 heads, 32 wide. */
static void unstacked(size_t *i, size_t *j)
{
    size_t chunk = *i / 32, head = chunk / 3, part = chunk % 3;
    (void)j;
    *i = (part * 2 + head) * 32 + *i % 32;
}

static void one_later(size_t *i, size_t *j)
{
    (void)j;
    *i += *i < 31;
}

static void swapped_first(size_t *i, size_t *j)
{
    (void)j;
    *i ^= *i < 2;
}

static const struct planted {
    const char *model, *from, *to;
    struct wrong_move move;
    const char *first, *kind, *says;
} planted[] = {
    {"gpt2-a", NULL, NULL, {"h.0.attn.c_attn", swapped_heads, false}, "blocks.0.attn.q", "heads",
     "head 0 of A is head 1 of B, 1 is 0"},
    {"gpt2-a", NULL, NULL, {"h.1.attn.c_proj.weight", wrong_transposed, false}, "blocks.1.attn.out", "transposed",
     "B multiplies by the transpose"},
    {"gpt2-a", NULL, NULL, {"wpe.weight", one_later, false}, "pos_embed", "position", "row t of B is row t + 1 of A"},
    {"gpt2-a", "1e-05", "1e-06", {NULL, NULL, false}, "blocks.0.norm1", "epsilon",
     "A adds 1e-05 to the variance, B 1e-06"},
    {"gpt2-a", "gelu_new", "gelu", {NULL, NULL, false}, "blocks.0.mlp.post", "gelu",
     "A uses the tanh form of GELU (gelu_new), B the erf form"},
    {"gpt2-a", "\"scale_attn_weights\": true", "\"scale_attn_weights\": false", {NULL, NULL, false},
     "blocks.0.attn.scores", "scale",
     "A's scores are divided by sqrt(d_head), B's are not"},
    {"neox-i", NULL, NULL, {"gpt_neox.layers.0.attention.query_key_value", unstacked, true}, "blocks.0.attn.q", "qkv",
     "A reads it interleaved (q, k, v head by head), B as three blocks"},
    {"neox-i", "\"use_parallel_residual\": true", "\"use_parallel_residual\": false", {NULL, NULL, false},
     "blocks.0.norm2", "residual",
     "A's norm reads the block's input (parallel branches)"},
    {"neox-i", "\"rotary_pct\": 0.25", "\"rotary_pct\": 0.5", {NULL, NULL, false}, "blocks.0.attn.q", "rotary",
     "(8 numbers, theta 10000"},
    {"llama-f", "10000.0", "500000.0", {NULL, NULL, false}, "blocks.0.attn.q", "rotary",
     "theta 10000, from position 0), B rotates pairs (i, i + r/2) (8 numbers, theta 500000"},
    {"llama-f", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true", {NULL, NULL, false},
     "logits", "tied",
     "B's output layer is the embedding"},
    {"llama-f", NULL, NULL, {"model.layers.0.self_attn.q_proj.weight", wrong_transposed, false}, "blocks.0.attn.q",
     "transposed", "B multiplies"},
    {"neo-h", "\"window_size\": 5", "\"window_size\": 3", {NULL, NULL, false}, "blocks.1.attn.scores", "mask",
     "B does not see keys 3 or more tokens back"},
    {"olmo2-a", NULL, NULL, {"model.layers.1.self_attn.q_proj.weight", wrong_transposed, false}, "blocks.1.attn.q",
     "transposed",
     "B multiplies"},
    {"gemma3-a", NULL, NULL, {"model.layers.2.self_attn.q_proj.weight", wrong_transposed, false}, "blocks.2.attn.q",
     "transposed",
     "B multiplies"},
    {"olmo2-a", NULL, NULL, {"model.layers.1.self_attn.q_norm.weight", swapped_first, true},
     "blocks.1.attn.q", "weight",
     "the models differ in the weight model.layers.1.self_attn.q_norm.weight: in 2 of 32 numbers, first at [0], where "
     "A has 1.7734375 and B 1.921875"},
    {"gemma3-a", NULL, NULL, {"model.layers.0.self_attn.k_norm.weight", swapped_first, true}, "blocks.0.attn.k",
     "weight", "k_norm.weight"},
    {"gemma3-a", NULL, NULL, {"model.layers.3.self_attn.k_proj.weight", swapped_first, false}, "blocks.3.attn.k",
     "weight", "k_proj.weight"},
    {"gemma2-a", NULL, NULL, {"model.layers.1.post_feedforward_layernorm.weight", swapped_first, true},
     "blocks.1.mlp.added", "weight",
     "model.layers.1.post_feedforward_layernorm.weight: in 2 of 32"},
    {"opt-post-a", NULL, NULL, {"model.decoder.layers.0.final_layer_norm.bias", swapped_first, true},
     "blocks.0.resid_post", "weight",
     "model.decoder.layers.0.final_layer_norm.bias"},
    {"opt-post-a", NULL, NULL, {"model.decoder.project_out.weight", swapped_first, false}, "logits", "weight",
     "project_out.weight"},
    {"phi3-longrope-a", NULL, NULL, {"model.layers.1.mlp.gate_up_proj.weight", swapped_first, false},
     "blocks.1.mlp.pre", "weight",
     "gate_up_proj.weight: in 64 of 3072"},
    {"bloom-a", NULL, NULL, {"transformer.word_embeddings_layernorm.weight", swapped_first, true}, "embed", "weight",
     "word_embeddings_layernorm"},
    {"gptj-a", NULL, NULL, {"lm_head.bias", swapped_first, true}, "logits", "bias", "A - B is the same in every row"},
    {"gemma2-a", "logit_softcapping\": 1.0", "logit_softcapping\": null", {NULL, NULL, false}, "logits", "cap",
     "A is 1 * tanh(B / 1), B is not capped"},
    {"bloom-a", "post_layernorm\": false", "post_layernorm\": true", {NULL, NULL, false}, "blocks.0.resid_mid",
     "residual", "A is resid_pre + attn.out, B is norm1 + attn.out: on B the residual is what the norm gives"},
    {"neox-i", "rotary_emb_base\": 10000", "rotary_emb_base\": 7100", {NULL, NULL, false}, "blocks.0.attn.q", "rotary",
     "theta 10000, from position 0), B rotates pairs (i, i + r/2) (8 numbers, theta 7100, from position 0)"},
    {"llama-yarn-a", "\"factor\": 4.0", "\"factor\": 3.0", {NULL, NULL, false}, "blocks.0.attn.q", "rotary",
     "from position 0, scaled as the configuration says), B rotates pairs (i, i + r/2) (8 numbers, the last pair by"},
    {"smollm3-a", "    1,\n    0,\n    1,", "    1,\n    1,\n    1,", {NULL, NULL, false}, "blocks.1.attn.q", "rotary",
     "A does not rotate, B"},
    {"llama-f", NULL, NULL, {"model.embed_tokens.weight", one_later, false}, "embed", "tokens",
     "B has other rows of the embedding than its token ids say: token 0 has id"},
    {"falcon-new-a", NULL, NULL, {"transformer.h.1.ln_mlp.weight", swapped_first, true}, "blocks.1.norm2", "weight",
     "transformer.h.1.ln_mlp.weight"},
};

START_TEST(test_planted_in_a_checkpoint)
{
    const struct planted *p = &planted[_i];
    struct ran a = run(wrong_origin(p->model)),
        b = run(wrong_copy(p->model, p->from, p->to, p->move.tensor ? &p->move : NULL));
    expect_diff(&a, &b, p->first, p->kind, p->says);
    ran_free(&a);
    ran_free(&b);
}
END_TEST

/* ---- mistakes in a dump ---- */

static struct attn_array *array(struct attn_dump *d, const char *name)
{
    struct attn_dumped *found = (struct attn_dumped *)attn_dump_item(d, name);
    ck_assert_msg(found != NULL, "no %s", name);
    return &found->of;
}

/* Undoes the rotation of the queries and applies one of neighbouring pairs instead. */
static void adjacent_pairs(struct attn_dump *d)
{
    struct attn_array *q = array(d, "blocks.0.attn.q");
    size_t n = q->shape[2], half = n / 2;
    for (size_t row = 0; row < q->n / n; row++) {
        double x[64];
        float *y = q->data + row * n;
        for (size_t i = 0; i < half; i++) {
            double angle = (double)(row % T) * pow(10000, -2.0 * (double)i / (double)n), c = cos(angle), s = sin(angle);
            x[i] = (double)y[i] * c + (double)y[i + half] * s;
            x[i + half] = (double)y[i + half] * c - (double)y[i] * s;
        }
        for (size_t i = 0; i < half; i++) {
            double angle = (double)(row % T) * pow(10000, -2.0 * (double)i / (double)n), c = cos(angle), s = sin(angle);
            y[2 * i] = (float)(x[2 * i] * c - x[2 * i + 1] * s);
            y[2 * i + 1] = (float)(x[2 * i] * s + x[2 * i + 1] * c);
        }
    }
}

static void no_bias(struct attn_dump *d)
{
    struct attn_array *v = array(d, "blocks.1.attn.v");
    for (size_t i = 0; i < v->n; i++)
        v->data[i] -= 0.03f * (float)(1 + i % v->shape[2]);
}

static void merged_wrong(struct attn_dump *d)
{
    struct attn_array *c = array(d, "blocks.0.attn.context");
    size_t width = c->shape[1], dv = width / 2;
    for (size_t t = 0; t < T; t++) {
        float was[256];
        memcpy(was, c->data + t * width, width * sizeof *was);
        for (size_t j = 0; j < width; j++)
            c->data[t * width + j % dv * 2 + j / dv] = was[j];
    }
}

static void root_mean_square(struct attn_dump *d)
{
    struct attn_array *x = array(d, "blocks.0.resid_pre"), *y = array(d, "blocks.0.norm1");
    size_t n = x->shape[1];
    for (size_t t = 0; t < T; t++) {
        double sum = 1e-5;
        for (size_t j = 0; j < n; j++)
            sum += (double)x->data[t * n + j] * (double)x->data[t * n + j] / (double)n;
        for (size_t j = 0; j < n; j++)
            y->data[t * n + j] = (float)((double)x->data[t * n + j] / sqrt(sum) * (1 + 0.01 * (double)j));
    }
}

static void no_residual(struct attn_dump *d)
{
    struct attn_array *x = array(d, "blocks.0.resid_mid"), *y = array(d, "blocks.0.attn.out");
    memcpy(x->data, y->data, x->n * sizeof *x->data);
}

static void no_norm(struct attn_dump *d)
{
    struct attn_array *x = array(d, "blocks.0.resid_pre"), *y = array(d, "blocks.0.norm1");
    memcpy(y->data, x->data, x->n * sizeof *x->data);
}

static void sample_variance(struct attn_dump *d)
{
    struct attn_array *y = array(d, "blocks.0.norm1");
    double n = (double)y->shape[1];
    for (size_t i = 0; i < y->n; i++)
        y->data[i] = (float)(sqrt((n - 1) / n) * (double)y->data[i] + 0.01 * (double)(i % y->shape[1]));
}

static void residual_twice(struct attn_dump *d)
{
    struct attn_array *x = array(d, "blocks.0.resid_mid"), *y = array(d, "blocks.0.resid_pre");
    for (size_t i = 0; i < x->n; i++)
        x->data[i] += y->data[i];
}

/* Adds what the branch gives instead of what is made of it. */
static void plain_branch(struct attn_dump *d)
{
    struct attn_array *x = array(d, "blocks.0.resid_mid"), *y = array(d, "blocks.0.resid_pre");
    const struct attn_array *z = array(d, "blocks.0.attn.out");
    for (size_t i = 0; i < x->n; i++)
        x->data[i] = y->data[i] + z->data[i];
}

static void capped(struct attn_dump *d)
{
    struct attn_array *x = array(d, "logits");
    for (size_t i = 0; i < x->n; i++)
        x->data[i] = 3 * tanhf(x->data[i] / 3);
}

static void tied(struct attn_dump *d)
{
    struct attn_array *x = array(d, "norm_final"), *e = array(d, "embed"), *y = array(d, "logits");
    size_t n = x->shape[1];
    for (size_t t = 0; t < T; t++)
        for (size_t k = 0; k < T; k++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++)
                sum += (double)x->data[t * n + j] * (double)e->data[k * n + j];
            y->data[t * y->shape[1] + (size_t)d->tokens.item[k].id] = (float)sum;
        }
}

static void gate_and_up(struct attn_dump *d)
{
    struct attn_array *pre = array(d, "blocks.0.mlp.pre"), *up = array(d, "blocks.0.mlp.linear"),
        *y = array(d, "blocks.0.mlp.post");
    for (size_t i = 0; i < y->n; i++)
        y->data[i] = (float)((double)up->data[i] / (1 + exp(-(double)up->data[i])) * (double)pre->data[i]);
}

static void gelu_gate_and_up(struct attn_dump *d)
{
    struct attn_array *pre = array(d, "blocks.0.mlp.pre"), *up = array(d, "blocks.0.mlp.linear"),
        *y = array(d, "blocks.0.mlp.post");
    for (size_t i = 0; i < y->n; i++) {
        double u = (double)up->data[i];
        y->data[i] = (float)(0.5 * u * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (u + 0.044715 * u * u * u))) *
                             (double)pre->data[i]);
    }
}

static void rows_and_heads(struct attn_dump *d)
{
    struct attn_array *q = array(d, "blocks.0.attn.q");
    q->shape[0] = T;
    q->shape[1] = 2;
}

static void flipped(struct attn_dump *d)
{
    struct attn_array *p = array(d, "blocks.0.attn.pattern");
    for (size_t h = 0; h < p->shape[0]; h++)
        for (size_t i = 0; i < T; i++)
            for (size_t j = 0; j < i; j++) {
                float *x = &p->data[(h * T + i) * T + j], *y = &p->data[(h * T + j) * T + i], was = *x;
                *x = *y;
                *y = was;
            }
}

static void a_strange_weight(struct attn_dump *d)
{
    struct attn_array *v = array(d, "blocks.0.attn.v");
    for (size_t i = 0; i < v->n; i++)
        v->data[i] = (float)sin((double)i);
}

static void another_token(struct attn_dump *d)
{
    d->tokens.item[3].id = 44;
    array(d, "embed")->data[0]++;
}

static void one_nan(struct attn_dump *d)
{
    array(d, "blocks.0.mlp.pre")->data[66] = NAN;
}

static void few_bits(struct attn_dump *d)
{
    struct attn_array *k = array(d, "blocks.0.attn.k");
    for (size_t i = 0; i < k->n; i++) {
        int exponent;
        double part = frexp((double)k->data[i], &exponent);
        k->data[i] = (float)ldexp(nearbyint(ldexp(part, 11)), exponent - 11);   /* as many bits as a float16 has */
    }
}

/* Rounded to few bits, but also scaled: rounding alone does not explain it. */
static void few_bits_scaled(struct attn_dump *d)
{
    struct attn_array *k = array(d, "blocks.0.attn.k");
    for (size_t i = 0; i < k->n; i++)
        k->data[i] *= 1.002f;
    few_bits(d);
}

static void fewer_tokens(struct attn_dump *d)
{
    for (size_t i = 0; i < d->n; i++) {
        struct attn_array *x = &d->item[i].of;
        size_t token = (size_t)x->ndim - 2;
        bool square = x->ndim == 3 && x->shape[2] == x->shape[1];
        x->shape[token]--;
        x->shape[2] -= square;
        for (x->n = 1, token = 0; token < (size_t)x->ndim; token++)
            x->n *= x->shape[token];
        x->data[0]++;                   /* so that no row equals one of the other side */
    }
    d->tokens.n = 0;
}

static void heads_side_by_side(struct attn_dump *d)
{
    struct attn_array *q = array(d, "blocks.0.attn.q");
    q->ndim = 2;
    size_t H = q->shape[0], tokens = q->shape[1], width = q->shape[2];
    q->shape[0] = tokens;
    q->shape[1] = H * width;
}

static const struct spoiled {
    const char *model;
    void (*spoil)(struct attn_dump *d);
    const char *first, *kind, *says;
} spoiled[] = {
    {"llama-f", adjacent_pairs, "blocks.0.attn.q", "rotary", "B rotates pairs (2i, 2i + 1) (8 numbers, theta 10000"},
    {"gpt2-a", no_bias, "blocks.1.attn.v", "bias", "A - B is the same in every row"},
    {"gpt2-a", merged_wrong, "blocks.0.attn.context", "heads", "B interleaves heads number by number"},
    {"gpt2-a", root_mean_square, "blocks.0.norm1", "norm", "A uses LayerNorm, B RMSNorm"},
    {"gpt2-a", no_residual, "blocks.0.resid_mid", "residual", "B lacks resid_pre, which A adds"},
    {"gpt2-a", no_norm, "blocks.0.norm1", "norm", "B's norm1 is what the norm reads, unchanged"},
    {"gpt2-a", sample_variance, "blocks.0.norm1", "norm", "B divides by the variance of a sample"},
    {"gpt2-a", residual_twice, "blocks.0.resid_mid", "residual", "B adds resid_pre twice, A once"},
    {"gemma2-a", plain_branch, "blocks.0.resid_mid", "residual",
     "B is resid_pre + attn.out, where attn.added is attn.out after a norm"},
    {"granite-a", plain_branch, "blocks.0.resid_mid", "residual", "where attn.added is attn.out times 0.44"},
    {"gpt2-a", capped, "logits", "cap", "B is 3 * tanh(A / 3), A is not capped"},
    {"llama-f", tied, "logits", "tied", "B's output layer is the embedding (tied)"},
    {"llama-f", gate_and_up, "blocks.0.mlp.post", "gate", "B activates the wrong half"},
    {"gemma2-a", gelu_gate_and_up, "blocks.0.mlp.post", "gate", "B activates the wrong half"},
    {"gpt2-a", rows_and_heads, "blocks.0.attn.q", "heads", "reshaped where heads and tokens should have been swapped"},
    {"gpt2-a", flipped, "blocks.0.attn.pattern", "axis", "softmax over the wrong axis"},
    {"gpt2-a", a_strange_weight, "blocks.0.attn.v", "weight", "-m MODEL tries that model's weights"},
    {"gpt2-a", one_nan, "blocks.0.mlp.pre", "nan", "B has NaN where A has none, 1 time, first at token 1, column 2"},
    {"gpt2-a", few_bits, "blocks.0.attn.k", "precision",
     "B is A rounded to float16: it was stored that way (--rtol 0.001 ignores this)"},
    {"gpt2-a", few_bits_scaled, "blocks.0.attn.k", "weight", "its input agrees but the product differs"},
    {"gpt2-a", fewer_tokens, "embed", "tokens", "A has 12 tokens, B has 11"},
    {"gpt2-a", heads_side_by_side, "blocks.0.attn.q", "heads",
     "reshaped where heads and tokens should have been swapped"},
    {"gpt2-a", another_token, "embed", "tokens", "token 3 has id 2 in A and 44 in B"},
};

START_TEST(test_planted_in_a_dump)
{
    const struct spoiled *s = &spoiled[_i];
    struct ran a = run(wrong_origin(s->model)), b = run(wrong_origin(s->model));
    s->spoil(b.dump);
    attn_model_close(a.model);          /* the dumps do not refer to the models */
    attn_model_close(b.model);
    a.model = b.model = NULL;
    expect_diff(&a, &b, s->first, s->kind, s->says);
    ran_free(&a);
    ran_free(&b);
}
END_TEST

/* ---- the rest ---- */

START_TEST(test_nothing_differs)
{
    struct ran a = run(wrong_origin("llama-f")), b = run_ids(wrong_origin("llama-f"), ids, T, "*", 1);
    struct attn_err err = {0};
    struct attn_diff *d;
    size_t n;
    const struct attn_diff_opts exact = {.exact = true};
    ck_assert_int_eq(attn_diff_new(&d, a.dump, b.dump, &exact, &err), 0);
    ck_assert_ptr_null(attn_diff_first(d));
    ck_assert_ptr_null(attn_diff_cause(d, NULL));
    const struct attn_diff_row *row = attn_diff_rows(d, &n);
    ck_assert_uint_gt(n, 30);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(row[i].kind == ATTN_DIFF_SAME && row[i].act >= 0, "%s", row[i].name);
    attn_diff_free(d);
    ran_free(&a);
    ran_free(&b);
}
END_TEST

START_TEST(test_bos)
{
    int32_t more[T + 1] = {0};
    memcpy(more + 1, ids, sizeof ids);
    struct ran a = run_ids(wrong_origin("gpt2-a"), more, T + 1, "*", 1), b = run(wrong_origin("gpt2-a"));
    expect_diff(&a, &b, "embed", "bos", "A has one more token in front: id 0");
    expect_diff(&b, &a, "embed", "bos", "B has one more token in front: id 0");
    a.dump->tokens.n = 0;                 /* like an archive, which has no tokens */
    expect_diff(&a, &b, "embed", "bos", "A has one more row in front");
    expect_diff(&b, &a, "embed", "bos", "B has one more row in front");
    ran_free(&a);
    ran_free(&b);
}
END_TEST

/* No number says that the rest is the same. */
START_TEST(test_no_row_is_no_bos)
{
    expect_exactly("for i in 0 1; do mkdir $D/$i; { printf '\\223NUMPY\\001\\000v\\000%-117s\\n' \"{'descr': '<f4', "
                   "'fortran_order': False, 'shape': ($i, 4), }\"; "
                   "head -c $((16*i)) /dev/zero; } >$D/$i/embed.npy; done; "
                   "ends 1 \"$A\" diff $D/1 $D/0 >$D/said; grep -c embed $D/said; ends 1 grep BOS $D/said", "2\n");
}
END_TEST

/* 0 and -0 are no distance apart, and yet it is there that they differ. */
START_TEST(test_zeros)
{
    expect("mkdir $D/a $D/b; printf '1,2\\n3,0\\n' >$D/a/x.csv; printf '1,2\\n3,-0\\n' >$D/b/x.csv; \"$A\" diff --exact $D/a/x.csv $D/b/x.csv", 1,
           "0  -0  token 1, column 1\n");
    expect("\"$A\" diff $D/a/x.csv $D/b/x.csv", 0, "nothing differs");
}
END_TEST

/* The scale must also be found from patterns and contexts alone, which is what a dump has by default. */
static const struct { const char *show; bool model; const char *to_b, *to_a, *off; } heads_known_from[] = {
    {"pattern,context", true, "times 0.353553 = 1/sqrt(d_head)", "times 2.82843 = sqrt(d_head)", "false"},
    {"pattern,context", false, "times 0.353553 = 1/sqrt(d_head)", "times 2.82843 = sqrt(d_head)", "false"},
    /* Python's None is false */
    {"pattern", true, "times 0.353553 = 1/sqrt(d_head)", "times 2.82843 = sqrt(d_head)", "null"},
    {"pattern", false, "times 0.353553", "times 2.82843", "false"},    /* nothing tells how wide heads are */
};

START_TEST(test_scale_from_patterns)
{
    const char *off = printed("\"scale_attn_weights\": %s", heads_known_from[_i].off);
    const char *wrong = wrong_copy("gpt2-a", "\"scale_attn_weights\": true", off, NULL),
        *show = heads_known_from[_i].show;
    struct ran a = run_ids(wrong_origin("gpt2-a"), ids, T, show, 1), b = run_ids(wrong, ids, T, show, 1);
    struct ran *both[] = {&a, &b};
    for (size_t i = 0; i < 2 && !heads_known_from[_i].model; i++) {
        attn_model_close(both[i]->model);
        both[i]->model = NULL;
    }
    expect_diff(&a, &b, "blocks.0.attn.pattern", "scale", heads_known_from[_i].to_b);
    expect_diff(&b, &a, "blocks.0.attn.pattern", "scale", heads_known_from[_i].to_a);
    ran_free(&a);
    ran_free(&b);
}
END_TEST

/* When only the last bit of each number differs, an exact comparison sees it but names no cause. */
START_TEST(test_rounding)
{
    struct ran a = run(wrong_origin("gpt2-a")), b = run(wrong_origin("gpt2-a"));
    struct attn_array *x = array(b.dump, "blocks.0.norm1");
    struct attn_diff *d;
    const char *kind;
    const struct attn_diff_opts exact = {.exact = true};
    for (size_t i = 0; i < x->n; i++)
        x->data[i] = nextafterf(x->data[i], i % 3 ? INFINITY : 0);
    ck_assert_int_eq(attn_diff_new(&d, a.dump, b.dump, &exact, NULL), 0);
    ck_assert_str_eq(attn_diff_first(d)->name, "blocks.0.norm1");
    ck_assert_uint_eq(attn_diff_first(d)->max_ulp, 1);
    ck_assert_msg(attn_diff_cause(d, &kind) && !strcmp(kind, "rounding"), "%s", attn_diff_cause(d, NULL));
    attn_diff_free(d);
    ran_free(&a);
    ran_free(&b);
}
END_TEST

static struct attn_dump *made(const char *name, int ndim, const size_t *shape, const float *data, size_t n)
{
    struct attn_err err = {0};
    struct attn_dump *d = calloc(1, sizeof *d);
    struct attn_dumped what = {.of = {.ndim = ndim, .n = n, .data = malloc(n * sizeof *data)}};
    for (int i = 0; i < ndim; i++)
        what.of.shape[i] = shape[i];
    memcpy(what.of.data, data, n * sizeof *data);
    ck_assert_int_eq(attn_dump_add(d, name, strlen(name), &what, &err), 0);
    return d;
}

/* Adds an array of numbers that are all the same, or all different. */
static void add_array(struct attn_dump *d, const char *name, int ndim, const size_t *shape, float first, float step)
{
    struct attn_dumped what = {.of = {.ndim = ndim, .n = 1}};
    for (int i = 0; i < ndim; i++)
        what.of.n *= what.of.shape[i] = shape[i];
    what.of.data = malloc(what.of.n * sizeof *what.of.data);
    for (size_t i = 0; i < what.of.n; i++)
        what.of.data[i] = first + step * (float)(i % 97);
    ck_assert_int_eq(attn_dump_add(d, name, strlen(name), &what, NULL), 0);
}

static void ck_no_cause(struct attn_dump *const side[2], const struct attn_model *m, const char *first)
{
    const struct attn_diff_opts o = {.model_a = m, .model_b = m};
    struct attn_diff *d;
    const char *kind;
    ck_assert_int_eq(attn_diff_new(&d, side[0], side[1], &o, NULL), 0);
    ck_assert_str_eq(attn_diff_first(d)->name, first);
    ck_assert(!attn_diff_cause(d, &kind) || strcmp(kind, "gate") != 0);
    attn_diff_free(d);
    attn_dump_free(side[0]);
    attn_dump_free(side[1]);
}

/* Arrays that do not belong together, as a dump of another program may have them, are not taken for
 * each other's input. */
START_TEST(test_shapes_that_do_not_belong_together)
{
    static const char pre[] = "blocks.0.mlp.pre", linear[] = "blocks.0.mlp.linear", post[] = "blocks.0.mlp.post";
    struct attn_model *m = made_open("tests/golden/checkpoints/llama-f");
    for (int longer = 0; longer < 2; longer++) {
        struct attn_dump *side[2] = {calloc(1, sizeof **side), calloc(1, sizeof **side)};
        for (int i = 0; i < 2; i++) {
            add_array(side[i], pre, 2, longer ? (size_t[]){200000, 8} : (size_t[]){2, 8}, 0.5f, 0.1f);
            add_array(side[i], linear, 2, longer ? (size_t[]){1, 1} : (size_t[]){1, 8}, 1, 0.3f);
            add_array(side[i], post, 2, (size_t[]){2, 8}, (float)i, 0.7f);
        }
        ck_no_cause(side, NULL, post);
    }
    /* 8 heads of 4 numbers, where the model has 4 of 8 */
    struct attn_dump *side[2] = {calloc(1, sizeof **side), calloc(1, sizeof **side)};
    for (int i = 0; i < 2; i++) {
        add_array(side[i], "blocks.0.norm1", 2, (size_t[]){5, 32}, 0.5f, 0.1f);
        add_array(side[i], "blocks.0.attn.q", 3, (size_t[]){8, 5, 4}, (float)i, 0.7f);
    }
    ck_no_cause(side, m, "blocks.0.attn.q");
    attn_model_close(m);
}
END_TEST

/* NaN on one side alone is no small difference. */
START_TEST(test_a_nan_of_one_side)
{
    const float x[] = {1, 2, 3, NAN}, y[] = {1, NAN, 3, NAN};
    struct attn_dump *a = made("logits", 2, (size_t[]){1, 4}, x, 4), *b = made("logits", 2, (size_t[]){1, 4}, y, 4);
    struct attn_diff_opts o = {.atol = 1};
    struct attn_diff_next next;
    struct attn_diff *d;
    ck_assert_int_eq(attn_diff_new(&d, a, b, &o, NULL), 0);
    const struct attn_diff_row *row = attn_diff_first(d);
    ck_assert(row && row->differing == 1 && isinf(row->max_abs) && isnan(row->nmse));
    attn_diff_next(&next, d);
    ck_assert(isinf(next.max_abs) && next.at == 1 && next.a == 2 && isnan(next.b));
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

START_TEST(test_numbers_of_a_row)
{
    const float x[] = {1, 2, 3, 4.5f, -0.0f, -INFINITY}, y[] = {1, 2, 3, 4, 0, -INFINITY};
    struct attn_dump *a = made("embed", 2, (size_t[]){2, 3}, x, 6), *b = made("embed", 4, (size_t[]){1, 1, 2, 3}, y, 6);
    struct attn_diff_opts o = {.atol = 1e-5};
    struct attn_diff *d;
    ck_assert_int_eq(attn_diff_new(&d, a, b, &o, NULL), 0);
    const struct attn_diff_row *row = attn_diff_first(d);
    ck_assert_msg(row && row->differing == 1 && row->count == 6, "zeros of both signs and equal infinities agree");
    ck_assert(row->max_abs == 0.5 && row->at[0] == 0 && row->at[1] == 1 && row->at[2] == 0 && row->a == 4.5f &&
              row->b == 4);
    ck_assert_double_eq_tol(row->mean_abs, 0.1, 1e-15);     /* rounded in double */
    ck_assert_double_eq_tol(row->nmse, 0.05 / 2, 1e-15);            /* variance of 1, 2, 3, 4, 0 */
    ck_assert_uint_eq(row->max_ulp, 1u << 20);                      /* 0.5 is an eighth of the step from 4 to 8 */
    attn_diff_free(d);
    o = (struct attn_diff_opts){.atol = 0.5};
    ck_assert_int_eq(attn_diff_new(&d, a, b, &o, NULL), 0);
    ck_assert_ptr_null(attn_diff_first(d));
    attn_diff_free(d);
    o = (struct attn_diff_opts){.exact = true};
    ck_assert_int_eq(attn_diff_new(&d, a, b, &o, NULL), 0);
    ck_assert_msg(attn_diff_first(d)->differing == 2, "the bits of zeros differ");
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

START_TEST(test_names)
{
    const float x = 1;
    struct attn_err err = {0};
    const struct attn_diff_opts o = {0};
    struct attn_dump *a = made("embed", 0, NULL, &x, 1), *b = made("mine", 0, NULL, &x, 1);
    struct attn_diff *d = (struct attn_diff *)a;        /* whatever was there */
    ck_assert_int_eq(attn_diff_new(&d, a, b, &o, &err), ATTN_EFORMAT);
    ck_assert_ptr_null(d);
    ck_assert_msg(strstr(err.msg, "no name in common") && strstr(err.msg, "'embed'") && strstr(err.msg, "'mine'"),
                  "%s", err.msg);
    a->single = b->single = true;       /* two single files are compared whatever their names are */
    ck_assert_int_eq(attn_diff_new(&d, a, b, &o, &err), 0);
    ck_assert_ptr_null(attn_diff_first(d));
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

START_TEST(test_order_and_one_sided_names)
{
    static const char *const names[] = {"logits", "blocks.10.norm1", "zebra", "blocks.2.attn.k", "blocks.2.attn.q",
                                        "embed", "blocks.x.q"};
    static const char *const order[] = {"embed", "blocks.2.attn.q", "blocks.2.attn.k", "blocks.10.norm1", "logits",
                                        "blocks.x.q", "zebra"};
    const float x = 1;
    const struct attn_diff_opts o = {0};
    struct attn_dump *a = made(names[0], 0, NULL, &x, 1), *b = made("embed", 0, NULL, &x, 1);
    for (size_t i = 1; i < 7; i++) {
        struct attn_dump *one = made(names[i], 0, NULL, &x, 1);
        struct attn_dumped what = one->item[0];
        free(what.name);
        ck_assert_int_eq(attn_dump_add(a, names[i], strlen(names[i]), &what, NULL), 0);
        one->n = 0;
        attn_dump_free(one);
    }
    struct attn_diff *d;
    size_t n;
    ck_assert_int_eq(attn_diff_new(&d, a, b, &o, NULL), 0);
    const struct attn_diff_row *row = attn_diff_rows(d, &n);
    ck_assert_uint_eq(n, 7);
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_eq(row[i].name, order[i]);
        ck_assert(row[i].kind == (i ? ATTN_DIFF_ONLY_A : ATTN_DIFF_SAME));
    }
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

Suite *suite_diff(void)
{
    Suite *s = suite_create("diff");
    TCase *t = tcase_create("diff");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, test_planted_in_a_checkpoint, 0, sizeof planted / sizeof *planted);
    tcase_add_loop_test(t, test_planted_in_a_dump, 0, sizeof spoiled / sizeof *spoiled);
    tcase_add_test(t, test_nothing_differs);
    tcase_add_test(t, test_bos);
    tcase_add_test(t, test_no_row_is_no_bos);
    tcase_add_test(t, test_zeros);
    tcase_add_loop_test(t, test_scale_from_patterns, 0, sizeof heads_known_from / sizeof *heads_known_from);
    tcase_add_test(t, test_rounding);
    tcase_add_test(t, test_shapes_that_do_not_belong_together);
    tcase_add_test(t, test_a_nan_of_one_side);
    tcase_add_test(t, test_numbers_of_a_row);
    tcase_add_test(t, test_names);
    tcase_add_test(t, test_order_and_one_sided_names);
    suite_add_tcase(s, t);
    return s;
}
