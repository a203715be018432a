/* clue.c - what the search for a cause asks: of the activations around the first difference, of tokens, of weights. */
#include "compare/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/vec.h"
#include "model/model.h"

bool attn_clue_say(struct clue *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&c->d->cause, fmt, ap) < 0)
        c->d->cause = NULL;
    va_end(ap);
    return true;
}

bool attn_clue_other(const struct clue *c, int act, struct attn_pair *out)
{
    return attn_diff_pair(c->d, act, attn_act_per_layer(act) ? c->layer : -1, out);
}

/* The output of the last block, which everything after the blocks reads. */
static bool last_block(const struct clue *c, struct attn_pair *x)
{
    for (size_t i = c->d->n; i-- > 0;)
        if (c->d->row[i].act == ATTN_ACT_RESID_POST)
            return attn_diff_pair(c->d, ATTN_ACT_RESID_POST, c->d->row[i].layer, x);
    return false;
}

bool attn_clue_input(const struct clue *c, struct attn_pair *x)
{
    switch (c->act) {
    case ATTN_ACT_NORM1:
        return attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_Q: case ATTN_ACT_K: case ATTN_ACT_V:
        return attn_clue_other(c, ATTN_ACT_NORM1, x) || attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_OUT:
        return attn_clue_other(c, ATTN_ACT_CONTEXT, x);
    case ATTN_ACT_NORM2:
        return attn_clue_other(c, ATTN_ACT_RESID_MID, x) || attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_MLP_PRE: case ATTN_ACT_MLP_LINEAR:
        return attn_clue_other(c, ATTN_ACT_NORM2, x) || attn_clue_other(c, ATTN_ACT_RESID_MID, x);
    case ATTN_ACT_MLP_POST:
        return attn_clue_other(c, ATTN_ACT_MLP_PRE, x);
    case ATTN_ACT_MLP_OUT:
        return attn_clue_other(c, ATTN_ACT_MLP_POST, x);
    case ATTN_ACT_NORM_FINAL:
        return last_block(c, x);
    case ATTN_ACT_LOGITS:
        return attn_clue_other(c, ATTN_ACT_NORM_FINAL, x) || last_block(c, x);
    default:
        return false;
    }
}

static size_t head_width(const struct clue *c)
{
    struct attn_pair p, context;
    if (attn_clue_other(c, ATTN_ACT_Q, &p) || attn_clue_other(c, ATTN_ACT_K, &p))
        return p.n;
    if (c->model)
        return c->model->w.n.dh;
    size_t H = attn_clue_heads(c);
    return H && attn_clue_other(c, ATTN_ACT_CONTEXT, &context) ? context.n / H : 0;
}

size_t attn_clue_heads(const struct clue *c)
{
    static const int with_heads[] = {ATTN_ACT_Q, ATTN_ACT_DOTS, ATTN_ACT_SCORES, ATTN_ACT_PATTERN};
    struct attn_pair p;
    for (size_t i = 0; i < sizeof with_heads / sizeof *with_heads; i++)
        if (attn_clue_other(c, with_heads[i], &p))
            return p.H;
    return c->model ? c->model->w.n.H : 0;
}

double attn_clue_theta(const struct clue *c)
{
    return c->model && c->model->w.rotary ? c->model->config.rope_theta : 0;
}

