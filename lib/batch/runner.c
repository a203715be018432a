#include "batch/runner.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/size.h"
#include "run/cost.h"

enum {
    ROWS = 512, ROWS_LEAST = 32,
    SEQS = 256,
    NUMBERS = 1 << 21,                  /* kept of a pass; a sentence with more than half as many is written while it runs */
};
static const double WORK = 1.5e11;      /* floating point operations of a pass: a second or two on a slow machine */

void attn_runner_start(struct attn_runner *r)
{
    attn_model_info(r->model, &r->info);
    double rows = WORK / (2 * (double)r->info.parameters + 1);
    r->rows = rows < ROWS_LEAST ? ROWS_LEAST : rows < ROWS ? (size_t)rows : ROWS;
}

void attn_runner_end(struct attn_runner *r)
{
    attn_run_free(r->run);
    free(r->ids);
    free(r->seq);
}

static uint64_t numbers_of(const struct attn_runner *r, const struct attn_item *item)
{
    return r->capture && item->tokens ? attn_capture_numbers(r->capture, item->tokens->n) : 0;
}

size_t attn_runner_take(const struct attn_runner *r, const struct attn_item *item, size_t n, bool *live)
{
    size_t rows = 0, i = 0;
    uint64_t numbers = 0;
    *live = numbers_of(r, item) > NUMBERS / 2;
    if (*live)
        return 1;
    for (; i < n && i < SEQS; i++) {
        uint64_t more = numbers_of(r, &item[i]);
        rows += item[i].tokens ? item[i].tokens->n : 0;
        if (i && (rows > r->rows || more > NUMBERS / 2 || (numbers += more) > NUMBERS))
            break;
    }
    return i;
}

/* A plan with room for that many rows. */
static struct attn_plan plan_for(const struct attn_runner *r, size_t rows)
{
    size_t most = r->info.n_ctx < ROWS ? smaller(r->rows, SEQS * r->info.n_ctx) : r->rows;
    struct attn_plan p = r->how;
    p.rows = rows > most ? rows : most;
    p.seqs = SEQS;
    return p;
}

static int plan(struct attn_runner *r, size_t rows, struct attn_err *err)
{
    struct attn_observer watchers[2];
    size_t n = 0;
    if (r->run && rows <= r->plan.rows)
        return ATTN_OK;
    attn_run_free(r->run);
    r->run = NULL;
    r->plan = plan_for(r, rows);
    if (r->capture)
        watchers[n++] = attn_capture_observer(r->capture);
    if (r->summary)
        watchers[n++] = attn_summary_observer(r->summary);
    return attn_run_new(&r->run, r->model, &r->plan, watchers, n, err);
}

static int collect(struct attn_runner *r, const struct attn_item *item, size_t n, size_t *seqs, size_t *rows, struct attn_err *err)
{
    *seqs = *rows = 0;
    struct attn_seq *seq = attn_grow(r->seq, &r->seq_room, n, sizeof *seq);
    if (!seq)
        return attn_fail(err, ATTN_ENOMEM, "no memory to list %zu sentences", n);
    r->seq = seq;
    for (size_t i = 0; i < n; i++) {
        const struct attn_tokens *t = item[i].tokens;
        int32_t *ids = attn_grow(r->ids, &r->ids_room, *rows + (t ? t->n : 0) + 1, sizeof *ids);
        if (!ids)
            return attn_fail(err, ATTN_ENOMEM, "no memory for %zu tokens", *rows);
        r->ids = ids;
        if (!t)
            continue;
        memcpy(ids + *rows, item[i].ids, t->n * sizeof *ids);
        seq[(*seqs)++] = (struct attn_seq){.T = t->n};
        *rows += t->n;
    }
    return ATTN_OK;
}

static int start_watchers(struct attn_runner *r, size_t seqs, bool keep, struct attn_err *err)
{
    int rc = keep && r->capture ? attn_capture_start(r->capture, r->seq, seqs, err) : ATTN_OK;
    return !rc && r->summary ? attn_summary_start(r->summary, r->ids, r->seq, seqs, err) : rc;
}

static int forward(struct attn_runner *r, struct attn_run *run, size_t seqs, struct attn_err *err)
{
    int rc = attn_run_forward(run, r->ids, r->seq, seqs, err);
    for (size_t i = 0; i < seqs && !rc; i++)
        r->overflowed += attn_run_overflowed(run, i);
    return rc;
}

int attn_runner_run(struct attn_runner *r, const struct attn_item *item, size_t n, struct attn_err *err)
{
    size_t seqs, rows;
    int rc = collect(r, item, n, &seqs, &rows, err);
    if (rc || !seqs)
        return rc;
    rc = plan(r, rows, err);
    if (!rc)
        rc = start_watchers(r, seqs, true, err);
    return rc ? rc : forward(r, r->run, seqs, err);
}

int attn_runner_live(struct attn_runner *r, const struct attn_item *item, const struct attn_observer *watcher, struct attn_err *err)
{
    size_t seqs, rows, watchers = 0;
    struct attn_observer watch[2];
    struct attn_run *run = NULL;
    int rc = collect(r, item, 1, &seqs, &rows, err);
    if (!rc)
        rc = start_watchers(r, seqs, false, err);
    if (rc)
        return rc;
    struct attn_plan alone = r->how;
    alone.rows = rows;
    alone.seqs = 1;
    if (watcher->wants)
        watch[watchers++] = *watcher;
    if (r->summary)
        watch[watchers++] = attn_summary_observer(r->summary);
    rc = attn_run_new(&run, r->model, &alone, watch, watchers, err);
    if (!rc)
        rc = forward(r, run, 1, err);
    attn_run_free(run);
    return rc;
}

int attn_runner_memory(const struct attn_runner *r, uint64_t *bytes, struct attn_err *err)
{
    struct attn_cost cost = {0};
    struct attn_plan p = plan_for(r, 0);
    struct attn_observer watcher = r->capture ? attn_capture_observer(r->capture) : attn_summary_observer(r->summary);
    int rc = attn_run_measure(&cost, r->model, &p, &watcher, 1, err);
    *bytes = cost.memory;
    return rc;
}
