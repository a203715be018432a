/* logits.c - what a row of logits says: the likeliest token, the probability of a token, the scores of a text, and
 * which token to draw next.
 *
 * All probabilities are computed in double precision.  If top_k or top_p are in effect, the likeliest tokens are
 * taken off a heap one by one, as many as needed.  The draw then goes through these in the order of their ids,
 * so that a top_k or top_p that excludes no token changes no choice. */
#include "attn.h"

#include "base/elementary.h"
#include "base/err.h"
#include "base/size.h"
#include "base/splitmix.h"
#include "compute/vec.h"
#include "model/model.h"
#include "run/logits.h"
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int not_finite(const float *logits, size_t i, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "the logit of token %zu is %s, expected a finite number: the weights overflow "
                                        "or are damaged, or an edit made it so", i, isnan(logits[i]) ?
                     "nan" : logits[i] > 0 ? "inf" :
                     "-inf");
}

static int no_tokens(struct attn_err *err)
{
    return attn_fail(err, ATTN_EUSAGE, "there are logits of 0 tokens, expected one at least");
}

/* The likeliest of V tokens; of equally likely ones, that with the lowest id.  -inf rules out tokens, but not all. */
static int find_best(int32_t *best, const float *logits, size_t V, struct attn_err *err)
{
    bool finite;
    if (!V)
        return no_tokens(err);
    float most = attn_vec_max(logits, 1, V, &finite);
    *best = 0;
    while (finite && logits[*best] != most)
        ++*best;
    if (finite)
        return ATTN_OK;
    for (size_t i = 0; i < V; i++) {
        if (!(logits[i] < INFINITY))
            return not_finite(logits, i, err);
        if (logits[i] > logits[*best])
            *best = (int32_t)i;
    }
    return logits[*best] > -INFINITY ? ATTN_OK : not_finite(logits, 0, err);
}

int attn_logprob(double *out, const float *logits, size_t V, int32_t id, struct attn_err *err)
{
    int32_t best;
    if (id < 0 || (size_t)id >= V)
        return attn_fail(err, ATTN_EUSAGE, "token id %" PRId32 ": there are logits of %zu tokens, from 0 on", id, V);
    int rc = find_best(&best, logits, V, err);
    if (rc)
        return rc;
    double top = logits[best];
    *out = logits[id] - top - attn_log(attn_vec_exp_sum(logits, top, V));
    return ATTN_OK;
}

/* ---- two rows ---- */

double attn_logits_log_sum(const float *x, size_t n)
{
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            return (double)NAN;
        top = (double)x[i] > top ? (double)x[i] : top;
    }
    return top + attn_log(attn_vec_exp_sum(x, top, n));
}

double attn_logits_divergence(const float *p, double sum_p, const float *q, double sum_q, size_t n)
{
    double kl = isnan(sum_p + sum_q) ? (double)NAN : 0;
    for (size_t i = 0; i < n; i++) {
        double log_p = (double)p[i] - sum_p, weight = attn_exp(log_p);
        kl += weight > 0 ? weight * (log_p - ((double)q[i] - sum_q)) : 0;
    }
    return kl < 0 ? 0 : kl;             /* less by rounding alone */
}

/* ---- the likeliest tokens ---- */

static bool is_likelier(const struct attn_likely *a, const struct attn_likely *b)
{
    return a->p > b->p || (a->p == b->p && a->id < b->id);
}

static int likeliest_first(const void *a, const void *b)
{
    return is_likelier(a, b) ? -1 : is_likelier(b, a);
}

/* A heap whose top is the least likely one: puts its element i where it belongs, going down. */
static void sink_likelier(struct attn_likely *heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && is_likelier(&heap[child], &heap[child + 1]))
            child++;
        if (!is_likelier(&heap[i], &heap[child]))
            return;
        struct attn_likely kept = heap[i];
        heap[i] = heap[child];
        heap[child] = kept;
    }
}

int attn_logits_top(struct attn_likely *out, size_t *n, size_t k, const float *logits, size_t V, struct attn_err *err)
{
    int32_t best;
    *n = 0;
    int rc = find_best(&best, logits, V, err);
    if (rc)
        return rc;
    k = smaller(k, V);
    for (size_t i = 0; i < V && k > 0; i++) {
        struct attn_likely one = {(int32_t)i, logits[i]};
        if (*n < k) {
            out[(*n)++] = one;
            for (size_t j = k / 2; *n == k && j-- > 0;)
                sink_likelier(out, k, j);
        } else if (is_likelier(&one, &out[0])) {
            out[0] = one;
            sink_likelier(out, k, 0);
        }
    }
    qsort(out, *n, sizeof *out, likeliest_first);
    double top = logits[best], sum = attn_vec_exp_sum(logits, top, V);
    for (size_t i = 0; i < *n; i++)
        out[i].p = attn_exp(out[i].p - top) / sum;
    return ATTN_OK;
}

