#include "run/derive.h"

#include "base/err.h"
#include "base/size.h"
#include "compute/gemm.h"
#include "compute/rows.h"

#include <math.h>
#include <string.h>

enum { LENS_ROWS = 32 };                /* most rows of the lens in one band */

/* Whether an observer asked for the activation in this layer or a later one; -1 is outside the blocks. */
static bool wanted_from(const struct attn_trace *t, int act, int layer, unsigned flags)
{
    for (; attn_act_per_layer(act) && layer < (int)t->L; layer++)
        if (attn_trace_wants(t, act, layer, flags))
            return true;
    return false;
}

bool attn_derive_wants(const struct attn_derive *d, int act, int layer, unsigned flags)
{
    return attn_trace_wants(d->pass->trace, act, layer, flags);
}

bool attn_derives(const struct attn_derive *d, int act, unsigned flags)
{
    return wanted_from(d->pass->trace, act, 0, flags);
}

/* ---- planning -------------------------------------------------------------------------- */

bool attn_derive_wanted(const struct attn_trace *t)
{
    for (int act = ATTN_ACT_DERIVED; act < ATTN_ACTS; act++)
        if (wanted_from(t, act, 0, ATTN_WATCH))
            return true;
    return false;
}

/* What the derived activations are made of.  A rollout needs the patterns of its layer and of all before. */
static unsigned wants(void *self, int act, int layer)
{
    const struct attn_derive *d = self;
    bool norms = attn_derive_wants(d, ATTN_ACT_NORMS, layer, ATTN_WATCH);
    bool whole = attn_derive_wants(d, ATTN_ACT_NORMS, layer, ATTN_WHOLE);
    bool masks = attn_derive_wants(d, ATTN_ACT_MASK, layer, ATTN_WATCH) ||
                 attn_derive_wants(d, ATTN_ACT_MASK_INF, layer, ATTN_WATCH);
    bool divisors = attn_derive_wants(d, ATTN_ACT_DIVISORS, layer, ATTN_WATCH);
    bool all_divisors = attn_derive_wants(d, ATTN_ACT_DIVISORS, layer, ATTN_WHOLE);
    bool rollout = wanted_from(d->pass->trace, ATTN_ACT_ROLLOUT, layer, ATTN_WATCH);
    switch (act) {
    case ATTN_ACT_Q:          return masks ? ATTN_WATCH : 0;
    case ATTN_ACT_V:          return norms ? ATTN_WATCH : 0;
    case ATTN_ACT_SCORES:     return divisors ? ATTN_WATCH | (all_divisors ? ATTN_WHOLE : 0) : 0;
    case ATTN_ACT_PATTERN:    return norms || rollout ? ATTN_WATCH | (whole ? ATTN_WHOLE : 0) : 0;
    case ATTN_ACT_CONTEXT:    return attn_derive_wants(d, ATTN_ACT_RESULT, layer, ATTN_WATCH) ? ATTN_WATCH : 0;
    case ATTN_ACT_RESID_POST: return attn_derive_wants(d, ATTN_ACT_LENS, layer, ATTN_WATCH) ? ATTN_WATCH : 0;
    default:                  return 0;
    }
}

void attn_derive_lay_out(struct attn_derive *d, struct attn_arena *a, size_t R)
{
    const struct attn_dims *n = &d->pass->w->n;
    size_t longest = d->pass->scratch.longest;
    bool result = attn_derives(d, ATTN_ACT_RESULT, ATTN_WATCH),
    norms = attn_derives(d, ATTN_ACT_NORMS, ATTN_WATCH);
    bool all_norms = attn_derives(d, ATTN_ACT_NORMS, ATTN_WHOLE),
    rollout = attn_derives(d, ATTN_ACT_ROLLOUT, ATTN_WATCH);
    bool lens = attn_derives(d, ATTN_ACT_LENS, ATTN_WATCH), all_lens = attn_derives(d, ATTN_ACT_LENS, ATTN_WHOLE);
    d->R = R;
    d->part = attn_arena_f32(a, attn_derives(d, ATTN_ACT_RESULT, ATTN_WHOLE) ? n->H : result || norms, longest,
                             n->d);
    d->size = attn_arena_f32(a, norms ? n->H : 0, R, 1);
    d->norms = attn_arena_f32(a, all_norms ? n->H : norms, all_norms ? longest : smaller(longest, ATTN_BAND), longest);
    d->mean = attn_arena_f32(a, rollout, longest, longest);
    d->next = attn_arena_f32(a, rollout, longest, longest);
    d->rollout = attn_arena_f32(a, rollout, R, longest);
    d->logit_rows = !lens ? 0 : all_lens ? longest : smaller(longest, LENS_ROWS);
    d->logits = attn_arena_f32(a, d->logit_rows, n->V, 1);
    attn_derive_mask_lay_out(d, a);
}

