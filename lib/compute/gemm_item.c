/* gemm_item.c - one work item of a product: each panel of its weight, packed where need be, is multiplied with its
 * rows. */
#include "compute/gemm_item.h"

#include "base/size.h"
#include "compute/multiply.h"
#include "compute/bf16.h"
#include "compute/dequantise.h"
#include "compute/panels.h"
#include "compute/k_block.h"

#include <assert.h>
#include <string.h>

enum {
    PANEL = ATTN_PANEL,
    LEAD = 2,                           /* K blocks ahead that kernels prefetch */
    APART = 16,                         /* floats between rows of sums, so that not all rows map to the same cache
                                         * sets */
    SUMS = 512 * (4 * PANEL + APART)    /* some 550 KB, in the L2 cache */
};
_Static_assert(ATTN_FEW * (ATTN_ITEM_PANELS * PANEL + APART) <= SUMS, "the sums of the widest item fit");
_Static_assert((SUMS + ATTN_CHUNK) * sizeof(float) <= ATTN_TEAM_ROOM, "sums and a chunk have room");
_Static_assert(ATTN_K_BLOCK <= ATTN_CHUNK / PANEL, "a K block fits where chunks are packed");

/* ---- the K blocks of an item, in the order in which they are multiplied ---- */

/* Steps k .. k + K of panel j; and the chunk it is in, whose blocks are packed at once. */
struct panel_step { struct attn_chunk c; size_t j, k, K; };

/* Only what is packed for bf16 has chunks of its own; else they are all panels by the same steps of x, which stay in
 * the cache. */
static struct attn_chunk chunk_at(const struct attn_item_sums *o, size_t j, size_t k)
{
    const struct attn_gemm_item *it = &o->it;
    if (o->p->blocking->in_bf16 && !it->to->prepacked)
        return attn_chunk_of(it->to->w, j, it->j1, k, o->depth);
    return (struct attn_chunk){j, it->j1, k, smaller(o->p->in - k, o->depth)};
}

/* Goes on to the item's next chunk; false: there is none. */
static bool next_chunk(struct attn_chunk *c, const struct attn_item_sums *o)
{
    const size_t k = c->k + c->K;
    if (k < o->p->in)
        *c = chunk_at(o, c->j0, k);
    else if (c->j1 < o->it.j1)
        *c = chunk_at(o, c->j1, 0);
    else
        return false;
    return true;
}

static struct panel_step block_of(const struct attn_item_sums *o, const struct attn_chunk *c, size_t j, size_t k)
{
    return (struct panel_step){*c, j, k, smaller(c->k + c->K - k, o->depth)};
}

/* K 0: there is none, as the item has no panels left or the weight no rows. */
static struct panel_step first_block(const struct attn_item_sums *o)
{
    if (o->it.j0 == o->it.j1)
        return (struct panel_step){.K = 0};
    struct attn_chunk c = chunk_at(o, o->it.j0, 0);
    return block_of(o, &c, c.j0, c.k);
}

static struct panel_step next_block(const struct attn_item_sums *o, const struct panel_step *b)
{
    struct attn_chunk c = b->c;
    if (b->k + b->K < c.k + c.K)
        return block_of(o, &c, b->j, b->k + b->K);
    if (b->j + 1 < c.j1)
        return block_of(o, &c, b->j + 1, c.k);
    return next_chunk(&c, o) ? block_of(o, &c, c.j0, c.k) : (struct panel_step){.K = 0};
}

/* ---- what to prefetch while one of them is multiplied ---- */

/* The item's rows are divided into `parts`; this is one of them. */
static size_t row_of_part(const struct attn_item_sums *o, size_t part, size_t parts)
{
    return o->it.i0 + (o->it.i1 - o->it.i0) * part / parts;
}

