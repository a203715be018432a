/* runner.h - records through the model: short ones side by side in one pass, one whose numbers are too many to be
 * kept alone.
 *
 * A pass has as many rows as products need to be fast, and few enough that it takes no more than about a
 * second: what is in flight is what a signal waits for and what a kill costs. */
#ifndef ATTN_BATCH_RUNNER_H
#define ATTN_BATCH_RUNNER_H

#include "batch/capture.h"
#include "batch/group.h"
#include "batch/summary.h"

struct attn_runner {
    const struct attn_model *model;
    struct attn_info info;
    struct attn_plan how;               /* but for rows and seqs */
    struct attn_capture *capture;       /* NULL: nothing is kept */
    struct attn_summary *summary;       /* NULL: there is none */
    size_t rows;                        /* of a pass, unless one sentence is longer */
    struct attn_plan plan;
    struct attn_run *run;               /* NULL: not planned yet */
    int32_t *ids; size_t ids_room;
    struct attn_seq *seq; size_t seq_room;
};

/* Zeroed before, but for the members up to summary, without info. */
void attn_runner_start(struct attn_runner *r);
void attn_runner_end(struct attn_runner *r);

/* How many of n items the next pass takes, failed ones between the others; *live: one, with too many numbers. */
size_t attn_runner_take(const struct attn_runner *r, const struct attn_item *item, size_t n, bool *live);
int attn_runner_run(struct attn_runner *r, const struct attn_item *item, size_t n, struct attn_err *err);
/* `watcher`, unless its wants is NULL, hears it. */
int attn_runner_live(struct attn_runner *r, const struct attn_item *item, const struct attn_observer *watcher, struct attn_err *err);
/* What a plan of its own takes, in bytes. */
int attn_runner_memory(const struct attn_runner *r, uint64_t *bytes, struct attn_err *err);

#endif
