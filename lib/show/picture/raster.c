/* raster.c - each line of an outline adds, in every row of pixels that it crosses, by how much the area to its right
 * changes; the sum of a row from the left then is the cover.  Where curves of one direction overlap the sum is 2, which
 * counts as 1; a hole runs the other way. */
#include "picture/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

struct spot { double x, y; };
struct box { long left, top, width, height; };

void attn_raster_free(struct attn_raster *r)
{
    free(r->sum);
    free(r->touched);
}

static struct spot spot_of(const struct attn_placing *p, double x, double y)
{
    return (struct spot){p->xx * x + p->yx * y + p->x, p->xy * x + p->yy * y + p->y};
}

static struct spot middle(struct spot a, struct spot b)
{
    return (struct spot){(a.x + b.x) / 2, (a.y + b.y) / 2};
}

/* ---- one line -------------------------------------------------------------------------------- */

/* A row of sums, `width` of them. */
struct row { double *sum; long width; struct attn_touched *touched; };

static void add(const struct row *row, long x, double much)
{
    if (x >= row->width)
        return;
    x = x < 0 ? 0 : x;
    row->sum[x] += much;
    row->touched->from = x < row->touched->from ? x : row->touched->from;
    row->touched->to = x < row->touched->to ? row->touched->to : x + 1;
}

/* The part of a line in one row, from x0 to x1 (x0 <= x1), which is `much` high. */
static void add_piece(const struct row *row, double x0, double x1, double much)
{
    double first = floor(x0), past = ceil(x1);
    long i = (long)first, end = (long)past;
    if (end <= i + 1) {
        double inside = (x0 + x1) / 2 - first;
        add(row, i, much - much * inside);
        add(row, i + 1, much * inside);
        return;
    }
    double slope = 1 / (x1 - x0), from = 1 - (x0 - first), to = x1 - (past - 1);
    double a = slope * from * from / 2, b = slope * to * to / 2;
    add(row, i, much * a);
    if (end == i + 2) {
        add(row, i + 1, much * (1 - a - b));
    } else {
        double second = slope * (from + 0.5), last = second + (double)(end - i - 3) * slope;
        add(row, i + 1, much * (second - a));
        for (long x = i + 2; x < end - 1; x++)
            add(row, x, much * slope);
        add(row, end - 1, much * (1 - last - b));
    }
    add(row, end, much * b);
}

/* Positions beyond the sides count as at the sides, so that the work has a limit. */
static double within(double x, long width)
{
    return x < -1 ? -1 : x > (double)width + 1 ? (double)width + 1 : x;
}

static void add_line(const struct attn_raster *r, const struct box *b, struct spot p, struct spot q)
{
    double sign = p.y < q.y ? 1 : -1;
    struct spot low = p.y < q.y ? p : q, high = p.y < q.y ? q : p;
    if (p.y == q.y)
        return;
    double slope = (high.x - low.x) / (high.y - low.y);
    double from = fmax(low.y, (double)b->top), to = fmin(high.y, (double)(b->top + b->height));
    for (double y = from; y < to;) {
        double next = fmin(floor(y) + 1, to);
        double x0 = within(low.x + (y - low.y) * slope - (double)b->left, b->width);
        double x1 = within(low.x + (next - low.y) * slope - (double)b->left, b->width);
        long at = (long)floor(y) - b->top;
        struct row row = {r->sum + at * (b->width + 1), b->width + 1, &r->touched[at]};
        add_piece(&row, fmin(x0, x1), fmax(x0, x1), sign * (next - y));
        y = next;
    }
}

/* A curve of one bend, as straight pieces of some two pixels. */
static void add_curve(const struct attn_raster *r, const struct box *b, struct spot p, struct spot bend, struct spot q)
{
    double size = fabs(p.x - bend.x) + fabs(p.y - bend.y) + fabs(q.x - bend.x) + fabs(q.y - bend.y);
    int pieces = size < 56 ? 4 + (int)(size / 2) : 32;
    struct spot from = p;
    for (int i = 1; i <= pieces; i++) {
        double t = (double)i / pieces, u = 1 - t;
        struct spot to = {u * u * p.x + 2 * u * t * bend.x + t * t * q.x,
                          u * u * p.y + 2 * u * t * bend.y + t * t * q.y};
        add_line(r, b, from, to);
        from = to;
    }
}

