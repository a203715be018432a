/* bench_train.c - the loss and its gradients, as each training step computes them. */
#include "bench/bench.h"

#include "clock.h"
#include "say.h"

#include <stdlib.h>

enum { T = 256, PARAMETERS = 1 << 24 };

struct train { const struct stage *stage; struct attn_gradient *gradient; int32_t *ids; size_t *T; double flops; };

static const char *lacks(const struct stage *s, const struct bench *b)
{
    (void)s;
    if (!b->info.unembed)
        return "the model has no output layer";
    if (b->info.parameters > PARAMETERS)
        return "the model is too large for a short measurement (over 16 million parameters)";
    return b->info.n_ctx < T ? "the model takes fewer tokens (n_ctx)" : NULL;
}

static int once(void *self, struct sample *out, struct attn_err *err)
{
    struct train *t = self;
    double loss, start = clock_now();
    int code = attn_gradient_run(t->gradient, &loss, t->ids, t->T, t->stage->n, err);
    out->seconds = clock_now() - start;
    out->value = t->flops / out->seconds / t->stage->scale;
    return code;
}

static void end(void *self)
{
    struct train *t = self;
    attn_gradient_free(t->gradient);
    free(t->ids);
    free(t->T);
    free(t);
}

/* The forward pass alone; the backward pass takes two products for each of its products. */
static double forward_flops(const struct attn_info *n)
{
    return bench_flops(n, T, false) + 2.0 * T * (double)n->d * (double)n->V;
}

static size_t *lengths(size_t n, struct attn_err *err)
{
    size_t *all = calloc(n, sizeof *all);
    if (!all)
        fail(err, ATTN_ENOMEM, "no memory for %zu sentences", n);
    for (size_t i = 0; all && i < n; i++)
        all[i] = T;
    return all;
}

static int start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    struct train *t = bench_work(w, sizeof *t, once, end, err);
    if (!t || !(t->ids = bench_ids(&b->info, s->n * T, err)) || !(t->T = lengths(s->n, err)))
        return err->code;
    t->stage = s;
    t->flops = 3 * (double)s->n * forward_flops(&b->info);
    return attn_gradient_new(&t->gradient, b->model, s->n * T, b->threads, err);
}

const struct stage_kind train_kind = {lacks, start};
