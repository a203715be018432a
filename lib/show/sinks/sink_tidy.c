/* sink_tidy.c - one long table with a line for each number, for R, pandas, DuckDB and SQL:
 *
 *     name,layer,head,row,col,row_token,col_token,value
 *
 * `layer` is empty outside the blocks, `head` without a head axis, and `col_token` where columns are not
 * tokens (in all but dots, scores and pattern).  Fields are quoted as in sink_csv.h; -inf, inf and nan are text.
 * The table of a batch has three more columns in front, record,line,id, and one at the end, error: a
 * sentence that failed is one line with empty fields between them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn_tools.h"
#include "base/err.h"
#include "base/num.h"
#include "base/size.h"
#include "sinks/sink_csv.h"
#include "sinks/lines.h"
#include "trace/slice.h"
#include "sinks/sink.h"
#include "sinks/tensor_sheet.h"

struct tidy {
    const struct attn_sink_job *job;
    struct attn_out *out;
    struct attn_cells rows, keys;       /* tokens of the sentence; tokens that it looks at */
    struct attn_lines *lines;
    char *record; size_t record_len;    /* "12,13,name,": in a batch, each line begins so */
};

static void tidy_close(void *self)
{
    struct tidy *t = self;
    if (!t)
        return;
    attn_lines_free(t->lines);
    attn_cells_free(&t->rows);
    attn_cells_free(&t->keys);
    attn_sink_stream_close(t->out, t->job);
    free(t->record);
    free(t);
}

#define COLUMNS "name,layer,head,row,col,row_token,col_token,value"

static int make_record(struct tidy *t, const struct attn_record *r, struct attn_err *err)
{
    struct attn_out *o;
    int rc = attn_out_open_memory(&o, err);
    if (rc)
        return rc;
    attn_cell_record(o, r, t->job->csv_safe);
    rc = attn_out_take(o, &t->record, &t->record_len, err);
    attn_out_close(o);
    return rc;
}

static void tidy_failed(struct attn_out *o, const struct attn_sink_job *job, const char *why)
{
    attn_cell_record(o, job->record->of, job->csv_safe);
    for (const char *s = COLUMNS; *s; s++)
        attn_out_str(o, *s == ',' ? "," : "");
    attn_out_char(o, ',');
    attn_cell_text(o, why, strlen(why), job->csv_safe);
    attn_out_char(o, '\n');
}

static int tidy_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    (void)f;
    if (!attn_select_activations(job->select))
        return attn_fail(err, ATTN_EUSAGE, "the tidy table holds activations, and only tokens are selected; "
                         "for the token table take text, json or csv");
    struct tidy *t = calloc(1, sizeof *t);
    if (!t)
        return attn_no_memory(err, NULL, "for a table");
    t->job = job;
    int rc = attn_sink_stream(&t->out, job, err);
    if (!rc)
        rc = attn_cells_make(&t->rows, job->tokens, job->csv_safe, err);
    if (!rc)
        rc = attn_cells_make(&t->keys, attn_sink_keys(job), job->csv_safe, err);
    if (!rc)
        rc = attn_lines_new(&t->lines, job->team, err);
    if (!rc && job->record)
        rc = make_record(t, job->record->of, err);
    if (rc) {
        tidy_close(t);
        return rc;
    }
    if (!job->record)
        attn_out_str(t->out, COLUMNS "\n");
    *self = t;
    return 0;
}

static unsigned tidy_wants(void *self, int act, int layer)
{
    return attn_slice_wants(((struct tidy *)self)->job->select, act, layer, true);
}

struct lines_of { const struct tidy *t; const struct attn_slice *p; char start[ATTN_NAME_MAX + 32]; int start_len; };

/* Prints the columns that are the same for all of a slice: "blocks.0.attn.pattern,0,3,". */
static void put_start(struct lines_of *from)
{
    const struct attn_slice *p = from->p;
    char layer[16] = "", head[16] = "";
    if (p->of->layer >= 0)
        snprintf(layer, sizeof layer, "%d", p->of->layer);
    if (p->head >= 0)
        snprintf(head, sizeof head, "%d", p->head);
    from->start_len = snprintf(from->start, sizeof from->start, "%s,%s,%s,", p->of->name, layer, head);
}

