/* wrap.h - breaks a text of a figure into lines, between words where it can. */
#ifndef ATTN_PICTURE_WRAP_H
#define ATTN_PICTURE_WRAP_H

#include "text/label.h"

struct attn_wrap { const char *s; size_t len; };        /* what is left of a text */

/* Takes the next line off: the words that fit or, of a longer one, the characters that do, and at least one. */
struct attn_label attn_wrap_next(struct attn_wrap *rest, size_t columns);
/* The same for the last line that there is room for: what is left is cut, with an ellipsis. */
struct attn_label attn_wrap_last(struct attn_wrap *rest, size_t columns);
/* How many lines a text takes, at most `most`; 0 for an empty one. */
size_t attn_wrap_count(const char *s, size_t len, size_t columns, size_t most);

#endif
