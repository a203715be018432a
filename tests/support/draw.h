/* draw.h - random numbers for tests: the 24 upper bits of a linear congruential generator, the same for
 * the same seed. */
#ifndef TESTS_DRAW_H
#define TESTS_DRAW_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static inline size_t draw_below(uint32_t *seed, size_t n)
{
    return draw(seed) % n;
}

/* From -1 to 1, without 1. */
static inline float draw_number(uint32_t *seed)
{
    return (float)draw(seed) / 8388608.0f - 1;
}

static inline void draw_numbers(float *x, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++)
        x[i] = draw_number(&seed);
}

#endif
