/* gather.h - what lies in the directories of several outputs as one directory.
 *
 * Files are linked, not copied, where the file system can: no output is ever written to once it is there. */
#ifndef ATTN_BATCH_GATHER_H
#define ATTN_BATCH_GATHER_H

#include "batch/parts.h"

/* DIR/000012 of each record that did not fail. */
int attn_gather_records(const struct attn_parts *p, const char *dir, struct attn_err *err);
/* DIR/NAME.npy, a row of each record, of all names there are. */
int attn_gather_arrays(const struct attn_parts *p, const char *dir, struct attn_err *err);

#endif
