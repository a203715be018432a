#include "compare/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 1e-4;    /* float32 products are summed in different orders on different machines */

struct attn_pair attn_pair_of(const float *a, const float *b, size_t H, size_t T, size_t n)
{
    return (struct attn_pair){a, b, H, T, n, T * n, n};
}

struct attn_pair attn_pair_split(const struct attn_pair *p, size_t H)
{
    return (struct attn_pair){p->a, p->b, H, p->T, p->n / H, p->n / H, p->ld};
}

/* ---- gaps ------------------------------------------------------------------------------ */

struct sums { double difference, b; bool odd; };

static void add(struct sums *s, double a, double b)
{
    if (!isfinite(a) || !isfinite(b)) {
        s->odd |= isfinite(a) || isfinite(b);
        return;
    }
    s->difference += (a - b) * (a - b);
    s->b += b * b;
}

static double gap_of(const struct sums *s)
{
    if (s->odd)
        return INFINITY;
    return s->difference == 0 ? 0 : s->b == 0 ? INFINITY : sqrt(s->difference / s->b);
}

double attn_gap(const float *a, const float *b, size_t n)
{
    struct sums s = {0};
    for (size_t i = 0; i < n; i++)
        add(&s, a[i], b[i]);
    return gap_of(&s);
}

static const float *row(const struct attn_pair *p, const float *x, size_t h, size_t t)
{
    return x + h * p->ld_head + t * p->ld;
}

/* ---- values that are suspicious by themselves ------------------------------------------ */

struct attn_nans attn_count_nans(const struct attn_pair *p)
{
    struct attn_nans of[2] = {{.of_a = true}, {.of_a = false}};
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                bool a = isnan(row(p, p->a, h, t)[j]), b = isnan(row(p, p->b, h, t)[j]);
                struct attn_nans *one = a == b ? NULL : &of[b];
                if (one && one->n++ == 0)
                    *one = (struct attn_nans){1, h, t, j, a};
            }
    return of[of[1].n > of[0].n];
}

float attn_round_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isfinite(x))
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

float attn_round_f16(float x)
{
    int exponent;
    if (!isfinite(x) || fabsf(x) > 65504)
        return x;
    frexpf(x, &exponent);
    int steps = 11 - (exponent < -13 ? -13 : exponent);
    return (float)ldexp(nearbyint(ldexp((double)x, steps)), -steps);
}

/* Whether x is y rounded, and y is not rounded already. */
static bool is_rounded(const struct attn_pair *p, const float *x, const float *y, float (*round)(float))
{
    const size_t moved = 100;           /* one number in `moved` may have been rounded the other way */
    size_t n = 0, off = 0, plain = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++, n++) {
                float a = row(p, x, h, t)[j], b = row(p, y, h, t)[j];
                if (round(a) != a && isfinite(a))
                    return false;
                off += isfinite(b) && round(b) != a;
                plain += round(b) == b;
            }
    return off * moved <= n && plain < n;
}

struct attn_stored attn_seems_stored(const struct attn_pair *p)
{
    static const struct { const char *name; float (*round)(float); double rtol; } types[] = {
        {"bf16", attn_round_bf16, 0.01}, {"float16", attn_round_f16, 0.001}};
    for (size_t i = 0; i < 2 * sizeof types / sizeof *types; i++) {
        bool a = i % 2 == 0;
        if (is_rounded(p, a ? p->a : p->b, a ? p->b : p->a, types[i / 2].round))
            return (struct attn_stored){types[i / 2].name, a, types[i / 2].rtol};
    }
    return (struct attn_stored){0};
}

/* Gap between a and factor * b. */
static double scaled_gap(const struct attn_pair *p, double factor)
{
    struct sums s = {0};
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++)
                add(&s, row(p, p->a, h, t)[j], factor * (double)row(p, p->b, h, t)[j]);
    return gap_of(&s);
}

double attn_pair_gap(const struct attn_pair *p)
{
    return scaled_gap(p, 1);
}

