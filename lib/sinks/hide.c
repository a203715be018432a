#include "sinks/hide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "compute/mask.h"
#include "model/model.h"
#include "run/attend.h"
#include "text/whole_words.h"

bool attn_sink_hides(const struct attn_sink_job *job, int act)
{
    return (act == ATTN_ACT_PATTERN || act == ATTN_ACT_NORMS) && job->of && !job->cross && !job->gradient;
}

/* Takes away what a mask that is given hides. */
static void look_again(bool *seen, const struct attn_attend *a, size_t q, size_t keys)
{
    for (size_t j = 0; j < keys; j++)
        seen[j] = seen[j] && !attn_attend_hides(a, q, j);
}

/* The first token of a row or column: it may be a word. */
static size_t begins(const struct attn_words *w, size_t i) { return w ? w->first[i] : i; }

int attn_sink_hide(float *to, const struct attn_sink_job *job, int layer, const struct attn_window *part,
                   struct attn_err *err)
{
    const struct attn_weights *w = &job->of->w;
    struct attn_kind k = attn_kind_in(&job->attention, w->causal, w->block[layer].window);
    const struct attn_words *rows = job->rows, *keys = job->keys;
    size_t last = begins(rows, part->row0 + part->rows), all = begins(keys, part->keys),
    *list = calloc(2 * last + 1, sizeof *list);
    bool *seen = calloc(all + 1, sizeof *seen);
    bool room = list && seen;
    for (size_t i = 0; room && i < part->rows; i++) {
        memset(seen, 0, all * sizeof *seen);
        for (size_t q = begins(rows, part->row0 + i); q < begins(rows, part->row0 + i + 1); q++)
            attn_kind_mark(seen, list, list + last, &k, q, all);
        if (job->of->attend)
            look_again(seen, job->of->attend, part->row0 + i, all);
        for (size_t j = 0; j < part->cols; j++) {
            size_t from = begins(keys, part->col0 + j), to_key = begins(keys, part->col0 + j + 1);
            if (to[i * part->cols + j] == 0 && !memchr(seen + from, 1, to_key - from))
                to[i * part->cols + j] = -INFINITY;
        }
    }
    free(list);
    free(seen);
    return room ? ATTN_OK : attn_no_memory(err, NULL, "for the keys of %zu rows", part->rows);
}
