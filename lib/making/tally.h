/* tally.h - the distinct pieces of a text, and how often each occurs. */
#ifndef ATTN_MAKING_TALLY_H
#define ATTN_MAKING_TALLY_H

#include "base/strings.h"

struct attn_tally { struct attn_strings piece; uint64_t *count; size_t room; };    /* in the order of first occurrence */

/* Cuts the text, which must be UTF-8, as GPT-2 does, and counts its pieces. */
int attn_tally_add(struct attn_tally *t, const char *text, size_t len, struct attn_err *err);
void attn_tally_free(struct attn_tally *t);                         /* zeroed is fine */

#endif
