/* sink_text.c - prints for people: the tokens, each matrix with its tokens beside it, the likeliest next tokens.
 *
 * If there are more than `limit` numbers in all, each activation is summarised instead; logits of a
 * large vocabulary always are.  One matrix is held at a time, as columns of equal width depend on all its numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attn_ask.h"
#include "attn_tools.h"
#include "base/err.h"
#include "base/num.h"
#include "base/out.h"
#include "base/size.h"
#include "model/model.h"
#include "text/label.h"
#include "trace/slice.h"
#include "sinks/print.h"
#include "sinks/sink.h"
#include "sinks/tensor_sheet.h"

enum {
    MANY_LOGITS = 1000,                 /* logits of a larger vocabulary are summarised: nobody reads so many columns */
    MANY_TOKENS = 16                    /* most tokens listed with summaries, unless the token table was asked for */
};

/* A summary of an activation that is too large to print: its range, its mean and its upper left corner. */
enum { CORNER_ROWS = 4, CORNER_COLS = 6 };

struct stats {
    struct attn_range_of of;
    size_t rows, cols;                  /* of the corner, which is that of the first matrix */
    double corner[CORNER_ROWS * CORNER_COLS];
};

struct text {
    const struct attn_sink_job *job;
    struct attn_out *out;
    bool summary, shortened;            /* all activations are to be summarised; one was */
    double *matrix; size_t room;        /* the matrix being collected; how many numbers it has room for */
    struct stats stats;
    struct attn_next next;
    bool predicts;                      /* `next` was found */
    bool begun;                         /* something was printed: what follows is set off by an empty line */
};

/* ---- how much there is ----------------------------------------------------------------- */

static bool too_wide(const struct attn_sink_job *job, int act)
{
    return act == ATTN_ACT_LOGITS && job->model->V > MANY_LOGITS;
}

static uint64_t saturating_mul(uint64_t a, uint64_t b)
{
    uint64_t c;
    return __builtin_mul_overflow(a, b, &c) ? UINT64_MAX : c;
}

static uint64_t count_numbers(const struct attn_sink_job *job)
{
    uint64_t total = 0;
    for (int layer = -1; layer < (int)job->model->L; layer++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            size_t shape[3], heads;
            if (!attn_select_wants(job->select, act, layer) || too_wide(job, act))
                continue;
            int ndim = attn_act_shape(shape, job->model, act, job->tokens->n, attn_sink_keys(job)->n);
            attn_select_heads(job->select, act, layer, &heads);
            uint64_t n = saturating_mul(shape[ndim - 2], shape[ndim - 1]);
            n = saturating_mul(n, heads ? heads : 1);
            total = total > UINT64_MAX - n ? UINT64_MAX : total + n;
        }
    return total;
}

/* ---- a summary ------------------------------------------------------------------------- */

/* s must be zeroed before the first slice. */
static void add_stats(struct stats *s, const struct attn_slice *p)
{
    s->rows = p->T < CORNER_ROWS ? p->T : CORNER_ROWS;
    s->cols = p->cols < CORNER_COLS ? p->cols : CORNER_COLS;
    for (size_t i = 0; i < p->rows; i++) {
        for (size_t j = 0; j < p->cols; j++)
            attn_range_add(&s->of, attn_slice_number(p, i, j));
        for (size_t j = 0; j < s->cols && p->nth == 0 && p->row0 + i < s->rows; j++)
            s->corner[(p->row0 + i) * s->cols + j] = attn_slice_number(p, i, j);
    }
}

/* ---- matrices -------------------------------------------------------------------------- */

static const char *head_noun(const struct text *t, const struct attn_slice *p)
{
    return attn_act_kv_heads(p->of->act) && t->job->model->Hkv != t->job->model->H ? "kv head" : "head";
}

static void print_count(struct text *t, const char *before, uint64_t n)
{
    attn_out_str(t->out, before);
    attn_out_u64(t->out, n);
}

/* "layer 0, head 1: attention pattern (rows: queries, columns: keys)", and the beginning of a line
 * with the name that --show takes. */
static void print_title(struct text *t, const struct attn_slice *p, int head)
{
    if (t->begun)
        attn_out_char(t->out, '\n');
    t->begun = true;
    attn_paint(t->out, t->job->color, ATTN_BOLD);
    if (p->of->layer >= 0)
        print_count(t, "layer ", (uint64_t)p->of->layer);
    if (head >= 0) {
        attn_out_str(t->out, ", ");
        attn_out_str(t->out, head_noun(t, p));
        print_count(t, " ", (uint64_t)head);
    }
    attn_out_str(t->out, p->of->layer >= 0 ? ": " : "");
    attn_out_str(t->out, attn_act_title(p->of->act));
    attn_out_str(t->out, t->job->kind.note ? t->job->kind.note : "");
    attn_out_str(t->out, attn_act_axes(p->of->act));
    attn_paint(t->out, t->job->color, ATTN_PLAIN);
    attn_out_char(t->out, '\n');
    attn_paint(t->out, t->job->color, ATTN_DIM);
    attn_out_str(t->out, p->of->name);
    attn_paint(t->out, t->job->color, ATTN_PLAIN);
}

