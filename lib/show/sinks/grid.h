/* grid.h - the grid of a patching for programs: as JSON
 *
 *     {"version", "model", "text", "tokens", "attention", ..., "edits",
 *      "from": {"text", "tokens"}, "what", "over": ["layer", ...], "method", "metric", "metric_text", "metric_from",
 *      "rows": [{"layer", "head", "pos", "metric", "effect"}, ...]}
 *
 * with what documents of a batch begin with (sink_json.h), or as a table with the columns of these rows, which have the
 * axes of the grid alone.  A number that is not there is null in JSON and empty in a table. */
#ifndef ATTN_SINKS_GRID_H
#define ATTN_SINKS_GRID_H

#include "attn_ask.h"
#include "base/out.h"
#include "sinks/sink.h"
#include "table/columns.h"

struct attn_grid_doc {
    const struct attn_tokens *from;     /* the other text */
    const char *from_text; size_t from_len;     /* NULL: there are ids only */
    const char *what, *method, *metric; /* as they were asked for */
    const struct attn_patch_result *result;
};

/* job: model, digest, text, tokens, kind, edits, record.  Each item is on a line of its own, unless `eol` is "". */
int attn_grid_json(struct attn_out *o, const struct attn_sink_job *job, const struct attn_grid_doc *d, const char *eol,
                   struct attn_err *err);
/* The rows alone, with their columns, which it fills in. */
enum { ATTN_GRID_COLUMNS = 5 };
struct attn_table attn_grid_table(const struct attn_patch_result *r, struct attn_column column[ATTN_GRID_COLUMNS]);

extern const char *const attn_grid_axes[3];             /* "layer"..., as the bits of attn_patch_result.over */
/* on that axis; -1: the grid does not go along it */
int attn_grid_index(const struct attn_patch_cell *c, size_t axis);
void attn_grid_columns(struct attn_out *o, unsigned over);          /* "layer,head,metric,effect" */
void attn_grid_row(struct attn_out *o, unsigned over, const struct attn_patch_cell *c);         /* "0,1,-2.5,0.25" */

#endif
