/* Loss and gradients: a recorded checkpoint, the same bits with any number of threads, dropout, errors.
 * test_reference.c and test_families.c compare every kind of model with slopes in double precision. */
#include "suites.h"
#include "attn_tools.h"

#include "checkpoints.h"
#include "draw.h"
#include "golden.h"
#include "made.h"
#include "scratch.h"
#include "shell.h"
#include "worse.h"

#include "gradient/grad.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a model and its gradients ---- */

struct trainee { struct attn_model *model; struct attn_params *p; };

static struct trainee open_trainee(const char *dir)
{
    struct trainee t = {.model = made_open(dir)};
    struct attn_err err = {0};
    ck_assert_msg(attn_params_new(&t.p, t.model, &err) == ATTN_OK, "%s", err.msg);
    return t;
}

static void close_trainee(struct trainee *t)
{
    attn_params_free(t->p);
    attn_model_close(t->model);
}

static double add(struct trainee *t, const struct attn_grad_plan *plan, const struct attn_grad_batch *b)
{
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    double loss;
    ck_assert_msg(attn_grad_new(&g, t->p, plan, &err) == ATTN_OK && attn_grad_add(g, &loss, b, &err) == ATTN_OK,
                  "%s", err.msg);
    attn_grad_free(g);
    return loss;
}

/* Random texts, with the next id as each token's target. */
struct texts { int32_t *ids, *targets; size_t T[8], n, rows; };

static struct texts some_texts(size_t V, size_t longest, size_t n)
{
    struct texts x = {.n = n, .ids = calloc(8 * longest, sizeof *x.ids),
                      .targets = calloc(8 * longest, sizeof *x.targets)};
    for (size_t i = 0; i < n; i++) {
        x.T[i] = i % 3 == 0 ? longest : longest / (i + 1) + 1;
        for (size_t t = 0; t < x.T[i]; t++, x.rows++) {
            x.ids[x.rows] = (int32_t)((x.rows * 7919 + x.rows / 5) % V);
            x.targets[x.rows] = t + 1 < x.T[i] ? (int32_t)(((x.rows + 1) * 7919 + (x.rows + 1) / 5) % V) : -1;
        }
    }
    return x;
}

static struct attn_grad_batch batch_of(const struct texts *x)
{
    return (struct attn_grad_batch){.ids = x->ids, .targets = x->targets, .T = x->T, .seqs = x->n,
                                    .seed = 4, .step = 9};
}

static void free_texts(struct texts *x)
{
    free(x->ids), free(x->targets);
}

#define NATIVE(more) "{\"model_type\": \"attn-decoder\", \"vocab_size\": 75, \"n_ctx\": 150, \"n_layer\": 2, " \
    "\"n_head\": 4, \"n_kv_head\": 2, \"d_model\": 40, \"d_head\": 10, \"d_value\": 12, \"d_mlp\": 72, \"residual\": " \
    "true, \"output_projection\": true, " \
    "\"unembed\": true, " more "}"
static const char *const configs[] = {
    NATIVE("\"norm\": \"layernorm\", \"position\": \"learned\", \"mlp\": \"gelu\", \"bias\": true"),
    NATIVE("\"norm\": \"rmsnorm\", \"position\": \"rope\", \"mlp\": \"swiglu\", \"tied\": false")};

/* ---- a recorded checkpoint ---- */

/* Measured against double precision, the loss is off by 2e-8 of itself and gradients by 3e-6 of a tensor's largest;
 * the bounds leave other processors and compilers some room. */
START_TEST(golden_gradients)
{
    struct trainee t = open_trainee("tests/golden/checkpoints/gpt2-a");
    cJSON *doc = golden_read("tests/golden/gradients/gpt2-a/loss.json");
    struct made_weights want = made_read("tests/golden/gradients/gpt2-a/gradients.safetensors");
    size_t n, targets;
    float *ids = golden_floats(golden_get(doc, "ids"), &n);
    int32_t id[64];
    for (size_t i = 0; i < n; i++)
        id[i] = (int32_t)ids[i];
    targets = n - 1;
    struct attn_grad_batch b = {.ids = id, .targets = id + 1, .T = &targets, .seqs = 1};
    double loss = add(&t, &(struct attn_grad_plan){0}, &b);
    ck_assert_double_eq_tol(loss, golden_number(doc, "loss"), 1e-6);
    ck_assert_uint_eq(t.p->n, attn_st_count(want.st));
    for (size_t i = 0; i < t.p->n; i++) {
        const struct attn_param *p = &t.p->param[i];
        const struct attn_st_tensor *w = made_find(&want, p->name);
        const float *x = (const void *)w->data;
        double most = 0, off = 0;
        ck_assert(w->count == p->count && w->ndim == p->ndim &&
                  memcmp(w->shape, p->shape, (size_t)p->ndim * sizeof *p->shape) == 0);
        for (size_t k = 0; k < p->count; k++) {
            most = fmax(most, fabs((double)x[k]));
            off = worse(off, fabs((double)(x[k] - t.p->grad[p->at + k])));
        }
        ck_assert_msg(off <= 1e-5 * most, "%s: off by %g of %g", p->name, off, most);
        ck_assert_int_eq(p->decays, strstr(p->name, "ln_") == NULL && strstr(p->name, ".bias") == NULL);
    }
    made_close(&want);
    free(ids);
    cJSON_Delete(doc);
    close_trainee(&t);
}
END_TEST

