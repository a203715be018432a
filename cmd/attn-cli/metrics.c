/* metrics.c - metrics of a text: rows of JSON are
 *
 *     {"metric", "value"}                                    without edits, or with --no-compare
 *     {"metric", "before", "after", "difference"}            with edits: after - before
 *     {"layer", "head", "metric", "before", "after", "difference"}       without each head */
#include "metrics.h"

#include "asking.h"
#include "opts_attention.h"
#include "opts_output.h"

#include "base/err.h"
#include "table/columns.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------- */

int metrics_read(struct metrics *m, const struct many *typed, struct attn_err *err)
{
    int code = ATTN_OK;
    m->of = calloc(typed->n + 1, sizeof *m->of);
    m->before = calloc(typed->n + 1, sizeof *m->before);
    m->after = calloc(typed->n + 1, sizeof *m->after);
    m->without = calloc(typed->n + 1, sizeof *m->without);
    if (!m->of || !m->before || !m->after || !m->without)
        return attn_no_memory(err, NULL, "for %zu metrics", typed->n);
    for (; m->n < typed->n && !code; m->n += !code) {
        code = attn_metric_new(&m->of[m->n], typed->item[m->n].value, err);
        m->before[m->n].metric = m->after[m->n].metric = m->without[m->n].metric = m->of[m->n];
    }
    return code;
}

int metrics_bind(struct metrics *m, struct session *s, struct attn_err *err)
{
    int code = m->n ? attn_tokens_to_ids(&m->ids, s->tokens, err) : ATTN_OK;
    for (size_t i = 0; i < m->n && !code; i++)
        code = bind_metric(m->of[i], s->model, &s->tokenizer, m->ids, s->tokens->n, err);
    return code;
}

void metrics_free(struct metrics *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->without[i].after);
        attn_metric_free(m->of[i]);
    }
    free(m->of);
    free(m->ids);
    free(m->before);
    free(m->after);
    free(m->without);
}

/* ---- measuring --------------------------------------------------------------------------- */

static bool refers(const struct metrics *m)
{
    bool any = false;
    for (size_t i = 0; i < m->n; i++)
        any |= attn_metric_refers(m->of[i]);
    return any;
}

/* One pass with these observers, of which there are n and room for one more. */
static int pass(struct session *s, struct attn_observer *observer, size_t n, bool progress, struct attn_err *err)
{
    struct attn_plan plan = plan_asked();
    progress_start(&s->progress, s->model, progress);
    observer[n++] = progress_observer(&s->progress);
    int code = attn_run_tokens(s->model, &plan, s->tokens, s->cross, observer, n, err);
    progress_end(&s->progress);
    return code;
}

/* Of the run without edits, which is the reference of kl. */
static size_t watch_before(const struct metrics *m, struct attn_observer *observer)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (attn_metric_refers(m->of[i]))
            observer[n++] = attn_metric_refer_observer(m->of[i]);
    for (size_t i = 0; i < m->n && m->has_before; i++)
        observer[n++] = attn_measure_observer(&m->before[i]);
    return n;
}

static size_t watch_after(const struct metrics *m, const struct edits *edits, struct attn_observer *observer)
{
    size_t n = edits_observe(edits, observer);
    for (size_t i = 0; i < m->n; i++)
        observer[n++] = attn_measure_observer(&m->after[i]);
    return n;
}

int metrics_measure(struct metrics *m, struct session *s, bool progress, struct attn_err *err)
{
    int code = ATTN_OK;
    struct attn_observer *observer = calloc(2 * m->n + 2, sizeof *observer);
    if (!observer)
        return attn_no_memory(err, NULL, "for %zu metrics", m->n);
    m->has_after = s->edits.editor != NULL;
    m->has_before = !m->has_after || !option_given(compare_options);
    if (refers(m) && !m->has_after)
        say_note("attn-cli run: without edits kl is 0: it measures how far edits move the prediction");
    if (m->has_before || refers(m))
        code = pass(s, observer, watch_before(m, observer), progress, err);
    if (!code && m->has_after)
        code = pass(s, observer, watch_after(m, &s->edits, observer), progress, err);
    free(observer);
    return code;
}

