/* figures.c - the kinds of figures: options, help and messages list them from here. */
#include "picture/section.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

static const struct attn_figure_method figures[] = {
    {"heatmap", attn_heatmap_plan, attn_panels_draw, attn_heatmap_print, 0, NULL, NULL},
    {"grid", attn_grid_plan, attn_panels_draw, NULL, 0, NULL, NULL},
    {"lines", attn_lines_plan, attn_lines_draw, NULL, ATTN_FIGURE_NO_LEGEND, "query", NULL},
    {"words", attn_words_plan, attn_words_draw, attn_words_print, ATTN_FIGURE_ONE_ROW, "query", NULL},
    {"vectors", attn_vectors_plan, attn_vectors_draw, attn_vectors_print, 0, "axes", "embed"},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

const char *attn_figure_name(size_t i)
{
    return i < FIGURES ? figures[i].name : NULL;
}

const char *attn_figure_show(const char *figure)
{
    const struct attn_figure_method *m;
    return attn_figure_find(&m, figure, NULL) ? NULL : m->show;
}

bool attn_figure_takes(const char *figure, const char *option)
{
    const struct attn_figure_method *m;
    return !attn_figure_find(&m, figure, NULL) && m->takes && !strcmp(m->takes, option);
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
