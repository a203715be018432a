/* The summation order: any shape, view, kernel and number of threads gives the bits of a plain loop, in float32
 * and in bf16. */

#include "suites.h"
#include "alone.h"
#include "attn_tools.h"
#include "draw.h"

#include "compute/cut.h"
#include "compute/gemm.h"
#include "compute/microkernel.h"
#include "compute/multiply.h"
#include "compute/panels.h"
#include "compute/bf16.h"
#include "compute/vec.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 5, STEP = 2 };           /* distance between groups of outputs, in groups */

static unsigned seed;

static size_t pick(size_t n)
{
    return draw_below(&seed, n);
}

static void *room(size_t bytes)
{
    void *p = calloc(1, bytes);
    ck_assert_ptr_nonnull(p);
    return p;
}

/* Numbers with many digits, as F32 or in the 16 bits of the other types. */
static void fill(void *to, enum attn_dtype type, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (type == ATTN_F32)
            ((float *)to)[i] = ((float)pick(20001) - 10000) / 7919;
        else                            /* finite: exponents 8 to 23 of F16, and around 1 for BF16 */
            ((uint16_t *)to)[i] = (uint16_t)(type == ATTN_F16 ? 0x2000 + pick(0x3fff) : 0x3d00 + pick(0x200)) |
                (uint16_t)(pick(2) << 15);
}

static float element(const struct attn_mat *w, size_t k, size_t j)
{
    float x;
    attn_vec_widen(&x, w->data, w->type, w->transposed ? attn_mat_index(w, j) * w->ld + k : k * w->ld + j, 1);
    return x;
}

static float step(float x, float w, float sum)
{
    return attn_vec_fused() ? fmaf(x, w, sum) : x * w + sum;
}

/* Rounds to nearest even by integer arithmetic, dropping 16 bits. */
static float to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

/* The product of x[in] and column[in] in float32 or, if they are rounded to bf16, as some processor computes it. */
typedef float product_of(const float *x, const float *column, size_t in);

static float chain(const float *x, const float *column, size_t in)
{
    float sum = 0;
    for (size_t k = 0; k < in; k++)
        sum = step(x[k], column[k], sum);
    return sum;
}

#if defined(__x86_64__)
/* By the instruction itself, one sum at a time. */
__attribute__((target("avx512f,avx512vl,avx512bf16")))
static float dots(const float *x, const float *column, size_t in)
{
    __m128 sum = _mm_setzero_ps();
    for (size_t k = 0; k < in; k += 2) {
        __m128 a = _mm_setr_ps(x[k], k + 1 < in ? x[k + 1] : 0, 0, 0),
            b = _mm_setr_ps(column[k], k + 1 < in ? column[k + 1] : 0, 0, 0);
        sum = _mm_dpbf16_ps(sum, _mm_cvtne2ps_pbh(a, a), _mm_cvtne2ps_pbh(b, b));
    }
    return _mm_cvtss_f32(sum);
}
#else
#define dots NULL
#endif

/* In steps of 32: two chains from 0, over even and odd elements; their sum is added. */
static float tiles(const float *x, const float *column, size_t in)
{
    float sum = 0;
    for (size_t k = 0; k < in; k += 32) {
        float part[2] = {0, 0};
        for (size_t i = k; i < k + 32 && i < in; i++)
            part[i % 2] = fmaf(x[i], column[i], part[i % 2]);
        sum += part[0] + part[1];
    }
    return sum;
}

/* The definition: computes each element by itself. */
static void plain(float *y, const float *x, size_t ldx, size_t n, const struct attn_mat *w,
                  product_of *product, bool bf16)
{
    float *factors = room(n * w->in * sizeof *factors), *column = room(w->in * sizeof *column);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < w->in; k++)
            factors[i * w->in + k] = bf16 ? to_bf16(x[i * ldx + k]) : x[i * ldx + k];
    for (size_t j = 0; j < w->out; j++) {
        float bias = 0;
        for (size_t k = 0; k < w->in; k++)
            column[k] = bf16 ? to_bf16(element(w, k, j)) : element(w, k, j);
        if (w->bias.data)
            attn_vec_widen(&bias, w->bias.data, w->bias.type, attn_mat_index(w, j), 1);
        for (size_t i = 0; i < n; i++)
            y[i * w->out + j] = product(factors + i * w->in, column, w->in) + bias;
    }
    free(factors);
    free(column);
}

