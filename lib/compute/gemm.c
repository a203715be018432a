#include "compute/gemm.h"

#include "base/size.h"
#include "compute/microkernel.h"
#include "compute/multiply.h"
#include "compute/bf16.h"
#include "compute/panels.h"
#include "compute/k_block.h"
#include "compute/gemm_item.h"

#include <assert.h>
#include <string.h>

enum {
    PANEL = ATTN_PANEL,
    PANELS = ATTN_ITEM_PANELS,
    WIDE = 16,                          /* most panels of an item whose sums or K blocks stay in the cache */
    DEEP = 768, SHORT = 192,            /* steps of a panel that is a copy already, for many rows and some: 128 and 256
                                         * are slower */
    SHALLOW = 16,                       /* steps of a weight of which whole rows are read */
    FEW_PAIRED = 128, PAIRED = 384,     /* steps of a panel to be made into pairs, for few rows, for which that takes
                                         * long, and many */
    FOR_TILES = 256,                    /* steps of a panel in pairs that stays in the L1 cache: 32 KB */
    AS_FETCHED = 16                     /* this many rows are multiplied in the time it takes to read the weights from
                                         * memory */
};
_Static_assert(WIDE * PANEL <= ATTN_BF16_WIDTH, "an item is as wide as a stream of pairs at most");

/* ---- which blocking ---- */

/* gemm: many rows, which wait for arithmetic.  skinny: up to 48 rows are multiplied about as fast as weights come
 * from memory, which is fastest with many panels side by side; K blocks are shallower so that those of a whole macro
 * tile stay in the cache.  A weight stored [out, in] is read fastest one panel after the other; of one in blocks, steps
 * that a block has are decoded together.  skinny_in_place: up to 12 rows read the weight in the longest possible
 * stretches.  gemv: up to 6 rows convert or transpose a large weight in registers, which no kernel does: two to six
 * rows are 1.2 to 1.4 times as fast as by kernels, and one row waits for memory alone.  In bf16, arithmetic is so fast
 * that packing, and reading and writing sums, cost more: items have more rows and take more steps at a time.  AMX is
 * faster still, waits for panels that are not in the L1 cache, and packs many panels beforehand. */
static const struct attn_blocking
    gemm = {{.rows = 264, .tile = 6, .panels = 4, .depth = ATTN_K_BLOCK, .items = 2, .fine = 4, .least = 64},
        .prepacked_depth = DEEP},
    skinny = {{.rows = 48, .tile = 6, .panels = WIDE, .depth = ATTN_K_BLOCK / 2, .items = 2, .fine = 1},
        .prepacked_depth = SHORT},
    skinny_transposed = {{.rows = 48, .tile = 6, .panels = 1, .depth = ATTN_K_BLOCK / 2, .items = 2, .fine = 1},
        .prepacked_depth = SHORT},
    skinny_blocks = {{.rows = 48, .tile = 6, .panels = 1, .depth = ATTN_K_BLOCK, .items = 2, .fine = 1},
        .prepacked_depth = SHORT},
    skinny_in_place = {{.rows = ATTN_FEW, .tile = 1, .panels = PANELS, .depth = SHALLOW, .items = 1, .fine = 1},
        .prepacked_depth = SHORT},
    gemv = {{.rows = ATTN_STREAM, .tile = 1, .panels = PANELS, .depth = ATTN_K_BLOCK, .items = 1, .fine = 1},
        .streamed = true},
    skinny_bf16 = {{.rows = 48, .tile = ATTN_BF16_ROWS, .panels = 2, .depth = FEW_PAIRED, .items = 1, .fine = 1},
        .in_bf16 = true, .prepacked_depth = DEEP},
    gemm_bf16 = {{.rows = 256, .tile = ATTN_BF16_ROWS, .panels = 4, .depth = DEEP, .items = 2, .fine = 2, .least = 64},
        .in_bf16 = true, .prepacked_depth = DEEP},
    prepacked_bf16 = {{.rows = 128, .tile = ATTN_BF16_ROWS, .panels = 2, .depth = DEEP, .items = 2, .fine = 2,
                       .least = 64},
        .in_bf16 = true, .prepacked_depth = DEEP},
    skinny_amx = {{.rows = 48, .tile = ATTN_BF16_ROWS, .panels = WIDE, .depth = FEW_PAIRED, .items = 1, .fine = 1},
        .in_bf16 = true, .prepacked_depth = PAIRED},
    medium_amx = {{.rows = 256, .tile = ATTN_BF16_ROWS, .panels = 8, .depth = PAIRED, .items = 1, .fine = 1},
        .in_bf16 = true, .prepacked_depth = PAIRED},
    gemm_amx = {{.rows = 512, .tile = ATTN_BF16_ROWS, .panels = 4, .depth = PAIRED, .items = 2, .fine = 2,
                 .least = 128},
        .in_bf16 = true, .prepacked_depth = PAIRED},
    prepacked_amx = {{.rows = 256, .tile = ATTN_BF16_ROWS, .panels = 4, .depth = FOR_TILES, .items = 2, .fine = 2,
                      .least = 64},
        .in_bf16 = true, .prepacked_depth = FOR_TILES},
    gemv_bf16 = {{.rows = ATTN_BF16_LONE, .tile = 1, .panels = WIDE, .depth = PAIRED, .items = 1, .fine = 1},
        .in_bf16 = true, .streamed = true};

static const struct attn_blocking *blocking_amx(size_t n, bool prepacked)
{
    if (n <= skinny_amx.sizes.rows)
        return &skinny_amx;
    if (prepacked)
        return &prepacked_amx;
    return n <= medium_amx.sizes.rows ? &medium_amx : &gemm_amx;
}

