/* Kinds of attention: how they are written, and each compared with a plain reference in double precision. */

#include "suites.h"
#include "draw.h"

#include "attn.h"
#include "worse.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { H = 4, HKV = 2, DH = 5, DV = 3, MOST = 513 };

/* ---- as they are typed ---- */

START_TEST(texts_are_read)
{
    static const struct { const char *text; struct attn_kind kind; } good[] = {
        {"model", {.form = ATTN_MODEL}}, {"full", {.form = ATTN_FULL}}, {"causal", {.form = ATTN_CAUSAL}},
        {"causal-renorm", {.form = ATTN_CAUSAL_RENORM}}, {"window:1", {.form = ATTN_WINDOW, .w = 1}},
        {"strided:4,16", {.form = ATTN_STRIDED, .w = 4, .s = 16}},
        {"random:2,0,18446744073709551615", {.form = ATTN_RANDOM, .w = 2, .r = 0, .seed = UINT64_MAX}},
        {"linear", {.form = ATTN_LINEAR}}, {"block:2147483647", {.form = ATTN_BLOCK, .b = 2147483647}}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct attn_kind k = {.dropout = 0.5, .scaling = ATTN_SCALE_NONE};
        char text[ATTN_KIND_TEXT];
        ck_assert_int_eq(attn_kind_parse(&k, good[i].text, NULL), ATTN_OK);
        ck_assert(k.form == good[i].kind.form && k.w == good[i].kind.w && k.s == good[i].kind.s &&
                  k.r == good[i].kind.r &&
                  k.b == good[i].kind.b && k.seed == good[i].kind.seed);
        ck_assert(k.dropout == 0.5 && k.scaling == ATTN_SCALE_NONE);
        ck_assert_str_eq(attn_kind_text(text, &k), good[i].text);
    }
}
END_TEST

/* The rows are in the order of the enum, and each form becomes a text that is read when its letters become numbers. */
START_TEST(rows_are_what_is_read)
{
    int form = 0;
    for (const struct attn_kind_row *row = NULL; (row = attn_kind_next(row)); form++) {
        struct attn_kind k = {0};
        char text[ATTN_KIND_TEXT], back[ATTN_KIND_TEXT];
        size_t n = strcspn(row->form, ":");
        memcpy(text, row->form, n);
        for (const char *c = row->form + n; *c; c++)
            if (*c == ':' || *c == ',') {
                text[n++] = *c;
                text[n++] = '3';
            }
        text[n] = '\0';
        ck_assert_msg(attn_kind_parse(&k, text, NULL) == ATTN_OK, "'%s'", text);
        ck_assert_int_eq(k.form, form);
        ck_assert_str_eq(attn_kind_text(back, &k), text);
        ck_assert(row->help && *row->help);
    }
    ck_assert_int_eq(form, ATTN_MASKED);
}
END_TEST

