#include "sinks/sink_csv.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "sinks/files.h"
#include "sinks/lines.h"
#include "sinks/tensor_sheet.h"

/* ---- tokens ---------------------------------------------------------------------------- */

/* Its text, or its id if it has none. */
static void put_token(struct attn_out *o, const struct attn_token *t, bool safe)
{
    if (t->known)
        attn_cell_text(o, t->text, t->text_len, safe);
    else
        attn_out_u64(o, (uint64_t)t->id);
}

int attn_cells_make(struct attn_cells *c, const struct attn_tokens *t, bool safe, struct attn_err *err)
{
    struct attn_out *o;
    size_t len;
    *c = (struct attn_cells){ .end = calloc(t->n + 1, sizeof *c->end) };
    if (!c->end)
        return attn_no_memory(err, NULL, "for the text of %zu tokens", t->n);
    int rc = attn_out_open_memory(&o, err);
    for (size_t i = 0; !rc && i < t->n; i++) {
        size_t start = (size_t)attn_out_bytes(o);
        put_token(o, &t->tok[i], safe);
        c->end[i] = (size_t)attn_out_bytes(o);
        if (c->end[i] - start > c->longest)
            c->longest = c->end[i] - start;
    }
    if (!rc)
        rc = attn_out_take(o, &c->text, &len, err);
    attn_out_close(o);
    if (rc)
        attn_cells_free(c);
    return rc;
}

void attn_cells_free(struct attn_cells *c)
{
    free(c->text);
    free(c->end);
    *c = (struct attn_cells){ 0 };
}

size_t attn_cells_put(const struct attn_cells *c, size_t i, char *buf)
{
    size_t start = i ? c->end[i - 1] : 0;
    memcpy(buf, c->text + start, c->end[i] - start);
    return c->end[i] - start;
}

/* ---- the sink -------------------------------------------------------------------------- */

struct csv {
    const struct attn_sink_job *job;
    struct attn_files *files;
    struct attn_cells rows, keys;       /* tokens of the sentence; tokens that it looks at */
    struct attn_lines *lines;
    struct attn_file *writing[ATTN_ACTS];       /* several are open, as bands of dots, scores and pattern alternate */
};

static void csv_close(void *self)
{
    struct csv *c = self;
    if (!c)
        return;
    attn_lines_free(c->lines);
    attn_cells_free(&c->rows);
    attn_cells_free(&c->keys);
    attn_files_close(c->files);
    free(c);
}

static void token_line(struct attn_out *o, size_t i, const struct attn_token *t, bool safe)
{
    attn_out_u64(o, i);
    attn_out_char(o, ',');
    if (t->id >= 0)                     /* a word of several tokens has none */
        attn_out_u64(o, (uint64_t)t->id);
    if (!t->known) {
        attn_out_str(o, ",,,\n");
        return;
    }
    attn_out_char(o, ',');
    attn_cell_text(o, t->text, t->text_len, safe);
    if (t->named) {
        attn_out_str(o, ",,\n");
        return;
    }
    attn_out_char(o, ',');
    attn_out_u64(o, t->start);
    attn_out_char(o, ',');
    attn_out_u64(o, t->end);
    attn_out_char(o, '\n');
}

static int write_tokens(struct csv *c, const char *name, const struct attn_tokens *t, struct attn_err *err)
{
    struct attn_file *file, what = { .act = -1, .layer = -1, .head = -1, .ndim = 2, .shape = { t->n, 5 } };
    snprintf(what.name, sizeof what.name, "%s", name);
    snprintf(what.file, sizeof what.file, "%s.csv", name);
    int rc = attn_files_begin(&file, c->files, &what, err);
    if (rc)
        return rc;
    attn_out_str(file->out, "index,id,text,start,end\n");
    for (size_t i = 0; i < t->n; i++)
        token_line(file->out, i, &t->tok[i], c->job->csv_safe);
    return attn_files_end(c->files, file, err);
}

static int csv_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    struct csv *c = calloc(1, sizeof *c);
    if (!c)
        return attn_no_memory(err, NULL, "for CSV files");
    c->job = job;
    size_t tokens = attn_select_tokens(job->select) ? job->cross ? 2 : 1 : 0;
    struct attn_files_plan plan = { f, "matrix", tokens == 2 ? "tables (two of tokens)" : tokens ?
                                   "tables (one of tokens)"
                                    : "matrices", attn_select_matrices(job->select) + tokens };
    int rc = attn_files_open(&c->files, job, &plan, err);
    if (!rc)
        rc = attn_cells_make(&c->rows, job->tokens, job->csv_safe, err);
    if (!rc)
        rc = attn_cells_make(&c->keys, attn_sink_keys(job), job->csv_safe, err);
    if (!rc)
        rc = attn_lines_new(&c->lines, job->team, err);
    if (!rc && tokens)
        rc = write_tokens(c, "tokens", job->tokens, err);
    if (!rc && tokens == 2)
        rc = write_tokens(c, "context_tokens", job->cross, err);
    if (rc)
        csv_close(c);
    else
        *self = c;
    return rc;
}

