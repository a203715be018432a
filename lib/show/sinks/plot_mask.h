/* plot_mask.h - what a mask hid in the numbers of a dump, as far as the dump tells: no 0 is hidden because it is one.
 *
 * A run says by which kind of attention keys were hidden.  Where nobody says so, scores of -inf do, also for the
 * weights that were made of them. */
#ifndef ATTN_SINKS_PLOT_MASK_H
#define ATTN_SINKS_PLOT_MASK_H

#include "io/dump.h"
#include "sinks/hide.h"

/* Gives a sheet its mask, if there is one.  at: the places of its matrices in the array; words: what its rows and
 * columns merge, if they do (those of hide.h's window). */
int attn_plot_mask(struct attn_album *a, struct attn_sheet *s, const struct attn_dump *d,
                   const struct attn_dumped *what, const size_t *at, const struct attn_words *rows,
                   const struct attn_words *keys, struct attn_err *err);
/* JSON has no -inf: those of hidden scores are put back. */
void attn_plot_unmask_nan(float *data, const struct attn_sheet *s);

#endif
