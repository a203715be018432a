/* passes.c - stages that are passes through a model: a text at once, many sentences, token after token, a
 * training step; and the least work that each takes. */
#include "attn_tools.h"
#include "stages.h"

#include "base/clock.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a pass takes, counted from the sizes of a model -------------------------------- */

/* Parameters of the matrices of a block that come after attention. */
static double later_parameters(const struct attn_info *n)
{
    double d = (double)n->d, o = n->output_projection ? (double)(n->H * n->dv) * d : 0;
    return o + (double)n->m * d * (attn_mlp_find(n->mlp)->gated ? 3 : 2);
}

/* Parameters of the matrices in all blocks. */
static double block_parameters(const struct attn_info *n)
{
    double qkv = (double)n->d * (double)(n->H * n->dh + n->Hkv * (n->dh + n->dv));
    return (double)n->L * (qkv + later_parameters(n));
}

/* The number of visible pairs of query and key among T tokens, summed over all layers. */
static double visible(const struct attn_info *n, double T)
{
    double W = (double)n->window, all = strcmp(n->mask, "none") ? T * (T + 1) / 2 : T * T;
    double near = n->local && W < T ? W * (W + 1) / 2 + (T - W) * W : all;
    return (double)(n->L - n->local) * all + (double)n->local * near;
}

/* The least that the blocks take for T tokens: two operations for each row and matrix parameter used, those of scores
 * and of weighted sums over the visible keys, a softmax of these, and activations.  read: of how many rows somebody
 * reads what the last block gives. */
static struct least least_of_blocks(const struct attn_info *n, size_t T, size_t read)
{
    double seen = visible(n, (double)T), unread = n->L ? (double)(T - read) : 0;
    return (struct least){.products = 2 * ((double)T * block_parameters(n) - unread * later_parameters(n)),
                          .attention = 2 * (double)((n->dh + n->dv) * n->H) * seen,
                          .scores = (double)n->H * seen, .hidden = (double)n->m * ((double)n->L * (double)T - unread)};
}

/* Bytes of a number; of blocks, on average. */
static double weight_size(const struct bench *b)
{
    static const struct { const char *dtype; double size; } plain[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(b->dtype, plain[i].dtype))
            return plain[i].size;
    return (double)b->info.bytes / (double)b->info.parameters;
}

/* Bytes that a decoding step reads for the token at position `keys` - 1: weights, keys and values. */
static double step_bytes(const struct bench *b, size_t keys)
{
    const struct attn_info *n = &b->info;
    double weights = block_parameters(n) + (double)n->d * (double)n->V;
    double seen = visible(n, (double)keys) - visible(n, (double)keys - 1);
    return weights * weight_size(b) + seen * (double)(n->Hkv * (n->dh + n->dv) * sizeof(float));
}

/* The least that so many rows of logits take, if the model has any. */
static struct least least_of_output(const struct attn_info *n, size_t rows)
{
    return (struct least){.products = n->unembed ? 2 * (double)rows * (double)n->d * (double)n->V : 0};
}

static void add_least(struct least *all, struct least one)
{
    all->products += one.products;
    all->attention += one.attention;
    all->scores += one.scores;
    all->hidden += one.hidden;
}

/* Operations of some work. */
static double flops(const struct work *w)
{
    return w->blocks.products + w->blocks.attention + w->output.products + w->output.attention;
}

int32_t *bench_ids(const struct attn_info *n, size_t T, struct attn_err *err)
{
    int32_t *ids = calloc(T, sizeof *ids);
    if (!ids)
        attn_no_memory(err, NULL, "for %zu tokens", T);
    for (size_t i = 0; ids && i < T; i++)
        ids[i] = (int32_t)(i * 7919 % n->V);
    return ids;
}

static struct sample rate(double amount, double start, const struct stage *s)
{
    double seconds = attn_clock_now() - start;
    return (struct sample){amount / seconds / s->scale, seconds};
}

/* ---- what is watched --------------------------------------------------------------------- */

