/* axes.h - what a figure of vectors is made of: coordinates on two or three axes, and the cosines between all. */
#ifndef ATTN_PICTURE_AXES_H
#define ATTN_PICTURE_AXES_H

#include "picture/album.h"

enum { ATTN_AXES = 3, ATTN_VECTORS_MOST = 300 };

/* Which axes to draw: n coordinates or, with `principal`, the directions in which the vectors are longest. */
struct attn_axes { size_t n, of[ATTN_AXES]; bool principal; };
/* spec: "0,1", "2,0,5", "principal"; NULL: all of at most three, else principal.  cols: numbers of a vector. */
int attn_axes_read(struct attn_axes *out, const char *spec, size_t cols, struct attn_err *err);

struct attn_vectors {
    size_t n;                           /* vectors */
    struct attn_axes axes;
    double (*at)[ATTN_AXES];            /* [n] */
    double share[ATTN_AXES];            /* of the sum of all squared lengths, that is along an axis */
    double *length;                     /* [n] */
    float *cosine;                      /* [n, n]; NaN beside a vector without length or with a number that is none */
};

/* Matrix i of a sheet, whose rows are the vectors. */
int attn_vectors_make(struct attn_vectors *v, const struct attn_sheet *sheet, size_t i, const struct attn_axes *axes,
                      struct attn_err *err);
void attn_vectors_free(struct attn_vectors *v);         /* zeroed is fine */
/* "axis 0", or "principal axis 1 (62 %)" */
void attn_axis_name(char text[48], const struct attn_vectors *v, size_t k);

#endif
