/* Weights in blocks against the same weights in float32: every product has the same bits. */

#include "suites.h"
#include "alone.h"

#include "compute/bf16.h"
#include "compute/dequantise.h"
#include "compute/gemm.h"
#include "compute/microkernel.h"
#include "draw.h"
#include "in_blocks.h"
#include "sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = ATTN_DEQUANTISE_ROWS };

static uint32_t seed;
static size_t pick(size_t n) { return draw_below(&seed, n); }

static void *room(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    ck_assert_ptr_nonnull(p);
    return p;
}

static float *numbers(size_t n)
{
    float *x = room(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = draw_number(&seed);
    return x;
}

static const struct attn_dequantise_ops *ops_of(int set)
{
#define SET(id, name) &attn_dequantise_##name,
    static const struct attn_dequantise_ops *const all[] = {ATTN_SIMD_SETS(SET)};
#undef SET
    return all[set];
}

/* Rows of blocks at any address, whose memory ends with the last one, and their numbers, row by row. */
struct rows { enum attn_dtype type; size_t n; char *memory[SIDE]; const void *row[SIDE]; float *number; };

static struct rows rows_of(enum attn_dtype type, size_t n, bool any_bits)
{
    struct rows r = {.type = type, .n = n, .number = room(SIDE * n * sizeof(float))};
    const size_t bytes = attn_dtype_bytes(type, n);
    for (size_t l = 0; l < SIDE; l++) {
        const size_t before = pick(3);
        r.memory[l] = room(before + bytes);
        r.row[l] = r.memory[l] + before;
        in_blocks_fill(r.memory[l] + before, type, n, &seed);
        for (size_t i = 0; any_bits && i < bytes; i++)
            r.memory[l][before + i] = (char)pick(256);
        attn_blocks_decode(r.number + l * n, r.row[l], type, 0, n);
    }
    return r;
}

static void free_rows(struct rows *r)
{
    for (size_t l = 0; l < SIDE; l++)
        free(r->memory[l]);
    free(r->number);
}

/* Each instruction set decodes rows as the plain loop does each of them, whatever bits they have. */
START_TEST(rows_side_by_side)
{
    enum { LD = SIDE + 5 };
    const enum attn_dtype type = (enum attn_dtype)(_i / 3 + ATTN_PLAIN_DTYPES);
    if (_i % 3 >= n_sets)
        return;
    const struct attn_dequantise_row *t = &ops_of(_i % 3)->of[type];
    seed = (uint32_t)_i + 1;
    for (int round = 0; round < 30; round++) {
        struct rows r = rows_of(type, attn_dtypes[type].values * (1 + pick(4)), round % 2);
        const size_t units = r.n / t->unit, first = pick(units) * t->unit,
            n = (1 + pick(units - first / t->unit)) * t->unit;
        float *y = numbers(n * LD);
        t->transpose(y, LD, r.row, first, n);
        for (size_t k = 0; k < n; k++) {
            for (size_t l = 0; l < SIDE; l++)
                ck_assert_msg(memcmp(&y[k * LD + l], &r.number[l * r.n + first + k], sizeof *y) == 0,
                              "%s: number %zu of row %zu is %a, not %a", attn_dtypes[type].name, first + k, l,
                              (double)y[k * LD + l], (double)r.number[l * r.n + first + k]);
            for (size_t l = SIDE; l < LD; l++)          /* nothing else was written */
                ck_assert(fabsf(y[k * LD + l]) <= 1);
        }
        free(y);
        free_rows(&r);
    }
}
END_TEST

/* One row of x times some rows: a chain over k ascending. */
START_TEST(one_row_of_x)
{
    const enum attn_dtype type = (enum attn_dtype)(_i / 3 + ATTN_PLAIN_DTYPES);
    if (_i % 3 >= n_sets)
        return;
    const struct attn_dequantise_row *t = &ops_of(_i % 3)->of[type];
    seed = (uint32_t)_i + 100;
    for (int round = 0; round < 10; round++) {
        struct rows r = rows_of(type, attn_dtypes[type].values * (1 + pick(4)), false);
        const size_t units = r.n / t->unit, first = pick(units) * t->unit,
            n = (1 + pick(units - first / t->unit)) * t->unit;
        float *x = numbers(n), *y = numbers(SIDE), want[SIDE];
        for (size_t l = 0; l < SIDE; l++) {
            want[l] = y[l];
            for (size_t k = 0; k < n; k++) {
                const float number = r.number[l * r.n + first + k];
                want[l] = _i % 3 ? fmaf(x[k], number, want[l]) : x[k] * number + want[l];
            }
        }
        struct attn_prefetch none = {0};
        t->one_row(y, x, r.row, first, n, &none);
        ck_assert(memcmp(y, want, sizeof want) == 0);
        free(x), free(y);
        free_rows(&r);
    }
}
END_TEST

/* A weight in blocks, and the same in float32. */
struct pair { struct attn_mat blocks, floats; };

/* Of rows stored, each of `length` numbers, with some more blocks behind. */
static struct pair pair_of(enum attn_dtype type, size_t in, size_t out, bool transposed)
{
    const size_t values = attn_dtypes[type].values, length = transposed ? in : out;
    struct pair p;
    struct attn_mat w = {.type = type, .in = in, .out = out, .transposed = transposed};
    w.ld = (length + values - 1) / values * values + values * pick(2);
    if (transposed && pick(2)) {
        w.group = 1 + pick(9);
        w.step = 2 * w.group;
    }
    const size_t rows = transposed ? attn_mat_index(&w, out - 1) + 1 : in, n = rows * w.ld;
    void *data = room(attn_dtype_bytes(type, n));
    in_blocks_fill(data, type, n, &seed);
    float *floats = room(n * sizeof *floats);
    attn_vec_widen(floats, data, type, 0, n);
    p.blocks = w, p.floats = w;
    p.blocks.data = data;
    p.floats.data = floats;
    p.floats.type = ATTN_F32;
    if (pick(2))
        p.blocks.bias = p.floats.bias = (struct attn_vec){numbers(2 * out), ATTN_F32};
    return p;
}

static void free_pair(struct pair *p)
{
    free((void *)p->blocks.data);
    free((void *)p->floats.data);
    free((void *)p->blocks.bias.data);
}

static void same_product(struct attn_team *team, const struct attn_mat *blocks, const struct attn_mat *floats, size_t n,
                         bool rounded)
{
    const size_t in = blocks->in, out = blocks->out, ldx = in + pick(3), ldy = out + 3;
    float *x = numbers(n * ldx), *want = room(n * ldy * sizeof *want), *y = room(n * ldy * sizeof *y);
    float *scratch = room((n + ATTN_GEMM_MORE) * (in + ATTN_GEMM_MORE) * sizeof *scratch);
    memset(want, 0xff, n * ldy * sizeof *want);
    memset(y, 0xff, n * ldy * sizeof *y);
    attn_gemm(alone(), want, ldy, x, ldx, n, floats, ATTN_STORE, rounded ? scratch : NULL);
    attn_gemm(team ? team : alone(), y, ldy, x, ldx, n, blocks, ATTN_STORE, rounded ? scratch : NULL);
    ck_assert_msg(memcmp(y, want, n * ldy * sizeof *y) == 0,
                  "%s, %zu rows, %zu to %zu%s%s", attn_dtypes[blocks->type].name, n, in,
                  out, blocks->transposed ? ", by outputs" : "", rounded ? ", in bf16" : "");
    free(x), free(want), free(y), free(scratch);
}

/* Numbers of rows of x. */
static const size_t rows_tried[] = {1, 1, 2, 3, 5, 6, 7, 12, 13, 17, 33, 48, 49, 100, 265, 600};

START_TEST(products)
{
    const enum attn_dtype type = (enum attn_dtype)(_i / 2 + ATTN_PLAIN_DTYPES);
    const bool transposed = _i % 2;
    struct attn_team *team[3] = {NULL};
    ck_assert_int_eq(attn_team_new(&team[1], 2, NULL), 0);
    ck_assert_int_eq(attn_team_new(&team[2], 5, NULL), 0);
    seed = (uint32_t)_i + 200;
    for (size_t i = 0; i < 2 * sizeof rows_tried / sizeof *rows_tried; i++) {
        const size_t n = rows_tried[i / 2], values = attn_dtypes[type].values;
        const size_t stored = values * (1 + pick(values == 32 ? 20 : 4)), other = 1 + pick(n > 100 ? 150 : 1200);
        struct pair p = pair_of(type, transposed ? stored : other, transposed ? other : stored, transposed);
        for (int kernels = 0; kernels <= 1; kernels++)
            if (attn_microkernel_choose(kernels))
                same_product(team[i % 3], &p.blocks, &p.floats, n, false);
        for (int kind = ATTN_BF16_FLOATS; kind <= ATTN_BF16_TILES; kind++)
            if (attn_bf16_choose((enum attn_bf16)kind))
                same_product(team[i % 3], &p.blocks, &p.floats, n, true);
        free_pair(&p);
    }
    attn_team_free(team[1]);
    attn_team_free(team[2]);
}
END_TEST

/* Some inputs of a weight, as those of a head, which need not begin where a block does. */
START_TEST(some_inputs)
{
    const enum attn_dtype type = (enum attn_dtype)(_i / 2 + ATTN_PLAIN_DTYPES);
    seed = (uint32_t)_i + 300;
    for (size_t i = 0; i < sizeof rows_tried / sizeof *rows_tried; i++) {
        const size_t in = 512, n = rows_tried[i];
        struct pair p = pair_of(type, in, 1 + pick(200), _i % 2);
        for (int round = 0; round < 3; round++) {
            const size_t first = pick(in), some = 1 + pick(in - first);
            const struct attn_mat blocks = attn_mat_inputs(&p.blocks, first, some),
                floats = attn_mat_inputs(&p.floats, first, some);
            same_product(NULL, &blocks, &floats, n, false);
            same_product(NULL, &blocks, &floats, n, true);
        }
        free_pair(&p);
    }
}
END_TEST

/* Matrices of several types are multiplied in one call. */
START_TEST(mixed_types)
{
    enum { IN = 512, MOST = 300 };
    static const enum attn_dtype types[][ATTN_GEMM_EACH] = {
        {ATTN_Q4_K, ATTN_Q4_K, ATTN_Q6_K}, {ATTN_F32, ATTN_Q8_0, ATTN_Q4_K}, {ATTN_Q3_K, ATTN_F32, ATTN_IQ4_NL}};
    static const size_t lengths[] = {1, 4, 9, 40, 70};
    seed = (uint32_t)_i + 400;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t n = lengths[i];
        struct pair p[ATTN_GEMM_EACH];
        struct attn_product each[ATTN_GEMM_EACH], wanted[ATTN_GEMM_EACH];
        float *x = numbers(n * IN);
        for (int j = 0; j < ATTN_GEMM_EACH; j++) {
            const enum attn_dtype type = types[_i][j];
            p[j] = pair_of(type == ATTN_F32 ? ATTN_Q8_0 : type, IN, 1 + pick(MOST), true);
            each[j] = (struct attn_product){numbers(n * MOST), MOST, type == ATTN_F32 ? &p[j].floats : &p[j].blocks};
            wanted[j] = (struct attn_product){numbers(n * MOST), MOST, &p[j].floats};
        }
        attn_gemm_each(alone(), each, ATTN_GEMM_EACH, x, IN, n, ATTN_STORE, NULL, NULL);
        attn_gemm_each(alone(), wanted, ATTN_GEMM_EACH, x, IN, n, ATTN_STORE, NULL, NULL);
        for (int j = 0; j < ATTN_GEMM_EACH; j++) {
            for (size_t r = 0; r < n; r++)
                ck_assert(memcmp(each[j].y + r * MOST, wanted[j].y + r * MOST, p[j].blocks.out * sizeof(float)) == 0);
            free(each[j].y), free(wanted[j].y);
            free_pair(&p[j]);
        }
        free(x);
    }
}
END_TEST

Suite *suite_dequantise(void)
{
    enum { TYPES = ATTN_DTYPES - ATTN_PLAIN_DTYPES };
    Suite *s = suite_create("dequantise");
    TCase *tc = tcase_create("core");
    tcase_add_checked_fixture(tc, find_sets, NULL);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, rows_side_by_side, 0, 3 * TYPES);
    tcase_add_loop_test(tc, one_row_of_x, 0, 3 * TYPES);
    tcase_add_loop_test(tc, products, 0, 2 * TYPES);
    tcase_add_loop_test(tc, some_inputs, 0, 2 * TYPES);
    tcase_add_loop_test(tc, mixed_types, 0, 3);
    suite_add_tcase(s, tc);
    return s;
}
