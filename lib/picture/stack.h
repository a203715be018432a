/* stack.h - labels written downwards, one character below the other, with accents on their letters. */
#ifndef ATTN_PICTURE_STACK_H
#define ATTN_PICTURE_STACK_H

#include "text/label.h"

size_t attn_stack_height(const struct attn_label *l);
bool attn_stack_fits(const struct attn_label *l, size_t columns);      /* no character is wider */
/* Writes line i of the label, padded to `columns`. */
void attn_stack_write(struct attn_out *o, const struct attn_label *l, size_t i, size_t columns);

#endif
