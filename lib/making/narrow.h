/* narrow.h - float32 stored as one of the types weights come in, rounded to nearest even. */
#ifndef ATTN_NARROW_H
#define ATTN_NARROW_H

#include "attn.h"

struct attn_narrow {
    const char *name; size_t size;
    uint32_t (*bits)(uint32_t bits);    /* of a float, as the type has them */
    uint32_t sign, infinity;
};

const struct attn_narrow *attn_narrow_find(const char *dtype);      /* NULL: no such type; case does not matter */
/* Narrows x[0..n) where it lies, in little-endian order; a number the type cannot hold is an error that names the
 * tensor. */
int attn_narrow(const struct attn_narrow *type, float *x, size_t n, const char *tensor, struct attn_err *err);

#endif
