#include "compute/gemm.h"

#include "base/size.h"
#include "compute/cut.h"
#include "compute/panels.h"
#include "compute/pairs.h"
#include "compute/slab.h"
#include "compute/vec.h"

#include <assert.h>
#include <string.h>

enum {
    PANEL = ATTN_PANEL,
    PANELS = 64,                        /* most panels of an item */
    STRIP = 16,                         /* most panels of an item whose sums or slabs stay in the cache */
    APART = 16,                         /* floats between rows of sums, so that not all rows map to the same cache sets */
    SUMS = 512 * (4 * PANEL + APART),   /* some 550 KB, in the L2 cache */
    LINE = 64,
    DEEP = 768, SHORT = 192,            /* steps of a panel that is a copy already, for many rows and some: 128 and 256 are slower */
    PAIRED = 384, FEW_PAIRED = 128,     /* steps of a panel in pairs; for few rows, for which making pairs takes long */
    FOR_TILES = 256,                    /* steps of a panel in pairs that stays in the L1 cache: 32 KB */
    STAYING = 256,                      /* rows of y that stay in the cache, of products in pairs */
    AS_FETCHED = 16                     /* this many rows are multiplied in the time it takes to read the weights from memory */
};
_Static_assert(ATTN_STREAM * (PANELS * PANEL + APART) <= SUMS, "the sums of the widest item fit");
_Static_assert((SUMS + ATTN_CHUNK + ATTN_SLAB * PANEL) * sizeof(float) <= 896 << 10, "attn.h asks for a stack of 1 MB");
_Static_assert(STRIP * PANEL <= ATTN_PAIRS_WIDTH, "an item is as wide as a stream of pairs at most");

/* ---- a product ---- */

struct work;

/* How a product is cut into items, the function that sums up one of them, whether x is in pairs, and how many steps of a panel
 * that is a copy already are multiplied at a time. */
struct blocking {
    struct attn_cut_sizes sizes;
    void (*sum_up)(const struct work *o);
    bool in_pairs;
    size_t panelled;                    /* 0: only a single row reads copies, all at once */
};

struct product {
    const struct blocking *blocking;
    struct attn_cut cut;
    const float *x; size_t ldx;         /* in pairs: counted in words */
    size_t in;                          /* steps of k */
    enum attn_tail tail;
    bool bf16;
    float *makes;                       /* rounded numbers in place of y; NULL: y */
};

/* One item and its sums so far, [i1 - i0, ld].  They are not kept in y, whose rows may be so far apart that they map to the
 * same cache sets and evict each other. */
struct work { const struct product *p; struct attn_gemm_item it; float *sum; size_t ld; };

/* ---- sums ---- */

/* Multiplies the first of n rows with slab s as it is stored, and leaves a copy of it; returns how many rows these were. */
static size_t multiply_first(float *y, const struct work *o, const struct attn_slab *s, const float *x, float *copy, size_t n,
                             struct attn_ahead *ahead)
{
    const struct attn_mat *w = o->it.to->w;
    const void *at = attn_element(w->data, w->type, s->k * w->ld + s->j);
    assert(n >= attn_vec_ops()->tile_rows);
    attn_vec_of(w->type)->panel_copy(y, o->ld, x, o->p->ldx, copy, at, w->ld, s->K, s->k > 0, n, ahead);
    return attn_vec_ops()->tile_rows;
}

/* Adds the product of the item's rows with slab s. */
static void add_floats(const struct work *o, const struct attn_slab *s, struct attn_ahead *ahead)
{
    _Alignas(LINE) float copy[ATTN_SLAB * PANEL];
    const struct product *p = o->p;
    const struct attn_mat *w = o->it.to->w;
    const float *x = p->x + o->it.i0 * p->ldx + s->k;
    float *y = o->sum + s->j - o->it.j0 * PANEL;
    size_t n = o->it.i1 - o->it.i0, i = 0;
    struct attn_floats at = {copy, PANEL};
    if (n > ATTN_SLAB_FEW && attn_slab_whole(w, s, p->bf16))        /* the first rows make a copy that the others read */
        i = multiply_first(y, o, s, x, copy, n, ahead);
    else
        at = attn_slab_floats(copy, w, s, n, p->bf16);
    attn_kernel_multiply(y, o->ld, x, p->ldx, at.at, at.ld, i, n, s->K, s->k > 0, ahead);
}

