/* The articles' examples: every intermediate result of attention, and every number that the articles print. */
#include "suites.h"
#include "alone.h"

#include "base/rng.h"
#include "compute/gemm.h"
#include "compute/vec.h"
#include "seed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Examples that are attention with listed weights; 00-01, 02-06 and 04-08 have tests of their own. */
static const char *const names[] = {
    "00-02-token-2", "00-03-self-attention", "00-04-multi-head-1", "00-05-multi-head-4", "00-06-causal",
    "00-07-cross-attention", "00-08-cross-attention-reseeded", "01-01-mha-bias-2-heads", "01-02-mha-bias-3-heads",
    "02-01-simplified", "02-02-simplified-seventh-row", "02-03-self-attention-linear-123",
    "02-04-self-attention-linear-789", "02-05-causal-attention-d2", "02-07-multi-head-batch-0",
    "02-08-multi-head-batch-1", "02-09-multi-head-qkv-bias-batch-0", "02-10-multi-head-qkv-bias-batch-1",
    "03-01-simplified-causal", "03-02-single-head", "03-03-multi-head", "03-04-multi-head-narrow-values",
    "04-01-simple-batch-0", "04-02-simple-batch-1", "04-03-simple-causal-batch-0", "04-04-simple-causal-batch-1",
    "04-05-cross", "04-06-mask-with-empty-row", "04-07-cross-linear",
};
enum { NAMES = sizeof names / sizeof *names };

/* ---- every intermediate ------------------------------------------------------------------------ */

/* The files state how far an ordinary float32 computation is from double precision; four times that allows for another
 * order of summation.  For files that do not, 1e-6 of 1 + |x|. */
static double tolerance(const cJSON *doc, float want)
{
    const cJSON *d = golden_find(doc, "float32_max_abs_difference");
    return d ? 4 * d->valuedouble : 1e-6 * (1 + fabs((double)want));
}

/* The files have NaN for a query without visible keys; the library gives zeros. */
static void check_array(const cJSON *doc, const char *what, const cJSON *expected, const float *got)
{
    size_t n;
    float *want = golden_floats(expected, &n);
    for (size_t i = 0; i < n; i++) {
        float w = isnan(want[i]) ? 0 : want[i];
        bool ok = isinf(w) ? got[i] == w : fabs((double)got[i] - (double)w) <= tolerance(doc, w);
        ck_assert_msg(ok, "%s: %s[%zu] is %.9g, expected %.9g", golden_string(doc, "name"), what, i,
                      (double)got[i], (double)w);
    }
    free(want);
}

START_TEST(intermediates)
{
    struct seed e;
    seed_open(&e, names[_i]);
    const cJSON *expected = golden_get(e.doc, "expected"), *head;
    size_t h = 0, T = e.Tq, dh = e.a.dh, dv = e.a.dv, square = e.Tq * e.Tk;
    cJSON_ArrayForEach(head, golden_get(expected, "heads")) {
        check_array(e.doc, "q", golden_get(head, "q"), e.q + h * T * dh);
        check_array(e.doc, "k", golden_get(head, "k"), e.k + h * e.Tk * dh);
        check_array(e.doc, "v", golden_get(head, "v"), e.v + h * e.Tk * dv);
        check_array(e.doc, "dots", golden_get(head, "scores"), e.a.dots + h * square);
        check_array(e.doc, "scores", golden_get(head, "scaled_masked_scores"), e.a.scores + h * square);
        check_array(e.doc, "pattern", golden_get(head, "weights"), e.a.pattern + h * square);
        check_array(e.doc, "context", golden_get(head, "context"), e.context + h * T * dv);
        h++;
    }
    ck_assert_uint_eq(h, e.a.H);
    check_array(e.doc, "joined context", golden_get(expected, "context"), e.joined);
    ck_assert_int_eq(e.output != NULL, golden_find(expected, "output") != NULL);
    if (e.output)
        check_array(e.doc, "output", golden_get(expected, "output"), e.output);
    seed_close(&e);
}
END_TEST

/* ---- every printed digit ------------------------------------------------------------------------- */

