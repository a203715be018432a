#include "sinks/plot_mask.h"

#include <math.h>
#include <string.h>

static int by_kind(struct attn_album *a, struct attn_sheet *s, const struct attn_kind *k,
                   const struct attn_words *rows, const struct attn_words *keys, struct attn_err *err)
{
    const struct attn_window all = {.rows = s->rows, .cols = s->cols, .keys = s->cols, .row_words = rows,
                                    .key_words = keys};
    unsigned char *hidden;
    int rc = attn_album_mask(a, &hidden, s->rows * s->cols, err);
    if (!rc)
        rc = attn_hide_kind(hidden, k, &all, err);
    s->mask = rc ? NULL : hidden;
    return rc;
}

static bool same_heads(const struct attn_dumped *a, const struct attn_dumped *b)
{
    bool same = a->n_heads == b->n_heads;
    for (size_t i = 0; i < a->n_heads && same; i++)
        same = a->heads[i] == b->heads[i];
    return same && a->of.ndim == b->of.ndim &&
           !memcmp(a->of.shape, b->of.shape, (size_t)a->of.ndim * sizeof *a->of.shape);
}

/* The scores of a layer's weights; NULL: there are none of the same heads. */
static const struct attn_dumped *scores_of(const struct attn_dump *d, const struct attn_dumped *what, int act,
                                           int layer)
{
    char name[ATTN_NAME_MAX];
    if (act != ATTN_ACT_SCORES && act != ATTN_ACT_PATTERN && act != ATTN_ACT_NORMS)
        return NULL;
    attn_act_name(name, ATTN_ACT_SCORES, layer);
    const struct attn_dumped *scores = attn_dump_item(d, name);
    return scores && same_heads(scores, what) ? scores : NULL;
}

static int by_scores(struct attn_album *a, struct attn_sheet *s, const float *scores, const size_t *at,
                     struct attn_err *err)
{
    unsigned char *hidden;
    size_t size = s->rows * s->cols;
    int rc = attn_album_mask(a, &hidden, s->n * size, err);
    for (size_t i = 0; i < s->n * size && !rc; i++)
        hidden[i] = scores[(s->heads ? at[i / size] : 0) * size + i % size] == -INFINITY;
    s->mask = rc ? NULL : hidden;
    s->masks = true;
    return rc;
}

int attn_plot_mask(struct attn_album *a, struct attn_sheet *s, const struct attn_dump *d,
                   const struct attn_dumped *what, const size_t *at, const struct attn_words *rows,
                   const struct attn_words *keys, struct attn_err *err)
{
    struct attn_kind kind = {0};
    struct attn_err no_kind = {0};
    int layer, act = attn_act_find(what->name, &layer);
    if (act < 0 || !attn_act_square(act))
        return ATTN_OK;
    if (*what->mask && !attn_kind_parse(&kind, what->mask, &no_kind))
        return by_kind(a, s, &kind, rows, keys, err);
    const struct attn_dumped *scores = d->steps || rows ? NULL : scores_of(d, what, act, layer);
    return scores ? by_scores(a, s, scores->of.data, at, err) : ATTN_OK;
}

void attn_plot_unmask_nan(float *data, const struct attn_sheet *s)
{
    size_t size = s->rows * s->cols;
    for (size_t i = 0; i < s->n * size; i++)
        if (isnan(data[i]) && s->mask[s->masks ? i : i % size])
            data[i] = -INFINITY;
}
