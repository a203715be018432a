#include "compute/gemm_item.h"

#include "base/size.h"
#include "compute/multiply.h"
#include "compute/bf16.h"
#include "compute/panels.h"
#include "compute/slab.h"

#include <assert.h>
#include <string.h>

enum { PANEL = ATTN_PANEL, LINE = 64, LEAD = 2 /* slabs ahead that kernels prefetch */ };

/* ---- slabs of a weight as it is stored, in float32 ---- */

/* Multiplies the first of n rows with slab s as it is stored, and leaves a copy of it; returns how many rows these were. */
static size_t multiply_first(const struct attn_operands *o, const struct attn_mat *w, const struct attn_slab *s, float *copy,
                             size_t n, struct attn_prefetch *prefetch)
{
    const void *at = attn_element(w->data, w->type, s->k * w->ld + s->j);
    const size_t first = attn_vec_ops()->tile_rows;
    assert(n >= first);
    attn_vec_of(w->type)->panel_copy(o->y, o->ldy, o->x, o->ldx, copy, at, w->ld, s->K, o->more, n, prefetch);
    attn_multiply_counts(false, first * s->K * PANEL);
    return first;
}

/* Few rows of the copy of a large weight are multiplied by our loops, which prefetch in every step: between kernels' calls there is
 * too little time, and 8 rows take 1.2 to 1.3 times as long.  24 rows take 1.07 times as long. */
static void multiply_copy(const struct attn_operands *o, size_t n, size_t K, bool small, struct attn_prefetch *prefetch)
{
    if (n <= ATTN_FEW && !small)
        attn_multiply_by_loops(o, n, K, prefetch);
    else
        attn_multiply(o, n, PANEL, K, prefetch);
}

/* Adds the product of the item's rows with slab s. */
static void add_floats(const struct attn_item_sums *o, const struct attn_slab *s, struct attn_prefetch *prefetch)
{
    _Alignas(LINE) float copy[ATTN_SLAB * PANEL];
    const struct attn_joint_product *p = o->p;
    const struct attn_mat *w = o->it.to->w;
    const float *x = p->x + o->it.i0 * p->ldx + s->k;
    float *y = o->sum + s->j - o->it.j0 * PANEL;
    size_t n = o->it.i1 - o->it.i0, done = 0;
    struct attn_operands all = {y, o->ld, x, p->ldx, copy, PANEL, s->k > 0, NULL};
    struct attn_prefetch none = {0};
    if (w->type != ATTN_F32 && n > attn_vec_ops()->tile_rows && attn_slab_whole(w, s, p->bf16) && !attn_mat_small(w)) {
        done = multiply_first(&all, w, s, copy, n, prefetch);      /* the first rows make a copy that the others read */
    } else {
        struct attn_floats at = attn_slab_floats(copy, w, s, p->bf16);
        all.w = at.at;
        all.ldw = at.ld;
    }
    all.y += done * all.ldy;
    all.x += done * all.ldx;
    if (all.w == copy) {
        multiply_copy(&all, n - done, s->K, attn_mat_small(w), prefetch);
        return;
    }
    if (n <= ATTN_FEW) {                                /* between calls for few rows there is no time to prefetch: kernels do it */
        if (s->k + (LEAD + 1) * s->K <= p->in)
            all.next = all.w + LEAD * s->K * all.ldw;
        prefetch = &none;
    }
    attn_multiply(&all, n, PANEL, s->K, prefetch);
}

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

/* The same before their next steps, `depth` of them from k on, or the end. */
static struct attn_prefetch rows_prefetch(const struct attn_item_sums *o, size_t k, size_t depth, size_t part, size_t parts)
{
    const struct attn_joint_product *p = o->p;
    const size_t size = sizeof *p->x, row = row_of_part(o, part, parts);
    if (k >= p->in)
        return result_prefetch(o, part, parts);
    return attn_prefetch_rows(p->x + row * p->ldx + k, row_of_part(o, part + 1, parts) - row, smaller(p->in - k, depth) * size,
                          p->ldx * size);
}

