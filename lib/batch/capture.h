/* capture.h - keeps the selected numbers of sentences that run together, to pass them to one sink each afterwards.
 *
 * A run announces one activation of all its sentences, then the next; a sink expects all activations of one sentence.
 * Of an activation only the selected heads are kept, in the order they are announced. */
#ifndef ATTN_BATCH_CAPTURE_H
#define ATTN_BATCH_CAPTURE_H

#include "sinks/sink.h"

struct attn_capture;
int attn_capture_new(struct attn_capture **out, const struct attn_info *info, const struct attn_select *select,
                     struct attn_err *err);
void attn_capture_free(struct attn_capture *c);                     /* NULL is fine */

/* How many numbers a sentence of T tokens yields; UINT64_MAX: too many to count. */
uint64_t attn_capture_numbers(const struct attn_capture *c, size_t T);
uint64_t attn_capture_bytes(const struct attn_capture *c);          /* of memory in use */

/* Makes room for n sentences of seq[i].T tokens, which the observer then fills. */
int attn_capture_start(struct attn_capture *c, const struct attn_seq *seq, size_t n, struct attn_err *err);
struct attn_observer attn_capture_observer(struct attn_capture *c);
/* Announces sentence i to a watcher, in the order of the forward pass.  Several threads may do so for different
 * sentences. */
int attn_capture_tell(const struct attn_capture *c, size_t i, int (*watch)(void *, const struct attn_probe *, struct attn_err *),
                      void *self, struct attn_err *err);

#endif
