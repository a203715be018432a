/* compare.c - what edits did to the next token: the last row of logits of an unedited run and of the edited one. */
#include "ask/metric.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

struct side { float *logits; size_t V; bool seen; };                /* [V] */
struct attn_compare { struct side before, after; };

static unsigned wants(void *self, int act, int layer)
{
    (void)self;
    (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH | ATTN_LAST : 0;
}

/* Of several passes, as over the windows of a long text, the last one counts. */
static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct side *s = self;
    (void)err;
    if (p->seq > 0 || p->row0 + p->rows < p->shape[0])
        return ATTN_OK;
    memcpy(s->logits, p->data + (p->rows - 1) * p->ld, s->V * sizeof *s->logits);
    s->seen = true;
    return ATTN_OK;
}

int attn_compare_new(struct attn_compare **out, const struct attn_model *m, struct attn_err *err)
{
    struct attn_info info;
    attn_model_info(m, &info);
    struct attn_compare *c = *out = calloc(1, sizeof *c);
    if (!c)
        return attn_no_memory(err, NULL, "for a comparison");
    c->before.V = c->after.V = info.V;
    c->before.logits = calloc(info.V + 1, sizeof *c->before.logits);
    c->after.logits = calloc(info.V + 1, sizeof *c->after.logits);
    if (c->before.logits && c->after.logits)
        return ATTN_OK;
    attn_compare_free(c);
    *out = NULL;
    return attn_no_memory(err, NULL, "for %zu logits", info.V);
}

void attn_compare_free(struct attn_compare *c)
{
    if (!c)
        return;
    free(c->before.logits);
    free(c->after.logits);
    free(c);
}

struct attn_observer attn_compare_before(struct attn_compare *c)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = &c->before};
}

struct attn_observer attn_compare_after(struct attn_compare *c)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = &c->after};
}

int attn_compare_result(const struct attn_compare *c, struct attn_compared *out, struct attn_err *err)
{
    *out = (struct attn_compared){0};
    if (!c->before.seen || !c->after.seen)
        return attn_fail(err, ATTN_EUSAGE, "a comparison needs the logits of both runs");
    int rc = attn_logits_top(out->before, &out->n_before, ATTN_COMPARED, c->before.logits, c->before.V, err);
    if (!rc)
        rc = attn_logits_top(out->after, &out->n_after, ATTN_COMPARED, c->after.logits, c->after.V, err);
    struct attn_metric kl = {.form = ATTN_METRIC_KL, .T = 1, .V = c->before.V, .reference = c->before.logits};
    if (!rc)
        out->kl = attn_metric_part(&kl, 0, c->after.logits);
    return rc;
}
