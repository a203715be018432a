/* crc32.h - the checksum of zip archives: polynomial 0x04C11DB7, bits reversed. */
#ifndef ATTN_BASE_CRC32_H
#define ATTN_BASE_CRC32_H

#include "attn.h"

struct attn_crc32 { uint32_t table[8][256]; };

void attn_crc32_make(struct attn_crc32 *c);
/* Continues from `crc`, which is 0 before the first byte. */
uint32_t attn_crc32_add(const struct attn_crc32 *c, uint32_t crc, const void *data, size_t n);

#endif
