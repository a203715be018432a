#include "picture/drawing.h"

#include <string.h>

#include "picture/html.h"
#include "picture/png.h"
#include "picture/svg.h"
#include "picture/term.h"

static const struct attn_drawing drawings[] = {
    {"term", false, attn_term_write},
    {"png", false, attn_png_write},
    {"svg", false, attn_svg_write},
    {"html", true, attn_html_write},
};

const struct attn_drawing *attn_drawing_find(const char *format)
{
    for (size_t i = 0; i < sizeof drawings / sizeof drawings[0]; i++)
        if (!strcmp(drawings[i].format, format))
            return &drawings[i];
    return NULL;
}

const char *attn_drawing_list(void)
{
    return "term, png, svg, html";
}
