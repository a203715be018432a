/* whole.c - keeps whole activations of a sentence. */
#include "ask/whole.h"

#include <stdlib.h>

#include "base/err.h"
#include "model/model.h"

float *attn_whole_at(const struct attn_whole *h, int act, int layer)
{
    return h->data[attn_act_slot(act, layer)];
}

size_t attn_whole_count(const struct attn_whole *h, int act)
{
    size_t shape[3], n = 1;
    for (int i = attn_act_shape(shape, &h->info, act, h->T, h->T); i-- > 0;)
        n *= shape[i];
    return n;
}

int attn_whole_make(struct attn_whole *h, const struct attn_model *m, const struct attn_kind *kind,
                    const struct attn_select *what,
                    size_t T, struct attn_err *err)
{
    *h = (struct attn_whole){.hooks = attn_model_hook_points(m, kind), .T = T};
    attn_model_info(m, &h->info);
    h->data = calloc(attn_act_slots(h->info.L), sizeof *h->data);
    if (!h->data)
        return attn_no_memory(err, NULL, "for activations of %zu layers", h->info.L);
    for (int layer = -1; layer < (int)h->info.L; layer++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            size_t n = attn_whole_count(h, act);
            if (attn_act_per_layer(act) != (layer >= 0) || !h->hooks.has[act] || !attn_select_wants(what, act, layer))
                continue;
            if (!(h->data[attn_act_slot(act, layer)] = calloc(n + 1, sizeof(float)))) {
                attn_whole_free(h);
                return attn_no_memory(err, NULL, "to keep %zu numbers of %s: ask for less", n, attn_act_tail(act));
            }
        }
    return ATTN_OK;
}

void attn_whole_free(struct attn_whole *h)
{
    for (size_t i = 0; h->data && i < attn_act_slots(h->info.L); i++)
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