bool attn_gap_explained(double after, double before)
{
    return after <= rounding && after <= 0.1 * before;
}

/* ---- general shapes of a difference ---------------------------------------------------- */

bool attn_seems_scaled(const struct attn_pair *p, double *factor)
{
    double ab = 0, bb = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++) {
                double a = row(p, p->a, h, t)[j], b = row(p, p->b, h, t)[j];
                if (isfinite(a) && isfinite(b)) {
                    ab += a * b;
                    bb += b * b;
                }
            }
    *factor = ab / bb;
    return bb > 0 && ab != 0 && attn_gap_explained(scaled_gap(p, *factor), attn_pair_gap(p));
}

/* Gap between head h of a and head g of b, using every step-th row. */
static double head_gap(const struct attn_pair *p, size_t h, size_t g, size_t step)
{
    struct sums s = {0};
    for (size_t t = p->T - 1 - (p->T - 1) / step * step; t < p->T; t += step)
        for (size_t j = 0; j < p->n; j++)
            add(&s, row(p, p->a, h, t)[j], row(p, p->b, g, t)[j]);
    return gap_of(&s);
}

bool attn_seems_reordered(const struct attn_pair *p, size_t *map)
{
    enum { SAMPLE = 4096 };             /* numbers of a head to compare, since all pairs of heads are tried */
    size_t step = 1 + p->T * p->n / SAMPLE;
    bool moved = false;
    if (!p->T || !p->n || p->H > ATTN_HEADS_TRIED)
        return false;
    for (size_t h = 0; h < p->H; h++) {
        double best = head_gap(p, h, h, step);
        map[h] = h;
        for (size_t g = 0; g < p->H; g++) {
            double gap = g == h ? best : head_gap(p, h, g, step);
            if (gap < best) {
                best = gap;
                map[h] = g;
            }
        }
        moved |= map[h] != h;
        if (head_gap(p, h, map[h], 1) > rounding)
            return false;
    }
    return moved;
}

/* Sums of a - b before and after its mean over the rows is subtracted. */
static void offset_sums(const struct attn_pair *p, size_t h, size_t j, struct sums *before, struct sums *after)
{
    double mean = 0;
    for (size_t t = 0; t < p->T; t++)
        mean += ((double)row(p, p->a, h, t)[j] - (double)row(p, p->b, h, t)[j]) / (double)p->T;
    for (size_t t = 0; t < p->T; t++) {
        double a = row(p, p->a, h, t)[j], b = row(p, p->b, h, t)[j];
        add(before, a, b);
        add(after, a - mean, b);
    }
}

bool attn_seems_offset(const struct attn_pair *p)
{
    struct sums before = {0}, after = {0};
    for (size_t h = 0; h < p->H; h++)
        for (size_t j = 0; j < p->n; j++)
            offset_sums(p, h, j, &before, &after);
    return p->T > 1 && attn_gap_explained(gap_of(&after), gap_of(&before));
}

/* Gap between x's column h * n + j and y's column j * H + h. */
static double merged_gap(const struct attn_pair *p, const float *x, const float *y)
{
    struct sums s = {0};
    for (size_t t = 0; t < p->T; t++)
        for (size_t h = 0; h < p->H; h++)
            for (size_t j = 0; j < p->n; j++)
                add(&s, y[t * p->ld + j * p->H + h], x[t * p->ld + h * p->n + j]);
    return gap_of(&s);
}

bool attn_seems_merged_wrong(const struct attn_pair *p, bool *a_is_wrong)
{
    double before = attn_pair_gap(p);
    *a_is_wrong = attn_gap_explained(merged_gap(p, p->b, p->a), before);
    return p->H > 1 && p->n > 1 && (*a_is_wrong || attn_gap_explained(merged_gap(p, p->a, p->b), before));
}

