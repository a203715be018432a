/* gradients.c - what grad.h computes, for whoever has sentences: each token is to predict the next one, and the
 * gradient is kept in memory or written as a .safetensors file. */
#include "attn_tools.h"

#include "base/err.h"
#include "base/out.h"
#include "gradient/grad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct attn_gradient {
    struct attn_params *p;
    struct attn_grad *grad;
    int32_t *targets; size_t rows;      /* rows: the most tokens of a batch */
};

int attn_gradient_new(struct attn_gradient **out, const struct attn_model *m, size_t rows, int threads,
                      struct attn_err *err)
{
    *out = NULL;
    struct attn_gradient *g = calloc(1, sizeof *g);
    if (!g || rows == SIZE_MAX || !(g->targets = calloc(rows + 1, sizeof *g->targets))) {
        free(g);
        return attn_no_memory(err, NULL, "for the gradients of %zu tokens", rows);
    }
    struct attn_grad_plan plan = {.threads = threads, .longest = m->w.n.n_ctx};
    if (rows < plan.longest)
        plan.longest = plan.rows = rows;                /* saves memory: no sentence is longer than all rows */
    g->rows = rows;
    int rc = attn_params_new(&g->p, m, err);
    if (!rc)
        rc = attn_grad_new(&g->grad, g->p, &plan, err);
    if (rc) {
        attn_gradient_free(g);
        return rc;
    }
    *out = g;
    return ATTN_OK;
}

void attn_gradient_free(struct attn_gradient *g)
{
    if (!g)
        return;
    attn_grad_free(g->grad);
    attn_params_free(g->p);
    free(g->targets);
    free(g);
}

/* ---- a batch ---- */

static int check(const struct attn_gradient *g, const size_t *T, size_t n, struct attn_err *err)
{
    const struct attn_model *m = g->p->model;
    size_t left = g->rows, most = 0;
    for (size_t i = 0; i < n; i++) {
        if (T[i] > m->w.n.n_ctx)
            return attn_fail(err, ATTN_EFORMAT, "the text has %zu tokens, but model %s takes at most %zu (n_ctx): "
                                                "shorten it", T[i], m->source.name, m->w.n.n_ctx);
        if (T[i] > left)
            return attn_fail(err, ATTN_EUSAGE,
                             "sentence %zu has %zu tokens, but %zu of the %zu planned rows are left", i,
                             T[i], left, g->rows);
        left -= T[i];
        most = T[i] > most ? T[i] : most;
    }
    if (most < 2)
        return attn_fail(err, ATTN_EFORMAT, "the text has %zu token%s, expected at least 2: a loss is how well tokens "
                         "predict those after them", most, most ? "" : "s");
    return ATTN_OK;
}

/* The target of each token is the next one; the last one of a sentence has none (-1). */
static void aim(int32_t *targets, const int32_t *ids, const size_t *T, size_t n)
{
    for (size_t i = 0; i < n; ids += T[i], targets += T[i], i++)
        for (size_t t = 0; t < T[i]; t++)
            targets[t] = t + 1 < T[i] ? ids[t + 1] : -1;
}

int attn_gradient_run(struct attn_gradient *g, double *loss, const int32_t *ids, const size_t *T, size_t n,
                      struct attn_err *err)
{
    struct attn_grad_batch batch = {.ids = ids, .targets = g->targets, .T = T, .seqs = n};
    int rc = check(g, T, n, err);
    if (rc)
        return rc;
    aim(g->targets, ids, T, n);
    memset(g->p->grad, 0, g->p->count * sizeof *g->p->grad);
    return attn_grad_add(g->grad, loss, &batch, err);
}

/* ---- what came of it ---- */

const float *attn_gradient_of(const struct attn_gradient *g, size_t tensor, size_t *count)
{
    *count = g->p->param[tensor].count;
    return g->p->grad + g->p->param[tensor].at;
}

double attn_gradient_norm(const struct attn_gradient *g)
{
    double sum = 0;
    for (size_t i = 0; i < g->p->count; i++)
        sum += (double)g->p->grad[i] * (double)g->p->grad[i];
    return sqrt(sum);
}

static int write_tensors(struct attn_out *out, const struct attn_params *p, struct attn_err *err)
{
    struct attn_st_tensor *t = calloc(p->n + 1, sizeof *t);
    if (!t)
        return attn_no_memory(err, NULL, "for a list of %zu tensors", p->n);
    attn_params_tensors(t, p, p->grad);
    int rc = attn_st_write(out, t, p->n, err);
    free(t);
    return rc;
}

int attn_gradient_save(const struct attn_gradient *g, const char *path, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_out_open(&out, path, err);
    return rc ? rc : attn_out_end(out, write_tensors(out, g->p, err), err);
}
