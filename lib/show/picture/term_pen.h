/* term_pen.h - colours on a terminal, or shades without them, and what they mean. */
#ifndef ATTN_PICTURE_TERM_PEN_H
#define ATTN_PICTURE_TERM_PEN_H

#include "picture/figure.h"
#include "picture/look.h"

struct attn_term_pen {
    struct attn_out *out;
    const struct attn_look *look;
    const struct attn_palette *palette;
    int painted;                        /* the step cells are now painted in; -1: none */
};

/* A pen for the matrices of a kind, and their scale.  Shades have one direction, whatever the signs. */
struct attn_term_pen attn_term_begin(struct attn_scale *s, struct attn_out *o, const struct attn_album *a,
                                     const struct attn_sheet *first, const struct attn_look *look);
/* The ground of what follows is a step's colour; -1: the terminal's own. */
void attn_term_paint(struct attn_term_pen *p, int step);
/* The same, with letters that stand out from it. */
void attn_term_paint_letters(struct attn_term_pen *p, int step);
/* A cell of so many columns, in colour or as a shade. */
void attn_term_cell(struct attn_term_pen *p, uint8_t step, size_t columns);
/* The title of a kind, in bold where there are colours. */
void attn_term_title(struct attn_term_pen *p, const struct attn_album *a, const char *title, const char *axes,
                     const char *more);
/* What colours or shades mean, in one line if it is not longer than the terminal; indented by so many columns. */
void attn_term_legend(struct attn_term_pen *p, const struct attn_scale *s, size_t indent);

#endif
