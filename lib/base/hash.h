/* hash.h - shared by the hash tables over a file's contents.
 *
 * Each table draws its own seed, so that no file can be crafted to make it slow; no result that a caller sees depends
 * on the seed. */
#ifndef ATTN_IO_HASH_H
#define ATTN_IO_HASH_H

#include <string.h>

#include "attn.h"

/* Folds the two halves of the full product, so that every input bit affects every output bit. */
static inline uint64_t attn_hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Packs up to 8 bytes into a number such that different strings of one length get different numbers.  It reads no
 * byte beyond them and needs no loop or call. */
static inline uint64_t attn_hash_word(const char *s, size_t len)
{
    uint32_t a = 0, b = 0;
    if (len >= 4) {
        memcpy(&a, s, 4);
        memcpy(&b, s + len - 4, 4);
    } else if (len > 0) {               /* some of the three may coincide */
        a = (uint32_t)(unsigned char)s[0] << 16 | (uint32_t)(unsigned char)s[len / 2] << 8 | (unsigned char)s[len - 1];
    }
    return a | (uint64_t)b << 32;
}

/* A random seed; `owner`, the address of the table, serves if the system has no random numbers for us. */
uint64_t attn_hash_seed(const void *owner);

#endif
