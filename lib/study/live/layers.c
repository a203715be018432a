/* layers.c - what each layer of the last run would predict: the final norm and the output layer, of what it gives. */
#include "live/talk.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct lens { struct attn_talk *t; size_t layer, first; };

static unsigned lens_wants(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH : 0;
}

static struct attn_lens_row *lens_row(struct attn_last *l, size_t layer, size_t row)
{
    return &l->lens[layer * l->lens_room + row];
}

static int lens_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    const struct lens *s = self;
    (void)err;
    for (size_t i = 0; i < p->rows; i++) {
        struct attn_lens_row *to = lens_row(&s->t->last, s->layer, s->first + p->row0 + i);
        if (attn_logits_top(to->best, &to->n, ATTN_COMPARED, p->data + i * p->ld, p->cols, NULL))
            to->n = 0;
    }
    return ATTN_OK;
}

/* Rows that are known stay. */
static int lens_room(struct attn_talk *t, struct attn_err *err)
{
    struct attn_last *l = &t->last;
    const size_t T = l->plain->T, room = T + T / 2;
    if (T <= l->lens_room)
        return ATTN_OK;
    struct attn_lens_row *more = calloc(t->info.L * room + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for the likeliest tokens at %zu positions", T);
    for (size_t layer = 0; layer < t->info.L && l->lens_rows; layer++)
        memcpy(&more[layer * room], lens_row(l, layer, 0), l->lens_rows * sizeof *more);
    free(l->lens);
    l->lens = more;
    l->lens_room = room;
    return ATTN_OK;
}

static int lens_layers(struct attn_talk *t, struct lens *s, struct attn_run *run, struct attn_err *err)
{
    const struct attn_last *l = &t->last;
    const struct attn_seq seq = {.T = l->plain->T - s->first};
    int rc = ATTN_OK;
    for (s->layer = 0; s->layer < t->info.L && !rc; s->layer++) {
        const float *x = attn_last_at(l, ATTN_ACT_RESID_POST, (int)s->layer) + s->first * t->model->w.n.width;
        rc = attn_run_restart(run, t->info.L, &x, &seq, 1, err);
    }
    return rc;
}

static int find_lens(struct attn_talk *t, struct attn_err *err)
{
    struct attn_last *l = &t->last;
    struct lens s = {.t = t, .first = l->lens_rows};
    const struct attn_observer observer = {.wants = lens_wants, .watch = lens_watch, .self = &s};
    struct attn_plan plan = l->plan;
    struct attn_run *run = NULL;
    plan.rows = l->plain->T - s.first;
    plan.seqs = 1;
    if (s.first == l->plain->T)
        return ATTN_OK;
    int rc = lens_room(t, err);
    if (!rc)
        rc = attn_run_new(&run, t->model, &plan, &observer, 1, err);
    if (!rc)
        rc = lens_layers(t, &s, run, err);
    attn_run_free(run);
    l->lens_rows = rc ? 0 : l->plain->T;
    return rc;
}

int attn_live_lens(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    (void)q;
    int rc = attn_last_check(t, err);
    if (!rc && !t->info.unembed)
        rc = attn_fail(err, ATTN_EFORMAT, "model '%s' has no output layer: there is nothing to look through",
                       t->info.name);
    if (!rc)
        rc = find_lens(t, err);
    attn_out_str(o, "\"lens\":[");
    for (size_t layer = 0; layer < t->info.L && !rc; layer++) {
        attn_out_printf(o, "%s{\"layer\":%zu,\"at\":[", layer ? "," : "", layer);
        for (size_t row = 0; row < t->last.plain->T; row++) {
            const struct attn_lens_row *r = lens_row(&t->last, layer, row);
            attn_out_str(o, row ? "," : "");
            attn_live_put_likely(o, t, r->best, r->n);
        }
        attn_out_str(o, "]}");
    }
    attn_out_char(o, ']');
    return rc;
}