static void ck_tensors(const struct attn_model *m, const struct attn_gradient *g, const char *path, double off)
{
    struct made_weights want = made_read(path);
    struct attn_info info;
    double sum = 0;
    attn_model_info(m, &info);
    for (size_t i = 0; i < info.tensors; i++) {
        struct attn_tensor_info t;
        size_t count;
        attn_model_tensor(m, i, &t);
        const struct attn_st_tensor *w = made_find(&want, t.name);
        const float *got = attn_gradient_of(g, i, &count), *x = (const void *)w->data;
        ck_assert_uint_eq(count, w->count);
        for (size_t k = 0; k < count; k++) {
            ck_assert_msg(fabs((double)(got[k] - x[k])) <= off,
                          "%s[%zu]: %g, expected %g", t.name, k, (double)got[k], (double)x[k]);
            sum += (double)got[k] * (double)got[k];
        }
    }
    ck_assert_double_eq_tol(attn_gradient_norm(g), sqrt(sum), 1e-9 * sqrt(sum));    /* both are sums in double */
    made_close(&want);
}

/* Gradients through attn.h: those of each tensor are the recorded ones, and the saved ones bit for bit. */
START_TEST(gradients_of_a_model)
{
    static const size_t four = 4, none = 1;
    struct attn_model *m = made_open("tests/golden/checkpoints/gpt2-a");
    struct attn_gradient *g = NULL;
    struct attn_err err = {0};
    cJSON *doc = golden_read("tests/golden/gradients/gpt2-a/loss.json");
    size_t n;
    double loss;
    float *ids = golden_floats(golden_get(doc, "ids"), &n);
    int32_t id[64];
    for (size_t i = 0; i < n; i++)
        id[i] = (int32_t)ids[i];
    ck_assert_msg(!attn_gradient_new(&g, m, n, 2, &err), "%s", err.msg);
    /* must leave nothing for the next run */
    ck_assert_msg(!attn_gradient_run(g, &loss, id, &four, 1, &err), "%s", err.msg);
    ck_assert_msg(!attn_gradient_run(g, &loss, id, &n, 1, &err), "%s", err.msg);
    ck_assert_double_eq_tol(loss, golden_number(doc, "loss"), 1e-6);
    /* the bound of golden_gradients: no number exceeds the norm */
    ck_tensors(m, g, "tests/golden/gradients/gpt2-a/gradients.safetensors", 1e-5 * attn_gradient_norm(g));
    ck_assert_msg(!attn_gradient_save(g, scratch_path("g.safetensors"), &err), "%s", err.msg);
    ck_tensors(m, g, scratch_path("g.safetensors"), 0);
    ck_assert_int_eq(attn_gradient_run(g, &loss, id, &none, 1, &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, "expected at least 2") != NULL, "%s", err.msg);
    free(ids);
    cJSON_Delete(doc);
    attn_gradient_free(g);
    attn_model_close(m);
}
END_TEST

/* ---- the same bits ---- */

START_TEST(threads_change_no_bit)
{
    static const int threads[] = {1, 2, 3, 7};
    static const struct attn_dropout dropped[] = {{0}, {0.1F, 0.2F, 0.3F}};
    const char *dir = made_model(configs[_i % 2], 3, "F32");
    struct texts x = some_texts(75, 150, _i / 2 ? 8 : 5);
    /* a group holds 150 rows: one sentence, as many as there are lanes */
    for (size_t i = 0; _i / 2 && i < 8; i++)
        x.T[i] = 80;
    struct attn_grad_batch b = batch_of(&x);
    float *first = NULL;
    double loss[4];
    for (int i = 0; i < 4; i++) {
        struct trainee t = open_trainee(dir);
        struct attn_grad_plan plan = {.threads = threads[i], .rows = _i / 2 ? 1 : 200, .dropout = dropped[_i / 2]};
        loss[i] = add(&t, &plan, &b);
        first = first ? first : memcpy(malloc(t.p->count * sizeof *first), t.p->grad, t.p->count * sizeof *first);
        ck_assert_msg(loss[i] == loss[0] && memcmp(first, t.p->grad, t.p->count * sizeof *first) == 0,
                      "%d threads", threads[i]);
        close_trainee(&t);
    }
    free(first);
    free_texts(&x);
}
END_TEST

