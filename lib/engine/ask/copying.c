/* copying.c - would a head, by its weights alone, raise the logit of the token that it looks at?
 *
 * A token's embedding goes through the gains of norm1, the head's value and output matrices, the gains of norm_final
 * and the output layer, which gives a matrix [V, V] from tokens to logits.  Its eigenvalues other than 0 are those of a
 * matrix [dv, dv], the same product begun at another factor:
 *
 *     W_O diag(g) W_U W_E diag(g1) W_V        [dv, d] [d] [d, V] [V, d] [d] [d, dv]
 *
 * Where other norms stand between these matrices, their gains count like g and g1: that of the embedding, and that of
 * what attention gives.  Where the embedding is projected to the stream, and the stream to the output layer, W_E and
 * W_U are the products.  A positive factor changes nothing.  Where the stream itself is normalised, no product leads
 * from a head to the logits.
 *
 * Positive eigenvalues copy.  The score is the sum of the eigenvalues divided by that of their absolute values: 1 if
 * all of them are positive numbers, -1 if all are negative.
 *
 * W_U W_E, which all heads share, takes nearly all of the time.  It is added up in double precision from products over
 * a few tokens at a time, whose chains of float32 are short; everything after it is computed in double precision. */
#include "ask/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/err.h"
#include "base/size.h"
#include "compute/matrix.h"
#include "compute/rows.h"
#include "model/model.h"

enum { TOKENS = 128, TILE = 64 };       /* tokens of a chain; rows and columns that a thread adds to at a time */
_Static_assert((int)TILE == (int)ATTN_PANEL, "a tile is as wide as a panel");

struct job {
    const struct attn_weights *w;
    size_t d, wide;                     /* width of W_U and W_E; that rounded up to whole tiles */
    double *middle;                     /* [d, wide] W_U W_E */
    size_t token, tokens;               /* the tokens that are added */
    float *out, *in;                    /* [TOKENS, wide] columns of W_U, rows of W_E; 0 from column d on */
    double *to;                         /* [L * H] */
    double *scratch; size_t each;       /* of each worker */
    bool *failed;                       /* [L * Hkv] the eigenvalues were not found */
};

/* ---- the middle: W_U W_E ------------------------------------------------------------------ */

/* Token i of the block: its column of W_U, where a token is a row, and its row of W_E. */
static void fetch_token(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    const struct attn_mat *u = &j->w->unembed, *e = &j->w->embed;
    size_t token = j->token + i;
    attn_vec_widen(j->in + i * j->wide, e->data, e->type, token * e->ld, j->d);
    if (u->transposed)
        attn_vec_widen(j->out + i * j->wide, u->data, u->type, attn_mat_index(u, token) * u->ld, j->d);
}

/* Row i of W_U, where a token is a column. */
static void fetch_row(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    const struct attn_mat *u = &j->w->unembed;
    float row[TOKENS];
    attn_vec_widen(row, u->data, u->type, i * u->ld + j->token, j->tokens);
    for (size_t k = 0; k < j->tokens; k++)
        j->out[k * j->wide + i] = row[k];
}

static void add_tile(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    float sum[TILE * TILE] = {0};
    size_t across = j->wide / TILE, row = i / across * TILE, col = i % across * TILE, rows = smaller(TILE, j->d - row);
    attn_vec_outer(sum, TILE, j->out + row, j->wide, j->in + col, j->wide, rows, j->tokens);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < TILE; c++)
            j->middle[(row + r) * j->wide + col + c] += (double)sum[r * TILE + c];
}

