/* figure_grid.c - plans a grid: all matrices as small panels of one size, without tokens' labels, one row per layer. */
#include "picture/section.h"

#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"

enum { NAME = 28, WIDTH = 760, LEAST = 12, MOST = 160 };        /* pixels: of a layer's name; of all panels; of one */

/* As large as they fit beside each other; without a width on paper a panel has whole pixels for each number. */
static size_t panel_of(const struct attn_section *s, size_t each, size_t width)
{
    size_t side = larger(s->rows, s->cols), pixels = larger(each / larger(side, 1), 1) * side;
    return smaller(width || pixels > MOST ? each : pixels, MOST);
}

int attn_grid_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    attn_section_arrange(s, look);
    attn_section_name(s, s->first->axes);
    size_t room = (width ? width : WIDTH) - (s->table ? NAME : 0), each = room / s->across;
    s->left.margin = s->table ? NAME : 0;
    s->top.margin = s->table ? ATTN_LINE : 0;
    if (each < LEAST + ATTN_GRID_BETWEEN)
        return attn_fail(err, ATTN_EUSAGE, "%s: a grid has no room for a row of %zu: choose fewer with "
                                           "--columns, --layer and --head, or a larger --width", s->first->title,
                         s->across);
    s->panel = panel_of(s, each - ATTN_GRID_BETWEEN, width);
    s->indent = s->left.margin;
    attn_section_frame(s, attn_section_panels(s), s->top.margin + s->down *
                       (attn_section_caption(s) + attn_section_down(s)) + ATTN_BETWEEN, width);
    return ATTN_OK;
}
