#include "base/narrow.h"

#include <string.h>
#include <strings.h>

#include "base/err.h"

/* bits >> drop, rounded to nearest even. */
static uint32_t round_off(uint32_t bits, unsigned drop)
{
    uint32_t half = UINT32_C(1) << (drop - 1);
    return (bits + half - 1 + (bits >> drop & 1)) >> drop;
}

static uint32_t to_f32(uint32_t bits)
{
    return bits;
}

static uint32_t to_bf16(uint32_t bits)
{
    return round_off(bits, 16);
}

static uint32_t to_f16(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;
    if (exponent < 102)                 /* less than half of the smallest subnormal, 2^-24 */
        return sign;
    if (exponent < 113) {               /* subnormal: in units of 2^-24 */
        uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
        return sign | round_off(significand, 126 - exponent);
    }
    uint32_t rounded = round_off(magnitude - (112u << 23), 13);
    return sign | (rounded < 0x7c00 ? rounded : 0x7c00);
}

static const struct attn_narrow dtypes[] = {
    {"F32", 4, to_f32, 0x80000000, 0x7f800000},
    {"F16", 2, to_f16, 0x8000, 0x7c00},
    {"BF16", 2, to_bf16, 0x8000, 0x7f80},
};

const struct attn_narrow *attn_narrow_find(const char *dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcasecmp(dtype, dtypes[i].name) == 0)
            return &dtypes[i];
    return NULL;
}

int attn_narrow(const struct attn_narrow *type, float *x, size_t n, const char *tensor, struct attn_err *err)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits = type->bits(bits);
        if ((bits & ~type->sign) >= type->infinity)
            return attn_fail(err, ATTN_EUSAGE,
                             "%s[%zu] is %g, which a model in %s cannot hold", tensor, i, (double)x[i],
                             type->name);
        memcpy((unsigned char *)x + i * type->size, &bits, type->size);
    }
    return ATTN_OK;
}