/* The memory of its numbers, which the caller frees, ends with the last one: a sanitizer sees what reads on. */
static struct attn_mat random_mat(const void *bias, size_t in, size_t out)
{
    struct attn_mat w = {.type = (enum attn_dtype)pick(3), .in = in, .out = out, .transposed = pick(2)};
    w.ld = (w.transposed ? in : out) + pick(3);
    if (w.transposed && pick(2)) {   /* groups of rows of a larger matrix */
        w.group = 1 + pick(9);
        w.step = STEP * w.group;
    }
    size_t last = !w.transposed ? in - 1 : out ? attn_mat_index(&w, out - 1) : 0,
        n = out ? last * w.ld + (w.transposed ? in : out) : 0;
    void *data = room(n * attn_dtype_size(w.type));
    fill(data, w.type, n);
    w.data = data;
    if (pick(2))
        w.bias = (struct attn_vec){bias, ATTN_F32};
    return w;
}

static void expect_same(const float *want, const float *y, size_t ldy, size_t n, size_t out)
{
    for (size_t i = 0; i < n; i++) {
        ck_assert(memcmp(want + i * out, y + i * ldy, out * sizeof *y) == 0);
        for (size_t j = out; j < ldy; j++)          /* no float beyond the last column is changed */
            ck_assert(y[i * ldy + j] == -77);
    }
}

static void compare(struct attn_team *t, const float *want, const float *x, size_t ldx, size_t n,
                    const struct attn_mat *w, float *rounded)
{
    size_t ldy = w->out + GUARD;
    float *y = room(n * ldy * sizeof *y);
    for (size_t i = 0; i < n * ldy; i++)
        y[i] = -77;
    attn_gemm(t ? t : alone(), y, ldy, x, ldx, n, w, ATTN_STORE, rounded);
    expect_same(want, y, ldy, n, w->out);
    free(y);
}

/* Lets w have panels, between numbers that would show; the caller frees them. */
static float *panels_for(struct attn_mat *w, bool pairs, struct attn_team *t)
{
    const size_t line = 16;             /* floats: panels are aligned as those of an arena */
    size_t size = attn_panels_size(w, pairs), all = (size + 2 * line) / line * line;
    float *panels = aligned_alloc(line * sizeof *panels, all * sizeof *panels);
    ck_assert_ptr_nonnull(panels);
    for (size_t i = 0; i < all; i++)
        panels[i] = -77;
    attn_panels_fill(w, panels, pairs, t);
    for (size_t i = size; i < all; i++)
        ck_assert(panels[i] == -77);
    return panels;
}

/* Where bf16 is computed in float32 there are no panels. */
static void compare_panels(struct attn_team *team[3], const float *want, const float *x, size_t ldx, size_t n,
                           const struct attn_mat *w, float *rounded)
{
    const bool pairs = rounded && attn_bf16_kind() != ATTN_BF16_FLOATS;
    struct attn_mat copy = *w;
    if (rounded && !pairs)
        return;
    float *panels = panels_for(&copy, pairs, team[1]);
    for (int i = 0; i < 6; i++) {
        attn_panels_choose(i / 3 ? 1 : ATTN_AT_ONCE);
        compare(team[i % 3], want, x, ldx, n, &copy, rounded);
    }
    free(panels);
}

static void compare_all(struct attn_team *team[3], const float *want, const float *x, size_t ldx, size_t n,
                        const struct attn_mat *w, float *rounded)
{
    for (int kernels = 0; kernels <= 1; kernels++) {
        if (!attn_microkernel_choose(kernels))
            continue;
        for (int i = 0; i < 3; i++)
            compare(team[i], want, x, ldx, n, w, rounded);
        compare_panels(team, want, x, ldx, n, w, rounded);
    }
}

static product_of *const in_bf16[] = {[ATTN_BF16_FLOATS] = chain, [ATTN_BF16_DOTS] = dots, [ATTN_BF16_TILES] = tiles};

