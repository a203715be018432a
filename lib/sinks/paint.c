#include "sinks/paint.h"

void attn_paint(struct attn_out *o, bool color, enum attn_paint paint)
{
    static const char *const codes[] = { [ATTN_PLAIN] = "\x1b[0m", [ATTN_BOLD] = "\x1b[1m", [ATTN_DIM] = "\x1b[2m" };
    if (color)
        attn_out_str(o, codes[paint]);
}
