#include "compute/stream.h"

#include "compute/vec.h"

#include <string.h>

bool attn_stream_serves(const struct attn_mat *w, size_t n)
{
    return n <= ATTN_STREAM && !w->by_output;
}

size_t attn_stream_sum(float *sum, size_t ld, const float *x, size_t ldx, size_t n, const struct attn_mat *w, size_t j0, size_t j1)
{
    size_t panels = w->out / ATTN_PANEL < j1 ? w->out / ATTN_PANEL - j0 : j1 - j0, cols = panels * ATTN_PANEL;
    for (size_t i = 0; i < n; i++)
        memset(sum + i * ld, 0, cols * sizeof *sum);
    attn_vec_stream(sum, ld, x, ldx, w->data, w->type, j0 * ATTN_PANEL, w->ld, n, w->in, cols);
    return panels;
}