/* Goes on to the item that this thread takes next; false: its share ends. */
static bool next_item(struct attn_gemm_item *it, const struct attn_joint_product *p)
{
    if (attn_cut_ends_share(&p->cut, it->n))
        return false;
    *it = attn_cut_item(&p->cut, it->n + 1);
    return true;
}

/* The same for the item's panels of w or, after the last step, for the beginning of the item that this thread takes next. */
static struct attn_prefetch weights_prefetch(const struct attn_item_sums *o, size_t k, size_t part, size_t parts)
{
    const struct attn_joint_product *p = o->p;
    struct attn_gemm_item next = o->it;
    if (k >= p->in) {
        if (!next_item(&next, p))
            return (struct attn_prefetch){0};
        k = 0;
    }
    struct attn_slab all = {next.j0 * PANEL, attn_item_columns(&next), k, smaller(p->in - k, p->cut.most->depth)};
    return attn_slab_memory(next.to->w, &all, part, parts);
}

/* Multiplies all panels by the same steps of x, which stay in the cache, before the next steps, which are prefetched meanwhile. */
void attn_sum_up_slabs(const struct attn_item_sums *o)
{
    size_t panels = o->it.j1 - o->it.j0, in = o->p->in, depth = o->p->cut.most->depth;
    for (size_t k = 0; k < in; k += depth)
        for (size_t j = 0; j < panels; j++) {
            struct attn_slab s = attn_slab_of(o->it.to->w, o->it.j0 + j, k, depth);
            struct attn_prefetch rows = rows_prefetch(o, k + s.K, depth, j, panels), prefetch = weights_prefetch(o, k + s.K, j, panels);
            prefetch.next = &rows;
            add_floats(o, &s, &prefetch);
        }
}

/* ---- chunks of it in pairs ---- */

/* Goes on to the item's next chunk; false: there is none. */
static bool next_chunk(struct attn_chunk *c, const struct attn_gemm_item *it, size_t depth)
{
    const struct attn_mat *w = it->to->w;
    size_t k = c->k + c->K;
    if (k < w->in)
        *c = attn_chunk_of(w, c->j0, it->j1, k, depth);
    else if (c->j1 < it->j1)
        *c = attn_chunk_of(w, c->j1, it->j1, 0, depth);
    else
        return false;
    return true;
}

/* What to prefetch while chunk c is multiplied: the one after it. */
static struct attn_prefetch chunk_prefetch(const struct attn_item_sums *o, const struct attn_chunk *c, size_t part, size_t parts)
{
    struct attn_gemm_item it = o->it;
    struct attn_chunk next = *c;
    size_t depth = o->p->cut.most->depth;
    if (!next_chunk(&next, &it, depth)) {
        if (!next_item(&it, o->p))
            return (struct attn_prefetch){0};
        next = attn_chunk_of(it.to->w, it.j0, it.j1, 0, depth);
    }
    size_t j = next.j0 * PANEL, end = smaller(next.j1 * PANEL, it.to->w->out);
    struct attn_slab all = {j, end - j, next.k, next.K};
    return attn_slab_memory(it.to->w, &all, part, parts);
}

/* Whether the first rows of the item make the words of the chunk, one panel after the other, while they multiply: for more rows,
 * kernels do without. */
static bool first_rows_copy(const struct attn_item_sums *o, const struct attn_chunk *c)
{
    const struct attn_mat *w = o->it.to->w;
    const size_t n = o->it.i1 - o->it.i0, enough = 2 * (size_t)ATTN_BF16_FIRST, whole = 32;
    return attn_bf16_ops()->panel_copy && n >= enough && n < ATTN_MANY_BF16 && !w->transposed && c->j1 * PANEL <= w->out && c->K % whole == 0;
}

