/* heads.c - what do the heads of a model do, over all these texts?
 *
 * The texts run as those of a batch do, many in a pass.  The sums of a text are added to those of the texts before it,
 * in the order of the input, so that neither threads nor the grouping of texts change a bit of the result. */
#include "answers/heads.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/answers.h"
#include "base/err.h"
#include "base/grow.h"
#include "batch/batch.h"

struct pool {
    struct attn_ranking *h;
    struct attn_batch_opts over;
    struct attn_engine e;
    size_t columns;                     /* sums of each head */
    struct attn_score_sum *sum;         /* [h->n, columns] */
    struct attn_score_sum *chance;      /* [layers, columns] of equal weights */
    size_t layers;                      /* those of the rows */
    struct attn_heads_state *state;
};

/* ---- adding up --------------------------------------------------------------------------- */

static int keep_text(struct attn_ranking *h, const struct attn_item *item, struct attn_err *err)
{
    size_t T = item->tokens->n;
    h->texts++;
    h->tokens += T;
    if (!h->o->format || strcmp(h->o->format, "json") != 0)
        return ATTN_OK;
    int32_t *ids = attn_grow(h->ids, &h->ids_room, h->ids_n + T, sizeof *ids);
    if (ids)
        h->ids = ids;
    size_t *list = attn_grow(h->T, &h->T_room, h->texts, sizeof *list);
    if (list)
        h->T = list;
    if (!ids || !list)
        return attn_no_memory(err, NULL, "to list the ids of %zu texts", h->texts);
    memcpy(h->ids + h->ids_n, item->ids, T * sizeof *ids);
    h->ids_n += T;
    h->T[h->texts - 1] = T;
    return ATTN_OK;
}

/* Text i of the pass. */
static void add_sums(struct pool *p, size_t i)
{
    const struct attn_score_sum *more = attn_scores_sums(attn_summary_scores(p->e.summary), i, 0);
    for (size_t k = 0; k < p->h->n * p->columns; k++) {
        p->sum[k].sum += more[k].sum;
        p->sum[k].n += more[k].n;
    }
    more = attn_scores_chance(attn_summary_scores(p->e.summary), i, 0);
    for (size_t k = 0; k < p->layers * p->columns; k++) {
        p->chance[k].sum += more[k].sum;
        p->chance[k].n += more[k].n;
    }
}

static void report(struct pool *p, const struct attn_item *item, size_t n)
{
    const struct attn_batch_opts *o = p->h->o->over;
    struct attn_batch_state s = {.records = p->state->texts + p->state->failed, .failed = p->state->failed,
                                 .total = p->h->o->texts};
    for (size_t i = 0; i < n && o->failed; i++)
        if (item[i].failure.code)
            o->failed(o->self, &item[i].of, item[i].failure.msg);
    if (p->e.in) {
        s.total = attn_records_total(p->e.in);
        s.read = attn_records_bytes(p->e.in, &s.all);
    }
    if (o->progress)
        o->progress(o->self, &s);
}

static int add_pass(struct pool *p, const struct attn_item *item, size_t n, struct attn_err *err)
{
    int rc = attn_engine_run(&p->e, item, n, err);
    for (size_t i = 0, text = 0; i < n && !rc; i++) {
        if (!item[i].tokens) {
            p->state->failed++;
            continue;
        }
        add_sums(p, text++);
        p->state->texts++;
        rc = keep_text(p->h, &item[i], err);
    }
    if (!rc)
        report(p, item, n);
    return rc;
}

/* Texts that are given as ids: one that cannot be run is an error. */
static int check_texts(const struct pool *p, struct attn_err *err)
{
    for (size_t i = 0; i < p->e.group.n && p->h->o->texts; i++)
        if (p->e.group.item[i].failure.code)
            return attn_fail_as(err, &p->e.group.item[i].failure);
    return ATTN_OK;
}

static int add_group(struct pool *p, struct attn_err *err)
{
    struct attn_group *g = &p->e.group;
    bool live;
    int rc = attn_engine_encode(&p->e, err);
    if (!rc)
        rc = check_texts(p, err);
    for (size_t at = 0, n; at < g->n && !rc; at += n) {
        n = attn_engine_take(&p->e, &g->item[at], g->n - at, &live);
        rc = add_pass(p, &g->item[at], n, err);
    }
    return rc;
}

static int add_records(struct pool *p, struct attn_err *err)
{
    bool end = false, stopped = false;
    int rc = ATTN_OK;
    while (!rc && !end && !stopped) {
        rc = attn_group_read(&p->e.group, p->e.in, &p->e.reading, &end, &stopped, err);
        if (!rc)
            rc = add_group(p, err);
        attn_group_clear(&p->e.group);
    }
    if (!rc && !p->state->texts)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: has no text that can be run", attn_records_path(p->e.in));
    return rc;
}

static int add_texts(struct pool *p, struct attn_err *err)
{
    const struct attn_heads_opts *o = p->h->o;
    const int32_t *ids = o->ids;
    int rc = ATTN_OK;
    for (size_t i = 0; i < o->texts && !rc; ids += o->T[i++]) {
        const struct attn_record r = {.number = i, .ids = ids, .n = o->T[i]};
        rc = attn_group_add(&p->e.group, &r, &p->e.reading, err);
    }
    return rc ? rc : add_group(p, err);
}

/* ---- the rows ---------------------------------------------------------------------------- */

/* Larger ones first; those without a number last. */
static int better(const void *a, const void *b)
{
    const struct attn_heads_row *x = *(struct attn_heads_row *const *)a, *y = *(struct attn_heads_row *const *)b;
    if (isnan(x->by) != isnan(y->by))
        return isnan(x->by) ? 1 : -1;
    if (!isnan(x->by) && x->by != y->by)
        return x->by > y->by ? -1 : 1;
    return (x > y) - (x < y);
}

