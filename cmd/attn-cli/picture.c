#include "picture.h"

#include "terminal.h"

#include <stdlib.h>
#include <string.h>

static struct { const char *scale, *palette; struct number cell; bool hide_first; } o;

static const char *const scales[] = {"linear", "log", "row", NULL};
static const char *const palettes[] = {"viridis", "magma", "cividis", "gray", "balance", NULL};

const struct option picture_options[] = {
    {0, "color-scale", OPT_CHOICE, &o.scale, "SCALE", "pictures: colours show numbers as they are (linear, the default), their "
     "logarithms (log), or each row divided by its largest number (row)", .choices = scales, .flags = OPT_COUNTS},
    {0, "hide-first", OPT_FLAG, &o.hide_first, NULL, "pictures: leave out the first key, where attention often gathers; nothing "
     "is renormalised", .flags = OPT_COUNTS},
    {0, "palette", OPT_CHOICE, &o.palette, "NAME", "pictures: viridis (the default), magma, cividis or gray, from dark to light; "
     "balance, blue below 0 and orange above", .choices = palettes, .flags = OPT_COUNTS},
    {0, "cell", OPT_NUMBER, &o.cell, "N", "pictures: size of each number, in pixels or terminal columns (default: as fits)",
     .min = 1,
     .max = 64, .flags = OPT_COUNTS},
    {.name = NULL},
};

static int colors(bool terminal)
{
    const char *more = getenv("COLORTERM");
    bool all = more && (!strcmp(more, "truecolor") || !strcmp(more, "24bit"));
    return !terminal_colored(terminal) ? 0 : all ? 1 << 24 : 256;
}

struct attn_picture_opts picture_look(bool terminal)
{
    return (struct attn_picture_opts){.palette = o.palette, .scale = o.scale, .hide_first = o.hide_first,
                                      .cell = (size_t)o.cell.n, .colors = colors(terminal)};
}

const char *picture_default_show(const char *format)
{
    static const char *const formats[] = {"term", "png", "svg", NULL};
    for (size_t i = 0; format && formats[i]; i++)
        if (!strcmp(format, formats[i]))
            return "pattern";
    return NULL;
}
