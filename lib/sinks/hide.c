#include "sinks/hide.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "compute/kind.h"
#include "model/model.h"

bool attn_sink_hides(const struct attn_sink_job *job, int act)
{
    return (act == ATTN_ACT_PATTERN || act == ATTN_ACT_NORMS) && job->of && !job->cross && !job->gradient;
}

/* Fills seen[keys] for query q; list and swaps have room for q + 1 numbers. */
static void look(bool *seen, size_t *list, size_t *swaps, const struct attn_kind *k, size_t q, size_t keys)
{
    struct attn_range r = attn_kind_bounds(k, q, keys);
    bool picks = attn_kind_picks(k);
    size_t n = picks ? attn_kind_pick(list, swaps, k, q, keys) : 0;
    for (size_t j = 0; j < keys; j++)
        seen[j] = !picks && j >= r.lo && j < r.hi;
    for (size_t j = 0; j < n; j++)
        seen[list[j]] = true;
}

int attn_sink_hide(float *to, const struct attn_sink_job *job, int layer, const struct attn_window *part, struct attn_err *err)
{
    const struct attn_weights *w = &job->of->w;
    struct attn_kind k = attn_kind_in(&job->attention, w->causal, w->block[layer].window);
    size_t last = part->row0 + part->rows, *list = calloc(2 * last + 1, sizeof *list);
    bool *seen = calloc(part->keys + 1, sizeof *seen);
    bool room = list && seen;
    for (size_t i = 0; room && i < part->rows; i++) {
        look(seen, list, list + last, &k, part->row0 + i, part->keys);
        for (size_t j = 0; j < part->cols; j++)
            if (!seen[part->col0 + j] && to[i * part->cols + j] == 0)
                to[i * part->cols + j] = -INFINITY;
    }
    free(list);
    free(seen);
    return room ? ATTN_OK : attn_no_memory(err, NULL, "for the keys of %zu rows", part->rows);
}
