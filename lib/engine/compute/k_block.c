#include "compute/k_block.h"

#include "base/size.h"
#include "compute/dequantise.h"

#include <string.h>

enum { PANEL = ATTN_PANEL };

struct attn_k_block attn_k_block_of(const struct attn_mat *w, size_t panel, size_t k, size_t depth)
{
    size_t j = panel * PANEL, cols = w->out - j, K = w->in - k;
    return (struct attn_k_block){j, smaller(cols, PANEL), k, smaller(K, depth)};
}

struct attn_prefetch attn_k_block_memory(const struct attn_mat *w, const struct attn_k_block *s, size_t part,
                                         size_t parts)
{
    size_t step = attn_dtype_bytes(w->type, w->ld), rows = w->transposed ? s->cols : s->K;
    size_t row = rows * part / parts, n = rows * (part + 1) / parts - row;
    if (w->transposed)
        return attn_prefetch_rows(attn_mat_at(w, attn_mat_index(w, s->j + row), s->k), n,
                                  attn_dtype_bytes(w->type, s->K), step);
    return attn_prefetch_rows(attn_mat_at(w, s->k + row, s->j), n, attn_dtype_bytes(w->type, s->cols), step);
}

static void copy_rows(float *to, const struct attn_mat *w, const struct attn_k_block *s)
{
    if (s->cols == PANEL && !attn_dtype_in_blocks(w->type)) {
        attn_vec_of(w->type)->block(to, attn_element(w->data, w->type, s->k * w->ld + s->j), w->ld, s->K);
        return;
    }
    memset(to, 0, s->K * PANEL * sizeof *to);
    for (size_t k = 0; k < s->K; k++)
        attn_vec_widen(to + k * PANEL, w->data, w->type, (s->k + k) * w->ld + s->j, s->cols);
}

/* The same for a weight stored [out, in]. */
static void copy_transposed(float *to, const struct attn_mat *w, const struct attn_k_block *s)
{
    static const float none[ATTN_K_BLOCK];
    const void *row[ATTN_TRANSPOSE];
    for (size_t j = 0; j < PANEL; j += ATTN_TRANSPOSE) {
        for (size_t l = 0; l < ATTN_TRANSPOSE; l++) {
            const char *at = (const char *)attn_mat_row(w, s->j + j + l) + s->k * attn_dtype_size(w->type);
            row[l] = j + l < s->cols ? at : (const char *)none;
        }
        attn_vec_of(w->type)->transpose(to + j, row, s->K);
    }
}

/* The same for one in blocks. */
static void copy_blocks(float *to, const struct attn_mat *w, const struct attn_k_block *s)
{
    const void *row[ATTN_DEQUANTISE_ROWS];
    for (size_t j = 0; j < s->cols; j += ATTN_DEQUANTISE_ROWS) {
        for (size_t l = 0; l < ATTN_DEQUANTISE_ROWS; l++)
            row[l] = attn_mat_row(w, s->j + j + l);
        attn_dequantise_transpose(to + j, PANEL, w->type, row, w->skip + s->k, s->K);
    }
    for (size_t k = 0; k < s->K && s->cols < PANEL; k++)
        memset(to + k * PANEL + s->cols, 0, (PANEL - s->cols) * sizeof *to);
}

static bool as_stored(const struct attn_mat *w, const struct attn_k_block *s, bool round)
{
    return !w->transposed && s->cols == PANEL && !(round && w->type != ATTN_BF16);
}

void attn_k_block_copy(float *copy, const struct attn_mat *w, const struct attn_k_block *s, bool round)
{
    if (w->transposed && attn_dtype_in_blocks(w->type))
        copy_blocks(copy, w, s);
    else if (w->transposed)
        copy_transposed(copy, w, s);
    else
        copy_rows(copy, w, s);
    if (round && w->type != ATTN_BF16)
        attn_vec_round(copy, copy, s->K * PANEL);
}

struct attn_floats attn_k_block_floats(float *copy, const struct attn_mat *w, const struct attn_k_block *s, bool round)
{
    if (w->type == ATTN_F32 && as_stored(w, s, round))
        return (struct attn_floats){(const float *)w->data + s->k * w->ld + s->j, w->ld};
    attn_k_block_copy(copy, w, s, round);
    return (struct attn_floats){copy, PANEL};
}
