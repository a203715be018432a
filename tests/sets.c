#include "sets.h"
#include "draw.h"

const struct attn_vec_ops *sets[3];
int n_sets;

void find_sets(void)
{
    n_sets = 0;
    sets[n_sets++] = &attn_vec_generic;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sets[n_sets++] = &attn_vec_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        sets[n_sets++] = &attn_vec_avx512;
}

void fill(float *x, size_t n, unsigned seed, float scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = draw_number(&seed) * scale;
}
