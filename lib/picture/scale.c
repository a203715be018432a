#include "picture/scale.h"

#include <math.h>
#include <string.h>

enum { DECADES = 6 };

struct range { double least, most, least_positive; };   /* of finite numbers; least > most: none yet */

static size_t first_column(const struct attn_scale *s, const struct attn_sheet *sheet)
{
    return s->hide_first && sheet->keys && sheet->cols;
}

static void count(struct attn_scale *s, struct range *r, double x)
{
    if (isnan(x)) {
        s->nan++;
    } else if (isinf(x)) {
        ++*(x < 0 ? &s->hidden : &s->inf);
    } else {
        r->least = fmin(r->least, x);
        r->most = fmax(r->most, x);
        if (x > 0)
            r->least_positive = fmin(r->least_positive, x);
        else
            s->unlogged += s->scaling == ATTN_COLOR_LOG;
    }
}

/* Number of columns of row r that the mask leaves. */
static size_t seen_columns(const struct attn_scale *s, const struct attn_sheet *sheet, size_t r)
{
    size_t seen = r % sheet->rows + 1;
    return s->triangle && seen < sheet->cols ? seen : sheet->cols;
}

static void count_sheet(struct attn_scale *s, struct range *r, const struct attn_sheet *sheet)
{
    for (size_t i = 0; i < sheet->n * sheet->rows; i++)
        for (size_t j = first_column(s, sheet), n = seen_columns(s, sheet, i); j < n; j++)
            count(s, r, (double)sheet->data[i * sheet->cols + j]);
}

static void set_ends(struct attn_scale *s, const struct range *r, bool diverges)
{
    bool any = r->least <= r->most, below = any && r->least < 0;
    if (s->scaling == ATTN_COLOR_LOG) {
        bool positive = any && r->most > 0;
        s->high = positive ? log10(r->most) : 0;
        s->low = positive ? fmax(log10(r->least_positive), s->high - DECADES) : -1;
    } else {
        s->low = s->scaling == ATTN_COLOR_BY_ROW ? -(double)below : below ? r->least : 0;
        s->high = s->scaling == ATTN_COLOR_BY_ROW ? 1 : any ? fmax(r->most, 0) : 0;
        if (diverges)
            s->low = -(s->high = fmax(s->high, -s->low));
    }
    if (s->low == s->high) {            /* all numbers are equal: they are at the lower end */
        s->high += s->scaling == ATTN_COLOR_LOG ? 0 : 1;
        s->low -= s->scaling == ATTN_COLOR_LOG ? 1 : diverges;
    }
}

void attn_scale_make(struct attn_scale *out, const struct attn_album *a, const struct attn_sheet *first, const struct attn_look *look)
{
    struct range r = {INFINITY, -INFINITY, INFINITY};
    *out = (struct attn_scale){.scaling = look->scaling, .hide_first = look->hide_first, .triangle = true};
    for (const struct attn_sheet *s = first; s; s = attn_album_next_sheet(a, s))
        out->triangle &= attn_sheet_is_triangle(s);
    for (const struct attn_sheet *s = first; s; s = attn_album_next_sheet(a, s))
        count_sheet(out, &r, s);
    set_ends(out, &r, attn_palette_diverges(look->palette));
}

static uint8_t step_of(const struct attn_scale *s, double x)
{
    if (x == -(double)INFINITY || (s->scaling == ATTN_COLOR_LOG && x <= 0))
        return ATTN_STEP_BLANK;
    if (!isfinite(x))
        return ATTN_STEP_NAN;
    if (s->scaling == ATTN_COLOR_LOG)
        x = log10(x);
    double at = (x - s->low) / (s->high - s->low) * (ATTN_STEPS - 1);
    return at <= 0 ? 0 : at >= ATTN_STEPS - 1 ? ATTN_STEPS - 1 : (uint8_t)lround(at);
}

/* What the numbers of a row are divided by: the largest magnitude, or 1. */
static double largest(const float *row, size_t from, size_t n)
{
    double most = 0;
    for (size_t j = from; j < n; j++)
        if (isfinite(row[j]))
            most = fmax(most, fabs((double)row[j]));
    return most > 0 ? most : 1;
}

void attn_scale_row(const struct attn_scale *s, uint8_t *steps, const struct attn_sheet *sheet, size_t r)
{
    const float *row = sheet->data + r * sheet->cols;
    size_t from = first_column(s, sheet), n = seen_columns(s, sheet, r);
    double divisor = s->scaling == ATTN_COLOR_BY_ROW ? largest(row, from, n) : 1;
    memset(steps, ATTN_STEP_BLANK, sheet->cols);
    for (size_t j = from; j < n; j++)
        steps[j] = step_of(s, (double)row[j] / divisor);
}

double attn_scale_value(const struct attn_scale *s, unsigned step)
{
    double at = s->low + (s->high - s->low) * step / (ATTN_STEPS - 1);
    return s->scaling == ATTN_COLOR_LOG ? pow(10, at) : at;
}
