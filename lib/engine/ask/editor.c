/* editor.c - an observer that edits: finds the rows and cells of each band that the edits of that activation change. */
#include "ask/editor.h"

#include "base/err.h"
#include "base/grow.h"
#include "base/size.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which edits an activation has ---- */

/* Lists the reaches of each activation, in the order of the edits. */
static int sort_reaches(struct attn_editor *e, struct attn_err *err)
{
    size_t slots = attn_act_slots(e->venue.info.L), n = 0;
    for (size_t i = 0; i < e->reaches.n; i++)
        n += attn_ranges_count(&e->reaches.item[i].layers);
    e->first = calloc(slots + 2, sizeof *e->first);
    e->order = calloc(n + 1, sizeof *e->order);
    if (!e->first || !e->order)
        return attn_no_memory(err, NULL, "for %zu edits", e->reaches.n);
    for (int fill = 0; fill < 2; fill++) {                  /* first counts, then fills; first[s + 1] moves from begin
                                                             * to end of s */
        for (size_t i = 0; i < e->reaches.n; i++) {
            const struct attn_edit_reach *r = &e->reaches.item[i];
            for (size_t k = 0; k < r->layers.n; k++)
                for (size_t row = r->layers.r[k].lo; row < r->layers.r[k].hi; row++) {
                    size_t s = attn_act_slot(r->act, (int)row - 1);
                    if (fill)
                        e->order[e->first[s + 1]++] = i;
                    else
                        e->first[s + 2]++;
                }
        }
        for (size_t s = 2; s < slots + 2 && !fill; s++)
            e->first[s] += e->first[s - 1];
    }
    return ATTN_OK;
}

/* ---- the cells of a row ---- */

/* Keys that a query sees.  The pattern of causal-renorm is masked, though its scores are not. */
static struct attn_range bounds(const struct attn_kind *k, int act, size_t q, size_t Tk)
{
    struct attn_range r = attn_kind_bounds(k, q, Tk);
    if (k->form == ATTN_CAUSAL_RENORM && act == ATTN_ACT_PATTERN)
        r.hi = smaller(r.hi, q + 1);
    return r;
}

static void add_cells(struct attn_edited_row *row, struct attn_range *to, const struct attn_ranges *from,
                      struct attn_range within)
{
    for (size_t i = attn_ranges_from(from, within.lo); i < from->n && from->r[i].lo < within.hi; i++)
        to[row->cells++] = (struct attn_range){larger(from->r[i].lo, within.lo), smaller(from->r[i].hi, within.hi)};
}

int attn_editor_cells(struct attn_editor *e, struct attn_edited_row *row, const struct attn_edit_reach *r,
                      const struct attn_ranges *cols, size_t width, struct attn_err *err)
{
    const struct attn_weights *w = &e->o.model->w;
    bool masked = (r->act == ATTN_ACT_SCORES || r->act == ATTN_ACT_PATTERN) && !e->o.cross;
    struct attn_range all = {0, width};
    struct attn_kind kind = masked ? attn_kind_in(&e->o.plan.kind, w->causal, w->block[row->layer].window) :
                            (struct attn_kind){0};
    bool picks = masked && attn_kind_picks(&kind);
    struct attn_range *cells = attn_grow(e->cells, &e->cells_room, larger(cols->n, picks ? width : 0) + 1,
                                         sizeof *cells);
    if (!cells)
        return attn_no_memory(err, NULL, "for a row of an edit");
    row->cell = e->cells = cells;
    row->cells = 0;
    row->seen = width;
    if (masked && !picks) {
        all = bounds(&kind, r->act, row->t, width);
        row->seen = all.hi - all.lo;
    }
    if (!picks) {
        add_cells(row, cells, cols, all);
        return ATTN_OK;
    }
    if (e->list_room < row->t + 1) {
        free(e->list);
        free(e->swaps);
        e->list_room = 0;
        e->list = calloc(2 * (row->t + 1), sizeof *e->list);
        e->swaps = calloc(2 * (row->t + 1), sizeof *e->swaps);
        if (!e->list || !e->swaps)
            return attn_no_memory(err, NULL, "for a row of an edit");
        e->list_room = 2 * (row->t + 1);
    }
    row->seen = attn_kind_pick(e->list, e->swaps, &kind, row->t, width);
    for (size_t i = 0; i < row->seen; i++)
        add_cells(row, cells, cols, (struct attn_range){e->list[i], e->list[i] + 1});
    return ATTN_OK;
}

/* ---- one edit of a band ---- */

struct band { const struct attn_probe *p; float *data; size_t seq, T,
             Tk; void (*apply)(const struct attn_edited_row *row); };

