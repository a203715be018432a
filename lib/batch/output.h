/* output.h - where the records of a batch go, in order, and the progress of that.
 *
 * The output is a stream of lines, for some formats also a directory for each record or a stack, a summary on
 * request, and the journal.  Passes are written one after the other; each is passed to the system before the journal
 * mentions it, and from time to time synced to the disk. */
#ifndef ATTN_BATCH_OUTPUT_H
#define ATTN_BATCH_OUTPUT_H

#include "batch/engine.h"
#include "batch/journal.h"
#include "batch/stack.h"

struct attn_output {
    struct attn_engine *e;
    struct attn_stack *stack;           /* NULL: not requested */
    struct attn_journal journal;
    char *path, *stream_path, *summary_path;    /* links followed; NULL: standard output, or none */
    struct attn_out *stream, *rows;     /* rows of the summary */
    double synced;                      /* time of the last sync to the disk, in seconds */
};

/* Writes nothing yet; out->journal.side.now tells how far an earlier run has come. */
int attn_output_open(struct attn_output *out, struct attn_engine *e, enum attn_journal_state *state, struct attn_err *err);
int attn_output_start(struct attn_output *out, struct attn_err *err);
/* Writes items in order; `live`: the item's activations were written while it ran. */
int attn_output_put(struct attn_output *out, const struct attn_item *item, size_t n, bool live, struct attn_err *err);
/* Whether the reader has closed the pipe. */
bool attn_output_broken(const struct attn_output *out);
/* Stops the batch such that it can be continued. */
int attn_output_pause(struct attn_output *out, struct attn_err *err);
int attn_output_finish(struct attn_output *out, uint64_t total, struct attn_err *err);
/* Completes what a killed run left undone after everything was written. */
int attn_output_end(struct attn_output *out, struct attn_err *err);
/* Removes all files of a batch that has not done anything. */
void attn_output_withdraw(struct attn_output *out);
void attn_output_close(struct attn_output *out);

#endif
