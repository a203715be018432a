/* bf16.c - which instruction multiplies pairs, how rows of x are stored for it, and the chunks of a weight. */
#include "compute/bf16.h"

#include "base/size.h"
#include "compute/k_block.h"

#include <stdatomic.h>
#include <string.h>

enum { SIDE = ATTN_BF16_ROWS, PANEL = ATTN_PANEL, STEPS = 2 * ATTN_CHUNK / PANEL /* of one panel */, LINE = 64 };

static _Atomic(int) forced = -1;

enum attn_bf16 attn_bf16_kind(void)
{
    int kind = atomic_load_explicit(&forced, memory_order_relaxed);
    return kind < 0 ? attn_cpu_bf16() : (enum attn_bf16)kind;
}

bool attn_bf16_choose(enum attn_bf16 kind)
{
    if (!attn_cpu_can(kind))
        return false;
    atomic_store(&forced, (int)kind);
    return true;
}

const struct attn_bf16_ops *attn_bf16_ops(void)
{
#if defined(__x86_64__)
    static const struct attn_bf16_ops *const by_kind[] = {[ATTN_BF16_DOTS] = &attn_bf16_dots,
                                                         [ATTN_BF16_TILES] = &attn_bf16_tiles};
    return by_kind[attn_bf16_kind()];
#else
    return NULL;
#endif
}

/* ---- rows of x ---- */

void attn_bf16_put(float *words, size_t ld, size_t i, size_t k, const float *x, size_t n)
{
    if (attn_bf16_kind() == ATTN_BF16_TILES)
        attn_bf16_ops()->row_words(words + i / SIDE * SIDE * ld + i % SIDE * SIDE + k / 2 * SIDE, ATTN_BF16_TILE, x, n);
    else
        attn_bf16_ops()->row_words(words + i * ld + k / 2, SIDE, x, n);
}

void attn_bf16_move(float *words, size_t ld, size_t to, size_t from)
{
    const bool tiles = attn_bf16_kind() == ATTN_BF16_TILES;
    for (size_t k = 0; k < ld; k += SIDE) {
        const size_t at = tiles ? k * SIDE : k;
        const size_t i = tiles ? to / SIDE * SIDE * ld + to % SIDE * SIDE : to * ld;
        const size_t j = tiles ? from / SIDE * SIDE * ld + from % SIDE * SIDE : from * ld;
        memmove(words + i + at, words + j + at, SIDE * sizeof *words);
    }
}

const float *attn_bf16_at(const float *words, size_t ld, size_t i, size_t k)
{
    return words + i * ld + (attn_bf16_kind() == ATTN_BF16_TILES ? k * SIDE : k);
}

/* ---- chunks ---- */

/* How many panels from j0 on fit into a chunk. */
static size_t chunk_width(const struct attn_mat *w, size_t j0, size_t end, size_t depth)
{
    size_t whole = w->out / PANEL;      /* an incomplete last panel is a chunk of its own */
    if (w->transposed || j0 >= whole)
        return 1;
    return smaller(STEPS / depth, smaller(end, whole) - j0);
}

struct attn_chunk attn_chunk_of(const struct attn_mat *w, size_t j0, size_t end, size_t k, size_t depth)
{
    size_t most = w->transposed ? STEPS : depth;
    return (struct attn_chunk){j0, j0 + chunk_width(w, j0, end, depth), k, smaller(w->in - k, most)};
}

/* Panels that are converted to float32 first: the last one, if it has fewer than 64 columns, and those in blocks. */
static void pair_floats(float *words, const struct attn_mat *w, const struct attn_chunk *c, size_t panel)
{
    _Alignas(LINE) float copy[ATTN_K_BLOCK * PANEL];
    for (size_t k = 0; k < c->K; k += ATTN_K_BLOCK) {
        struct attn_k_block s = attn_k_block_of(w, panel, c->k + k, smaller(c->K - k, ATTN_K_BLOCK));
        struct attn_floats from = attn_k_block_floats(copy, w, &s, false);
        attn_bf16_ops()->rows_words(words + k / 2 * PANEL, from.at, ATTN_F32, from.ld, s.K, PANEL);
    }
}

/* Of a weight stored [out, in]: sixteen rows at a time, while the next sixteen are prefetched. */
static void transpose_rows(float *words, const struct attn_mat *w, const struct attn_chunk *c)
{
    const size_t size = attn_dtype_size(w->type);
    for (size_t j = 0; j < PANEL; j += ATTN_TRANSPOSE) {
        const void *row[ATTN_TRANSPOSE];
        const size_t first = c->j0 * PANEL + j, next = first + ATTN_TRANSPOSE;
        for (size_t l = 0; l < ATTN_TRANSPOSE; l++)
            row[l] = (const char *)attn_mat_row(w, first + l) + c->k * size;
        struct attn_prefetch prefetch = attn_prefetch_rows((const char *)attn_mat_row(w, next) + c->k * size,
                                                 next < w->out ? ATTN_TRANSPOSE : 0, c->K * size, w->ld * size);
        attn_bf16_ops()->transpose(words + j, row, w->type, c->K, &prefetch);
    }
}

void attn_chunk_words(float *words, const struct attn_mat *w, const struct attn_chunk *c)
{
    const bool in_blocks = attn_dtype_in_blocks(w->type);
    for (size_t j = c->j0; j < c->j1 && in_blocks; j++, words += attn_bf16_words(c->K) * PANEL)
        pair_floats(words, w, c, j);
    if (in_blocks)
        return;
    if (w->transposed)
        transpose_rows(words, w, c);
    else if (c->j1 * PANEL > w->out)
        pair_floats(words, w, c, c->j0);
    else
        attn_bf16_ops()->rows_words(words, attn_element(w->data, w->type, c->k * w->ld + c->j0 * PANEL), w->type,
                                    w->ld, c->K, (c->j1 - c->j0) * PANEL);
}
