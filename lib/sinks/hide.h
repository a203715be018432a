/* hide.h - which keys a query cannot look at, for pictures: there a weight of 0 is drawn as hidden and not as small. */
#ifndef ATTN_SINKS_HIDE_H
#define ATTN_SINKS_HIDE_H

#include "sinks/sink.h"

/* Whether weights of this activation of the job can be hidden: nothing is from another text, and gradients have
 * signs. */
bool attn_sink_hides(const struct attn_sink_job *job, int act);

/* Rows [row0, row0 + rows) and columns [col0, col0 + cols) of a matrix over all `keys`, as they are shown: tokens, or
 * words, of which one is hidden where all of its tokens are. */
struct attn_window { size_t row0, rows, col0, cols, keys; };
/* Marks what a query cannot look at in the given part of one head's weights in this layer: it becomes -inf.  It is as 0
 * as what the query does not look at, but an edit may have put something there, which stays. */
int attn_sink_hide(float *to, const struct attn_sink_job *job, int layer, const struct attn_window *part,
                   struct attn_err *err);

#endif