const char *attn_clue_factor(const struct clue *c, double factor, char buf[64])
{
    struct attn_pair x;
    double dh = (double)head_width(c), layer = c->layer + 1;
    double d = attn_clue_other(c, ATTN_ACT_EMBED, &x) || attn_clue_input(c, &x) ? (double)x.n : 0;
    const struct { const char *name; double x; } known[] = {
        {"sqrt(d_head)", sqrt(dh)}, {"1/sqrt(d_head)", 1 / sqrt(dh)}, {"d_head", dh}, {"1/d_head", 1 / dh},
        {"sqrt(d_model)", sqrt(d)}, {"1/sqrt(d_model)", 1 / sqrt(d)}, {"the number of the layer from 1", layer},
        {"1 over the number of the layer from 1", 1 / layer}, {"log2(e)", M_LOG2E}, {"ln(2)", M_LN2},
        {"sqrt((d - 1)/d): the variance of a sample", sqrt((d - 1) / d)},
        {"sqrt(d/(d - 1)): the variance of a sample", sqrt(d / (d - 1))}};
    buf[0] = '\0';
    for (size_t i = 0; i < sizeof known / sizeof *known && !buf[0]; i++)
        if (fabs(known[i].x - 1) > 1e-9 && fabs(factor / known[i].x - 1) < 2e-5)
            snprintf(buf, 64, " = %s", known[i].name);
    return buf;
}

/* ---- causes that show before any number is compared: other tokens, other shapes ------------- */

/* Whether y's tokens are those of x from `skip` on. */
static bool follows(const struct attn_dump *x, const struct attn_dump *y, size_t skip)
{
    for (size_t i = 0; i < y->tokens.n; i++)
        if (i + skip >= x->tokens.n || x->tokens.item[i + skip].id != y->tokens.item[i].id)
            return false;
    return y->tokens.n > 0;
}

static bool one_more(struct clue *c, const struct attn_dump *more, const struct attn_dump *fewer, bool a)
{
    if (more->tokens.n != fewer->tokens.n + 1 || !follows(more, fewer, 1))
        return false;
    return attn_clue_say(c, "%c has one more token in front: id %" PRId32 "; a beginning-of-sequence token (BOS) was added on one "
                         "side only", attn_clue_side(a), more->tokens.item[0].id);
}

bool attn_clue_bos(struct clue *c)
{
    return one_more(c, c->d->a, c->d->b, true) || one_more(c, c->d->b, c->d->a, false);
}

/* Without lists of tokens: looks whether the rows of a [T,n] array are shifted by one. */
bool attn_clue_bos_by_rows(struct clue *c)
{
    const size_t *a = c->row->shape[0], *b = c->row->shape[1];
    const struct attn_dumped *x = attn_dump_find(c->d->a, c->row->name), *y = attn_dump_find(c->d->b, c->row->name);
    if (c->p.H || !x || !y || c->row->ndim[0] != 2 || c->row->ndim[1] != 2 || a[1] != b[1])
        return false;
    bool more_a = a[0] == b[0] + 1 && !attn_gap(x->of.data + a[1], y->of.data, y->of.n);
    bool more_b = b[0] == a[0] + 1 && !attn_gap(x->of.data, y->of.data + a[1], x->of.n);
    return (more_a || more_b) && attn_clue_say(c, "%c has one more row in front and is otherwise the same: a beginning-of-sequence "
                                               "token (BOS) was added on one side only", attn_clue_side(more_a));
}

bool attn_clue_tokens(struct clue *c)
{
    const struct attn_dump *a = c->d->a, *b = c->d->b;
    size_t n = a->tokens.n < b->tokens.n ? a->tokens.n : b->tokens.n, i = 0;
    while (i < n && a->tokens.item[i].id == b->tokens.item[i].id)
        i++;
    if (!n || (i == n && a->tokens.n == b->tokens.n))
        return false;
    if (i == n)
        return attn_clue_say(c, "A has %zu tokens, B %zu: the shorter list is the beginning of the longer", a->tokens.n, b->tokens.n);
    return attn_clue_say(c, "the sides ran on different tokens: token %zu has id %" PRId32 " in A and %" PRId32 " in B", i,
                         a->tokens.item[i].id, b->tokens.item[i].id);
}

