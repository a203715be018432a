/* listing.h - lists of tokens for eyes: those of the sentence, those likely to come next. */
#ifndef ATTN_SINKS_LISTING_H
#define ATTN_SINKS_LISTING_H

#include "base/out.h"
#include "sinks/next.h"
#include "sinks/sink.h"

/* Index, id and, where they have one, text and bytes of at most `limit` tokens. */
void attn_listing_tokens(struct attn_out *o, const char *heading, const struct attn_tokens *tokens, size_t limit, bool color);
/* Nothing when there are none. */
void attn_listing_next(struct attn_out *o, const struct attn_next *next, const struct attn_sink_job *job);

#endif