/* What to prefetch for these rows before they are finished. */
static struct attn_prefetch result_prefetch(const struct attn_item_sums *o, size_t part, size_t parts)
{
    const struct attn_joint_product *p = o->p;
    const struct attn_gemm_output *to = o->it.to;
    size_t row = row_of_part(o, part, parts), rows = row_of_part(o, part + 1, parts) - row;
    size_t j = o->it.j0 * PANEL, cols = attn_item_columns(&o->it);
    if (p->y_bf16 && p->blocking->in_bf16)
        return attn_prefetch_for_write(attn_bf16_prefetch(p->y_bf16, attn_bf16_words(to->w->out), row, rows, j, cols));
    const float *y = p->y_bf16 ? p->y_bf16 : to->y;
    const size_t ld = p->y_bf16 ? to->w->out : to->ldy;
    return attn_prefetch_for_write(attn_prefetch_rows(y + row * ld + j, rows, cols * sizeof *y, ld * sizeof *y));
}

/* The same before their next steps, or the end. */
static struct attn_prefetch rows_prefetch(const struct attn_item_sums *o, const struct panel_step *b)
{
    const struct attn_joint_product *p = o->p;
    const size_t k = b->k + b->K, part = b->j - o->it.j0, parts = o->it.j1 - o->it.j0,
                 row = row_of_part(o, part, parts);
    if (k >= p->in)
        return result_prefetch(o, part, parts);
    return attn_prefetch_rows(p->x + row * p->ldx + k, row_of_part(o, part + 1, parts) - row,
                              smaller(p->in - k, o->depth) * sizeof *p->x, p->ldx * sizeof *p->x);
}

/* Goes on to the item that this thread takes next; false: its share ends. */
static bool next_item(struct attn_gemm_item *it, const struct attn_joint_product *p)
{
    if (attn_cut_ends_share(&p->cut, it->n))
        return false;
    *it = attn_cut_item(&p->cut, it->n + 1);
    return true;
}

/* The next steps of the item's panels of a weight in float32 or, after the last, the beginning of the item that this
 * thread takes next. */
static struct attn_prefetch stored_prefetch(const struct attn_item_sums *o, const struct panel_step *b)
{
    const struct attn_joint_product *p = o->p;
    struct attn_gemm_item next = o->it;
    size_t k = b->k + b->K;
    if (k >= p->in) {
        if (!next_item(&next, p))
            return (struct attn_prefetch){0};
        k = 0;
    }
    struct attn_k_block all = {next.j0 * PANEL, attn_item_columns(&next), k, smaller(p->in - k, o->depth)};
    return attn_k_block_memory(next.to->w, &all, b->j - o->it.j0, o->it.j1 - o->it.j0);
}

/* The chunk after this block's: a part of it while each block is multiplied. */
static struct attn_prefetch chunk_prefetch(const struct attn_item_sums *o, const struct panel_step *b)
{
    struct attn_item_sums then = *o;
    struct attn_chunk next = b->c;
    if (!next_chunk(&next, o)) {
        if (!next_item(&then.it, o->p))
            return (struct attn_prefetch){0};
        next = attn_chunk_of(then.it.to->w, then.it.j0, then.it.j1, 0, o->depth);
    }
    const size_t deep = parts_of(b->c.K, o->depth), part = (b->j - b->c.j0) * deep + (b->k - b->c.k) / o->depth;
    const size_t j = next.j0 * PANEL, end = smaller(next.j1 * PANEL, then.it.to->w->out);
    struct attn_k_block all = {j, end - j, next.k, next.K};
    return attn_k_block_memory(then.it.to->w, &all, part, (b->c.j1 - b->c.j0) * deep);
}

/* The next block of a prepacked weight. */
static struct attn_prefetch prepacked_prefetch(const struct attn_item_sums *o, const struct panel_step *b)
{
    const struct attn_joint_product *p = o->p;
    struct attn_gemm_item it = o->it;
    size_t j = b->j + 1, k = b->k;
    if (j == it.j1) {
        j = it.j0;
        k += o->depth;
    }
    if (k >= p->in) {
        if (!next_item(&it, p) || !it.to->w->panels || it.j0 == it.j1)
            return (struct attn_prefetch){0};
        j = it.j0;
        k = 0;
    }
    const bool pairs = p->blocking->in_bf16;
    size_t K = smaller(p->in - k, o->depth),
           part = (pairs ? attn_bf16_words(K) : K) * PANEL * sizeof(float) / ATTN_ABREAST;
    return attn_prefetch_rows(attn_panels_at(it.to->w, j, k, pairs), ATTN_ABREAST, part, part);
}

