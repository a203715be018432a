/* join.h - joins the lines of several files.
 *
 * A line of NDJSON is one record.  The rows of a table belong to the record whose number they begin with; a record
 * may have any number of them, below a header that is the same in all files. */
#ifndef ATTN_BATCH_JOIN_H
#define ATTN_BATCH_JOIN_H

#include "base/map.h"
#include "base/out.h"
#include "batch/parts.h"

struct attn_joined { char *path; uint64_t bytes; enum attn_links links; };     /* a file and its length */

/* file: one for each part.  Checks their lengths and how many records they hold. */
int attn_join(struct attn_out *to, const struct attn_shard_files *parts, const struct attn_joined *file, bool table, struct attn_err *err);

#endif
