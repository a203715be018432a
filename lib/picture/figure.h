/* figure.h - a page: a heading with model and sentence, then one section for each kind of matrix. */
#ifndef ATTN_PICTURE_FIGURE_H
#define ATTN_PICTURE_FIGURE_H

#include "picture/section.h"

struct attn_figure {
    const struct attn_album *album;
    struct attn_section *section; size_t n;
    size_t largest;                     /* numbers of the largest matrix */
    size_t width, height;               /* pixels */
};

int attn_figure_plan(struct attn_figure *f, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);
int attn_figure_draw(const struct attn_figure *f, const struct attn_pen *pen, struct attn_err *err);
void attn_figure_free(struct attn_figure *f);           /* zeroed is fine */

#endif
