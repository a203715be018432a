/* gemm_item.c - one work item of a product: chunks of its weight are packed where need be, multiplied with its rows,
 * and the sums finished. */
#include "compute/gemm_item.h"

#include "base/size.h"
#include "compute/bf16.h"
#include "compute/k_block.h"
#include "compute/multiply.h"
#include "compute/panels.h"

#include <assert.h>
#include <string.h>

enum {
    PANEL = ATTN_PANEL,
    APART = 16,                         /* floats between rows of sums, lest all rows map to the same cache sets */
    SUMS = 512 * (4 * PANEL + APART)    /* some 550 KB, in the L2 cache, for AMX; others need a fifth of it */
};
_Static_assert(ATTN_STREAM * (ATTN_ITEM_PANELS * PANEL + APART) <= SUMS, "the sums of the widest item fit");
_Static_assert((SUMS + ATTN_CHUNK) * sizeof(float) <= ATTN_TEAM_ROOM, "sums and a chunk have room");
_Static_assert(ATTN_CHUNK >= (int)ATTN_ITEM_PACKED, "a panel is packed where chunks are");

/* ---- cut: the chunks of an item, in the order in which they are multiplied ---- */

/* Panels that have no copy are packed one by one, some steps at a time; for AMX, several side by side (bf16.h). */
static struct attn_chunk chunk_at(const struct attn_item_sums *o, size_t j, size_t k)
{
    const struct attn_gemm_item *it = &o->it;
    const size_t K = smaller(o->p->in - k, o->depth);
    if (it->to->prepacked)
        return (struct attn_chunk){j, it->j1, k, K};
    if (o->p->blocking->amx)
        return attn_chunk_of(it->to->w, j, it->j1, k, o->depth);
    return (struct attn_chunk){j, j + 1, k, K};
}

static struct attn_chunk first_chunk(const struct attn_item_sums *o)
{
    return o->it.j0 < o->it.j1 ? chunk_at(o, o->it.j0, 0) : (struct attn_chunk){.K = 0};
}

/* K 0: there is none after c. */
static struct attn_chunk next_chunk(const struct attn_item_sums *o, const struct attn_chunk *c)
{
    const size_t k = c->k + c->K;
    if (k < o->p->in)
        return chunk_at(o, c->j0, k);
    return c->j1 < o->it.j1 ? chunk_at(o, c->j1, 0) : (struct attn_chunk){.K = 0};
}

/* The memory, or one part of it, of the chunk that this thread reads after c, in this item or in its next one. */
static struct attn_prefetch coming(const struct attn_item_sums *o, const struct attn_chunk *c, size_t part,
                                   size_t parts)
{
    struct attn_item_sums then = *o;
    struct attn_chunk next = next_chunk(o, c);
    if (next.K == 0 && !attn_cut_ends_share(&o->p->cut, o->it.n)) {
        then.it = attn_cut_item(&o->p->cut, o->it.n + 1);
        next = first_chunk(&then);
    }
    if (next.K == 0 || then.it.to->prepacked)   /* the hardware follows a stretch without gaps */
        return (struct attn_prefetch){0};
    const size_t j = next.j0 * PANEL, end = smaller(next.j1 * PANEL, then.it.to->w->out);
    return attn_k_block_memory(then.it.to->w, &(struct attn_k_block){j, end - j, next.k, next.K}, part, parts);
}

/* ---- pack ---- */

/* What is left to multiply of a chunk: w of the first panel, and the rows that have not packed it. */
struct packed { struct attn_floats w; size_t done; };

/* Whether the first rows pack the chunk while they multiply and prefetch the next one: nobody waits for memory then. */
static bool first_rows_pack(const struct attn_item_sums *o, const struct attn_chunk *c)
{
    const struct attn_mat *w = o->it.to->w;
    const bool pairs = o->p->blocking->in_bf16, round = o->p->bf16 && !pairs && w->type != ATTN_BF16;
    return o->it.i1 - o->it.i0 >= 2 * attn_vec_ops()->tile_rows && !w->transposed && !attn_dtype_in_blocks(w->type) &&
           !attn_mat_small(w) && c->j1 * PANEL <= w->out && !round &&
           (!pairs || (attn_bf16_ops()->panel_copy && c->K % ATTN_ROUND_STEP == 0));
}

