/* f32.h - declarations that the builds of f32_body.h share. */
#ifndef ATTN_BASE_F32_H
#define ATTN_BASE_F32_H

#include "attn.h"

enum { ATTN_F32_BLOCK = 64 };           /* most numbers handled at a time */

/* As attn_num_f32s of num.h, for n up to ATTN_F32_BLOCK. */
size_t attn_f32_block_avx2(char *buf, const float *x, size_t n, char before);
size_t attn_f32_block_avx512(char *buf, const float *x, size_t n, char before);
/* The rare cases: inf, nan, and numbers too close to half way between two texts. */
size_t attn_f32_seldom(char *buf, float x);

#endif