static int add_tokens(struct job *j, struct attn_team *team, const struct attn_copying_watch *watch,
                      struct attn_err *err)
{
    size_t V = j->w->n.V, tiles = j->wide / TILE * (j->wide / TILE);
    int rc = ATTN_OK;
    for (j->token = 0; j->token < V && !rc; j->token += j->tokens) {
        j->tokens = smaller(TOKENS, V - j->token);
        double numbers = (double)j->tokens * (double)j->d;
        attn_team_run(team, j->tokens, 2 * numbers, fetch_token, j);
        if (!j->w->unembed.transposed)
            attn_team_run(team, j->d, numbers, fetch_row, j);
        attn_team_run(team, tiles, 2 * numbers * (double)j->d, add_tile, j);
        if (watch->step)
            rc = watch->step(watch->self, (double)j->token / (double)V, err);
    }
    return rc;
}

/* ---- a head ------------------------------------------------------------------------------- */

/* Rows and columns of a weight, from row `row0` of its inputs and column `col0` of its outputs, in double precision, to
 * rows of ld. */
static void widen(double *to, size_t ld, const struct attn_mat *w, size_t row0, size_t rows, size_t col0, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            float x = 0;
            size_t out = attn_mat_index(w, col0 + j),
            at = w->transposed ? out * w->ld + row0 + i : (row0 + i) * w->ld + out;
            attn_vec_widen(&x, w->data, w->type, at, 1);
            to[i * ld + j] = (double)x;
        }
}

/* Makes of the product of narrow tables that of the projected ones: out [d, narrow], middle, in [narrow, d]. */
static int project(struct job *j, struct attn_err *err)
{
    const size_t d = j->w->n.d, wide = up(d, TILE);
    double *in = calloc(j->wide, wide * sizeof *in), *half = calloc(j->d, wide * sizeof *half);
    double *out = calloc(d, j->d * sizeof *out), *middle = calloc(d, wide * sizeof *middle);
    bool ok = in && half && out && middle;
    if (ok) {
        widen(in, wide, &j->w->project_in, 0, j->d, 0, d);
        widen(out, j->d, &j->w->project_out, 0, d, 0, j->d);
        attn_matrix_product(half, j->middle, in, j->d, j->wide, wide);
        attn_matrix_product(middle, out, half, d, j->d, wide);
        free(j->middle);
        j->middle = middle;
        j->d = d;
        j->wide = wide;
    } else {
        free(middle);
    }
    free(in);
    free(half);
    free(out);
    return ok ? ATTN_OK : attn_no_memory(err, NULL, "for a matrix of %zu x %zu", d, d);
}

/* Multiplies row i of x[rows, cols] by gain i of the norm. */
static void scale_rows(double *x, size_t rows, size_t cols, const struct attn_norm *norm)
{
    for (size_t i = 0; i < rows && attn_has(norm); i++) {
        float g;
        attn_norm_weights(&g, norm, i, 1);
        for (size_t j = 0; j < cols; j++)
            x[i * cols + j] *= (double)g;
    }
}

/* The rows of the output projection of a head; without one, the head's place in the residual stream. */
static void widen_output(double *to, const struct attn_mat *o, size_t head, size_t dv, size_t d)
{
    if (o->data) {
        widen(to, d, o, head * dv, dv, 0, d);
        return;
    }
    memset(to, 0, dv * d * sizeof *to);
    for (size_t i = 0; i < dv; i++)
        to[i * d + head * dv + i] = 1;
}

/* The score of the product in m[dv, dv]; x has room for dv * (dv + 2) numbers. */
static bool score(double *out, double *m, double *x, size_t dv)
{
    double trace = 0, sizes = 0, *re = x, *im = x + dv;
    for (size_t i = 0; i < dv; i++)
        trace += m[i * dv + i];         /* the sum of the eigenvalues */
    if (!attn_matrix_eigenvalues(re, im, m, x + 2 * dv, dv))
        return false;
    for (size_t i = 0; i < dv; i++)
        sizes += attn_hypot(re[i], im[i]);
    *out = trace / sizes;
    return true;
}

