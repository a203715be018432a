/* scale.c - maps numbers to the steps of a palette, and back.
 *
 *     linear   from the smallest number (0 if none is below) to the largest
 *     sqrt     the square root, on either side of 0: between both, for patterns of many keys
 *     log      the logarithm, over at most six decades below the largest number; where numbers are below 0, or the
 *              palette diverges, that of the magnitude on either side of a middle for 0
 *     row      each row divided by its largest magnitude, so that faint rows show
 *
 * One scale serves all sheets of a kind.  A diverging palette has 0 in its middle.  Numbers outside of the scale have
 * special steps, and are counted. */
#include "picture/section.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

enum { DECADES = 6 };

/* of finite numbers; smallest: magnitude above 0; least > most: none yet */
struct range { double least, most, smallest; };

static size_t first_column(const struct attn_scale *s, const struct attn_sheet *sheet)
{
    return s->hide_first && sheet->keys && sheet->cols;
}

static void count(struct attn_scale *s, struct range *r, double x)
{
    if (isnan(x)) {
        s->nan++;
    } else if (isinf(x)) {
        ++*(x < 0 ? &s->below : &s->inf);
    } else {
        r->least = fmin(r->least, x);
        r->most = fmax(r->most, x);
        if (x != 0)
            r->smallest = fmin(r->smallest, fabs(x));
        s->unlogged += s->scaling == ATTN_COLOR_LOG && x <= 0;
    }
}

static void count_sheet(struct attn_scale *s, struct range *r, const struct attn_sheet *sheet)
{
    for (size_t i = 0; i < sheet->n * sheet->rows; i++)
        for (size_t j = first_column(s, sheet); j < sheet->cols; j++) {
            if (attn_sheet_hides(sheet, i, j))
                s->masked = true;
            else
                count(s, r, (double)sheet->data[i * sheet->cols + j]);
        }
}

/* The smallest number is a decade from the middle, so that it does not look like 0. */
static void set_mirrored_ends(struct attn_scale *s, const struct range *r)
{
    double most = r->smallest < INFINITY ? log10(fmax(r->most, -r->least)) : 0;
    s->mirrored = true;
    s->unlogged = 0;
    s->middle = r->smallest < INFINITY ? fmax(log10(r->smallest) - 1, most - DECADES) : -1;
    s->low = -(s->high = most - s->middle);
}