START_TEST(wrong_texts_show_the_form)
{
    static const struct { const char *text, *form; } bad[] = {
        {"", "window:W"}, {"windows", "strided:W,S"}, {"Window:1", "block:B"}, {"window", "window:W"},
        {"window:", "window:W"},
        {"window:0", "window:W"}, {"window:-1", "window:W"}, {"window:+1", "window:W"}, {"window: 1", "window:W"},
        {"window:1 ", "window:W"}, {"window:1,2", "window:W"}, {"window:1.5", "window:W"}, {"window:1x", "window:W"},
        {"window:2147483648", "window:W"}, {"window:99999999999999999999", "window:W"}, {"strided:4", "strided:W,S"},
        {"strided:4,", "strided:W,S"}, {"strided:4,0", "strided:W,S"}, {"strided:,4", "strided:W,S"},
        {"strided:0,4", "strided:W,S"},
        {"strided:1,2,3", "strided:W,S"}, {"random:1,2", "random:W,R,SEED"}, {"random:0,1,2", "random:W,R,SEED"},
        {"random:1,2,3,4", "random:W,R,SEED"}, {"random:1,2,18446744073709551616", "random:W,R,SEED"},
        {"block:0", "block:B"},
        {"block", "block:B"}, {"full:1", "full"}, {"model:", "model"}, {"linear:2", "linear"},
        {"causal-renorm:", "causal-renorm"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct attn_kind k = {.w = 77};
        struct attn_err err = {0};
        ck_assert_msg(attn_kind_parse(&k, bad[i].text, &err) == ATTN_EUSAGE, "'%s'", bad[i].text);
        ck_assert_msg(strstr(err.msg, bad[i].form) != NULL, "'%s': %s", bad[i].text, err.msg);
        ck_assert(k.w == 77 && k.form == ATTN_MODEL);
    }
}
END_TEST

/* ---- the reference ---- */

static float *q, *k, *v, *context, *again, *dots, *scores, *pattern, *copy;
static uint8_t mask[MOST * MOST];

static void setup(void)
{
    q = calloc(H * MOST * DH, sizeof *q);
    k = calloc(HKV * MOST * DH, sizeof *k);
    v = calloc(HKV * MOST * DV, sizeof *v);
    context = calloc(H * MOST * DV, sizeof *context);
    again = calloc(H * MOST * DV, sizeof *again);
    dots = calloc(H * MOST * MOST, sizeof *dots);
    scores = calloc(H * MOST * MOST, sizeof *scores);
    pattern = calloc(H * MOST * MOST, sizeof *pattern);
    copy = calloc(H * MOST * MOST, sizeof *copy);
    draw_numbers(q, H * MOST * DH, 1);
    draw_numbers(k, HKV * MOST * DH, 2);
    draw_numbers(v, HKV * MOST * DV, 3);
}

static void teardown(void)
{
    float *all[] = {q, k, v, context, again, dots, scores, pattern, copy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Adds the keys that a query of the kind `random` sees before its window, by shuffling a complete list. */
static void deal(const struct attn_kind *kind, size_t t, size_t T)
{
    size_t n = t + 1 > kind->w ? t + 1 - kind->w : 0, list[MOST];
    uint64_t state = kind->seed + t;
    for (size_t i = 0; i < n; i++)
        list[i] = i;
    for (size_t i = 0; i < kind->r && i < n; i++) {
        size_t j = i + (size_t)(next(&state) % (n - i)), was = list[i];
        list[i] = list[j];
        list[j] = was;
        mask[t * T + list[i]] = 1;
    }
}

/* The mask that the kind's definition spells out. */
static void make_mask(const struct attn_kind *kind, size_t T)
{
    memset(mask, 0, sizeof mask);
    for (size_t t = 0; t < T; t++) {
        for (size_t j = 0; j < T; j++) {
            bool past = j <= t, near = past && t - j < kind->w;
            switch (kind->form) {
            case ATTN_FULL: mask[t * T + j] = 1; break;
            case ATTN_WINDOW: case ATTN_RANDOM: mask[t * T + j] = near; break;
            case ATTN_STRIDED: mask[t * T + j] = near || (past && (t - j) % kind->s == 0); break;
            case ATTN_LINEAR: case ATTN_BLOCK: mask[t * T + j] = past || !kind->causal; break;
            default: mask[t * T + j] = past;
            }
        }
        if (kind->form == ATTN_RANDOM)
            deal(kind, t, T);
    }
}

static double phi(double x) { return x > 0 ? x + 1 : exp(x); }

static double factor(const struct attn_kind *kind, size_t h, size_t t, size_t j)
{
    uint64_t s = kind->dropout_seed, x;
    s = next(&s);                       /* layer 0 */
    x = s + h;
    x = next(&x) + t;
    x = next(&x) + j;
    return kind->dropout > 0 && (double)(next(&x) >> 11) * 0x1p-53 < kind->dropout ? 0 : 1 / (1 - kind->dropout);
}

/* The error of a row against the reference; infinite if a hidden key has a weight. */
static double error_of_row(const struct attn_attention *a, size_t h, size_t t)
{
    double error = 0;
    size_t T = a->Tk;
    const float *x = q + (h * T + t) * DH, *keys = k + h / 2 * T * DH, *values = v + h / 2 * T * DV;
    double weight[MOST], sum = 0, want[DV] = {0};
    for (size_t j = 0; j < T; j++) {
        double dot = 0;
        for (size_t i = 0; i < DH; i++)
            dot += a->kind.form == ATTN_LINEAR ? phi((double)x[i]) * phi((double)keys[j * DH + i]) :
                (double)x[i] * (double)keys[j * DH + i];
        weight[j] = !mask[t * T + j] ? 0 : a->kind.form == ATTN_LINEAR ? dot : exp(dot * (double)a->scale);
        sum += weight[j];
    }
    for (size_t j = 0; j < T; j++) {
        weight[j] *= factor(&a->kind, h, t, j) / sum;
        double is = (double)pattern[(h * T + t) * T + j];
        error = worse(error, mask[t * T + j] || is == 0 ? fabs(is - weight[j]) : INFINITY);
        for (size_t i = 0; i < DV; i++)
            want[i] += weight[j] * (double)values[j * DV + i];
    }
    for (size_t i = 0; i < DV; i++)
        error = worse(error, fabs((double)context[(h * T + t) * DV + i] - want[i]));
    return error;
}

static const struct attn_kind kinds[] = {
    {.form = ATTN_FULL}, {.form = ATTN_CAUSAL}, {.form = ATTN_CAUSAL_RENORM}, {.form = ATTN_WINDOW, .w = 1},
    {.form = ATTN_WINDOW, .w = 100}, {.form = ATTN_STRIDED, .w = 1, .s = 1}, {.form = ATTN_STRIDED, .w = 4, .s = 5},
    {.form = ATTN_STRIDED, .w = 600, .s = 600}, {.form = ATTN_RANDOM, .w = 1, .r = 0},
    {.form = ATTN_RANDOM, .w = 3, .r = 4, .seed = 42},
    {.form = ATTN_RANDOM, .w = 2, .r = 600, .seed = UINT64_MAX}, {.form = ATTN_LINEAR},
    {.form = ATTN_LINEAR, .causal = true},
    {.form = ATTN_BLOCK, .b = 1, .causal = true}, {.form = ATTN_BLOCK, .b = 2},
    {.form = ATTN_BLOCK, .b = 7, .causal = true},
    {.form = ATTN_BLOCK, .b = 16, .causal = true}, {.form = ATTN_BLOCK, .b = 64},
    {.form = ATTN_BLOCK, .b = 513, .causal = true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct attn_attention plain(int i, size_t T)
{
    return (struct attn_attention){.batch = 1, .H = H, .Hkv = HKV, .Tq = T, .Tk = T, .dh = DH, .dv = DV, .scale = 0.7f,
                                   .kind = kinds[i], .pattern = pattern, .threads = 2};
}

static void attend(float *out, const struct attn_attention *a)
{
    struct attn_err err = {0};
    memset(out, 0xff, H * MOST * DV * sizeof *out);
    ck_assert_msg(!attn_attention(out, q, k, v, a, &err), "%s", err.msg);
}

static void expect_close(size_t T, double tolerance)
{
    double most = 0;
    for (size_t i = 0; i < H * T * DV; i++)
        most = worse(most, isfinite(context[i]) ? fabs((double)context[i] - (double)again[i]) : INFINITY);
    ck_assert_double_le(most, tolerance);
}

static const size_t lengths[] = {1, 2, 17, MOST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Sums of at most 513 numbers of order 1 leave float32 about 1e-6 off double precision; `linear` sums before it applies
 * weights, which takes more. */
START_TEST(every_kind_is_its_reference)
{
    size_t T = lengths[_i % LENGTHS];
    struct attn_attention a = plain(_i / LENGTHS, T);
    make_mask(&a.kind, T);
    for (int dropped = 0; dropped < 2; dropped++) {
        a.kind.dropout = dropped ? 0.3 : 0;
        a.kind.dropout_seed = 7;
        attend(context, &a);
        for (size_t h = 0; h < H; h++)
            for (size_t t = 0; t < T; t++) {
                double error = error_of_row(&a, h, t), most = a.kind.form == ATTN_LINEAR ? 5e-6 : 2e-6;
                if (!(error <= most))   /* an assertion for each would be slow */
                    ck_abort_msg("kind %d, dropout %g, head %zu, row %zu: %g", _i / LENGTHS, a.kind.dropout,
                                 h, t, error);
            }
    }
}
END_TEST

/* The bits must not depend on observers, the number of threads, or what else is computed. */
START_TEST(every_kind_keeps_its_bits)
{
    size_t T = lengths[_i % LENGTHS], bytes = H * T * DV * sizeof *context;
    struct attn_attention a = plain(_i / LENGTHS, T);
    for (int dropped = 0; dropped < 2; dropped++) {
        a.kind.dropout = dropped ? 0.3 : 0;
        a.threads = 1;
        a.dots = a.scores = a.pattern = NULL;
        attend(again, &a);
        a.pattern = pattern;
        a.threads = 3;
        attend(context, &a);
        ck_assert_mem_eq(context, again, bytes);
        if (a.kind.form == ATTN_LINEAR)
            continue;
        a.dots = dots;
        a.scores = scores;
        a.pattern = copy;
        attend(context, &a);
        ck_assert_mem_eq(context, again, bytes);
        ck_assert_mem_eq(copy, pattern, H * T * T * sizeof *copy);
    }
}
END_TEST

START_TEST(a_batch_is_its_sentences)
{
    enum { T = 40, B = 5 };
    struct attn_attention a = plain(_i, T);
    a.H = a.Hkv = 2;
    a.batch = B;
    a.pattern = NULL;
    a.kind.dropout = 0.1;
    attend(context, &a);
    a.batch = 1;
    for (size_t b = 0; b < B; b++) {
        size_t each = 2 * T;
        ck_assert(!attn_attention(again, q + b * each * DH, k + b * each * DH, v + b * each * DV, &a, NULL));
        ck_assert_mem_eq(again, context + b * each * DV, each * DV * sizeof *again);
    }
}
END_TEST

static void expect_same(struct attn_kind one, struct attn_kind other, size_t T)
{
    struct attn_attention a = plain(0, T);
    a.kind = one;
    attend(context, &a);
    a.kind = other;
    a.pattern = copy;
    attend(again, &a);
    ck_assert_mem_eq(context, again, H * T * DV * sizeof *again);
    ck_assert_mem_eq(pattern, copy, H * T * T * sizeof *copy);
}

START_TEST(a_window_of_everything_is_causal)
{
    for (size_t i = 0; i < LENGTHS; i++) {
        size_t T = lengths[i];
        const struct attn_kind causal = {.form = ATTN_CAUSAL};
        expect_same((struct attn_kind){.form = ATTN_WINDOW, .w = T}, causal, T);
        expect_same((struct attn_kind){.form = ATTN_WINDOW, .w = 2147483647}, causal, T);
        expect_same((struct attn_kind){.form = ATTN_STRIDED, .w = 3, .s = 1}, causal, T);
        expect_same((struct attn_kind){.form = ATTN_RANDOM, .w = 3, .r = T, .seed = 1}, causal, T);
    }
}
END_TEST

START_TEST(a_note_is_all_that_is_not_the_models_own)
{
    char buf[ATTN_KIND_NOTE];
    ck_assert_str_eq(attn_kind_note(buf, &(struct attn_kind){0}), "");
    struct attn_kind of = {.form = ATTN_WINDOW, .w = 4, .scaling = ATTN_SCALE_VALUE, .scale = 0.5, .dropout = 0.1};
    ck_assert_ptr_eq(attn_kind_note(buf, &of), buf);
    ck_assert_str_eq(buf, ", window:4, scale 0.5, dropout 0.1 (seed 0)");
    of = (struct attn_kind){.form = ATTN_RANDOM, .w = SIZE_MAX, .r = SIZE_MAX, .seed = UINT64_MAX,
                            .scaling = ATTN_SCALE_VALUE,
                            .scale = -1.2345678901234567e-300, .dropout = 0.12345678901234567,
                            .dropout_seed = UINT64_MAX};
    ck_assert_str_eq(attn_kind_note(buf, &of),
                     /* the longest */
                     ", random:18446744073709551615,18446744073709551615,18446744073709551615, scale "
                     "-1.2345678901234568e-300, dropout 0.12345678901234566 (seed 18446744073709551615)");
}
END_TEST

/* The result is that of dense attention under a mask made by the kind's definition. */
START_TEST(sparse_is_dense_under_its_mask)
{
    struct attn_attention a = plain(_i, MOST);
    make_mask(&a.kind, MOST);
    attend(context, &a);
    a.kind = (struct attn_kind){.form = ATTN_MASKED};
    a.mask = mask;
    attend(again, &a);
    expect_close(MOST, 1e-6);           /* the softmax sums in another order */
}
END_TEST

/* The largest scores come last, so that sums are rescaled at every block; also with a negative scale. */
START_TEST(blocks_rescale)
{
    static const size_t blocks[] = {1, 2, 7, 16, 63, 64, 65, 200};
    enum { T = 200 };
    for (size_t t = 0; t < HKV * T * DH; t++)
        k[t] += (float)(t / DH % T) * 0.2f;
    for (int below = 0; below < 2; below++) {
        struct attn_attention a = plain(1, T);
        a.scale = below ? -3 : 3;
        attend(again, &a);
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
            a.kind = (struct attn_kind){.form = ATTN_BLOCK, .b = blocks[i], .causal = true};
            a.pattern = NULL;
            attend(context, &a);
            expect_close(T, 1e-4);      /* scores of up to 600 are rounded by 3e-5, and so are their weights */
        }
    }
}
END_TEST

/* ---- rows that are lost ---- */

/* One head, and one number per key. */
static struct attn_attention narrow(enum attn_form form, size_t T)
{
    return (struct attn_attention){.batch = 1, .H = 1, .Hkv = 1, .Tq = T, .Tk = T, .dh = 1, .dv = DV, .scale = 1,
                                   .threads = 1, .kind = {.form = form, .causal = true, .b = 2}};
}

/* Computes without and with the pattern, which must give the same bits. */
static void attend_twice(struct attn_attention *a)
{
    attend(again, a);
    a->pattern = pattern;
    attend(context, a);
    a->pattern = NULL;
    ck_assert_mem_eq(context, again, a->Tq * DV * sizeof *again);
}

static void expect_zeros(const float *x, size_t n)
{
    static const float zeros[MOST];
    ck_assert_mem_eq(x, zeros, n * sizeof *x);
}

/* Weights near the smallest float have few bits: a row that is not lost may be off by a millionth of itself. */
START_TEST(linear_loses_rows_of_tiny_weights)
{
    enum { T = 3 };
    struct attn_attention a = narrow(ATTN_LINEAR, T);
    for (double x = -40; x > -110; x -= 0.5) {
        for (size_t i = 0; i < T; i++)
            q[i] = k[i] = (float)x;
        attend_twice(&a);
        for (size_t t = 0; t < T; t++) {
            const float *row = pattern + t * T, *c = context + t * DV;
            if ((double)(t + 1) * exp(2 * x) < (double)FLT_MIN) {
                expect_zeros(row, T);
                expect_zeros(c, DV);
                continue;
            }
            for (size_t j = 0; j < T; j++)
                ck_assert_float_eq_tol(row[j], j <= t ? 1 / (float)(t + 1) : 0, 1e-6f);
            ck_assert_float_eq_tol(c[0],
                                   (v[0] + (t > 0 ? v[DV] : 0) + (t > 1 ? v[2 * DV] : 0)) / (float)(t + 1), 1e-6f);
        }
    }
}
END_TEST

/* Expects so many rows whose dots overflow, and that the first `lost` rows, which see no other dots, are NaN; with the
 * pattern and without it. */
static void expect_overflow(struct attn_attention a, size_t rows, size_t lost)
{
    struct attn_lost found;
    a.refuse_empty = true;
    a.overflow = &found;
    for (int shown = 0; shown < 2; shown++) {
        struct attn_err err = {0};
        a.pattern = shown ? pattern : NULL;
        ck_assert_msg(!attn_attention(context, q, k, v, &a, &err), "%s", err.msg);
        ck_assert_uint_eq(found.rows, rows);
        for (size_t i = 0; i < a.Tq * DV; i++)
            ck_assert(!isnan(context[i]) == (i >= lost * DV));
    }
}

/* Expects as many lost rows without and with the pattern. */
static void expect_lost(struct attn_attention a, size_t rows)
{
    a.refuse_empty = true;
    for (int shown = 0; shown < 2; shown++) {
        struct attn_err err = {0};
        char want[32];
        snprintf(want, sizeof want, "%zu of %zu rows ", rows, a.H * a.Tq);
        a.pattern = shown ? pattern : NULL;
        ck_assert_int_eq(attn_attention(context, q, k, v, &a, &err), rows ? ATTN_EFORMAT : ATTN_OK);
        ck_assert_msg(!rows || !strncmp(err.msg, want, strlen(want)), "%s", err.msg);
    }
}

/* Dot products beyond float32's range: beside others, keys with a score of -inf have no weight, in whichever
 * block they are. */
START_TEST(blocks_lose_what_causal_loses)
{
    enum { T = 9, NONE = 8 };
    static float want[T * DV];
    struct attn_attention a = narrow(ATTN_CAUSAL, T);
    for (int i = 0; i < T; i++) {
        q[i] = 1e20f;
        k[i] = i % NONE == _i ? 1e-20f : -1e20f;
    }
    for (a.kind.b = 0; a.kind.b <= T; a.kind.b++) {
        attend_twice(&a);
        if (a.kind.form == ATTN_CAUSAL)
            memcpy(want, context, sizeof want);
        size_t lost = _i == NONE ? T : (size_t)_i;
        /* weights of 1, 1/2 and 0 */
        ck_assert_mem_eq(context + lost * DV, want + lost * DV, (T - lost) * DV * sizeof *want);
        expect_overflow(a, _i ? T : T - 1, lost);
        a.kind.form = ATTN_BLOCK;
    }
}
END_TEST

/* Dot products that only the scale takes beyond float32's range, whether it is applied before the softmax or in it. */
START_TEST(looking_at_scores_loses_no_row_more)
{
    enum { T = 5 };
    struct attn_attention a = narrow(_i ? ATTN_CAUSAL : ATTN_STRIDED, T);
    a.kind.w = a.kind.s = 1;
    a.scale = 4;
    for (int i = 0; i < T; i++) {
        q[i] = 1;
        k[i] = i < 3 ? -1e38f : 0;
    }
    attend_twice(&a);
    a.scores = scores;
    attend(again, &a);
    a.scores = NULL;
    ck_assert_mem_eq(context, again, T * DV * sizeof *again);
    expect_overflow(a, T, 3);
}
END_TEST

/* The second of two heads loses its rows. */
START_TEST(lost_rows_are_counted_once)
{
    enum { T = 3 };
    struct attn_attention a = narrow(ATTN_LINEAR, T);
    struct attn_err err = {0};
    a.H = a.Hkv = 2;
    for (size_t i = 0; i < 2 * T; i++)
        q[i] = k[i] = i < T ? 1 : -60;
    expect_lost(a, T);
    a.refuse_empty = true;
    ck_assert_int_eq(attn_attention(context, q, k, v, &a, &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "the first in sentence 0, head 1, row 0"));
}
END_TEST

/* Queries in the middle of a text, which must not read keys that are absent. */
START_TEST(queries_may_begin_anywhere)
{
    enum { T = 90, FROM = 50, SOME = 20 };
    struct attn_attention a = plain(_i, T);
    a.H = a.Hkv = 1;
    a.pattern = NULL;
    a.kind.dropout = 0.2;
    attend(context, &a);
    a.Tq = SOME;
    a.pos = FROM;
    ck_assert(!attn_attention(again, q + FROM * DH, k, v, &a, NULL));
    ck_assert_mem_eq(again, context + FROM * DV, SOME * DV * sizeof *again);
    a.Tk = 3;
    ck_assert(!attn_attention(again, q, k, v, &a, NULL));
    for (size_t i = 0; i < SOME * DV; i++)
        ck_assert(isfinite(again[i]));
}
END_TEST

/* Of the queries 100 to 107, two are whole strides after the only key. */
START_TEST(strides_may_miss_all_keys)
{
    struct attn_attention a = narrow(ATTN_STRIDED, 8);
    a.Tk = 1;
    a.pos = 100;
    a.kind.w = 1;
    a.kind.s = 4;
    expect_lost(a, 6);
}
END_TEST

START_TEST(scales_take_the_place_of_the_own)
{
    static const struct { enum attn_scaling how; float scale; } ways[] = {
        {ATTN_SCALE_NONE, 1}, {ATTN_SCALE_SQRT, 0.447213596f}, {ATTN_SCALE_VALUE, 0}, {ATTN_SCALE_VALUE, -2}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct attn_attention a = plain(1, 17);
        a.scale = ways[i].scale;
        attend(context, &a);
        a.scale = 123;
        a.kind.scaling = ways[i].how;
        a.kind.scale = ways[i].scale;
        attend(again, &a);
        ck_assert_mem_eq(context, again, H * 17 * DV * sizeof *again);
    }
}
END_TEST

START_TEST(nonsense_is_refused)
{
    static const struct attn_kind bad[] = {
        {.form = ATTN_WINDOW}, {.form = ATTN_STRIDED, .w = 1}, {.form = ATTN_STRIDED, .s = 1},
        {.form = ATTN_RANDOM, .r = 1},
        {.form = ATTN_BLOCK}, {.form = ATTN_MASKED}, {.form = ATTN_MASKED + 1}, {.dropout = 1}, {.dropout = -0.1},
        {.dropout = NAN}};
    struct attn_attention a = plain(0, 17);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        a.kind = bad[i];
        ck_assert_int_eq(attn_attention(context, q, k, v, &a, NULL), ATTN_EUSAGE);
    }
    a = plain(0, 17);
    a.pos = SIZE_MAX - 3;
    ck_assert_int_eq(attn_attention(context, q, k, v, &a, NULL), ATTN_EUSAGE);
    a.pos = 0;
    a.kind.form = ATTN_LINEAR;
    a.scores = scores;
    ck_assert_int_eq(attn_attention(context, q, k, v, &a, NULL), ATTN_EUSAGE);
}
END_TEST

Suite *suite_kinds(void)
{
    Suite *s = suite_create("kinds");
    TCase *c = tcase_create("kinds");
    tcase_set_timeout(c, 30);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, texts_are_read);
    tcase_add_test(c, rows_are_what_is_read);
    tcase_add_test(c, wrong_texts_show_the_form);
    tcase_add_loop_test(c, every_kind_is_its_reference, 0, KINDS * LENGTHS);
    tcase_add_loop_test(c, every_kind_keeps_its_bits, 0, KINDS * LENGTHS);
    tcase_add_loop_test(c, a_batch_is_its_sentences, 0, KINDS);
    tcase_add_test(c, a_window_of_everything_is_causal);
    tcase_add_loop_test(c, sparse_is_dense_under_its_mask, 5, 11);
    tcase_add_test(c, a_note_is_all_that_is_not_the_models_own);
    tcase_add_test(c, blocks_rescale);
    tcase_add_test(c, linear_loses_rows_of_tiny_weights);
    tcase_add_loop_test(c, blocks_lose_what_causal_loses, 0, 9);
    tcase_add_loop_test(c, looking_at_scores_loses_no_row_more, 0, 2);
    tcase_add_test(c, lost_rows_are_counted_once);
    tcase_add_loop_test(c, queries_may_begin_anywhere, 0, KINDS);
    tcase_add_test(c, strides_may_miss_all_keys);
    tcase_add_test(c, scales_take_the_place_of_the_own);
    tcase_add_test(c, nonsense_is_refused);
    suite_add_tcase(s, c);
    return s;
}
