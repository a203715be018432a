#include "base/hash.h"

#include <sys/random.h>

uint64_t attn_hash_seed(const void *owner)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed)
        seed = attn_hash_mix((uintptr_t)owner, 0x9E3779B97F4A7C15u);
    return seed;
}
