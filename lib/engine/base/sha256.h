/* sha256.h - SHA-256 (FIPS 180-4), with the SHA instructions where the processor has them. */
#ifndef ATTN_BASE_SHA256_H
#define ATTN_BASE_SHA256_H

#include "attn.h"

struct attn_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
    bool plain;                         /* may be set after start: use plain C, even where SHA instructions exist */
};

void attn_sha256_start(struct attn_sha256 *s);
void attn_sha256_add(struct attn_sha256 *s, const void *data, size_t len);
/* Adds len bytes to each of two hashes.  This takes hardly longer than adding to one if len and all earlier lengths are
 * multiples of 64. */
void attn_sha256_add_two(struct attn_sha256 *a, const void *p, struct attn_sha256 *b, const void *q, size_t len);
void attn_sha256_end(struct attn_sha256 *s, char hex[65]);          /* NUL-terminated */
void attn_sha256_of(char hex[65], const void *data, size_t len);    /* the three for data in one piece */

#endif
