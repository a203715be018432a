/* trace.h - the corridor between arithmetic and whoever listens.
 *
 * The forward pass tells bands of named activations; it does not care who hears them.  Observers
 * are asked once, when a run is planned, what they want; `tell` runs all edits in the order given,
 * then all watchers, so that what is recorded is what flowed on.  The first failure of an observer
 * stays in the trace, as ferror does, and silences it; run.c looks after each block. */
#ifndef ATTN_TRACE_TRACE_H
#define ATTN_TRACE_TRACE_H

#include "trace/names.h"

struct attn_trace {
    const struct attn_observer *obs;    /* the caller's, copied by run.c */
    size_t n_obs, L;
    unsigned *want;                     /* [n_obs, L + 1, ATTN_ACTS] flags; row L: outside the blocks */
    struct attn_err err;                /* code ATTN_OK: nothing happened */
};

/* Bytes of `want` for one observer. */
size_t attn_trace_size(size_t L);
/* Asks every observer about everything the model announces; want points to enough room. */
void attn_trace_ask(struct attn_trace *t, const struct attn_stage *stage);

/* Whether some observer gave one of `flags` for it; layer -1 is outside the blocks. */
bool attn_trace_wants(const struct attn_trace *t, int act, int layer, unsigned flags);

/* Whether some observer that wants it needs more than the last row. */
bool attn_trace_wants_all(const struct attn_trace *t, int act, int layer);

/* Whatever is told; but of a sentence that looks at the keys of another one, sentence 1, k and v are those it
 * looks at, and the rest of sentence 1 is passed over. */
bool attn_trace_is_shown(const struct attn_probe *p, bool cross);

/* Which band it is; its name and data are added here. */
void attn_trace_tell(struct attn_trace *t, const struct attn_probe *band, float *data);

#endif
