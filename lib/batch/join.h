/* join.h - the lines of several files as those of one.
 *
 * Lines of NDJSON are a record each.  Rows of a table are those of the record whose number they begin with, any
 * number of them, below a header that all files share. */
#ifndef ATTN_BATCH_JOIN_H
#define ATTN_BATCH_JOIN_H

#include "base/out.h"
#include "batch/parts.h"

struct attn_joined { char *path; uint64_t bytes; };     /* a file, and how long it is */

/* file: one of each part.  They are checked against their lengths and against how many records they hold. */
int attn_join(struct attn_out *to, const struct attn_parts *parts, const struct attn_joined *file, bool table, struct attn_err *err);

#endif