/* Adds the product of the item's rows with `words`: `depth` steps of panel j from step k on.  copy: the first rows make them. */
static void add_words(const struct attn_item_sums *o, size_t j, size_t k, size_t depth, float *words, bool copy, struct attn_prefetch *prefetch)
{
    const struct attn_joint_product *all = o->p;
    const struct attn_mat *w = o->it.to->w;
    const float *x = attn_bf16_at(all->x, all->ldx, o->it.i0, k / 2);
    float *y = o->sum + (j - o->it.j0) * PANEL;
    size_t n = o->it.i1 - o->it.i0, first = copy ? ATTN_BF16_FIRST : 0;
    if (copy) {
        attn_multiply_counts(false, first * depth * PANEL);
        attn_bf16_ops()->panel_copy(y, o->ld, x, all->ldx, words, attn_element(w->data, w->type, k * w->ld + j * PANEL), w->type,
                                     w->ld, depth, k > 0, n, prefetch);
    }
    const struct attn_operands rest = {y + first * o->ld, o->ld, x + first * all->ldx, all->ldx, words, PANEL, k > 0, NULL};
    attn_multiply_bf16(&rest, n - first, attn_bf16_words(depth), prefetch);
}

/* Adds the product of the item's rows with a chunk, whose pairs are `words` unless the first rows make them. */
static void add_chunk(const struct attn_item_sums *o, const struct attn_chunk *c, float *words)
{
    const struct attn_joint_product *all = o->p;
    const bool copy = first_rows_copy(o, c);
    size_t depth = all->cut.most->depth, panel = copy ? 0 : attn_bf16_words(c->K) * PANEL;
    size_t part = 0, parts = (c->j1 - c->j0) * parts_of(c->K, depth);
    assert(!copy || c->K <= depth);
    for (size_t j = c->j0; j < c->j1; j++, words += panel)
        for (size_t k = 0; k < c->K; k += depth) {
            struct attn_prefetch result = result_prefetch(o, j - o->it.j0, o->it.j1 - o->it.j0), prefetch = chunk_prefetch(o, c, part++, parts);
            if (c->k + k + depth >= all->in)
                prefetch.next = &result;
            add_words(o, j, c->k + k, smaller(c->K - k, depth), words + k / 2 * PANEL, copy, &prefetch);
        }
}

void attn_sum_up_bf16(const struct attn_item_sums *o)
{
    _Alignas(LINE) float words[ATTN_CHUNK];
    const struct attn_gemm_item *it = &o->it;
    size_t depth = o->p->cut.most->depth;
    struct attn_chunk c = attn_chunk_of(it->to->w, it->j0, it->j1, 0, depth);
    do {
        if (!first_rows_copy(o, &c))
            attn_chunk_words(words, it->to->w, &c);
        add_chunk(o, &c, words);
    } while (next_chunk(&c, it, depth));
}

/* ---- panels ---- */

/* What to prefetch while panel j is multiplied from step k on: what comes after it. */
static struct attn_prefetch panels_prefetch(const struct attn_item_sums *o, size_t j, size_t k)
{
    const struct attn_joint_product *p = o->p;
    struct attn_gemm_item it = o->it;
    if (++j == it.j1) {
        j = it.j0;
        k += p->blocking->panelled;
    }
    if (k >= p->in) {
        if (!next_item(&it, p) || !it.to->w->panels || it.j0 == it.j1)
            return (struct attn_prefetch){0};
        j = it.j0;
        k = 0;
    }
    const bool pairs = p->blocking->in_bf16;
    size_t K = smaller(p->in - k, p->blocking->panelled), part = (pairs ? attn_bf16_words(K) : K) * PANEL * sizeof(float) / ATTN_ABREAST;
    return attn_prefetch_rows(attn_panels_at(it.to->w, j, k, pairs), ATTN_ABREAST, part, part);
}

/* Adds the product of the item's rows with panel j from step k on. */
static void add_panel(const struct attn_item_sums *o, size_t j, size_t k)
{
    const struct attn_joint_product *p = o->p;
    const struct attn_gemm_item *it = &o->it;
    const bool pairs = p->blocking->in_bf16;
    const float *w = attn_panels_at(it->to->w, j, k, pairs);
    float *y = o->sum + (j - it->j0) * PANEL;
    size_t n = it->i1 - it->i0, depth = p->blocking->panelled, K = smaller(p->in - k, depth);
    struct attn_prefetch rows = rows_prefetch(o, k + K, depth, j - it->j0, it->j1 - it->j0), prefetch = panels_prefetch(o, j, k);
    if (!pairs || k + K == p->in)       /* what is prefetched of x are rows, and pairs lie otherwise */
        prefetch.next = &rows;
    if (pairs)
        attn_multiply_bf16(&(struct attn_operands){y, o->ld, attn_bf16_at(p->x, p->ldx, it->i0, k / 2), p->ldx, w, PANEL, k > 0, NULL}, n,
                           attn_bf16_words(K), &prefetch);
    else
        attn_multiply(&(struct attn_operands){y, o->ld, p->x + it->i0 * p->ldx + k, p->ldx, w, PANEL, k > 0, NULL}, n, PANEL, K, &prefetch);
}

