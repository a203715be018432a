#include "sinks/hide.h"

#include <stdlib.h>
#include <string.h>

#include "attend/attend.h"
#include "base/err.h"
#include "compute/mask.h"
#include "model/model.h"
#include "text/whole_words.h"

struct attn_masking attn_sink_masking(const struct attn_sink_job *job)
{
    return (struct attn_masking){job->of, job->attention, job->cross != NULL, job->gradient != NULL};
}

const char *attn_sink_masked_text(char text[ATTN_KIND_TEXT], const struct attn_sink_job *job, int act, int layer)
{
    const struct attn_masking m = attn_sink_masking(job);
    attn_masked_text(text, &m, act, layer);
    bool of_any = !strcmp(text, "causal") || !strcmp(text, "full");
    if (job->rows && !of_any)           /* other kinds count tokens, which are merged into words */
        *text = '\0';
    return text;
}

/* The first token of a row or column: it may be a word. */
static size_t begins(const struct attn_words *w, size_t i) { return w ? w->first[i] : i; }

int attn_hide_kind(unsigned char *hidden, const struct attn_kind *k, const struct attn_window *part,
                   struct attn_err *err)
{
    const struct attn_words *rows = part->row_words, *keys = part->key_words;
    size_t last = begins(rows, part->row0 + part->rows), all = begins(keys, part->keys),
    *list = calloc(2 * last + 1, sizeof *list);
    bool *seen = calloc(all + 1, sizeof *seen);
    bool room = list && seen;
    for (size_t i = 0; room && i < part->rows; i++) {
        memset(seen, 0, all * sizeof *seen);
        for (size_t q = begins(rows, part->row0 + i); q < begins(rows, part->row0 + i + 1); q++)
            attn_kind_mark(seen, list, list + last, k, q, all);
        for (size_t j = 0; j < part->cols; j++) {
            size_t from = begins(keys, part->col0 + j), to = begins(keys, part->col0 + j + 1);
            hidden[i * part->cols + j] = !memchr(seen + from, 1, to - from);
        }
    }
    free(list);
    free(seen);
    return room ? ATTN_OK : attn_no_memory(err, NULL, "for the keys of %zu rows", part->rows);
}

/* What a mask that is given hides besides: heads may have different ones. */
static void hide_given(unsigned char *hidden, const struct attn_attend *a, size_t head, const struct attn_window *part)
{
    for (size_t i = 0; i < part->rows; i++)
        for (size_t j = 0; j < part->cols; j++)
            hidden[i * part->cols + j] |= attn_attend_hides(a, head, part->row0 + i, part->col0 + j);
}

int attn_sink_mask(struct attn_album *a, struct attn_sheet *s, const struct attn_sink_job *job, int act,
                   const struct attn_window *part, struct attn_err *err)
{
    const struct attn_attend *given = act == ATTN_ACT_ROLLOUT ? NULL : job->of->attend;
    const struct attn_masking m = attn_sink_masking(job);
    const struct attn_kind k = attn_masked_by(&m, act, s->layer);
    size_t cells = s->rows * s->cols, n = given ? s->n : 1;
    unsigned char *hidden;
    int rc = attn_album_mask(a, &hidden, n * cells, err);
    for (size_t i = 0; i < n && !rc; i++) {
        rc = attn_hide_kind(hidden + i * cells, &k, part, err);
        if (!rc && given)
            hide_given(hidden + i * cells, given, s->heads ? s->heads[i] : 0, part);
    }
    s->mask = rc ? NULL : hidden;
    s->masks = n > 1;
    return rc;
}
