/* label.h - tokens in a form that people can read on a terminal.
 *
 * A space shows as a middle dot, a line feed and a tab as arrows, anything else that is invisible or would steer the
 * terminal as its number.  A text that does not fit ends in an ellipsis. */
#ifndef ATTN_TEXT_LABEL_H
#define ATTN_TEXT_LABEL_H

#include "base/out.h"

/* NUL-terminated text, its bytes without the NUL, and its width on the terminal. */
struct attn_label { char text[192]; size_t bytes, columns; };
struct attn_label attn_label_text(const char *s, size_t len, size_t max_columns);
/* the same, but a space stays a space */
struct attn_label attn_label_line(const char *s, size_t len, size_t max_columns);
struct attn_label attn_label_token(const struct attn_token *t, size_t max_columns);     /* its text, or its id */
struct attn_label attn_label_number(uint64_t x);
bool attn_label_has_dots(const struct attn_tokens *t);  /* whether any of them has a space, which is to be explained */

/* Write a label padded with spaces to `columns`. */
void attn_label_left(struct attn_out *o, const struct attn_label *l, size_t columns);
void attn_label_right(struct attn_out *o, const struct attn_label *l, size_t columns);
void attn_label_pad(struct attn_out *o, size_t columns);

#endif
