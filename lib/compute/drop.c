#include "compute/drop.h"

#include "base/splitmix.h"

struct attn_head_drop attn_drop_of(const struct attn_kind *k, int layer, size_t head)
{
    return (struct attn_head_drop){k->dropout, attn_splitmix(attn_splitmix(k->dropout_seed + (uint64_t)layer) + head)};
}

void attn_drop_keys(const struct attn_head_drop *d, float *weight, size_t q, const size_t *list, size_t first, size_t n)
{
    if (d->p <= 0)
        return;
    uint64_t row = attn_splitmix(d->head + q);
    float grow = (float)(1 / (1 - d->p));
    for (size_t i = 0; i < n; i++) {
        size_t key = list ? list[i] : first + i;
        weight[i] *= attn_splitmix_unit(attn_splitmix(row + key)) < d->p ? 0 : grow;
    }
}
