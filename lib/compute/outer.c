#include "compute/outer.h"

#include "base/size.h"
#include "compute/slab.h"
#include "compute/vec.h"

#include <string.h>

enum { PANEL = ATTN_PANEL, LINE = 64, PART = 96 };      /* PART: rows of y of an item (whole tiles), which use one copy of w */

struct job {
    float *y; size_t ldy;
    const struct attn_rows *x, *w;
    struct attn_mat view;               /* w as a weight, so that slabs can be cut from it */
    size_t parts;                       /* how many items share a panel */
};

/* sum[n, 64] += x' w, over all rows of x and w. */
static void sum_up(const struct job *j, float *sum, const float *x, size_t n, size_t panel)
{
    _Alignas(LINE) float copy[ATTN_SLAB * PANEL];
    for (size_t k = 0; k < j->w->n; k += ATTN_SLAB) {
        struct attn_slab s = attn_slab_of(&j->view, panel, k, ATTN_SLAB);
        struct attn_floats w = attn_slab_floats(copy, &j->view, &s, n, false);
        attn_vec_outer(sum, PANEL, x + k * j->x->ld, j->x->ld, w.at, w.ld, n, s.K);
    }
}

/* An item is at most PART rows and 64 columns of y; the items of one panel follow each other. */
static void one_item(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    _Alignas(LINE) float sum[PART * PANEL];
    size_t panel = item / j->parts, i0 = item % j->parts * PART, n = smaller(j->x->cols - i0, PART);
    size_t cols = smaller(j->w->cols - panel * PANEL, PANEL);
    float *y = j->y + i0 * j->ldy + panel * PANEL;
    for (size_t i = 0; i < n; i++) {
        memcpy(sum + i * PANEL, y + i * j->ldy, cols * sizeof *y);
        memset(sum + i * PANEL + cols, 0, (PANEL - cols) * sizeof *y);
    }
    sum_up(j, sum, j->x->data + i0, n, panel);
    for (size_t i = 0; i < n; i++)
        memcpy(y + i * j->ldy, sum + i * PANEL, cols * sizeof *y);
}

void attn_outer(struct attn_team *t, float *y, size_t ldy, const struct attn_rows *x, const struct attn_rows *w)
{
    struct job j = {.y = y, .ldy = ldy, .x = x, .w = w, .parts = parts_of(x->cols, PART),
                    .view = {.data = w->data, .type = ATTN_F32, .in = w->n, .out = w->cols, .ld = w->ld}};
    size_t panels = parts_of(w->cols, PANEL);
    attn_team_run(t, j.parts * panels, 2.0 * (double)w->n * (double)x->cols * (double)w->cols, one_item, &j);
}

void attn_outer_sum(struct attn_team *t, float *y, const struct attn_rows *w)
{
    float one = 1;
    struct attn_rows ones = {&one, 0, w->n, 1};
    attn_outer(t, y, w->cols, &ones, w);
}