static void set_ends(struct attn_scale *s, const struct range *r, bool diverges)
{
    bool any = r->least <= r->most, below = any && r->least < 0;
    if (s->scaling == ATTN_COLOR_LOG && (below || diverges)) {
        set_mirrored_ends(s, r);
    } else if (s->scaling == ATTN_COLOR_LOG) {
        bool positive = any && r->most > 0;
        s->high = positive ? log10(r->most) : 0;
        s->low = positive ? fmax(log10(r->smallest), s->high - DECADES) : -1;
        s->cut = positive && log10(r->smallest) < s->low - 1e-6;        /* more than a float's rounding */
    } else if (s->scaling == ATTN_COLOR_SQRT) {
        s->low = below ? -sqrt(-r->least) : 0;
        s->high = any ? sqrt(fmax(r->most, 0)) : 0;
        if (diverges)
            s->low = -(s->high = fmax(s->high, -s->low));
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

void attn_scale_make(struct attn_scale *out, const struct attn_album *a, const struct attn_sheet *first,
                     const struct attn_look *look)
{
    struct range r = {INFINITY, -INFINITY, INFINITY};
    *out = (struct attn_scale){.scaling = first->sight ? ATTN_COLOR_LINEAR : look->scaling,
                               .hide_first = look->hide_first && first->keys, .sight = first->sight};
    for (const struct attn_sheet *s = first; s; s = attn_album_next_sheet(a, s))
        count_sheet(out, &r, s);
    if (out->scaling == ATTN_COLOR_AUTO)
        out->scaling = first->keys && first->cols > ATTN_MANY_KEYS && r.least >= 0 ? ATTN_COLOR_SQRT
            : ATTN_COLOR_LINEAR;
    set_ends(out, &r, attn_palette_diverges(look->palette));
}

/* A figure of one row is scaled by it. */
const struct attn_palette *attn_scale_choose(struct attn_scale *out, const struct attn_album *a,
                                             const struct attn_sheet *first, const struct attn_look *look, bool light)
{
    struct attn_look with = *look;
    if (look->figure && look->figure->flags & ATTN_FIGURE_ONE_ROW && look->scaling == ATTN_COLOR_AUTO)
        with.scaling = ATTN_COLOR_BY_ROW;
    with.palette = look->chosen ? look->palette : attn_palette_usual(light, false);
    attn_scale_make(out, a, first, &with);
    if (!look->chosen && attn_scale_value(out, 0) < 0 && attn_scale_value(out, ATTN_STEPS - 1) > 0) {
        with.palette = attn_palette_usual(light, true);
        attn_scale_make(out, a, first, &with);
    }
    return with.palette;
}

/* Where a number is between low and high. */
static double place_of(const struct attn_scale *s, double x)
{
    if (s->mirrored)
        return x == 0 ? 0 : copysign(fmax(log10(fabs(x)) - s->middle, 0), x);
    return s->scaling == ATTN_COLOR_LOG ? log10(x) : s->scaling == ATTN_COLOR_SQRT ? copysign(sqrt(fabs(x)), x) : x;
}

static uint8_t step_of(const struct attn_scale *s, double x)
{
    if (s->sight && !isnan(x))
        return x > (s->sight == ATTN_ONE_IS_SEEN ? 0 : -(double)INFINITY) ? ATTN_STEPS - 1 : 0;
    if (x == -(double)INFINITY || (s->scaling == ATTN_COLOR_LOG && !s->mirrored && x <= 0))
        return ATTN_STEP_BLANK;
    if (!isfinite(x))
        return ATTN_STEP_NAN;
    double at = (place_of(s, x) - s->low) / (s->high - s->low) * (ATTN_STEPS - 1);
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
    size_t from = first_column(s, sheet);
    double divisor = s->scaling == ATTN_COLOR_BY_ROW ? largest(row, from, sheet->cols) : 1;
    memset(steps, ATTN_STEP_BLANK, sheet->cols);
    for (size_t j = from; j < sheet->cols; j++)
        if (!attn_sheet_hides(sheet, r, j))
            steps[j] = step_of(s, (double)row[j] / divisor);
}

double attn_scale_value(const struct attn_scale *s, unsigned step)
{
    double at = s->low + (s->high - s->low) * step / (ATTN_STEPS - 1);
    if (s->mirrored)
        return copysign(pow(10, fabs(at) + s->middle), at);
    return s->scaling == ATTN_COLOR_LOG ? pow(10, at) : s->scaling == ATTN_COLOR_SQRT ? at * fabs(at) : at;
}

enum { MANY = 6 };                      /* at most so many steps between ticks */

/* ---- numbers next to the scale --------------------------------------------------------- */

/* m times ten to the power e, rounded only once: 3 and -1 give exactly 0.3, not a neighbour. */
static double decimal(double m, int e)
{
    return e < 0 ? m / pow(10, -e) : m * pow(10, e);
}

static size_t add_tick(struct attn_tick *tick, size_t n, const struct attn_scale *s, double x)
{
    double at = (place_of(s, x) - s->low) / (s->high - s->low);
    if (n == ATTN_TICKS_MAX || at < -1e-9 || at > 1 + 1e-9)
        return n;
    tick[n].at = fmin(fmax(at, 0), 1);
    tick[n].text[attn_num_f64(tick[n].text, x)] = '\0';
    return n + 1;
}

/* Powers of ten on either side of 0. */
static size_t mirrored_ticks(struct attn_tick *tick, const struct attn_scale *s)
{
    size_t n = 0;
    int first = (int)floor(s->middle) + 1, last = (int)floor(s->middle + s->high + 1e-9);
    for (int e = last; e >= first; e--)
        n = add_tick(tick, n, s, -decimal(1, e));
    n = add_tick(tick, n, s, 0);
    for (int e = first; e <= last; e++)
        n = add_tick(tick, n, s, decimal(1, e));
    return n;
}

/* Powers of ten, and 2 and 5 times these if there are few. */
static size_t log_ticks(struct attn_tick *tick, const struct attn_scale *s)
{
    size_t n = 0;
    bool few = s->high - s->low < 2;
    for (int e = (int)floor(s->low); e <= (int)ceil(s->high); e++) {
        n = add_tick(tick, n, s, decimal(1, e));
        if (few)
            n = add_tick(tick, add_tick(tick, n, s, decimal(2, e)), s, decimal(5, e));
    }
    return n;
}

/* Ticks a unit apart are far from each other near 0: between 0 and the first there are two more. */
static size_t sqrt_ticks(struct attn_tick *tick, const struct attn_scale *s, int m, int e)
{
    const double parts[] = {0.1, 0.5};
    double low = s->low * fabs(s->low), high = s->high * fabs(s->high), unit = decimal(m, e);
    size_t n = 0;
    for (double k = ceil(low / unit - 1e-9); k <= high / unit + 1e-9 && n < ATTN_TICKS_MAX; k++) {
        for (size_t i = 2; k == 0 && i > 0; i--)
            n = add_tick(tick, n, s, -decimal(m * parts[i - 1] * 10, e - 1));
        n = add_tick(tick, n, s, decimal(k * m, e) + 0.0);
        for (size_t i = 0; k == 0 && i < 2; i++)
            n = add_tick(tick, n, s, decimal(m * parts[i] * 10, e - 1));
    }
    return n;
}

size_t attn_scale_ticks(struct attn_tick tick[ATTN_TICKS_MAX], const struct attn_scale *s)
{
    if (s->mirrored)
        return mirrored_ticks(tick, s);
    if (s->scaling == ATTN_COLOR_LOG)
        return log_ticks(tick, s);
    bool root = s->scaling == ATTN_COLOR_SQRT;
    double span = root ? s->high * fabs(s->high) - s->low * fabs(s->low) : s->high - s->low;
    int e = (int)floor(log10(span / MANY));
    double rest = span / MANY / pow(10, e);
    int m = rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10;
    if (root)
        return sqrt_ticks(tick, s, m, e);
    double unit = decimal(m, e);
    size_t n = 0;
    for (double k = ceil(s->low / unit - 1e-9); k * unit <= s->high + unit * 1e-9 && n < ATTN_TICKS_MAX; k++)
        n = add_tick(tick, n, s, decimal(k * m, e) + 0.0);      /* adding 0 turns -0 into 0 */
    return n;
}

void attn_scale_end(char text[32], const struct attn_scale *s, bool last)
{
    double x = attn_scale_value(s, last ? ATTN_STEPS - 1 : 0);
    int e = x != 0 ? (int)floor(log10(fabs(x))) - 3 : 0;
    text[attn_num_f64(text, decimal(round(x / pow(10, e)), e) + 0.0)] = '\0';
}

/* ---- values outside of the scale ------------------------------------------------------- */

bool attn_scale_is_bar(const struct attn_scale *s)
{
    return !s->sight;
}

/* Which of the two values of a mask means what. */
static void say_sight(char text[96], const struct attn_scale *s, bool seen, int *step)
{
    const struct attn_language *l = s->language;
    bool ones = s->sight == ATTN_ONE_IS_SEEN;
    *step = seen ? ATTN_STEPS - 1 : 0;
    snprintf(text, 96, seen ? attn_tr(l, "%s: the query sees the key") : attn_tr(l, "%s: hidden by the mask"),
             seen ? ones ? "1" : "0" : ones ? "0" : "-inf");
}

bool attn_legend_line(const struct attn_scale *s, size_t i, char text[96], int *step)
{
    const struct attn_language *l = s->language;
    size_t n = 0;
    *step = -1;
    if (s->scaling != ATTN_COLOR_LINEAR && i == n++) {
        snprintf(text, 96, "%s", s->mirrored ? attn_tr(l, "logarithms of magnitudes, 0 in the middle")
                 : s->scaling == ATTN_COLOR_SQRT ? attn_tr(l, "colours by square roots")
                 : s->cut ? attn_tr(l, "logarithmic, six decades: smaller numbers look alike")
                 : s->scaling == ATTN_COLOR_LOG ? attn_tr(l, "logarithmic")
                 : attn_tr(l, "each row divided by its largest magnitude"));
        return true;
    }
    if (s->hide_first && i == n++) {
        *step = ATTN_STEP_BLANK;
        snprintf(text, 96, "%s", attn_tr(l, "first key hidden, nothing renormalised"));
        return true;
    }
    if (s->sight && i < (n += 2)) {
        say_sight(text, s, i == n - 2, step);
        return true;
    }
    if (s->masked && i == n++) {
        *step = ATTN_STEP_BLANK;
        snprintf(text, 96, "%s", attn_tr(l, "hidden by the mask"));
        return true;
    }
    if (s->below && !s->sight && i == n++) {
        *step = ATTN_STEP_BLANK;
        snprintf(text, 96, attn_tr(l, "%llu of -inf"), (unsigned long long)s->below);
        return true;
    }
    if (s->unlogged && i == n++) {
        *step = ATTN_STEP_BLANK;
        snprintf(text, 96, attn_tr(l, "%llu not above 0"), (unsigned long long)s->unlogged);
        return true;
    }
    if (s->nan + s->inf && i == n) {
        *step = ATTN_STEP_NAN;
        if (!s->inf)
            snprintf(text, 96, "%" PRIu64 " NaN", s->nan);
        else
            snprintf(text, 96, "%" PRIu64 " NaN, %" PRIu64 " inf", s->nan, s->inf);
        return true;
    }
    return false;
}
