/* screen.c - the first look at a run, on one screen: its tokens, the patterns of the most informative layer, what each
 * head does, context vectors or, where they are wider than a line, what each token looks at, what comes next, and
 * commands to go on with.
 *
 * Of a long text only the last rows and keys are kept, as many as all parts leave room for. */
#include "sinks/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "text/label.h"
#include "trace/slice.h"

enum { WIDTH = 80, GAP = 2, ROWS_LEAST = 3, HEADS_LEAST = 4, HEADS_MOST = 8 };        /* lines of patterns, of heads */

/* ---- how much fits ----------------------------------------------------------------------- */

static size_t count_heads(const struct attn_sink_job *job)
{
    size_t kept, n = 0;
    for (int layer = 0; layer < (int)job->model->L; layer++) {
        attn_select_heads(job->select, ATTN_ACT_PATTERN, layer, &kept);
        n += attn_select_wants(job->select, ATTN_ACT_PATTERN, layer) ? kept : 0;
    }
    return n;
}

size_t attn_screen_heads_across(const struct attn_screen *s)
{
    return larger(s->width / ATTN_SCREEN_HEAD, 1);
}

static size_t token_lines(const struct attn_screen *s, const struct attn_tokens *t)
{
    size_t columns = strlen(ATTN_SCREEN_TOKENS);
    for (size_t i = 0; i < t->n && columns <= s->width; i++)
        columns += 1 + attn_label_token(&t->tok[i], ATTN_SCREEN_LABEL).columns;
    return columns <= s->width ? 1 : ATTN_SCREEN_TOKEN_LINES;
}

static bool is_low(const struct attn_screen *s) { return s->lines < ATTN_SCREEN_LINES; }

/* The lines of headings, blank lines and all parts but the rows. */
static size_t taken_lines(const struct attn_screen *s)
{
    enum { TITLE = 1, OVER_PATTERNS = 3, OVER_HEADS = 2, OVER_VECTORS = 2, NEXT = 2, OVER_HINTS = 1, ADDED = 22 };
    const struct attn_sink_job *job = s->job;
    size_t beside = larger(s->width, ATTN_SCREEN_HINT + 2) - ATTN_SCREEN_HINT - 1;
    size_t taken = TITLE + token_lines(s, job->tokens) + OVER_PATTERNS + (s->contexts ? OVER_VECTORS : 0);
    taken += job->cross ? token_lines(s, job->cross) : OVER_HEADS + s->head_lines;
    taken += s->names + job->joined + (job->model->L > 1);      /* the last: why this layer */
    if (attn_edits_count(job->edits))
        taken += attn_edits_count(job->edits) + 1;
    if (job->model->unembed)
        taken += NEXT + (job->compare ? 1 : 0);
    for (const struct attn_sink_hint *h = job->hints; h && h < job->hints + s->hints; h++) {
        size_t wide = strlen(h->command) + (h->of_head ? ADDED : 0);
        taken += (h == job->hints ? OVER_HINTS : 0) + 1 + wide / beside;
        /* it is broken before options, so that its lines are not full */
        taken += is_low(s) && wide > beside;
    }
    return taken;
}

size_t attn_screen_room(const struct attn_screen *s)
{
    return s->lines - smaller(taken_lines(s), s->lines - ROWS_LEAST);
}

static size_t count_hints(const struct attn_sink_job *job)
{
    size_t n = 0;
    while (job->hints && job->hints[n].command)
        n++;
    return n;
}

/* Whether rows of patterns would be left out; a low terminal needs no more than one of context vectors beside them. */
static bool is_crowded(const struct attn_screen *s, size_t rows)
{
    return is_low(s) ? taken_lines(s) + rows + s->contexts > s->lines : attn_screen_room(s) / 2 < rows;
}

/* What gives up lines for rows of patterns: heads, on a low terminal also commands and context vectors. */
static void make_room(struct attn_screen *s, size_t rows)
{
    s->contexts = true;
    s->hints = count_hints(s->job);
    s->head_lines = s->job->cross ? 0 : smaller(parts_of(count_heads(s->job), attn_screen_heads_across(s)), HEADS_MOST);
    while (s->head_lines > (is_low(s) ? 1 : HEADS_LEAST) && is_crowded(s, rows))
        s->head_lines--;
    while (is_low(s) && s->hints && is_crowded(s, rows))
        s->hints--;
    s->names = !s->hints && count_hints(s->job) && s->job->hints->brief && s->lines >= ATTN_SCREEN_NAMES &&
               taken_lines(s) + ROWS_LEAST < s->lines;
    s->contexts = !is_low(s) || !is_crowded(s, rows);
}

static void choose_rows(struct attn_screen *s)
{
    size_t left = ATTN_SCREEN_LABEL + GAP;
    const struct attn_tokens *t = s->job->tokens, *k = attn_sink_keys(s->job);
    s->lines = s->job->height > 0 ? larger((size_t)s->job->height - 1, ATTN_SCREEN_LEAST) : ATTN_SCREEN_LINES;
    s->lines = smaller(s->lines, ATTN_SCREEN_LINES);    /* a shell's next prompt takes the other line */
    make_room(s, t->n);
    size_t most = is_low(s) ? attn_screen_room(s) - s->contexts : attn_screen_room(s) / 2;
    s->rows = smaller(t->n, most);
    s->cols = smaller(k->n, smaller(larger(most, 1), larger(s->width > left ? s->width - left : 1, 1)));
    if (!s->job->cross)
        s->rows = s->cols = smaller(s->rows, s->cols);
    s->vectors = s->contexts ? smaller(s->rows, attn_screen_room(s) - s->rows) : 0;
    s->row0 = t->n - s->rows;
    s->col0 = k->n - s->cols;
    s->queries = (struct attn_tokens){s->rows, t->tok + s->row0};
    s->keys = (struct attn_tokens){s->cols, k->tok + s->col0};
}

