/* dequantise.c - chooses the instruction set; and the functions of dequantise.h for any processor. */
#define TABLE attn_dequantise_generic
#include "compute/dequantise_body.h"

#include "base/size.h"

enum { AT_ONCE = ATTN_BLOCK_MOST };

#if defined(__wasm__)                   /* numbers are decoded alike */
static const struct attn_dequantise_ops *ops(void) { return &attn_dequantise_generic; }
#else
static const struct attn_dequantise_ops *ops(void)
{
#define SET(id, name) &attn_dequantise_##name,
    static const struct attn_dequantise_ops *const by_width[] = {ATTN_SIMD_SETS(SET)};
#undef SET
    return by_width[attn_cpu_simd()];
}
#endif

static bool whole_units(enum attn_dtype type, size_t first, size_t n)
{
    const size_t unit = ops()->of[type].unit;
    return first % unit == 0 && n % unit == 0;
}

/* Numbers of a part of a unit are copied from all of it. */
void attn_dequantise_transpose(float *y, size_t ld, enum attn_dtype type, const void *const *row, size_t first,
                               size_t n)
{
    enum { SIDE = ATTN_DEQUANTISE_ROWS };
    const struct attn_dequantise_row *t = &ops()->of[type];
    for (size_t k = 0, some; k < n; k += some, y += some * ld) {
        const size_t skip = (first + k) % t->unit;
        some = skip == 0 && n - k >= t->unit ? (n - k) / t->unit * t->unit : smaller(n - k, t->unit - skip);
        if (some % t->unit == 0) {
            t->transpose(y, ld, row, first + k, some);
            continue;
        }
        _Alignas(LINE_BYTES) float unit[AT_ONCE * SIDE];
        t->transpose(unit, SIDE, row, first + k - skip, t->unit);
        for (size_t i = 0; i < some; i++)
            memcpy(y + i * ld, unit + (skip + i) * SIDE, SIDE * sizeof *y);
    }
}

void attn_dequantise_stream(float *y, size_t ldy, const float *x, size_t ldx, enum attn_dtype type,
                            const void *const *row, size_t first, size_t n, size_t K, struct attn_prefetch *prefetch)
{
    if (n == 1 && ops()->of[type].one_row && whole_units(type, first, K)) {
        ops()->of[type].one_row(y, x, row, first, K, prefetch);
        return;
    }
    _Alignas(LINE_BYTES) float numbers[AT_ONCE * ATTN_DEQUANTISE_ROWS];
    const size_t rate = prefetch_rate(prefetch, parts_of(K, AT_ONCE));
    for (size_t k = 0, some; k < K; k += some) {
        some = smaller(K - k, AT_ONCE);
        attn_dequantise_transpose(numbers, ATTN_DEQUANTISE_ROWS, type, row, first + k, some);
        if (ops()->few_rows)
            ops()->few_rows(y, ldy, x + k, ldx, numbers, n, some);
        else
            attn_vec_of(ATTN_F32)->stream(y, ldy, x + k, ldx, numbers, ATTN_DEQUANTISE_ROWS, n, some,
                                          ATTN_DEQUANTISE_ROWS);
        prefetch_some(prefetch, rate);
    }
}