/* What to prefetch for the item's rows: `depth` steps from k on of x or, after the last step, y.  It is divided into `parts`; this
 * is one. */
static struct attn_ahead rows_ahead(const struct work *o, size_t k, size_t depth, size_t part, size_t parts)
{
    const struct product *p = o->p;
    const struct attn_gemm_item *it = &o->it;
    const struct attn_gemm_output *to = it->to;
    const size_t size = sizeof *p->x, steps = k < p->in ? smaller(p->in - k, depth) : 0;
    size_t rows = it->i1 - it->i0, row = it->i0 + rows * part / parts, end = it->i0 + rows * (part + 1) / parts;
    if (steps == 0)
        return attn_vec_ahead(to->y + row * to->ldy + it->j0 * PANEL, p->makes ? 0 : end - row, attn_item_columns(it) * size,
                              to->ldy * size);
    return attn_vec_ahead(p->x + row * p->ldx + k, end - row, steps * size, p->ldx * size);
}

/* Goes on to the item that this thread takes next; false: its share ends. */
static bool next_item(struct attn_gemm_item *it, const struct product *p)
{
    if (attn_cut_ends_share(&p->cut, it->n))
        return false;
    *it = attn_cut_item(&p->cut, it->n + 1);
    return true;
}

/* The same for the item's panels of w or, after the last step, for the beginning of the item that this thread takes next. */
static struct attn_ahead weights_ahead(const struct work *o, size_t k, size_t part, size_t parts)
{
    const struct product *p = o->p;
    struct attn_gemm_item next = o->it;
    if (k >= p->in) {
        if (!next_item(&next, p))
            return (struct attn_ahead){0};
        k = 0;
    }
    struct attn_slab all = {next.j0 * PANEL, attn_item_columns(&next), k, smaller(p->in - k, p->cut.most->depth)};
    return attn_slab_memory(next.to->w, &all, part, parts);
}

/* Multiplies all panels by the same steps of x, which stay in the cache, before the next steps, which are prefetched meanwhile. */
static void sum_up(const struct work *o)
{
    size_t panels = o->it.j1 - o->it.j0, in = o->p->in, depth = o->p->cut.most->depth;
    for (size_t k = 0; k < in; k += depth)
        for (size_t j = 0; j < panels; j++) {
            struct attn_slab s = attn_slab_of(o->it.to->w, o->it.j0 + j, k, depth);
            struct attn_ahead rows = rows_ahead(o, k + s.K, depth, j, panels), ahead = weights_ahead(o, k + s.K, j, panels);
            ahead.then = &rows;
            add_floats(o, &s, &ahead);
        }
}

/* ---- sums in pairs ---- */

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
static struct attn_ahead chunk_ahead(const struct work *o, const struct attn_chunk *c, size_t part, size_t parts)
{
    struct attn_gemm_item it = o->it;
    struct attn_chunk next = *c;
    size_t depth = o->p->cut.most->depth;
    if (!next_chunk(&next, &it, depth)) {
        if (!next_item(&it, o->p))
            return (struct attn_ahead){0};
        next = attn_chunk_of(it.to->w, it.j0, it.j1, 0, depth);
    }
    size_t j = next.j0 * PANEL, end = smaller(next.j1 * PANEL, it.to->w->out);
    struct attn_slab all = {j, end - j, next.k, next.K};
    return attn_slab_memory(it.to->w, &all, part, parts);
}

/* Whether y is prefetched in products in pairs: that of few rows is in the cache still. */
static bool fetches_y(const struct product *p)
{
    return p->cut.n > STAYING;
}

