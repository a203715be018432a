/* sentence.c - runs one sentence and, in the same pass, another one that it looks at in cross-attention. */
#include "attn.h"

#include "base/err.h"
#include "model/model.h"

#include <stdlib.h>

static int check_length(const struct attn_model *m, const struct attn_tokens *t, const char *which, struct attn_err *err)
{
    if (!t->n)
        return attn_fail(err, ATTN_EFORMAT, "nothing to run: the %s has no tokens", which);
    if (t->n > m->w.n.n_ctx)
        return attn_fail(err, ATTN_EFORMAT, "the %s has %zu tokens, but model %s takes at most %zu (n_ctx): shorten it", which,
                         t->n, m->source.name, m->w.n.n_ctx);
    return ATTN_OK;
}

static int check_lengths(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_tokens *cross,
                         struct attn_err *err)
{
    int rc = check_length(m, tokens, "text", err);
    return rc || !cross ? rc : check_length(m, cross, "other text, whose keys the first looks at,", err);
}

/* The ids of both sentences, one after the other; NULL: no memory. */
static int32_t *ids_of(const struct attn_tokens *tokens, const struct attn_tokens *cross, struct attn_err *err)
{
    size_t n = tokens->n + (cross ? cross->n : 0);
    int32_t *ids = calloc(n + 1, sizeof *ids);
    if (!ids)
        attn_fail(err, ATTN_ENOMEM, "no memory for %zu tokens", n);
    for (size_t i = 0; ids && i < n; i++)
        ids[i] = i < tokens->n ? tokens->tok[i].id : cross->tok[i - tokens->n].id;
    return ids;
}

int attn_run_check_tokens(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_tokens *cross,
                          struct attn_err *err)
{
    int rc = check_lengths(m, tokens, cross, err);
    int32_t *ids = rc ? NULL : ids_of(tokens, cross, err);
    if (!rc)
        rc = ids ? attn_model_check_ids(m, ids, tokens->n, err) : ATTN_ENOMEM;
    if (!rc && cross)
        rc = attn_model_check_ids(m, ids + tokens->n, cross->n, err);
    free(ids);
    return rc;
}

int attn_run_tokens(const struct attn_model *m, const struct attn_plan *how, const struct attn_tokens *tokens,
                    const struct attn_tokens *cross, const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    int rc = check_lengths(m, tokens, cross, err);
    int32_t *ids = rc ? NULL : ids_of(tokens, cross, err);
    if (rc || !ids)
        return rc ? rc : ATTN_ENOMEM;
    struct attn_run *run = NULL;
    struct attn_seq seq[] = {{.T = tokens->n, .keys = cross ? &seq[1] : NULL}, {.T = cross ? cross->n : 0}};
    struct attn_plan plan = *how;
    plan.rows = seq[0].T + seq[1].T;
    plan.seqs = cross ? 2 : 1;
    rc = attn_run_new(&run, m, &plan, obs, n_obs, err);
    if (!rc)
        rc = attn_run_forward(run, ids, seq, plan.seqs, err);
    attn_run_free(run);
    free(ids);
    return rc;
}
