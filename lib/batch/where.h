/* where.h - the files of a batch: what each is called, and that none of them is another one, or the input. */
#ifndef ATTN_BATCH_WHERE_H
#define ATTN_BATCH_WHERE_H

#include "batch/output.h"

/* Sets path, stream_path and summary_path. */
int attn_output_find(struct attn_output *out, struct attn_err *err);

#endif