/* The row of the source for position t; NULL: it has none for rows after a prompt, except one that serves all.  Where
 * columns are keys these rows have more of them than the source. */
static const float *given_row(const struct attn_given *g, const struct attn_edited *text, const struct attn_chosen *c,
                              bool square, size_t head, size_t t)
{
    size_t row = g->rows == 1 ? 0 : c->source_row < g->rows ? c->source_row : t;
    if (row >= g->rows || ((g->rows > 1 || square) && text->grows && t >= text->prompt))
        return NULL;
    return g->data + ((g->heads == 1 ? 0 : head) * g->rows + row) * g->cols;
}

static int edit_band(struct attn_editor *e, size_t reach, const struct band *b, struct attn_err *err)
{
    const struct attn_probe *p = b->p;
    const struct attn_edit_reach *r = &e->reaches.item[reach];
    const struct attn_edited *text = &e->text[b->seq];
    const struct attn_chosen *c;
    bool square = attn_act_square(r->act), given = r->edit->origin != NULL;
    bool by_head = r->edit->place.heads.n || r->edit->place.by[ATTN_BY_HEAD].n;
    size_t dv = by_head && r->act == ATTN_ACT_CONTEXT ? e->venue.info.dv : 0;
    struct attn_given g = given && e->started ? attn_sources_get(e->sources, r->edit, r->act, p->layer) :
                          (struct attn_given){0};
    if (given && !e->started)
        return attn_edit_fail(r->edit, err, "the editor was not started, so that its sources have not run");
    int rc = attn_editor_choose(&c, e, reach, b->seq, b->T, b->Tk, err);
    if (rc)
        return rc;
    size_t at = text->first + p->row0;               /* position of the band's first row */
    for (size_t k = 0; k < r->heads.n; k++)
        for (size_t h = larger(r->heads.r[k].lo, p->head0); h < smaller(r->heads.r[k].hi, p->head0 + p->heads); h++)
            for (size_t i = attn_ranges_from(&c->rows, at); i < c->rows.n && c->rows.r[i].lo < at + p->rows; i++)
                for (size_t t = larger(c->rows.r[i].lo, at); t < smaller(c->rows.r[i].hi, at + p->rows); t++) {
                    struct attn_edited_row row = {.edit = r->edit,
                                                  .x = b->data + (h - p->head0) * p->ld_head + (t - at) * p->ld,
                                                  .layer = p->layer, .head = h, .t = t, .dv = dv};
                    row.given = given ? given_row(&g, text, c, square, h, t) : NULL;
                    if (given && !row.given)
                        continue;
                    /* a text that has grown has more keys */
                    size_t width = given ? smaller(p->cols, g.cols) : p->cols;
                    rc = attn_editor_cells(e, &row, r, square ? &c->keys : &r->cols, width, err);
                    if (rc)
                        return rc;
                    b->apply(&row);
                }
    return ATTN_OK;
}

/* ---- the observer ---- */

bool attn_editor_reaches(const struct attn_editor *e, int act, int layer)
{
    return layer < (int)e->venue.info.L &&
           e->first[attn_act_slot(act, layer)] < e->first[attn_act_slot(act, layer) + 1];
}

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_editor *e = self;
    if (!attn_editor_reaches(e, act, layer))
        return 0;
    /* more rows are computed only if somebody reads them */
    return ATTN_EDIT | (act >= ATTN_ACT_NORM_FINAL ? ATTN_LAST : 0);
}

static int find_band(struct band *b, struct attn_editor *e, const struct attn_probe *p, float *data,
                     struct attn_err *err)
{
    size_t seq = e->o.cross || (e->texts && e->text[0].windows) ? 0 : p->seq;
    if (seq >= e->texts || !(e->text[seq].n || e->text[seq].windows))
        return attn_fail(err, ATTN_EUSAGE, "the editor was not told the text of sentence %zu", p->seq);
    const struct attn_edited *t = &e->text[seq];
    size_t T = t->windows ? p->shape[p->ndim - 2] : attn_editor_rows(e, t, p->act);
    *b = (struct band){p, data, seq, T, attn_act_square(p->act) ? p->cols : 0, attn_edit_apply};
    return ATTN_OK;
}

static int edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    struct attn_editor *e = self;
    struct band b;
    size_t s = attn_act_slot(p->act, p->layer);
    if (!attn_trace_is_shown(p, e->o.cross != NULL))
        return ATTN_OK;
    int rc = find_band(&b, e, p, data, err);
    for (size_t i = e->first[s]; i < e->first[s + 1] && !rc; i++)
        rc = edit_band(e, e->order[i], &b, err);
    return rc;
}

