/* Vectors and the plain loop give the same bits; the source file is included to reach both functions. */
#include "suites.h"
#include "draw.h"

#include <stdlib.h>
#include <string.h>

#define attn_rng_seed rng_seed_again
#define attn_rng_u32 rng_u32_again
#define attn_rng_uniform rng_uniform_again
#define attn_rng_normal rng_normal_again
#define attn_rng_linear_bound rng_linear_bound_again
#include "base/rng.c"

START_TEST(same_bits)
{
    enum { BLOCKS = 1 << 16, N = BLOCKS * BOX };
    float *a = malloc(2 * N * sizeof *a), *b = a + N;
    uint32_t x = 1;
    for (size_t i = 0; i < N; i++)
        a[i] = (float)draw(&x) / 16777216.0f;
    a[0] = a[8] = 0;
    a[1] = a[9] = 16777215.0f / 16777216.0f;
    memcpy(b, a, N * sizeof *a);
    fused_plain(a, BLOCKS, 0.5f, 2);
    if (has_avx2())
        fused_avx2(b, BLOCKS, 0.5f, 2);
    else
        box_muller(b, BLOCKS, 0.5f, 2, false);
    ck_assert(memcmp(a, b, N * sizeof *a) == 0);
    free(a);
}
END_TEST

Suite *suite_boxmuller(void)
{
    Suite *s = suite_create("boxmuller");
    TCase *t = tcase_create("boxmuller");
    tcase_add_test(t, same_bits);
    suite_add_tcase(s, t);
    return s;
}