static bool same_tensor(const struct trainee *a, const struct trainee *b, const struct attn_param *p)
{
    return memcmp(a->p->grad + p->at, b->p->grad + p->at, p->count * sizeof(float)) == 0;
}

static double distance(const struct trainee *a, const struct trainee *b)
{
    double off = 0, most = 0;
    for (size_t i = 0; i < a->p->count; i++) {
        most = fmax(most, fabs((double)a->p->grad[i]));
        off = worse(off, fabs((double)a->p->grad[i] - (double)b->p->grad[i]));
    }
    return off / most;
}

/* Gradients of matrices are chains over the rows that continue from one part of a batch to the next, so they get the
 * bits of the whole.  Everything else, and groups of other sizes, is summed in another order and agrees only as
 * float32 sums do. */
START_TEST(groups_and_parts_add_up)
{
    const char *dir = made_model(configs[1], 3, "F32");
    struct texts x = some_texts(75, 150, 5);
    struct attn_grad_batch b = batch_of(&x), part = b;
    struct trainee whole = open_trainee(dir), cut = open_trainee(dir), parts = open_trainee(dir);
    double loss = add(&whole, &(struct attn_grad_plan){.rows = 2000}, &b), sum = 0;
    ck_assert_double_eq_tol(add(&cut, &(struct attn_grad_plan){.rows = 1}, &b), loss, 1e-12);   /* sums in double */
    for (size_t i = 0; i < b.seqs; i++) {
        part.T = &b.T[i], part.seqs = 1, part.N = x.rows - x.n;
        sum += add(&parts, &(struct attn_grad_plan){.rows = 1}, &part);
        part.ids += b.T[i], part.targets += b.T[i];
    }
    ck_assert_double_eq_tol(sum, loss, 1e-12);  /* likewise */
    for (size_t i = 0; i < whole.p->n; i++)
        if (whole.p->param[i].decays && strstr(whole.p->param[i].name, "blocks."))
            ck_assert_msg(same_tensor(&whole, &parts, &whole.p->param[i]), "%s", whole.p->param[i].name);
    ck_assert_double_le(distance(&whole, &parts), 2e-6);
    ck_assert_double_le(distance(&whole, &cut), 2e-6);
    close_trainee(&whole), close_trainee(&cut), close_trainee(&parts);
    free_texts(&x);
}
END_TEST

/* The forward pass is the same as in a run: its losses are the scores. */
START_TEST(the_loss_is_the_score)
{
    const char *dir = made_model(configs[_i], 3, "BF16");
    struct trainee t = open_trainee(dir);
    struct texts x = some_texts(75, 150, 1);
    struct attn_grad_batch b = batch_of(&x);
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    double loss, sum = 0, *score = calloc(x.rows, sizeof *score);
    struct attn_grad_plan plan = {.dropout = {0.5F, 0.5F, 0.5F}};
    ck_assert(attn_grad_new(&g, t.p, &plan, &err) == ATTN_OK && attn_grad_loss(g, &loss, &b, &err) == ATTN_OK);
    ck_assert(attn_score(score, t.model, x.ids, x.rows, &(struct attn_score_opts){.stride = 1, .threads = 2},
                         &err) == ATTN_OK);
    for (size_t i = 1; i < x.rows; i++)
        sum -= score[i];
    /* logits are the same bits; exponentials are not */
    ck_assert_double_eq_tol(loss, sum / (double)(x.rows - 1), 1e-7);
    /* one check at the end, because each check costs a message to the test runner */
    size_t zeros = 0;
    for (size_t i = 0; i < t.p->count; i++)
        zeros += t.p->grad[i] == 0;
    ck_assert_uint_eq(zeros, t.p->count);
    attn_grad_free(g);
    free(score);
    close_trainee(&t);
    free_texts(&x);
}
END_TEST

/* ---- dropping ---- */

static void scale_all(struct attn_params *p, const float *direction, float by)
{
    for (size_t i = 0; i < p->count; i++)
        p->value[i] += by * direction[i];
}

/* The same numbers are dropped forwards and backwards, and again with the same seed: along its gradient, the loss falls
 * at the rate that the gradient's square predicts. */
