/* hash.h - what hash tables over a file's contents share.
 *
 * Each table draws a seed of its own, so that no file can be written to make it slow; nothing a
 * caller sees depends on the seed. */
#ifndef ATTN_IO_HASH_H
#define ATTN_IO_HASH_H

#include <string.h>

#include "attn.h"

/* The two halves of the full product, folded: every input bit reaches every output bit. */
static inline uint64_t attn_hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide p = (wide)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* Up to 8 bytes as a number: of two strings of one length, different ones have different numbers.
 * No byte beyond them is touched, and no loop or call is needed. */
static inline uint64_t attn_hash_word(const char *s, size_t len)
{
    uint32_t a = 0, b = 0;
    if (len >= 4) {
        memcpy(&a, s, 4);
        memcpy(&b, s + len - 4, 4);
    } else if (len > 0) {               /* some of the three may be the same byte */
        a = (uint32_t)(unsigned char)s[0] << 16 | (uint32_t)(unsigned char)s[len / 2] << 8 | (unsigned char)s[len - 1];
    }
    return a | (uint64_t)b << 32;
}

/* `owner` is the address of the table, which is a little random too: for want of anything better. */
uint64_t attn_hash_seed(const void *owner);

#endif
