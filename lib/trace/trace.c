#include "trace/trace.h"

#include "base/err.h"

size_t attn_trace_size(size_t L)
{
    return (L + 1) * ATTN_ACTS * sizeof(unsigned);      /* no overflow: there is memory for L blocks, which are larger */
}

static unsigned *flags_of(const struct attn_trace *t, size_t observer, int act, int layer)
{
    size_t row = layer < 0 ? t->L : (size_t)layer;
    return &t->want[(observer * (t->L + 1) + row) * ATTN_ACTS + (size_t)act];
}

void attn_trace_ask(struct attn_trace *t, const struct attn_stage *stage)
{
    for (size_t i = 0; i < t->n_obs; i++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            int first = attn_act_per_layer(act) ? 0 : -1;
            int end = attn_act_per_layer(act) ? (int)t->L : 0;
            for (int layer = first; layer < end; layer++)
                *flags_of(t, i, act, layer) = stage->has[act] && t->obs[i].wants
                                            ? t->obs[i].wants(t->obs[i].self, act, layer) : 0;
        }
}

bool attn_trace_wants(const struct attn_trace *t, int act, int layer, unsigned flags)
{
    for (size_t i = 0; i < t->n_obs; i++)
        if (*flags_of(t, i, act, layer) & flags)
            return true;
    return false;
}

bool attn_trace_wants_all(const struct attn_trace *t, int act, int layer)
{
    for (size_t i = 0; i < t->n_obs; i++) {
        unsigned flags = *flags_of(t, i, act, layer);
        if ((flags & (ATTN_WATCH | ATTN_EDIT)) && !(flags & ATTN_LAST))
            return true;
    }
    return false;
}

bool attn_trace_is_shown(const struct attn_probe *p, bool cross)
{
    return !cross || p->seq == (attn_act_kv(p->act) ? 1 : 0);
}

/* An observer that fails without saying why still ends the run. */
static bool failed(struct attn_trace *t, int status)
{
    if (status && !t->err.code)
        attn_fail(&t->err, ATTN_EIO, "an observer failed without a message");
    return status != 0;
}

void attn_trace_announce(struct attn_trace *t, const struct attn_probe *band, float *data)
{
    char name[ATTN_NAME_MAX];
    struct attn_probe p = *band;
    if (t->err.code || !attn_trace_wants(t, p.act, p.layer, ATTN_WATCH | ATTN_EDIT))
        return;
    attn_act_name(name, p.act, p.layer);
    p.name = name;
    p.data = data;
    for (size_t i = 0; i < t->n_obs; i++) {
        const struct attn_observer *o = &t->obs[i];
        if (o->edit && (*flags_of(t, i, p.act, p.layer) & ATTN_EDIT) && failed(t, o->edit(o->self, &p, data, &t->err)))
            return;
    }
    for (size_t i = 0; i < t->n_obs; i++) {
        const struct attn_observer *o = &t->obs[i];
        if (o->watch && (*flags_of(t, i, p.act, p.layer) & ATTN_WATCH) && failed(t, o->watch(o->self, &p, &t->err)))
            return;
    }
}
