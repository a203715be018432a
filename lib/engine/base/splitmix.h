/* splitmix.h - splitmix64: random numbers that are easily reproduced elsewhere from a 64-bit seed. */
#ifndef ATTN_BASE_SPLITMIX_H
#define ATTN_BASE_SPLITMIX_H

#include <stdint.h>

/* The next number of the sequence that started with *state = seed. */
static inline uint64_t attn_splitmix_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The first number of a seed's sequence. */
static inline uint64_t attn_splitmix(uint64_t seed)
{
    return attn_splitmix_next(&seed);
}

/* The 53 high bits of x as a number in [0, 1). */
static inline double attn_splitmix_unit(uint64_t x)
{
    return (double)(x >> 11) * 0x1p-53;
}

#endif