static int descending(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

bool attn_clue_axes(struct clue *c)
{
    size_t a[8], b[8];
    if (c->p.H || c->row->ndim[0] != c->row->ndim[1])
        return false;
    memcpy(a, c->row->shape[0], sizeof a);
    memcpy(b, c->row->shape[1], sizeof b);
    qsort(a, 8, sizeof *a, descending);
    qsort(b, 8, sizeof *b, descending);
    return !memcmp(a, b, sizeof a) && memcmp(c->row->shape[0], c->row->shape[1], sizeof a) != 0 &&
           attn_clue_say(c, "the same axes in another order: one side is transposed");
}

/* One side has [T, heads * width] where the other has [heads, T, width], as all of our own arrays have. */
bool attn_clue_flat_heads(struct clue *c)
{
    for (int side = 0; side < 2; side++) {
        const size_t *flat = c->row->shape[side], *ours = c->row->shape[!side];
        if (c->row->ndim[side] == 2 && c->row->ndim[!side] == 3 && flat[0] == ours[1] && flat[1] == ours[0] * ours[2])
            return attn_clue_say(c, "%c has heads side by side, [tokens, heads * width], and %c apart: reshape %c to [%zu,%zu,%zu] and swap its "
                                 "first two axes", attn_clue_side(!side), attn_clue_side(side), attn_clue_side(!side), flat[0], ours[0], ours[2]);
    }
    return false;
}

/* Whether the shapes are the same except for the number of tokens. */
bool attn_clue_length(struct clue *c)
{
    const size_t *a = c->row->shape[0], *b = c->row->shape[1];
    int ndim = c->row->ndim[0], token = ndim - 2;
    if (c->p.H || ndim != c->row->ndim[1] || ndim < 2 || a[token] == b[token])
        return false;
    bool square = ndim == 3 && a[2] == a[1] && b[2] == b[1];
    if ((ndim == 3 && a[0] != b[0]) || (a[ndim - 1] != b[ndim - 1] && !square))
        return false;
    return attn_clue_say(c, "A has %zu tokens, B has %zu", a[token], b[token]);
}

/* ---- products recomputed with the weights of a model, as they are and otherwise --------- */

enum { ROWS = 4 };                      /* of the activations: more would prove no more */

static const struct attn_mat *matrix_of(const struct clue *c)
{
    const struct attn_weights *w = &c->model->w;
    if (c->layer >= 0 && (size_t)c->layer >= w->n.L)
        return NULL;
    const struct attn_block *b = &w->block[c->layer < 0 ? 0 : c->layer];
    switch (c->act) {
    case ATTN_ACT_Q:          return &b->q;
    case ATTN_ACT_K:          return &b->k;
    case ATTN_ACT_V:          return &b->v;
    case ATTN_ACT_OUT:        return &b->o;
    case ATTN_ACT_MLP_PRE:    return b->gate.data ? &b->gate : &b->in;
    case ATTN_ACT_MLP_LINEAR: return &b->in;
    case ATTN_ACT_MLP_OUT:    return &b->out;
    default:                  return NULL;
    }
}

/* y[out] += x[in] w, or x times the transposed w, which must be square; line: one stored row. */
static void multiply(double *y, const float *x, const struct attn_mat *w, bool transposed, float *line)
{
    size_t rows = w->by_output ? w->out : w->in, columns = w->by_output ? w->in : w->out;
    for (size_t i = 0; i < rows; i++) {
        size_t at = w->by_output ? attn_mat_place(w, i) : i;
        attn_vec_widen(line, w->data, w->type, at * w->ld, columns);
        for (size_t j = 0; j < columns; j++)
            if (w->by_output != transposed)
                y[i] += (double)x[j] * (double)line[j];
            else
                y[j] += (double)x[i] * (double)line[j];
    }
}

static void add_bias(double *y, const struct attn_mat *w, float *line)
{
    for (size_t j = 0; j < w->out && w->bias.data; j++) {
        attn_vec_widen(line, w->bias.data, w->bias.type, attn_mat_place(w, j), 1);
        y[j] += (double)*line;
    }
}

static void rotate(double *y, const struct attn_weights *w, size_t heads, size_t t)
{
    size_t half = w->rotary / 2;
    for (size_t h = 0; h < heads; h++)
        for (size_t i = 0; i < half; i++) {
            double c = cos((double)t * w->speed[i]), s = sin((double)t * w->speed[i]);
            double *u = y + h * w->n.dh + i, *v = u + half, first = *u;
            *u = first * c - *v * s;
            *v = first * s + *v * c;
        }
}

static double distance(const struct attn_pair *p, const float *side, size_t t, const double *y)
{
    double left = 0, all = 0;
    for (size_t h = 0; h < p->H; h++)
        for (size_t j = 0; j < p->n; j++) {
            double have = side[h * p->ld_head + t * p->ld + j], want = y[h * p->n + j];
            left += (have - want) * (have - want);
            all += want * want;
        }
    return all > 0 ? sqrt(left / all) : INFINITY;
}

/* The largest gap of A and of B to the recomputed product, over the first rows. */
static bool gaps(const struct clue *c, const struct attn_pair *x, const struct attn_mat *w, bool transposed, double gap[2])
{
    bool rotary = c->model->w.rotary && (c->act == ATTN_ACT_Q || c->act == ATTN_ACT_K);
    size_t widest = w->in > w->out ? w->in : w->out;
    double *y = calloc(w->out + 1, sizeof *y);
    float *line = malloc((widest + 1) * sizeof *line);
    gap[0] = gap[1] = 0;
    for (size_t t = 0; y && line && t < x->T && t < ROWS; t++) {
        for (size_t j = 0; j < w->out; j++)
            y[j] = 0;
        multiply(y, x->a + t * x->ld, w, transposed, line);
        add_bias(y, w, line);
        if (rotary)
            rotate(y, &c->model->w, c->p.H, t);
        gap[0] = fmax(gap[0], distance(&c->p, c->p.a, t, y));
        gap[1] = fmax(gap[1], distance(&c->p, c->p.b, t, y));
    }
    bool done = y && line;
    free(y);
    free(line);
    return done;
}

static bool fits(const struct clue *c, const struct attn_pair *x, const struct attn_mat *w)
{
    return w && w->data && x->n == w->in && x->T == c->p.T && c->p.H * c->p.n == w->out;
}

bool attn_clue_transposed(struct clue *c)
{
    struct attn_pair x;
    double as_is[2], transposed[2];
    const struct attn_mat *w = c->model ? matrix_of(c) : NULL;
    if (!w || !attn_clue_input(c, &x) || !fits(c, &x, w) || w->in != w->out || !gaps(c, &x, w, false, as_is) ||
        !gaps(c, &x, w, true, transposed))
        return false;
    bool a = attn_gap_explained(transposed[0], as_is[0]) && attn_gap_explained(as_is[1], transposed[1]);
    bool b = attn_gap_explained(transposed[1], as_is[1]) && attn_gap_explained(as_is[0], transposed[0]);
    return (a || b) && attn_clue_say(c, "%c multiplies by the transpose of the weight that %c uses",
                                     attn_clue_side(a), attn_clue_side(!a));
}

bool attn_clue_tied(struct clue *c)
{
    struct attn_pair x;
    double gap[2];
    if (!c->model || !c->model->w.embed.data || !attn_clue_input(c, &x))
        return false;
    struct attn_mat w = c->model->w.embed;              /* as the output layer: bind.c ties it in the same way */
    w.in = c->model->w.embed.out;
    w.out = c->model->w.embed.in;
    w.by_output = true;
    if (!fits(c, &x, &w) || !gaps(c, &x, &w, false, gap))
        return false;
    bool a = attn_gap_explained(gap[0], gap[1]), b = attn_gap_explained(gap[1], gap[0]);
    return (a || b) && attn_clue_say(c, "%c's output layer is the embedding (tied), %c's is separate", attn_clue_side(a),
                                     attn_clue_side(!a));
}
