/* The definition of attention: it gives what paper and pencil give, and what is fast agrees with it. */

#include "suites.h"
#include "draw.h"

#include "attn.h"
#include "compute/attention.h"
#include "compute/attention_f64.h"

#include <math.h>
#include <string.h>

/* Dots of ln 1, ln 2 and ln 3 make weights of 1, 2 and 3 parts: exp undoes ln.  One ulp of ln 3 is 1.2e-7. */
START_TEST(weights_can_be_computed_in_the_head)
{
    const float q[] = {1, 1, 1}, k[] = {0, logf(2), logf(3)}, v[] = {1, 10, 100};
    const float weights[] = {1, 0, 0, 1 / 3.0f, 2 / 3.0f, 0, 1 / 6.0f, 2 / 6.0f, 3 / 6.0f}, contexts[] = {1, 7, 53.5f};
    float context[3], pattern[9];
    attn_attention_plain(context, pattern, q, k, v, 3, 3, 1, 1, 0, 1);
    for (size_t i = 0; i < 9; i++)
        ck_assert_float_le(fabsf(pattern[i] - weights[i]), 2.4e-7f * weights[i]);
    for (size_t t = 0; t < 3; t++)
        ck_assert_float_le(fabsf(context[t] - contexts[t]), 2.4e-7f * contexts[t]);
}
END_TEST

/* "Your journey starts", the first words of an article's sentence, without weights: x is queries, keys and values.  The
 * article prints their dots, 0.9995; 0.9544, 1.4950; 0.9422, 1.4754, 1.4570.  So row 1 is 1 / (1 + exp(1.4950 -
 * 0.9544)) = 0.3680 and its rest, row 2 is 2.5656, 4.3728 and 4.2931 parts of 11.2315: four digits by hand. */
START_TEST(three_words_of_an_article)
{
    const float x[] = {0.43f, 0.15f, 0.89f, 0.55f, 0.87f, 0.66f, 0.57f, 0.85f, 0.64f};
    const float weights[] = {1, 0, 0, 0.3680f, 0.6320f, 0, 0.2284f, 0.3893f, 0.3822f};
    const float contexts[] = {0.43f, 0.15f, 0.89f, 0.5058f, 0.6050f, 0.7447f, 0.5302f, 0.6979f, 0.7049f};
    float context[9], pattern[9];
    attn_attention_plain(context, pattern, x, x, x, 3, 3, 3, 3, 0, 1);
    for (size_t i = 0; i < 9; i++) {
        ck_assert_float_le(fabsf(pattern[i] - weights[i]), 1e-4f);
        ck_assert_float_le(fabsf(context[i] - contexts[i]), 1e-4f);
    }
}
END_TEST

/* A later key is not seen, whatever it and its value are; queries that continue a text see what came before. */
START_TEST(the_mask_is_causal)
{
    const float q[] = {1, -2}, good[] = {0.5f, -1, 2}, bad[] = {0.5f, -1, NAN}, v[] = {3, 4, NAN};
    float context[2], pattern[6], again[2], masked[6];
    attn_attention_plain(context, pattern, q, good, v, 2, 3, 1, 1, 0, 0.7f);
    attn_attention_plain(again, masked, q, bad, v, 2, 3, 1, 1, 0, 0.7f);
    ck_assert(memcmp(context, again, sizeof again) == 0 && memcmp(pattern, masked, sizeof masked) == 0);
    ck_assert(context[0] == 3 && pattern[0] == 1 && pattern[1] == 0 && pattern[2] == 0 && pattern[5] == 0);
    /* the second query alone, at position 1 */
    attn_attention_plain(again, masked, q + 1, good, v, 1, 3, 1, 1, 1, 0.7f);
    ck_assert(again[0] == context[1] && memcmp(masked, pattern + 3, sizeof masked / 2) == 0);
}
END_TEST

/* ---- what is fast ---- */

enum { H = 4, HKV = 2, TQ = 70, TK = 90, DH = 5, DV = 3 };
static float q[H * TQ * DH], k[HKV * TK * DH], v[HKV * TK * DV], pattern[H * TQ * TK], context[H * TQ * DV];