START_TEST(dropped_numbers_have_gradients)
{
    static const struct attn_dropout dropped[] = {{0.4F, 0, 0}, {0, 0.4F, 0}, {0, 0, 0.4F}, {0.1F, 0.2F, 0.3F}};
    struct trainee t = open_trainee(made_model(configs[_i % 2], 3, "F32"));
    struct texts x = some_texts(75, 100, 4);
    struct attn_grad_batch b = batch_of(&x);
    struct attn_grad_plan plan = {.rows = 120, .dropout = dropped[_i]};
    double loss = add(&t, &plan, &b), square = 0;
    size_t bytes = t.p->count * sizeof(float);
    float *direction = memcpy(malloc(bytes), t.p->grad, bytes);
    for (size_t i = 0; i < t.p->count; i++)
        square += (double)direction[i] * (double)direction[i];
    ck_assert(add(&t, &plan, &b) == loss && add(&t, &(struct attn_grad_plan){.rows = 120}, &b) != loss);
    b.step++;
    ck_assert(add(&t, &plan, &b) != loss);
    b.step--;
    float step = (float)(2e-3 / sqrt(square));
    scale_all(t.p, direction, step);
    double more = add(&t, &plan, &b);
    scale_all(t.p, direction, -2 * step);
    double slope = (more - add(&t, &plan, &b)) / (2 * (double)step);
    /* losses are float32 */
    ck_assert_msg(fabs(slope - square) <= 2e-3 * square, "slope %g, expected %g", slope, square);
    free(direction);
    close_trainee(&t);
    free_texts(&x);
}
END_TEST

/* ---- what goes wrong ---- */

START_TEST(wild_numbers_are_named)
{
    struct trainee t = open_trainee(made_model(configs[0], 3, "F32"));
    struct texts x = some_texts(75, 20, 3);
    struct attn_grad_batch b = batch_of(&x);
    struct attn_grad_plan plan = {.rows = 20};
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    double loss;
    ck_assert(attn_grad_new(&g, t.p, &plan, &err) == ATTN_OK);
    float *q = (float *)t.p->w.block[1].q.bias.data, was = q[3];
    q[3] = NAN;
    ck_assert_int_eq(attn_grad_add(g, &loss, &b, &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, "blocks.1.attn.q holds NaN at token 0 of sentence 0, column 3") != NULL,
                  "%s", err.msg);
    q[3] = was;
    float *embed = (float *)t.p->w.embed.data;
    embed[(size_t)x.ids[x.T[0] + 2] * 40 + 5] = INFINITY;
    err = (struct attn_err){0};
    ck_assert_int_eq(attn_grad_loss(g, &loss, &b, &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, "inf") && strstr(err.msg, "resid_pre"), "%s", err.msg);
    attn_grad_free(g);
    close_trainee(&t);
    free_texts(&x);
}
END_TEST

static void expect_wild(struct attn_grad *g, const struct attn_grad_batch *b, const char *says)
{
    struct attn_err err = {0};
    double loss;
    ck_assert_int_eq(attn_grad_loss(g, &loss, b, &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, says) != NULL, "expected '%s' in '%s'", says, err.msg);
}

/* Whatever the groups, the message names the token, the sentence and the column; what a larger batch left is
 * not looked at. */
START_TEST(wild_numbers_have_a_place)
{
    enum { D = 40 };
    struct trainee t = open_trainee(made_model(configs[0], 3, "F32"));
    struct texts x = some_texts(75, 20, 3);
    struct attn_grad_batch b = batch_of(&x), first = b;
    struct attn_grad_plan plan = {.rows = _i ? x.rows : 20};
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    float *embed = (float *)t.p->w.embed.data, *bias = (float *)t.p->w.block[1].out.bias.data;
    double loss;
    char says[120];
    ck_assert(attn_grad_new(&g, t.p, &plan, &err) == ATTN_OK);
    for (size_t s = 0, row = 0; s < x.n; s++)
        for (size_t i = 0; i < x.T[s]; i++, row++)
            for (size_t column = 0; column < D; column += D - 1) {
                float *at = embed + (size_t)x.ids[row] * D + column, was = *at;
                *at = -INFINITY;
                snprintf(says, sizeof says,
                         "blocks.0.resid_pre holds -inf at token %zu of sentence %zu, column %zu", i, s, column);
                expect_wild(g, &b, says);
                *at = was;
            }
    float *left = embed + (size_t)x.ids[x.T[0]] * D, was = *left;
    *left = NAN;
    expect_wild(g, &b, "blocks.0.resid_pre holds NaN at token 0 of sentence 1, column 0");
    *left = was;
    bias[D - 1] = NAN;
    first.seqs = 1;
    expect_wild(g, &first, "blocks.1.resid_post holds NaN at token 0 of sentence 0, column 39");
    bias[D - 1] = 0;
    ck_assert_msg(attn_grad_loss(g, &loss, &b, &err) == ATTN_OK, "%s", err.msg);
    attn_grad_free(g);
    close_trainee(&t);
    free_texts(&x);
}
END_TEST

