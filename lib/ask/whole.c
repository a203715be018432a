/* whole.c - keeps whole activations of a sentence, and shows them as a run would. */
#include "ask/whole.h"

#include <stdlib.h>

#include "base/err.h"
#include "model/model.h"

static size_t slot(int act, int layer)
{
    return (size_t)(layer + 1) * ATTN_ACTS + (size_t)act;
}

float *attn_whole_at(const struct attn_whole *h, int act, int layer)
{
    return h->data[slot(act, layer)];
}

size_t attn_whole_count(const struct attn_whole *h, int act)
{
    size_t shape[3], n = 1;
    for (int i = attn_act_shape(shape, &h->info, act, h->T, h->T); i-- > 0;)
        n *= shape[i];
    return n;
}

int attn_whole_make(struct attn_whole *h, const struct attn_model *m, const struct attn_kind *kind, const struct attn_select *what,
                   size_t T, struct attn_err *err)
{
    *h = (struct attn_whole){.stage = attn_model_stage(m, kind), .T = T};
    attn_model_info(m, &h->info);
    h->data = calloc((h->info.L + 1) * ATTN_ACTS, sizeof *h->data);
    if (!h->data)
        return attn_no_memory(err, NULL, "for activations of %zu layers", h->info.L);
    for (int layer = -1; layer < (int)h->info.L; layer++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            size_t n = attn_whole_count(h, act);
            if (attn_act_per_layer(act) != (layer >= 0) || !h->stage.has[act] || !attn_select_wants(what, act, layer))
                continue;
            if (!(h->data[slot(act, layer)] = calloc(n + 1, sizeof(float)))) {
                attn_whole_free(h);
                return attn_no_memory(err, NULL, "to keep %zu numbers of %s: ask for less", n, attn_act_tail(act));
            }
        }
    return ATTN_OK;
}

void attn_whole_free(struct attn_whole *h)
{
    for (size_t i = 0; h->data && i < (h->info.L + 1) * ATTN_ACTS; i++)
        free(h->data[i]);
    free(h->data);
    h->data = NULL;
}

/* ---- from a run ---- */

static unsigned wants(void *self, int act, int layer)
{
    return attn_whole_at(self, act, layer) ? ATTN_WATCH | (attn_act_derived(act) ? ATTN_DERIVE : 0) : 0;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    if (p->seq == 0)
        attn_probe_copy(attn_whole_at(self, p->act, p->layer), p);
    return ATTN_OK;
}

struct attn_observer attn_whole_observer(struct attn_whole *h)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = h};
}

/* ---- to an observer ---- */

static int show(const struct attn_whole *h, int act, int layer, const struct attn_observer *to, struct attn_err *err)
{
    char name[ATTN_NAME_MAX];
    const float *data = attn_whole_at(h, act, layer);
    struct attn_probe p = {.name = name, .act = act, .layer = layer, .data = data, .heads = 1};
    if (!data || !(to->wants(to->self, act, layer) & ATTN_WATCH))
        return ATTN_OK;
    attn_act_name(name, act, layer);
    p.ndim = attn_act_shape(p.shape, &h->info, act, h->T, h->T);
    p.rows = p.shape[p.ndim - 2];
    p.cols = p.ld = p.shape[p.ndim - 1];
    p.ld_head = p.rows * p.cols;
    if (p.ndim == 3)
        p.heads = p.shape[0];
    return to->watch(to->self, &p, err);
}

int attn_whole_show(const struct attn_whole *h, const struct attn_observer *to, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (int act = 0; act < ATTN_ACT_RESID_PRE && !rc; act++)
        rc = show(h, act, -1, to, err);
    for (int layer = 0; layer < (int)h->info.L && !rc; layer++)
        for (int act = 0; act < ATTN_ACTS && !rc; act++)
            if (attn_act_per_layer(act))
                rc = show(h, act, layer, to, err);
    for (int act = ATTN_ACT_RESID_PRE; act < ATTN_ACTS && !rc; act++)
        if (!attn_act_per_layer(act))
            rc = show(h, act, -1, to, err);
    return rc;
}