int attn_derive_check(const struct attn_derive *d, struct attn_err *err)
{
    const struct attn_pass *p = d->pass;
    bool norms = attn_derives(d, ATTN_ACT_NORMS, ATTN_WATCH),
    rollout = attn_derives(d, ATTN_ACT_ROLLOUT, ATTN_WATCH);
    for (size_t i = 0; i < p->seqs; i++) {
        if (p->seq[i].keys && rollout)
            return attn_fail(err, ATTN_EUSAGE,
                             "rollout follows attention from layer to layer within one text: there is none where a "
                             "text looks at another");
        if (p->seq[i].pos && (norms || rollout))
            return attn_fail(err, ATTN_EUSAGE, "%s needs a text in one pass, but sentence %zu continues a cache of %zu "
                                               "tokens",
                             norms ? "attn.norms" : "rollout", i, p->seq[i].pos);
    }
    return ATTN_OK;
}

/* ---- attn.result: the output of attention, head by head -------------------------------- */

/* The rows of the output projection that head h multiplies with. */
static struct attn_mat of_head(const struct attn_pass *p, int layer, size_t h)
{
    struct attn_mat w = attn_mat_inputs(&p->w->block[layer].o, h * p->w->n.dv, p->w->n.dv);
    w.bias.data = NULL;
    return w;
}

static void split_output(struct attn_derive *d, const struct attn_probe *context)
{
    struct attn_pass *p = d->pass;
    size_t H = p->w->n.H, dv = p->w->n.dv, width = p->w->n.d, T = context->rows;
    bool whole = attn_derive_wants(d, ATTN_ACT_RESULT, context->layer, ATTN_WHOLE);
    struct attn_probe part = {.act = ATTN_ACT_RESULT, .layer = context->layer, .seq = context->seq, .ndim = 3,
                              .shape = {H, T, width}, .heads = whole ? H : 1, .rows = T, .cols = width,
                              .ld_head = T * width,
                              .ld = width};
    for (size_t h = 0; h < H; h++) {
        struct attn_mat w = of_head(p, context->layer, h);
        float *to = d->part + (whole ? h * T * width : 0);
        attn_gemm(p->team, to, width, context->data + h * dv, context->ld, T, &w, ATTN_STORE, p->rounded);
        part.head0 = whole ? 0 : h;
        if (!whole || h + 1 == H)
            attn_trace_announce(p->trace, &part, d->part);
    }
}

/* ---- attn.norms: weights times the size of what they weigh ----------------------------- */

/* Finds the norm of what each key adds to the output of each head. */
static void measure_values(struct attn_derive *d, const struct attn_probe *v)
{
    struct attn_pass *p = d->pass;
    size_t H = p->w->n.H, width = p->w->n.d;
    for (size_t h = 0; h < H; h++) {
        const float *added = v->data + h / (H / p->w->n.Hkv) * v->ld_head;
        float *size = d->size + h * d->R + p->seq[v->seq].row;
        size_t ld = v->ld, cols = v->cols;
        if (p->w->block[v->layer].o.data) {
            struct attn_mat w = of_head(p, v->layer, h);
            attn_gemm(p->team, d->part, width, added, ld, v->rows, &w, ATTN_STORE, p->rounded);
            added = d->part;
            ld = cols = width;
        }
        for (size_t t = 0; t < v->rows; t++)
            size[t] = (float)sqrt(attn_vec_squares(added + t * ld, cols));
    }
}

static void weigh_row(float *to, const float *weight, const float *size, size_t n)
{
    for (size_t k = 0; k < n; k++)
        to[k] = weight[k] * size[k];
}

/* Rows from row0 on of the heads of a band. */
static void weigh_rows(struct attn_derive *d, const struct attn_probe *pattern, size_t head0, size_t heads, size_t row0,
                       size_t rows)
{
    const struct attn_pass_seq *s = &d->pass->seq[pattern->seq], *keys = s->keys ? s->keys : s;
    struct attn_probe band = *pattern;
    band.act = ATTN_ACT_NORMS;
    band.head0 = pattern->head0 + head0;
    band.heads = heads;
    band.row0 = pattern->row0 + row0;
    band.rows = rows;
    band.ld = band.cols;
    band.ld_head = rows * band.cols;
    for (size_t h = 0; h < heads; h++)
        for (size_t t = 0; t < rows; t++)
            weigh_row(d->norms + h * band.ld_head + t * band.ld,
                      pattern->data + (head0 + h) * pattern->ld_head + (row0 + t) * pattern->ld,
                      d->size + (band.head0 + h) * d->R + keys->row, band.cols);
    attn_trace_announce(d->pass->trace, &band, d->norms);
}

static void weigh(struct attn_derive *d, const struct attn_probe *pattern)
{
    if (attn_derive_wants(d, ATTN_ACT_NORMS, pattern->layer, ATTN_WHOLE)) {
        weigh_rows(d, pattern, 0, pattern->heads, 0, pattern->rows);
        return;
    }
    for (size_t h = 0; h < pattern->heads; h++)
        for (size_t row = 0; row < pattern->rows; row += ATTN_BAND)
            weigh_rows(d, pattern, h, 1, row, smaller(pattern->rows - row, ATTN_BAND));
}

