#include "compute/cut.h"

#include "base/size.h"
#include "compute/vec.h"

#include <assert.h>

/* Equal parts of all rows, rounded up to whole tiles. */
static size_t rows_of_parts(const struct attn_cut *c, size_t parts)
{
    return parts == 1 ? c->n : up(parts_of(c->n, parts), c->most->tile);
}

static size_t all_macro_tiles(const struct attn_cut *c)
{
    return c->macro_tiles * parts_of(c->n, c->rows);
}

/* Cuts all rows into so many parts, and each output into macro tiles of equal width, of at most `width` panels. */
static void cut(struct attn_cut *c, size_t parts, size_t width)
{
    c->rows = rows_of_parts(c, parts);
    c->macro_tiles = 0;
    for (struct attn_gemm_output *o = c->out; o < c->out + c->outs; o++) {
        o->first = c->macro_tiles;
        o->width = parts_of(o->panels, parts_of(o->panels, width));
        c->macro_tiles += parts_of(o->panels, o->width);
    }
}

/* Whether all workers are busy until (nearly) the end, and there are enough items for faster workers to take more.  A
 * macro tile of one panel has no parts. */
static bool well_shared(const struct attn_cut *c, size_t width)
{
    const size_t idle = 8;              /* in the last round one worker may be idle for every so many macro tiles */
    size_t macro_tiles = all_macro_tiles(c), rounds = parts_of(macro_tiles, c->workers);
    bool even = (c->most->fine > 1 && width > 1) || (rounds * c->workers - macro_tiles) * idle <= macro_tiles;
    return c->workers == 1 || (even && macro_tiles >= c->most->items * c->workers);
}

/* How many macro tiles, and items, the first `shares` shares have.  A team divides items by the same formula. */
static size_t macro_tiles_before(const struct attn_cut *c, size_t shares)
{
    return all_macro_tiles(c) * shares / c->shares;
}

static size_t items_before(const struct attn_cut *c, size_t shares)
{
    return macro_tiles_before(c, shares) + shares * (c->parts - 1);
}

static bool may_have_fewer_rows(const struct attn_cut *c, size_t parts)
{
    return c->most->least > 0 && c->rows > c->most->tile && rows_of_parts(c, parts + 1) >= c->most->least;
}

void attn_cut_share(struct attn_cut *c)
{
    size_t widest = 2, parts = parts_of(c->n, c->most->rows);
    for (struct attn_gemm_output *o = c->out; o < c->out + c->outs; o++) {
        o->panels = parts_of(o->w->out, ATTN_PANEL);
        widest = larger(widest, o->panels);
    }
    size_t width = smaller(c->most->panels, widest);    /* beyond that, macro tiles stay as they are */
    cut(c, parts, width);
    while (width > 1 && !well_shared(c, width))
        cut(c, parts, --width);
    while (may_have_fewer_rows(c, parts) && !well_shared(c, width))
        cut(c, ++parts, width);
    c->shares = smaller(c->workers, all_macro_tiles(c));
    assert(c->shares > 0);              /* there are a worker and an output */
    c->parts = c->workers > 1 ? c->most->fine : 1;
    c->items = items_before(c, c->shares);
}

static size_t share_of(const struct attn_cut *c, size_t item)
{
    size_t share = item * c->shares / c->items;
    while (items_before(c, share + 1) <= item)
        share++;
    return share;
}

bool attn_cut_ends_share(const struct attn_cut *c, size_t n)
{
    return n + 1 == items_before(c, share_of(c, n) + 1);
}

struct attn_gemm_item attn_cut_item(const struct attn_cut *c, size_t n)
{
    size_t share = share_of(c, n), last = macro_tiles_before(c, share + 1) - 1,
           first_part = items_before(c, share + 1) - c->parts;
    bool whole = n < first_part;
    size_t parts = whole ? 1 : c->parts, part = whole ? 0 : n - first_part;
    size_t nth = whole ? last - (first_part - n) : last, column = nth % c->macro_tiles,
           i0 = nth / c->macro_tiles * c->rows;
    const struct attn_gemm_output *to = &c->out[c->outs - 1];
    while (column < to->first)
        to--;
    size_t j0 = (column - to->first) * to->width, panels = smaller(to->width, to->panels - j0);
    return (struct attn_gemm_item){.n = n, .to = to, .i0 = i0, .i1 = smaller(i0 + c->rows, c->n),
                                   .j0 = j0 + panels * part / parts,
                              .j1 = j0 + panels * (part + 1) / parts};
}

size_t attn_item_columns(const struct attn_gemm_item *it)
{
    return smaller(it->j1 * ATTN_PANEL, it->to->w->out) - it->j0 * ATTN_PANEL;
}
