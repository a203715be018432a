/* online.c - exact attention with an online softmax: one block of keys at a time, as FlashAttention does it.
 *
 *     m' = max(m, scores of the block)        the largest so far
 *     s  = s exp(m - m') + sum exp(scores - m')
 *     y  = y exp(m - m') + exp(scores - m') v
 *
 * After the last block the context is y / s, or 0 where all scores were -inf.  A band's scratch holds one block of
 * scores, so memory does not grow with the sentence.  The order of sums differs from that of other kinds, so the
 * result is theirs up to the rounding of float32. */
#include "compute/attention.h"

#include "base/elementary.h"
#include "base/size.h"
#include "compute/multiply.h"
#include "compute/vec.h"

#include <math.h>
#include <string.h>

enum { PANEL = ATTN_PANEL };

size_t attn_online_columns(size_t block, size_t Tk)
{
    size_t all = up(Tk, PANEL);         /* a block may begin at the end of a panel, hence one more */
    return block < Tk ? smaller(up(block, PANEL) + PANEL, all) : all;
}

static size_t scratch_floats(size_t keys, size_t dh, size_t dv)
{
    (void)keys, (void)dh;
    return ATTN_BAND * up(dv, PANEL);
}

struct online {
    const struct attn_head *h;
    const struct attn_band *b;
    float *y; size_t ldy;               /* [rows, up(dv, PANEL)] */
    float max[ATTN_BAND];
    bool nonfinite[ATTN_BAND];          /* rows with a dot that is inf or NaN */
    double sum[ATTN_BAND];
    struct attn_range ready;            /* the keys whose dots are in the scratch */
};

/* Computes the dots of the panels that the block touches, unless the scratch has them. */
static void dots(struct online *o, struct attn_range block)
{
    const struct attn_head *h = o->h;
    const struct attn_band *b = o->b;
    size_t first = block.lo / PANEL * PANEL;
    if (block.hi <= o->ready.hi)
        return;
    for (size_t j = first; j < block.hi; j += PANEL)
        attn_multiply(&(struct attn_operands){.y = b->m + j - first, .ldy = b->ld, .x = b->q, .ldx = b->ldq,
                                              .w = h->keys.k + j * h->dh, .ldw = PANEL}, b->rows, PANEL, h->dh);
    o->ready = (struct attn_range){first, up(block.hi, PANEL)};
}

/* Makes `largest` the new maximum: scales down what was summed up relative to the old one. */
static void rescale(struct online *o, size_t i, float largest)
{
    float shrink = (float)attn_exp((double)o->max[i] - (double)largest), *y = o->y + i * o->ldy;
    attn_vec_scale(y, y, shrink, o->h->dv);
    o->sum[i] *= (double)shrink;
    o->max[i] = largest;
}

/* Turns the dots of row i into weights, 0 where hidden, which are not yet divided by their sum. */
static void weigh(struct online *o, size_t i, struct attn_range block)
{
    const struct attn_head *h = o->h;
    float *x = o->b->m + i * o->b->ld + block.lo - o->ready.lo, scale = h->scale;
    size_t end = smaller(attn_head_seen(h, o->b->row0 + i).hi, block.hi), n = end > block.lo ? end - block.lo : 0;
    memset(x + n, 0, (block.hi - block.lo - n) * sizeof *x);
    if (n == 0)
        return;
    bool dots_finite = true, finite;
    if (!attn_head_scales(h)) {
        attn_vec_max(x, scale, n, &dots_finite);        /* before a cap, which makes all finite */
        attn_head_score_dots(h, x, NULL, block.lo, n);
        scale = 1;
    }
    float largest = attn_vec_max(x, scale, n, &finite);
    o->nonfinite[i] |= !finite || !dots_finite;
    if (largest > o->max[i])
        rescale(o, i, largest);
    /* If all are -inf, their weights must be 0, but -inf - -inf would be NaN. */
    float max = o->max[i] == -INFINITY ? 0 : o->max[i];
    o->sum[i] += attn_vec_exp_and_sum(x, scale, max, n);
}

static void take(struct online *o, struct attn_range block)
{
    const struct attn_head *h = o->h;
    const struct attn_band *b = o->b;
    size_t first = 0, ldv = h->keys.ldv;
    while (attn_head_seen(h, b->row0 + first).hi <= block.lo)
        first++;
    dots(o, block);
    for (size_t i = first; i < b->rows; i++)
        weigh(o, i, block);
    attn_head_mix(h, o->y + first * o->ldy, o->ldy, b->m + first * b->ld + block.lo - o->ready.lo, b->ld,
                  b->rows - first, h->keys.v + block.lo * ldv, ldv, block.hi - block.lo, true);
}

/* Divides y by s.  If that is 0, the row sees no key and becomes zeros; or all its scores were -inf since their dots
 * overflow, and 0 / 0 is NaN. */
static void finish(const struct online *o, size_t i, struct attn_found *found)
{
    const struct attn_head *h = o->h;
    size_t t = o->b->row0 + i;
    float *context = h->context + t * h->ldc;
    if (o->nonfinite[i])
        attn_count_row(&found->nonfinite, t);
    if (o->sum[i] == 0 && !o->nonfinite[i]) {
        attn_count_row(&found->empty, t);
        memset(context, 0, h->dv * sizeof *context);
    } else {
        attn_vec_scale(context, o->y + i * o->ldy, (float)(1 / o->sum[i]), h->dv);
    }
}

/* Contexts from queries in one step. */
static struct attn_found rows(const struct attn_head *h, const struct attn_band *b)
{
    struct attn_found found = {0};
    struct online o = {.h = h, .b = b, .y = h->scratch.x, .ldy = up(h->dv, PANEL)};
    size_t end = attn_head_seen(h, b->row0 + b->rows - 1).hi;
    memset(o.y, 0, b->rows * o.ldy * sizeof *o.y);
    for (size_t i = 0; i < b->rows; i++)
        o.max[i] = -INFINITY;
    for (size_t lo = 0; lo < end; lo = lo + smaller(h->kind.b, end - lo))
        take(&o, (struct attn_range){lo, lo + smaller(h->kind.b, end - lo)});
    for (size_t i = 0; i < b->rows; i++)
        finish(&o, i, &found);
    return found;
}

const struct attn_method attn_online = {
    attn_band_dots, attn_band_scores, attn_band_pattern, .rows = rows, .steps = ATTN_CONTEXT,
    .keys = ATTN_DOTS | ATTN_CONTEXT, .values = ATTN_CONTEXT, .scratch = scratch_floats};