static unsigned csv_wants(void *self, int act, int layer)
{
    return attn_slice_wants(((struct csv *)self)->job->select, act, layer, false);
}

static void header(const struct csv *c, struct attn_out *o, const struct attn_slice *p)
{
    attn_out_str(o, "token");
    for (size_t j = 0; j < p->cols; j++) {
        attn_out_char(o, ',');
        if (attn_act_square(p->of->act))
            put_token(o, &attn_sink_keys(c->job)->tok[j], c->job->csv_safe);
        else
            attn_out_u64(o, j);
    }
    attn_out_char(o, '\n');
}

static int begin(struct csv *c, const struct attn_slice *p, struct attn_err *err)
{
    struct attn_file **file = &c->writing[p->of->act];
    struct attn_file what = { .act = p->of->act, .layer = p->of->layer, .head = p->head, .ndim = 2,
                             .shape = { p->T, p->cols } };
    if (p->n_kept) {
        what.heads = &p->kept[p->nth];
        what.n_heads = 1;
    }
    attn_act_name(what.name, p->of->act, p->of->layer);
    if (p->head >= 0)
        snprintf(what.file, sizeof what.file, "%s.head%d.csv", what.name, p->head);
    else
        snprintf(what.file, sizeof what.file, "%s.csv", what.name);
    int rc = attn_files_begin(file, c->files, &what, err);
    if (!rc)
        header(c, (*file)->out, p);
    return rc;
}

struct lines_of { const struct attn_cells *cells; const struct attn_slice *p; };

static size_t put_line(const void *ctx, size_t i, char *buf)
{
    const struct lines_of *from = ctx;
    size_t n = attn_cells_put(from->cells, from->p->row0 + i, buf);
    n += attn_slice_text(buf + n, from->p, i, 0, from->p->cols, ',');
    buf[n] = '\n';
    return n + 1;
}

static int add_slice(struct csv *c, const struct attn_slice *p, struct attn_err *err)
{
    struct attn_file **file = &c->writing[p->of->act];
    int rc = attn_slice_opens_matrix(p) ? begin(c, p, err) : 0;
    if (rc)
        return rc;
    struct lines_of from = { attn_act_of_keys(p->of->act) ? &c->keys : &c->rows, p };
    struct attn_row_printer rows = { p->rows, from.cells->longest + attn_slice_text_most(p, p->cols), put_line, &from };
    rc = attn_lines_write(c->lines, (*file)->out, &rows, err);
    if (rc || !attn_slice_ends_matrix(p))
        return rc;
    attn_lines_flush(c->lines);
    return attn_files_end(c->files, *file, err);
}

static int csv_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct csv *c = self;
    struct attn_slice p;
    int rc = 0;
    for (size_t at = 0; !rc && attn_slice_next(&p, c->job->select, probe, &at);)
        rc = add_slice(c, &p, err);
    return rc;
}

static int csv_finish(void *self, struct attn_err *err)
{
    return attn_files_finish(((struct csv *)self)->files, err);
}

static const char *csv_note(void *self)
{
    return attn_files_note(((struct csv *)self)->files);
}

static int csv_tensor(const struct attn_tensor_sheet *w, struct attn_err *err)
{
    (void)err;
    attn_out_str(w->out, attn_sheet_lists_tokens(w, 0) ? "token" : "row");
    for (size_t j = 0; j < w->cols; j++) {
        attn_out_char(w->out, ',');
        if (w->col.n)
            attn_sheet_label(w, &w->col, j);
        else
            attn_out_u64(w->out, j);
    }
    attn_out_char(w->out, '\n');
    for (size_t i = 0; i < w->rows; i++) {
        attn_sheet_label(w, &w->row, i);
        for (size_t j = 0; j < w->cols; j++) {
            attn_out_char(w->out, ',');
            attn_sheet_number(w, w->x[i * w->cols + j]);
        }
        attn_out_char(w->out, '\n');
    }
    return ATTN_OK;
}

const struct attn_sink_methods attn_csv_methods = {
    .open = csv_open, .wants = csv_wants, .watch = csv_watch, .finish = csv_finish, .note = csv_note,
    .close = csv_close, .tensor = csv_tensor,
};
