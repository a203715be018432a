/* listing.h - prints lists of tokens for people: those of the sentence, and the likeliest next ones. */
#ifndef ATTN_SINKS_LISTING_H
#define ATTN_SINKS_LISTING_H

#include "base/out.h"
#include "sinks/next.h"
#include "sinks/sink.h"

/* Prints index, id and, where there is one, text and bytes of at most `limit` tokens. */
void attn_listing_tokens(struct attn_out *o, const char *heading, const struct attn_tokens *tokens, size_t limit, bool color);
/* Prints nothing if there are none. */
void attn_listing_next(struct attn_out *o, const struct attn_next *next, const struct attn_sink_job *job);

#endif