static struct attn_prefetch weight_prefetch(const struct attn_item_sums *o, const struct panel_step *b)
{
    if (o->it.to->prepacked)
        return prepacked_prefetch(o, b);
    return o->p->blocking->in_bf16 ? chunk_prefetch(o, b) : stored_prefetch(o, b);
}

/* ---- packing ---- */

/* In float32, the first rows of many pack a weight in 16 bits while they multiply.  Few rows of what is packed of a
 * large weight are multiplied by our loops, which prefetch in every step: between kernels' calls there is too little
 * time, and 8 rows take 1.2 to 1.3 times as long.  24 rows take 1.07 times as long. */
struct attn_packing attn_packing_of(const struct attn_mat *w, size_t n, bool whole, bool round)
{
    const size_t tile = attn_vec_ops()->tile_rows;
    const bool as_stored = whole && !w->transposed && !attn_dtype_in_blocks(w->type) &&
                           !(round && w->type != ATTN_BF16);
    const bool in_place = as_stored && w->type == ATTN_F32, waits = !in_place && !attn_mat_small(w);
    const size_t first = waits && as_stored && n > tile ? tile : 0;
    return (struct attn_packing){in_place, first, waits && n - first <= ATTN_FEW};
}

/* Block b of a weight in float32: lets `a` have it where it is stored, or packed.  Returns how many rows were
 * multiplied by that. */
static size_t pack(struct attn_operands *a, const struct attn_item_sums *o, const struct panel_step *b, float *packed,
                   struct attn_prefetch *prefetch)
{
    const struct attn_mat *w = o->it.to->w;
    const struct attn_k_block s = attn_k_block_of(w, b->j, b->k, o->depth);
    const size_t n = o->it.i1 - o->it.i0;
    const struct attn_packing how = attn_packing_of(w, n, s.cols == PANEL, o->p->bf16);
    a->w = packed;
    a->by_loops = how.by_loops;
    if (how.in_place) {
        a->w = attn_element(w->data, w->type, s.k * w->ld + s.j);
        a->ldw = w->ld;
    } else if (how.first) {
        attn_vec_of(w->type)->panel_copy(a->y, a->ldy, a->x, a->ldx, packed,
                                         attn_element(w->data, w->type, s.k * w->ld + s.j), w->ld, s.K, a->more, n,
                                         prefetch);
        attn_multiply_counts(false, how.first * s.K * PANEL);
    } else {
        attn_k_block_copy(packed, w, &s, o->p->bf16);
    }
    if (how.in_place && n <= ATTN_FEW) {                /* between calls for few rows there is no time to prefetch:
                                                         * kernels do it */
        if (s.k + (LEAD + 1) * s.K <= o->p->in)
            a->next = a->w + LEAD * s.K * a->ldw;
        *prefetch = (struct attn_prefetch){0};
    }
    return how.first;
}

/* Whether the first rows of the item make the words of the chunk, one panel after the other, while they multiply: for
 * more rows, kernels do without. */
static bool first_rows_copy(const struct attn_item_sums *o, const struct attn_chunk *c)
{
    const struct attn_mat *w = o->it.to->w;
    const size_t n = o->it.i1 - o->it.i0, enough = 2 * (size_t)ATTN_BF16_FIRST, whole = 32;
    return attn_bf16_ops()->panel_copy && n >= enough && n < ATTN_MANY_BF16 && !w->transposed &&
           !attn_dtype_in_blocks(w->type) && c->j1 * PANEL <= w->out && c->K % whole == 0;
}