static size_t put_line(const struct lines_of *from, size_t i, size_t col, char *buf)
{
    const struct tidy *t = from->t;
    size_t row = from->p->row0 + i;
    int act = from->p->of->act;
    char *at = t->record ? mempcpy(buf, t->record, t->record_len) : buf;
    at = mempcpy(at, from->start, (size_t)from->start_len);
    at += attn_num_u64(at, row);
    *at++ = ',';
    at += attn_num_u64(at, col);
    *at++ = ',';
    at += attn_cells_put(attn_act_of_keys(act) ? &t->keys : &t->rows, row, at);
    *at++ = ',';
    if (attn_act_square(act))
        at += attn_cells_put(&t->keys, col, at);
    at += attn_slice_text(at, from->p, i, col, 1, ',');
    if (t->record)
        *at++ = ',';
    *at++ = '\n';
    return (size_t)(at - buf);
}

enum { SPAN = 256 };                 /* how many numbers of a row are printed at a time, as rows may be long */

static size_t spans(const struct attn_slice *p)
{
    return parts_of(p->cols, SPAN);
}

static size_t put_span(const void *ctx, size_t i, char *buf)
{
    const struct lines_of *from = ctx;
    size_t row = i / spans(from->p), start = i % spans(from->p) * SPAN, len = 0;
    for (size_t j = start; j < from->p->cols && j < start + SPAN; j++)
        len += put_line(from, row, j, buf + len);
    return len;
}

static int write_slice(struct tidy *t, const struct attn_slice *p, struct attn_err *err)
{
    /* Two indices, commas and the end of the line; the number. */
    const size_t rest = 2 * ATTN_NUM_MAX + 8 + attn_slice_text_most(p, 1);
    struct lines_of from = { .t = t, .p = p };
    put_start(&from);
    size_t line = t->record_len + (size_t)from.start_len + t->rows.longest + 2 * t->keys.longest + rest;
    struct attn_row_printer rows = { p->rows * spans(p), SPAN * line, put_span, &from };
    return attn_lines_write(t->lines, t->out, &rows, err);
}

static int tidy_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct tidy *t = self;
    struct attn_slice p;
    int rc = 0;                         /* the output keeps its error for finish */
    for (size_t at = 0; !rc && !attn_out_failed(t->out) && attn_slice_next(&p, t->job->select, probe, &at);)
        rc = write_slice(t, &p, err);
    return rc;
}

static int tidy_finish(void *self, struct attn_err *err)
{
    struct tidy *t = self;
    attn_lines_flush(t->lines);
    return attn_sink_stream_end(t->out, t->job, err);
}

static int tidy_tensor(const struct attn_tensor_sheet *w, struct attn_err *err)
{
    (void)err;
    attn_out_str(w->out, COLUMNS "\n");
    for (size_t k = 0; k < w->rows * w->cols; k++) {
        size_t i = k / w->cols, j = k % w->cols;
        attn_cell_text(w->out, w->of->name, strlen(w->of->name), w->o->csv_safe);
        attn_out_printf(w->out, ",,,%zu,%zu,", i, j);
        if (w->row.tok[i].known)
            attn_sheet_label(w, &w->row, i);
        attn_out_char(w->out, ',');
        if (w->col.n && w->col.tok[j].known)
            attn_sheet_label(w, &w->col, j);
        attn_out_char(w->out, ',');
        attn_sheet_number(w, w->x[k]);
        attn_out_char(w->out, '\n');
    }
    return ATTN_OK;
}

const struct attn_sink_methods attn_tidy_methods = {
    .open = tidy_open, .wants = tidy_wants, .watch = tidy_watch, .finish = tidy_finish, .close = tidy_close,
    .header = "record,line,id," COLUMNS ",error\n", .failed = tidy_failed, .tensor = tidy_tensor,
};
