#include "compute/gemm.h"

#include "base/size.h"
#include "compute/microkernel.h"
#include "compute/multiply.h"
#include "compute/bf16.h"
#include "compute/panels.h"
#include "compute/slab.h"
#include "compute/gemm_item.h"

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
    SHALLOW = 16,                       /* steps of a weight of which whole rows are read */
    FEW_PAIRED = 128, PAIRED = 384,     /* steps of a panel to be made into pairs, for few rows, for which that takes long, and many */
    FOR_TILES = 256,                    /* steps of a panel in pairs that stays in the L1 cache: 32 KB */
    AS_FETCHED = 16                     /* this many rows are multiplied in the time it takes to read the weights from memory */
};
_Static_assert(ATTN_FEW * (PANELS * PANEL + APART) <= SUMS, "the sums of the widest item fit");
_Static_assert((SUMS + ATTN_CHUNK + ATTN_SLAB * PANEL) * sizeof(float) <= 896 << 10, "attn.h asks for a stack of 1 MB");
_Static_assert(STRIP * PANEL <= ATTN_BF16_WIDTH, "an item is as wide as a stream of pairs at most");

/* ---- which blocking ---- */

/* `some` rows are multiplied about as fast as weights come from memory, which is fastest with many panels side by side; slabs
 * are shallower so that those of a whole strip stay in the cache.  A weight stored [out, in] (some_transposed) is read fastest one
 * panel after the other.  In pairs, arithmetic is so fast that making pairs and reading and writing sums cost more: items have
 * more rows and take more steps at a time.  Tiles are faster still, wait for panels that are not in the L1 cache, and make the
 * pairs of many panels beforehand.  `few` rows read the weight in the longest possible stretches.  `streamed` and `lone` convert or
 * transpose a large weight in registers, which no kernel does: two to six rows are 1.2 to 1.4 times as fast as by kernels, and one
 * row waits for memory alone. */
static const struct attn_blocking
    many = {{.rows = 264, .tile = 6, .strip = 4, .depth = ATTN_SLAB, .items = 2, .fine = 4, .least = 64}, attn_sum_up_slabs, false, DEEP},
    some = {{.rows = 48, .tile = 6, .strip = STRIP, .depth = ATTN_SLAB / 2, .items = 2, .fine = 1}, attn_sum_up_slabs, false, SHORT},
    some_transposed = {{.rows = 48, .tile = 6, .strip = 1, .depth = ATTN_SLAB / 2, .items = 2, .fine = 1}, attn_sum_up_slabs, false, SHORT},
    few = {{.rows = ATTN_FEW, .tile = 1, .strip = PANELS, .depth = SHALLOW, .items = 1, .fine = 1}, attn_sum_up_slabs, false, SHORT},
    streamed = {{.rows = ATTN_STREAM, .tile = 1, .strip = PANELS, .depth = ATTN_SLAB, .items = 1, .fine = 1}, attn_sum_up_few, false, 0},
    few_in_bf16 = {{.rows = 48, .tile = ATTN_BF16_ROWS, .strip = 2, .depth = FEW_PAIRED, .items = 1, .fine = 1},
                   attn_sum_up_bf16, true, DEEP},
    many_in_bf16 = {{.rows = 256, .tile = ATTN_BF16_ROWS, .strip = 4, .depth = DEEP, .items = 2, .fine = 2, .least = 64},
                    attn_sum_up_bf16, true, DEEP},
    copied_in_bf16 = {{.rows = 128, .tile = ATTN_BF16_ROWS, .strip = 2, .depth = DEEP, .items = 2, .fine = 2, .least = 64},
                      attn_sum_up_bf16, true, DEEP},
    few_in_tiles = {{.rows = 48, .tile = ATTN_BF16_ROWS, .strip = STRIP, .depth = FEW_PAIRED, .items = 1, .fine = 1},
                    attn_sum_up_bf16, true, PAIRED},
    some_in_tiles = {{.rows = 256, .tile = ATTN_BF16_ROWS, .strip = 8, .depth = PAIRED, .items = 1, .fine = 1},
                     attn_sum_up_bf16, true, PAIRED},
    many_in_tiles = {{.rows = 512, .tile = ATTN_BF16_ROWS, .strip = 4, .depth = PAIRED, .items = 2, .fine = 2, .least = 128},
                     attn_sum_up_bf16, true, PAIRED},
    copied_in_tiles = {{.rows = 256, .tile = ATTN_BF16_ROWS, .strip = 4, .depth = FOR_TILES, .items = 2, .fine = 2, .least = 64},
                       attn_sum_up_bf16, true, FOR_TILES},
    lone_in_bf16 = {{.rows = ATTN_BF16_LONE, .tile = 1, .strip = STRIP, .depth = PAIRED, .items = 1, .fine = 1},
                    attn_sum_up_few, true, 0};