/* ---- outlines -------------------------------------------------------------------------------- */

/* One closed curve of n points; it may begin with a point that bends. */
static void add_closed(const struct attn_raster *r, const struct box *b, const struct attn_outline_point *p, size_t n,
                       const struct attn_placing *to)
{
    struct spot last = spot_of(to, p[n - 1].x, p[n - 1].y), first = spot_of(to, p[0].x, p[0].y);
    struct spot start = p[0].on ? first : p[n - 1].on ? last : middle(first, last), at = start, bend = start;
    bool bends = false;
    for (size_t i = p[0].on; i < n; i++) {
        struct spot here = spot_of(to, p[i].x, p[i].y), end = p[i].on ? here : middle(bend, here);
        if (bends)
            add_curve(r, b, at, bend, end);
        else if (p[i].on)
            add_line(r, b, at, here);
        at = bends || p[i].on ? end : at;
        bends = !p[i].on;
        bend = here;
    }
    if (bends)
        add_curve(r, b, at, bend, start);
    else
        add_line(r, b, at, start);
}

static struct box box_of(const struct attn_outline *o, const struct attn_placing *p, double reach)
{
    double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
    for (size_t i = 0; i < o->n; i++) {
        struct spot s = spot_of(p, o->p[i].x, o->p[i].y);
        x[0] = fmin(x[0], s.x);
        x[1] = fmax(x[1], s.x);
        y[0] = fmin(y[0], s.y);
        y[1] = fmax(y[1], s.y);
    }
    double left = floor(fmax(x[0], p->x - reach)), right = ceil(fmin(x[1], p->x + reach));
    double top = floor(fmax(y[0], p->y - reach)), bottom = ceil(fmin(y[1], p->y + reach));
    bool any = o->n && left < right && top < bottom;
    return any ? (struct box){(long)left, (long)top, (long)(right - left), (long)(bottom - top)} : (struct box){0};
}

/* Leaves all sums 0.  Behind what is touched there is cover only where the right side of an outline is cut off. */
static void cover_rows(const struct attn_raster *r, const struct box *b, attn_cover_fn *cover, void *ctx)
{
    const double least = 1.0 / 512;     /* less is rounding */
    for (long y = 0; y < b->height; y++) {
        double inside = 0, *sum = r->sum + y * (b->width + 1);
        const struct attn_touched *t = &r->touched[y];
        for (long x = t->from; x < t->to || (x < b->width && fabs(inside) > least); x++) {
            inside += sum[x];
            sum[x] = 0;
            double much = fmin(fabs(inside), 1);
            if (x < b->width && much > least)
                cover(ctx, b->left + x, b->top + y, much);
        }
    }
}

static int make_room(struct attn_raster *r, const struct box *b, struct attn_err *err)
{
    size_t n = (size_t)(b->width + 1) * (size_t)b->height, had = r->room;
    double *sum = attn_grow(r->sum, &r->room, n, sizeof *sum);
    struct attn_touched *rows = attn_grow(r->touched, &r->rows, (size_t)b->height, sizeof *rows);
    r->sum = sum ? sum : r->sum;
    r->touched = rows ? rows : r->touched;
    if (sum && r->room > had)
        memset(sum + had, 0, (r->room - had) * sizeof *sum);
    if (!sum || !rows)
        return attn_no_memory(err, NULL, "for a letter of %ld x %ld pixels", b->width, b->height);
    for (long y = 0; y < b->height; y++)
        rows[y] = (struct attn_touched){b->width + 1, 0};
    return ATTN_OK;
}

int attn_raster_fill(struct attn_raster *r, const struct attn_outline *o, const struct attn_placing *p, double reach,
                     attn_cover_fn *cover, void *ctx, struct attn_err *err)
{
    struct box b = box_of(o, p, reach);
    int rc = b.height > 0 ? make_room(r, &b, err) : ATTN_OK;
    if (rc || b.height <= 0)
        return rc;
    for (size_t i = 0, first = 0; i < o->n; i++)
        if (o->p[i].ends) {
            add_closed(r, &b, o->p + first, i + 1 - first, p);
            first = i + 1;
        }
    cover_rows(r, &b, cover, ctx);
    return ATTN_OK;
}
