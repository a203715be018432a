/* tidy.c - one long table, a line a number, for R, pandas, DuckDB and SQL:
 *
 *     name,layer,head,row,col,row_token,col_token,value
 *
 * Empty are `layer` outside the blocks, `head` without a head axis, and `col_token` where columns
 * are no tokens (all but dots, scores and pattern).  Fields as in cell.h, -inf, inf, nan as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "sinks/cell.h"
#include "sinks/lines.h"
#include "sinks/piece.h"
#include "sinks/sink.h"

struct tidy {
    const struct attn_sink_job *job;
    struct attn_out *out;
    struct attn_cells rows, keys;       /* of the text, of what it looks at */
    struct attn_lines *lines;
};

static void tidy_close(void *self)
{
    struct tidy *t = self;
    if (!t)
        return;
    attn_lines_free(t->lines);
    attn_cells_free(&t->rows);
    attn_cells_free(&t->keys);
    attn_out_close(t->out);
    free(t);
}

static int tidy_open(void **self, const struct attn_sink_job *job, struct attn_err *err)
{
    if (!attn_select_activations(job->select))
        return attn_fail(err, ATTN_EUSAGE, "the tidy table holds activations, and only tokens are selected; "
                         "for the token table take text, json or csv");
    struct tidy *t = calloc(1, sizeof *t);
    if (!t)
        return attn_fail(err, ATTN_ENOMEM, "no memory for a table");
    t->job = job;
    int rc = attn_out_open(&t->out, job->path, err);
    if (!rc)
        rc = attn_cells_make(&t->rows, job->tokens, err);
    if (!rc)
        rc = attn_cells_make(&t->keys, attn_sink_keys(job), err);
    if (!rc)
        rc = attn_lines_new(&t->lines, job->team, err);
    if (rc) {
        tidy_close(t);
        return rc;
    }
    attn_out_str(t->out, "name,layer,head,row,col,row_token,col_token,value\n");
    *self = t;
    return 0;
}

static unsigned tidy_wants(void *self, int act, int layer)
{
    return attn_piece_wants(((struct tidy *)self)->job->select, act, layer, true);
}

struct lines_of { const struct tidy *t; const struct attn_piece *p; char start[ATTN_NAME_MAX + 32]; int start_len; };

/* Columns that are the same in all of a piece: "blocks.0.attn.pattern,0,3,". */
static void put_start(struct lines_of *from)
{
    const struct attn_piece *p = from->p;
    char layer[16] = "", head[16] = "";
    if (p->of->layer >= 0)
        snprintf(layer, sizeof layer, "%d", p->of->layer);
    if (p->head >= 0)
        snprintf(head, sizeof head, "%d", p->head);
    from->start_len = snprintf(from->start, sizeof from->start, "%s,%s,%s,", p->of->name, layer, head);
}

static size_t put_line(const struct lines_of *from, size_t row, size_t col, float x, char *buf)
{
    const struct tidy *t = from->t;
    int act = from->p->of->act;
    char *at = mempcpy(buf, from->start, (size_t)from->start_len);
    at += attn_num_u64(at, row);
    *at++ = ',';
    at += attn_num_u64(at, col);
    *at++ = ',';
    at += attn_cells_put(attn_act_kv(act) ? &t->keys : &t->rows, row, at);
    *at++ = ',';
    if (attn_act_square(act))
        at += attn_cells_put(&t->keys, col, at);
    *at++ = ',';
    at += attn_num_f32(at, x);
    *at++ = '\n';
    return (size_t)(at - buf);
}

enum { STRETCH = 256 };                 /* columns of a row put at a time: lines are long and rows may be, too */

static size_t stretches(const struct attn_piece *p)
{
    return (p->cols + STRETCH - 1) / STRETCH;
}

static size_t put_stretch(const void *ctx, size_t i, char *buf)
{
    const struct lines_of *from = ctx;
    size_t row = i / stretches(from->p), start = i % stretches(from->p) * STRETCH, len = 0;
    const float *x = attn_piece_row(from->p, row);
    for (size_t j = start; j < from->p->cols && j < start + STRETCH; j++)
        len += put_line(from, from->p->row0 + row, j, x[j], buf + len);
    return len;
}

static int write_piece(struct tidy *t, const struct attn_piece *p, struct attn_err *err)
{
    enum { REST = 3 * ATTN_NUM_MAX + 8 };       /* two indices, the number, commas and line end */
    struct lines_of from = { .t = t, .p = p };
    put_start(&from);
    size_t line = (size_t)from.start_len + t->rows.longest + 2 * t->keys.longest + REST;
    struct attn_rows rows = { p->rows * stretches(p), STRETCH * line, put_stretch, &from };
    return attn_lines_write(t->lines, t->out, &rows, err);
}

static int tidy_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct tidy *t = self;
    struct attn_piece p;
    int rc = 0;                         /* the output keeps its error for finish */
    for (size_t at = 0; !rc && !attn_out_failed(t->out) && attn_piece_next(&p, t->job->select, probe, &at);)
        rc = write_piece(t, &p, err);
    return rc;
}

static int tidy_finish(void *self, struct attn_err *err)
{
    struct tidy *t = self;
    attn_lines_flush(t->lines);
    return attn_out_commit(t->out, err);
}

const struct attn_format attn_format_tidy = {
    .name = "tidy",
    .open = tidy_open, .wants = tidy_wants, .watch = tidy_watch, .finish = tidy_finish, .close = tidy_close,
};
