/* variants.c - which kinds of attention are compared; each kind's run beside the model's own, its time and its price;
 * and all of it from request to output. */
#include "variants/variants.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "compute/mask.h"
#include "model/kind.h"
#include "run/logits.h"
#include "run/run.h"
#include "sinks/sink.h"

/* ---- the list -------------------------------------------------------------------------- */

enum { KINDS_MAX = 64 };                /* more than anybody compares */

static int add(struct attn_variants *s, const char *text, size_t len, struct attn_err *err)
{
    char name[ATTN_KIND_TEXT];
    struct attn_variant *v = &s->v[s->n];
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), text);
    if (s->n == KINDS_MAX)
        return attn_fail(err, ATTN_EUSAGE, "more than %d kinds of attention to compare", KINDS_MAX);
    int rc = attn_kind_parse(&v->kind, name, err);
    if (rc)
        return rc;
    attn_kind_text(v->name, &v->kind);
    v->kl = NAN;
    s->n++;
    return ATTN_OK;
}

/* Length of the first kind in a list.  Kinds begin with a letter, so the commas of "random:4,2,7" do not end one. */
static size_t length(const char *at)
{
    static const char between[] = ",; \t\r\n";
    for (size_t n = 0;; n++) {
        size_t gap = strspn(at + n, between);
        if (!at[n] || (gap && (!at[n + gap] || isalpha((unsigned char)at[n + gap]))))
            return n;
    }
}

static int choose(struct attn_variants *s, const char *list, struct attn_err *err)
{
    char each[256];
    size_t root = (size_t)sqrt((double)s->tokens->n);
    attn_kind_each(each, sizeof each, root < 2 ? 2 : root);     /* sparse kinds see about this many keys */
    s->v = calloc(KINDS_MAX + 1, sizeof *s->v);
    if (!s->v)
        return attn_no_memory(err, NULL, "to list %d kinds of attention", KINDS_MAX);
    int rc = ATTN_OK;
    for (const char *at = list ? list : each; !rc && *(at += strspn(at, ",; \t\r\n")); at += length(at))
        rc = add(s, at, length(at), err);
    return rc || s->n ? rc : attn_fail(err, ATTN_EUSAGE, "no kind of attention to compare: name some, as in %s", each);
}

/* ---- comparing ------------------------------------------------------------------------- */

static const double budget = 0.005;     /* seconds for timing each kind, with at least one run */

struct own { float *pattern, *context, *residual, *logits; };      /* [L, H, T, T], [L, T, H*dv], [T, width], [V] */
struct tally { double largest, sum; size_t n; };

struct comparison {
    const struct attn_variants *s;
    struct own own;
    struct attn_variant *v;             /* NULL: this is the model's own attention, which is kept */
    struct tally tally[ATTN_ACTS];
};

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_dims *n = &((struct comparison *)self)->s->model->w.n;
    bool last = act == ATTN_ACT_RESID_POST && (size_t)layer + 1 == n->L;
    return act == ATTN_ACT_PATTERN || act == ATTN_ACT_CONTEXT || last ? ATTN_WATCH
         : act == ATTN_ACT_LOGITS ? ATTN_WATCH | ATTN_LAST : 0;
}

/* The model's own numbers for row t of a head. */
static float *own_row(const struct comparison *g, const struct attn_probe *p, size_t head, size_t t)
{
    size_t T = g->s->tokens->n, H = g->s->model->w.n.H, layer = p->layer < 0 ? 0 : (size_t)p->layer;
    switch (p->act) {
    case ATTN_ACT_PATTERN: return g->own.pattern + ((layer * H + head) * T + t) * T;
    case ATTN_ACT_CONTEXT: return g->own.context + (layer * T + t) * p->cols;
    case ATTN_ACT_RESID_POST: return g->own.residual + t * p->cols;
    default: return g->own.logits;
    }
}

static void tally(struct tally *sum, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)a[i] - (double)b[i]);
        if (!(d <= sum->largest))       /* NaN sticks */
            sum->largest = isnan(sum->largest) ? sum->largest : d;
        sum->sum += d;
    }
    sum->n += n;
}

/* What the kind's probabilities lose of the model's own. */
static double divergence(const float *own, const float *logits, size_t V)
{
    return attn_logits_divergence(own, attn_logits_log_sum(own, V), logits, attn_logits_log_sum(logits, V), V);
}

static bool is_drawn(const struct comparison *g, const struct attn_probe *p, size_t head)
{
    return p->act == ATTN_ACT_PATTERN && (size_t)p->layer == g->s->o->layer && head == g->s->o->head;
}

static void take_row(struct comparison *g, const struct attn_probe *p, size_t head, size_t t, const float *row)
{
    float *own = own_row(g, p, head, t);
    if (!g->v) {
        memcpy(own, row, p->cols * sizeof *own);
        return;
    }
    tally(&g->tally[p->act], row, own, p->cols);
    if (p->act == ATTN_ACT_LOGITS)
        g->v->kl = divergence(own, row, p->cols);
    if (is_drawn(g, p, head))
        memcpy(g->v->drawn + t * p->cols, row, p->cols * sizeof *row);
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t i = 0; i < p->rows; i++)
            take_row(self, p, p->head0 + h, p->row0 + i, p->data + h * p->ld_head + i * p->ld);
    return ATTN_OK;
}

