/* paint.h - bold and dim text on terminals. */
#ifndef ATTN_SINKS_PAINT_H
#define ATTN_SINKS_PAINT_H

#include "base/out.h"

enum attn_paint { ATTN_PLAIN, ATTN_BOLD, ATTN_DIM };
void attn_paint(struct attn_out *o, bool color, enum attn_paint paint);    /* color false: nothing */

#endif
