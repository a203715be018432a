#include "compute/block.h"

#include "base/size.h"
#include "compute/block_steps.h"
#include "compute/page_in.h"
#include "compute/position.h"

#include <string.h>

void attn_block_run(struct attn_pass *p, int layer)
{
    const struct attn_weights *w = p->w;
    const struct attn_block *b = &w->block[layer];
    const enum attn_epilogue add = w->residual || attn_adds_apart(w) ? ATTN_ADD : ATTN_STORE;
    struct attn_activation x = attn_pass_stream(p);                             /* [R, d], R rows of all sentences */
    p->layer = layer;
    attn_pass_announce(p, ATTN_ACT_RESID_PRE, &x, 0);

    /* x += attention(norm1(x)) */
    struct attn_activation h = attn_pass_norm(p, ATTN_ACT_NORM1, &x, &b->norm1);        /* [R, d] */
    attn_pass_qkv(p, &h, b);                                            /* [R, H * dh], [R, Hkv * dh], [R, Hkv * dv] */
    attn_pass_rotate(p, b);
    /* [R, H * dv]; from here on perhaps last rows alone */
    struct attn_activation context = attn_pass_attend(p, &x, &h);
    struct attn_activation parallel_out = attn_pass_rows(p, p->parallel_out, w->n.d);
    if (w->parallel) {
        /* added after the MLP has read x */
        attn_pass_linear(p, ATTN_ACT_OUT, &parallel_out, &context, &b->o, ATTN_STORE);
    } else {
        attn_pass_linear(p, ATTN_ACT_OUT, &x, &context, &b->o, add);            /* [R, H * dv] -> [R, d] */
        attn_pass_normalise(p, &x, &x, &b->sum1);
    }

    /* x += mlp(norm2(x)): of the x that attention changed or, with parallel branches, of the same x */
    if (w->mlp) {
        if (!w->parallel)
            attn_pass_announce(p, ATTN_ACT_RESID_MID, &x, 0);
        if (!w->one_norm)
            h = attn_pass_norm(p, ATTN_ACT_NORM2, &x, &b->norm2);               /* [R, d] */
        /* [R, m]: act(h in), or act(h gate) * (h in) */
        struct attn_activation hidden = attn_pass_hidden(p);
        const bool gated = attn_mlp_gated(w->mlp);
        if (gated)
            attn_pass_linear(p, ATTN_ACT_MLP_PRE, &hidden, &h, &b->gate, ATTN_STORE);
        attn_pass_linear(p, gated ? ATTN_ACT_MLP_LINEAR : ATTN_ACT_MLP_PRE, &hidden, &h, &b->in,
                         attn_epilogue_of(w->mlp));
        attn_pass_announce(p, ATTN_ACT_MLP_POST, &hidden, 0);
        if (w->parallel)
            attn_pass_add(p, &x, &parallel_out);
        attn_pass_linear(p, ATTN_ACT_MLP_OUT, &x, &hidden, &b->out, add);       /* [R, m] -> [R, d] */
        attn_pass_normalise(p, &x, &x, &b->sum2);
    }
    attn_pass_announce(p, ATTN_ACT_RESID_POST, &x, 0);
}

/* ---- before the blocks: ids to vectors ---- */

static void look_up(float *out, const struct attn_mat *table, size_t row)
{
    attn_vec_widen(out, table->data, table->type, row * table->ld, table->out);
}

/* What each token gives to the stream: its row of the table, perhaps projected, scaled or normalised; where positions
 * are added, their sum is normalised instead. */
static void embed(struct attn_pass *p, struct attn_activation *x, const int32_t *ids)
{
    const struct attn_weights *w = p->w;
    const struct attn_rows row = w->project_in.data ? attn_pass_rows(p, p->embed_proj, w->embed.out).rows : x->rows;
    for (size_t t = 0; t < p->rows; t++)
        look_up(row.data + t * row.ld, &w->embed, (size_t)ids[t]);
    if (w->project_in.data && p->unread)
        attn_page_in(p->team, &w->project_in);
    if (w->project_in.data)
        attn_gemm(p->team, x->rows.data, x->rows.ld, row.data, row.ld, p->rows, &w->project_in, ATTN_STORE, p->rounded);
    if (w->embed_scale != 0)
        attn_rows_scale(p->team, &x->rows, w->embed_scale);
    if (!attn_norms_positions(w))
        attn_pass_normalise(p, x, x, &w->embed_norm);
    attn_pass_announce(p, ATTN_ACT_EMBED, x, 0);
}

static void position_row(float *out, const struct attn_weights *w, size_t pos)
{
    if (w->sinusoid)
        attn_sinusoid(out, w->n.d, pos);
    else
        look_up(out, &w->pos, pos);
}

static void add_positions(struct attn_pass *p, const struct attn_activation *x)
{
    const struct attn_activation pos = attn_pass_rows(p, p->y, p->w->n.d);
    const struct attn_rows y = pos.rows;
    for (size_t i = 0; i < p->seqs; i++)
        for (size_t t = 0; t < p->seq[i].T; t++)
            position_row(y.data + (p->seq[i].row + t) * y.ld, p->w, p->seq[i].pos + t);
    attn_pass_announce(p, ATTN_ACT_POS_EMBED, &pos, 0);
    for (size_t t = 0; t < p->rows; t++)
        attn_vec_add(p->x + t * p->ldx, y.data + t * y.ld, y.cols);
    attn_pass_normalise(p, x, x, &p->w->embed_norm);
}

