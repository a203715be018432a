/* screen.c - the first look at a run: what is kept of it while it passes. */
#include "sinks/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "trace/slice.h"

/* ---- which rows -------------------------------------------------------------------------- */

/* All of a short text, else the first and the last three. */
static size_t choose(size_t at[ATTN_SCREEN_ROWS], size_t n)
{
    size_t kept = n <= ATTN_SCREEN_ROWS ? n : ATTN_SCREEN_KEPT;
    for (size_t i = 0; i < kept; i++)
        at[i] = n <= ATTN_SCREEN_ROWS || i < ATTN_SCREEN_KEPT / 2 ? i : n - ATTN_SCREEN_KEPT + i;
    return kept;
}

static size_t count_heads(const struct attn_sink_job *job)
{
    size_t kept, n = 0;
    for (int layer = 0; layer < (int)job->model->L; layer++) {
        attn_select_heads(job->select, ATTN_ACT_PATTERN, layer, &kept);
        n += attn_select_wants(job->select, ATTN_ACT_PATTERN, layer) ? kept : 0;
    }
    return n;
}

/* ---- what is kept ------------------------------------------------------------------------ */

static void screen_close(void *self)
{
    struct attn_screen *s = self;
    if (!s)
        return;
    attn_out_close(s->out);
    attn_scores_free(s->scores);
    attn_away_free(&s->away);
    free(s->weight);
    free(s->context);
    free(s->there);
    free(s->ids);
    free(s->head);
    free(s);
}

static int start_scores(struct attn_screen *s, struct attn_err *err)
{
    const struct attn_sink_job *job = s->job;
    const struct attn_scores_opts o = {.chance = true, .text = job->token_text, .ctx = job->token_ctx};
    struct attn_seq seq = {.T = job->pieces->n};
    int rc = attn_tokens_to_ids(&s->ids, job->pieces, err);
    if (!rc)
        rc = attn_scores_new(&s->scores, job->of, &job->attention, job->select, &o, job->team, err);
    return rc ? rc : attn_scores_start(s->scores, s->ids, &seq, 1, err);
}

static int make(struct attn_screen *s, struct attn_err *err)
{
    size_t all = s->job->model->L * s->H;
    s->weight = calloc(all * s->rows * s->keys + 1, sizeof *s->weight);
    s->context = calloc(all * s->rows * ATTN_SCREEN_NUMBERS + 1, sizeof *s->context);
    s->there = calloc(all + 1, sizeof *s->there);
    s->head = calloc(count_heads(s->job) + 1, sizeof *s->head);
    if (!s->weight || !s->context || !s->there || !s->head)
        return attn_no_memory(err, NULL, "for %zu heads", all);
    int rc = attn_away_new(&s->away, s->job->model->L, s->H, err);
    if (!rc && !s->job->cross)
        rc = start_scores(s, err);
    return rc ? rc : attn_out_open(&s->out, s->job->path, err);
}

static int screen_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    (void)f;
    if (job->gradient)
        return attn_fail(err, ATTN_EUSAGE, "a screen shows a run and no gradients: take text, or a picture");
    if (!count_heads(job))
        return attn_fail(err, ATTN_EUSAGE, "a screen shows attention patterns, and none is selected: leave --show out");
    struct attn_screen *s = calloc(1, sizeof *s);
    if (!s)
        return attn_no_memory(err, NULL, "for a screen");
    s->job = job;
    s->H = job->model->H;
    s->dv = job->model->dv;
    s->entropy = attn_head_score_find("entropy");
    s->width = job->picture.width > 0 ? (size_t)job->picture.width : ATTN_SCREEN_WIDTH;
    s->rows = choose(s->row, job->tokens->n);
    s->keys = choose(s->key, attn_sink_keys(job)->n);
    int rc = make(s, err);
    if (rc)
        screen_close(s);
    else
        *self = s;
    return rc;
}

static unsigned screen_wants(void *self, int act, int layer)
{
    const struct attn_screen *s = self;
    if (act == ATTN_ACT_LOGITS)
        return s->job->model->unembed ? ATTN_WATCH | ATTN_LAST : 0;
    if (act != ATTN_ACT_PATTERN && act != ATTN_ACT_CONTEXT)
        return 0;
    return attn_select_wants(s->job->select, ATTN_ACT_PATTERN, layer) ? ATTN_WATCH | ATTN_DERIVE : 0;
}

