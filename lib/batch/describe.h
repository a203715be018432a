/* describe.h - fills in what a sidecar says about a batch before it starts: the command and its input. */
#ifndef ATTN_BATCH_DESCRIBE_H
#define ATTN_BATCH_DESCRIBE_H

#include "batch/engine.h"
#include "batch/sidecar.h"

int attn_sidecar_describe(struct attn_sidecar *s, const struct attn_engine *e, struct attn_err *err);

#endif
