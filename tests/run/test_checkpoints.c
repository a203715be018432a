/* Checkpoints of every family: every recorded activation, compared with double precision. */
#include "suites.h"

#include "checkpoints.h"
#include "golden.h"
#include "keep.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- comparing ---- */

/* The kept number that belongs to wanted number i of [H, T, E]; what is kept may be [T, H*E]. */
static float got(const struct kept *k, size_t i, size_t H, size_t E)
{
    size_t T = k->shape[k->ndim - 2], h = i / E / T, t = i / E % T, e = i % E;
    return k->ndim == 2 && H > 1 ? k->data[(t * H + h) * E + e] : k->data[i];
}

/* By how much the first number is off that is, as a sentence; "": none is. */
struct judged { char wrong[160]; };

static struct judged compare(const struct kept *k, const float *want, size_t n, size_t H, double bound)
{
    struct judged j = {""};
    size_t E = n / H / k->shape[k->ndim - 2];
    for (size_t i = 0; i < n && !j.wrong[0]; i++) {
        float x = got(k, i, H, E);
        if (isinf(want[i]) ? x != want[i] : !(fabs((double)x - (double)want[i]) <= bound))
            snprintf(j.wrong, sizeof j.wrong, "%s[%zu] is %.9g, expected %.9g (bound %g)", k->name, i, (double)x,
                     (double)want[i], bound);
    }
    return j;
}

/* The mean square of the error over the variance of the wanted numbers, leaving out -inf. */
static double error_of(const struct kept *k, const float *want, size_t n, size_t H)
{
    size_t count = 0, E = n / H / k->shape[k->ndim - 2];
    double squares = 0, sum = 0, sum2 = 0;
    for (size_t i = 0; i < n; i++) {
        double e = (double)got(k, i, H, E) - (double)want[i];
        if (isinf(want[i]))
            continue;
        count++;
        squares += e * e;
        sum += (double)want[i];
        sum2 += (double)want[i] * (double)want[i];
    }
    return squares / (sum2 - sum * sum / (double)count);
}

/* Rounding to 8 significant bits has an error of at most 2^-9, in the root mean square 2^-9 / sqrt(3); two rounded
 * factors make 2.5e-6 of a product's variance if its terms have both signs.  Four layers of six products in
 * sequence make 6e-5.  Small sums of large terms and the sharp softmax of unscaled scores magnify earlier errors
 * about ten times. */
static const double BF16_ERROR = 1e-3;

/* Rounding the F16 weights of exaone4-a to bf16 alone, and computing in float32, makes 1.2e-3 in the pattern of its
 * last layer: norms after the branches and sharp softmaxes magnify it forty times.  Rounding the other factors of
 * products makes as much again. */
static const char magnifies[] = "exaone4-a";
static const double MAGNIFIED_ERROR = 2.4e-3;
static double bf16_bound(const char *name) { return strcmp(name, magnifies) ? BF16_ERROR : MAGNIFIED_ERROR; }

static struct judged compare_bf16(const struct kept *k, const float *want, size_t n, size_t H, double bound)
{
    struct judged j = {""};
    double error = error_of(k, want, n, H);
    /* if what it reads is stored in bf16 */
    bool exact = !strncmp(k->name, "blocks.0.", 9) && k->act < ATTN_ACT_MLP_OUT;
    if (!(error <= bound))
        snprintf(j.wrong, sizeof j.wrong, "%s is off by %g of its variance (bound %g)", k->name, error, bound);
    else if (!exact && error < 1e-7)    /* float32 would leave less than 1e-11: its roundings are 2^16 times smaller */
        snprintf(j.wrong, sizeof j.wrong, "%s is off by %g of its variance only: is it bf16?", k->name, error);
    return j;
}

struct check { const char *file, *act; bool layers, heads; };

static const struct check checks[] = {
    {"embeddings", "blocks.0.resid_pre", false, false}, {"attn_q", "attn.q", true, false},
    {"attn_k", "attn.k", true, false},
    {"attn_v", "attn.v", true, false}, {"attn_scores", "attn.scores", true, false},
    {"attn_pattern", "attn.pattern", true, false},
    {"attn_z", "attn.context", true, true}, {"attn_out", "attn.out", true, false}, {"mlp_out", "mlp.out", true, false},
    {"norm1", "norm1", true, false}, {"norm2", "norm2", true, false}, {"attn_added", "attn.added", true, false},
    {"mlp_added", "mlp.added", true, false}, {"resid_post", "resid_post", true, false},
    {"final_norm", "norm_final", false, false}, {"logits", "logits", false, false}};

/* Four times the error of an ordinary float32 computation, which the file states for each activation. */
static double bound_of(const cJSON *expected, const char *file)
{
    return 4 * golden_number(golden_get(expected, "float32_max_abs_difference"), file);
}

static size_t layers_of(const struct keep *k)
{
    size_t n = 0;
    while (keep_find(k, printed("blocks.%zu.resid_post", n), 0))
        n++;
    return n;
}