/* Of all keys, also those that are not kept.  Itself and the first, where attention gathers that means nothing, do not
 * count; another text has neither. */
static void find_target(struct attn_screen *s, const struct attn_slice *p, size_t i)
{
    const size_t row = p->row0 + i, first = s->job->tokens->n - smaller(s->job->tokens->n, ATTN_SCREEN_LOOKS);
    const float *weight = attn_slice_row(p, i);
    for (size_t k = 0; k < p->cols && row >= first; k++) {
        struct attn_screen_target *t = &s->target[row - first];
        if (weight[k] > t->weight && (s->job->cross || (k && k != row)))
            *t = (struct attn_screen_target){weight[k], k, {(size_t)p->of->layer, (size_t)p->head}};
    }
}

static void keep_pattern(struct attn_screen *s, const struct attn_slice *p)
{
    const size_t layer = (size_t)p->of->layer, head = (size_t)p->head;
    float *kept = attn_screen_weights(s, layer, head);
    s->there[layer * s->H + head] = true;
    for (size_t i = 0; i < p->rows; i++) {
        const float *weight = attn_slice_row(p, i);
        find_target(s, p, i);
        if (!s->job->cross)
            attn_away_add(&s->away, layer, head, p->row0 + i, weight, p->cols);
        for (size_t r = 0; r < s->rows; r++)
            for (size_t k = 0; k < s->keys && s->row[r] == p->row0 + i; k++)
                kept[r * s->keys + k] = weight[s->key[k]];
    }
}

static void keep_context(struct attn_screen *s, const struct attn_probe *p)
{
    const size_t n = smaller(s->dv, ATTN_SCREEN_NUMBERS);
    for (size_t i = 0; i < p->rows; i++)
        for (size_t r = 0; r < s->rows; r++)
            for (size_t h = 0; h < s->H && s->row[r] == p->row0 + i; h++)
                memcpy(s->context + (((size_t)p->layer * s->H + h) * s->rows + r) * ATTN_SCREEN_NUMBERS,
                       p->data + i * p->ld + h * s->dv, n * sizeof *s->context);
}

static int screen_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct attn_screen *s = self;
    struct attn_slice p;
    int rc = ATTN_OK;
    if (probe->act == ATTN_ACT_LOGITS) {
        s->predicts |= attn_next_find(&s->next, probe);
        return ATTN_OK;
    }
    if (probe->act == ATTN_ACT_CONTEXT) {
        keep_context(s, probe);
        return ATTN_OK;
    }
    if (s->scores && !s->job->rows)
        rc = attn_scores_watch(s->scores, probe, err);
    for (size_t at = 0; !rc && attn_slice_next(&p, s->job->select, probe, &at);)
        keep_pattern(s, &p);
    return rc;
}

/* What a head does is told from its tokens, merged or not. */
static int screen_pieces(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct attn_screen *s = self;
    return probe->act == ATTN_ACT_PATTERN && s->scores ? attn_scores_watch(s->scores, probe, err) : ATTN_OK;
}

/* ---- the end ---------------------------------------------------------------------------- */

/* Heads without a number, as in a text of one token, are left out. */
static void rank_heads(struct attn_screen *s)
{
    for (size_t i = 0; s->scores && i < attn_scores_heads(s->scores); i++) {
        struct attn_head_scored h = attn_scores_head(s->scores, i);
        if (!isnan(h.score[attn_head_score_index(s->entropy)]))
            s->head[s->heads++] = h;
    }
    qsort(s->head, s->heads, sizeof *s->head, attn_head_scored_order);
}

static int screen_finish(void *self, struct attn_err *err)
{
    struct attn_screen *s = self;
    rank_heads(s);
    int rc = attn_screen_print(s, err);
    return rc ? rc : attn_out_commit(s->out, err);
}

const struct attn_sink_methods attn_screen_methods = {
    .open = screen_open, .wants = screen_wants, .watch = screen_watch, .pieces = screen_pieces, .finish = screen_finish,
    .close = screen_close, .joins = true,
};
