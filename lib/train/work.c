#include "train/work.h"

struct attn_rows attn_work_normed(const struct attn_work *t, const struct attn_rows *x, const struct attn_norm *norm)
{
    if (!norm->weight.data)
        return *x;
    struct attn_rows y = attn_work_rows(t, t->y, x->cols);
    attn_rows_norm(t->team, &y, x, norm, t->w->eps, t->norm_w, t->norm_b);
    return y;
}

/* splitmix64 */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void attn_work_seed(struct attn_work *t, uint64_t seed, uint64_t step)
{
    t->seed = mix(mix(seed) + step);
}

struct attn_drop attn_work_drop(const struct attn_work *t, enum attn_dropped what, size_t layer, float p)
{
    return (struct attn_drop){.key = mix(t->seed + layer * ATTN_DROPPED + what), .below = (uint32_t)((double)p * 0x1p32),
                              .scale = 1 / (1 - p)};
}
