/* sentence.c - one sentence through a model, and beside it, in the same pass, another one that it looks at. */
#include "attn.h"

#include "base/err.h"
#include "model.h"

#include <stdlib.h>

static int check(const struct attn_model *m, const struct attn_tokens *t, const char *which, struct attn_err *err)
{
    if (!t->n)
        return attn_fail(err, ATTN_EFORMAT, "nothing to run: the %s has no tokens", which);
    if (t->n > m->w.n.n_ctx)
        return attn_fail(err, ATTN_EFORMAT, "the %s has %zu tokens, but model %s takes at most %zu (n_ctx): shorten it", which,
                         t->n, m->source.name, m->w.n.n_ctx);
    return ATTN_OK;
}

static void put_ids(int32_t *ids, const struct attn_tokens *t)
{
    for (size_t i = 0; i < t->n; i++)
        ids[i] = t->tok[i].id;
}

int attn_run_tokens(const struct attn_model *m, const struct attn_plan *how, const struct attn_tokens *tokens,
                    const struct attn_tokens *cross, const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    int rc = check(m, tokens, "text", err);
    if (!rc && cross)
        rc = check(m, cross, "other text, whose keys the first looks at,", err);
    if (rc)
        return rc;
    struct attn_run *run = NULL;
    struct attn_seq seq[] = {{.T = tokens->n, .keys = cross ? &seq[1] : NULL}, {.T = cross ? cross->n : 0}};
    struct attn_plan plan = *how;
    plan.rows = seq[0].T + seq[1].T;
    plan.seqs = cross ? 2 : 1;
    int32_t *ids = calloc(plan.rows + 1, sizeof *ids);
    if (!ids)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu tokens", plan.rows);
    put_ids(ids, tokens);
    if (cross)
        put_ids(ids + tokens->n, cross);
    rc = attn_run_new(&run, m, &plan, obs, n_obs, err);
    if (!rc)
        rc = attn_run_forward(run, ids, seq, plan.seqs, err);
    attn_run_free(run);
    free(ids);
    return rc;
}
