/* page_pack.h - the numbers of a sheet as its page holds them (page_data.h), packed. */
#ifndef ATTN_PICTURE_PAGE_PACK_H
#define ATTN_PICTURE_PAGE_PACK_H

#include "picture/album.h"

enum { ATTN_PACK_NAN = 65535, ATTN_PACK_INF = 65534, ATTN_PACK_MINUS_INF = 65533 };    /* 16-bit codes */
enum { ATTN_PACK_FINE = 16, ATTN_PACK_COARSE = 14 };    /* bits of a code */

struct attn_pack {
    const struct attn_sheet *sheet;
    bool triangle;                      /* row r has r + 1 numbers, or all if there are fewer columns */
    float beyond;                       /* of a triangle: the value of all other numbers, 0 or -inf */
    size_t count;                       /* numbers */
    bool narrow; float low, step;       /* 16-bit codes: low + step * code */
};

void attn_pack_plan(struct attn_pack *p, const struct attn_sheet *s);          /* as float32 */
/* From now on in codes, of which so many bits are used. */
void attn_pack_narrow(struct attn_pack *p, unsigned bits);
size_t attn_pack_size(const struct attn_pack *p);      /* bytes */
void attn_pack_fill(void *out, const struct attn_pack *p);
/* The codes of a narrow one deflated, without a header: first the upper byte of each, which are nearly all 0, then the
 * lower ones.  *out is malloc'd. */
int attn_pack_deflate(unsigned char **out, size_t *n, const struct attn_pack *p, struct attn_err *err);

/* What colours are laid over: the least and the greatest finite number of matrix i that is stored, of all its columns
 * and without the first; 0 if there is none. */
struct attn_pack_extent { float least, most; };
struct attn_pack_extent attn_pack_extent(const struct attn_pack *p, size_t i, size_t first_column);

#endif