/* Cosines and sines of the positions of all rows. */
static void find_angles(struct attn_pass *p)
{
    size_t half = p->w->rotary / 2;
    for (size_t i = 0; i < p->w->ropes; i++)
        for (const struct attn_pass_seq *s = p->seq; s < p->seq + p->seqs; s++) {
            size_t at = (i * p->R + s->row) * half;
            attn_rope_cos_sin(p->cos + at, p->sin + at, p->w, &p->w->rope[i], s->pos, s->T, s->pos + s->T);
        }
}

void attn_embed_resume(struct attn_pass *p, const float *const *x, size_t width)
{
    p->last = false;
    for (size_t i = 0; i < p->seqs; i++)
        for (size_t t = 0; t < p->seq[i].T; t++)
            memcpy(p->x + (p->seq[i].row + t) * p->ldx, x[i] + t * width, width * sizeof *p->x);
    if (p->w->rotary)
        find_angles(p);
}

void attn_embed_run(struct attn_pass *p, const int32_t *ids)
{
    struct attn_activation x = attn_pass_stream(p);
    p->last = false;
    p->layer = -1;
    embed(p, &x, ids);
    if (attn_adds_positions(p->w))
        add_positions(p, &x);
    if (p->w->rotary)
        find_angles(p);
}

/* ---- after the blocks: vectors to logits ---- */

static size_t seq_with(const struct attn_pass *p, size_t row)
{
    size_t lo = 0, hi = p->seqs;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        *(p->seq[mid].row <= row ? &lo : &hi) = mid;
    }
    return lo;
}

/* Announces `band`, which are the rows from row0 on, sentence by sentence. */
static void announce_output(struct attn_pass *p, int act, const struct attn_rows *band, size_t row0)
{
    size_t end = row0 + band->n;
    for (size_t i = row0, n; i < end; i += n) {
        size_t seq = p->last ? i : seq_with(p, i);
        const struct attn_pass_seq *s = &p->seq[seq];
        size_t at = p->last ? s->T - 1 : i - s->row;
        n = smaller(p->last ? 1 : s->T - at, end - i);
        struct attn_probe probe = {
            .act = act, .layer = -1, .seq = seq, .ndim = 2, .shape = {s->T, band->cols},
            .heads = 1, .row0 = at, .rows = n, .cols = band->cols, .ld = band->ld};
        attn_trace_announce(p->trace, &probe, band->data + (i - row0) * band->ld);
    }
}

static struct attn_activation norm_output(struct attn_pass *p, const struct attn_activation *x)
{
    struct attn_activation y = {{p->y, p->w->n.d, x->rows.n, x->rows.cols}, NULL};
    attn_pass_normalise(p, &y, x, &p->w->final);
    if (attn_pass_wanted(p, ATTN_ACT_NORM_FINAL))
        announce_output(p, ATTN_ACT_NORM_FINAL, &y.rows, 0);
    return y;
}

void attn_unembed_rows(struct attn_team *t, const struct attn_weights *w, float *logits, const struct attn_rows *x,
                       float *embed_proj, float *rounded)
{
    struct attn_rows reads = *x, y = {logits, w->n.V, x->n, w->n.V};
    if (w->project_out.data) {
        reads = (struct attn_rows){embed_proj, w->project_out.out, x->n, w->project_out.out};
        attn_gemm(t, reads.data, reads.ld, x->data, x->ld, x->n, &w->project_out, ATTN_STORE, rounded);
    }
    attn_gemm(t, y.data, y.ld, reads.data, reads.ld, x->n, &w->unembed, ATTN_STORE, rounded);
    if (w->logit_scale != 0)
        attn_rows_scale(t, &y, w->logit_scale);
    if (w->logit_cap != 0)
        attn_rows_cap(t, &y, w->logit_cap);
}

/* Computes logits in bands of as many rows as the buffer holds; each band reads the whole weight. */
static void unembed(struct attn_pass *p, const struct attn_rows *x)
{
    size_t V = p->w->n.V;
    if (p->unread)
        attn_page_in(p->team, &p->w->unembed);
    for (size_t row = 0, n; row < x->n; row += n) {
        n = smaller(x->n - row, p->logit_rows);
        struct attn_rows band = {p->logits, V, n, V}, some = {x->data + row * x->ld, x->ld, n, x->cols};
        attn_unembed_rows(p->team, p->w, p->logits, &some, p->embed_proj, p->rounded);
        announce_output(p, ATTN_ACT_LOGITS, &band, row);
    }
}

void attn_unembed_run(struct attn_pass *p)
{
    p->layer = -1;
    const bool logits = attn_pass_wanted(p, ATTN_ACT_LOGITS), all = attn_trace_wants_all(p->trace, ATTN_ACT_LOGITS, -1);
    if (!logits && !attn_pass_wanted(p, ATTN_ACT_NORM_FINAL))
        return;
    struct attn_activation x = attn_pass_stream(p);
    if (!all && !attn_trace_wants_all(p->trace, ATTN_ACT_NORM_FINAL, -1))
        attn_pass_keep_last(p, &x);
    if (attn_has(&p->w->final))
        x = norm_output(p, &x);
    if (!all)
        attn_pass_keep_last(p, &x);
    if (logits)
        unembed(p, &x.rows);
}