static unsigned wants_logits(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH | ATTN_LAST : 0;
}

static unsigned wants_pattern(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_PATTERN ? ATTN_WATCH : 0;
}

static int discard(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)self, (void)p, (void)err;
    return ATTN_OK;
}

static const struct attn_observer last_logits = {.wants = wants_logits, .watch = discard};
static const struct attn_observer every_pattern = {.wants = wants_pattern, .watch = discard};

/* ---- a pass: a text at once, or many sentences, whose patterns are kept ------------------- */

enum { SHORTEST = 8, LONGEST = 32 };    /* tokens of a sentence */

struct pass {
    const struct stage *stage;
    struct attn_run *run;
    int32_t *ids;
    struct attn_seq *seq;               /* [seqs] */
    size_t *at;                         /* [seqs] where the patterns of each sentence begin in `kept` */
    float *kept;
    size_t seqs, rows, H, numbers;      /* numbers: in `kept` */
    double flops;
};

static int pass_once(void *self, struct sample *out, struct attn_err *err)
{
    struct pass *p = self;
    double start = attn_clock_now();
    int code = attn_run_forward(p->run, p->ids, p->seq, p->seqs, err);
    *out = rate(p->flops, start, p->stage);
    return code;
}

static void pass_end(void *self)
{
    struct pass *p = self;
    attn_run_free(p->run);
    free(p->ids);
    free(p->seq);
    free(p->at);
    free(p->kept);
    free(p);
}

static struct pass *new_pass(struct work *w, const struct stage *s, size_t seqs, struct attn_err *err)
{
    struct pass *p = bench_work(w, sizeof *p, pass_once, pass_end, err);
    if (!p)
        return NULL;
    p->stage = s;
    p->seqs = seqs;
    p->seq = calloc(seqs, sizeof *p->seq);
    p->at = calloc(seqs, sizeof *p->at);
    if (p->seq && p->at)
        return p;
    attn_no_memory(err, NULL, "for %zu sentences", seqs);
    return NULL;
}

static struct attn_plan pass_plan(const struct stage *s, const struct bench *b, size_t rows, size_t seqs)
{
    /* One pass, however often it is measured, does not repay a copy of the weights by itself. */
    return (struct attn_plan){.rows = rows, .seqs = seqs, .threads = b->threads, .bf16 = s->limit == TO_BF16,
                              .copies = s->copied ? ATTN_COPY_FIRST : ATTN_COPY_NEVER};
}

static int start_pass(struct work *w, const struct bench *b, const struct attn_observer *obs, size_t n_obs,
                      struct attn_err *err)
{
    struct pass *p = w->self;
    const struct attn_plan plan = pass_plan(p->stage, b, p->rows, p->seqs);
    p->flops = flops(w);
    p->ids = bench_ids(&b->info, p->rows, err);
    return p->ids ? attn_run_new(&p->run, b->model, &plan, obs, n_obs, err) : (int)err->code;
}

static bool would_copy(const struct attn_plan *p, const struct bench *b)
{
    struct attn_select *patterns = NULL;
    struct attn_cost cost = {0};
    struct attn_err why;
    if (!attn_select_new(&patterns, b->model, NULL, NULL, NULL, NULL, &why))
        attn_cost_of(&cost, b->model, patterns, p, &why);
    attn_select_free(patterns);
    return cost.copies > 0;
}

static const char *prefill_lacks(const struct stage *s, const struct bench *b)
{
    if (s->n > b->info.n_ctx)
        return "the model takes fewer tokens (n_ctx)";
    const struct attn_plan p = pass_plan(s, b, s->n, 1);
    return s->copied && !would_copy(&p, b) ? "a run does not copy these weights on this machine" : NULL;
}

