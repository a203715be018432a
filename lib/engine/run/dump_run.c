/* dump_run.c - runs a model and records selected activations as a dump in memory. */
#include "attn_tools.h"

#include "base/err.h"
#include "io/dump.h"
#include "run/masked.h"
#include "trace/slice.h"

#include <stdlib.h>
#include <string.h>

struct record {
    struct attn_dump *dump;
    const struct attn_select *what;
    struct attn_masking how;
    struct attn_array at[ATTN_ACTS];    /* in the dump, of the layer that runs: borrowed */
};

static unsigned wants(void *self, int act, int layer)
{
    return attn_select_wants(((struct record *)self)->what, act, layer) ? ATTN_WATCH | ATTN_DERIVE : 0;
}

/* Adds an array for the selected heads of an activation to the dump. */
static int begin(struct record *r, const struct attn_slice *p, struct attn_err *err)
{
    struct attn_dumped what = {.n_heads = p->n_kept};
    attn_masked_text(what.mask, &r->how, p->of->act, p->of->layer);
    what.of.ndim = attn_slice_shape(what.of.shape, p);
    what.of.n = p->matrices * p->T * p->cols;
    what.of.data = calloc(what.of.n, sizeof *what.of.data);
    what.of.f64 = p->f64 ? calloc(what.of.n, sizeof *what.of.f64) : NULL;
    r->at[p->of->act] = what.of;
    what.heads = p->n_kept ? calloc(p->n_kept, sizeof *what.heads) : NULL;
    if (!what.of.data || (p->f64 && !what.of.f64) || (p->n_kept && !what.heads)) {
        attn_dump_drop(&what);
        return attn_no_memory(err, NULL, "to keep %zu numbers of %s: ask for less", what.of.n, p->of->name);
    }
    if (p->n_kept)
        memcpy(what.heads, p->kept, p->n_kept * sizeof *what.heads);
    return attn_dump_add(r->dump, p->of->name, strlen(p->of->name), &what, err);
}

static int watch(void *self, const struct attn_probe *band, struct attn_err *err)
{
    struct record *r = self;
    struct attn_slice p;
    int rc = ATTN_OK;
    if (!attn_trace_is_shown(band, r->how.cross))
        return ATTN_OK;
    for (size_t at = 0; !rc && attn_slice_next(&p, r->what, band, &at);) {
        rc = attn_slice_opens(&p) ? begin(r, &p, err) : ATTN_OK;
        if (!rc)
            attn_slice_keep(r->at[band->act].data, r->at[band->act].f64, &p);
    }
    return rc;
}

static int keep_tokens(struct attn_dump *d, struct attn_dump_list *to, const struct attn_tokens *tokens,
                       struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; tokens && i < tokens->n && !rc; i++) {
        const struct attn_token *t = &tokens->tok[i];
        rc = attn_dump_add_token(d, to, t->id, t->known ? t->text : NULL, t->text_len, err);
    }
    return rc;
}

int attn_dump_run(struct attn_dump **out, const struct attn_model *m, const struct attn_tokens *tokens,
                  const struct attn_tokens *cross, const struct attn_select *what, const struct attn_plan *plan,
                  const struct attn_observer *observer, struct attn_err *err)
{
    return attn_dump_run_with(out, m, tokens, cross, what, plan, observer, observer != NULL, err);
}

int attn_dump_run_with(struct attn_dump **out, const struct attn_model *m, const struct attn_tokens *tokens,
                       const struct attn_tokens *cross, const struct attn_select *what, const struct attn_plan *plan,
                       const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    struct record r = {.dump = calloc(1, sizeof *r.dump), .what = what,
                       .how = {.of = m, .kind = plan->kind, .cross = cross != NULL}};
    struct attn_observer *all = calloc(n_obs + 1, sizeof *all);
    int rc = r.dump && all ? ATTN_OK : attn_no_memory(err, NULL, "for a dump");
    *out = NULL;
    if (!rc) {
        if (n_obs)
            memcpy(all, obs, n_obs * sizeof *all);
        all[n_obs] = (struct attn_observer){.wants = wants, .watch = watch, .self = &r};
        r.dump->path = "what is kept of the run";
        rc = keep_tokens(r.dump, &r.dump->tokens, tokens, err);
    }
    if (!rc)
        rc = keep_tokens(r.dump, &r.dump->keys, cross, err);
    if (!rc)
        rc = attn_run_tokens(m, plan, tokens, cross, all, n_obs + 1, err);
    free(all);
    if (rc)
        attn_dump_free(r.dump);
    else
        *out = r.dump;
    return rc;
}