/* How to run a model, and how to compare the result. */
struct way {
    void (*run)(struct keep *k, const char *model, const int32_t *ids, size_t T, int threads);
    struct judged (*compare)(const struct kept *k, const float *want, size_t n, size_t H, double bound);
};
static const struct way in_f32 = {keep_run, compare}, in_bf16 = {keep_run_bf16, compare_bf16};

/* Its recorded scores count positions from the end of the text, so that those of a row differ from ours
 * by one number. */
static const char from_the_end[] = "mpt-a";

/* Makes the largest number of each row of n 0. */
static void level(float *x, size_t count, size_t n)
{
    for (size_t row = 0; row < count; row += n) {
        float most = -INFINITY;
        for (size_t i = 0; i < n; i++)
            most = fmaxf(most, x[row + i]);
        for (size_t i = 0; i < n; i++)
            x[row + i] -= most;
    }
}

/* What stands for an activation that is recorded of a layer, or of none. */
static const struct kept *kept_of(const struct keep *k, const struct check *c, size_t layer)
{
    const char *name = c->layers ? printed("blocks.%zu.%s", layer, c->act) : c->act;
    const struct kept *a = keep_find(k, name, 0);
    if (!a && !strcmp(c->act, "norm_final"))    /* no final norm: the last stream */
        a = keep_find(k, printed("blocks.%zu.resid_post", layers_of(k) - 1), 0);
    ck_assert_msg(a != NULL, "%s was not told", name);
    return a;
}

/* The activation that is wrong and comes first in the pass. */
struct first { const struct checkpoint *of; size_t layer; int act; struct judged j; };

static void keep_first(struct first *f, const struct kept *a, size_t layer, const struct judged *j)
{
    if (j->wrong[0] && (!f->j.wrong[0] || layer < f->layer || (layer == f->layer && a->act < f->act)))
        *f = (struct first){f->of, layer, a->act, *j};
}

/* Whether it is recorded, for this model and here. */
static bool check_one(struct first *f, const struct keep *k, const cJSON *expected, const struct check *c,
                      const struct way *way)
{
    const char *of = f->of->name, *path = checkpoint_recorded(of, printed("%s.npy", c->file));
    if (!golden_find(golden_get(expected, "float32_max_abs_difference"), c->file) || !path)
        return false;
    struct golden_array want = golden_npy(path);
    const size_t L = c->layers ? want.shape[0] : 1, each = want.n / L;
    for (size_t layer = 0; layer < L; layer++) {
        const struct kept *a = kept_of(k, c, layer);
        float *wanted = want.data + layer * each;
        ck_assert_uint_eq(a->n, each);
        if (!strcmp(of, from_the_end) && !strcmp(c->file, "attn_scores")) {
            level(a->data, a->n, want.shape[want.ndim - 1]);
            level(wanted, each, want.shape[want.ndim - 1]);
        }
        const struct judged j = way->compare(a, wanted, each, c->heads ? want.shape[1] : 1,
                                             way == &in_bf16 ? bf16_bound(of) : bound_of(expected, c->file));
        keep_first(f, a, c->layers || a->act < ATTN_ACT_NORM_FINAL ? layer : SIZE_MAX, &j);
    }
    free(want.data);
    return true;
}

static cJSON *read_expected(const char *name, int32_t **ids, size_t *T)
{
    cJSON *expected = golden_read(checkpoint_recorded(name, "expected.json"));
    const cJSON *list = golden_get(expected, "ids"), *v;
    *ids = calloc((size_t)cJSON_GetArraySize(list), sizeof **ids);
    *T = 0;
    cJSON_ArrayForEach(v, list)
        (*ids)[(*T)++] = (int32_t)v->valuedouble;
    return expected;
}

static void check_all(const struct checkpoint *of, const struct way *way)
{
    const char *name = of->name;
    struct first first = {.of = of};
    int32_t *ids;
    size_t T;
    cJSON *expected = read_expected(name, &ids, &T);
    struct keep *k = calloc(1, sizeof *k);
    k->only = -1;
    way->run(k, checkpoint_path(name), ids, T, 2);
    int done = 0;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        done += check_one(&first, k, expected, &checks[i], way);
    ck_assert_msg(!first.j.wrong[0], "%s (%s): %s, the first that is wrong", name, of->shows, first.j.wrong);
    ck_assert_int_ge(done, checkpoint_recorded(name, "attn_q.npy") ? 7 : 1);
    keep_free(k);
    free(k);
    free(ids);
    cJSON_Delete(expected);
}

START_TEST(every_activation)
{
    if (checkpoint_path(checkpoints[_i].name))
        check_all(&checkpoints[_i], &in_f32);
}
END_TEST

START_TEST(every_activation_in_bf16)
{
    if (checkpoint_path(checkpoints[_i].name))
        check_all(&checkpoints[_i], &in_bf16);
}
END_TEST