static void check_shape(struct attn_team *team[3], size_t n, size_t in, size_t out)
{
    size_t ldx = in + pick(3);
    float *x = room(n * ldx * sizeof *x), *want = room(n * out * sizeof *want), *bias = room(STEP * out * sizeof *bias);
    float *rounded = room((n + ATTN_GEMM_MORE) * (in + ATTN_GEMM_MORE) * sizeof *rounded);
    fill(x, ATTN_F32, n * ldx);
    fill(bias, ATTN_F32, STEP * out);
    struct attn_mat w = random_mat(bias, in, out);
    plain(want, x, ldx, n, &w, chain, false);
    compare_all(team, want, x, ldx, n, &w, NULL);
    enum attn_bf16 kind = (enum attn_bf16)pick(3);      /* only one kind: the plain loops are slow under a sanitizer */
    if (attn_bf16_choose(kind)) {
        plain(want, x, ldx, n, &w, in_bf16[kind], true);
        compare_all(team, want, x, ldx, n, &w, rounded);
    }
    free(x);
    free(want);
    free(bias);
    free(rounded);
    free((void *)w.data);
}

START_TEST(any_shape_gives_the_bits_of_the_plain_loop)
{
    struct attn_team *team[3] = {NULL};
    ck_assert_int_eq(attn_team_new(&team[1], 2, NULL), 0);
    ck_assert_int_eq(attn_team_new(&team[2], 5, NULL), 0);
    seed = (unsigned)_i + 1;
    for (int round = 0; round < 12; round++) {
        bool deep = round % 4 == 0, wide = round % 4 == 1, tall = round % 4 == 2;
        check_shape(team, 1 + pick(tall ? 420 : 20), 1 + pick(deep ? 1400 : 150), 1 + pick(wide ? 400 : 140));
    }
    attn_team_free(team[1]);
    attn_team_free(team[2]);
}
END_TEST

/* Rows, steps, columns. */
static const size_t awkward[][3] = {
    {1, 1, 1}, {1, 1, 64}, {1, 1, 65}, {6, 3, 2}, {7, 513, 63}, {64, 512, 64}, {65, 512, 128}, {100, 5, 64},
    {101, 5, 64}, {129, 1, 1}, {130, 64, 65}, {200, 16, 16}, {12, 64, 11}, {11, 64, 16},
    {193, 130, 257}, {385, 129, 300}, {17, 2100, 70}, {17, 130, 1090}, {49, 290, 130}, {258, 70, 66}, {131, 900, 130}};

START_TEST(awkward_shapes)
{
    struct attn_team *team[3] = {NULL};
    seed = 99;
    for (int round = 0; round < 6; round++)
        check_shape(team, awkward[_i][0], awkward[_i][1], awkward[_i][2]);
}
END_TEST

/* A large copy is read in two ways, and the faster one is kept; the bits stay. */
START_TEST(one_row_reads_a_large_copy)
{
    enum { IN = 2048, OUT = (64 << 20) / IN / 2 + 16 };
    struct attn_weights w =
        {.unembed = {.data = room((size_t)IN * OUT * sizeof(float)), .in = IN, .out = OUT, .ld = OUT}};
    float *x = room(IN * sizeof *x), *want = room(OUT * sizeof *want), *data = (float *)w.unembed.data;
    struct attn_panels copy;
    struct attn_team *team[3] = {NULL};
    ck_assert_int_eq(attn_team_new(&team[1], 2, NULL), 0);
    ck_assert_int_eq(attn_team_new(&team[2], 5, NULL), 0);
    seed = 23;
    fill(x, ATTN_F32, IN);
    for (size_t i = 0; i < (size_t)IN * OUT; i += 1 + pick(100))
        fill(data + i, ATTN_F32, 1);
    attn_gemm(alone(), want, OUT, x, IN, 1, &w.unembed, ATTN_STORE, NULL);
    attn_panels_choose(0);
    ck_assert(attn_panels_make(&copy, &w, &(struct attn_panels_use){.lone = true, .logits = true}, team[1]));
    size_t chosen = attn_panels_at_once();
    ck_assert(chosen == 1 || chosen == ATTN_AT_ONCE);
    ck_assert_uint_eq(attn_panels_choose(chosen), chosen);      /* it was decided, and not only left as it begins */
    for (int i = 0; i < 3; i++)
        compare(team[i], want, x, IN, 1, &copy.w.unembed, NULL);
    attn_panels_free(&copy);
    attn_team_free(team[1]);
    attn_team_free(team[2]);
    free(data);
    free(x);
    free(want);
}
END_TEST