static int ascending(const void *a, const void *b)
{
    const float *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void sorted_row(float *out, const struct attn_pair *p, const float *x, size_t t)
{
    for (size_t h = 0; h < p->H; h++)
        memcpy(out + h * p->n, row(p, x, h, t), p->n * sizeof *out);
    qsort(out, p->H * p->n, sizeof *out, ascending);
}

bool attn_seems_shuffled(const struct attn_pair *p)
{
    size_t width = p->H * p->n, rows = p->T < 64 ? p->T : 64;       /* more rows would prove no more */
    float *a = malloc(2 * width * sizeof *a + 1), *b = a ? a + width : NULL;
    bool same = b && width >= 4 && rows && attn_pair_gap(p) > rounding;
    for (size_t t = 0; t < rows && same; t++) {
        sorted_row(a, p, p->a, t);
        sorted_row(b, p, p->b, t);
        same = attn_gap(a, b, width) <= rounding / 10;
    }
    free(a);
    return same;
}

bool attn_seems_sum(const struct attn_pair *p, const float *term, double *sign)
{
    for (*sign = 1; *sign >= -1; *sign -= 2) {
        struct sums s = {0};
        for (size_t t = 0; t < p->T; t++)
            for (size_t j = 0; j < p->n; j++)
                add(&s, (double)p->a[t * p->ld + j] - *sign * (double)term[t * p->n + j], p->b[t * p->ld + j]);
        if (attn_gap_explained(gap_of(&s), attn_pair_gap(p)))
            return true;
    }
    return false;
}

bool attn_seems_later(const struct attn_pair *p, const float *a, const float *b, size_t *by)
{
    for (*by = 1; *by + 2 <= p->T && p->H == 1; ++*by) {
        size_t n = (p->T - *by) * p->n;
        if (attn_gap_explained(attn_gap(a, b + *by * p->n, n), attn_gap(a, b, n)))
            return true;
    }
    return false;
}

bool attn_seems_late(const float *a, size_t Ta, const float *b, size_t Tb, size_t n)
{
    size_t T = Ta < Tb ? Ta : Tb - 1;
    struct attn_pair home = attn_pair_of(a, b, 1, T, n);
    return Tb > 1 && T && attn_gap_explained(attn_gap(a, b + n, T * n), attn_pair_gap(&home));
}

/* ---- attention ------------------------------------------------------------------------- */

static bool hidden(float x, bool pattern)
{
    return pattern ? x == 0 : !(x > -10000.0f);         /* masks use -1e4 and lower numbers; also true for NaN */
}

/* Notes that only one side hides key k from query q. */
static void note_mask(struct attn_mask_found *f, bool a_hides, size_t q, size_t k)
{
    enum attn_mask_kind kind = k > q ? ATTN_MASK_FUTURE : ATTN_MASK_PAST;
    if (!f->hidden[0] && !f->hidden[1])
        *f = (struct attn_mask_found){.kind = kind, .a_hides = a_hides, .window = kind == ATTN_MASK_PAST ? q - k : 0,
                                      .q = q, .k = k};
    f->hidden[!a_hides]++;
    if (f->kind != kind || f->a_hides != a_hides)
        f->kind = ATTN_MASK_OTHER;
    if (kind == ATTN_MASK_PAST && q - k < f->window)
        f->window = q - k;
}

/* Whether the side that hides keys hides all of the kind: all later ones, or all outside of a window. */
static bool hides_all(const struct attn_pair *p, bool pattern, const struct attn_mask_found *f)
{
    for (size_t h = 0; h < p->H; h++)
        for (size_t q = 0; q < p->T; q++)
            for (size_t k = 0; k < p->n; k++) {
                bool of_kind = f->kind == ATTN_MASK_FUTURE ? k > q : k + f->window <= q;
                if (of_kind && !hidden(row(p, f->a_hides ? p->a : p->b, h, q)[k], pattern))
                    return false;
            }
    return f->kind == ATTN_MASK_FUTURE || f->window > 0;
}

struct attn_mask_found attn_seems_masked(const struct attn_pair *p, bool pattern)
{
    struct attn_mask_found f = {.kind = ATTN_MASK_SAME};
    float number = 0;
    bool number_in_a = false;
    for (size_t h = 0; h < p->H; h++)
        for (size_t q = 0; q < p->T; q++)
            for (size_t k = 0; k < p->n; k++) {
                float a = row(p, p->a, h, q)[k], b = row(p, p->b, h, q)[k];
                bool a_hides = hidden(a, pattern), b_hides = hidden(b, pattern);
                if (pattern && a_hides != b_hides && a < 1e-6f && b < 1e-6f)
                    continue;           /* it may have underflowed on one side */
                if (a_hides != b_hides)
                    note_mask(&f, a_hides, q, k);
                else if (a_hides && isfinite(a) != isfinite(b)) {
                    number_in_a = isfinite(a);
                    number = number_in_a ? a : b;
                }
            }
    if (f.kind == ATTN_MASK_SAME && number < 0)
        f = (struct attn_mask_found){.kind = ATTN_MASK_NUMBER, .a_hides = number_in_a, .number = number};
    if ((f.kind == ATTN_MASK_FUTURE || f.kind == ATTN_MASK_PAST) && !hides_all(p, pattern, &f))
        f.kind = ATTN_MASK_OTHER;
    return f;
}

/* Adds the contribution of a row to the fit of the factor between the logarithms, each minus its mean over the row. */
static void temper_row(const float *a, const float *b, size_t n, double *ab, double *bb)
{
    double ma = 0, mb = 0, seen = 0;
    for (size_t k = 0; k < n; k++)
        if (a[k] > 1e-6f && b[k] > 1e-6f) {             /* smaller numbers have few digits left */
            ma += log(a[k]);
            mb += log(b[k]);
            seen++;
        }
    for (size_t k = 0; k < n; k++)
        if (a[k] > 1e-6f && b[k] > 1e-6f) {
            *ab += (log(a[k]) - ma / seen) * (log(b[k]) - mb / seen);
            *bb += (log(b[k]) - mb / seen) * (log(b[k]) - mb / seen);
        }
}

/* Adds the gap between sharp[n] and soft[n] to the power of factor, normalised to sum 1. */
static void tempered_row(struct sums *s, const float *sharp, const float *soft, size_t n, double factor)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += soft[k] > 0 ? pow(soft[k], factor) : 0;
    for (size_t k = 0; k < n; k++)
        add(s, soft[k] > 0 ? pow(soft[k], factor) / sum : 0, sharp[k]);
}

