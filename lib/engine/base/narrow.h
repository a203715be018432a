/* narrow.h - the types that weights are written in: float32 converted to one of them, rounded to nearest even. */
#ifndef ATTN_BASE_NARROW_H
#define ATTN_BASE_NARROW_H

#include "attn.h"

struct attn_narrow {
    const char *name; size_t size;
    uint32_t (*bits)(uint32_t bits);    /* from a float's bits to the bits of the type */
    uint32_t sign, infinity;
};

const struct attn_narrow *attn_narrow_find(const char *dtype);      /* NULL: no such type; ignores case */
/* Converts x[0..n) in place to little-endian numbers.  If the type cannot hold a number, the error names the tensor. */
int attn_narrow(const struct attn_narrow *type, float *x, size_t n, const char *tensor, struct attn_err *err);

#endif
