/* in_blocks.h - random matrices in the quantised types of ggml. */
#ifndef TESTS_IN_BLOCKS_H
#define TESTS_IN_BLOCKS_H

#include "compute/dtype.h"

#include <stdint.h>

/* Fills n numbers, whole blocks, with random bits; scales and minima of blocks are ordinary numbers below 1. */
void in_blocks_fill(void *to, enum attn_dtype type, size_t n, uint32_t *seed);

#endif
