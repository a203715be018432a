/* capture.h - the chosen numbers of sentences that run side by side, kept to be told to a sink each.
 *
 * A pass tells one activation of all its sentences, then the next; a sink hears all activations of one
 * sentence.  Of an activation the selected heads are kept, in the order they are told. */
#ifndef ATTN_BATCH_CAPTURE_H
#define ATTN_BATCH_CAPTURE_H

#include "sinks/sink.h"

struct attn_capture;
int attn_capture_new(struct attn_capture **out, const struct attn_info *info, const struct attn_select *select,
                     struct attn_err *err);
void attn_capture_free(struct attn_capture *c);                     /* NULL is fine */

/* How many numbers a sentence of T tokens makes; UINT64_MAX: too many to count. */
uint64_t attn_capture_numbers(const struct attn_capture *c, size_t T);
uint64_t attn_capture_bytes(const struct attn_capture *c);          /* of memory so far */

/* Makes room for n sentences of seq[i].T tokens; then the observer fills it. */
int attn_capture_start(struct attn_capture *c, const struct attn_seq *seq, size_t n, struct attn_err *err);
struct attn_observer attn_capture_observer(struct attn_capture *c);
/* Tells sentence i to a watcher, in the order of the forward pass.  Several threads may, of different sentences. */
int attn_capture_tell(const struct attn_capture *c, size_t i, int (*watch)(void *, const struct attn_probe *, struct attn_err *),
                      void *self, struct attn_err *err);

#endif
