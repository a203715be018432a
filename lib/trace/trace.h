/* trace.h - connects the arithmetic with observers.
 *
 * The forward pass announces bands of named activations and does not care who observes them.
 * Observers are asked once, when a run is planned, what they want.  attn_trace_announce runs all edits in
 * the order given, then all watchers, so that these record what the next step reads.  The first failure of
 * an observer stays in the trace, like the error of a FILE, and ends all announcements; run.c checks for it after
 * each block. */
#ifndef ATTN_TRACE_TRACE_H
#define ATTN_TRACE_TRACE_H

#include "trace/names.h"

struct attn_trace {
    const struct attn_observer *obs;    /* of the run, which has copied them from its caller */
    size_t n_obs, L;
    unsigned *want;                     /* [n_obs, L + 1, ATTN_ACTS] flags; row L: outside the blocks */
    struct attn_err err;                /* the first failure; code ATTN_OK: there was none */
};

/* Bytes of `want` per observer. */
size_t attn_trace_size(size_t L);
/* Asks every observer about everything the model announces; `want` must have enough room for the answers. */
void attn_trace_ask(struct attn_trace *t, const struct attn_stage *stage);

/* Whether an observer asked for the activation with one of `flags`; layer -1 is outside the blocks. */
bool attn_trace_wants(const struct attn_trace *t, int act, int layer, unsigned flags);

/* Whether an observer of the activation needs more than the last row. */
bool attn_trace_wants_all(const struct attn_trace *t, int act, int layer);

/* Whether to show a band: every one, except in cross-attention, where sentence 0 looks at the keys of sentence 1: then k and v
 * of sentence 1 are shown, and everything else of sentence 0. */
bool attn_trace_is_shown(const struct attn_probe *p, bool cross);

/* Announces a band.  The caller fills in `band` except for its name and data, which are added here. */
void attn_trace_announce(struct attn_trace *t, const struct attn_probe *band, float *data);

#endif
