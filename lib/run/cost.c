/* cost.c - computes how much memory a run would take and how many bytes its output would have. */
#include "run/cost.h"

#include "model/model.h"
#include "trace/select.h"

enum { NPY_HEADER = 128, CSV_NUMBER = 12 };     /* bytes; most numbers in CSV have nine digits, a sign, a point and a comma */

static unsigned wants(void *self, int act, int layer)
{
    return attn_select_wants(self, act, layer) ? ATTN_WATCH : 0;
}

/* Adds one activation, which is one .npy file. */
static void add(struct attn_cost *out, const struct attn_select *s, const struct attn_info *info, int act, size_t T)
{
    size_t shape[3], heads;
    int n = attn_act_shape(shape, info, act, T, T);
    attn_select_heads(s, act, &heads);
    uint64_t numbers = heads ? heads : 1;
    for (int i = n - 2; i < n; i++)
        numbers *= shape[i];
    out->activations++;
    out->numbers += numbers;
}

int attn_cost_of(struct attn_cost *out, const struct attn_model *m, const struct attn_select *what, const struct attn_plan *p,
                 struct attn_err *err)
{
    struct attn_info info;
    struct attn_observer obs = {.wants = wants, .self = (void *)what};
    *out = (struct attn_cost){0};
    int rc = attn_run_measure(out, m, p, &obs, 1, err);
    if (rc)
        return rc;
    attn_model_info(m, &info);
    for (int act = 0; act < ATTN_ACTS; act++)
        for (size_t layer = 0; layer < (attn_act_per_layer(act) ? info.L : 1); layer++)
            if (attn_select_wants(what, act, attn_act_per_layer(act) ? (int)layer : -1))
                add(out, what, &info, act, p->rows);
    out->npy = out->activations * NPY_HEADER + out->numbers * sizeof(float);
    out->csv = out->numbers * CSV_NUMBER;
    return ATTN_OK;
}
