/* f32.c - float32 as text: selects the build of f32_body.h and handles the rare cases. */
#include <stdio.h>

#include "base/cpu.h"
#include "base/f32_body.h"
#include "base/num.h"

size_t attn_f32_seldom(char *buf, float x)
{
    char text[32];
    if (!isfinite(x))
        return attn_num_special(buf, (double)x);
    snprintf(text, sizeof text, "%.9g", (double)x);
    return attn_num_point(buf, text);
}

/* Worth a loop of its own: causal masking leaves long runs of zeros. */
static size_t count_zeros(const float *x, size_t n)
{
    size_t i = 0;
    while (i < n && bits_of(x[i]) == 0)
        i++;
    return i;
}

static size_t put_zeros(char *buf, size_t n, char before)
{
    for (size_t i = 0; i < n; i++) {
        buf[2 * i] = before;
        buf[2 * i + 1] = '0';
    }
    return 2 * n;
}

size_t attn_num_f32s(char *buf, const float *x, size_t n, char before)
{
    static size_t (*const by_width[])(char *, const float *, size_t, char) = {
        put_block, attn_f32_block_avx2, attn_f32_block_avx512};
    enum attn_simd width = attn_cpu_simd();
    char *at = buf;
    for (size_t i = 0, m; i < n; i += m) {
        m = count_zeros(x + i, n - i);
        if (m > 0) {
            at += put_zeros(at, m, before);
        } else {
            m = n - i < ATTN_F32_BLOCK ? n - i : ATTN_F32_BLOCK;
            at += by_width[width](at, x + i, m, before);
        }
    }
    return (size_t)(at - buf);
}

size_t attn_num_f32(char *buf, float x)
{
    struct block b;
    split(&b, &x, 1);
    spread(&b, 1);
    return put(buf, &b, 0, x);
}
