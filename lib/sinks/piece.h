/* piece.h - splits a band into pieces, which leaves out what was not selected.
 *
 * A piece is some rows of one matrix: of one selected head, or of an activation without heads.  Like
 * bands, the pieces of an activation come by ascending head, then row. */
#ifndef ATTN_SINKS_PIECE_H
#define ATTN_SINKS_PIECE_H

#include "trace/select.h"

struct attn_piece {
    const struct attn_probe *of;
    const size_t *kept; size_t n_kept;  /* the selected heads; 0 without a head axis */
    int head;                           /* the head of this piece; -1 without a head axis */
    size_t nth, matrices;               /* number of its matrix among the selected ones; how many these are */
    size_t row0, rows, cols, T, ld;     /* rows row0 .. row0 + rows of [T, cols] */
    const float *data;
};

/* Gives the next piece of a band; set *at to 0 before the first call.  False when there are no more. */
bool attn_piece_next(struct attn_piece *out, const struct attn_select *s, const struct attn_probe *p, size_t *at);

bool attn_piece_opens_matrix(const struct attn_piece *p);           /* whether it has the first row of its matrix */
bool attn_piece_ends_matrix(const struct attn_piece *p);            /* ... the last row */
bool attn_piece_opens(const struct attn_piece *p);                  /* ... the first row of all selected matrices */
bool attn_piece_ends(const struct attn_piece *p);                   /* ... the last row */
const float *attn_piece_row(const struct attn_piece *p, size_t i);  /* of this piece, i < rows */
size_t attn_piece_together(const struct attn_piece *p);             /* how many rows are contiguous: all, or 1 */
/* The shape of what is selected of the activation, [T,n] or [selected heads,T,n]; returns how many axes. */
int attn_piece_shape(size_t shape[3], const struct attn_piece *p);

/* A sink's answer to `wants`.  Bands of dots, scores and pattern of a layer alternate; a sink that writes one stream
 * must have one after the other, so it asks for whole activations. */
unsigned attn_piece_wants(const struct attn_select *s, int act, int layer, bool one_stream);

#endif
