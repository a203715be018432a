#include "compute/rows_backward.h"

#include "base/size.h"
#include "compute/k_block.h"

#include <string.h>

enum { CHUNK = 32 };                    /* rows of an item and of a partial sum, whatever the number of threads */

struct job {
    const struct attn_rows *to, *dy, *x;
    const struct attn_rows_norm_backward *norm;
    enum attn_mlp_kind kind;
};

static size_t chunks(size_t n) { return parts_of(n, CHUNK); }
static float *row(const struct attn_rows *r, size_t i) { return r->data + i * r->ld; }

static size_t end_of(const struct attn_rows *r, size_t item)
{
    return smaller((item + 1) * CHUNK, r->n);
}

/* `work`: roughly how many operations each number takes */
static void each_chunk(struct attn_team *t, const struct attn_rows *r, double work,
                       void (*chunk)(void *ctx, size_t item, int worker), struct job *j)
{
    attn_team_run(t, chunks(r->n), work * (double)r->n * (double)r->cols, chunk, j);
}

size_t attn_rows_norm_scratch(size_t n, size_t cols)
{
    return chunks(n) * 2 * cols;
}

static void norm_chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    const struct attn_rows_norm_backward *s = j->norm;
    size_t n = j->x->cols;
    float *part = s->scratch + item * 2 * n;
    memset(part, 0, 2 * n * sizeof *part);
    struct attn_norm_backward b = {.dw = part, .db = s->db ? part + n : NULL, .w = s->norm->weight.data, .eps = s->eps,
                               .rms = s->norm->rms};
    for (size_t i = item * CHUNK; i < end_of(j->x, item); i++) {
        b.dx = row(j->to, i);
        attn_vec_norm_backward(&b, row(j->dy, i), row(j->x, i), n);
    }
}

void attn_rows_norm_backward(struct attn_team *t, const struct attn_rows *dx, const struct attn_rows *dy,
                             const struct attn_rows *x, const struct attn_rows_norm_backward *s)
{
    size_t n = x->cols;
    struct job j = {.to = dx, .dy = dy, .x = x, .norm = s};
    each_chunk(t, x, 30, norm_chunk, &j);
    for (size_t i = 0; s->dw && i < chunks(x->n); i++) {
        attn_vec_add(s->dw, s->scratch + i * 2 * n, n);
        if (s->db)
            attn_vec_add(s->db, s->scratch + (i * 2 + 1) * n, n);
    }
}

static void activate_chunk(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    for (size_t i = item * CHUNK; i < end_of(j->dy, item); i++)
        attn_vec_activate_backward(row(j->dy, i), row(j->x, i), attn_mlp_gated(j->kind) ? row(j->to, i) : NULL, j->kind,
                                   j->dy->cols);
}

void attn_rows_activate_backward(struct attn_team *t, const struct attn_rows *dy, const struct attn_rows *x,
                                 const struct attn_rows *linear, enum attn_mlp_kind kind)
{
    struct job j = {.dy = dy, .x = x, .to = linear, .kind = kind};
    each_chunk(t, dy, 40, activate_chunk, &j);
}

/* ---- weights ---- */

/* PART: rows of y of an item, in whole tiles, which use one copy of w */
enum { PANEL = ATTN_PANEL, LINE = 64, PART = 96 };

struct outer {
    float *y; size_t ldy;
    const struct attn_rows *x, *w;
    struct attn_mat view;               /* w as a weight, so that K blocks can be cut from it */
    size_t parts;                       /* how many items share a panel */
};

/* sum[n, 64] += x' w, over all rows of x and w. */
static void outer_sum(const struct outer *j, float *sum, const float *x, size_t n, size_t panel)
{
    _Alignas(LINE) float copy[ATTN_K_BLOCK * PANEL];
    for (size_t k = 0; k < j->w->n; k += ATTN_K_BLOCK) {
        struct attn_k_block s = attn_k_block_of(&j->view, panel, k, ATTN_K_BLOCK);
        struct attn_floats w = attn_k_block_floats(copy, &j->view, &s, false);
        attn_vec_outer(sum, PANEL, x + k * j->x->ld, j->x->ld, w.at, w.ld, n, s.K);
    }
}

/* An item is at most PART rows and 64 columns of y; the items of one panel follow each other. */
static void outer_item(void *ctx, size_t item, int worker)
{
    (void)worker;
    const struct outer *j = ctx;
    _Alignas(LINE) float sum[PART * PANEL];
    size_t panel = item / j->parts, i0 = item % j->parts * PART, n = smaller(j->x->cols - i0, PART);
    size_t cols = smaller(j->w->cols - panel * PANEL, PANEL);
    float *y = j->y + i0 * j->ldy + panel * PANEL;
    for (size_t i = 0; i < n; i++) {
        memcpy(sum + i * PANEL, y + i * j->ldy, cols * sizeof *y);
        memset(sum + i * PANEL + cols, 0, (PANEL - cols) * sizeof *y);
    }
    outer_sum(j, sum, j->x->data + i0, n, panel);
    for (size_t i = 0; i < n; i++)
        memcpy(y + i * j->ldy, sum + i * PANEL, cols * sizeof *y);
}

void attn_outer(struct attn_team *t, float *y, size_t ldy, const struct attn_rows *x, const struct attn_rows *w)
{
    struct outer j = {.y = y, .ldy = ldy, .x = x, .w = w, .parts = parts_of(x->cols, PART),
                    .view = {.data = w->data, .type = ATTN_F32, .in = w->n, .out = w->cols, .ld = w->ld}};
    size_t panels = parts_of(w->cols, PANEL);
    attn_team_run(t, j.parts * panels, 2.0 * (double)w->n * (double)x->cols * (double)w->cols, outer_item, &j);
}

void attn_outer_sum(struct attn_team *t, float *y, const struct attn_rows *w)
{
    float one = 1;
    struct attn_rows ones = {&one, 0, w->n, 1};
    attn_outer(t, y, w->cols, &ones, w);
}