/* The bits of a row do not depend on the rows beside it. */
START_TEST(rows_do_not_know_each_other)
{
    enum { N = 150, IN = 96, OUT = 80 };
    float *x = room(N * IN * sizeof *x), *all = room(N * OUT * sizeof *all), *one = room(OUT * sizeof *one);
    float *data = room(IN * OUT * sizeof *data);
    seed = 4;
    fill(x, ATTN_F32, N * IN);
    fill(data, ATTN_F32, IN * OUT);
    const struct attn_mat w = {.data = data, .in = IN, .out = OUT, .ld = OUT};
    attn_microkernel_choose(true);
    attn_gemm(alone(), all, OUT, x, IN, N, &w, ATTN_STORE, NULL);
    for (size_t i = 0; i < N; i++) {
        attn_gemm(alone(), one, OUT, x + i * IN, IN, 1, &w, ATTN_STORE, NULL);
        ck_assert(memcmp(one, all + i * OUT, sizeof(float) * OUT) == 0);
    }
    free(x);
    free(all);
    free(one);
    free(data);
}
END_TEST

/* The share of libxsmm in the product of n rows, in bf16 if there is scratch. */
static double share_in(float *y, const float *x, size_t n, const struct attn_mat *w, float *rounded)
{
    attn_products_count();
    attn_gemm(alone(), y, w->out, x, w->in, n, w, ATTN_STORE, rounded);
    return attn_products_by_libxsmm();
}

/* The same by rule, of rows that are one item: kernels take what is not streamed, but the first rows where these pack a
 * large weight of [in, out]. */
static double wanted_share(size_t n, bool kernels, size_t streamed, bool packs)
{
    const size_t tile = attn_vec_ops()->tile_rows, first = packs && n >= 2 * tile ? tile : 0;
    return !kernels || n <= streamed ? 0 : (double)(n - first) / (double)n;
}

static const double DIVISION = 1e-9;    /* error of a share */

START_TEST(share_of_libxsmm)
{
    enum { MOST = 256, IN = 64, SMALL = 128, LARGE = 1088, WIDE = IN + ATTN_GEMM_MORE };
    static const size_t lengths[] = {2, 5, 6, 7, 12, 13, 31, 32, 49, 95, 96, 101, 193, MOST};
    /* tests may use more than that asks for */
    const bool turned = _i % 2, large = _i / 2, with_bf16 = !getenv("LIBXSMM_TARGET");
    const size_t out = large ? LARGE : SMALL, few = large ? ATTN_STREAM : 0;
    float *x = room(MOST * IN * sizeof *x), *y = room(MOST * out * sizeof *y), *data = room(IN * out * sizeof *data);
    float *rounded = room((MOST + ATTN_GEMM_MORE) * WIDE * sizeof *rounded);
    fill(x, ATTN_F32, MOST * IN);
    fill(data, ATTN_F32, IN * out);
    const struct attn_mat w = {.data = data, .in = IN, .out = out, .ld = turned ? IN : out, .transposed = turned};
    attn_products_count();
    ck_assert(isnan(attn_products_by_libxsmm()));
    ck_assert(isnan(share_in(y, x, 1, &w, NULL)));      /* one row is streamed */
    for (int kernels = 0; kernels <= 1; kernels++)
        for (size_t i = 0; attn_microkernel_choose(kernels) && i < sizeof lengths / sizeof *lengths; i++) {
            size_t n = lengths[i];
            ck_assert_double_eq_tol(share_in(y, x, n, &w, NULL),
                                    wanted_share(n, kernels, few, large && !turned), DIVISION);
            ck_assert_double_eq(attn_gemm_share(n, &w, false), kernels && n > few);
            if (attn_bf16_choose(ATTN_BF16_FLOATS)) {   /* rounded, but computed in float32 */
                ck_assert_double_eq(share_in(y, x, n, &w, rounded), kernels);
                ck_assert_double_eq(attn_gemm_share(n, &w, true), kernels);
            }
            if (with_bf16 && attn_bf16_choose(ATTN_BF16_DOTS) && n <= 256) {
                ck_assert_double_eq_tol(share_in(y, x, n, &w, rounded),
                                        wanted_share(n, kernels, ATTN_BF16_LONE, large && !turned), DIVISION);
                ck_assert_double_eq(attn_gemm_share(n, &w, true), kernels && n > ATTN_BF16_LONE);
            }
        }
    free(x);
    free(y);
    free(data);
    free(rounded);
}
END_TEST

