/* stack.h - labels written downwards, a character below the other, accents on their letters. */
#ifndef ATTN_PICTURE_STACK_H
#define ATTN_PICTURE_STACK_H

#include "base/label.h"

size_t attn_stack_height(const struct attn_label *l);
bool attn_stack_fits(const struct attn_label *l, size_t columns);      /* no character is wider */
/* Line i of its height, padded to so many columns. */
void attn_stack_write(struct attn_out *o, const struct attn_label *l, size_t i, size_t columns);

#endif
