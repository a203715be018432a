#include "sets.h"
#include "draw.h"

#include "base/cpu.h"

const struct attn_vec_ops *sets[3];
int n_sets;

void find_sets(void)
{
    n_sets = 0;
    sets[n_sets++] = &attn_vec_generic;
    if (attn_cpu_widest() >= ATTN_SIMD_AVX2)
        sets[n_sets++] = &attn_vec_avx2;
    if (attn_cpu_widest() >= ATTN_SIMD_AVX512)
        sets[n_sets++] = &attn_vec_avx512;
}

void fill(float *x, size_t n, unsigned seed, float scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = draw_number(&seed) * scale;
}