int attn_editor_backward(struct attn_editor *e, const struct attn_probe *p, float *gradients, struct attn_err *err)
{
    struct band b;
    size_t s = attn_act_slot(p->act, p->layer);
    pthread_mutex_lock(&e->back);
    int rc = find_band(&b, e, p, gradients, err);
    b.apply = attn_edit_backward;
    for (size_t i = e->first[s + 1]; i > e->first[s] && !rc; i--)
        rc = edit_band(e, e->order[i - 1], &b, err);
    pthread_mutex_unlock(&e->back);
    return rc;
}

struct attn_observer attn_editor_observer(struct attn_editor *e)
{
    return (struct attn_observer){.wants = wants, .edit = edit, .self = e};
}

/* ---- making one ---- */

static int check_uniform(const struct attn_edit_reach *r, struct attn_err *err)
{
    return r->edit->value.form != ATTN_VALUE_UNIFORM || r->act == ATTN_ACT_PATTERN ? ATTN_OK
         : attn_edit_fail(r->edit, err,
                          "uniform is for patterns, whose rows are weights; %s is none", attn_act_tail(r->act));
}

/* A softmax reads it as a weight of 0; anything else would be NaN from there on. */
static int check_infinity(const struct attn_editor *e, const struct attn_edit_reach *r, struct attn_err *err)
{
    const struct attn_kind *kind = &e->o.plan.kind;
    bool infinite = r->edit->value.form == ATTN_VALUE_NUMBER && isinf(r->edit->value.number);
    bool unscaled = kind->scaling == ATTN_SCALE_VALUE && !((float)kind->scale > 0), capped = e->o.model->w.cap != 0;
    if (infinite && r->act == ATTN_ACT_DOTS && (unscaled || capped))
        return attn_edit_fail(r->edit, err, "a dot of -inf becomes no score of -inf, as dots are %s: edit scores",
                              unscaled ? "multiplied by 0 or less (--scale)" : "capped");
    return !infinite || r->act == ATTN_ACT_DOTS || r->act == ATTN_ACT_SCORES || r->act == ATTN_ACT_LOGITS ? ATTN_OK
         : attn_edit_fail(r->edit, err, "-inf is for dots, scores and logits, which a softmax reads; in %s it would "
                                        "make NaN of what follows", attn_act_tail(r->act));
}

/* Where a mask hides a key from one of the queries, the mean over them would be -inf. */
static int check_mean(const struct attn_edit_reach *r, struct attn_err *err)
{
    return r->edit->value.form != ATTN_VALUE_MEAN || r->act != ATTN_ACT_SCORES ? ATTN_OK
         : attn_edit_fail(r->edit, err, "scores of hidden keys are -inf, so that the mean over queries is -inf: edit "
                                        "dots or pattern");
}

static int bind(struct attn_editor *e, struct attn_err *err)
{
    int rc = attn_sources_new(&e->sources, &e->o, &e->venue, err);
    for (size_t i = 0; i < e->o.edits->n && !rc; i++)
        rc = attn_place_find(&e->reaches, &e->o.edits->edit[i], &e->venue, err);
    for (size_t i = 0; i < e->reaches.n && !rc; i++) {
        rc = check_uniform(&e->reaches.item[i], err);
        if (!rc)
            rc = check_infinity(e, &e->reaches.item[i], err);
        if (!rc)
            rc = check_mean(&e->reaches.item[i], err);
        if (!rc && e->reaches.item[i].edit->origin)
            rc = attn_sources_need(e->sources, &e->reaches.item[i], err);
    }
    e->chosen = rc ? NULL : calloc(e->reaches.n + 1, sizeof *e->chosen);
    if (!rc && !e->chosen)
        rc = attn_no_memory(err, NULL, "for edits");
    return rc ? rc : sort_reaches(e, err);
}

int attn_editor_new(struct attn_editor **out, const struct attn_editor_opts *o, struct attn_err *err)
{
    *out = NULL;
    struct attn_editor *e = calloc(1, sizeof *e);
    if (!e)
        return attn_no_memory(err, NULL, "for edits");
    static const struct attn_edits none;
    e->o = *o;
    e->o.edits = o->edits ? o->edits : &none;
    pthread_mutex_init(&e->back, NULL);
    attn_model_info(o->model, &e->venue.info);
    e->venue.hooks = attn_model_hook_points(o->model, &o->plan.kind);
    e->venue.linear = o->plan.kind.form == ATTN_LINEAR;
    int rc = o->cross ? attn_tokens_to_ids(&e->cross_ids, o->cross, err) : ATTN_OK;
    if (!rc)
        rc = bind(e, err);
    if (rc)
        attn_editor_free(e);
    else
        *out = e;
    return rc;
}

