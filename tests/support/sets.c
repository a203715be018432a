#include "sets.h"
#include "draw.h"

#include "base/simd.h"

#define SET(id, name) &attn_vec_##name,
const struct attn_vec_ops *const sets[] = {ATTN_SIMD_SETS(SET)};
#undef SET
int n_sets;

void find_sets(void) { n_sets = (int)attn_cpu_widest() + 1; }

void fill(float *x, size_t n, unsigned seed, float scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = draw_number(&seed) * scale;
}