/* One row waits for memory alone. */
static void sum_up_row(const struct attn_item_sums *o)
{
    const struct attn_mat *w = o->it.to->w;
    size_t panels = o->it.j1 - o->it.j0, in = o->p->in;
    if (o->p->blocking->in_bf16)
        attn_bf16_ops()->row_panels(o->sum, o->p->x, attn_panels_at(w, o->it.j0, 0, true), attn_bf16_words(in) * PANEL, panels,
                                     attn_bf16_words(in));
    else
        attn_vec_of(w->type)->row_panels(o->sum, o->p->x, attn_panels_at(w, o->it.j0, 0, false), in * PANEL, panels, in);
}

void attn_sum_up_panels(const struct attn_item_sums *o)
{
    if (o->p->cut.n == 1) {
        sum_up_row(o);
        return;
    }
    for (size_t k = 0; k < o->p->in; k += o->p->blocking->panelled)
        for (size_t j = o->it.j0; j < o->it.j1; j++)
            add_panel(o, j, k);
}

/* ---- few rows (in pairs: one or two), at the speed of memory: w is read once, in long stretches ---- */

/* Of a weight stored [out, in]: sums some outputs at a time, while the rows of the next ones are prefetched.  Sums of columns
 * beyond the last output are meaningless. */
static void stream_transposed(const struct attn_item_sums *o)
{
    const struct attn_joint_product *p = o->p;
    const struct attn_mat *w = o->it.to->w;
    const bool pairs = p->blocking->in_bf16;
    enum { SIDE = ATTN_TRANSPOSE };
    const void *row[SIDE];
    const size_t size = attn_dtype_size(w->type);
    float *sum = o->sum;
    for (size_t j = o->it.j0 * PANEL, end = smaller(o->it.j1 * PANEL, w->out); j < end; j += SIDE, sum += SIDE) {
        size_t next = j + SIDE;
        struct attn_prefetch prefetch = attn_prefetch_rows(attn_mat_row(w, next), next < w->out ? SIDE : 0, w->in * size, w->ld * size);
        for (size_t l = 0; l < SIDE; l++)
            row[l] = attn_mat_row(w, j + l);
        if (pairs)
            attn_bf16_ops()->stream_transposed(sum, o->ld, p->x, p->ldx, row, w->type, p->cut.n, w->in, &prefetch);
        else
            attn_vec_of(w->type)->stream_transposed(sum, o->ld, p->x, p->ldx, row, p->cut.n, w->in, &prefetch);
    }
}

/* How many columns to sum at once so that sums (SUM_BYTES) and what is prefetched fit into the L1 cache.  If only a part of
 * each row of w is read, at most NEAR bytes of it. */
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

/* Columns of a weight stored [in, out] that do not fill a panel are summed as for many rows. */
void attn_sum_up_few(const struct attn_item_sums *o)
{
    const struct attn_mat *w = o->it.to->w;
    size_t whole = w->out / PANEL, panels = (w->transposed ? o->it.j1 : smaller(o->it.j1, whole)) - o->it.j0;
    struct attn_item_sums rest = *o;
    for (size_t i = 0; i < o->p->cut.n; i++)
        memset(o->sum + i * o->ld, 0, panels * PANEL * sizeof *o->sum);
    if (w->transposed)
        stream_transposed(o);
    else
        stream_in_out(o, panels);
    if (o->p->cut.n > 1)
        attn_multiply_counts(false, o->p->cut.n * w->in * panels * PANEL);
    rest.it.j0 += panels;
    rest.sum += panels * PANEL;
    if (rest.it.j0 < rest.it.j1)
        (o->p->blocking->in_bf16 ? attn_sum_up_bf16 : attn_sum_up_slabs)(&rest);
}
