/* kind.h - what the hall asks of a kind of attention. */
#ifndef ATTN_KIND_H
#define ATTN_KIND_H

#include "attn.h"
#include "sinks/sink.h"

/* Numbers that attn_kind_parse would not have let pass. */
int attn_kind_check(const struct attn_kind *k, struct attn_err *err);
/* "none", "sqrt", "model", or a number that reads back as the same. */
const char *attn_kind_scale_text(char buf[ATTN_KIND_TEXT], const struct attn_kind *k);

/* What sinks say of it, and where the words are, which may not move. */
struct attn_kind_words { struct attn_sink_kind of; char attention[ATTN_KIND_TEXT], scale[ATTN_KIND_TEXT], note[ATTN_KIND_NOTE]; };
void attn_kind_say(struct attn_kind_words *out, const struct attn_kind *k);

#endif
