/* low_contrast.c - does a picture show next to nothing, and what would show more?
 *
 * Colours are faint where nearly all numbers above 0 are below a tenth of the largest: they share a tenth of the
 * palette, and what one sees are a few cells.  On a logarithmic scale such numbers differ.  Few cells, and signed
 * numbers, are let alone. */
#include "picture/figure.h"

#include <math.h>
#include <stdio.h>

enum { CELLS_LEAST = 64, TENTH = 10, NEARLY_ALL = 95 /* percent */ };

struct tally { uint64_t seen, low; };

static void count_row(struct tally *t, const float *row, size_t from, size_t n, double limit)
{
    for (size_t j = from; j < n; j++)
        if (row[j] > 0 && isfinite(row[j])) {
            t->seen++;
            t->low += (double)row[j] < limit;
        }
}

/* Of the sheets of a kind, how much is faint: a percentage, 0 if nothing is to be said. */
static unsigned low_contrast_part(const struct attn_album *a, const struct attn_sheet *first,
                                  const struct attn_look *look)
{
    struct attn_scale scale;
    struct tally t = {0};
    attn_scale_make(&scale, a, first, look);
    for (const struct attn_sheet *s = first; s && scale.low == 0 && scale.scaling == ATTN_COLOR_LINEAR;
         s = attn_album_next_sheet(a, s))
        for (size_t i = 0; i < s->n * s->rows; i++)
            count_row(&t, s->data + i * s->cols, look->hide_first && s->keys, s->cols, scale.high / TENTH);
    unsigned part = t.seen >= CELLS_LEAST ? (unsigned)(100 * t.low / t.seen) : 0;
    return part >= NEARLY_ALL ? part : 0;
}

bool attn_album_low_contrast(char text[ATTN_LOW_CONTRAST_TEXT], const struct attn_album *a,
                             const struct attn_look *look)
{
    struct attn_look other = *look;
    other.hide_first = true;
    for (size_t i = 0; i < a->n && (look->scaling == ATTN_COLOR_LINEAR || look->scaling == ATTN_COLOR_AUTO); i++) {
        const struct attn_sheet *s = &a->sheet[i];
        unsigned part = attn_album_opens_kind(a, i) ? low_contrast_part(a, s, look) : 0;
        if (!part)
            continue;
        bool helps = s->keys && !look->hide_first && !low_contrast_part(a, s, &other);
        snprintf(text, ATTN_LOW_CONTRAST_TEXT, "%s: %u %% of the numbers above 0 are below a tenth of the largest and "
                                               "look alike: --color-scale log tells them apart%s", s->kind, part,
                 helps ?
                 ", and --hide-first those beside the first key" : "");
        return true;
    }
    return false;
}