/* ---- what is kept ------------------------------------------------------------------------ */

static void screen_close(void *self)
{
    struct attn_screen *s = self;
    if (!s)
        return;
    attn_out_close(s->out);
    attn_scores_free(s->scores);
    attn_album_free(&s->album);
    free(s->vector);
    free(s->target);
    free(s->known);
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
    size_t L = s->job->model->L;
    s->album = (struct attn_album){.queries = &s->queries, .keys = &s->keys, .H = s->job->model->H,
                                   .Hkv = s->job->model->Hkv};
    s->vector = calloc(L * s->rows + 1, sizeof *s->vector);
    s->target = calloc(s->rows + 1, sizeof *s->target);
    s->known = calloc(L + 1, sizeof *s->known);
    s->head = calloc(count_heads(s->job) + 1, sizeof *s->head);
    if (!s->vector || !s->target || !s->known || !s->head)
        return attn_no_memory(err, NULL, "for %zu layers", L);
    int rc = attn_look_make(&s->look, &s->job->picture, err);
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
    s->entropy = attn_head_score_find("entropy");
    s->width = job->width ? (size_t)job->width : WIDTH;
    choose_rows(s);
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
    return act == ATTN_ACT_PATTERN || act == ATTN_ACT_CONTEXT ? attn_slice_wants(s->job->select, act, layer, false) : 0;
}

static int begin_sheet(struct attn_screen *s, const struct attn_slice *p, struct attn_err *err)
{
    struct attn_sheet sheet = {.kind = "attn.pattern", .title = "", .axes = "", .layer = p->of->layer, .n = p->matrices,
                               .rows = s->rows, .cols = s->cols, .heads = p->kept, .keys = true};
    return attn_album_add(&s->album, &sheet, &s->sheet, err);
}

/* Of all keys, also those that are not kept.  Itself and the first, where attention gathers that means nothing, do not
 * count; another text has neither. */
static void find_target(struct attn_screen *s, const struct attn_slice *p, size_t row)
{
    struct attn_screen_target *t = &s->target[p->row0 + row - s->row0];
    const float *weight = attn_slice_row(p, row);
    for (size_t k = 0; k < p->cols; k++)
        if (weight[k] > t->weight && (s->job->cross || (k && k != p->row0 + row)))
            *t = (struct attn_screen_target){weight[k], k, {(size_t)p->of->layer, (size_t)p->head}};
}

static int keep_pattern(struct attn_screen *s, const struct attn_slice *p, struct attn_err *err)
{
    int rc = attn_slice_opens(p) ? begin_sheet(s, p, err) : ATTN_OK;
    if (rc)
        return rc;
    for (size_t i = 0; i < p->rows; i++)
        if (p->row0 + i >= s->row0)
            find_target(s, p, i);
    for (size_t i = 0; i < p->rows; i++)
        if (p->row0 + i >= s->row0)
            memcpy(s->sheet + (p->nth * s->rows + p->row0 + i - s->row0) * s->cols, attn_slice_row(p, i) + s->col0,
                   s->cols * sizeof *s->sheet);
    return ATTN_OK;
}

static void keep_context(struct attn_screen *s, const struct attn_slice *p)
{
    s->columns = p->cols;
    s->known[p->of->layer] = true;
    for (size_t i = 0; i < p->rows; i++) {
        if (p->row0 + i < s->row0)
            continue;
        struct attn_screen_vector *v = &s->vector[(size_t)p->of->layer * s->rows + p->row0 + i - s->row0];
        const float *x = attn_slice_row(p, i);
        for (size_t j = 0; j < p->cols; j++)
            v->squares += (double)x[j] * (double)x[j];
        memcpy(v->first, x, smaller(p->cols, ATTN_SCREEN_FIRST) * sizeof *x);
    }
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
    if (probe->act == ATTN_ACT_PATTERN && s->scores && !s->job->rows)
        rc = attn_scores_watch(s->scores, probe, err);
    for (size_t at = 0; !rc && attn_slice_next(&p, s->job->select, probe, &at);) {
        if (probe->act == ATTN_ACT_PATTERN)
            rc = keep_pattern(s, &p, err);
        else
            keep_context(s, &p);
    }
    return rc;
}

/* What a head does is told from its tokens, merged or not. */
static int screen_pieces(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct attn_screen *s = self;
    return probe->act == ATTN_ACT_PATTERN && s->scores ? attn_scores_watch(s->scores, probe, err) : ATTN_OK;
}

/* ---- what heads do ----------------------------------------------------------------------- */

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

/* ---- the end ---------------------------------------------------------------------------- */

static int screen_finish(void *self, struct attn_err *err)
{
    struct attn_screen *s = self;
    if (!s->album.n)
        return attn_fail(err, ATTN_EUSAGE, "a screen shows a run, and there was none");
    rank_heads(s);
    int rc = attn_screen_print(s, err);
    return rc ? rc : attn_out_commit(s->out, err);
}

const struct attn_sink_methods attn_screen_methods = {
    .open = screen_open, .wants = screen_wants, .watch = screen_watch, .pieces = screen_pieces, .finish = screen_finish,
    .close = screen_close, .joins = true,
};
