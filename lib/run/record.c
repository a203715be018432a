/* record.c - runs a model and records selected activations as a dump in memory. */
#include "attn_tools.h"

#include "base/err.h"
#include "io/dump.h"
#include "model/model.h"
#include "trace/select.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

struct record { struct attn_dump *dump; const struct attn_select *what; bool cross; };

static unsigned wants(void *self, int act, int layer)
{
    return attn_select_wants(((struct record *)self)->what, act, layer) ? ATTN_WATCH : 0;
}

/* Copies the list of the n selected heads into the dump; n 0: no head axis. */
static int copy_heads(struct attn_dumped *what, const size_t *kept, size_t n, struct attn_err *err)
{
    what->n_heads = n;
    what->heads = n ? calloc(n, sizeof *what->heads) : NULL;
    if (n && !what->heads)
        return attn_no_memory(err, NULL, "for the list of %zu heads", n);
    if (n)
        memcpy(what->heads, kept, n * sizeof *kept);
    return ATTN_OK;
}

/* Adds an array for the selected heads of an activation to the dump, all zeros. */
static int begin(struct record *r, const struct attn_probe *p, struct attn_err *err)
{
    size_t n_heads, n = 1;
    const size_t *kept = attn_select_heads(r->what, p->act, &n_heads);
    struct attn_dumped what = {.of.ndim = p->ndim};
    for (int i = 0; i < p->ndim; i++) {
        what.of.shape[i] = i == 0 && n_heads ? n_heads : p->shape[i];
        n *= what.of.shape[i];
    }
    what.of.n = n;
    what.of.data = calloc(n, sizeof *what.of.data);
    int rc = what.of.data ? copy_heads(&what, kept, n_heads, err)
                          : attn_no_memory(err, NULL, "to keep %zu numbers of %s: ask for less", n, p->name);
    if (rc) {
        free(what.of.data);
        return rc;
    }
    return attn_dump_add(r->dump, p->name, strlen(p->name), &what, err);
}

static void copy(const struct attn_dumped *to, size_t index, size_t head, const struct attn_probe *p)
{
    size_t T = p->shape[p->ndim - 2];
    for (size_t t = 0; t < p->rows; t++)
        memcpy(to->of.data + (index * T + p->row0 + t) * p->cols, p->data + (head - p->head0) * p->ld_head + t * p->ld,
               p->cols * sizeof(float));
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct record *r = self;
    if (!attn_trace_is_shown(p, r->cross))
        return ATTN_OK;
    const struct attn_dumped *to = attn_dump_find(r->dump, p->name);
    int rc = to ? ATTN_OK : begin(r, p, err);
    if (rc)
        return rc;
    to = attn_dump_find(r->dump, p->name);
    if (!to->n_heads)
        copy(to, 0, p->head0, p);
    for (size_t i = 0; i < to->n_heads; i++)
        if (to->heads[i] >= p->head0 && to->heads[i] < p->head0 + p->heads)
            copy(to, i, to->heads[i], p);
    return ATTN_OK;
}

static int keep_tokens(struct attn_dump *d, struct attn_dump_list *to, const struct attn_tokens *tokens, struct attn_err *err)
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
                  const struct attn_observer *other, struct attn_err *err)
{
    struct record r = {calloc(1, sizeof *r.dump), what, cross != NULL};
    struct attn_observer obs[2] = {{.wants = wants, .watch = watch, .self = &r}};
    size_t n = 1;
    if (other)
        obs[n++] = *other;
    *out = NULL;
    if (!r.dump)
        return attn_no_memory(err, NULL, "for a dump");
    r.dump->path = "what is kept of the run";
    int rc = keep_tokens(r.dump, &r.dump->tokens, tokens, err);
    if (!rc)
        rc = keep_tokens(r.dump, &r.dump->keys, cross, err);
    if (!rc)
        rc = attn_run_tokens(m, plan, tokens, cross, obs, n, err);
    if (rc)
        attn_dump_free(r.dump);
    else
        *out = r.dump;
    return rc;
}