static int prefill_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    const struct attn_observer obs[] = {last_logits, every_pattern};
    struct pass *p = new_pass(w, s, 1, err);
    if (!p)
        return err->code;
    p->rows = p->seq->T = s->n;
    w->blocks = least_of_blocks(&b->info, s->n, 1);
    w->blocks.bytes = block_parameters(&b->info) * weight_size(b);
    w->output = least_of_output(&b->info, 1);
    w->output.bytes = b->info.unembed ? (double)b->info.d * (double)b->info.V * weight_size(b) : 0;
    return start_pass(w, b, obs, s->watched ? 2 : 1, err);
}

const struct stage_kind prefill_kind = {prefill_lacks, prefill_start};

static const char *batch_lacks(const struct stage *s, const struct bench *b)
{
    (void)s;
    return b->info.n_ctx < LONGEST ? "the model takes fewer tokens (n_ctx)" : NULL;
}

static int keep(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct pass *b = self;
    size_t T = p->shape[2];
    (void)err;
    attn_probe_copy(b->kept + b->at[p->seq] + (size_t)p->layer * b->H * T * T, p);
    return ATTN_OK;
}

/* Lengths vary without order but are the same in every run, so that runs can be compared. */
static void lay_out(struct pass *p, struct work *w, const struct attn_info *n)
{
    p->H = n->H;
    for (size_t i = 0; i < p->seqs; i++) {
        size_t T = SHORTEST + i * 17 % (LONGEST - SHORTEST + 1);
        p->seq[i].T = T;
        p->at[i] = p->numbers;
        p->rows += T;
        p->numbers += n->L * n->H * T * T;
        add_least(&w->blocks, least_of_blocks(n, T, 1));
    }
}

static int batch_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    struct pass *p = new_pass(w, s, s->n, err);
    if (!p)
        return err->code;
    lay_out(p, w, &b->info);
    w->blocks.bytes = block_parameters(&b->info) * weight_size(b) + (double)p->numbers * sizeof *p->kept;
    if (!(p->kept = malloc(p->numbers * sizeof *p->kept)))
        return attn_no_memory(err, NULL, "to keep %zu numbers", p->numbers);
    const struct attn_observer keeper = {.wants = wants_pattern, .watch = keep, .self = p};
    return start_pass(w, b, &keeper, 1, err);
}

const struct stage_kind batch_kind = {batch_lacks, batch_start};

/* ---- token after token ------------------------------------------------------------------- */

enum { STEPS = 64 };                    /* tokens decoded before the cache is filled anew */

static size_t room_for(const struct stage *s, const struct bench *b)
{
    size_t left = b->info.n_ctx - s->n;
    return s->n + (left < STEPS ? left : STEPS);
}

static struct attn_plan decode_plan(const struct stage *s, const struct bench *b)
{
    return (struct attn_plan){.rows = 1, .seqs = 1, .keys = room_for(s, b), .threads = b->threads,
                              .copies = s->copied ? ATTN_COPY_FIRST : ATTN_COPY_NEVER};
}

struct decode {
    const struct stage *stage;
    const struct bench *bench;
    struct attn_run *step;
    struct attn_kv *kv;
    int32_t *ids;
    size_t room;                        /* tokens in the cache */
};

static const char *decode_lacks(const struct stage *s, const struct bench *b)
{
    struct attn_err why;
    if (attn_model_predicts(b->model, NULL, &why))
        return "the model does not predict tokens";
    if (strcmp(s->what, b->dtype) != 0)
        return "the weights are of another type";
    if (s->n >= b->info.n_ctx)
        return "the model takes fewer tokens (n_ctx)";
    const struct attn_plan p = decode_plan(s, b);
    return s->copied && !would_copy(&p, b) ? "a run does not copy these weights on this machine" : NULL;
}

/* Starts over with a cache that holds the first tokens of the text. */
static int refill(struct decode *d, struct attn_err *err)
{
    const struct attn_plan plan = {.rows = d->stage->n, .seqs = 1, .keys = d->room, .threads = d->bench->threads};
    struct attn_run *run = NULL;
    attn_kv_free(d->kv);
    d->kv = NULL;
    int code = attn_kv_new(&d->kv, d->bench->model, d->room, err);
    const struct attn_seq seq = {.T = d->stage->n, .kv = d->kv};
    if (!code)
        code = attn_run_new(&run, d->bench->model, &plan, NULL, 0, err);
    if (!code)
        code = attn_run_forward(run, d->ids, &seq, 1, err);
    attn_run_free(run);
    return code;
}

