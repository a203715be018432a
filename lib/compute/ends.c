#include "compute/ends.h"

#include "compute/block.h"
#include "compute/gemm.h"
#include "compute/rows.h"
#include "compute/vec.h"

#include <math.h>

static void row_of(float *out, const struct attn_mat *table, size_t row)
{
    attn_vec_widen(out, table->data, table->type, row * table->ld, table->out);
}

static void add_positions(struct attn_pass *p)
{
    size_t d = p->w->n.d;
    for (size_t i = 0; i < p->spans; i++)
        for (size_t t = 0; t < p->span[i].T; t++)
            row_of(p->y + (p->span[i].row + t) * d, &p->w->pos, p->span[i].pos + t);
    attn_pass_tell(p, ATTN_ACT_POS_EMBED, -1, p->y, d, d, 0);
    for (size_t t = 0; t < p->rows; t++)
        attn_vec_add(p->x + t * p->ldx, p->y + t * d, d);
}

/* In double: Hugging Face's float32 angles differ by about 1e-6. */
static void turn_positions(struct attn_pass *p)
{
    size_t half = p->w->rotary / 2;
    for (size_t s = 0; s < p->spans; s++)
        for (size_t t = 0; t < p->span[s].T; t++)
            for (size_t i = 0; i < half; i++) {
                double angle = (double)(p->span[s].pos + t) * p->w->speed[i];
                p->cos[(p->span[s].row + t) * half + i] = (float)cos(angle);
                p->sin[(p->span[s].row + t) * half + i] = (float)sin(angle);
            }
}

void attn_embed_run(struct attn_pass *p, const int32_t *ids)
{
    for (size_t t = 0; t < p->rows; t++)
        row_of(p->x + t * p->ldx, &p->w->embed, (size_t)ids[t]);
    attn_pass_tell(p, ATTN_ACT_EMBED, -1, p->x, p->ldx, p->w->n.d, 0);
    if (p->w->pos.data)
        add_positions(p);
    if (p->w->rotary)
        turn_positions(p);
}

/* Rows row0 .. row0 + n of a sentence, in bands of as many as the buffer holds. */
static void logits_of(struct attn_pass *p, size_t seq, const float *x, size_t ldx, size_t row0, size_t n)
{
    const struct attn_span *s = &p->span[seq];
    size_t V = p->w->n.V;
    for (size_t at = row0, rows; at < row0 + n; at += rows) {
        rows = row0 + n - at < p->logit_rows ? row0 + n - at : p->logit_rows;
        attn_gemm(p->team, p->logits, V, x + (s->row + at) * ldx, ldx, rows, &p->w->unembed, ATTN_STORE, p->rounded);
        struct attn_probe probe = {
            .act = ATTN_ACT_LOGITS, .layer = -1, .seq = seq, .ndim = 2, .shape = {s->T, V},
            .heads = 1, .row0 = at, .rows = rows, .cols = V, .ld = V};
        attn_trace_tell(p->trace, &probe, p->logits);
    }
}

void attn_unembed_run(struct attn_pass *p)
{
    const unsigned told = ATTN_WATCH | ATTN_EDIT;
    bool logits = attn_trace_wants(p->trace, ATTN_ACT_LOGITS, -1, told);
    if (!logits && !attn_trace_wants(p->trace, ATTN_ACT_NORM_FINAL, -1, told))
        return;
    size_t d = p->w->n.d, ldx = p->ldx;
    float *x = p->x;
    if (p->w->final.weight.data) {
        struct attn_rows y = {p->y, d, p->rows, d}, from = {p->x, p->ldx, p->rows, d};
        attn_rows_norm(p->team, &y, &from, &p->w->final, p->w->eps, p->norm_w, p->norm_b);
        attn_pass_tell(p, ATTN_ACT_NORM_FINAL, -1, y.data, d, d, 0);
        x = p->y;
        ldx = d;
    }
    bool last = !attn_trace_wants_all(p->trace, ATTN_ACT_LOGITS, -1);
    for (size_t i = 0; logits && i < p->spans; i++) {
        size_t T = p->span[i].T;
        logits_of(p, i, x, ldx, last ? T - 1 : 0, last ? 1 : T);
    }
}