/* To who looks at a terminal, beside the name: a program may read that line. */
static void print_shape(struct text *t, const struct attn_slice *p)
{
    size_t shape[3];
    if (!t->job->limit)
        return;
    attn_out_char(t->out, ' ');
    attn_print_shape(t->out, shape, attn_slice_shape(shape, p));
}

/* The tokens of the rows of an activation, which for k and v are the keys. */
static const struct attn_tokens *rows_of(const struct attn_sink_job *job, int act)
{
    return attn_act_of_keys(act) ? attn_sink_keys(job) : job->tokens;
}

static struct attn_grid grid_of(const struct text *t, const struct attn_slice *p, const double *data, size_t rows,
                                size_t cols)
{
    return (struct attn_grid){
        .f64 = data, .rows = rows, .cols = cols, .tokens = rows_of(t->job, p->of->act),
        .keys = attn_act_square(p->of->act) ? attn_sink_keys(t->job) : NULL,
        .more_rows = rows < p->T, .more_cols = cols < p->cols,
        .precision = t->job->precision, .width = t->job->width, .color = t->job->color,
    };
}

static int grow_matrix(struct text *t, const struct attn_slice *p, struct attn_err *err)
{
    size_t need, bytes;
    if (__builtin_mul_overflow(p->T, p->cols, &need) || __builtin_mul_overflow(need, sizeof *t->matrix, &bytes))
        return attn_no_memory(err, p->of->name, "to print %zu x %zu numbers", p->T, p->cols);
    if (need <= t->room)
        return 0;
    double *matrix = realloc(t->matrix, bytes);
    if (!matrix)
        return attn_no_memory(err, p->of->name, "to print %zu x %zu numbers", p->T, p->cols);
    t->matrix = matrix;
    t->room = need;
    return 0;
}

static int print_slice(struct text *t, const struct attn_slice *p, struct attn_err *err)
{
    int rc = attn_slice_opens_matrix(p) ? grow_matrix(t, p, err) : 0;
    for (size_t i = 0; !rc && i < p->rows; i++)
        for (size_t j = 0; j < p->cols; j++)
            t->matrix[(p->row0 + i) * p->cols + j] = attn_slice_number(p, i, j);
    if (rc || !attn_slice_ends_matrix(p))
        return rc;
    struct attn_grid grid = grid_of(t, p, t->matrix, p->T, p->cols);
    print_title(t, p, p->head);
    print_shape(t, p);
    attn_out_char(t->out, '\n');
    attn_print_grid(t->out, &grid);
    return 0;
}

static void print_number(struct text *t, const char *name, double x)
{
    char buf[ATTN_NUM_FIXED_MAX];
    attn_out_str(t->out, name);
    attn_out_write(t->out, buf, attn_num_fixed(buf, x, t->job->precision));
}

static void summarise_slice(struct text *t, const struct attn_slice *p)
{
    size_t shape[3];
    if (attn_slice_opens(p))
        t->stats = (struct stats){ 0 };
    add_stats(&t->stats, p);
    if (!attn_slice_ends(p))
        return;
    t->shortened = true;
    print_title(t, p, -1);
    attn_out_char(t->out, ' ');
    int ndim = attn_slice_shape(shape, p);
    attn_print_range(t->out, shape, ndim, &t->stats.of, t->job->precision);
    if (p->n_kept)
        attn_out_printf(t->out, "%s %zu begins:\n", head_noun(t, p), p->kept[0]);
    struct attn_grid grid = grid_of(t, p, t->stats.corner, t->stats.rows, t->stats.cols);
    attn_print_grid(t->out, &grid);
}

/* ---- the sink -------------------------------------------------------------------------- */

static void text_close(void *self)
{
    struct text *t = self;
    if (!t)
        return;
    attn_out_close(t->out);
    free(t->matrix);
    free(t);
}

static int text_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    (void)f;
    struct text *t = calloc(1, sizeof *t);
    if (!t)
        return attn_no_memory(err, NULL, "for the text output");
    t->job = job;
    t->summary = job->limit && count_numbers(job) > job->limit;
    int rc = attn_out_open(&t->out, job->path, err);
    if (rc) {
        text_close(t);
        return rc;
    }
    bool all = !t->summary || attn_select_tokens(job->select);
    bool explained = job->limit && attn_label_has_dots(job->tokens);        /* to who reads it, and to no program */
    t->begun = attn_select_tokens(job->select) || !(job->of && job->of->attend);      /* numbers have no vocabulary */
    if (t->begun)
        attn_print_tokens(t->out, explained ? "tokens; · is a space" : "tokens", job->tokens,
                          all ? SIZE_MAX : MANY_TOKENS, job->color);
    if (job->cross && t->begun) {
        attn_out_char(t->out, '\n');
        attn_print_tokens(t->out, "tokens of the other text, the keys", job->cross, all ? SIZE_MAX : MANY_TOKENS,
                          job->color);
    }
    if (job->gradient) {
        attn_out_printf(t->out, "\n%s", job->gradient->metric);
        print_number(t, " = ", job->gradient->value);
        attn_out_char(t->out, '\n');
    }
    *self = t;
    return 0;
}

