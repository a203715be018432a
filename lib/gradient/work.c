#include "gradient/work.h"

#include "base/splitmix.h"

struct attn_rows attn_work_normed(const struct attn_work *t, const struct attn_rows *x, const struct attn_norm *norm)
{
    if (!norm->weight.data)
        return *x;
    struct attn_rows y = attn_work_rows(t, t->y, x->cols);
    attn_rows_norm(t->team, &y, x, norm, t->w->eps, t->norm_w, t->norm_b);
    return y;
}

void attn_work_seed(struct attn_work *t, uint64_t seed, uint64_t step)
{
    t->seed = attn_splitmix(attn_splitmix(seed) + step);
}

struct attn_drop attn_work_drop(const struct attn_work *t, enum attn_dropped what, size_t layer, float p)
{
    return (struct attn_drop){.key = attn_splitmix(t->seed + layer * ATTN_DROPPED + what), .below = (uint32_t)((double)p * 0x1p32),
                              .scale = 1 / (1 - p)};
}