static int decode_once(void *self, struct sample *out, struct attn_err *err)
{
    struct decode *d = self;
    if ((!d->kv || attn_kv_length(d->kv) == d->room) && refill(d, err))
        return err->code;
    size_t at = attn_kv_length(d->kv);
    const struct attn_seq seq = {.T = 1, .kv = d->kv};
    double start = attn_clock_now();
    int code = attn_run_forward(d->step, d->ids + at, &seq, 1, err);
    *out = rate(step_bytes(d->bench, at + 1), start, d->stage);
    return code;
}

static void decode_end(void *self)
{
    struct decode *d = self;
    attn_run_free(d->step);
    attn_kv_free(d->kv);
    free(d->ids);
    free(d);
}

static int decode_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    struct decode *d = bench_work(w, sizeof *d, decode_once, decode_end, err);
    size_t room = room_for(s, b);
    if (!d || !(d->ids = bench_ids(&b->info, room, err)))
        return err->code;
    d->stage = s;
    d->bench = b;
    d->room = room;
    w->blocks.bytes = step_bytes(b, s->n + 1);
    const struct attn_plan plan = decode_plan(s, b);
    return attn_run_new(&d->step, b->model, &plan, &last_logits, 1, err);
}

const struct stage_kind decode_kind = {decode_lacks, decode_start};

/* ---- a step of training: the loss and its gradients -------------------------------------- */

enum { TOKENS = 256, PARAMETERS = 1 << 24 };

struct train { const struct stage *stage; struct attn_gradient *gradient; int32_t *ids; size_t *T; double flops; };

static const char *train_lacks(const struct stage *s, const struct bench *b)
{
    (void)s;
    if (!b->info.unembed)
        return "the model has no output layer";
    if (b->info.parameters > PARAMETERS)
        return "the model is too large for a short measurement (over 16 million parameters)";
    return b->info.n_ctx < TOKENS ? "the model takes fewer tokens (n_ctx)" : NULL;
}

static int train_once(void *self, struct sample *out, struct attn_err *err)
{
    struct train *t = self;
    double loss, start = attn_clock_now();
    int code = attn_gradient_run(t->gradient, &loss, t->ids, t->T, t->stage->n, err);
    *out = rate(t->flops, start, t->stage);
    return code;
}

static void train_end(void *self)
{
    struct train *t = self;
    attn_gradient_free(t->gradient);
    free(t->ids);
    free(t->T);
    free(t);
}

/* Of a sentence, with all its rows of logits.  The backward pass takes two products for each of the forward pass. */
static double train_flops(const struct attn_info *n)
{
    struct work forward = {.blocks = least_of_blocks(n, TOKENS, TOKENS), .output = least_of_output(n, TOKENS)};
    return 3 * flops(&forward);
}

static size_t *lengths(size_t n, struct attn_err *err)
{
    size_t *all = calloc(n, sizeof *all);
    if (!all)
        attn_no_memory(err, NULL, "for %zu sentences", n);
    for (size_t i = 0; all && i < n; i++)
        all[i] = TOKENS;
    return all;
}

static int train_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    struct train *t = bench_work(w, sizeof *t, train_once, train_end, err);
    if (!t || !(t->ids = bench_ids(&b->info, s->n * TOKENS, err)) || !(t->T = lengths(s->n, err)))
        return err->code;
    t->stage = s;
    t->flops = w->blocks.products = (double)s->n * train_flops(&b->info);
    /* read forward and backward; the gradient is written */
    w->blocks.bytes = 3 * sizeof(float) * (double)b->info.parameters;
    return attn_gradient_new(&t->gradient, b->model, s->n * TOKENS, b->threads, err);
}

const struct stage_kind train_kind = {train_lacks, train_start};
