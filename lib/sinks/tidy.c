/* tidy.c - one long table, a line a number, for R, pandas, DuckDB and SQL:
 *
 *     name,layer,head,row,col,row_token,col_token,value
 *
 * Empty are `layer` outside the blocks, `head` without a head axis, and `col_token` where columns
 * are no tokens (all but dots, scores and pattern).  Fields as in cell.h, -inf, inf, nan as text. */
#include <stdlib.h>

#include "base/err.h"
#include "sinks/cell.h"
#include "sinks/piece.h"
#include "sinks/sink.h"

struct tidy { const struct attn_sink_job *job; struct attn_out *out; };

static void tidy_close(void *self)
{
    struct tidy *t = self;
    if (!t)
        return;
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

static void index_or_empty(struct attn_out *o, int i)
{
    attn_out_char(o, ',');
    if (i >= 0)
        attn_out_u64(o, (uint64_t)i);
}

static void line(const struct tidy *t, const struct attn_piece *p, size_t row, size_t col, float x)
{
    attn_out_str(t->out, p->of->name);
    index_or_empty(t->out, p->of->layer);
    index_or_empty(t->out, p->head);
    attn_out_char(t->out, ',');
    attn_out_u64(t->out, row);
    attn_out_char(t->out, ',');
    attn_out_u64(t->out, col);
    attn_out_char(t->out, ',');
    attn_cell_token(t->out, &t->job->tokens->tok[row]);
    attn_out_char(t->out, ',');
    if (attn_act_square(p->of->act))
        attn_cell_token(t->out, &t->job->tokens->tok[col]);
    attn_out_char(t->out, ',');
    attn_out_f32(t->out, x);
    attn_out_char(t->out, '\n');
}

static int tidy_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    (void)err;                          /* the output keeps its error for finish */
    struct tidy *t = self;
    struct attn_piece p;
    for (size_t at = 0; !attn_out_failed(t->out) && attn_piece_next(&p, t->job->select, probe, &at);)
        for (size_t i = 0; i < p.rows; i++)
            for (size_t j = 0; j < p.cols; j++)
                line(t, &p, p.row0 + i, j, attn_piece_row(&p, i)[j]);
    return 0;
}

static int tidy_finish(void *self, struct attn_err *err)
{
    return attn_out_commit(((struct tidy *)self)->out, err);
}

const struct attn_format attn_format_tidy = {
    .name = "tidy",
    .open = tidy_open, .wants = tidy_wants, .watch = tidy_watch, .finish = tidy_finish, .close = tidy_close,
};