/* Key/value head i % Hkv of layer i / Hkv, and the query heads that it serves. */
static void score_heads(void *ctx, size_t i, int worker)
{
    const struct job *j = ctx;
    const struct attn_dims *n = &j->w->n;
    size_t kv = i % n->Hkv, group = n->H / n->Hkv, d = n->d, dv = n->dv;
    const struct attn_block *b = &j->w->block[i / n->Hkv];
    double *v = j->scratch + (size_t)worker * j->each, *moved = v + j->wide * dv, *o = moved + d * dv, *m = o + d * dv;
    memset(v, 0, j->wide * dv * sizeof *v);
    widen(v, dv, &b->v, 0, d, kv * dv, dv);
    scale_rows(v, d, dv, &b->norm1);
    scale_rows(v, d, dv, &j->w->embed_norm);
    attn_matrix_product(moved, j->middle, v, d, j->wide, dv);
    scale_rows(moved, d, dv, &j->w->final);
    scale_rows(moved, d, dv, &b->post1);
    for (size_t head = kv * group; head < (kv + 1) * group; head++) {
        widen_output(o, &b->o, head, dv, d);
        attn_matrix_product(m, o, moved, dv, d, dv);
        if (!score(&j->to[i / n->Hkv * n->H + head], m, m + dv * dv, dv))
            j->failed[i] = true;
    }
}

/* ---- all heads ---------------------------------------------------------------------------- */

static int compute(struct job *j, struct attn_team *team, const struct attn_copying_watch *watch, struct attn_err *err)
{
    const struct attn_dims *n = &j->w->n;
    double dv = (double)n->dv, d = (double)n->d;
    int rc = add_tokens(j, team, watch, err);
    if (!rc && j->w->project_in.data)
        rc = project(j, err);
    if (rc)
        return rc;
    attn_team_run(team, n->L * n->Hkv, 2 * (double)(n->L * n->Hkv) * d * dv * (d + dv), score_heads, j);
    for (size_t i = 0; i < n->L * n->Hkv; i++)
        if (j->failed[i])
            return attn_fail(err, ATTN_EFORMAT, "copying: the eigenvalues of layer %zu, key/value head %zu are not "
                                                "finite",
                             i / n->Hkv,
                             i % n->Hkv);
    return ATTN_OK;
}

int attn_copying(double *out, const struct attn_model *m, struct attn_team *team,
                 const struct attn_copying_watch *watch, struct attn_err *err)
{
    const struct attn_dims *n = &m->w.n;
    const size_t width = m->w.embed.out;
    if (!m->w.unembed.data)
        return attn_fail(err, ATTN_EFORMAT, "copying: model %s has no output layer, so that no head raises a logit",
                         m->source.name);
    if (n->L && (m->w.post_norm_residual || attn_has(&m->w.block[0].sum1)))
        return attn_fail(err, ATTN_EFORMAT, "copying: model %s (%s) normalises its residual stream in every layer, so "
                                            "that no product of matrices leads from a head to the logits",
                         m->source.name, attn_model_family(m));
    struct job j = {.w = &m->w, .d = width, .wide = up(width, TILE), .to = out};
    j.each = (up(n->d, TILE) + 2 * n->d) * n->dv + 2 * n->dv * (n->dv + 1);
    j.middle = calloc(width * j.wide, sizeof *j.middle);
    j.out = calloc(TOKENS * j.wide, sizeof *j.out);
    j.in = calloc(TOKENS * j.wide, sizeof *j.in);
    j.scratch = calloc((size_t)attn_team_size(team) * j.each, sizeof *j.scratch);
    j.failed = calloc(n->L * n->Hkv + 1, sizeof *j.failed);
    int rc = j.middle && j.out && j.in && j.scratch && j.failed
                 ? compute(&j, team, watch, err)
                 : attn_no_memory(err, NULL, "for a matrix of %zu x %zu and those of heads", n->d, n->d);
    void *all[] = {j.middle, j.out, j.in, j.scratch, j.failed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return rc;
}