bool attn_seems_tempered(const struct attn_pair *p, double *factor)
{
    double ab = 0, bb = 0;
    struct sums after = {0};
    for (size_t h = 0; h < p->H; h++)
        for (size_t q = 0; q < p->T; q++)
            temper_row(row(p, p->a, h, q), row(p, p->b, h, q), p->n, &ab, &bb);
    *factor = ab / bb;
    /* 1 explains what is not tempered: rows of another sum */
    if (!(bb > 0) || !(*factor > 0) || fabs(*factor - 1) < 1e-3)
        return false;
    bool sharp_a = *factor > 1;         /* the softer side has numbers where the sharper one has rounded them to 0 */
    for (size_t h = 0; h < p->H; h++)
        for (size_t q = 0; q < p->T; q++)
            tempered_row(&after, row(p, sharp_a ? p->a : p->b, h, q), row(p, sharp_a ? p->b : p->a, h, q), p->n,
                         sharp_a ? *factor : 1 / *factor);
    return attn_gap_explained(gap_of(&after), attn_pair_gap(p));
}

bool attn_seems_wrong_axis(const float *x, const struct attn_pair *shape)
{
    double off_rows = 0, off_columns = 0;
    for (size_t h = 0; h < shape->H; h++)
        for (size_t i = 0; i < shape->T; i++) {
            double in_row = 0, in_column = 0;
            for (size_t k = 0; k < shape->n && shape->T == shape->n; k++) {
                in_row += row(shape, x, h, i)[k];
                in_column += row(shape, x, h, k)[i];
            }
            off_rows = fmax(off_rows, fabs(in_row - 1));
            off_columns = fmax(off_columns, fabs(in_column - 1));
        }
    return off_columns <= rounding && off_rows > 100 * rounding;
}