/* ---- rollout: which tokens of the text a row comes from, if attention were all there is - */

/* Where the rollout of a sentence is: those before it take T * T each. */
static float *rollout_of(const struct attn_derive *d, size_t seq)
{
    float *at = d->rollout;
    for (size_t i = 0; i < seq; i++)
        at += d->pass->seq[i].T * d->pass->seq[i].T;
    return at;
}

/* All heads were added up: makes the rollout of this layer, and announces it if it is wanted. */
static void roll(struct attn_derive *d, const struct attn_probe *pattern)
{
    struct attn_pass *p = d->pass;
    size_t T = pattern->cols;
    float *rollout = rollout_of(d, pattern->seq), share = 0.5F / (float)p->w->n.H;
    struct attn_mat before = {.data = rollout, .type = ATTN_F32, .in = T, .out = T, .ld = T};
    for (size_t q = 0; q < T; q++) {
        attn_vec_scale(d->mean + q * T, d->mean + q * T, share, T);
        d->mean[q * T + q] += 0.5F;
    }
    if (pattern->layer > 0)
        attn_gemm(p->team, d->next, T, d->mean, T, T, &before, ATTN_STORE, NULL);
    memcpy(rollout, pattern->layer > 0 ? d->next : d->mean, T * T * sizeof *rollout);
    struct attn_probe whole = {.act = ATTN_ACT_ROLLOUT, .layer = pattern->layer, .seq = pattern->seq, .ndim = 2,
                               .shape = {T, T},
                               .heads = 1, .rows = T, .cols = T, .ld = T};
    attn_trace_announce(p->trace, &whole, rollout);
}

/* Bands come by ascending head, then row, and one sentence after the other. */
static void add_pattern(struct attn_derive *d, const struct attn_probe *pattern)
{
    size_t T = pattern->cols, H = pattern->shape[0];
    if (pattern->head0 == 0 && pattern->row0 == 0)
        memset(d->mean, 0, T * T * sizeof *d->mean);
    for (size_t h = 0; h < pattern->heads; h++)
        for (size_t t = 0; t < pattern->rows; t++)
            attn_vec_add(d->mean + (pattern->row0 + t) * T, pattern->data + h * pattern->ld_head + t * pattern->ld, T);
    if (pattern->head0 + pattern->heads == H && pattern->row0 + pattern->rows == T)
        roll(d, pattern);
}

/* ---- lens: what the model would predict if it ended after this block ------------------- */

static void look_through(struct attn_derive *d, const struct attn_probe *post)
{
    struct attn_pass *p = d->pass;
    size_t V = p->w->n.V, width = p->w->n.d, first = p->seq[post->seq].row;
    struct attn_probe band = {.act = ATTN_ACT_LENS, .layer = post->layer, .seq = post->seq, .ndim = 2,
                              .shape = {post->rows, V},
                              .heads = 1, .cols = V, .ld = V};
    bool whole = attn_derive_wants(d, ATTN_ACT_LENS, post->layer, ATTN_WHOLE);
    for (band.row0 = 0; band.row0 < post->rows; band.row0 += band.rows) {
        band.rows = smaller(post->rows - band.row0, whole ? post->rows : LENS_ROWS);
        struct attn_rows x = {p->x + (first + band.row0) * p->ldx, p->ldx, band.rows, width};
        struct attn_rows y = {p->y, width, band.rows, width};
        if (attn_has(&p->w->final))
            attn_rows_norm(p->team, &y, &x, &p->w->final, p->w->eps, p->norm_w, p->norm_b, NULL);
        else
            y = x;
        attn_unembed_rows(p->team, p->w, d->logits, &y, p->embed_proj, p->rounded);
        attn_trace_announce(p->trace, &band, d->logits);
    }
}

/* ---- the observer ---------------------------------------------------------------------- */

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;                          /* those who watch what is derived leave their errors in the trace */
    struct attn_derive *d = self;
    switch (p->act) {
    case ATTN_ACT_Q:
        attn_derive_mask(d, p);
        break;
    case ATTN_ACT_V:
        measure_values(d, p);
        break;
    case ATTN_ACT_SCORES:
        attn_derive_divisors(d, p);
        break;
    case ATTN_ACT_PATTERN:
        if (attn_derive_wants(d, ATTN_ACT_NORMS, p->layer, ATTN_WATCH))
            weigh(d, p);
        if (wanted_from(d->pass->trace, ATTN_ACT_ROLLOUT, p->layer, ATTN_WATCH))
            add_pattern(d, p);
        break;
    case ATTN_ACT_CONTEXT:
        split_output(d, p);
        break;
    default:
        look_through(d, p);
    }
    return d->pass->trace->err.code;
}

struct attn_observer attn_derive_observer(struct attn_derive *d)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = d};
}