/* Whether rounding x[0..n) to as many decimals as are printed gives the printed text, as far as both go. */
static bool reproduces(const char *text, const float *x, size_t n)
{
    const char *p = text;
    for (size_t i = 0; i < n; i++) {
        char digits[32], ours[32];
        p += strcspn(p, "-0123456789i");
        size_t len = strspn(p, "-0123456789.inf"), places = 0;
        if (len == 0)
            return i > 0;
        ck_assert_uint_lt(len, sizeof digits);
        memcpy(digits, p, len);
        digits[len] = '\0';
        p += len;
        char *point = strchr(digits, '.');
        if (point && point[1] == '\0')
            *point = '\0';              /* "1." is how torch prints a row that consists of ones */
        else if (point)
            places = strlen(point + 1);
        snprintf(ours, sizeof ours, "%.*f", (int)places, (double)x[i]);
        if (strcmp(digits, ours) != 0)
            return false;
    }
    return true;
}

static void check_printed(const cJSON *entry, const float *x, size_t n)
{
    bool recorded = cJSON_IsTrue(golden_get(entry, "reproduces"));
    ck_assert_msg(reproduces(golden_string(entry, "text"), x, n) == recorded, "'%s': %s", golden_string(entry, "what"),
                  recorded ? "the printed digits no longer come out" : "a wrong table came out");
}

enum source { DOTS, WEIGHTS, CONTEXT };

/* Where the numbers of an entry of `printed` are in our results: from this element on. */
static const struct { const char *what; enum source source; size_t row, col; } meanings[] = {
    {"omega_24 = scores[1][4]", DOTS, 1, 4},
    {"omega_2 = scores[1]", DOTS, 1, 0},
    {"attention_weights_2 = weights[1]", WEIGHTS, 1, 0},
    {"context_vector_2 = context[1]", CONTEXT, 1, 0},
    {"output, first row", CONTEXT, 0, 0},
    {"output, second row", CONTEXT, 1, 0},
    {"attn_scores, first row", DOTS, 0, 0},
    {"attn_weights from the -inf mask, first row", WEIGHTS, 0, 0},
    {"attn_scores_2", DOTS, 1, 0},
    {"attn_scores", DOTS, 0, 0},
    {"attn_weights (first six of seven printed columns, row 1)", WEIGHTS, 0, 0},
    {"all_context_vecs (first six rows)", CONTEXT, 0, 0},
    {"context of 'journey' (second row of the 7x3 table)", CONTEXT, 1, 0},
    {"attn_weights 7x7", WEIGHTS, 0, 0},
    {"all_context_vecs 7x3", CONTEXT, 0, 0},
    {"attn_weights[0], first two rows", WEIGHTS, 0, 0},
};
/* Entries of 00-06 about the other way of masking, which the test two_ways covers. */
static const char *const other_way[] = {
    "unmasked attn_weights, first row", "mask_simple, first row", "masked_simple, first row",
    "masked_simple_norm, first row", "masked, first row",
};

static bool is_other_way(const char *what)
{
    for (size_t i = 0; i < sizeof other_way / sizeof *other_way; i++)
        if (strcmp(what, other_way[i]) == 0)
            return true;
    return false;
}

static void check_entry(const struct seed *e, const cJSON *entry)
{
    const char *what = golden_string(entry, "what");
    size_t i = 0, count = sizeof meanings / sizeof *meanings;
    while (i < count && strcmp(what, meanings[i].what) != 0)
        i++;
    ck_assert_msg(i < count, "%s: no meaning known for '%s'", e->name, what);
    const float *from[] = {[DOTS] = e->a.dots, [WEIGHTS] = e->a.pattern, [CONTEXT] = e->joined};
    size_t cols = meanings[i].source == CONTEXT ? e->a.H * e->a.dv : e->Tk;
    size_t start = meanings[i].row * cols + meanings[i].col;
    check_printed(entry, from[meanings[i].source] + start, e->Tq * cols - start);
}

START_TEST(printed_digits)
{
    struct seed e;
    const cJSON *entry;
    seed_open(&e, names[_i]);
    cJSON_ArrayForEach(entry, golden_get(e.doc, "printed"))
        if (!is_other_way(golden_string(entry, "what")))
            check_entry(&e, entry);
    seed_close(&e);
}
END_TEST

/* Checks that `reproduces` can tell right digits from wrong ones. */
START_TEST(rounding)
{
    const float x[] = {0.08346f, -INFINITY, -1.25f};
    ck_assert(reproduces("[0.0835, -inf, -1.25]", x, 3));
    ck_assert(reproduces("[[0.083,-inf],", x, 3));
    ck_assert(!reproduces("[0.0834, -inf, -1.25]", x, 3));
    ck_assert(!reproduces("[0.0835, -inf, 1.25]", x, 3));
    ck_assert(!reproduces("[0.0835, inf, -1.25]", x, 3));
    ck_assert(!reproduces("no number", x, 3));
}
END_TEST