START_TEST(share_of_libxsmm_in_16_bits)
{
    enum { MOST = 32, IN = 64, OUT = 2112 };
    float *x = room(MOST * IN * sizeof *x), *y = room(MOST * OUT * sizeof *y);
    uint16_t *data = room(IN * OUT * sizeof *data);
    fill(x, ATTN_F32, MOST * IN);
    fill(data, _i, IN * OUT);
    const struct attn_mat w = {.data = data, .type = (enum attn_dtype)_i, .in = IN, .out = OUT, .ld = OUT};
    for (size_t n = ATTN_STREAM + 1; n <= MOST && attn_microkernel_choose(true); n++) {
        ck_assert_double_eq_tol(share_in(y, x, n, &w, NULL), wanted_share(n, true, ATTN_STREAM, true), DIVISION);
        ck_assert_double_eq(attn_gemm_share(n, &w, false), 1);
    }
    free(x);
    free(y);
    free(data);
}
END_TEST

/* Numbers whose products are near or below the smallest float; some are 0, or too small to be a normal float. */
static void fill_tiny(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float f = ((float)pick(20001) - 10000) / 7919;
        x[i] = pick(5) == 0 ? f * 0.0f : pick(9) == 0 ? f * 0x1p-127f : f * 0x1p-63f;
    }
}

/* Weights that would round up to the smallest normal number, if denormals were not treated as 0 first. */
static void fill_lost(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (pick(3) ? 0x7f8000u + (uint32_t)pick(0x8000) : (uint32_t)pick(0x7f8000)) |
            (uint32_t)pick(2) << 31;
        memcpy(&x[i], &bits, sizeof bits);
    }
}

/* Weights of a type, as `how` says: ordinary, tiny, or lost.  F16 only gets ordinary ones; BF16 also tiny
 * and denormal ones. */
static void fill_weights(void *data, enum attn_dtype type, int how, size_t n)
{
    fill(data, type, n);
    if (how == 1 && type == ATTN_F32)
        fill_tiny(data, n);
    if (how == 2 && type == ATTN_F32)
        fill_lost(data, n);
    for (size_t i = 0; how > 0 && type == ATTN_BF16 && i < n; i++)
        ((uint16_t *)data)[i] = (uint16_t)(how == 1 ? 0x2000 + pick(0x80) : pick(0x100)) | (uint16_t)(pick(2) << 15);
}

/* One or two rows in bf16 use another code path than many; they give the same bits, even where numbers underflow. */
START_TEST(few_rows_in_bf16_are_like_many)
{
    enum { N = 17, IN = 235, OUT = 140 };
    const enum attn_bf16 kind = (enum attn_bf16)(_i / 9);
    const enum attn_dtype type = (enum attn_dtype)(_i / 3 % 3);
    static float x[N * IN], data[IN * OUT], all[N * OUT], few[2 * OUT],
        rounded[(N + ATTN_GEMM_MORE) * (IN + ATTN_GEMM_MORE)];
    if (!attn_bf16_choose(kind))
        return;
    seed = 31;
    for (size_t i = 0; i < 2 * 9; i++) {                /* lengths that fill blocks of 32, 8 or 4, and others */
        static const size_t ins[] = {1, 7, 24, 32, 191, 200, 224, 228, IN};
        size_t in = ins[i / 2];
        const struct attn_mat w = {.data = data, .type = type, .in = in, .out = OUT, .ld = i % 2 ? in : OUT,
                                   .transposed = i % 2};
        fill(x, ATTN_F32, N * IN);
        if (_i % 3 == 1)
            fill_tiny(x, N * IN);
        fill_weights(data, type, _i % 3, IN * OUT);
        attn_gemm(alone(), all, OUT, x, IN, N, &w, ATTN_STORE, rounded);
        for (size_t r = 0; r + 1 < N; r++)
            for (size_t n = 1; n <= 2; n++) {
                attn_gemm(alone(), few, OUT, x + r * IN, IN, n, &w, ATTN_STORE, rounded);
                ck_assert(memcmp(few, all + r * OUT, n * OUT * sizeof *few) == 0);
            }
    }
}
END_TEST