static const struct attn_blocking *blocking_in_tiles(size_t n, bool copied)
{
    if (n <= few_in_tiles.sizes.rows)
        return &few_in_tiles;
    if (copied)
        return &copied_in_tiles;
    return n <= some_in_tiles.sizes.rows ? &some_in_tiles : &many_in_tiles;
}

static const struct attn_blocking *blocking_in_bf16(size_t n, bool copied)
{
    if (n <= ATTN_BF16_LONE)
        return &lone_in_bf16;
    if (attn_bf16_kind() == ATTN_BF16_TILES)
        return blocking_in_tiles(n, copied);
    if (copied)
        return &copied_in_bf16;
    return n <= few_in_bf16.sizes.rows ? &few_in_bf16 : &many_in_bf16;
}

/* Whether no weight must be rounded: in bf16, only if all are stored so. */
static bool all_as_stored(const struct attn_product *each, size_t outs, bool bf16)
{
    for (size_t i = 0; bf16 && i < outs; i++)
        if (each[i].w->type != ATTN_BF16)
            return false;
    return true;
}

static bool all_small(const struct attn_product *each, size_t outs)
{
    for (size_t i = 0; i < outs; i++)
        if (!attn_mat_small(each[i].w))
            return false;
    return true;
}

/* Whether kernels can read all weights where they are stored. */
static bool all_in_place(const struct attn_product *each, size_t outs)
{
    for (size_t i = 0; i < outs; i++)
        if (each[i].w->type != ATTN_F32 || each[i].w->transposed)
            return false;
    return true;
}

static bool multiplies_bf16(bool bf16) { return bf16 && attn_bf16_kind() != ATTN_BF16_FLOATS; }

static const struct attn_blocking *blocking_for(size_t n, const struct attn_product *each, size_t outs, bool bf16)
{
    if (multiplies_bf16(bf16))
        return blocking_in_bf16(n, each->w->panels);
    if (n > 1 && n <= ATTN_FEW && all_as_stored(each, outs, bf16) && all_in_place(each, outs))
        return &few;
    if (n <= ATTN_STREAM && all_as_stored(each, outs, bf16) && (n == 1 || !all_small(each, outs)))
        return &streamed;
    if (n > some.sizes.rows)
        return &many;
    return each->w->transposed ? &some_transposed : &some;
}

double attn_gemm_share(size_t n, const struct attn_mat *w, bool bf16)
{
    const struct attn_product one = {.w = w};
    const struct attn_blocking *blocking = blocking_for(n, &one, 1, bf16);
    struct attn_shape any = {.rows = 1, .K = 1, .ldx = 1, .ldw = PANEL, .ldy = PANEL, .cols = PANEL};
    if (blocking->sum_up == attn_sum_up_few)
        return 0;
    if (blocking->in_bf16) {
        any.flags = ATTN_KERNEL_BF16;
        return n >= ATTN_MANY_BF16 && attn_bf16_kind() == ATTN_BF16_DOTS && attn_microkernel_of(&any);
    }
    const bool copied = (bf16 || !all_in_place(&one, 1)) && !attn_mat_small(w), first = copied && w->type != ATTN_F32 && !w->transposed;
    const size_t by_loops = ATTN_FEW + (first ? attn_vec_ops()->tile_rows : 0);       /* its first rows make the copy */
    return !(copied && n <= by_loops) && attn_microkernel_of(&any);
}

/* ---- the epilogue ---- */

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
static void epilogue_of_row(float *y, float *s, const float *bias, size_t n, enum attn_epilogue epilogue)
{
    if (bias && epilogue == ATTN_STORE) {
        attn_vec_sum(y, s, bias, n);
        return;
    }
    if (bias && epilogue == ATTN_ADD) {
        attn_vec_add_sum(y, s, bias, n);
        return;
    }
    if (bias)
        attn_vec_add(s, bias, n);
    const enum attn_mlp_kind mlp = attn_epilogue_mlp(epilogue);
    if (mlp)
        attn_vec_activate(y, attn_mlp_gated(mlp) ? y : s, s, mlp, n);
    else if (epilogue == ATTN_ADD)
        attn_vec_add(y, s, n);
    else
        memcpy(y, s, n * sizeof *y);
}

void attn_gemm_round(float *rounded, size_t in, size_t i, size_t k, const float *x, size_t n)
{
    if (attn_bf16_kind() == ATTN_BF16_FLOATS)
        attn_vec_round(rounded + i * in + k, x, n);
    else
        attn_bf16_put(rounded, attn_bf16_words(in), i, k, x, n);
}

