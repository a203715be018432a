/* stream.c - few rows of x, at the speed of memory: a weight is read once, in long stretches. */
#include "compute/gemm_item.h"

#include "base/size.h"
#include "compute/bf16.h"
#include "compute/dequantise.h"
#include "compute/multiply.h"
#include "compute/panels.h"

#include <string.h>

enum { PANEL = ATTN_PANEL };

/* One row and a prepacked weight. */
static size_t row_of_panels(const struct attn_item_sums *o)
{
    const struct attn_mat *w = o->it.to->w;
    size_t panels = o->it.j1 - o->it.j0, in = o->p->in, words = attn_bf16_words(in);
    if (o->p->blocking->in_bf16)
        attn_bf16_ops()->row_panels(o->sum, o->p->x, attn_panels_at(w, o->it.j0, 0, true), words * PANEL, panels,
                                    words);
    else
        attn_vec_of(w->type)->row_panels(o->sum, o->p->x, attn_panels_at(w, o->it.j0, 0, false), in * PANEL, panels,
                                         in);
    return panels;
}

/* Of a weight stored [out, in]: sums some outputs at a time, while the rows of the next ones are prefetched.  Sums of
 * columns beyond the last output are meaningless. */
static void stream_transposed(const struct attn_item_sums *o)
{
    const struct attn_joint_product *p = o->p;
    const struct attn_mat *w = o->it.to->w;
    const bool pairs = p->blocking->in_bf16, in_blocks = attn_dtype_in_blocks(w->type);
    const void *row[ATTN_DEQUANTISE_ROWS];
    const size_t side = in_blocks ? ATTN_DEQUANTISE_ROWS : ATTN_TRANSPOSE;
    const size_t bytes = attn_dtype_bytes(w->type, w->in), step = attn_dtype_bytes(w->type, w->ld);
    float *sum = o->sum;
    for (size_t j = o->it.j0 * PANEL, end = smaller(o->it.j1 * PANEL, w->out); j < end; j += side, sum += side) {
        size_t next = j + side;
        struct attn_prefetch prefetch =
            attn_prefetch_rows(attn_mat_row(w, next), next < w->out ? side : 0, bytes, step);
        for (size_t l = 0; l < side; l++)
            row[l] = attn_mat_row(w, j + l);
        if (in_blocks)
            attn_dequantise_stream(sum, o->ld, p->x, p->ldx, w->type, row, w->skip, p->cut.n, w->in, &prefetch);
        else if (pairs)
            attn_bf16_ops()->stream_transposed(sum, o->ld, p->x, p->ldx, row, w->type, p->cut.n, w->in, &prefetch);
        else
            attn_vec_of(w->type)->stream_transposed(sum, o->ld, p->x, p->ldx, row, p->cut.n, w->in, &prefetch);
    }
}

/* How many columns to sum at once so that sums (SUM_BYTES) and what is prefetched fit into the L1 cache.  If only a
 * part of each row of w is read, at most NEAR bytes of it. */
static size_t columns_at_once(const struct attn_mat *w, size_t panels, size_t n)
{
    enum { SUM_BYTES = 24576, NEAR = 4096 };
    size_t cols = panels * PANEL, parts = larger(1, parts_of(n * cols * sizeof(float), SUM_BYTES));
    if (parts > 1 || cols < w->ld) {
        size_t near = parts_of(cols * attn_dtype_size(w->type), NEAR);
        parts = larger(parts, near);
    }
    return parts_of(panels, parts) * PANEL;
}

/* Of a weight stored [in, out]: sums the columns of so many panels. */
static void stream_in_out(const struct attn_item_sums *o, size_t panels)
{
    const struct attn_joint_product *p = o->p;
    const struct attn_mat *w = o->it.to->w;
    size_t n = p->cut.n, cols = panels * PANEL, most = panels ? columns_at_once(w, panels, n) : 0;
    for (size_t c = 0; c < cols; c += most) {
        const void *at = attn_element(w->data, w->type, o->it.j0 * PANEL + c);
        size_t some = smaller(cols - c, most);
        if (p->blocking->in_bf16)
            attn_bf16_ops()->stream(o->sum + c, o->ld, p->x, p->ldx, at, w->type, w->ld, n, w->in, some);
        else
            attn_vec_of(w->type)->stream(o->sum + c, o->ld, p->x, p->ldx, at, w->ld, n, w->in, some);
    }
}

/* Columns of a weight stored [in, out] that do not fill a panel are left, and all of one in blocks, as the transposed
 * weights of the backward pass are, or that becomes pairs. */
static size_t stream(const struct attn_item_sums *o)
{
    const struct attn_mat *w = o->it.to->w;
    if (attn_dtype_in_blocks(w->type) && (!w->transposed || o->p->blocking->in_bf16))
        return 0;
    size_t whole = w->out / PANEL, panels = (w->transposed ? o->it.j1 : smaller(o->it.j1, whole)) - o->it.j0;
    for (size_t i = 0; i < o->p->cut.n; i++)
        memset(o->sum + i * o->ld, 0, panels * PANEL * sizeof *o->sum);
    if (w->transposed)
        stream_transposed(o);
    else
        stream_in_out(o, panels);
    if (o->p->cut.n > 1)
        attn_multiply_counts(false, o->p->cut.n * w->in * panels * PANEL);
    return panels;
}

size_t attn_item_stream(const struct attn_item_sums *o)
{
    if (o->it.to->prepacked)
        return o->p->cut.n == 1 ? row_of_panels(o) : 0;
    return o->p->blocking->streamed ? stream(o) : 0;
}