/* ---- the scores of a text; one longer than the context is read in overlapping windows ---- */

struct scorer {
    const int32_t *ids;
    double *out;
    size_t start, next;                 /* first token of the window; first token without a score */
    struct attn_team *team;
    const struct attn_probe *band;      /* of logits */
};

static unsigned wants(void *self, int act, int layer)
{
    (void)self;
    (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH : 0;
}

static int score(const struct scorer *s, size_t i, size_t at, struct attn_err *err)
{
    return attn_logprob(&s->out[at], s->band->data + i * s->band->ld, s->band->cols, s->ids[at], err);
}

static void score_row(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct scorer *s = ctx;
    size_t row = s->band->row0 + i, at = s->start + row + 1;
    if (at >= s->next && row + 1 < s->band->shape[0] && score(s, i, at, NULL))
        s->out[at] = NAN;
}

/* Scores tokens.  Row t of a window predicts its token t + 1; the token after the window is scored in the next one. */
static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    const double cost = 32;             /* of exp, in operations */
    struct scorer *s = self;
    int rc = ATTN_OK;
    s->band = p;
    attn_team_run(s->team, p->rows, cost * (double)p->rows * (double)p->cols, score_row, s);
    for (size_t i = 0; i < p->rows && !rc; i++) {
        size_t row = p->row0 + i, at = s->start + row + 1;
        if (at != s->next || row + 1 == p->shape[0])
            continue;
        if (isnan(s->out[at]))
            rc = score(s, i, at, err);          /* says why */
        s->next++;
    }
    return rc;
}

static int check_text(const struct attn_model *m, const int32_t *ids, size_t n, size_t stride,
                      const struct attn_kind *kind, struct attn_err *err)
{
    size_t n_ctx = m->w.n.n_ctx;
    int rc = attn_model_predicts(m, kind, err);
    if (rc)
        return rc;
    if (n > 1 && n_ctx < 2)
        return attn_fail(err, ATTN_EUSAGE,
                         "model %s takes one token at a time (n_ctx), so no token can be scored given another",
                         m->source.name);
    if (n > n_ctx && (stride < 1 || stride >= n_ctx))
        return attn_fail(err, ATTN_EUSAGE,
                         "the text has %zu tokens, more than the %zu (n_ctx) of model %s: windows %zu apart cannot "
                         "score each of them, expected 1 to %zu", n, n_ctx,
                         m->source.name, stride, n_ctx - 1);
    return attn_model_check_ids(m, ids, n, err);
}

/* A run that scores and, after that, shows the options' observers what it sees. */
static int new_run(struct attn_run **out, const struct attn_model *m, const struct attn_plan *plan, struct scorer *s,
                   const struct attn_score_opts *o, struct attn_err *err)
{
    struct attn_observer *all = calloc(1 + o->n_observers, sizeof *all);
    if (!all)
        return attn_no_memory(err, NULL, "for %zu observers", o->n_observers);
    all[0] = (struct attn_observer){.wants = wants, .watch = watch, .self = s};
    for (size_t i = 0; i < o->n_observers; i++)
        all[1 + i] = o->observers[i];
    int rc = attn_run_new(out, m, plan, all, 1 + o->n_observers, err);
    free(all);
    return rc;
}

int attn_score(double *out, const struct attn_model *m, const int32_t *ids, size_t n,
               const struct attn_score_opts *opts, struct attn_err *err)
{
    struct attn_score_opts o = opts ? *opts : (struct attn_score_opts){0};
    size_t n_ctx = m->w.n.n_ctx, window = smaller(n, n_ctx), stride = o.stride ? o.stride : n_ctx > 2 ? n_ctx / 2 : 1;
    struct scorer s = {.ids = ids, .out = out, .next = 1};
    struct attn_plan plan = {.rows = window, .seqs = 1, .threads = o.threads, .bf16 = o.bf16, .kind = o.kind};
    struct attn_run *run = NULL;
    int rc = check_text(m, ids, n, stride, &o.kind, err);
    if (!rc)
        rc = new_run(&run, m, &plan, &s, &o, err);
    if (!rc) {
        out[0] = 0;
        s.team = run->pass.team;
    }
    for (size_t end = 0; !rc && end < n; s.start += stride) {
        struct attn_seq seq = {.T = n - s.start < window ? n - s.start : window};
        rc = attn_run_forward(run, ids + s.start, &seq, 1, err);
        end = s.start + seq.T;
    }
    attn_run_free(run);
    return rc;
}

/* ---- choosing the next token ---- */

struct attn_sampler {
    struct attn_sampling sampling;
    size_t V;
    uint64_t state;
    const float *logits;                /* set during a draw */
    double *weight;                     /* [V] probabilities relative to the likeliest, which has 1 */
    int32_t *heap;                      /* [V] a heap of the tokens left, then those taken off it, likeliest last */
    size_t left;                        /* how many are in the heap */
};