/* Adds the product of the item's rows with a chunk, whose pairs are `words`. */
static void add_chunk(const struct work *o, const struct attn_chunk *c, const float *words)
{
    const struct product *all = o->p;
    size_t n = o->it.i1 - o->it.i0, depth = all->cut.most->depth, panel = attn_pairs_words(c->K) * PANEL;
    size_t part = 0, parts = (c->j1 - c->j0) * parts_of(c->K, depth);
    for (size_t j = c->j0; j < c->j1; j++, words += panel)
        for (size_t k = 0; k < c->K; k += depth) {
            const float *x = attn_pairs_at(all->x, all->ldx, o->it.i0, (c->k + k) / 2);
            struct attn_ahead rows, ahead = chunk_ahead(o, c, part++, parts);
            if (c->k + k + depth >= all->in && fetches_y(all)) {
                rows = rows_ahead(o, all->in, 0, j - o->it.j0, o->it.j1 - o->it.j0);
                ahead.then = &rows;
            }
            attn_pairs_ops()->panel(o->sum + (j - o->it.j0) * PANEL, o->ld, x, all->ldx, words + k / 2 * PANEL, n,
                                    attn_pairs_words(smaller(c->K - k, depth)), c->k + k > 0, &ahead);
        }
}

static void sum_up_pairs(const struct work *o)
{
    _Alignas(LINE) float words[ATTN_CHUNK];
    const struct attn_gemm_item *it = &o->it;
    size_t depth = o->p->cut.most->depth;
    struct attn_chunk c = attn_chunk_of(it->to->w, it->j0, it->j1, 0, depth);
    do {
        attn_chunk_words(words, it->to->w, &c);
        add_chunk(o, &c, words);
    } while (next_chunk(&c, it, depth));
}

/* ---- sums of a weight that has panels ---- */

/* What to prefetch while panel j is multiplied from step k on: what comes after it. */
static struct attn_ahead panels_ahead(const struct work *o, size_t j, size_t k)
{
    const struct product *p = o->p;
    struct attn_gemm_item it = o->it;
    if (++j == it.j1) {
        j = it.j0;
        k += p->blocking->panelled;
    }
    if (k >= p->in) {
        if (!next_item(&it, p) || !it.to->w->panels || it.j0 == it.j1)
            return (struct attn_ahead){0};
        j = it.j0;
        k = 0;
    }
    const bool pairs = p->blocking->in_pairs;
    size_t K = smaller(p->in - k, p->blocking->panelled), part = (pairs ? attn_pairs_words(K) : K) * PANEL * sizeof(float) / ATTN_ABREAST;
    return attn_vec_ahead(attn_panels_at(it.to->w, j, k, pairs), ATTN_ABREAST, part, part);
}

/* Adds the product of the item's rows with panel j from step k on. */
static void add_panel(const struct work *o, size_t j, size_t k)
{
    const struct product *p = o->p;
    const struct attn_gemm_item *it = &o->it;
    const bool pairs = p->blocking->in_pairs;
    const float *w = attn_panels_at(it->to->w, j, k, pairs);
    float *y = o->sum + (j - it->j0) * PANEL;
    size_t n = it->i1 - it->i0, depth = p->blocking->panelled, K = smaller(p->in - k, depth);
    struct attn_ahead rows = rows_ahead(o, k + K, depth, j - it->j0, it->j1 - it->j0), ahead = panels_ahead(o, j, k);
    if (!pairs || (k + K == p->in && fetches_y(p)))     /* what is prefetched of x are rows, and pairs lie otherwise */
        ahead.then = &rows;
    if (pairs)
        attn_pairs_ops()->panel(y, o->ld, attn_pairs_at(p->x, p->ldx, it->i0, k / 2), p->ldx, w, n, attn_pairs_words(K), k > 0,
                                &ahead);
    else
        attn_kernel_multiply(y, o->ld, p->x + it->i0 * p->ldx + k, p->ldx, w, PANEL, 0, n, K, k > 0, &ahead);
}