/* The same in bf16, where a whole chunk is packed at its first block unless the first rows do that, block by block. */
static size_t pack_bf16(struct attn_operands *a, const struct attn_item_sums *o, const struct panel_step *b,
                        float *packed, struct attn_prefetch *prefetch)
{
    const struct attn_mat *w = o->it.to->w;
    const struct attn_chunk *c = &b->c;
    if (first_rows_copy(o, c)) {
        assert(b->K == c->K);
        attn_multiply_counts(false, ATTN_BF16_FIRST * b->K * PANEL);
        attn_bf16_ops()->panel_copy(a->y, a->ldy, a->x, a->ldx, packed,
                                    attn_element(w->data, w->type, b->k * w->ld + b->j * PANEL), w->type, w->ld, b->K,
                                    a->more, o->it.i1 - o->it.i0, prefetch);
        a->w = packed;
        return ATTN_BF16_FIRST;
    }
    if (b->j == c->j0 && b->k == c->k)
        attn_chunk_words(packed, w, c);
    a->w = packed + ((b->j - c->j0) * attn_bf16_words(c->K) + (b->k - c->k) / 2) * PANEL;
    return 0;
}

/* What is left to multiply of block b: its first `*done` rows may have packed it. */
static struct attn_operands operands(const struct attn_item_sums *o, const struct panel_step *b, float *packed,
                                     size_t *done, struct attn_prefetch *prefetch)
{
    const struct attn_joint_product *p = o->p;
    const bool pairs = p->blocking->in_bf16;
    struct attn_operands a = {
        .y = o->sum + (b->j - o->it.j0) * PANEL, .ldy = o->ld, .ldx = p->ldx, .ldw = PANEL, .more = b->k > 0,
        .in_bf16 = pairs,
        .x = pairs ? attn_bf16_at(p->x, p->ldx, o->it.i0, b->k / 2) : p->x + o->it.i0 * p->ldx + b->k};
    *done = 0;
    if (o->it.to->prepacked)
        a.w = attn_panels_at(o->it.to->w, b->j, b->k, pairs);
    else
        *done = (pairs ? pack_bf16 : pack)(&a, o, b, packed, prefetch);
    a.y += *done * a.ldy;
    a.x += *done * a.ldx;
    return a;
}

/* ---- few rows, at the speed of memory: a weight is read once, in long stretches ---- */

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

/* Sums up the item's first panels where that is faster than by tiles; returns how many these are. */
static size_t stream_panels(const struct attn_item_sums *o)
{
    if (o->it.to->prepacked)
        return o->p->cut.n == 1 ? row_of_panels(o) : 0;
    return o->p->blocking->streamed ? stream(o) : 0;
}

/* ---- the item ---- */

static struct attn_item_sums item_of(const struct attn_joint_product *p, size_t n, float *sum)
{
    const struct attn_gemm_item it = attn_cut_item(&p->cut, n);
    const size_t panels = it.j1 - it.j0, depth = it.to->prepacked ? p->blocking->prepacked_depth : p->cut.most->depth;
    const struct attn_item_sums o = {p, it, sum, panels * PANEL + APART, depth};
    assert(up(it.i1 - it.i0, p->blocking->sizes.tile) * o.ld <= SUMS);
    if (p->in == 0)
        memset(sum, 0, (it.i1 - it.i0) * o.ld * sizeof *sum);
    return o;
}

void attn_gemm_item(void *ctx, size_t n, int worker)
{
    const struct attn_joint_product *p = ctx;
    float *sum = attn_team_room(p->team, worker), *packed = sum + SUMS;
    const struct attn_item_sums all = item_of(p, n, sum);
    struct attn_item_sums o = all;
    if (all.it.j0 == all.it.j1)
        return;
    const bool pairs = all.p->blocking->in_bf16;
    const size_t rows = all.it.i1 - all.it.i0, streamed = stream_panels(&all);
    o.it.j0 += streamed;
    o.sum += streamed * PANEL;
    for (struct panel_step b = first_block(&o); b.K > 0; b = next_block(&o, &b)) {
        size_t done;
        struct attn_prefetch then = rows_prefetch(&o, &b), prefetch = weight_prefetch(&o, &b);
        if (!pairs || b.k + b.K == o.p->in)     /* what is prefetched of x are rows, and pairs lie otherwise */
            prefetch.next = &then;
        const struct attn_operands a = operands(&o, &b, packed, &done, &prefetch);
        attn_multiply(&a, rows - done, PANEL, pairs ? attn_bf16_words(b.K) : b.K, &prefetch);
    }
    attn_item_epilogue(&all);
}
