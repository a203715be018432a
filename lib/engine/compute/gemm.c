#include "compute/gemm.h"

#include "base/size.h"
#include "compute/multiply.h"
#include "compute/bf16.h"
#include "compute/panels.h"
#include "compute/k_block.h"
#include "compute/gemm_item.h"

#include <assert.h>
#include <string.h>

enum {
    PANEL = ATTN_PANEL,
    WIDE = 16,                          /* most panels of an item whose sums or K blocks stay in the cache */
    FEW_PAIRED = 128, PAIRED = 384,     /* steps of a panel to be made into pairs for AMX, for few rows, for which that
                                         * takes long, and many */
    FOR_TILES = 256,                    /* steps of a panel in pairs that stays in the L1 cache: 32 KB */
    AS_FETCHED = 16                     /* multiplying this many rows takes as long as reading weights from memory */
};
_Static_assert(WIDE * PANEL <= ATTN_BF16_WIDTH, "an item is as wide as a stream of pairs at most");

/* ---- which blocking ---- */

/* gemm: kernels multiply one panel after the other.  gemv: up to 6 rows read a large weight where it is stored, in the
 * longest possible stretches, which no kernel does: one row waits for memory alone.  In bf16, the same.  AMX waits for
 * panels that are not in the L1 cache, and packs many panels beforehand. */
static const struct attn_blocking
    gemm = {{.rows = 264, .tile = 6, .panels = 1, .depth = ATTN_K_BLOCK, .items = 2, .fine = 1, .least = 48},
        .in_bf16 = false},
    gemv = {{.rows = ATTN_STREAM, .tile = 1, .panels = ATTN_ITEM_PANELS, .depth = ATTN_K_BLOCK, .items = 1, .fine = 1},
        .streamed = true},
    gemm_bf16 = {{.rows = 256, .tile = ATTN_BF16_ROWS, .panels = 1, .depth = ATTN_ITEM_PACKED / PANEL,
                  .items = 2, .fine = 1, .least = 64},
        .in_bf16 = true},
    skinny_amx = {{.rows = 48, .tile = ATTN_BF16_ROWS, .panels = WIDE, .depth = FEW_PAIRED, .items = 1, .fine = 1},
        .in_bf16 = true, .amx = true, .prepacked_depth = PAIRED},
    medium_amx = {{.rows = 256, .tile = ATTN_BF16_ROWS, .panels = 8, .depth = PAIRED, .items = 1, .fine = 1},
        .in_bf16 = true, .amx = true, .prepacked_depth = PAIRED},
    gemm_amx = {{.rows = 512, .tile = ATTN_BF16_ROWS, .panels = 4, .depth = PAIRED, .items = 2, .fine = 2,
                 .least = 128},
        .in_bf16 = true, .amx = true, .prepacked_depth = PAIRED},
    prepacked_amx = {{.rows = 256, .tile = ATTN_BF16_ROWS, .panels = 4, .depth = FOR_TILES, .items = 2, .fine = 2,
                      .least = 64},
        .in_bf16 = true, .amx = true, .prepacked_depth = FOR_TILES},
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

/* Whether few rows stream these weights as they are stored; in float32, weights that must be rounded are not. */
static bool streams(size_t n, const struct attn_product *each, size_t outs, bool bf16)
{
    bool small = n > 1, as_stored = true;
    for (size_t i = 0; i < outs; i++) {
        small = small && attn_mat_small(each[i].w);
        as_stored = as_stored && !(bf16 && each[i].w->type != ATTN_BF16);
    }
    return n <= ATTN_STREAM && !small && as_stored && (n == 1 || !each->w->panels);
}

static const struct attn_blocking *blocking_for(size_t n, const struct attn_product *each, size_t outs, bool bf16)
{
    const enum attn_bf16 kind = bf16 ? attn_bf16_kind() : ATTN_BF16_FLOATS;
    if (kind == ATTN_BF16_FLOATS)
        return streams(n, each, outs, bf16) ? &gemv : &gemm;
    if (n <= ATTN_BF16_LONE)
        return &gemv_bf16;
    return kind == ATTN_BF16_TILES ? blocking_amx(n, each->w->panels) : &gemm_bf16;
}

double attn_gemm_share(size_t n, const struct attn_mat *w, bool bf16)
{
    const struct attn_product one = {.w = w};
    const struct attn_blocking *blocking = blocking_for(n, &one, 1, bf16);
    const struct attn_shape any = {.rows = 1, .steps = 1, .ldx = 1, .ldw = PANEL, .ldy = PANEL, .cols = PANEL,
                                   .flags = blocking->in_bf16 ? ATTN_KERNEL_BF16 : 0};
    return !blocking->streamed && attn_multiply_by_kernels(n, blocking->in_bf16) && attn_microkernel_of(&any);
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
