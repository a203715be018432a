/* tidy.h - what a tidy table of a batch has besides the lines of its sentences. */
#ifndef ATTN_SINKS_TIDY_H
#define ATTN_SINKS_TIDY_H

#include "base/out.h"
#include "sinks/sink.h"

extern const char attn_tidy_header[];   /* the first line of the table */
void attn_tidy_failed(struct attn_out *o, const struct attn_sink_job *job, const char *why);

#endif
