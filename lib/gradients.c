/* gradients.c - the loss of a model on one text, and its gradient as a file of tensors. */
#include "attn.h"

#include "base/err.h"
#include "base/out.h"
#include "train/grad.h"

#include <math.h>
#include <stdlib.h>

/* ---- the file ---- */

static int write_tensors(struct attn_out *out, const struct attn_params *p, struct attn_err *err)
{
    struct attn_st_tensor *t = calloc(p->n + 1, sizeof *t);
    if (!t)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for a list of %zu tensors", p->n);
    attn_params_tensors(t, p, p->grad);
    int rc = attn_st_write(out, t, p->n, err);
    free(t);
    return rc;
}

static int save(const char *path, const struct attn_params *p, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_out_open(&out, path, err);
    if (!rc)
        rc = write_tensors(out, p, err);
    if (!rc)
        rc = attn_out_commit(out, err);
    attn_out_close(out);
    return rc;
}

/* ---- the numbers ---- */

static double norm_of(const struct attn_params *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += (double)p->grad[i] * (double)p->grad[i];
    return sqrt(sum);
}

/* Each token should predict the next; the last one nothing. */
static int differentiate(double *loss, struct attn_params *p, const int32_t *ids, size_t n, int threads, struct attn_err *err)
{
    struct attn_grad *g = NULL;
    struct attn_grad_plan plan = {.threads = threads, .rows = n, .longest = n};
    int32_t *targets = malloc((n + 1) * sizeof *targets);
    if (!targets)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for %zu tokens", n);
    for (size_t i = 0; i < n; i++)
        targets[i] = i + 1 < n ? ids[i + 1] : -1;
    struct attn_grad_batch batch = {.ids = ids, .targets = targets, .T = &n, .sentences = 1};
    int rc = attn_grad_new(&g, p, &plan, err);
    if (!rc)
        rc = attn_grad_add(g, loss, &batch, err);
    attn_grad_free(g);
    free(targets);
    return rc;
}

static int check(const struct attn_model *m, size_t n, struct attn_err *err)
{
    if (n < 2)
        return attn_fail(err, ATTN_EFORMAT, "the text has %zu token%s, expected at least 2: a loss is how well tokens predict "
                         "those after them", n, n ? "" : "s");
    if (n > m->w.n.n_ctx)
        return attn_fail(err, ATTN_EFORMAT, "the text has %zu tokens, but model %s takes at most %zu (n_ctx): shorten it", n,
                         m->source.name, m->w.n.n_ctx);
    return ATTN_OK;
}

int attn_gradients(struct attn_gradients *out, const char *path, const struct attn_model *m, const int32_t *ids, size_t n,
                   int threads, struct attn_err *err)
{
    struct attn_params *p = NULL;
    *out = (struct attn_gradients){0};
    int rc = check(m, n, err);
    if (!rc)
        rc = attn_params_new(&p, m, err);
    if (!rc)
        rc = differentiate(&out->loss, p, ids, n, threads, err);
    if (!rc) {
        out->tensors = p->n;
        out->norm = norm_of(p);
        rc = save(path, p, err);
    }
    attn_params_free(p);
    return rc;
}
