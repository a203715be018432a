/* output.h - where the records of a batch go, in their order, and how far it has come.
 *
 * A stream of lines, for some formats a directory a record or a stack besides, a summary if asked for, and the
 * journal of it all.  Passes are put one after the other; each is with the system before the journal tells of
 * it, and from time to time on the disk. */
#ifndef ATTN_BATCH_OUTPUT_H
#define ATTN_BATCH_OUTPUT_H

#include "batch/engine.h"
#include "batch/journal.h"
#include "batch/stack.h"

struct attn_output {
    struct attn_engine *e;
    struct attn_stack *stack;           /* NULL: no stack is asked for */
    struct attn_journal journal;
    char *path, *stream_path, *summary_path;    /* links followed; NULL: standard output, none */
    struct attn_out *stream, *rows;     /* rows: of the summary */
    double synced;                      /* when the disk had all of it, in seconds */
};

/* Nothing is written yet; out->journal.side.now tells how far an earlier run has come. */
int attn_output_open(struct attn_output *out, struct attn_engine *e, enum attn_journal_state *state, struct attn_err *err);
int attn_output_start(struct attn_output *out, struct attn_err *err);
/* Items in their order; `live`: it is one that was heard while it ran. */
int attn_output_put(struct attn_output *out, const struct attn_item *item, size_t n, bool live, struct attn_err *err);
/* Nobody reads it any more. */
bool attn_output_broken(const struct attn_output *out);
/* The batch stops here, to be continued. */
int attn_output_pause(struct attn_output *out, struct attn_err *err);
int attn_output_finish(struct attn_output *out, uint64_t total, struct attn_err *err);
/* What a killed run left to be done when all was written. */
int attn_output_end(struct attn_output *out, struct attn_err *err);
/* Nothing was done, and nothing is left. */
void attn_output_withdraw(struct attn_output *out);
void attn_output_close(struct attn_output *out);

#endif