static unsigned text_wants(void *self, int act, int layer)
{
    const struct attn_sink_job *job = ((struct text *)self)->job;
    unsigned wants = attn_slice_wants(job->select, act, layer, true);
    if (act == ATTN_ACT_LOGITS && job->model->unembed && !job->gradient && !wants)
        wants = ATTN_WATCH | ATTN_LAST;
    return wants;
}

static int text_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct text *t = self;
    struct attn_slice p;
    int rc = 0;
    if (probe->act == ATTN_ACT_LOGITS && !t->job->gradient)
        t->predicts |= attn_next_find(&t->next, probe);
    for (size_t at = 0; !rc && !attn_out_failed(t->out) && attn_slice_next(&p, t->job->select, probe, &at);) {
        if (t->summary || too_wide(t->job, probe->act))
            summarise_slice(t, &p);
        else
            rc = print_slice(t, &p, err);
    }
    return rc;
}

/* The next tokens and, if the run was edited, those without the edits. */
static void print_next(struct text *t)
{
    static const char heading[] = "likeliest next tokens";
    struct attn_compared c;
    struct attn_next before;
    if (!attn_next_before(&before, &c, t->job)) {
        attn_print_next(t->out, heading, &t->next, t->job);
        return;
    }
    attn_print_next(t->out, "likeliest next tokens, before the edits", &before, t->job);
    attn_print_next(t->out, "likeliest next tokens, after the edits", &t->next, t->job);
    print_number(t, "\nKL(before || after)  ", c.kl);
    attn_out_str(t->out, " nats\n");
}

static int text_finish(void *self, struct attn_err *err)
{
    struct text *t = self;
    attn_out_str(t->out, attn_edits_count(t->job->edits) ? "\n" : "");
    attn_print_edits(t->out, t->job->edits);
    if (t->predicts)
        print_next(t);
    if (t->shortened)
        attn_out_str(t->out, t->summary ? "\nThis is a summary. For every number, pipe the output or add -o FILE; for "
                                          "programs,\nuse --format npy -o DIR or another --format.\n"
                                        : "\nThe logits are a summary. For every number, use --format npy -o DIR or "
                                          "another --format.\n");
    return attn_out_commit(t->out, err);
}

/* ---- a tensor ---------------------------------------------------------------------------- */

static struct attn_grid sheet_grid(const struct attn_tensor_sheet *w, size_t rows, size_t cols, const float *data)
{
    return (struct attn_grid){.data = data, .rows = rows, .cols = cols, .tokens = &w->row,
                              .keys = w->col.n ? &w->col : NULL, .more_rows = rows < w->rows,
                              .more_cols = cols < w->cols, .precision = w->o->precision, .width = w->o->width,
                              .color = w->o->color};
}

static void print_corner(const struct attn_tensor_sheet *w)
{
    float corner[CORNER_ROWS * CORNER_COLS];
    size_t rows = smaller(w->rows, CORNER_ROWS), cols = smaller(w->cols, CORNER_COLS);
    struct attn_range_of range = {0};
    for (size_t i = 0; i < w->rows * w->cols; i++)
        attn_range_add(&range, (double)w->x[i]);
    for (size_t i = 0; i < rows; i++)
        memcpy(corner + i * cols, w->x + i * w->cols, cols * sizeof *corner);
    attn_print_range(w->out, w->of->shape, w->of->ndim, &range, w->o->precision);
    struct attn_grid grid = sheet_grid(w, rows, cols, corner);
    attn_print_grid(w->out, &grid);
    attn_out_str(w->out, "\nThis is a summary. For every number, pipe the output or add -o FILE: .csv, .npy, .json "
                         "or a picture's.\n");
}

static int text_tensor(const struct attn_tensor_sheet *w, struct attn_err *err)
{
    (void)err;
    attn_paint(w->out, w->o->color, ATTN_BOLD);
    attn_out_str(w->out, w->of->name);
    attn_paint(w->out, w->o->color, ATTN_PLAIN);
    attn_out_printf(w->out, ", %s%s%s ", w->o->stored ? w->o->stored : "", w->o->stored ? " of " : "", w->of->dtype);
    if (w->o->limit && w->of->count > w->o->limit) {
        print_corner(w);
        return ATTN_OK;
    }
    attn_print_shape(w->out, w->of->shape, w->of->ndim);
    attn_out_char(w->out, '\n');
    struct attn_grid grid = sheet_grid(w, w->rows, w->cols, w->x);
    attn_print_grid(w->out, &grid);
    return ATTN_OK;
}

const struct attn_sink_methods attn_text_methods = {
    .open = text_open, .wants = text_wants, .watch = text_watch, .finish = text_finish, .close = text_close,
    .tensor = text_tensor,
};
