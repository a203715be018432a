/* grids.h - a grid of patches for each record of a batch, in place of activations.
 *
 * A record has two texts, and its metric may name some of its fields.  Grids are made one at a time (grids.c): each is
 * many runs, which share passes among themselves.  A grid becomes a document, or the rows of a table,
 *
 *     record,layer,head,pos,metric,effect,id,error
 *
 * with the axes of the grid alone; texts there have \n for line feeds, so that each row is one line.  A record that
 * failed is one row with empty fields.  The summary of a batch is the mean of each cell over all records (means.c),
 *
 *     layer,head,pos,n,mean_metric,mean_effect
 *
 * n records have the cell; those without effects, since both of their texts have the same metric, do not count for
 * mean_effect. Until a batch is whole, its summary has the rows of that table: what was done can be continued, and rows
 * of shards be joined in the order of their records, so that all sums have the same bits as those of one process. */
#ifndef ATTN_BATCH_GRIDS_H
#define ATTN_BATCH_GRIDS_H

#include "attn_ask.h"
#include "attn_tools.h"
#include "base/out.h"
#include "batch/sidecar.h"
#include "sinks/sink.h"

struct attn_item;
struct attn_reading;
struct attn_grids;
/* What is wrong with the question for any record is found here. */
int attn_grids_new(struct attn_grids **out, const struct attn_batch_opts *o, struct attn_reading *reading,
                   struct attn_err *err);
void attn_grids_free(struct attn_grids *g);                         /* NULL is fine */
void attn_grids_ask(const struct attn_grids *g, struct attn_records_opts *o);       /* for the fields of records */
/* Tokenizes the other text and finds the metric's tokens; what is wrong with them becomes the record's failure. */
int attn_grids_fit(struct attn_grids *g, struct attn_item *item, struct attn_err *err);
/* Makes the grid of a record that fits, which the functions below then write.  editor: NULL if nothing is edited, or if
 * edits take values from the other text: then the grid has an editor of its own.  *stopped: the user ended it early. */
int attn_grids_run(struct attn_grids *g, const struct attn_item *item, struct attn_editor *editor, bool *stopped,
                   struct attn_err *err);
bool attn_grids_overflowed(const struct attn_grids *g);             /* whether dots overflowed in a run for it */
size_t attn_grids_cells(const struct attn_grids *g, size_t T);      /* of a record with T tokens */

/* One record as a document, or as rows; the job is its. */
int attn_grids_document(const struct attn_grids *g, const struct attn_item *item, const struct attn_sink_job *job,
                        struct attn_err *err);
void attn_grids_header(const struct attn_grids *g, struct attn_out *o);
void attn_grids_rows(const struct attn_grids *g, const struct attn_item *item, const char *failed, struct attn_out *o);

/* ---- means.c ---- */

/* Makes the summary at `path` of the rows in PATH.part, which it removes.  If it was made before, PATH.part being gone,
 * finds out how long it is. */
int attn_means_write(const char *path, struct attn_written *w, struct attn_err *err);
/* Makes it of rows that messages call `name`. */
int attn_means_make(const struct attn_map *rows, const char *name, const char *path, struct attn_written *w,
                    struct attn_err *err);

#endif
