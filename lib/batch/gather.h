/* gather.h - combines the directories of several outputs into one.
 *
 * Files are linked instead of copied where the file system can: a finished output is never modified. */
#ifndef ATTN_BATCH_GATHER_H
#define ATTN_BATCH_GATHER_H

#include "batch/parts.h"

/* DIR/000012 for each record that did not fail. */
int attn_gather_records(const struct attn_shard_files *p, const char *dir, struct attn_err *err);
/* DIR/NAME.npy for every name, with a row for each record. */
int attn_gather_arrays(const struct attn_shard_files *p, const char *dir, struct attn_err *err);

#endif