static int check_sampling(const struct attn_sampling *sampling, struct attn_err *err)
{
    if (!(sampling->temperature >= 0) || !isfinite(sampling->temperature))
        return attn_fail(err, ATTN_EUSAGE, "temperature %g, expected a number from 0", sampling->temperature);
    if (!(sampling->top_p >= 0 && sampling->top_p <= 1))
        return attn_fail(err, ATTN_EUSAGE, "top_p %g, expected a number from 0 to 1", sampling->top_p);
    return ATTN_OK;
}

int attn_sampler_new(struct attn_sampler **out, size_t V, const struct attn_sampling *sampling, struct attn_err *err)
{
    *out = NULL;
    int rc = V ? check_sampling(sampling, err) : no_tokens(err);
    if (rc)
        return rc;
    struct attn_sampler *s = calloc(1, sizeof *s);
    if (s) {
        s->sampling = *sampling;
        s->V = V;
        s->state = sampling->seed;
        s->weight = calloc(V, sizeof *s->weight);
        s->heap = calloc(V, sizeof *s->heap);
    }
    if (!s || !s->weight || !s->heap) {
        attn_sampler_free(s);
        return attn_no_memory(err, NULL, "to choose one of %zu tokens", V);
    }
    *out = s;
    return ATTN_OK;
}

void attn_sampler_free(struct attn_sampler *s)
{
    if (!s)
        return;
    free(s->weight);
    free(s->heap);
    free(s);
}

/* ---- the likeliest ---- */

static bool before(const struct attn_sampler *s, int32_t a, int32_t b)
{
    float x = s->logits[a], y = s->logits[b];
    return x > y || (x == y && a < b);
}

static void swap(int32_t *a, int32_t *b)
{
    int32_t c = *a;
    *a = *b;
    *b = c;
}

static void sift(struct attn_sampler *s, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < s->left; i = child) {
        if (child + 1 < s->left && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], s->heap[i]))
            return;
        swap(&s->heap[child], &s->heap[i]);
    }
}

static void make_heap(struct attn_sampler *s)
{
    s->left = s->V;
    for (size_t i = s->V / 2; i-- > 0;)
        sift(s, i);
}

/* The i-th likeliest token, counted from 0. */
static int32_t likeliest(struct attn_sampler *s, size_t i)
{
    while (s->V - s->left <= i) {
        swap(&s->heap[0], &s->heap[--s->left]);
        sift(s, 0);
    }
    return s->heap[s->V - 1 - i];
}

/* ---- drawing ---- */

/* The smallest number of the k likeliest tokens that together have top_p of the probability of all k; at least one. */
static size_t nucleus(struct attn_sampler *s, size_t k)
{
    double whole = 0, sum = 0;
    size_t n = 0;
    if (s->sampling.top_p >= 1)
        return k;                       /* rounding of the sums must not exclude any */
    for (size_t i = 0; i < k; i++)
        whole += s->weight[k < s->V ? likeliest(s, i) : (int32_t)i];
    do
        sum += s->weight[likeliest(s, n++)];
    while (n < k && sum < s->sampling.top_p * whole);
    return n;
}

static int by_id(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The tokens to choose from, in the order of their ids; *n is how many. */
static const int32_t *candidates(struct attn_sampler *s, size_t *n)
{
    size_t k = s->sampling.top_k && s->sampling.top_k < s->V ? s->sampling.top_k : s->V;
    for (size_t i = 0; i < s->V; i++)
        s->heap[i] = (int32_t)i;
    *n = s->V;
    if (k == s->V && s->sampling.top_p >= 1)
        return s->heap;
    make_heap(s);
    *n = nucleus(s, k);
    likeliest(s, *n - 1);
    int32_t *kept = s->heap + s->V - *n;
    qsort(kept, *n, sizeof *kept, by_id);
    return kept;
}

static int32_t draw(struct attn_sampler *s)
{
    size_t n, i;
    const int32_t *kept = candidates(s, &n);
    double whole = 0, sum = 0;
    for (i = 0; i < n; i++)
        whole += s->weight[kept[i]];
    double at = attn_splitmix_unit(attn_splitmix_next(&s->state)) * whole;
    /* Rounding may make `at` the whole sum: then the last token that has a weight is taken. */
    int32_t last = kept[0];
    for (i = 0; i < n && sum <= at; i++) {
        if (s->weight[kept[i]] > 0)
            last = kept[i];
        sum += s->weight[kept[i]];
    }
    return last;
}

int attn_sampler_next(struct attn_sampler *s, int32_t *id, const float *logits, struct attn_err *err)
{
    int rc = find_best(id, logits, s->V, err);
    if (rc || s->sampling.temperature == 0)
        return rc;
    double top = logits[*id];
    s->logits = logits;
    for (size_t i = 0; i < s->V; i++)
        s->weight[i] = attn_exp((logits[i] - top) / s->sampling.temperature);
    *id = draw(s);
    return ATTN_OK;
}
