#include "base/f32_body.h"

size_t attn_f32_block_avx512(char *buf, const float *x, size_t n, char before)
{
    return put_block(buf, x, n, before);
}
