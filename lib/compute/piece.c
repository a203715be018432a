#include "compute/piece.h"

#include "base/size.h"
#include "compute/pairs.h"
#include "compute/slab.h"

enum { PANEL = ATTN_PANEL, STEPS = 2 * ATTN_PIECE / PANEL /* of one panel */, LINE = 64 };

/* Panels from j0 on whose words fit. */
static size_t width_of(const struct attn_mat *w, size_t j0, size_t end, size_t depth)
{
    size_t whole = w->out / PANEL;      /* a panel that is none has a piece of its own */
    if (w->by_output || j0 >= whole)
        return 1;
    return smaller(STEPS / depth, smaller(end, whole) - j0);
}

struct attn_piece attn_piece_of(const struct attn_mat *w, size_t j0, size_t end, size_t k, size_t depth)
{
    size_t most = w->by_output ? STEPS : depth;
    return (struct attn_piece){j0, j0 + width_of(w, j0, end, depth), k, smaller(w->in - k, most)};
}

/* Of a panel with fewer than 64 columns. */
static void pair_last(float *words, const struct attn_mat *w, const struct attn_piece *p)
{
    _Alignas(LINE) float copy[ATTN_SLAB * PANEL];
    for (size_t k = 0; k < p->K; k += ATTN_SLAB) {
        struct attn_slab s = {p->j0 * PANEL, w->out % PANEL, p->k + k, smaller(p->K - k, ATTN_SLAB)};
        struct attn_floats from = attn_slab_floats(copy, w, &s, 0, false);
        attn_pairs_rows(words + k / 2 * PANEL, from.at, ATTN_F32, 0, from.ld, s.K, PANEL);
    }
}

/* Sixteen rows of w after the other, while the next ones come nearer. */
static void turn_rows(float *words, const struct attn_mat *w, const struct attn_piece *p)
{
    const size_t size = attn_dtype_size(w->type);
    for (size_t j = 0; j < PANEL; j += ATTN_TURN) {
        const void *row[ATTN_TURN];
        const size_t first = p->j0 * PANEL + j, next = first + ATTN_TURN;
        for (size_t l = 0; l < ATTN_TURN; l++)
            row[l] = (const char *)attn_mat_row(w, first + l) + p->k * size;
        struct attn_ahead ahead = attn_vec_ahead((const char *)attn_mat_row(w, next) + p->k * size, next < w->out ? ATTN_TURN : 0,
                                                 p->K * size, w->ld * size);
        attn_pairs_turn(words + j, row, w->type, p->K, &ahead);
    }
}

void attn_piece_words(float *words, const struct attn_mat *w, const struct attn_piece *p)
{
    if (w->by_output)
        turn_rows(words, w, p);
    else if (p->j1 * PANEL > w->out)
        pair_last(words, w, p);
    else
        attn_pairs_rows(words, w->data, w->type, p->k * w->ld + p->j0 * PANEL, w->ld, p->K, (p->j1 - p->j0) * PANEL);
}
