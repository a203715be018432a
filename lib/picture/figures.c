/* figures.c - the kinds of figures: options, help and messages list them from here. */
#include "picture/section.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

static const struct attn_figure_method figures[] = {
    {"heatmap", attn_heatmap_plan, attn_panels_draw, 0},
    {"grid", attn_grid_plan, attn_panels_draw, 0},
    {"lines", attn_lines_plan, attn_lines_draw, 0},
    {"words", attn_words_plan, attn_words_draw, ATTN_FIGURE_ONE_ROW},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

const char *attn_figure_name(size_t i)
{
    return i < FIGURES ? figures[i].name : NULL;
}

int attn_figure_find(const struct attn_figure_method **out, const char *name, struct attn_err *err)
{
    char list[128] = "";
    for (size_t i = 0; i < FIGURES; i++) {
        if (!name || !strcmp(figures[i].name, name)) {
            *out = &figures[i];
            return ATTN_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", !i ? "" : i + 1 < FIGURES ? ", " : " or ",
                 figures[i].name);
    }
    return attn_fail(err, ATTN_EUSAGE, "unknown figure '%s': expected %s", name, list);
}