/* ---- the examples that are something else ------------------------------------------------------------ */

/* Runs the example's q, k and v again with another mask. */
static void again(struct seed *e, enum attn_form form, float scale)
{
    e->a.kind.form = form;
    e->a.scale = scale;
    seed_attend(e);
}

static const cJSON *printed_as(const cJSON *doc, const char *what)
{
    const cJSON *entry;
    cJSON_ArrayForEach(entry, golden_get(doc, "printed"))
        if (strcmp(golden_string(entry, "what"), what) == 0)
            return entry;
    ck_abort_msg("nothing printed as '%s'", what);
    return NULL;
}

static void check_way(const struct seed *e, const char *key, const char *what, const float *x)
{
    const cJSON *ways = golden_get(golden_get(e->doc, "expected"), "two_ways");
    check_array(e->doc, key, golden_get(ways, key), x);
    if (what)
        check_printed(printed_as(e->doc, what), x, e->Tk);
}

/* The article's first way, softmax over all keys, then mask and renormalise, in steps and as the kind causal-renorm. */
START_TEST(two_ways)
{
    struct seed e;
    seed_open(&e, "00-06-causal");
    size_t T = e.Tq;
    float scale = e.a.scale, sums[6] = {0};
    float *keep = seed_zeros(T * T), *cut = seed_zeros(T * T), *one_way = seed_zeros(T * T);
    ck_assert_uint_eq(T, sizeof sums / sizeof *sums);
    memcpy(one_way, e.a.pattern, T * T * sizeof *one_way);
    check_way(&e, "weights_from_inf_mask", NULL, e.a.pattern);
    again(&e, ATTN_CAUSAL, 1);
    check_way(&e, "masked_scores_unscaled", "masked, first row", e.a.scores);
    again(&e, ATTN_FULL, scale);
    check_way(&e, "unmasked_weights", "unmasked attn_weights, first row", e.a.pattern);
    for (size_t i = 0; i < T * T; i++) {
        keep[i] = i % T <= i / T;
        cut[i] = keep[i] * e.a.pattern[i];
        sums[i / T] += cut[i];
    }
    check_way(&e, "mask_simple", "mask_simple, first row", keep);
    check_way(&e, "masked_simple", "masked_simple, first row", cut);
    check_way(&e, "row_sums", NULL, sums);
    again(&e, ATTN_CAUSAL_RENORM, scale);
    check_way(&e, "masked_simple_norm", "masked_simple_norm, first row", e.a.pattern);
    for (size_t i = 0; i < T * T; i++)  /* both ways agree up to rounding: ERRATA.md, 000, item 4 */
        ck_assert_float_eq_tol(e.a.pattern[i], one_way[i], 1e-6f);
    free(keep);
    free(cut);
    free(one_way);
    seed_close(&e);
}
END_TEST

START_TEST(empty_row)
{
    struct seed e;
    struct attn_err err = {0};
    seed_open(&e, "04-06-mask-with-empty-row");
    for (size_t i = 0; i < e.Tk; i++)
        ck_assert(e.a.pattern[2 * e.Tk + i] == 0);
    for (size_t i = 0; i < e.a.dv; i++)
        ck_assert(e.context[2 * e.a.dv + i] == 0);
    e.a.refuse_empty = true;
    ck_assert_int_ne(attn_attention(e.context, e.q, e.k, e.v, &e.a, &err), ATTN_OK);
    ck_assert_msg(strstr(err.msg, "rows look at no key") != NULL, "%s", err.msg);
    seed_close(&e);
}
END_TEST

/* A triangle given as a mask is the kind causal, bit for bit. */
START_TEST(mask_is_causal)
{
    struct seed e;
    seed_open(&e, "04-03-simple-causal-batch-0");
    ck_assert_int_eq(e.a.kind.form, ATTN_MASKED);
    size_t bytes = e.Tq * e.a.dv * sizeof(float);
    float *masked = seed_zeros(e.Tq * e.a.dv);
    memcpy(masked, e.context, bytes);
    again(&e, ATTN_CAUSAL, e.a.scale);
    ck_assert_mem_eq(masked, e.context, bytes);
    free(masked);
    seed_close(&e);
}
END_TEST

/* Returns n numbers of a followed by n of b. */
static float *join(const float *a, const float *b, size_t n)
{
    float *both = seed_zeros(2 * n);
    memcpy(both, a, n * sizeof *a);
    memcpy(both + n, b, n * sizeof *b);
    return both;
}