static struct attn_change change(const struct tally *t)
{
    return (struct attn_change){t->largest, t->n ? t->sum / (double)t->n : 0};
}

static struct attn_plan plan_of(const struct attn_variants *s, const struct attn_kind *kind)
{
    return (struct attn_plan){.rows = s->tokens->n, .seqs = 1, .threads = s->o->threads, .bf16 = s->o->bf16,
                              .kind = *kind};
}

static int observe(struct comparison *g, const struct attn_kind *kind, struct attn_err *err)
{
    struct attn_observer obs[2] = {{.wants = wants, .watch = watch, .self = g}};
    size_t n = 1;
    if (g->s->o->observer)
        obs[n++] = *g->s->o->observer;
    struct attn_plan how = plan_of(g->s, kind);
    return attn_run_tokens(g->s->model, &how, g->s->tokens, NULL, obs, n, err);
}

static int compare_kind(struct comparison *g, struct attn_variant *v, struct attn_err *err)
{
    size_t T = g->s->tokens->n;
    g->v = v;
    memset(g->tally, 0, sizeof g->tally);
    v->drawn = calloc(T * T, sizeof *v->drawn);
    if (!v->drawn)
        return attn_no_memory(err, NULL, "for a pattern of %zu x %zu", T, T);
    int rc = observe(g, &v->kind, err);
    v->pattern = change(&g->tally[ATTN_ACT_PATTERN]);
    v->context = change(&g->tally[ATTN_ACT_CONTEXT]);
    v->residual = change(&g->tally[ATTN_ACT_RESID_POST]);
    return rc;
}

/* ---- the clock ------------------------------------------------------------------------- */

struct stopwatch { double since, total; };

static unsigned clock_wants(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_V || act == ATTN_ACT_CONTEXT ? ATTN_WATCH : 0;
}

/* Attention starts when the values, its last input, are there, and ends with the contexts. */
static int clock_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct stopwatch *w = self;
    (void)err;
    if (p->act == ATTN_ACT_V)
        w->since = attn_clock_now();
    else
        w->total += attn_clock_now() - w->since;
    return ATTN_OK;
}

/* Takes the fastest of as many runs as the budget allows. */
static int time_runs(struct attn_run *r, const int32_t *ids, size_t T, struct stopwatch *w, struct attn_variant *v,
                     struct attn_err *err)
{
    const struct attn_seq seq = {.T = T};
    int rc = ATTN_OK;
    v->seconds = INFINITY;
    for (double start = attn_clock_now(), end = start; !rc &&
         (end == start || end < start + budget); end = attn_clock_now()) {
        w->total = 0;
        rc = attn_run_forward(r, ids, &seq, 1, err);
        v->seconds = fmin(v->seconds, w->total);
    }
    v->lost = attn_run_lost(r).rows;
    return rc;
}

static int time_kind(const struct attn_variants *s, struct attn_variant *v, const int32_t *ids, struct attn_err *err)
{
    struct stopwatch w = {0};
    struct attn_observer obs[2] = {{.wants = clock_wants, .watch = clock_watch, .self = &w}};
    size_t n = 1;
    if (s->o->observer)
        obs[n++] = *s->o->observer;
    struct attn_plan plan = plan_of(s, &v->kind);
    struct attn_run *r = NULL;
    int rc = attn_run_new(&r, s->model, &plan, obs, n, err);
    if (!rc)
        rc = time_runs(r, ids, s->tokens->n, &w, v, err);
    attn_run_free(r);
    return rc;
}

/* ---- the price: operations by definition, memory by the layout of a run ---------------- */

struct picking { size_t *list, *swaps; };               /* buffers for lists of keys */

/* The number of keys that all T queries see together; causal-renorm also sees the hidden ones, before it masks them. */
static double pairs(const struct attn_kind *k, size_t T, const struct picking *p)
{
    double n = 0;
    for (size_t q = 0; q < T; q++) {
        struct attn_range r = attn_kind_bounds(k, q, T);
        n += attn_kind_picks(k) ? (double)attn_kind_pick(p->list, p->swaps, k, q, T) : (double)(r.hi - r.lo);
    }
    return n;
}

/* Adds the cost of one layer: products of queries and keys, and of weights and values.  Linear attention instead has
 * products of features and values, and the sum of features by which each row is divided. */
static void add_layer(struct attn_variant *v, const struct attn_variants *s, size_t layer, const struct picking *p)
{
    const struct attn_weights *w = &s->model->w;
    struct attn_kind k = attn_kind_in(&v->kind, w->causal, w->block[layer].window);
    double T = (double)s->tokens->n, H = (double)w->n.H, dh = (double)w->n.dh, dv = (double)w->n.dv;
    double scores = pairs(&k, s->tokens->n, p);
    if (k.form == ATTN_LINEAR) {
        v->operations += H * T * (4 * dh * dv + 3 * dh + dv);
        return;
    }
    v->scores += H * scores;
    v->operations += 2 * H * scores * (dh + dv);
}

