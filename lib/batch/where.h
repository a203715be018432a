/* where.h - the names of a batch's files; checks that no two of them, nor the input, are the same file. */
#ifndef ATTN_BATCH_WHERE_H
#define ATTN_BATCH_WHERE_H

#include "batch/output.h"

/* Sets path, stream_path and summary_path. */
int attn_output_find(struct attn_output *out, struct attn_err *err);

#endif
