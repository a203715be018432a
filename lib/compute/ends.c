#include "compute/ends.h"

#include "compute/block.h"
#include "compute/gemm.h"
#include "compute/rows.h"
#include "compute/vec.h"

#include <math.h>
#include <string.h>

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

/* Cosines and sines of all positions.  The angles are computed in double; Hugging Face's are float32 and differ by about 1e-6. */
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

/* The rows to compute: all, or only the last of each sentence, packed one below the other. */
struct tail { struct attn_rows x; bool last; };

static size_t sentence_of(const struct attn_pass *p, size_t row)
{
    size_t lo = 0, hi = p->spans;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        *(p->span[mid].row <= row ? &lo : &hi) = mid;
    }
    return lo;
}

/* Announces rows row0 .. row0 + n of the tail, whose numbers are `data`, sentence by sentence. */
static void tell(struct attn_pass *p, const struct tail *t, int act, float *data, size_t ld, size_t cols, size_t row0, size_t n)
{
    for (size_t i = row0, rows; i < row0 + n; i += rows) {
        size_t seq = t->last ? i : sentence_of(p, i);
        const struct attn_pass_seq *s = &p->span[seq];
        size_t at = t->last ? s->T - 1 : i - s->row, left = t->last ? 1 : s->T - at;
        rows = left < row0 + n - i ? left : row0 + n - i;
        struct attn_probe probe = {
            .act = act, .layer = -1, .seq = seq, .ndim = 2, .shape = {s->T, cols},
            .heads = 1, .row0 = at, .rows = rows, .cols = cols, .ld = ld};
        attn_trace_tell(p->trace, &probe, data + (i - row0) * ld);
    }
}

/* Packs the last row of each sentence into p->y.  The rows may be there already (normalised), hence memmove: none lies before
 * the place it moves to. */
static void keep_last(struct attn_pass *p, struct tail *t)
{
    struct attn_rows to = {p->y, p->w->n.d, p->spans, t->x.cols};
    for (size_t i = 0; i < p->spans; i++)
        memmove(to.data + i * to.ld, t->x.data + (p->span[i].row + p->span[i].T - 1) * t->x.ld, to.cols * sizeof *to.data);
    *t = (struct tail){to, true};
}

static void normalise(struct attn_pass *p, struct tail *t)
{
    struct attn_rows y = {p->y, p->w->n.d, t->x.n, t->x.cols};
    attn_rows_norm(p->team, &y, &t->x, &p->w->final, p->w->eps, p->norm_w, p->norm_b);
    t->x = y;
    if (attn_trace_wants(p->trace, ATTN_ACT_NORM_FINAL, -1, ATTN_WATCH | ATTN_EDIT))
        tell(p, t, ATTN_ACT_NORM_FINAL, y.data, y.ld, y.cols, 0, y.n);
}

/* Computes logits in bands of as many rows as the buffer holds; each band reads the whole weight. */
static void unembed(struct attn_pass *p, const struct tail *t)
{
    size_t V = p->w->n.V;
    for (size_t row = 0, n; row < t->x.n; row += n) {
        n = t->x.n - row < p->logit_rows ? t->x.n - row : p->logit_rows;
        attn_gemm(p->team, p->logits, V, t->x.data + row * t->x.ld, t->x.ld, n, &p->w->unembed, ATTN_STORE, p->rounded);
        tell(p, t, ATTN_ACT_LOGITS, p->logits, V, V, row, n);
    }
}

void attn_unembed_run(struct attn_pass *p)
{
    const unsigned told = ATTN_WATCH | ATTN_EDIT;
    bool logits = attn_trace_wants(p->trace, ATTN_ACT_LOGITS, -1, told);
    if (!logits && !attn_trace_wants(p->trace, ATTN_ACT_NORM_FINAL, -1, told))
        return;
    struct tail t = {{p->x, p->ldx, p->rows, p->w->n.d}, false};
    bool all = attn_trace_wants_all(p->trace, ATTN_ACT_LOGITS, -1);
    if (!all && !attn_trace_wants_all(p->trace, ATTN_ACT_NORM_FINAL, -1))
        keep_last(p, &t);
    if (p->w->final.weight.data)
        normalise(p, &t);
    if (!all && !t.last)
        keep_last(p, &t);
    if (logits)
        unembed(p, &t);
}
