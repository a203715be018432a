/* num.h - numbers to text and back, whatever the locale.
 *
 * Machine formats need each float32 to come back as the same bits: nine significant digits do
 * that for every one, with trailing zeros dropped (0.5, not 0.500000000). */
#ifndef ATTN_BASE_NUM_H
#define ATTN_BASE_NUM_H

#include "attn.h"

enum {
    ATTN_NUM_MAX = 24,                  /* bytes each of the first three may scribble on */
    ATTN_NUM_F32 = 15,                  /* -1.23456789e-38: no float is longer */
    ATTN_NUM_FIXED_MAX = 64,
    ATTN_NUM_LONGEST = 1023             /* bytes of text a float is read from */
};

#define ATTN_NUM_F32S(n) ((n) * (1 + (size_t)ATTN_NUM_F32) + ATTN_NUM_MAX)

/* Each writes without a NUL and returns the length. */
size_t attn_num_f32(char *buf, float x);                /* as %.9g prints it; inf, -inf, nan */
size_t attn_num_u64(char *buf, uint64_t x);
size_t attn_num_f64(char *buf, double x);               /* %.15g if that reads back, else 16 or 17 digits */
/* %.*f with digits 0..17 for eyes, in buf[ATTN_NUM_FIXED_MAX]: no sign on what rounds to zero;
 * from 1e40 on %.*e; inf, -inf, nan. */
size_t attn_num_fixed(char *buf, double x, int digits);

/* Each of n numbers as attn_num_f32 has it, with a character before it: ",0.5,-1".  May scribble on
 * ATTN_NUM_F32S(n) bytes, which leave room for a line end. */
size_t attn_num_f32s(char *buf, const float *x, size_t n, char before);

/* What both need: inf, -inf or nan; a copy of what snprintf wrote, with a point for whatever the locale
 * puts between the digits. */
size_t attn_num_special(char *buf, double x);
size_t attn_num_point(char *buf, const char *text);

/* The whole of text[0..len) or failure: decimal digits only, no sign, no white space. */
bool attn_num_parse_u64(const char *text, size_t len, uint64_t *out);
/* A decimal float as C and JSON write it, also inf and nan, with or without a sign.  What is too
 * large for a double is infinite. */
bool attn_num_parse_f64(const char *text, size_t len, double *out);

#endif