void attn_editor_free(struct attn_editor *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->text_room; i++)
        free(e->text[i].ids);
    for (size_t i = 0; e->chosen && i < e->reaches.n; i++) {
        attn_ranges_free(&e->chosen[i].rows);
        attn_ranges_free(&e->chosen[i].keys);
    }
    free(e->text);
    free(e->chosen);
    free(e->first);
    free(e->order);
    free(e->cells);
    free(e->list);
    free(e->swaps);
    free(e->cross_ids);
    attn_sources_free(e->sources);
    attn_edit_reaches_free(&e->reaches);
    pthread_mutex_destroy(&e->back);
    free(e);
}

/* ---- texts ---- */

static struct attn_edited *text_at(struct attn_editor *e, size_t seq, struct attn_err *err)
{
    size_t before = e->text_room;
    struct attn_edited *more = seq < SIZE_MAX ? attn_grow(e->text, &e->text_room, seq + 1, sizeof *more) : NULL;
    if (!more) {
        attn_no_memory(err, NULL, "for %zu texts to edit", seq + 1);
        return NULL;
    }
    memset(more + before, 0, (e->text_room - before) * sizeof *more);
    e->text = more;
    e->texts = larger(e->texts, seq + 1);
    return &more[seq];
}

/* Sets the tokens from number `keep` on; those before are in a cache. */
static int set_ids(struct attn_edited *t, size_t keep, const int32_t *ids, size_t n, struct attn_err *err)
{
    int32_t *more = attn_grow(t->ids, &t->room, keep + n + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu tokens", keep + n);
    t->ids = more;
    if (n)
        memcpy(more + keep, ids, n * sizeof *ids);
    t->n = keep + n;
    t->first = keep;
    return ATTN_OK;
}

int attn_editor_text(struct attn_editor *e, size_t seq, const int32_t *ids, size_t n, bool grows, struct attn_err *err)
{
    struct attn_edited *t = text_at(e, seq, err);
    int rc = t ? set_ids(t, 0, ids, n, err) : ATTN_ENOMEM;
    if (rc)
        return rc;
    t->prompt = n;
    t->grows = grows;
    t->windows = n > e->venue.info.n_ctx;
    for (size_t i = 0; i < e->reaches.n && !rc; i++)
        rc = attn_editor_check(e, i, seq, err);
    if (rc)
        t->n = 0;
    return rc;
}

int attn_editor_more(struct attn_editor *e, size_t seq, const int32_t *ids, size_t n, struct attn_err *err)
{
    if (seq >= e->texts || !e->text[seq].grows)
        return attn_fail(err, ATTN_EUSAGE, "the editor knows no text %zu that grows", seq);
    return set_ids(&e->text[seq], e->text[seq].n, ids, n, err);
}

int attn_editor_skip(struct attn_editor *e, size_t seq, size_t first, struct attn_err *err)
{
    if (seq >= e->texts || first > e->text[seq].n)
        return attn_fail(err, ATTN_EUSAGE, "the editor knows no text %zu of %zu tokens", seq, first);
    e->text[seq].first = first;
    return ATTN_OK;
}

int attn_editor_replay(struct attn_editor *e, size_t seq, struct attn_err *err)
{
    if (seq >= e->texts || !e->text[seq].grows)
        return attn_fail(err, ATTN_EUSAGE, "the editor knows no text %zu that grows", seq);
    for (size_t i = 0; i < e->reaches.n; i++) {
        const struct attn_edit_reach *r = &e->reaches.item[i];
        struct attn_indices keys = r->edit->place.by[ATTN_BY_KEY];
        for (size_t k = 0; k < keys.n && attn_act_square(r->act); k++)
            if (r->edit->index[keys.first + k].form == ATTN_INDEX_BACK)
                return attn_edit_fail(r->edit, err,
                                      "in a pass over the whole text the last key is not what it was when each row "
                                      "was computed: count keys from the start");
    }
    e->text[seq].first = 0;
    return ATTN_OK;
}

int attn_editor_start(struct attn_editor *e, struct attn_err *err)
{
    int rc = attn_sources_run(e->sources, &e->reaches, err);
    e->started = !rc;
    /* Means over texts have as many columns as their texts have tokens, which is known only now. */
    for (size_t seq = 0; seq < e->texts && !rc; seq++)
        for (size_t i = 0; i < e->reaches.n && !rc && (e->text[seq].n || e->text[seq].windows); i++)
            rc = attn_editor_check(e, i, seq, err);
    return rc;
}
