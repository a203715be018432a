#include "sets.h"

const struct vec_ops *sets[3];
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

static float some(unsigned *seed, float scale)
{
    *seed = *seed * 1664525u + 1013904223u;
    return ((float)(*seed >> 8) / 8388608.0f - 1) * scale;
}

void fill(float *x, size_t n, unsigned seed, float scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = some(&seed, scale);
}