static const struct { int32_t ids[3], targets[3]; size_t T; const char *says; } bad_batches[] = {
    {{1, 75, 2}, {1, 2, 3}, 3, "has id 75"}, {{1, 2, 3}, {1, 2, 75}, 3, "predict id 75"},
    {{1, 2, 3}, {-1, -1, -1}, 3, "no loss"},
    {{1, 2, 3}, {-2, 3, -77}, 3, "token 2 should predict id 75"},
    {{1}, {2}, 0, "0 tokens"}, {{1}, {2}, 151, "151 tokens"}};

START_TEST(batches_are_checked)
{
    struct trainee t = open_trainee(made_model(configs[0], 3, "F32"));
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    double loss;
    ck_assert(attn_grad_new(&g, t.p, &(struct attn_grad_plan){0}, &err) == ATTN_OK);
    struct attn_grad_batch b = {.ids = bad_batches[_i].ids, .targets = bad_batches[_i].targets,
                                .T = &bad_batches[_i].T, .seqs = 1};
    ck_assert_int_eq(attn_grad_add(g, &loss, &b, &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, bad_batches[_i].says) != NULL, "%s", err.msg);
    attn_grad_free(g);
    close_trainee(&t);
}
END_TEST

START_TEST(plans_are_checked)
{
    struct trainee t = open_trainee(made_model(configs[0], 3, "F32"));
    static const struct { struct attn_grad_plan plan; const char *says; } bad[] = {
        {{.longest = 151}, "151 tokens"}, {{.dropout = {.branch = 1}}, "dropout 1,"},
        {{.dropout = {.embed = -0.5F}}, "dropout -0.5"},
        {{.dropout = {.pattern = NAN}}, "dropout "}, {{.rows = SIZE_MAX / 64}, "memory"}};
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    ck_assert_int_ne(attn_grad_new(&g, t.p, &bad[_i].plan, &err), ATTN_OK);
    ck_assert_msg(strstr(err.msg, bad[_i].says) != NULL, "%s", err.msg);
    ck_assert_ptr_null(g);
    close_trainee(&t);
}
END_TEST

/* ---- the command ---- */

START_TEST(the_command_writes_gradients)
{
    expect("$A train -m tests/golden/checkpoints/gpt2-a --ids 83,69,74,32 --gradients $D/g.safetensors | tr -d '\\n'",
           0,
           "\"ids\": [83, 69, 74, 32], \"loss\": ");
    expect("$A train -m tests/golden/checkpoints/gpt2-a --ids 83,69,74,32 --gradients $D/h.safetensors -t 3 "
           ">/dev/null; "
           "cmp $D/g.safetensors $D/h.safetensors", 0, "");
    expect("$A train -m tests/golden/checkpoints/gpt2-a --ids 83 --gradients $D/i.safetensors 2>&1", 1,
           "the text has 1 token, expected at least 2");
    expect("test -e $D/i.safetensors", 1, "");
    expect("$A train -m life -s 'Life is short' --gradients $D/i.safetensors 2>&1", 1, "has no output layer");
}
END_TEST

/* ---- checkpoints of every family ---- */

static double loss_of(struct attn_grad *g, const struct attn_grad_batch *b)
{
    struct attn_err err = {0};
    double loss;
    ck_assert_msg(attn_grad_loss(g, &loss, b, &err) == ATTN_OK, "%s", err.msg);
    return loss;
}

/* The slope of the loss where n numbers move along a direction, by differences of fourth order. */
static double slope_along(struct attn_grad *g, const struct attn_grad_batch *b, float *x, const float *along,
                          size_t n, float h)
{
    static const float steps[] = {1, -1, 2, -2};
    float *was = memcpy(malloc(n * sizeof *was), x, n * sizeof *was);
    double loss[4];
    for (int i = 0; i < 4; i++) {
        for (size_t j = 0; j < n; j++)
            x[j] = was[j] + steps[i] * h * along[j];
        loss[i] = loss_of(g, b);
    }
    memcpy(x, was, n * sizeof *was);
    free(was);
    return (8 * (loss[0] - loss[1]) - (loss[2] - loss[3])) / (12 * (double)h);
}

