#include "sinks/grid.h"

#include <math.h>

#include "text/label.h"
#include "base/num.h"
#include "base/size.h"
#include "sinks/paint.h"

enum { LEFT_MAX = 16, TOP_MAX = 8, GAP = 2 };   /* columns on the terminal */
enum { DIGITS_MAX = 17 };

struct layout { size_t left, column, block; int digits; };  /* width of labels, of numbers; matrix columns of a block */

static size_t columns_of(double x, int digits)
{
    char buf[ATTN_NUM_FIXED_MAX];
    return attn_num_fixed(buf, x, digits);
}

int attn_grid_digits(double largest, int precision)
{
    double scaled = largest * pow(10, precision);
    int digits = precision;
    if (scaled > 0 && scaled < 0.5)
        for (; scaled < 100 && digits < DIGITS_MAX; digits++)
            scaled *= 10;
    return digits;
}

/* The widest number is the lowest, the highest, or one that is not finite. */
static void measure_numbers(struct layout *l, const struct attn_grid *g)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < g->rows * g->cols; i++) {
        double x = (double)g->data[i];
        if (!isfinite(x))
            l->column = larger(l->column, columns_of(x, 0));
        else if (x < low)
            low = x;
        else if (x > high)
            high = x;
    }
    l->digits = attn_grid_digits(fmax(-low, high), g->precision);
    l->column = larger(l->column, larger(columns_of(low, l->digits), columns_of(high, l->digits)));
}

/* The label of column j; a token may be as wide as the numbers below it. */
static struct attn_label top(const struct attn_grid *g, const struct layout *l, size_t j)
{
    return g->keys ? attn_label_token(&g->keys->tok[j], larger(TOP_MAX, l->column)) : attn_label_number(j);
}

static struct layout lay_out(const struct attn_grid *g)
{
    struct layout l = { 0 };
    measure_numbers(&l, g);
    for (size_t i = 0; i < g->rows; i++)
        l.left = larger(l.left, attn_label_token(&g->tokens->tok[i], LEFT_MAX).columns);
    for (size_t j = 0; j < g->cols; j++)
        l.column = larger(l.column, top(g, &l, j).columns);
    size_t fixed = l.left + (g->more_cols ? GAP : 0), room = g->width > 0 ? (size_t)g->width : SIZE_MAX;
    l.block = room > fixed ? (room - fixed) / (l.column + GAP) : 0;
    l.block = larger(l.block, 1);
    return l;
}

static void print_top(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t from, size_t to)
{
    attn_paint(o, g->color, ATTN_DIM);
    attn_label_pad(o, l->left);
    for (size_t j = from; j < to; j++) {
        struct attn_label label = top(g, l, j);
        attn_label_pad(o, GAP);
        attn_label_right(o, &label, l->column);
    }
    attn_paint(o, g->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void print_row(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t i, size_t from,
                      size_t to)
{
    const struct attn_token *token = &g->tokens->tok[i];
    struct attn_label label = attn_label_token(token, LEFT_MAX);
    attn_paint(o, g->color, ATTN_DIM);
    if (token->known)
        attn_label_left(o, &label, l->left);
    else
        attn_label_right(o, &label, l->left);
    attn_paint(o, g->color, ATTN_PLAIN);
    for (size_t j = from; j < to; j++) {
        char buf[ATTN_NUM_FIXED_MAX];
        size_t n = attn_num_fixed(buf, (double)g->data[i * g->cols + j], l->digits);
        attn_label_pad(o, GAP + l->column - n);
        attn_out_write(o, buf, n);
    }
    attn_out_str(o, g->more_cols && to == g->cols ? " …\n" : "\n");
}

static void print_block(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t from, size_t to)
{
    if (from > 0)
        attn_out_char(o, '\n');
    if (to - from < g->cols) {
        attn_paint(o, g->color, ATTN_DIM);
        attn_out_printf(o, to - from > 1 ? "columns %zu-%zu" : "column %zu", from, to - 1);
        attn_paint(o, g->color, ATTN_PLAIN);
        attn_out_char(o, '\n');
    }
    print_top(o, g, l, from, to);
    for (size_t i = 0; i < g->rows; i++)
        print_row(o, g, l, i, from, to);
    if (g->more_rows)
        attn_out_str(o, "…\n");
}

void attn_grid_print(struct attn_out *o, const struct attn_grid *g)
{
    struct layout l = lay_out(g);
    for (size_t from = 0; from < g->cols; from += l.block)
        print_block(o, g, &l, from, l.block < g->cols - from ? from + l.block : g->cols);
}