/* Several matrices multiplied in one call give what each gives by itself, even if one of them has no outputs. */
START_TEST(weights_do_not_know_each_other)
{
    enum { N = 70, IN = 150, MOST = 500, GUARDED = MOST + GUARD };
    struct attn_team *team = NULL;
    ck_assert_int_eq(attn_team_new(&team, 3, NULL), 0);
    float *x = room(N * IN * sizeof *x), *bias = room(STEP * MOST * sizeof *bias),
        *want = room(N * MOST * sizeof *want);
    seed = (unsigned)_i + 50;
    fill(x, ATTN_F32, N * IN);
    fill(bias, ATTN_F32, STEP * MOST);
    for (int round = 0; round < 6; round++) {
        struct attn_mat w[ATTN_GEMM_EACH];
        struct attn_product each[ATTN_GEMM_EACH];
        float *panels[ATTN_GEMM_EACH] = {NULL};         /* of some of them, in float32 */
        size_t n = 1 + pick(round % 3 ? N : 8);
        for (int i = 0; i < ATTN_GEMM_EACH; i++) {
            w[i] = random_mat(bias, IN, i == 1 && round == 3 ? 0 : 1 + pick(MOST));
            if (round % 2 == 0 && pick(2))
                panels[i] = panels_for(&w[i], false, team);
            each[i] = (struct attn_product){room(N * GUARDED * sizeof(float)), w[i].out + GUARD, &w[i]};
            for (size_t j = 0; j < n * each[i].ldy; j++)
                each[i].y[j] = -77;
        }
        float *rounded = round % 2 ? room((N + ATTN_GEMM_MORE) * (IN + ATTN_GEMM_MORE) * sizeof *rounded) : NULL;
        attn_gemm_each(team ? team : alone(), each, ATTN_GEMM_EACH, x, IN, n, ATTN_STORE, rounded, NULL);
        for (int i = 0; i < ATTN_GEMM_EACH; i++) {
            w[i].panels = NULL;
            attn_gemm(alone(), want, w[i].out, x, IN, n, &w[i], ATTN_STORE, rounded);
            expect_same(want, each[i].y, each[i].ldy, n, w[i].out);
            free((void *)(uintptr_t)w[i].data);
            free(each[i].y);
            free(panels[i]);
        }
        free(rounded);
    }
    free(x);
    free(bias);
    free(want);
    attn_team_free(team);
}
END_TEST

static size_t mlps(void)                /* besides "none" */
{
    size_t n = 0;
    for (const struct attn_mlp_row *m = attn_mlp_next(NULL); (m = attn_mlp_next(m));)
        n++;
    return n;
}