/* Along its own gradient, each tensor changes the loss by the gradient's size: to the runs' own error, 2e-6, over the
 * step.  A step that crosses the corner of a ReLU misses a bit of the slope: with corners steps are shorter. */
static void expect_slopes(struct trainee *t, struct attn_grad *g, const struct attn_grad_batch *b, bool corners)
{
    const float h = corners ? 2e-4F : 2e-3F;
    for (size_t i = 0; i < t->p->n; i++) {
        const struct attn_param *q = &t->p->param[i];
        float *x = t->p->value + q->at, *along = t->p->grad + q->at;
        double size = 0;
        for (size_t j = 0; j < q->count; j++)
            size += (double)along[j] * (double)along[j];
        size = sqrt(size);
        for (size_t j = 0; j < q->count && size > 0; j++)
            along[j] = (float)((double)along[j] / size);
        double rise = slope_along(g, b, x, along, q->count, h);
        ck_assert_msg(fabs(rise - size) * (double)h < 2e-6 * (1 + size),
                      "%s: slope %g, gradient %g", q->name, rise, size);
    }
}

START_TEST(checkpoints_have_gradients)
{
    const char *path = checkpoint_path(checkpoints[_i].name);
    if (!path)
        return;
    struct trainee t = open_trainee(path);
    struct attn_info info;
    attn_model_info(t.model, &info);
    struct texts x = some_texts(64, 20, 2);
    const struct attn_grad_batch b = batch_of(&x);
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    double loss;
    ck_assert_msg(!attn_grad_new(&g, t.p, &(struct attn_grad_plan){.longest = 20}, &err), "%s", err.msg);
    ck_assert_msg(!attn_grad_add(g, &loss, &b, &err), "%s", err.msg);
    expect_slopes(&t, g, &b, !strcmp(info.mlp, "relu") || t.model->w.clip != 0);
    attn_grad_free(g);
    free_texts(&x);
    close_trainee(&t);
}
END_TEST

/* ---- every weight of small models ---- */

#define SIZES "\"vocab_size\": 11, \"hidden_size\": 8, \"num_hidden_layers\": 2, \"num_attention_heads\": 2, " \
    "\"max_position_embeddings\": 12"
#define LLAMA(type, more) "{\"model_type\": \"" type "\", " SIZES \
    ", \"num_key_value_heads\": 1, \"intermediate_size\": 10, " more "}"
#define WINDOW "\"sliding_window\": 3"
#define FALCON(more) "{\"model_type\": \"falcon\", " SIZES ", \"ffn_hidden_size\": 10, " more "}"
#define OPT(more) "{\"model_type\": \"opt\", " SIZES ", \"ffn_dim\": 10, " more "}"
#define BLOOM(more) "{\"model_type\": \"bloom\", \"vocab_size\": 11, \"hidden_size\": 8, \"n_layer\": 2, " \
    "\"n_head\": 2, " \
    "\"seq_length\": 12" more "}"
#define OWN(more) "{\"model_type\": \"attn-decoder\", \"vocab_size\": 11, \"n_ctx\": 12, \"n_layer\": 2, " \
    "\"n_head\": 2, \"d_model\": 8, " \
    "\"d_mlp\": 10, \"position\": \"learned\", \"residual\": true, \"output_projection\": true, \"unembed\": true, " \
    "\"tied\": false, " more "}"
