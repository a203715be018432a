/* describe.h - what a sidecar says of a batch before it has begun: how it was asked for, of what. */
#ifndef ATTN_BATCH_DESCRIBE_H
#define ATTN_BATCH_DESCRIBE_H

#include "batch/engine.h"
#include "batch/sidecar.h"

int attn_sidecar_describe(struct attn_sidecar *s, const struct attn_engine *e, struct attn_err *err);

#endif