/* What one product makes for the next one alone gives it the same bits as numbers in float32 that it rounds itself. */
START_TEST(numbers_between_products)
{
    enum { N = 300, IN = 70, MOST = 330, OUT = 90 };
    static const size_t ns[] = {1, 2, 3, 17, 60, N}, hiddens[] = {1, 31, 48, 64, 257, MOST};
    const size_t scratch = (N + ATTN_GEMM_MORE) * (MOST + ATTN_GEMM_MORE) * sizeof(float);
    struct attn_team *team = NULL;
    if (!attn_bf16_choose((enum attn_bf16)_i))
        return;
    ck_assert_int_eq(attn_team_new(&team, 3, NULL), 0);
    float *x = room(N * IN * sizeof *x), *hidden = room(N * MOST * sizeof *hidden),
        *gate = room(N * MOST * sizeof *gate);
    float *want = room(N * OUT * sizeof *want), *got = room(N * OUT * sizeof *got), *rounded = room(scratch),
        *made = room(scratch);
    float *bias = room(STEP * MOST * sizeof *bias);
    seed = 77;
    fill(x, ATTN_F32, N * IN);
    fill(bias, ATTN_F32, STEP * MOST);
    fill(gate, ATTN_F32, N * MOST);
    for (size_t i = 0; i < 6 * 6; i++) {
        size_t n = ns[i / 6], m = hiddens[i % 6];
        enum attn_epilogue epilogue = ATTN_ADD + 1 + (i + i / 6) % mlps();
        struct attn_mat first = random_mat(bias, IN, m);
        struct attn_mat second = random_mat(bias, m, OUT);
        memcpy(hidden, gate, N * MOST * sizeof *hidden);
        attn_gemm(team ? team : alone(), hidden, m, x, IN, n, &first, epilogue, rounded);
        attn_gemm(team ? team : alone(), want, OUT, hidden, m, n, &second, ATTN_STORE, rounded);
        memcpy(hidden, gate, N * MOST * sizeof *hidden);
        attn_gemm_each(team ? team : alone(), &(struct attn_product){hidden, m, &first}, 1, x, IN, n, epilogue, rounded,
                       &(struct attn_bf16_operands){.y_bf16 = made});
        for (size_t j = 0; j < N * MOST; j++)
            hidden[j] = NAN;
        attn_gemm_each(team ? team : alone(), &(struct attn_product){got, OUT, &second}, 1, hidden, m, n,
                       ATTN_STORE, rounded, &(struct attn_bf16_operands){.x_bf16 = made});
        expect_same(want, got, OUT, n, OUT);
        free((void *)(uintptr_t)first.data);
        free((void *)(uintptr_t)second.data);
    }
    float *const all[] = {x, hidden, gate, want, got, rounded, made, bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    attn_team_free(team);
}
END_TEST

/* However a product is split, each panel of each row belongs to exactly one item. */
START_TEST(items_cover_a_product_once)
{
    enum { ROWS = 60, PANELS = 40 };
    seed = (unsigned)_i + 7;
    for (int round = 0; round < 300; round++) {
        const struct attn_cut_sizes sizes = {1 + pick(40), 1 + pick(8), 1 + pick(16), 1, 1 + pick(4), 1 + pick(5),
                                             pick(2) * pick(20)};
        struct attn_mat w[3] = {{.out = 1 + pick(PANELS * ATTN_PANEL)}, {.out = 1 + pick(900)}, {.out = 1 + pick(64)}};
        struct attn_gemm_output out[3] = {{.w = &w[0]}, {.w = &w[1]}, {.w = &w[2]}};
        struct attn_cut cut = {.most = &sizes, .out = out, .outs = 1 + pick(3), .n = 1 + pick(ROWS),
                               .workers = 1 + pick(round % 2 ? 3 : 70)};
        static unsigned char taken[3][ROWS][PANELS];
        memset(taken, 0, sizeof taken);
        attn_cut_share(&cut);
        if (sizes.least == 0 || cut.rows < sizes.least)                     /* as few cuts as may be */
            ck_assert_uint_le((cut.n + cut.rows - 1) / cut.rows, (cut.n + sizes.rows - 1) / sizes.rows);
        for (size_t n = 0; n < cut.items; n++) {
            struct attn_gemm_item it = attn_cut_item(&cut, n);
            ck_assert(it.i0 < it.i1 && it.i1 - it.i0 <= cut.rows && it.j0 <= it.j1 && it.j1 - it.j0 <= sizes.panels);
            ck_assert(attn_item_columns(&it) <= (it.j1 - it.j0) * ATTN_PANEL);
            for (size_t i = it.i0; i < it.i1; i++)
                for (size_t j = it.j0; j < it.j1; j++)
                    taken[it.to - out][i][j]++;
        }
        for (size_t o = 0; o < cut.outs; o++)
            for (size_t i = 0; i < cut.n; i++)
                for (size_t j = 0; j * ATTN_PANEL < w[o].out; j++)
                    ck_assert_int_eq(taken[o][i][j], 1);
    }
}
END_TEST

/* Items of a product with so many rows and panels that each of so many workers has, at least and at most,
 * without empty ones. */
static void expect_shares(size_t rows, size_t panels, size_t workers, size_t least, size_t most)
{
    const struct attn_cut_sizes sizes = {.rows = 192, .tile = 6, .panels = 4, .depth = 1, .items = 2, .fine = 4,
                                         .least = 64};
    struct attn_mat w = {.out = panels * ATTN_PANEL};
    struct attn_gemm_output out = {.w = &w};
    struct attn_cut cut = {.most = &sizes, .out = &out, .outs = 1, .n = rows, .workers = workers};
    attn_cut_share(&cut);
    for (size_t worker = 0; worker < workers; worker++) {
        size_t has = 0;
        for (size_t n = cut.items * worker / workers; n < cut.items * (worker + 1) / workers; n++) {
            struct attn_gemm_item it = attn_cut_item(&cut, n);
            has += it.j1 > it.j0;
        }
        ck_assert_msg(has >= least && has <= most,
                      "%zu rows, %zu panels: worker %zu of %zu has %zu", rows, panels, worker, workers, has);
    }
}

/* Where panels are fewer than threads, rows are divided among these, too. */
START_TEST(every_worker_has_items)
{
    expect_shares(128, 12, 16, 1, 2);
    expect_shares(512, 12, 16, 3, 3);
    expect_shares(512, 36, 16, 4, 5);
    expect_shares(1024, 2, 16, 1, 2);
    expect_shares(48, 2, 16, 0, 1);     /* these are too few */
}
END_TEST

static void expect_epilogue(enum attn_epilogue epilogue)
{
    enum { N = 7, IN = 130, OUT = 70 };
    static float x[N * IN], data[IN * OUT], bias[OUT], s[N * OUT], y[N * OUT], want[N * OUT];
    fill(x, ATTN_F32, N * IN);
    fill(data, ATTN_F32, IN * OUT);
    fill(bias, ATTN_F32, OUT);
    fill(y, ATTN_F32, N * OUT);
    const struct attn_mat w = {.data = data, .in = IN, .out = OUT, .ld = OUT, .bias = {bias, ATTN_F32}};
    attn_gemm(alone(), s, OUT, x, IN, N, &w, ATTN_STORE, NULL);
    memcpy(want, y, sizeof want);
    for (size_t i = 0; i < N * OUT; i += OUT)
        if (epilogue == ATTN_ADD)
            attn_vec_add(want + i, s + i, OUT);
        else
            attn_vec_activate(want + i, attn_mlp_gated(attn_epilogue_mlp(epilogue)) ? want + i : s + i, s + i,
                              attn_epilogue_mlp(epilogue), OUT);
    attn_gemm(alone(), y, OUT, x, IN, N, &w, epilogue, NULL);
    ck_assert(memcmp(want, y, sizeof want) == 0);
}

/* A step fused with the product gives the same bits as one that follows it. */
START_TEST(epilogues)
{
    seed = 5;
    for (size_t i = 0; i <= mlps(); i++)
        expect_epilogue(ATTN_ADD + i);
}
END_TEST

START_TEST(an_empty_sum_is_zero)
{
    enum { N = 60, OUT = 3 };
    static const size_t rows[] = {1, 2, 5, 20, N};
    const bool transposed = _i % 2;
    const enum attn_bf16 kind = (enum attn_bf16)(_i / 2);
    float x = 1, y[N * OUT], rounded[(N + ATTN_GEMM_MORE) * ATTN_GEMM_MORE];
    const struct attn_mat w = {.data = &x, .in = 0, .out = OUT, .ld = transposed ? 0 : OUT, .transposed = transposed};
    bool can = attn_bf16_choose(kind);
    for (size_t r = 0; r < 2 * sizeof rows / sizeof *rows; r++) {
        size_t n = rows[r / 2];
        for (size_t i = 0; i < N * OUT; i++)
            y[i] = 7;
        attn_gemm(alone(), y, OUT, &x, 0, n, &w, ATTN_STORE, r % 2 && can ? rounded : NULL);
        for (size_t i = 0; i < N * OUT; i++)
            ck_assert(y[i] == (i < n * OUT ? 0 : 7));
    }
}
END_TEST

START_TEST(nothing_to_do)
{
    const struct attn_mat none = {.in = 3, .out = 0};
    attn_gemm(alone(), NULL, 0, NULL, 0, 4, &none, ATTN_STORE, NULL);
    const struct attn_mat some = {.in = 3, .out = 5};
    attn_gemm(alone(), NULL, 0, NULL, 0, 0, &some, ATTN_STORE, NULL);
}
END_TEST

Suite *suite_gemm(void)
{
    Suite *s = suite_create("gemm");
    TCase *c = tcase_create("gemm");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, few_rows_in_bf16_are_like_many, 9 * ATTN_BF16_FLOATS, 9 * ATTN_BF16_TILES + 9);
    tcase_add_loop_test(c, weights_do_not_know_each_other, 0, 4);
    tcase_add_loop_test(c, numbers_between_products, ATTN_BF16_FLOATS, ATTN_BF16_TILES + 1);
    tcase_add_loop_test(c, items_cover_a_product_once, 0, 3);
    tcase_add_test(c, every_worker_has_items);
    tcase_add_loop_test(c, any_shape_gives_the_bits_of_the_plain_loop, 0, 10);
    tcase_add_loop_test(c, awkward_shapes, 0, sizeof awkward / sizeof *awkward);
    tcase_add_test(c, one_row_reads_a_large_copy);
    tcase_add_test(c, rows_do_not_know_each_other);
    tcase_add_loop_test(c, share_of_libxsmm, 0, 4);
    tcase_add_loop_test(c, share_of_libxsmm_in_16_bits, ATTN_F16, ATTN_BF16 + 1);
    tcase_add_test(c, epilogues);
    tcase_add_loop_test(c, an_empty_sum_is_zero, 2 * ATTN_BF16_FLOATS, 2 * ATTN_BF16_TILES + 2);
    tcase_add_test(c, nothing_to_do);
    suite_add_tcase(s, c);
    return s;
}
