/* Numbers in blocks against what ggml makes of them, bit by bit. */

#include "suites.h"

#include "compute/vec.h"
#include "draw.h"
#include "golden.h"
#include "shared.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether two arrays have the same bits: NaN, and the sign of 0, count. */
static void same_bits(const float *x, const float *y, size_t n, const char *where)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(memcmp(x + i, y + i, sizeof *x) == 0, "%s: number %zu is %a, ggml's %a", where, i, (double)x[i],
                      (double)y[i]);
}

static void decodes(enum attn_dtype type, const char *blocks_path, const char *floats_path)
{
    const struct attn_dtype_row *t = &attn_dtypes[type];
    char where[300];
    size_t bytes, float_bytes;
    char *blocks = golden_text(blocks_path, &bytes), *want = golden_text(floats_path, &float_bytes);
    snprintf(where, sizeof where, "%s", blocks_path);
    ck_assert_uint_eq(bytes % t->bytes, 0);
    size_t n = bytes / t->bytes * t->values;
    ck_assert_uint_eq(attn_dtype_bytes(type, n), bytes);
    ck_assert_uint_eq(float_bytes, n * sizeof(float));
    float *y = malloc(n * sizeof *y), *expected = malloc(n * sizeof *expected);
    memcpy(expected, want, n * sizeof *expected);
    attn_vec_widen(y, blocks, type, 0, n);
    same_bits(y, expected, n, where);
    free(y), free(expected), free(blocks), free(want);
}

START_TEST(like_ggml)
{
    char blocks[128], floats[128];
    const char *name = attn_dtypes[_i].name;
    snprintf(blocks, sizeof blocks, "tests/golden/blocks/%s.bin", name);
    snprintf(floats, sizeof floats, "tests/golden/blocks/%s.f32.bin", name);
    decodes((enum attn_dtype)_i, blocks, floats);
}
END_TEST

/* Blocks that ggml's own quantisers wrote. */
START_TEST(like_ggml_on_its_blocks)
{
    const struct attn_dtype_row *t = &attn_dtypes[_i];
    for (int with = 0; with < 2; with++) {
        char leaf[128], blocks[300], floats[300], name[16];
        for (size_t i = 0; i <= strlen(t->name); i++)
            name[i] = (char)tolower((unsigned char)t->name[i]);
        const int row = t->values == 32 ? 64 : 512;
        snprintf(leaf, sizeof leaf, "gguf-quants/%s_%d_%s_expected.bin", name, row, with ? "im" : "noim");
        const char *path = shared_path(leaf);
        if (!path)
            return;
        snprintf(blocks, sizeof blocks, "%s", path);
        snprintf(leaf, sizeof leaf, "gguf-quants/%s_%d_%s_decoded.bin", name, row, with ? "im" : "noim");
        path = shared_path(leaf);
        ck_assert_ptr_nonnull(path);
        snprintf(floats, sizeof floats, "%s", path);
        decodes((enum attn_dtype)_i, blocks, floats);
    }
}
END_TEST

/* Any numbers of a row, from any on: the same as in the whole row. */
START_TEST(any_part)
{
    enum { BLOCKS = 3, MOST = BLOCKS * ATTN_BLOCK_MOST, BYTES = BLOCKS * 256 };
    static unsigned char blocks[BYTES];
    static float whole[MOST], part[MOST + 1];
    const enum attn_dtype type = (enum attn_dtype)_i;
    const size_t n = BLOCKS * attn_dtypes[type].values;
    uint32_t seed = 7;
    for (size_t i = 0; i < BYTES; i++)
        blocks[i] = (unsigned char)draw_below(&seed, 256);
    attn_vec_widen(whole, blocks, type, 0, n);
    for (int i = 0; i < 300; i++) {
        size_t first = draw_below(&seed, n), some = draw_below(&seed, n - first + 1);
        memset(part, 0xff, sizeof part);
        attn_vec_widen(part, blocks, type, first, some);
        same_bits(part, whole + first, some, attn_dtypes[type].name);
        ck_assert(isnan(part[some]));
    }
}
END_TEST

Suite *suite_dtype(void)
{
    Suite *s = suite_create("dtype");
    TCase *tc = tcase_create("core");
    tcase_add_loop_test(tc, like_ggml, ATTN_PLAIN_DTYPES, ATTN_DTYPES);
    tcase_add_loop_test(tc, like_ggml_on_its_blocks, ATTN_PLAIN_DTYPES, ATTN_DTYPES);
    tcase_add_loop_test(tc, any_part, ATTN_PLAIN_DTYPES, ATTN_DTYPES);
    suite_add_tcase(s, tc);
    return s;
}
