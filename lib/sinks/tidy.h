/* tidy.h - what a long table of many sentences has beside their lines. */
#ifndef ATTN_SINKS_TIDY_H
#define ATTN_SINKS_TIDY_H

#include "base/out.h"
#include "sinks/sink.h"

extern const char attn_tidy_header[];   /* its first line */
void attn_tidy_failed(struct attn_out *o, const struct attn_sink_job *job, const char *why);

#endif
