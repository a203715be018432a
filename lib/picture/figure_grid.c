/* figure_grid.c - plans a grid: all matrices as small panels of one size without labels of tokens, a layer a row. */
#include "picture/section.h"

#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"

enum { NAME = 28, WIDTH = 760, LEAST = 12, MOST = 160 };        /* pixels: of a layer's name; of all panels; of one */

/* Panels of one size, as large as they fit beside each other. */
int attn_grid_plan(struct attn_section *s, const struct attn_look *look, size_t width, struct attn_err *err)
{
    attn_section_arrange(s, look);
    attn_section_name(s);
    size_t room = (width ? width : WIDTH) - (s->table ? NAME : 0), each = room / larger(s->across, 1);
    s->left.margin = s->table ? NAME : 0;
    s->top.margin = s->table ? ATTN_LINE : 0;
    if (each < LEAST + ATTN_GRID_BETWEEN)
        return attn_fail(err, ATTN_EUSAGE, "%s: %zu panels do not fit beside each other in a grid: choose fewer with "
                                           "--columns, --layer and --head, or a larger --width", s->first->title,
                         s->across);
    s->panel = smaller(each - ATTN_GRID_BETWEEN, MOST);
    attn_section_legend(s, width);
    s->width = larger(attn_section_panels(s), larger(s->indent + ATTN_LEGEND_WIDTH,
                                              attn_utf8_width(s->title, strlen(s->title)) * ATTN_TITLE_LETTER));
    s->height = ATTN_TITLE + s->top.margin + s->down * (attn_section_caption(s) + attn_section_down(s)) +
                ATTN_BETWEEN + attn_legend_height(s);
    return ATTN_OK;
}