static void epilogue_of_item(const struct attn_item_sums *o)
{
    float space[PANELS * PANEL], *bias = o->it.to->w->bias.data ? space : NULL;
    const struct attn_gemm_output *to = o->it.to;
    size_t j = o->it.j0 * PANEL, cols = attn_item_columns(&o->it);
    if (bias)
        widen_bias(bias, to->w, j, cols);
    for (size_t i = o->it.i0; i < o->it.i1; i++) {
        float *sum = o->sum + (i - o->it.i0) * o->ld;
        bool in_place = o->p->y_bf16 && !attn_mlp_gated(attn_epilogue_mlp(o->p->epilogue));
        float *y = in_place ? sum : to->y + i * to->ldy + j;
        epilogue_of_row(y, sum, bias, cols, o->p->epilogue);
        if (o->p->y_bf16)
            attn_gemm_round(o->p->y_bf16, to->w->out, i, j, y, cols);
    }
}

/* Whether the product reads a weight's panels; else it reads the weight as it is stored. */
static bool reads_panels(const struct attn_joint_product *p, const struct attn_mat *w)
{
    const bool pairs = p->blocking->in_bf16;
    if (!w->panels)
        return false;
    return p->cut.n == 1 ? attn_panels_help_one(pairs) : p->blocking->sum_up != attn_sum_up_few && attn_panels_help_many(w, pairs);
}

static void one_item(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct attn_joint_product *p = ctx;
    _Alignas(LINE) float sum[SUMS];
    struct attn_gemm_item it = attn_cut_item(&p->cut, item);
    struct attn_item_sums o = {p, it, sum, (it.j1 - it.j0) * PANEL + APART};
    if (o.it.j0 == o.it.j1)
        return;
    if (p->in == 0)
        memset(sum, 0, (o.it.i1 - o.it.i0) * o.ld * sizeof *sum);
    assert(up(it.i1 - it.i0, p->blocking->sizes.tile) * o.ld <= SUMS);
    if (reads_panels(p, o.it.to->w))
        attn_sum_up_panels(&o);
    else
        p->blocking->sum_up(&o);
    epilogue_of_item(&o);
}

/* ---- rows of x made ready for products in bf16 ---- */

struct rounding { float *to; const struct attn_joint_product *p; };

static void round_row(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct rounding *r = ctx;
    attn_gemm_round(r->to, r->p->in, i, 0, r->p->x + i * r->p->ldx, r->p->in);
}

static void round_rows(const struct attn_joint_product *p, struct attn_team *t, float *rounded)
{
    struct rounding r = {rounded, p};
    attn_team_run(t, p->cut.n, (double)p->cut.n * (double)p->in, round_row, &r);
}

/* From here on the product reads x as it was rounded. */
static void read_rounded(struct attn_joint_product *p, const float *rounded)
{
    p->bf16 = true;
    p->x = rounded;
    p->ldx = p->blocking->in_bf16 ? attn_bf16_words(p->in) : p->in;
}

/* ---- all of it ---- */

void attn_gemm_each(struct attn_team *t, const struct attn_product *each, size_t outs, const float *x, size_t ldx, size_t n,
                    enum attn_epilogue epilogue, float *rounded, const struct attn_bf16_operands *bf16)
{
    const float *x_bf16 = bf16 ? bf16->x_bf16 : NULL;
    struct attn_gemm_output out[ATTN_GEMM_EACH];
    const struct attn_blocking *blocking = blocking_for(n, each, outs, rounded);
    struct attn_cut_sizes sizes = blocking->sizes;
    struct attn_joint_product p = {.blocking = blocking,
                        .cut = {.most = &sizes, .out = out, .n = n, .workers = (size_t)attn_team_size(t)},
                        .x = x, .ldx = ldx, .in = each->w->in, .epilogue = epilogue, .y_bf16 = bf16 ? bf16->y_bf16 : NULL};
    double columns = 0;
    for (size_t i = 0; i < outs; i++) {
        if (each[i].w->out > 0)
            out[p.cut.outs++] = (struct attn_gemm_output){.y = each[i].y, .ldy = each[i].ldy, .w = each[i].w};
        columns += (double)each[i].w->out;
    }
    assert(!p.y_bf16 || attn_epilogue_mlp(epilogue));
    if (n == 1 && reads_panels(&p, each->w))
        sizes.strip = attn_panels_at_once();    /* in narrow items: threads end together */
    if (n == 0 || p.cut.outs == 0)
        return;
    if (rounded && !x_bf16)
        round_rows(&p, t, rounded);
    if (rounded)
        read_rounded(&p, x_bf16 ? x_bf16 : rounded);
    attn_cut_share(&p.cut);
    double rows = n < AS_FETCHED ? AS_FETCHED : (double)n;
    attn_team_run(t, p.cut.items, 2.0 * rows * (double)p.in * columns, one_item, &p);
}

void attn_gemm(struct attn_team *t, float *y, size_t ldy, const float *x, size_t ldx,
               size_t n, const struct attn_mat *w, enum attn_epilogue epilogue, float *rounded)
{
    attn_gemm_each(t, &(struct attn_product){y, ldy, w}, 1, x, ldx, n, epilogue, rounded, NULL);
}