/* Dense, block by block, and gathered key by key where all keys are picked. */
static const struct attn_kind kinds[] = {
    {.form = ATTN_CAUSAL}, {.form = ATTN_BLOCK, .b = 16, .causal = true}, {.form = ATTN_STRIDED, .w = 1, .s = 1}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct attn_attention fast(const struct attn_kind *kind, size_t pos, bool watched)
{
    return (struct attn_attention){.batch = 1, .H = H, .Hkv = HKV, .Tq = TQ, .Tk = TK, .dh = DH, .dv = DV, .pos = pos,
                                   .scale = 0.4f,
                                   .kind = *kind, .pattern = watched ? pattern : NULL, .threads = 2};
}

/* The dots of both are the same chains, so patterns differ only by the rounding of exp, some units in the last place;
 * contexts by that and by the order of sums of values below 1: 1e-6 is four units more than either. */
static void expect_head(size_t head, size_t pos, bool watched)
{
    static float plain_context[TQ * DV], plain_pattern[TQ * TK];
    const size_t kv = head / (H / HKV);
    const float *fast_pattern = pattern + head * TQ * TK, *fast_context = context + head * TQ * DV;
    attn_attention_plain(plain_context, plain_pattern, q + head * TQ * DH, k + kv * TK * DH, v + kv * TK * DV, TQ, TK,
                         DH, DV, pos, 0.4f);
    for (size_t i = 0; watched && i < TQ * TK; i++) {
        ck_assert(fabsf(fast_pattern[i] - plain_pattern[i]) <= 1e-6f * plain_pattern[i]);
        ck_assert(i % TK <= pos + i / TK || (fast_pattern[i] == 0 && plain_pattern[i] == 0));
    }
    for (size_t i = 0; i < TQ * DV; i++)
        ck_assert_float_le(fabsf(fast_context[i] - plain_context[i]), 1e-6f);
}

START_TEST(fast_attention_is_the_plain_one)
{
    static const size_t positions[] = {0, 1, 2, 20};
    draw_numbers(q, sizeof q / sizeof *q, 1);
    draw_numbers(k, sizeof k / sizeof *k, 2);
    draw_numbers(v, sizeof v / sizeof *v, 3);
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++)
        for (int watched = 0; watched < 2; watched++) {
            struct attn_attention a = fast(&kinds[_i], positions[i], watched);
            struct attn_err err = {0};
            ck_assert_msg(!attn_attention(context, q, k, v, &a, &err), "%s", err.msg);
            for (size_t head = 0; head < H; head++)
                expect_head(head, positions[i], watched);
        }
}
END_TEST

/* The definition in double precision, of the same numbers: float32 rounds weights up to 1 and values of that size, each
 * of them twice. */
START_TEST(double_precision_is_the_same)
{
    static double wide_k[TK * DH], wide_v[TK * DV];
    static float plain_context[TQ * DV], plain_pattern[TQ * TK];
    draw_numbers(q, TQ * DH, 4);
    draw_numbers(k, TK * DH, 5);
    draw_numbers(v, TK * DV, 6);
    attn_attention_plain(plain_context, plain_pattern, q, k, v, TQ, TK, DH, DV, 3, 0.4f);
    for (size_t i = 0; i < TK * DH; i++)
        wide_k[i] = (double)k[i];
    for (size_t i = 0; i < TK * DV; i++)
        wide_v[i] = (double)v[i];
    for (size_t t = 0; t < TQ; t++) {
        double query[DH], row[TK], mixed[DV];
        bool seen[TK];
        for (size_t i = 0; i < DH; i++)
            query[i] = (double)q[t * DH + i];
        for (size_t j = 0; j < TK; j++)
            seen[j] = j <= t + 3;
        attn_f64_dots(row, query, wide_k, TK, DH);
        attn_f64_scores(row, row, (double)0.4f, 0, TK);
        attn_f64_hide(row, seen, TK);
        ck_assert(attn_f64_weights(row, row, ATTN_WEIGHTS_SOFTMAX, TK));
        attn_f64_mix(mixed, row, wide_v, TK, DV);
        for (size_t j = 0; j < TK; j++)
            ck_assert_double_le(fabs(row[j] - (double)plain_pattern[t * TK + j]), seen[j] ? 5e-7 : 0);
        for (size_t i = 0; i < DV; i++)
            ck_assert_double_le(fabs(mixed[i] - (double)plain_context[t * DV + i]), 1e-6);
    }
}
END_TEST

Suite *suite_scaled_dot_product(void)
{
    Suite *s = suite_create("scaled_dot_product");
    TCase *c = tcase_create("scaled_dot_product");
    tcase_add_test(c, weights_can_be_computed_in_the_head);
    tcase_add_test(c, three_words_of_an_article);
    tcase_add_test(c, the_mask_is_causal);
    tcase_add_loop_test(c, fast_attention_is_the_plain_one, 0, KINDS);
    tcase_add_test(c, double_precision_is_the_same);
    suite_add_tcase(s, c);
    return s;
}