static const char *const small[] = {
    LLAMA("mistral", WINDOW), LLAMA("qwen2", "\"use_sliding_window\": true, \"max_window_layers\": 1, " WINDOW),
    LLAMA("qwen3", "\"head_dim\": 6, \"attention_bias\": true"),
    LLAMA("gemma", "\"head_dim\": 6, \"attention_bias\": true"),
    LLAMA("gemma", "\"head_dim\": 6, \"tie_word_embeddings\": false, \"hidden_act\": \"gelu\""),
    LLAMA("gemma2", "\"head_dim\": 6, \"query_pre_attn_scalar\": 5, \"attn_logit_softcapping\": 2, "
          "\"final_logit_softcapping\": 3, " WINDOW),
    LLAMA("gemma3_text", "\"head_dim\": 4, \"query_pre_attn_scalar\": 5, \"sliding_window_pattern\": 2, " WINDOW),
    LLAMA("phi", "\"qk_layernorm\": true"), LLAMA("phi3", WINDOW), LLAMA("olmo2", "\"head_dim\": 6"),
    LLAMA("smollm3", "\"no_rope_layers\": [1, 0], \"attention_bias\": true, \"mlp_bias\": true"),
    LLAMA("granite", "\"attention_multiplier\": 0.4, \"embedding_multiplier\": 3.0, \"residual_multiplier\": 0.6, "
          "\"logits_scaling\": 1.7, \"attention_bias\": true"),
    LLAMA("stablelm", "\"qk_layernorm\": true, \"use_qkv_bias\": true, \"partial_rotary_factor\": 0.5"),
    LLAMA("stablelm", "\"use_parallel_residual\": true, \"partial_rotary_factor\": 0.5"), LLAMA("starcoder2", WINDOW),
    "{\"model_type\": \"gptj\", \"vocab_size\": 11, \"n_embd\": 8, \"n_layer\": 2, \"n_head\": 2, \"n_positions\": 12, "
    "\"rotary_dim\": 2, \"n_inner\": 10}",
    OPT("\"activation_function\": \"gelu\""), OPT("\"do_layer_norm_before\": false, \"word_embed_proj_dim\": 6"),
    OPT("\"layer_norm_elementwise_affine\": false, \"word_embed_proj_dim\": 6, \"tie_word_embeddings\": false"),
    BLOOM(""), BLOOM(", \"apply_residual_connection_post_layernorm\": true"),
    FALCON("\"bias\": true"), FALCON("\"new_decoder_architecture\": true, \"num_kv_heads\": 1"),
    FALCON("\"new_decoder_architecture\": true, \"num_kv_heads\": 2, \"num_ln_in_parallel_attn\": 1"),
    FALCON("\"alibi\": true, \"parallel_attn\": false, \"multi_query\": false, \"bias\": true"),
    LLAMA("cohere", "\"use_qk_norm\": true, \"attention_bias\": true"),
    LLAMA("olmo", "\"clip_qkv\": 0.75, \"attention_bias\": true"),
    LLAMA("hunyuan_v1_dense", "\"head_dim\": 6"),
    LLAMA("nanochat", "\"attention_bias\": true, \"final_logit_softcapping\": 3"),
    "{\"model_type\": \"codegen\", \"vocab_size\": 11, \"n_embd\": 8, \"n_layer\": 2, \"n_head\": 4, "
    "\"n_positions\": 12, \"rotary_dim\": 2, \"n_inner\": 10}",
    "{\"model_type\": \"xglm\", \"vocab_size\": 11, \"d_model\": 8, \"num_layers\": 2, \"attention_heads\": 2, "
    "\"max_position_embeddings\": 12, \"ffn_dim\": 10}",
    "{\"model_type\": \"openai-gpt\", \"vocab_size\": 11, \"n_embd\": 8, \"n_layer\": 2, \"n_head\": 2, "
    "\"n_positions\": 12, \"afn\": \"silu\"}",
    OWN("\"norm\": \"layernorm\", \"norm_embed\": true, \"mlp\": \"relu\""),
    OWN("\"norm\": \"rmsnorm\", \"norm_embed\": true, \"norm_weight\": false, \"final_norm\": false, \"mlp\": "
        "\"relu2\""),
};
enum { SMALL = sizeof small / sizeof *small };

/* Weights far from those that a model starts with, where everything bends. */
static struct trainee open_small(const char *config)
{
    struct trainee t = open_trainee(made_model(config, 5, "F32"));
    uint32_t seed = 11;
    for (size_t i = 0; i < t.p->n; i++)
        for (size_t j = 0; j < t.p->param[i].count; j++)
            t.p->value[t.p->param[i].at + j] += 0.7F * draw_number(&seed);
    return t;
}

/* To the error of losses in float32, 1e-6 of such sizes, over the step; where a step is too long for the bend, or meets
 * the corner of a ReLU, a shorter one must do. */
static void expect_slope(struct attn_grad *g, const struct attn_grad_batch *b, struct attn_params *p, size_t i)
{
    const float one = 1;
    double slope = 0, want = (double)p->grad[i];
    for (float h = 4e-3F; h > 2e-4F; h /= 4) {
        slope = slope_along(g, b, p->value + i, &one, 1, h);
        if (fabs(slope - want) * (double)h < 1e-6 * (1 + fabs(want)))
            return;
    }
    const struct attn_param *of = p->param;
    while (of + 1 < p->param + p->n && of[1].at <= i)
        of++;
    ck_abort_msg("%s[%zu]: slope %g, gradient %g", of->name, i - of->at, slope, want);
}

