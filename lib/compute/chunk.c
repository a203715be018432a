#include "compute/chunk.h"

#include "base/size.h"
#include "compute/pairs.h"
#include "compute/slab.h"

enum { PANEL = ATTN_PANEL, STEPS = 2 * ATTN_CHUNK / PANEL /* of one panel */, LINE = 64 };

/* How many panels from j0 on fit into a chunk. */
static size_t width_of(const struct attn_mat *w, size_t j0, size_t end, size_t depth)
{
    size_t whole = w->out / PANEL;      /* an incomplete last panel is a chunk of its own */
    if (w->by_output || j0 >= whole)
        return 1;
    return smaller(STEPS / depth, smaller(end, whole) - j0);
}

struct attn_chunk attn_chunk_of(const struct attn_mat *w, size_t j0, size_t end, size_t k, size_t depth)
{
    size_t most = w->by_output ? STEPS : depth;
    return (struct attn_chunk){j0, j0 + width_of(w, j0, end, depth), k, smaller(w->in - k, most)};
}

/* The last panel, which has fewer than 64 columns. */
static void pair_last(float *words, const struct attn_mat *w, const struct attn_chunk *c)
{
    _Alignas(LINE) float copy[ATTN_SLAB * PANEL];
    for (size_t k = 0; k < c->K; k += ATTN_SLAB) {
        struct attn_slab s = {c->j0 * PANEL, w->out % PANEL, c->k + k, smaller(c->K - k, ATTN_SLAB)};
        struct attn_floats from = attn_slab_floats(copy, w, &s, 0, false);
        attn_pairs_rows(words + k / 2 * PANEL, from.at, ATTN_F32, 0, from.ld, s.K, PANEL);
    }
}

/* Of a weight stored [out, in]: sixteen rows at a time, while the next sixteen are prefetched. */
static void turn_rows(float *words, const struct attn_mat *w, const struct attn_chunk *c)
{
    const size_t size = attn_dtype_size(w->type);
    for (size_t j = 0; j < PANEL; j += ATTN_TURN) {
        const void *row[ATTN_TURN];
        const size_t first = c->j0 * PANEL + j, next = first + ATTN_TURN;
        for (size_t l = 0; l < ATTN_TURN; l++)
            row[l] = (const char *)attn_mat_row(w, first + l) + c->k * size;
        struct attn_ahead ahead = attn_vec_ahead((const char *)attn_mat_row(w, next) + c->k * size, next < w->out ? ATTN_TURN : 0,
                                                 c->K * size, w->ld * size);
        attn_pairs_turn(words + j, row, w->type, c->K, &ahead);
    }
}

void attn_chunk_words(float *words, const struct attn_mat *w, const struct attn_chunk *c)
{
    if (w->by_output)
        turn_rows(words, w, c);
    else if (c->j1 * PANEL > w->out)
        pair_last(words, w, c);
    else
        attn_pairs_rows(words, w->data, w->type, c->k * w->ld + c->j0 * PANEL, w->ld, c->K, (c->j1 - c->j0) * PANEL);
}
