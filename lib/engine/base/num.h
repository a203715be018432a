/* num.h - numbers to text and back, in any locale.
 *
 * Machine formats need each float32 to read back as the same bits: nine significant digits always suffice; trailing
 * zeros are dropped (0.5, not 0.500000000). */
#ifndef ATTN_BASE_NUM_H
#define ATTN_BASE_NUM_H

#include "attn.h"

enum {
    ATTN_NUM_MAX = 24,                  /* bytes that each of the first three functions may write to */
    ATTN_NUM_F32 = 15,                  /* -1.23456789e-38 is the longest */
    ATTN_NUM_FIXED_MAX = 64,
    ATTN_NUM_LONGEST = 1023             /* longest text that is parsed as a float */
};

#define ATTN_NUM_F32S(n) ((n) * (1 + (size_t)ATTN_NUM_F32) + ATTN_NUM_MAX)

/* Each writes text without a NUL and returns its length. */
size_t attn_num_f32(char *buf, float x);                /* as %.9g prints it; inf, -inf, nan */
size_t attn_num_u64(char *buf, uint64_t x);
size_t attn_num_f64(char *buf, double x);               /* %.15g if that reads back exactly, else 16 or 17 digits */
/* As %.*f with 0..17 digits, for human readers, into buf[ATTN_NUM_FIXED_MAX]: no sign if it rounds to zero; %.*e from
 * 1e40 on; inf, -inf, nan. */
size_t attn_num_fixed(char *buf, double x, int digits);
/* The same after as many blanks as it takes to be `columns` wide; a longer number stays as it is.  May write to
 * ATTN_NUM_FIXED_MAX + columns bytes. */
size_t attn_num_right(char *buf, size_t columns, double x, int digits);

/* Writes n numbers as attn_num_f32 does, each after the character `before`: ",0.5,-1".  May write to ATTN_NUM_F32S(n)
 * bytes, which leave room for a line end. */
size_t attn_num_f32s(char *buf, const float *x, size_t n, char before);

/* Parses all of text[0..len) or fails: decimal digits only, no sign, no white space. */
bool attn_num_parse_u64(const char *text, size_t len, uint64_t *out);
/* Parses a decimal float as in C and JSON, or inf or nan, with or without a sign.  Beyond doubles it is infinite. */
bool attn_num_parse_f64(const char *text, size_t len, double *out);

#endif
