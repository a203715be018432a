#include "in_blocks.h"

#include "draw.h"

/* Where a block has its scale and its minimum, as float16; NONE: there is none. */
enum { NONE = 255 };
static const unsigned char halves[ATTN_DTYPES][2] = {
    [ATTN_Q4_0] = {0, NONE}, [ATTN_Q4_1] = {0, 2}, [ATTN_Q5_0] = {0, NONE}, [ATTN_Q5_1] = {0, 2},
    [ATTN_Q8_0] = {0, NONE},
    [ATTN_IQ4_NL] = {0, NONE}, [ATTN_Q2_K] = {80, 82}, [ATTN_Q3_K] = {108, NONE}, [ATTN_Q4_K] = {0, 2},
    [ATTN_Q5_K] = {0, 2}, [ATTN_Q6_K] = {208, NONE}};

void in_blocks_fill(void *to, enum attn_dtype type, size_t n, uint32_t *seed)
{
    const struct attn_dtype_row *t = &attn_dtypes[type];
    unsigned char *block = to;
    for (size_t i = 0; i < n / t->values; i++, block += t->bytes) {
        for (size_t j = 0; j < t->bytes; j++)
            block[j] = (unsigned char)draw_below(seed, 256);
        for (size_t j = 0; j < 2; j++)
            if (halves[type][j] != NONE)                /* exponents of 2^-14 to 2^-4, or negative */
                block[halves[type][j] + 1] =
                    (unsigned char)((block[halves[type][j] + 1] & 0x83) + (4 * (1 + draw_below(seed, 11))));
    }
}
