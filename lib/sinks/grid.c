#include "sinks/grid.h"

#include "base/num.h"
#include "sinks/label.h"
#include "sinks/paint.h"

enum { LEFT_MAX = 16, TOP_MAX = 8, GAP = 2 };   /* columns on the terminal */

struct layout { size_t left, column, block; };  /* label, number and matrix columns a block has */

/* Adding 0 turns -0 into 0. */
static size_t format(char buf[64], const struct attn_grid *g, float x)
{
    return attn_num_fixed(buf, (double)x + 0.0, g->precision);
}

static struct attn_label top(const struct attn_grid *g, size_t j)
{
    return g->keys ? attn_label_token(&g->tokens->tok[j], TOP_MAX) : attn_label_number(j);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct layout lay_out(const struct attn_grid *g)
{
    struct layout l = { 0 };
    for (size_t i = 0; i < g->rows; i++)
        l.left = larger(l.left, attn_label_token(&g->tokens->tok[i], LEFT_MAX).columns);
    for (size_t j = 0; j < g->cols; j++)
        l.column = larger(l.column, top(g, j).columns);
    for (size_t i = 0; i < g->rows * g->cols; i++) {
        char buf[64];
        l.column = larger(l.column, format(buf, g, g->data[i]));
    }
    size_t fixed = l.left + (g->more_cols ? GAP : 0), room = g->width > 0 ? (size_t)g->width : SIZE_MAX;
    l.block = room > fixed ? (room - fixed) / (l.column + GAP) : 0;
    l.block = l.block ? l.block : 1;
    return l;
}

static void print_top(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t from, size_t to)
{
    attn_paint(o, g->color, ATTN_DIM);
    attn_label_pad(o, l->left);
    for (size_t j = from; j < to; j++) {
        struct attn_label label = top(g, j);
        attn_label_pad(o, GAP);
        attn_label_right(o, &label, l->column);
    }
    attn_paint(o, g->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void print_row(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t i, size_t from,
                      size_t to)
{
    struct attn_label label = attn_label_token(&g->tokens->tok[i], LEFT_MAX);
    attn_paint(o, g->color, ATTN_DIM);
    attn_label_left(o, &label, l->left);
    attn_paint(o, g->color, ATTN_PLAIN);
    for (size_t j = from; j < to; j++) {
        char buf[64];
        size_t n = format(buf, g, g->data[i * g->cols + j]);
        attn_label_pad(o, GAP + l->column - n);
        attn_out_write(o, buf, n);
    }
    attn_out_str(o, g->more_cols && to == g->cols ? " …\n" : "\n");
}

static void print_block(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t from, size_t to)
{
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