int metrics_refer(struct metrics *m, const struct session *s, struct attn_err *err)
{
    struct attn_plan plan = plan_asked();
    int code = ATTN_OK;
    for (size_t i = 0; i < m->n && !code; i++)
        code = attn_metric_refer_to(m->of[i], s->model, s->tokens, &plan, err);
    return code;
}

/* ---- the table --------------------------------------------------------------------------- */

struct rows { const struct metrics *of; const struct attn_ablated *head; };

static void fill_values(struct attn_datum *cell, const char *metric, double before, double after)
{
    cell[0] = attn_datum_str(metric);
    cell[1] = attn_datum_number(before);
    cell[2] = attn_datum_number(after);
    cell[3] = attn_datum_number(after == before ? 0 : after - before);      /* also of two infinities */
}

static void fill_value(struct attn_datum *cell, const void *self, size_t i)
{
    const struct metrics *m = ((const struct rows *)self)->of;
    cell[0] = attn_datum_str(attn_metric_text(m->of[i]));
    cell[1] = attn_datum_number(m->has_after ? m->after[i].value : m->before[i].value);
}

static void fill_edited(struct attn_datum *cell, const void *self, size_t i)
{
    const struct metrics *m = ((const struct rows *)self)->of;
    fill_values(cell, attn_metric_text(m->of[i]), m->before[i].value, m->after[i].value);
}

static void fill_without(struct attn_datum *cell, const void *self, size_t i)
{
    const struct rows *rows = self;
    const struct metrics *m = rows->of;
    const struct attn_ablated_metric *x = &m->without[i % m->n];
    cell[0] = attn_datum_whole(rows->head[i / m->n].layer);
    cell[1] = attn_datum_whole(rows->head[i / m->n].head);
    fill_values(cell + 2, attn_metric_text(x->metric), x->before, x->after[i / m->n]);
}

enum { LAYER, HEAD, METRIC, BEFORE, AFTER, DIFFERENCE, COLUMNS };

int metrics_write(const struct metrics *m, const struct run_answer *to, int precision, const struct attn_ablated *head,
                  size_t heads, struct attn_err *err)
{
    const int digits = precision ? precision : ATTN_DIGITS_NONE;
    const struct attn_column values[COLUMNS] = {
        [LAYER] = {.name = "layer", .kind = ATTN_COLUMN_WHOLE}, [HEAD] = {.name = "head", .kind = ATTN_COLUMN_WHOLE},
        [METRIC] = {.name = "metric", .kind = ATTN_COLUMN_TEXT},
        [BEFORE] = {.name = "before", .kind = ATTN_COLUMN_REAL, .digits = digits},
        [AFTER] = {.name = "after", .kind = ATTN_COLUMN_REAL, .digits = digits},
        [DIFFERENCE] = {.name = "difference", .kind = ATTN_COLUMN_REAL, .digits = digits}};
    const struct attn_column value[] = {
        values[METRIC], {.name = "value", .kind = ATTN_COLUMN_REAL, .digits = digits}};
    const struct rows rows = {m, head};
    struct attn_table t = {.self = &rows, .rows = m->n, .spaced = true, .csv_safe = csv_safe()};
    if (head) {
        t.column = values;
        t.columns = COLUMNS;
        t.rows = heads * m->n;
        t.row = fill_without;
    } else if (m->has_before && m->has_after) {
        t.column = values + METRIC;
        t.columns = COLUMNS - METRIC;
        t.row = fill_edited;
    } else {
        t.column = value;
        t.columns = 2;
        t.row = fill_value;
    }
    return run_answer_write(to, &t, err);
}