static const struct { const char *first, *second; } batches[] = {
    {"02-07-multi-head-batch-0", "02-08-multi-head-batch-1"},
    {"02-09-multi-head-qkv-bias-batch-0", "02-10-multi-head-qkv-bias-batch-1"},
    {"04-01-simple-batch-0", "04-02-simple-batch-1"}, {"04-03-simple-causal-batch-0", "04-04-simple-causal-batch-1"}};
enum { BATCHES = sizeof batches / sizeof *batches };

/* The articles' batches in one call each: the result must be that of a call for each sentence, which the files
 * were compared with. */
START_TEST(batches_are_one_call)
{
    struct seed one, other;
    struct attn_err err = {0};
    seed_open(&one, batches[_i].first);
    seed_open(&other, batches[_i].second);
    struct attn_attention a = one.a;
    size_t nq = a.H * a.Tq * a.dh, nk = a.Hkv * a.Tk * a.dh, nv = a.Hkv * a.Tk * a.dv, nc = a.H * a.Tq * a.dv,
        square = a.H * a.Tq * a.Tk;
    float *q = join(one.q, other.q, nq), *k = join(one.k, other.k, nk), *v = join(one.v, other.v, nv);
    float *context = seed_zeros(2 * nc), *pattern = seed_zeros(2 * square);
    a.batch = 2;
    a.threads = 2;
    a.dots = a.scores = NULL;
    a.pattern = pattern;
    ck_assert_uint_eq(other.a.Tq * other.a.dv, a.Tq * a.dv);
    ck_assert_msg(!attn_attention(context, q, k, v, &a, &err), "%s", err.msg);
    ck_assert_mem_eq(context, one.context, nc * sizeof *context);
    ck_assert_mem_eq(context + nc, other.context, nc * sizeof *context);
    ck_assert_mem_eq(pattern, one.a.pattern, square * sizeof *pattern);
    ck_assert_mem_eq(pattern + square, other.a.pattern, square * sizeof *pattern);
    float *all[] = {q, k, v, context, pattern};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    seed_close(&one);
    seed_close(&other);
}
END_TEST

static void check_rows(const cJSON *doc, const char *key, const float *table, size_t d)
{
    size_t n;
    float *want = golden_floats(golden_get(doc, key), &n);
    ck_assert_uint_eq(n % d, 0);
    ck_assert_msg(memcmp(want, table, n * sizeof *want) == 0, "%s differs", key);
    free(want);
}

START_TEST(embedding)
{
    enum { D = 3, V = 50000, WORDS = 6 };
    cJSON *doc = golden_read("tests/golden/seeds/00-01-embedding.json");
    const cJSON *ids = golden_get(doc, "token_ids"), *listed = golden_get(doc, "as_listed_vocab_size_6");
    float *table = seed_zeros(V * D), small[WORDS * D], rows[2][WORDS * D];
    struct attn_rng rng = {0};
    attn_rng_seed(&rng, 123);
    attn_rng_normal(&rng, table, V * D, 0, 1);
    attn_rng_seed(&rng, 123);
    attn_rng_normal(&rng, small, WORDS * D, 0, 1);
    for (int t = 0; t < WORDS; t++) {
        size_t id = (size_t)cJSON_GetArrayItem(ids, t)->valuedouble;
        memcpy(&rows[0][t * D], table + id * D, D * sizeof *table);
        memcpy(&rows[1][t * D], small + id * D, D * sizeof *table);
    }
    check_rows(doc, "embedding_rows_used", table, D);
    check_rows(doc, "inputs", rows[0], D);
    check_rows(listed, "embedding", small, D);
    check_rows(listed, "inputs", rows[1], D);
    check_printed(printed_as(doc, "embedded_sentence"), rows[0], WORDS * D);
    check_printed(printed_as(doc, "embedded_sentence with vocab_size = 6 as listed"), rows[1], WORDS * D);
    free(table);
    cJSON_Delete(doc);
}
END_TEST

/* y[n, n_out] = x w with the weights of nn.Linear(n_in, n_out, bias=False) */
static void linear(struct attn_rng *rng, float *w, float *y, const float *x, size_t n, size_t n_in, size_t n_out)
{
    float bound = attn_rng_linear_bound(n_in);
    attn_rng_uniform(rng, w, n_in * n_out, -bound, bound);
    struct attn_mat m = {.data = w, .in = n_in, .out = n_out, .ld = n_in, .transposed = true};
    attn_gemm(alone(), y, n_out, x, n_in, n, &m, ATTN_STORE, NULL);
}