START_TEST(every_weight_has_its_gradient)
{
    struct trainee t = open_small(small[_i]);
    struct texts x = some_texts(11, 9, 2);
    const struct attn_grad_batch b = batch_of(&x);
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    double loss;
    size_t moves = 0;
    ck_assert_msg(!attn_grad_new(&g, t.p, &(struct attn_grad_plan){.longest = 9, .threads = 1}, &err), "%s", err.msg);
    ck_assert_msg(!attn_grad_add(g, &loss, &b, &err), "%s", err.msg);
    for (size_t i = 0; i < t.p->count; i++) {
        expect_slope(g, &b, t.p, i);
        moves += t.p->grad[i] != 0;
    }
    ck_assert_uint_gt(moves, t.p->count / 2);
    attn_grad_free(g);
    free_texts(&x);
    close_trainee(&t);
}
END_TEST

/* The forward pass is that of a run, bit by bit: the same scores. */
START_TEST(small_losses_are_the_scores)
{
    struct trainee t = open_trainee(made_model(small[_i], 5, "F32"));
    struct texts x = some_texts(11, 9, 1);
    const struct attn_grad_batch b = batch_of(&x);
    struct attn_grad *g = NULL;
    struct attn_err err = {0};
    double sum = 0, score[9];
    ck_assert_msg(!attn_grad_new(&g, t.p, &(struct attn_grad_plan){.longest = 9}, &err), "%s", err.msg);
    ck_assert(attn_score(score, t.model, x.ids, x.rows, &(struct attn_score_opts){.stride = 1, .threads = 2},
                         &err) == ATTN_OK);
    for (size_t i = 1; i < x.rows; i++)
        sum -= score[i];
    /* exponentials are not the same bits */
    ck_assert_double_eq_tol(loss_of(g, &b), sum / (double)(x.rows - 1), 1e-7);
    attn_grad_free(g);
    free_texts(&x);
    close_trainee(&t);
}
END_TEST

/* Threads change no bit, also where numbers are dropped; and along its gradient the loss with dropped numbers falls as
 * it says: losses are float32. */
START_TEST(small_gradients_with_dropout)
{
    struct trainee t = open_small(small[_i]);
    struct texts x = some_texts(11, 12, 8);
    struct attn_grad_batch b = batch_of(&x);
    struct attn_grad_plan plan = {.rows = 24, .threads = 1, .dropout = {0.2F, 0.2F, 0.2F}};
    const float step = 1e-3F;
    double loss = add(&t, &plan, &b), size = 0, more[2];
    size_t bytes = t.p->count * sizeof(float);
    float *one = memcpy(malloc(bytes), t.p->grad, bytes);
    memset(t.p->grad, 0, bytes);
    plan.threads = 3;
    ck_assert(add(&t, &plan, &b) == loss && !memcmp(one, t.p->grad, bytes));
    for (size_t i = 0; i < t.p->count; i++)
        size += (double)one[i] * (double)one[i];
    size = sqrt(size);
    for (int side = 0; side < 2; side++) {
        scale_all(t.p, one, (float)((side ? -2 : 1) * (double)step / size));
        more[side] = add(&t, &plan, &b);
    }
    double slope = (more[0] - more[1]) / (2 * (double)step);
    ck_assert_msg(fabs(slope - size) <= 5e-3 * size, "slope %g, expected %g", slope, size);
    free(one);
    free_texts(&x);
    close_trainee(&t);
}
END_TEST

Suite *suite_grad(void)
{
    Suite *s = suite_create("grad");
    TCase *c = tcase_create("grad"), *cmd = tcase_create("command");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_test(c, golden_gradients);
    tcase_add_test(c, gradients_of_a_model);
    tcase_add_loop_test(c, threads_change_no_bit, 0, 4);
    tcase_add_test(c, groups_and_parts_add_up);
    tcase_add_loop_test(c, the_loss_is_the_score, 0, 2);
    tcase_add_loop_test(c, dropped_numbers_have_gradients, 0, 4);
    tcase_add_test(c, wild_numbers_are_named);
    attn_test_add_rows(c, checkpoints_have_gradients, CHECKPOINTS, checkpoint_name);
    tcase_add_loop_test(c, every_weight_has_its_gradient, 0, SMALL);
    tcase_add_loop_test(c, small_losses_are_the_scores, 0, SMALL);
    tcase_add_loop_test(c, small_gradients_with_dropout, 0, SMALL);
    tcase_add_loop_test(c, wild_numbers_have_a_place, 0, 2);
    tcase_add_loop_test(c, batches_are_checked, 0, sizeof bad_batches / sizeof *bad_batches);
    tcase_add_loop_test(c, plans_are_checked, 0, 5);
    suite_add_tcase(s, c);
    tcase_add_checked_fixture(cmd, shell_set_up, scratch_remove);
    tcase_add_test(cmd, the_command_writes_gradients);
    suite_add_tcase(s, cmd);
    return s;
}
