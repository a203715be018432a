/* legend.h - the part below the matrices of a kind: what the colours mean, and how many numbers had none. */
#ifndef ATTN_PICTURE_LEGEND_H
#define ATTN_PICTURE_LEGEND_H

#include "picture/pen.h"
#include "picture/scale.h"

size_t attn_legend_height(const struct attn_scale *s);
void attn_legend_draw(const struct attn_scale *s, size_t x, size_t y, const struct attn_pen *pen);

/* Gets the ticks of a scale in ascending order, at most ATTN_TICKS_MAX; at: the position from 0 to 1. */
enum { ATTN_TICKS_MAX = 24 };
struct attn_tick { double at; char text[32]; };
size_t attn_scale_ticks(struct attn_tick tick[ATTN_TICKS_MAX], const struct attn_scale *s);
/* The number at the first or the last step, to four digits; NUL-terminated. */
void attn_scale_end(char text[32], const struct attn_scale *s, bool last);
/* Line i of the legend: how numbers were scaled, or what is outside of the scale.  False: there are no more lines. */
bool attn_legend_line(const struct attn_scale *s, size_t i, char text[96], int *step);

#endif
