/* runner.h - runs records through the model: short ones together in one pass; one with too many numbers to keep,
 * alone.
 *
 * A pass has enough rows for fast products, but takes no more than about a second: a signal has to wait for the pass
 * in progress, and a kill loses it. */
#ifndef ATTN_BATCH_RUNNER_H
#define ATTN_BATCH_RUNNER_H

#include "batch/capture.h"
#include "batch/group.h"
#include "batch/summary.h"

struct attn_runner {
    const struct attn_model *model;
    struct attn_info info;
    struct attn_plan how;               /* except rows and seqs */
    struct attn_capture *capture;       /* NULL: nothing is kept */
    struct attn_summary *summary;       /* NULL: there is none */
    size_t rows;                        /* of a pass, unless a sentence is longer */
    struct attn_plan plan;
    struct attn_run *run;               /* NULL: not planned yet */
    int32_t *ids; size_t ids_room;
    struct attn_seq *seq; size_t seq_room;
    uint64_t overflowed;                /* sentences whose dots overflowed */
};

/* The members up to summary, except info, must be set, all others zeroed. */
void attn_runner_start(struct attn_runner *r);
void attn_runner_end(struct attn_runner *r);

/* How many of n items the next pass takes, counting failed ones; *live: a single one with too many numbers to keep. */
size_t attn_runner_take(const struct attn_runner *r, const struct attn_item *item, size_t n, bool *live);
int attn_runner_run(struct attn_runner *r, const struct attn_item *item, size_t n, struct attn_err *err);
/* Announces the run to `watcher`, unless its wants is NULL. */
int attn_runner_live(struct attn_runner *r, const struct attn_item *item, const struct attn_observer *watcher, struct attn_err *err);
/* The memory that a separate plan takes, in bytes. */
int attn_runner_memory(const struct attn_runner *r, uint64_t *bytes, struct attn_err *err);

#endif
