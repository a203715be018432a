/* page_pack.h - the numbers of a sheet as its page holds them (page_data.h), packed. */
#ifndef ATTN_PICTURE_PAGE_PACK_H
#define ATTN_PICTURE_PAGE_PACK_H

#include "picture/album.h"

enum { ATTN_PACK_NAN = 65535, ATTN_PACK_INF = 65534, ATTN_PACK_MINUS_INF = 65533 };    /* 16-bit codes */

struct attn_pack {
    const struct attn_sheet *sheet;
    bool triangle;                      /* row r has r + 1 numbers, or all if there are fewer columns */
    float beyond;                       /* of a triangle: the value of all other numbers, 0 or -inf */
    size_t count;                       /* numbers */
    bool narrow; float low, step;       /* 16 bits: low + step * code */
};

void attn_pack_plan(struct attn_pack *p, const struct attn_sheet *s);          /* as float32 */
void attn_pack_narrow(struct attn_pack *p);
size_t attn_pack_size(const struct attn_pack *p);      /* bytes */
void attn_pack_fill(void *out, const struct attn_pack *p);

#endif