/* Lists the o->top best. */
static int keep_best(struct attn_ranking *h, struct attn_err *err)
{
    h->best = calloc(h->n + 1, sizeof *h->best);
    if (!h->best)
        return attn_no_memory(err, NULL, "to sort %zu heads", h->n);
    for (size_t i = 0; i < h->n; i++)
        h->best[i] = &h->row[i];
    qsort(h->best, h->n, sizeof *h->best, better);
    h->kept = h->o->top && h->o->top < h->n ? h->o->top : h->n;
    return ATTN_OK;
}

static void fill_rows(struct pool *p, const double *copying)
{
    const struct attn_scores *scores = attn_summary_scores(p->e.summary);
    const struct attn_head_score *s = NULL;
    for (size_t i = 0; i < p->h->n; i++) {
        struct attn_heads_row *r = &p->h->row[i];
        r->of = attn_scores_tell(scores, i, p->sum + i * p->columns,
                                 p->chance + i * p->layers / p->h->n * p->columns);
        for (size_t c = 0; copying && (s = attn_head_score_next(s)); c++)
            if (!s->of)
                r->of.score[c] = copying[r->of.at.layer * p->h->info.H + r->of.at.head];
        r->by = p->h->by ? r->of.score[attn_head_score_index(p->h->by)] : r->of.share;
    }
}

/* ---- from beginning to end --------------------------------------------------------------- */

static int check(struct attn_ranking *h, struct attn_err *err)
{
    const struct attn_heads_opts *o = h->o;
    char scores[ATTN_HEAD_SCORE_LIST];
    if (attn_format_check(o->format, ATTN_FORMAT_TABLE | ATTN_FORMAT_PICTURE, err))
        return err->code;
    h->by = o->by ? attn_head_score_find(o->by) : NULL;
    if (o->by && !h->by)
        return attn_fail(err, ATTN_EUSAGE, "unknown score '%s': expected %s", o->by, attn_head_score_list(scores));
    h->copying = o->copying || (h->by && h->by->flags & ATTN_SCORE_NO_TEXT);
    attn_model_info(o->over->model, &h->info);
    if (h->copying && !h->info.unembed)
        return attn_fail(err, ATTN_EFORMAT,
                         "copying: model %s has no output layer, so that no head raises a logit", h->info.name);
    return ATTN_OK;
}

static int open_pool(struct pool *p, struct attn_err *err)
{
    struct attn_ranking *h = p->h;
    p->over = *h->o->over;
    p->over.format = "summary";
    p->over.summary = NULL;
    p->over.summary_form = attn_summary_of_heads;
    if (h->o->texts)
        p->over.records = NULL;
    int rc = attn_engine_open(&p->e, &p->over, err);
    if (rc)
        return rc;
    h->n = attn_scores_heads(attn_summary_scores(p->e.summary));
    memcpy(h->digest, p->e.digest, sizeof h->digest);
    p->columns = attn_scores_columns(attn_summary_scores(p->e.summary));
    h->row = calloc(h->n + 1, sizeof *h->row);
    p->sum = calloc(h->n * p->columns + 1, sizeof *p->sum);
    p->layers = attn_scores_layers(attn_summary_scores(p->e.summary));
    p->chance = calloc(p->layers * p->columns + 1, sizeof *p->chance);
    return h->row && p->sum && p->chance ? ATTN_OK : attn_no_memory(err, NULL, "for the scores of %zu heads", h->n);
}

static int compute_rows(struct pool *p, struct attn_err *err)
{
    struct attn_ranking *h = p->h;
    double *copying = NULL;
    int rc = h->o->texts ? add_texts(p, err) : add_records(p, err);
    if (!rc && h->copying) {
        const struct attn_copying_watch watch = {h->o->step, h->o->step_self};
        copying = calloc(h->info.L * h->info.H + 1, sizeof *copying);
        rc = copying ? attn_copying(copying, h->o->over->model, p->e.team, &watch, err)
                     : attn_no_memory(err, NULL, "for the scores of %zu heads", h->n);
    }
    if (!rc) {
        fill_rows(p, copying);
        rc = keep_best(h, err);
    }
    if (!rc)
        rc = attn_heads_losses(h, err);
    free(copying);
    return rc;
}

static int write(struct attn_out *to, const struct attn_ranking *h, struct attn_err *err)
{
    struct attn_out *out;
    int rc = attn_out_open_into(&out, to, h->o->path, err);
    return rc ? rc : attn_out_end_into(out, to, attn_heads_write(out, h, err), err);
}

int attn_heads_into(struct attn_out *to, struct attn_heads_state *out, const struct attn_heads_opts *o,
                    struct attn_err *err)
{
    struct attn_ranking h = {.o = o};
    struct pool p = {.h = &h, .state = out};
    *out = (struct attn_heads_state){0};
    int rc = check(&h, err);
    if (!rc)
        rc = open_pool(&p, err);
    if (!rc)
        rc = compute_rows(&p, err);
    out->overflowed = p.e.overflowed;
    h.overflowed = p.e.overflowed > 0;
    if (!rc)
        rc = write(to, &h, err);
    attn_engine_close(&p.e);
    free(p.sum);
    free(p.chance);
    free(h.row);
    free(h.best);
    free(h.ids);
    free(h.T);
    return rc;
}

int attn_heads(struct attn_heads_state *out, const struct attn_heads_opts *o, struct attn_err *err)
{
    return attn_heads_into(NULL, out, o, err);
}