bool attn_seems_flipped(const struct attn_pair *p)
{
    struct sums s = {0};
    for (size_t h = 0; h < p->H && p->T == p->n; h++)
        for (size_t i = 0; i < p->T; i++)
            for (size_t k = 0; k < p->n; k++)
                add(&s, row(p, p->a, h, k)[i], row(p, p->b, h, i)[k]);
    return p->T == p->n && p->T > 1 && attn_gap_explained(gap_of(&s), attn_pair_gap(p));
}

/* Index of head `head` of part 0, 1 or 2 (q, k, v) among the heads of a fused matrix. */
static size_t stacked(bool interleaved, size_t H, size_t part, size_t head)
{
    return interleaved ? 3 * head + part : part * H + head;
}

/* Whether a reads the fused matrix in one order and b in the other, so that each head's rows are found in both. */
static bool read_as(const float *a, const float *b, size_t H, size_t dh, bool a_interleaved)
{
    for (size_t i = 0; i < 3 * H; i++)
        for (size_t k = 0; k < 3 * H; k++)
            if (stacked(a_interleaved, H, i / H, i % H) == stacked(!a_interleaved, H, k / H, k % H) &&
                attn_gap(a + i * dh, b + k * dh, dh) > rounding)
                return false;
    return true;
}

bool attn_seems_restacked(const float *a, const float *b, size_t H, size_t dh, enum attn_restacking *as)
{
    struct attn_pair p = attn_pair_of(a, b, 3 * H, 1, dh);
    *as = ATTN_STACK_OTHER;
    if (H > 1 && read_as(a, b, H, dh, true))
        *as = ATTN_STACK_A_INTERLEAVED;
    else if (H > 1 && read_as(a, b, H, dh, false))
        *as = ATTN_STACK_B_INTERLEAVED;
    else if (attn_seems_shuffled(&p))
        *as = ATTN_STACK_NUMBERS;
    size_t *map = malloc(3 * H * sizeof *map + 1);
    bool moved = *as != ATTN_STACK_OTHER || (map && attn_seems_reordered(&p, map));
    if (*as == ATTN_STACK_NUMBERS && map && attn_seems_reordered(&p, map))
        *as = ATTN_STACK_OTHER;        /* whole heads moved, which is more specific than numbers */
    free(map);
    return moved;
}

/* ---- activation functions -------------------------------------------------------------- */

static double bend(enum attn_bend kind, double x)
{
    const double root = 0.79788456080286535588;         /* sqrt(2 / pi) */
    switch (kind) {
    case ATTN_BEND_GELU:     return 0.5 * x * (1 + erf(x * M_SQRT1_2));
    case ATTN_BEND_GELU_NEW: return 0.5 * x * (1 + tanh(root * (x + 0.044715 * x * x * x)));
    case ATTN_BEND_QUICK:    return x / (1 + exp(-1.702 * x));
    case ATTN_BEND_SILU:     return x / (1 + exp(-x));
    case ATTN_BEND_RELU:     return x > 0 ? x : 0;
    case ATTN_BENDS:         break;
    }
    return x;
}

enum attn_bend attn_fit_bend(const float *post, const float *pre, const float *linear, size_t n)
{
    enum attn_bend best = ATTN_BENDS;
    double least = rounding / 5;        /* the two forms of GELU differ by only 1e-4 */
    for (int kind = 0; kind < ATTN_BENDS; kind++) {
        struct sums s = {0};
        for (size_t i = 0; i < n; i++)
            add(&s, bend((enum attn_bend)kind, pre[i]) * (linear ? (double)linear[i] : 1), post[i]);
        if (gap_of(&s) < least) {
            least = gap_of(&s);
            best = (enum attn_bend)kind;
        }
    }
    return best;
}