static size_t pack_by_rows(float *packed, const struct attn_item_sums *o, const struct attn_chunk *c)
{
    const struct attn_joint_product *p = o->p;
    const struct attn_mat *w = o->it.to->w;
    const void *at = attn_element(w->data, w->type, c->k * w->ld + c->j0 * PANEL);
    float *y = o->sum + (c->j0 - o->it.j0) * PANEL;
    struct attn_prefetch prefetch = coming(o, c, 0, 1);
    const size_t rows = p->blocking->in_bf16 ? ATTN_BF16_FIRST : attn_vec_ops()->tile_rows;
    if (p->blocking->in_bf16)
        attn_bf16_ops()->panel_copy(y, o->ld, attn_bf16_at(p->x, p->ldx, o->it.i0, c->k / 2), p->ldx, packed, at,
                                    w->type, w->ld, c->K, c->k > 0, &prefetch);
    else
        attn_vec_of(w->type)->panel_copy(y, o->ld, p->x + o->it.i0 * p->ldx + c->k, p->ldx, packed, at, w->ld, c->K,
                                         c->k > 0, &prefetch);
    attn_multiply_counts(false, rows * c->K * PANEL);
    return rows;
}

static struct packed pack(float *packed, const struct attn_item_sums *o, const struct attn_chunk *c)
{
    const struct attn_mat *w = o->it.to->w;
    const bool pairs = o->p->blocking->in_bf16;
    const struct attn_k_block s = attn_k_block_of(w, c->j0, c->k, c->K);
    struct packed to = {{packed, PANEL}, 0};
    if (o->it.to->prepacked)
        to.w.at = attn_panels_at(w, c->j0, c->k, pairs);
    else if (first_rows_pack(o, c))
        to.done = pack_by_rows(packed, o, c);
    else if (pairs)
        attn_chunk_words(packed, w, c);
    else if (attn_mat_small(w))         /* to copy it would take too large a part of the time */
        to.w = attn_k_block_floats(packed, w, &s, o->p->bf16);
    else
        attn_k_block_copy(packed, w, &s, o->p->bf16);
    return to;
}

/* ---- multiply ---- */

/* Panel j of the chunk by AMX, as many steps at a time as stay in the L1 cache, while the next chunk is prefetched. */
static void multiply_amx(const struct attn_item_sums *o, const struct attn_chunk *c, size_t j,
                         const struct attn_operands *a)
{
    struct attn_prefetch prefetch = coming(o, c, j - c->j0, c->j1 - c->j0);
    for (size_t k = 0; k < c->K; k += o->depth)
        attn_bf16_ops()->panel(a->y, a->ldy, attn_bf16_at(o->p->x, o->p->ldx, o->it.i0, (c->k + k) / 2), a->ldx,
                               a->w + k / 2 * PANEL, o->it.i1 - o->it.i0, attn_bf16_words(smaller(c->K - k, o->depth)),
                               a->more || k > 0, &prefetch);
}

/* Adds the products of the chunk to the sums. */
static void multiply(const struct attn_item_sums *o, const struct attn_chunk *c, const struct packed *of)
{
    const struct attn_joint_product *p = o->p;
    const bool pairs = p->blocking->in_bf16;
    const size_t words = pairs ? attn_bf16_words(c->K) : c->K, rows = o->it.i1 - o->it.i0 - of->done,
                 all = pairs ? attn_bf16_words(p->in) : p->in, row = o->it.i0 + of->done;
    struct attn_operands a = {
        .y = o->sum + of->done * o->ld + (c->j0 - o->it.j0) * PANEL, .ldy = o->ld,
        .x = pairs ? attn_bf16_at(p->x, p->ldx, row, c->k / 2) : p->x + row * p->ldx + c->k, .ldx = p->ldx,
        .w = of->w.at, .ldw = of->w.ld, .more = c->k > 0, .in_bf16 = pairs};
    for (size_t j = c->j0; j < c->j1; j++, a.y += PANEL, a.w += (o->it.to->prepacked ? all : words) * PANEL)
        if (p->blocking->amx)
            multiply_amx(o, c, j, &a);
        else
            attn_multiply(&a, rows, PANEL, words);
}

/* ---- the item ---- */

void attn_gemm_item(void *ctx, size_t n, int worker)
{
    const struct attn_joint_product *p = ctx;
    float *packed = attn_team_room(p->team, worker), *sum = packed + ATTN_CHUNK;
    const struct attn_gemm_item it = attn_cut_item(&p->cut, n);
    const size_t deep = p->blocking->prepacked_depth,
                 depth = !it.to->prepacked ? p->cut.most->depth : deep ? deep : larger(p->in, 1);
    const struct attn_item_sums all = {p, it, sum, (it.j1 - it.j0) * PANEL + APART, depth};
    struct attn_item_sums o = all;
    if (it.j0 == it.j1)
        return;
    assert(up(it.i1 - it.i0, p->blocking->sizes.tile) * all.ld <= SUMS);
    if (p->in == 0)
        memset(sum, 0, (it.i1 - it.i0) * o.ld * sizeof *sum);
    const size_t streamed = attn_item_stream(&all);
    o.it.j0 += streamed;
    o.sum += streamed * PANEL;
    for (struct attn_chunk c = first_chunk(&o); c.K > 0; c = next_chunk(&o, &c)) {
        const struct packed to = pack(packed, &o, &c);
        multiply(&o, &c, &to);
    }
    attn_item_epilogue(&all);
}
