/* strip.h - splits a band into strips, which leaves out what was not selected, and keeps them.
 *
 * A strip is some rows of one matrix: of one selected head, or of an activation without heads.  Like
 * bands, the strips of an activation come by ascending head, then row. */
#ifndef ATTN_TRACE_STRIP_H
#define ATTN_TRACE_STRIP_H

#include "trace/select.h"

struct attn_strip {
    const struct attn_probe *of;
    const size_t *kept; size_t n_kept;  /* the selected heads; 0 without a head axis */
    int head;                           /* the head of this strip; -1 without a head axis */
    size_t nth, matrices;               /* number of its matrix among the selected ones; how many these are */
    size_t row0, rows, cols, T, ld;     /* rows row0 .. row0 + rows of [T, cols] */
    const float *data;
};

/* Gives the next strip of a band; set *at to 0 before the first call.  False when there are no more. */
bool attn_strip_next(struct attn_strip *out, const struct attn_select *s, const struct attn_probe *p, size_t *at);

bool attn_strip_opens_matrix(const struct attn_strip *p);           /* whether it has the first row of its matrix */
bool attn_strip_ends_matrix(const struct attn_strip *p);            /* ... the last row */
bool attn_strip_opens(const struct attn_strip *p);                  /* ... the first row of all selected matrices */
bool attn_strip_ends(const struct attn_strip *p);                   /* ... the last row */
const float *attn_strip_row(const struct attn_strip *p, size_t i);  /* of this strip, i < rows */
size_t attn_strip_together(const struct attn_strip *p);             /* how many rows are contiguous: all, or 1 */
/* Keeps the numbers of this strip: copies them to their place in `to`, [matrices, T, cols], which the strips of an activation
 * fill. */
void attn_strip_keep(float *to, const struct attn_strip *p);
/* The shape of what is selected of the activation, [T,n] or [selected heads,T,n]; returns how many axes. */
int attn_strip_shape(size_t shape[3], const struct attn_strip *p);

/* A sink's answer to `wants`.  Bands of dots, scores, pattern and norms of a layer alternate; a sink that writes one stream
 * must have one after the other, so it asks for whole activations. */
unsigned attn_strip_wants(const struct attn_select *s, int act, int layer, bool one_stream);

#endif
