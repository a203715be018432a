/* piece.h - a band taken apart into what was selected of it.
 *
 * A piece is some rows of one matrix: of one kept head, or of an activation without heads.  The
 * pieces of all bands of an activation come heads, then rows ascending, as the bands do. */
#ifndef ATTN_SINKS_PIECE_H
#define ATTN_SINKS_PIECE_H

#include "trace/select.h"

struct attn_piece {
    const struct attn_probe *of;
    const size_t *kept; size_t n_kept;  /* the kept heads; 0 without a head axis */
    int head;                           /* which this is; -1 without a head axis */
    size_t nth, matrices;               /* the nth matrix written of so many */
    size_t row0, rows, cols, T, ld;     /* rows row0.. of [T, cols] */
    const float *data;
};

/* Steps through a band, *at is 0 at first; false when there are no more. */
bool attn_piece_next(struct attn_piece *out, const struct attn_select *s, const struct attn_probe *p, size_t *at);

bool attn_piece_opens_matrix(const struct attn_piece *p);           /* holds its first row */
bool attn_piece_ends_matrix(const struct attn_piece *p);
bool attn_piece_opens(const struct attn_piece *p);                  /* the activation's first row */
bool attn_piece_ends(const struct attn_piece *p);
const float *attn_piece_row(const struct attn_piece *p, size_t i);  /* of this piece, i < rows */
size_t attn_piece_together(const struct attn_piece *p);             /* rows without gaps between them: all, or 1 */
/* What is written of the activation, [T,n] or [kept heads,T,n]; returns how many axes. */
int attn_piece_shape(size_t shape[3], const struct attn_piece *p);

/* A sink's answer to `wants`.  Writers of one stream cannot take dots, scores and pattern of a layer
 * in turns: they ask for each whole. */
unsigned attn_piece_wants(const struct attn_select *s, int act, int layer, bool one_stream);

#endif
