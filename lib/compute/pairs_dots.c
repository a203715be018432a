#include "compute/pairs.h"

#include "compute/lanes.h"

/* The micro-kernel of float32 (tile.h), with another instruction in place of the fused multiply-add. */
static inline v16 dots16(v16 x, v16 w, v16 sum)
{
    return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)w);
}
#define fma16 dots16
#include "compute/ahead.h"
#include "compute/tile.h"

void attn_pairs_dots(float *y, size_t ldy, const float *x, size_t ldx, const float *w, size_t n, size_t words, bool more)
{
    struct attn_ahead none = {0};
    panel(y, ldy, x, ldx, w, ATTN_PANEL, n, words, more, &none);
}
