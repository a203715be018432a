/* crc32.c - eight bytes a step: table k holds what a byte does k bytes later. */
#include "base/crc32.h"

void attn_crc32_make(struct attn_crc32 *c)
{
    uint32_t (*t)[256] = c->table;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t x = i;
        for (int bit = 0; bit < 8; bit++)
            x = x >> 1 ^ (x & 1 ? 0xEDB88320u : 0);
        t[0][i] = x;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xFF];
}

uint32_t attn_crc32_add(const struct attn_crc32 *c, uint32_t crc, const void *data, size_t n)
{
    const unsigned char *p = data;
    const uint32_t (*t)[256] = c->table;
    crc = ~crc;
    for (; n >= 8; n -= 8, p += 8) {
        crc ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = t[7][crc & 0xFF] ^ t[6][crc >> 8 & 0xFF] ^ t[5][crc >> 16 & 0xFF] ^ t[4][crc >> 24] ^
              t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    }
    for (; n; n--, p++)
        crc = crc >> 8 ^ t[0][(crc ^ *p) & 0xFF];
    return ~crc;
}