static int price_each(struct attn_variants *s, const struct picking *p, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < s->n && !rc; i++) {
        struct attn_variant *v = &s->v[i];
        struct attn_cost cost = {0};
        struct attn_plan plan = {.rows = s->tokens->n, .seqs = 1, .threads = s->o->threads, .kind = v->kind};
        for (size_t layer = 0; layer < s->model->w.n.L; layer++)
            add_layer(v, s, layer, p);
        rc = attn_run_measure(&cost, s->model, &plan, NULL, 0, err);
        v->bytes = cost.scratch;
    }
    return rc;
}

static int price(struct attn_variants *s, struct attn_err *err)
{
    size_t T = s->tokens->n;
    struct picking p = {calloc(T + 1, sizeof *p.list), calloc(T + 1, sizeof *p.swaps)};
    int rc = p.list && p.swaps ? price_each(s, &p, err) : attn_no_memory(err, NULL, "to list %zu keys", T);
    free(p.list);
    free(p.swaps);
    return rc;
}

/* ---- all of them ----------------------------------------------------------------------- */

static float *array(size_t a, size_t b, size_t c, bool *fits)
{
    enum { MOST = 1 << 30 };            /* bytes; more is not kept for a comparison */
    size_t n = 0;
    bool few = !__builtin_mul_overflow(a, b, &n) && !__builtin_mul_overflow(n, c, &n) && n <= MOST / sizeof(float);
    float *x = few ? calloc(n + 1, sizeof *x) : NULL;
    *fits &= x != NULL;
    return x;
}

static int make_arrays(struct own *own, const struct attn_variants *s, struct attn_err *err)
{
    const struct attn_dims *n = &s->model->w.n;
    size_t T = s->tokens->n, matrices = 0;
    bool fits = !__builtin_mul_overflow(n->L, n->H, &matrices);
    own->pattern = array(matrices, T, T, &fits);
    own->context = array(n->L, T, n->H * n->dv, &fits);
    own->residual = array(T, n->width, 1, &fits);
    own->logits = array(n->V, 1, 1, &fits);
    return fits ? ATTN_OK : attn_no_memory(err, NULL, "to keep %zu layers of %zu patterns of %zu x %zu for the "
                                      "comparison, at most 1 GB: take a shorter sentence", n->L, n->H, T, T);
}

static int measure_all(struct comparison *g, struct attn_variants *s, const int32_t *ids, struct attn_err *err)
{
    const struct attn_kind own = {.form = ATTN_MODEL};
    int rc = make_arrays(&g->own, s, err);
    if (!rc)
        rc = observe(g, &own, err);
    for (size_t i = 0; i < s->n && !rc; i++) {
        rc = compare_kind(g, &s->v[i], err);
        if (!rc)
            rc = time_kind(s, &s->v[i], ids, err);
    }
    return rc;
}

static int measure(struct attn_variants *s, struct attn_err *err)
{
    struct comparison g = {.s = s};
    int32_t *ids = NULL;
    int rc = attn_tokens_to_ids(&ids, s->tokens, err);
    if (!rc)
        rc = measure_all(&g, s, ids, err);
    s->own = g.own.pattern;
    float *all[] = {g.own.context, g.own.residual, g.own.logits};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(ids);
    return rc ? rc : price(s, err);
}

/* ---- from request to output ------------------------------------------------------------ */

static int check(const struct attn_variants *s, struct attn_err *err)
{
    const struct attn_dims *n = &s->model->w.n;
    if (!s->tokens->n)
        return attn_fail(err, ATTN_EFORMAT, "the sentence is empty: there is no token to compare attention of");
    if (s->o->layer >= n->L || s->o->head >= n->H)
        return attn_fail(err, ATTN_EUSAGE, "layer %zu, head %zu is not there: model %s has %zu layer%s of %zu head%s, "
                         "numbered from 0", s->o->layer, s->o->head, s->model->source.name, n->L, n->L == 1 ? "" :
                         "s", n->H, n->H == 1 ? "" : "s");
    return attn_format_check(s->o->format, ATTN_FORMAT_TABLE | ATTN_FORMAT_PICTURE, err);
}

static int carry_out(struct attn_variants *s, struct attn_err *err)
{
    struct attn_out *o;
    int rc = check(s, err);
    if (!rc)
        rc = choose(s, s->o->kinds, err);
    if (!rc)
        rc = measure(s, err);
    if (!rc)
        rc = attn_out_open(&o, s->o->path, err);
    return rc ? rc : attn_out_end(o, attn_variants_write(o, s, err), err);
}

int attn_variants(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_variants_opts *o,
                  struct attn_err *err)
{
    struct attn_variants s = {.model = m, .tokens = tokens, .o = o};
    int rc = carry_out(&s, err);
    for (size_t i = 0; i < s.n; i++)
        free(s.v[i].drawn);
    free(s.v);
    free(s.own);
    return rc;
}