static void check_wide_context(const cJSON *doc, const float *context, size_t T, size_t dv)
{
    const cJSON *expected = golden_get(doc, "expected");
    float first[48], last[48], sums[6];
    ck_assert_uint_eq(T, sizeof sums / sizeof *sums);
    for (size_t t = 0; t < T; t++) {
        double sum = 0;
        memcpy(first + t * 8, context + t * dv, 8 * sizeof *first);
        memcpy(last + t * 8, context + (t + 1) * dv - 8, 8 * sizeof *last);
        for (size_t j = 0; j < dv; j++)
            sum += (double)context[t * dv + j];
        sums[t] = (float)sum;
    }
    check_array(doc, "context_first_8_columns", golden_get(expected, "context_first_8_columns"), first);
    check_array(doc, "context_last_8_columns", golden_get(expected, "context_last_8_columns"), last);
    check_array(doc, "context_row_sums", golden_get(expected, "context_row_sums"), sums);
}

START_TEST(wide_causal)
{
    enum { T = 6, D = 3, W = 1024, B = 2 };
    cJSON *doc = golden_read("tests/golden/seeds/02-06-causal-attention-d1024.json");
    const cJSON *expected = golden_get(doc, "expected");
    size_t unused;
    float *x = golden_floats(golden_get(doc, "inputs"), &unused), *w = seed_zeros(W * D),
        *pattern = seed_zeros(B * T * T), *y[4];
    struct attn_rng rng = {0};
    attn_rng_seed(&rng, 123);
    for (int i = 0; i < 4; i++)
        y[i] = seed_zeros(B * T * W);
    for (int i = 0; i < 3; i++) {
        linear(&rng, w, y[i], x, T, D, W);
        memcpy(y[i] + T * W, y[i], T * W * sizeof(float));
        if (i == 0)
            check_rows(expected, "W_query_first_row", w, D);
    }
    check_rows(expected, "W_value_last_row", w + (W - 1) * D, D);
    struct attn_attention a = {.batch = B, .H = 1, .Hkv = 1, .Tq = T, .Tk = T, .dh = W, .dv = W, .scale = 1 / sqrtf(W),
                               .kind = {.form = ATTN_CAUSAL}, .pattern = pattern, .threads = 1};
    struct attn_err err = {0};
    ck_assert_msg(attn_attention(y[3], y[0], y[1], y[2], &a, &err) == ATTN_OK, "%s", err.msg);
    for (size_t b = 0; b < B; b++) {
        check_array(doc, "weights", golden_get(expected, "weights"), pattern + b * T * T);
        check_wide_context(doc, y[3] + b * T * W, T, W);
    }
    char shape[32];
    snprintf(shape, sizeof shape, "[%d,%d,%d]", (int)B, (int)T, (int)W);
    ck_assert_str_eq(golden_string(printed_as(doc, "context_vecs.shape (in a comment)"), "text"), shape);
    for (int i = 0; i < 4; i++)
        free(y[i]);
    free(x);
    free(w);
    free(pattern);
    cJSON_Delete(doc);
}
END_TEST

START_TEST(bare_softmax)
{
    size_t n;
    cJSON *doc = golden_read("tests/golden/seeds/04-08-score-table.json");
    float *x = golden_floats(golden_get(doc, "scores"), &n);
    bool finite;
    attn_vec_softmax(x, 1, attn_vec_max(x, 1, n, &finite), n);
    ck_assert(finite);
    check_array(doc, "weights", golden_get(golden_get(doc, "expected"), "weights"), x);
    check_printed(printed_as(doc, "softmax of the scores"), x, n);
    free(x);
    cJSON_Delete(doc);
}
END_TEST

Suite *suite_seeds(void)
{
    Suite *s = suite_create("seeds");
    TCase *t = tcase_create("articles");
    tcase_add_loop_test(t, intermediates, 0, NAMES);
    tcase_add_loop_test(t, printed_digits, 0, NAMES);
    tcase_add_test(t, rounding);
    tcase_add_test(t, two_ways);
    tcase_add_test(t, empty_row);
    tcase_add_test(t, mask_is_causal);
    tcase_add_loop_test(t, batches_are_one_call, 0, BATCHES);
    tcase_add_test(t, embedding);
    tcase_add_test(t, wide_causal);
    tcase_add_test(t, bare_softmax);
    suite_add_tcase(s, t);
    return s;
}