static const struct attn_blocking *blocking_bf16(size_t n, bool prepacked)
{
    if (n <= ATTN_BF16_LONE)
        return &gemv_bf16;
    if (attn_bf16_kind() == ATTN_BF16_TILES)
        return blocking_amx(n, prepacked);
    if (prepacked)
        return &prepacked_bf16;
    return n <= skinny_bf16.sizes.rows ? &skinny_bf16 : &gemm_bf16;
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

static bool any_in_blocks(const struct attn_product *each, size_t outs)
{
    for (size_t i = 0; i < outs; i++)
        if (attn_dtype_in_blocks(each[i].w->type))
            return true;
    return false;
}

static bool multiplies_bf16(bool bf16) { return bf16 && attn_bf16_kind() != ATTN_BF16_FLOATS; }

static const struct attn_blocking *blocking_for(size_t n, const struct attn_product *each, size_t outs, bool bf16)
{
    if (multiplies_bf16(bf16))
        return blocking_bf16(n, each->w->panels);
    if (n > 1 && n <= ATTN_FEW && all_as_stored(each, outs, bf16) && all_in_place(each, outs))
        return &skinny_in_place;
    if (n <= ATTN_STREAM && all_as_stored(each, outs, bf16) && (n == 1 || !all_small(each, outs)))
        return &gemv;
    if (n > skinny.sizes.rows)
        return &gemm;
    if (any_in_blocks(each, outs))
        return &skinny_blocks;
    return each->w->transposed ? &skinny_transposed : &skinny;
}

double attn_gemm_share(size_t n, const struct attn_mat *w, bool bf16)
{
    const struct attn_product one = {.w = w};
    const struct attn_blocking *blocking = blocking_for(n, &one, 1, bf16);
    struct attn_shape any = {.rows = 1, .K = 1, .ldx = 1, .ldw = PANEL, .ldy = PANEL, .cols = PANEL,
                             .flags = blocking->in_bf16 ? ATTN_KERNEL_BF16 : 0};
    if (blocking->streamed || !attn_multiply_by_kernels(n, blocking->in_bf16) ||
        (!blocking->in_bf16 && attn_packing_of(w, n, true, bf16).by_loops))
        return 0;
    return attn_microkernel_of(&any) != NULL;
}

/* ---- rows of x made ready for products in bf16 ---- */

void attn_gemm_round(float *rounded, size_t in, size_t i, size_t k, const float *x, size_t n)
{
    if (attn_bf16_kind() == ATTN_BF16_FLOATS)
        attn_vec_round(rounded + i * in + k, x, n);
    else
        attn_bf16_put(rounded, attn_bf16_words(in), i, k, x, n);
}

void attn_gemm_move(float *rounded, size_t in, size_t to, size_t from)
{
    if (attn_bf16_kind() == ATTN_BF16_FLOATS)
        memmove(rounded + to * in, rounded + from * in, in * sizeof *rounded);
    else
        attn_bf16_move(rounded, attn_bf16_words(in), to, from);
}

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

/* Whether products of n rows read the weight's panels; else they read it as it is stored. */
static bool reads_panels(const struct attn_blocking *b, size_t n, const struct attn_mat *w)
{
    if (!w->panels)
        return false;
    return n == 1 ? attn_panels_help_one(b->in_bf16) : !b->streamed && attn_panels_help_many(w, b->in_bf16);
}

void attn_gemm_each(struct attn_team *t, const struct attn_product *each, size_t outs, const float *x, size_t ldx,
                    size_t n, enum attn_epilogue epilogue, float *rounded, const struct attn_bf16_operands *bf16)
{
    const float *x_bf16 = bf16 ? bf16->x_bf16 : NULL;
    struct attn_gemm_output out[ATTN_GEMM_EACH];
    const struct attn_blocking *blocking = blocking_for(n, each, outs, rounded);
    struct attn_cut_sizes sizes = blocking->sizes;
    struct attn_joint_product p = {.team = t, .blocking = blocking,
                        .cut = {.most = &sizes, .out = out, .n = n, .workers = (size_t)attn_team_size(t)},
                        .x = x, .ldx = ldx, .in = each->w->in, .epilogue = epilogue,
                        .y_bf16 = bf16 ? bf16->y_bf16 : NULL};
    double columns = 0;
    for (size_t i = 0; i < outs; i++) {
        if (each[i].w->out > 0)
            out[p.cut.outs++] = (struct attn_gemm_output){.y = each[i].y, .ldy = each[i].ldy, .w = each[i].w,
                                                         .prepacked = reads_panels(blocking, n, each[i].w)};
        columns += (double)each[i].w->out;
    }
    assert(t && (!p.y_bf16 || attn_epilogue_mlp(epilogue)));
    if (n == 1 && reads_panels(blocking, n, each->w))
        sizes.panels = attn_panels_at_once();    /* in narrow items: threads end together */
    if (n == 0 || p.cut.outs == 0)
        return;
    if (rounded && !x_bf16)
        round_rows(&p, t, rounded);
    if (rounded)
        read_rounded(&p, x_bf16 ? x_bf16 : rounded);
    attn_cut_share(&p.cut);
    double rows = n < AS_FETCHED ? AS_FETCHED : (double)n;
    attn_team_run(t, p.cut.items, 2.0 * rows * (double)p.in * columns, attn_gemm_item, &p);
}

void attn_gemm(struct attn_team *t, float *y, size_t ldy, const float *x, size_t ldx,
               size_t n, const struct attn_mat *w, enum attn_epilogue epilogue, float *rounded)
{
    attn_gemm_each(t, &(struct attn_product){y, ldy, w}, 1, x, ldx, n, epilogue, rounded, NULL);
}
