#include "gradient/wild.h"

#include "base/err.h"
#include "trace/names.h"

#include <math.h>

/* The sentence that row i of the group belongs to. */
static const struct attn_stretch *text_of(const struct attn_work *t, size_t row)
{
    size_t i = 0;
    while (i + 1 < t->texts && t->text[i + 1].row <= row)
        i++;
    return &t->text[i];
}

static const char *what(float x)
{
    return isnan(x) ? "NaN" : x > 0 ? "inf" : "-inf";
}

/* Reports the first number of data[rows, cols] that is not finite; data NULL: the model has no such activation. */
static int look(const struct attn_work *t, const float *data, size_t cols, int act, int layer, struct attn_err *err)
{
    char name[ATTN_NAME_MAX];
    for (size_t i = 0; data && i < t->rows; i++)
        for (size_t j = 0; j < cols; j++) {
            if (isfinite(data[i * cols + j]))
                continue;
            const struct attn_stretch *s = text_of(t, i);
            attn_act_name(name, act, layer);
            return attn_fail(err, ATTN_EFORMAT, "the loss is not finite: %s holds %s at token %zu of sentence %zu, column "
                             "%zu", name, what(data[i * cols + j]), i - s->row, t->first_text + (size_t)(s - t->text), j);
        }
    return ATTN_OK;
}

static int look_in_layer(const struct attn_work *t, size_t layer, struct attn_err *err)
{
    const struct attn_dims *n = &t->w->n;
    const struct attn_kept *k = &t->layer[layer];
    bool mlp = t->w->mlp != ATTN_NO_MLP;
    const struct { const float *data; size_t cols; int act; } kept[] = {
        {k->x, n->d, ATTN_ACT_RESID_PRE}, {k->q, n->H * n->dh, ATTN_ACT_Q}, {k->k, n->Hkv * n->dh, ATTN_ACT_K},
        {k->v, n->Hkv * n->dv, ATTN_ACT_V}, {k->context, n->H * n->dv, ATTN_ACT_CONTEXT},
        {mlp ? k->mid : NULL, n->d, ATTN_ACT_RESID_MID}, {mlp ? k->pre : NULL, n->m, ATTN_ACT_MLP_PRE},
        {t->w->mlp == ATTN_SWIGLU ? k->linear : NULL, n->m, ATTN_ACT_MLP_LINEAR}};
    int rc = ATTN_OK;
    for (size_t i = 0; i < sizeof kept / sizeof *kept && !rc; i++)
        rc = look(t, kept[i].data, kept[i].cols, kept[i].act, (int)layer, err);
    return rc;
}

int attn_work_wild(const struct attn_work *t, struct attn_err *err)
{
    size_t L = t->w->n.L;
    int rc = ATTN_OK;
    for (size_t layer = 0; layer < L && !rc; layer++)
        rc = look_in_layer(t, layer, err);
    if (!rc)
        rc = L ? look(t, t->layer[L].x, t->w->n.d, ATTN_ACT_RESID_POST, (int)L - 1, err)
               : look(t, t->layer[0].x, t->w->n.d, ATTN_ACT_EMBED, -1, err);
    for (size_t i = 0; i < t->rows && !rc; i++)
        if (!isfinite(t->loss[i])) {
            const struct attn_stretch *s = text_of(t, i);
            rc = attn_fail(err, ATTN_EFORMAT, "the loss is not finite: it is %s for token %zu of sentence %zu, though all "
                           "before the logits is finite", what((float)t->loss[i]), i - s->row,
                           t->first_text + (size_t)(s - t->text));
        }
    return rc;
}