/* Computes log p(token t + 1) from the logits, and from these the perplexity. */
static void check_log_probabilities(const char *name)
{
    int32_t *ids;
    size_t T;
    cJSON *expected = read_expected(name, &ids, &T);
    struct keep *k = calloc(1, sizeof *k);
    k->only = ATTN_ACT_LOGITS;
    keep_run(k, checkpoint_path(name), ids, T, 1);
    const struct kept *logits = keep_find(k, "logits", 0);
    struct golden_array want = golden_npy(checkpoint_recorded(name, "token_logprobs.npy"));
    double total = 0;
    for (size_t t = 0; t + 1 < T; t++) {
        const float *row = logits->data + t * logits->shape[1];
        double sum = 0;
        for (size_t j = 0; j < logits->shape[1]; j++)
            sum += exp((double)row[j] - (double)row[ids[t + 1]]);
        total -= log(sum);
        ck_assert_double_le(fabs(-log(sum) - (double)want.data[t]), 2 * bound_of(expected, "logits"));
    }
    double perplexity = exp(-total / (double)(T - 1)), stated = golden_number(expected, "perplexity");
    ck_assert_double_le(fabs(perplexity / stated - 1), 1e-5);   /* logits are float32 */
    free(want.data);
    keep_free(k);
    free(k);
    free(ids);
    cJSON_Delete(expected);
}

START_TEST(log_probabilities)
{
    if (checkpoint_path(checkpoints[_i].name))
        check_log_probabilities(checkpoints[_i].name);
}
END_TEST

/* ---- the last rows ---- */

enum { TEXTS = 3, LONGEST = 11 };
static const size_t lengths[TEXTS] = {LONGEST, 1, 5};

/* Keeps the last row of logits of each text, and watches all activations before `before` to no end. */
struct last { int before; float *row[TEXTS]; size_t V; };

static unsigned last_wants(void *self, int act, int layer)
{
    const struct last *l = self;
    (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH | ATTN_LAST : act < l->before ? ATTN_WATCH : 0;
}

static int last_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct last *l = self;
    (void)err;
    if (p->act != ATTN_ACT_LOGITS)
        return ATTN_OK;
    ck_assert_uint_eq(p->rows, 1);
    ck_assert_uint_eq(p->row0, lengths[p->seq] - 1);
    ck_assert_ptr_null(l->row[p->seq]);
    l->V = p->cols;
    l->row[p->seq] = malloc(p->cols * sizeof(float));
    memcpy(l->row[p->seq], p->data, p->cols * sizeof(float));
    return ATTN_OK;
}

static void run_last(struct last *l, const struct attn_model *m, int before, bool bf16)
{
    struct attn_err err = {0};
    struct attn_seq seq[TEXTS];
    struct attn_plan plan = {.seqs = TEXTS, .threads = 2, .bf16 = bf16};
    struct attn_run *r = NULL;
    int32_t ids[TEXTS * LONGEST];
    for (size_t i = 0; i < TEXTS; i++)
        plan.rows += (seq[i] = (struct attn_seq){.T = lengths[i]}).T;
    for (size_t i = 0; i < plan.rows; i++)
        ids[i] = (int32_t)(i * 29 % 61);
    *l = (struct last){.before = before};
    const struct attn_observer obs = {.wants = last_wants, .watch = last_watch, .self = l};
    ck_assert_msg(!attn_run_new(&r, m, &plan, &obs, 1, &err) && !attn_run_forward(r, ids, seq, TEXTS, &err),
                  "%s", err.msg);
    attn_run_free(r);
}

static void expect_same_last(struct last *some, const struct last *all)
{
    ck_assert_uint_eq(some->V, all->V);
    for (size_t i = 0; i < TEXTS; i++) {
        ck_assert(some->V && memcmp(some->row[i], all->row[i], some->V * sizeof(float)) == 0);
        free(some->row[i]);
    }
}

/* A run whose last rows alone are read leaves the others out once attention has seen them: the bits stay. */
START_TEST(rows_that_nobody_reads_change_nothing)
{
    const char *path = checkpoint_path(checkpoints[_i].name);
    struct attn_model *m = NULL;
    struct attn_err err;
    if (!path)
        return;
    ck_assert_msg(!attn_model_open(&m, path, &err), "%s", err.msg);
    for (int bf16 = 0; bf16 < 2; bf16++) {
        struct last all, some;
        run_last(&all, m, ATTN_ACT_LOGITS, bf16);
        run_last(&some, m, 0, bf16);
        expect_same_last(&some, &all);
        run_last(&some, m, ATTN_ACT_OUT, bf16);         /* all up to attention's contexts */
        expect_same_last(&some, &all);
        for (size_t i = 0; i < TEXTS; i++)
            free(all.row[i]);
    }
    attn_model_close(m);
}
END_TEST

Suite *suite_checkpoints(void)
{
    Suite *s = suite_create("checkpoints");
    TCase *c = tcase_create("checkpoints");
    tcase_set_timeout(c, 60);
    attn_test_add_rows(c, every_activation, CHECKPOINTS, checkpoint_name);
    attn_test_add_rows(c, every_activation_in_bf16, CHECKPOINTS, checkpoint_name);
    attn_test_add_rows(c, log_probabilities, CHECKPOINTS, checkpoint_name);
    attn_test_add_rows(c, rows_that_nobody_reads_change_nothing, CHECKPOINTS, checkpoint_name);
    suite_add_tcase(s, c);
    return s;
}
