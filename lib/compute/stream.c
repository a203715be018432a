#include "compute/stream.h"

#include "base/size.h"
#include "compute/pairs.h"
#include "compute/vec.h"

#include <string.h>

/* Of a weight stored [out, in]: sums some outputs at a time, while the rows of the next ones are prefetched.  Sums of columns
 * beyond the last output are meaningless. */
static void sum_turned(float *sum, size_t ld, const float *x, size_t ldx, size_t n, const struct attn_mat *w, size_t j, size_t end,
                       bool in_pairs)
{
    const void *row[ATTN_SIDE];
    const size_t size = attn_dtype_size(w->type), side = in_pairs ? ATTN_TURN : attn_vec_side(w->type);
    for (; j < end; j += side, sum += side) {
        size_t next = j + side;
        struct attn_ahead ahead = attn_vec_ahead(attn_mat_row(w, next), next < w->out ? side : 0, w->in * size, w->ld * size);
        for (size_t l = 0; l < side; l++)
            row[l] = attn_mat_row(w, j + l);
        (in_pairs ? attn_pairs_stream_turned : attn_vec_stream_turned)(sum, ld, x, ldx, row, w->type, n, w->in, &ahead);
    }
}

/* How many columns to sum at once so that sums (SUMS bytes) and what is prefetched fit into the L1 cache.  If only a part of
 * each row of w is read, at most NEAR bytes of it. */
static size_t columns_at_once(const struct attn_mat *w, size_t panels, size_t n)
{
    enum { SUMS = 24576, NEAR = 4096 };
    size_t cols = panels * ATTN_PANEL, parts = larger(1, parts_of(n * cols * sizeof(float), SUMS));
    if (parts > 1 || cols < w->ld) {
        size_t near = parts_of(cols * attn_dtype_size(w->type), NEAR);
        parts = larger(parts, near);
    }
    return parts_of(panels, parts) * ATTN_PANEL;
}

/* Of a weight stored [in, out]: sums the columns of so many panels, from column j on. */
static void sum_in_rows(float *sum, size_t ld, const float *x, size_t ldx, size_t n, const struct attn_mat *w, size_t j,
                        size_t panels, bool in_pairs)
{
    size_t cols = panels * ATTN_PANEL, most = panels ? columns_at_once(w, panels, n) : 0;
    for (size_t c = 0; c < cols; c += most) {
        size_t some = smaller(cols - c, most);
        (in_pairs ? attn_pairs_stream : attn_vec_stream)(sum + c, ld, x, ldx, w->data, w->type, j + c, w->ld, n, w->in, some);
    }
}

size_t attn_stream_sum(float *sum, size_t ld, const float *x, size_t ldx, size_t n, const struct attn_mat *w, size_t j0, size_t j1,
                       bool in_pairs)
{
    size_t whole = w->out / ATTN_PANEL, end = w->by_output ? j1 : smaller(j1, whole), j = j0 * ATTN_PANEL, out = j1 * ATTN_PANEL;
    for (size_t i = 0; i < n; i++)
        memset(sum + i * ld, 0, (end - j0) * ATTN_PANEL * sizeof *sum);
    if (w->by_output)
        sum_turned(sum, ld, x, ldx, n, w, j, smaller(out, w->out), in_pairs);
    else
        sum_in_rows(sum, ld, x, ldx, n, w, j, end - j0, in_pairs);
    return end - j0;
}
