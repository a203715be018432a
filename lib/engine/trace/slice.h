/* slice.h - splits a band into slices, which leaves out what was not selected, and keeps them.
 *
 * A slice is some rows of one matrix: of one selected head, or of an activation without heads.  Like
 * bands, the slices of an activation come by ascending head, then row. */
#ifndef ATTN_TRACE_SLICE_H
#define ATTN_TRACE_SLICE_H

#include "trace/select.h"

struct attn_slice {
    const struct attn_probe *of;
    const size_t *kept; size_t n_kept;  /* the selected heads; 0 without a head axis */
    int head;                           /* the head of this slice; -1 without a head axis */
    size_t nth, matrices;               /* number of its matrix among the selected ones; how many these are */
    size_t row0, rows, cols, T, ld;     /* rows row0 .. row0 + rows of [T, cols] */
    const float *data;
    const double *f64;                  /* as in the band */
};

/* Gives the next slice of a band; set *at to 0 before the first call.  False when there are no more. */
bool attn_slice_next(struct attn_slice *out, const struct attn_select *s, const struct attn_probe *p, size_t *at);

bool attn_slice_opens_matrix(const struct attn_slice *p);           /* whether it has the first row of its matrix */
bool attn_slice_ends_matrix(const struct attn_slice *p);            /* ... the last row */
bool attn_slice_opens(const struct attn_slice *p);                  /* ... the first row of all selected matrices */
bool attn_slice_ends(const struct attn_slice *p);                   /* ... the last row */
const float *attn_slice_row(const struct attn_slice *p, size_t i);  /* of this slice, i < rows */
/* Number j of row i, with all its digits. */
double attn_slice_number(const struct attn_slice *p, size_t i, size_t j);
/* Writes so many numbers of row i, from number j on, with the digits that read back, each after the character
 * `before`; returns how many bytes, of at most so many. */
size_t attn_slice_text(char *buf, const struct attn_slice *p, size_t i, size_t j, size_t n, char before);
size_t attn_slice_text_most(const struct attn_slice *p, size_t n);
/* The rows that are contiguous, from row i on, as bytes, and how many bytes a number takes. */
const void *attn_slice_bytes(const struct attn_slice *p, size_t i);
size_t attn_slice_size(const struct attn_slice *p);
size_t attn_slice_together(const struct attn_slice *p);             /* how many rows are contiguous: all, or 1 */
/* Keeps the numbers of this slice: copies them to their place in `to`, [matrices, T, cols], which the slices of an
 * activation fill; f64: NULL, or where those in double precision go. */
void attn_slice_keep(float *to, double *f64, const struct attn_slice *p);
/* The shape of what is selected of the activation, [T,n] or [selected heads,T,n]; returns how many axes. */
int attn_slice_shape(size_t shape[3], const struct attn_slice *p);

/* A sink's answer to `wants`.  Bands of dots, scores, divisors, pattern and norms of a layer alternate; a sink that
 * writes one stream must have one after the other, so it asks for whole activations. */
unsigned attn_slice_wants(const struct attn_select *s, int act, int layer, bool one_stream);

#endif
