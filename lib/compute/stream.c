#include "compute/stream.h"

#include "compute/pairs.h"
#include "compute/vec.h"

#include <string.h>

static const void *row_of(const struct attn_mat *w, size_t j)
{
    size_t last = w->out - 1, at = attn_mat_place(w, j < last ? j : last);
    return (const char *)w->data + at * w->ld * attn_dtype_size(w->type);
}

/* Sixteen outputs after the other, while the next ones' rows come nearer.  Columns that do not exist get any sums. */
static void sum_turned(float *sum, size_t ld, const float *x, size_t ldx, size_t n, const struct attn_mat *w, size_t j, size_t end,
                       bool in_pairs)
{
    const void *row[ATTN_TURN];
    for (; j < end; j += ATTN_TURN, sum += ATTN_TURN) {
        size_t size = attn_dtype_size(w->type), next = j + ATTN_TURN;
        struct attn_ahead ahead = attn_vec_ahead(row_of(w, next), next < w->out ? ATTN_TURN : 0, w->in * size, w->ld * size);
        for (size_t l = 0; l < ATTN_TURN; l++)
            row[l] = row_of(w, j + l);
        (in_pairs ? attn_pairs_stream_turned : attn_vec_stream_turned)(sum, ld, x, ldx, row, w->type, n, w->in, &ahead);
    }
}

size_t attn_stream_sum(float *sum, size_t ld, const float *x, size_t ldx, size_t n, const struct attn_mat *w, size_t j0, size_t j1,
                       bool in_pairs)
{
    size_t whole = w->out / ATTN_PANEL, end = w->by_output || j1 < whole ? j1 : whole;
    size_t panels = end - j0, cols = panels * ATTN_PANEL;
    for (size_t i = 0; i < n; i++)
        memset(sum + i * ld, 0, cols * sizeof *sum);
    if (w->by_output)
        sum_turned(sum, ld, x, ldx, n, w, j0 * ATTN_PANEL, j1 * ATTN_PANEL < w->out ? j1 * ATTN_PANEL : w->out, in_pairs);
    else
        (in_pairs ? attn_pairs_stream : attn_vec_stream)(sum, ld, x, ldx, w->data, w->type, j0 * ATTN_PANEL, w->ld, n, w->in, cols);
    return panels;
}