/* One row waits for memory alone. */
static void sum_up_row(const struct work *o)
{
    const struct attn_mat *w = o->it.to->w;
    size_t panels = o->it.j1 - o->it.j0, in = o->p->in;
    if (o->p->blocking->in_pairs)
        attn_pairs_ops()->row_panels(o->sum, o->p->x, attn_panels_at(w, o->it.j0, 0, true), attn_pairs_words(in) * PANEL, panels,
                                     attn_pairs_words(in));
    else
        attn_vec_of(w->type)->row_panels(o->sum, o->p->x, attn_panels_at(w, o->it.j0, 0, false), in * PANEL, panels, in);
}

static void sum_up_panels(const struct work *o)
{
    if (o->p->cut.n == 1) {
        sum_up_row(o);
        return;
    }
    for (size_t k = 0; k < o->p->in; k += o->p->blocking->panelled)
        for (size_t j = o->it.j0; j < o->it.j1; j++)
            add_panel(o, j, k);
}

/* ---- sums of few rows (in pairs: one or two), at the speed of memory: w is read once, in long stretches ---- */

/* Of a weight stored [out, in]: sums some outputs at a time, while the rows of the next ones are prefetched.  Sums of columns
 * beyond the last output are meaningless. */
static void stream_out_in(const struct work *o)
{
    const struct product *p = o->p;
    const struct attn_mat *w = o->it.to->w;
    const bool pairs = p->blocking->in_pairs;
    enum { SIDE = ATTN_TRANSPOSE };
    const void *row[SIDE];
    const size_t size = attn_dtype_size(w->type);
    float *sum = o->sum;
    for (size_t j = o->it.j0 * PANEL, end = smaller(o->it.j1 * PANEL, w->out); j < end; j += SIDE, sum += SIDE) {
        size_t next = j + SIDE;
        struct attn_ahead ahead = attn_vec_ahead(attn_mat_row(w, next), next < w->out ? SIDE : 0, w->in * size, w->ld * size);
        for (size_t l = 0; l < SIDE; l++)
            row[l] = attn_mat_row(w, j + l);
        if (pairs)
            attn_pairs_ops()->stream_out_in(sum, o->ld, p->x, p->ldx, row, w->type, p->cut.n, w->in, &ahead);
        else
            attn_vec_of(w->type)->stream_out_in(sum, o->ld, p->x, p->ldx, row, p->cut.n, w->in, &ahead);
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
static void stream_in_out(const struct work *o, size_t panels)
{
    const struct product *p = o->p;
    const struct attn_mat *w = o->it.to->w;
    size_t n = p->cut.n, cols = panels * PANEL, most = panels ? columns_at_once(w, panels, n) : 0;
    for (size_t c = 0; c < cols; c += most) {
        const void *at = attn_element(w->data, w->type, o->it.j0 * PANEL + c);
        size_t some = smaller(cols - c, most);
        if (p->blocking->in_pairs)
            attn_pairs_ops()->stream(o->sum + c, o->ld, p->x, p->ldx, at, w->type, w->ld, n, w->in, some);
        else
            attn_vec_of(w->type)->stream(o->sum + c, o->ld, p->x, p->ldx, at, w->ld, n, w->in, some);
    }
}

/* Columns of a weight stored [in, out] that do not fill a panel are summed as for many rows. */
static void stream(const struct work *o)
{
    const struct attn_mat *w = o->it.to->w;
    size_t whole = w->out / PANEL, panels = (w->out_in ? o->it.j1 : smaller(o->it.j1, whole)) - o->it.j0;
    struct work rest = *o;
    for (size_t i = 0; i < o->p->cut.n; i++)
        memset(o->sum + i * o->ld, 0, panels * PANEL * sizeof *o->sum);
    if (w->out_in)
        stream_out_in(o);
    else
        stream_in_out(o, panels);
    rest.it.j0 += panels;
    rest.sum += panels * PANEL;
    if (rest.it.j0 < rest.it.j1)
        (o->p->blocking->in_pairs ? sum_up_pairs : sum_up)(&rest);
}

/* ---- which blocking ---- */

/* `some` rows are multiplied about as fast as weights come from memory, which is fastest with many panels side by side; slabs
 * are shallower so that those of a whole strip stay in the cache.  A weight stored [out, in] (some_out_in) is read fastest one
 * panel after the other.  In pairs, arithmetic is so fast that making pairs and reading and writing sums cost more: items have
 * more rows and take more steps at a time.  Tiles are faster still, and wait for panels that are not in the L1 cache.  `few` and
 * `lone` stream the weight in the longest possible stretches. */
static const struct blocking
    many = {{.rows = 192, .tile = 6, .strip = 4, .depth = ATTN_SLAB, .items = 2, .fine = 4}, sum_up, false, DEEP},
    some = {{.rows = 48, .tile = 6, .strip = STRIP, .depth = ATTN_SLAB / 2, .items = 2, .fine = 1}, sum_up, false, SHORT},
    some_out_in = {{.rows = 48, .tile = 6, .strip = 1, .depth = ATTN_SLAB / 2, .items = 2, .fine = 1}, sum_up, false, SHORT},
    few = {{.rows = ATTN_STREAM, .tile = 1, .strip = PANELS, .depth = ATTN_SLAB, .items = 1, .fine = 1}, stream, false, 0},
    many_in_pairs = {{.rows = 512, .tile = ATTN_PAIRS_ROWS, .strip = 4, .depth = PAIRED, .items = 2, .fine = 2},
                     sum_up_pairs, true, PAIRED},
    some_in_pairs = {{.rows = STAYING, .tile = ATTN_PAIRS_ROWS, .strip = 8, .depth = PAIRED, .items = 1, .fine = 1},
                     sum_up_pairs, true, PAIRED},
    few_in_pairs = {{.rows = 48, .tile = ATTN_PAIRS_ROWS, .strip = STRIP, .depth = FEW_PAIRED, .items = 1, .fine = 1},
                    sum_up_pairs, true, PAIRED},
    copied_in_pairs = {{.rows = 128, .tile = ATTN_PAIRS_ROWS, .strip = 2, .depth = PAIRED, .items = 2, .fine = 2},
                       sum_up_pairs, true, PAIRED},
    copied_for_tiles = {{.rows = 256, .tile = ATTN_PAIRS_ROWS, .strip = 4, .depth = FOR_TILES, .items = 2, .fine = 2},
                        sum_up_pairs, true, FOR_TILES},
    lone_in_pairs = {{.rows = ATTN_PAIRS_LONE, .tile = 1, .strip = STRIP, .depth = PAIRED, .items = 1, .fine = 1},
                     stream, true, 0};

static const struct blocking *blocking_in_pairs(size_t n, bool copied)
{
    if (n <= ATTN_PAIRS_LONE)
        return &lone_in_pairs;
    if (copied && attn_pairs_kind() != ATTN_BF16_TILES)
        return &copied_in_pairs;
    if (n <= few_in_pairs.sizes.rows)
        return &few_in_pairs;
    if (copied)
        return &copied_for_tiles;
    return n <= some_in_pairs.sizes.rows ? &some_in_pairs : &many_in_pairs;
}

/* Whether no weight must be rounded: in bf16, only if all are stored so. */
static bool all_as_stored(const struct attn_product *each, size_t outs, bool bf16)
{
    for (size_t i = 0; bf16 && i < outs; i++)
        if (each[i].w->type != ATTN_BF16)
            return false;
    return true;
}

static bool in_pairs(bool bf16) { return bf16 && attn_pairs_kind() != ATTN_BF16_FLOATS; }

static const struct blocking *blocking_for(size_t n, const struct attn_product *each, size_t outs, bool bf16)
{
    if (in_pairs(bf16))
        return blocking_in_pairs(n, each->w->panels);
    if (n <= few.sizes.rows && !attn_kernel_shares(n) && all_as_stored(each, outs, bf16))
        return &few;
    if (n > some.sizes.rows)
        return &many;
    return each->w->out_in ? &some_out_in : &some;
}

double attn_gemm_share(size_t n, bool bf16, double flops)
{
    if (in_pairs(bf16))
        return 0;
    const struct attn_cut cut = {.most = &many.sizes, .n = n};
    size_t item = attn_cut_rows(&cut), taken = 0;
    for (size_t i = 0; i < n; i += item)
        taken += attn_kernel_rows(smaller(item, n - i), flops);
    return (double)taken / (double)n;
}

/* ---- what becomes of them ---- */

/* The biases of columns j0.. in float32. */
static void widen_bias(float *bias, const struct attn_mat *w, size_t j0, size_t cols)
{
    for (size_t j = 0, n; j < cols; j += n) {           /* n: those that are contiguous */
        size_t group = w->group ? w->group : w->out, left = group - (j0 + j) % group;
        n = smaller(left, cols - j);
        attn_vec_widen(bias + j, w->bias.data, w->bias.type, attn_mat_index(w, j0 + j), n);
    }
}

/* s: the sums, to which the bias is added first.  bias: NULL if there is none. */
static void finish_row(float *y, float *s, const float *bias, size_t n, enum attn_tail tail)
{
    if (bias && tail == ATTN_STORE) {
        attn_vec_sum(y, s, bias, n);
        return;
    }
    if (bias && tail == ATTN_ADD) {
        attn_vec_add_sum(y, s, bias, n);
        return;
    }
    if (bias)
        attn_vec_add(s, bias, n);
    switch (tail) {
    case ATTN_STORE: memcpy(y, s, n * sizeof *y); break;
    case ATTN_ADD: attn_vec_add(y, s, n); break;
    case ATTN_THEN_GELU: attn_vec_gelu(y, s, n); break;
    case ATTN_THEN_GELU_NEW: attn_vec_gelu_new(y, s, n); break;
    case ATTN_THEN_RELU: attn_vec_relu(y, s, n); break;
    case ATTN_THEN_SILU: attn_vec_silu_mul(y, y, s, n); break;
    case ATTN_THEN_GEGLU: attn_vec_gelu_mul(y, y, s, n); break;
    case ATTN_THEN_GEGLU_NEW: attn_vec_gelu_new_mul(y, y, s, n); break;
    }
}

void attn_gemm_round(float *rounded, size_t in, size_t i, size_t k, const float *x, size_t n)
{
    if (attn_pairs_kind() == ATTN_BF16_FLOATS)
        attn_vec_round(rounded + i * in + k, x, n);
    else
        attn_pairs_put(rounded, attn_pairs_words(in), i, k, x, n);
}

static void finish_item(const struct work *o)
{
    float space[PANELS * PANEL], *bias = o->it.to->w->bias.data ? space : NULL;
    const struct attn_gemm_output *to = o->it.to;
    size_t j = o->it.j0 * PANEL, cols = attn_item_columns(&o->it);
    if (bias)
        widen_bias(bias, to->w, j, cols);
    for (size_t i = o->it.i0; i < o->it.i1; i++) {
        float *sum = o->sum + (i - o->it.i0) * o->ld;
        bool in_place = o->p->makes && o->p->tail < ATTN_THEN_SILU;
        float *y = in_place ? sum : to->y + i * to->ldy + j;
        finish_row(y, sum, bias, cols, o->p->tail);
        if (o->p->makes)
            attn_gemm_round(o->p->makes, to->w->out, i, j, y, cols);
    }
}

/* Whether the product reads a weight's panels; else it reads the weight as it is stored. */
static bool reads_panels(const struct product *p, const struct attn_mat *w)
{
    const bool pairs = p->blocking->in_pairs;
    if (!w->panels)
        return false;
    return p->cut.n == 1 ? attn_panels_help_one(pairs) : p->blocking->sum_up != stream && attn_panels_help_many(w, pairs);
}

static void one_item(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct product *p = ctx;
    _Alignas(LINE) float sum[SUMS];
    struct attn_gemm_item it = attn_cut_item(&p->cut, item);
    struct work o = {p, it, sum, (it.j1 - it.j0) * PANEL + APART};
    if (o.it.j0 == o.it.j1)
        return;
    if (p->in == 0)
        memset(sum, 0, (o.it.i1 - o.it.i0) * o.ld * sizeof *sum);
    assert(up(it.i1 - it.i0, p->blocking->sizes.tile) * o.ld <= SUMS);
    if (reads_panels(p, o.it.to->w))
        sum_up_panels(&o);
    else
        p->blocking->sum_up(&o);
    finish_item(&o);
}

/* ---- rows of x made ready for products in bf16 ---- */

struct rounding { float *to; const struct product *p; };

static void round_row(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct rounding *r = ctx;
    attn_gemm_round(r->to, r->p->in, i, 0, r->p->x + i * r->p->ldx, r->p->in);
}

static void round_rows(const struct product *p, struct attn_team *t, float *rounded)
{
    struct rounding r = {rounded, p};
    attn_team_run(t, p->cut.n, (double)p->cut.n * (double)p->in, round_row, &r);
}

/* From here on the product reads x as it was rounded. */
static void read_rounded(struct product *p, const float *rounded)
{
    p->bf16 = true;
    p->x = rounded;
    p->ldx = p->blocking->in_pairs ? attn_pairs_words(p->in) : p->in;
}

/* ---- all of it ---- */

void attn_gemm_each(struct attn_team *t, const struct attn_product *each, size_t outs, const float *x, size_t ldx, size_t n,
                    enum attn_tail tail, float *rounded, const struct attn_between *between)
{
    const float *reads = between ? between->reads : NULL;
    struct attn_gemm_output out[ATTN_GEMM_EACH];
    const struct blocking *blocking = blocking_for(n, each, outs, rounded);
    struct attn_cut_sizes sizes = blocking->sizes;
    struct product p = {.blocking = blocking,
                        .cut = {.most = &sizes, .out = out, .n = n, .workers = (size_t)attn_team_size(t)},
                        .x = x, .ldx = ldx, .in = each->w->in, .tail = tail, .makes = between ? between->makes : NULL};
    double columns = 0;
    for (size_t i = 0; i < outs; i++) {
        if (each[i].w->out > 0)
            out[p.cut.outs++] = (struct attn_gemm_output){.y = each[i].y, .ldy = each[i].ldy, .w = each[i].w};
        columns += (double)each[i].w->out;
    }
    assert(!p.makes || tail >= ATTN_THEN_GELU);
    if (n == 1 && reads_panels(&p, each->w))
        sizes.strip = attn_panels_at_once();    /* in narrow items: threads end together */
    if (n == 0 || p.cut.outs == 0)
        return;
    if (rounded && !reads)
        round_rows(&p, t, rounded);
    if (rounded)
        read_rounded(&p, reads ? reads : rounded);
    if (!blocking->in_pairs)
        attn_kernel_counts((uint64_t)((double)n * (double)p.in * columns));
    attn_cut_share(&p.cut);
    double rows = n < AS_FETCHED ? AS_FETCHED : (double)n;
    attn_team_run(t, p.cut.items, 2.0 * rows * (double)p.in * columns, one_item, &p);
}

void attn_gemm(struct attn_team *t, float *y, size_t ldy, const float *x, size_t ldx,
               size_t n, const struct attn_mat *w, enum attn_tail tail, float *rounded)
{
    attn_gemm_each(t, &(struct attn_product){y, ldy, w}, 1, x, ldx, n, tail, rounded, NULL);
}
