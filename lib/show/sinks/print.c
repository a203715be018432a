#include "sinks/print.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/size.h"
#include "text/label.h"

void attn_paint(struct attn_out *o, bool color, enum attn_paint paint)
{
    static const char *const codes[] = { [ATTN_PLAIN] = "\x1b[0m", [ATTN_BOLD] = "\x1b[1m", [ATTN_DIM] = "\x1b[2m" };
    if (color)
        attn_out_steer(o, codes[paint]);
}

/* ---- a matrix -------------------------------------------------------------------------- */

enum { LEFT_MAX = 16, TOP_MAX = 8, GAP = 2 };   /* columns on the terminal */
enum { DIGITS_MAX = 17 };

struct layout { size_t left, column, block; int digits; };  /* width of labels, of numbers; matrix columns of a block */

static size_t columns_of(double x, int digits)
{
    char buf[ATTN_NUM_FIXED_MAX];
    return attn_num_fixed(buf, x, digits);
}

int attn_grid_digits(double largest, int precision)
{
    double scaled = largest * pow(10, precision);
    int digits = precision;
    if (scaled > 0 && scaled < 0.5)
        for (; scaled < 100 && digits < DIGITS_MAX; digits++)
            scaled *= 10;
    return digits;
}

static inline double number(const struct attn_grid *g, size_t i) { return g->f64 ? g->f64[i] : (double)g->data[i]; }

/* Finds the lowest and highest finite number, and makes room for those that are not finite. */
static void look_at_each(struct layout *l, const struct attn_grid *g, double *low, double *high)
{
    *low = *high = 0;
    for (size_t i = 0; i < g->rows * g->cols; i++) {
        double x = number(g, i);
        if (!isfinite(x))
            l->column = larger(l->column, columns_of(x, 0));
        else if (x < *low)
            *low = x;
        else if (x > *high)
            *high = x;
    }
}

/* The widest number is the lowest, the highest, or one that is not finite. */
static void measure_numbers(struct layout *l, const struct attn_grid *g)
{
    double low = 0, high = 0, odd = 0;  /* odd: becomes NaN by a number that is not finite */
    for (size_t i = 0; i < g->rows * g->cols; i++) {
        double x = number(g, i);
        low = x < low ? x : low;
        high = x > high ? x : high;
        odd += x * 0;
    }
    if (odd != 0)
        look_at_each(l, g, &low, &high);
    l->digits = attn_grid_digits(fmax(-low, high), g->precision);
    l->column = larger(l->column, larger(columns_of(low, l->digits), columns_of(high, l->digits)));
}

/* The label of column j; a token may be as wide as the numbers below it. */
static struct attn_label top(const struct attn_grid *g, const struct layout *l, size_t j)
{
    return g->keys ? attn_label_token(&g->keys->tok[j], larger(TOP_MAX, l->column)) : attn_label_number(j);
}

static struct layout lay_out(const struct attn_grid *g)
{
    struct layout l = { 0 };
    measure_numbers(&l, g);
    for (size_t i = 0; i < g->rows; i++)
        l.left = larger(l.left, attn_label_token(&g->tokens->tok[i], LEFT_MAX).columns);
    /* the last number is the longest */
    for (size_t j = g->keys || !g->cols ? 0 : g->cols - 1; j < g->cols; j++)
        l.column = larger(l.column, top(g, &l, j).columns);
    size_t fixed = l.left + (g->more_cols ? GAP : 0), width = g->width > 0 ? (size_t)g->width : SIZE_MAX;
    l.block = width > fixed ? (width - fixed) / (l.column + GAP) : 0;
    l.block = larger(l.block, 1);
    return l;
}

static void print_top(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t from, size_t to)
{
    attn_paint(o, g->color, ATTN_DIM);
    attn_label_pad(o, l->left);
    for (size_t j = from; j < to; j++) {
        struct attn_label label = top(g, l, j);
        attn_label_pad(o, GAP);
        attn_label_right(o, &label, l->column);
    }
    attn_paint(o, g->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void print_row(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t i, size_t from,
                      size_t to)
{
    const struct attn_token *token = &g->tokens->tok[i];
    struct attn_label label = attn_label_token(token, LEFT_MAX);
    attn_paint(o, g->color, ATTN_DIM);
    if (token->known)
        attn_label_left(o, &label, l->left);
    else
        attn_label_right(o, &label, l->left);
    attn_paint(o, g->color, ATTN_PLAIN);
    for (size_t j = from; j < to; j++)
        attn_out_right(o, GAP + l->column, number(g, i * g->cols + j), l->digits);
    attn_out_str(o, g->more_cols && to == g->cols ? " …\n" : "\n");
}

static void print_block(struct attn_out *o, const struct attn_grid *g, const struct layout *l, size_t from, size_t to)
{
    if (from > 0)
        attn_out_char(o, '\n');
    if (to - from < g->cols) {
        attn_paint(o, g->color, ATTN_DIM);
        attn_out_printf(o, to - from > 1 ? "columns %zu-%zu" : "column %zu", from, to - 1);
        attn_paint(o, g->color, ATTN_PLAIN);
        attn_out_char(o, '\n');
    }
    print_top(o, g, l, from, to);
    for (size_t i = 0; i < g->rows; i++)
        print_row(o, g, l, i, from, to);
    if (g->more_rows)
        attn_out_str(o, "…\n");
}

void attn_print_grid(struct attn_out *o, const struct attn_grid *g)
{
    struct layout l = lay_out(g);
    for (size_t from = 0; from < g->cols; from += l.block)
        print_block(o, g, &l, from, l.block < g->cols - from ? from + l.block : g->cols);
}

/* ---- an array that is too large ---------------------------------------------------------- */

void attn_range_add(struct attn_range_of *r, double x)
{
    r->numbers++;
    if (!isfinite(x))
        return;
    if (!r->finite || x < r->min)
        r->min = x;
    if (!r->finite || x > r->max)
        r->max = x;
    r->finite++;
    r->sum += x;
}

void attn_print_shape(struct attn_out *o, const size_t *shape, int ndim)
{
    for (int i = 0; i < ndim; i++)
        attn_out_printf(o, i ? ", %zu" : "[%zu", shape[i]);
    attn_out_str(o, ndim ? "]" : "[]");
}

static void print_fixed(struct attn_out *o, const char *name, double x, int precision)
{
    char buf[ATTN_NUM_FIXED_MAX];
    attn_out_str(o, name);
    attn_out_write(o, buf, attn_num_fixed(buf, x, precision));
}

void attn_print_range(struct attn_out *o, const size_t *shape, int ndim, const struct attn_range_of *r, int precision)
{
    attn_print_shape(o, shape, ndim);
    print_fixed(o, ": min ", r->min, precision);
    print_fixed(o, ", max ", r->max, precision);
    print_fixed(o, ", mean ", r->finite ? r->sum / (double)r->finite : 0, precision);
    if (r->finite < r->numbers)
        attn_out_printf(o, " of %llu finite", (unsigned long long)r->finite);
    attn_out_char(o, '\n');
}

/* ---- headings ---------------------------------------------------------------------------- */

enum { TOKEN_MAX = 40 };                /* columns on the terminal */

static void title(struct attn_out *o, const char *s, bool color)
{
    attn_paint(o, color, ATTN_BOLD);
    attn_out_str(o, s);
    attn_paint(o, color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void right(struct attn_out *o, const char *s, size_t columns)
{
    attn_label_pad(o, columns - strlen(s));
    attn_out_str(o, s);
}

static void left(struct attn_out *o, const char *s, size_t columns)
{
    attn_out_str(o, s);
    attn_label_pad(o, columns - strlen(s));
}

static void widen(size_t *columns, const struct attn_label *l)
{
    if (l->columns > *columns)
        *columns = l->columns;
}

/* ---- tokens of the sentence ------------------------------------------------------------ */

struct columns { size_t index, id, token; bool text, bytes; };     /* bytes: where the tokens are in the text */

/* A word of several tokens has no id. */
static struct attn_label id_of(const struct attn_token *t)
{
    return t->id < 0 ? attn_label_text("-", 1, 1) : attn_label_number((uint64_t)t->id);
}

static struct columns measure_tokens(const struct attn_tokens *tokens, size_t n)
{
    struct columns c = { strlen("index"), strlen("id"), strlen("token"), false, false };
    for (size_t i = 0; i < n; i++) {
        c.text |= tokens->tok[i].known;
        c.bytes |= tokens->tok[i].known && !tokens->tok[i].named;
        struct attn_label index = attn_label_number(i), id = id_of(&tokens->tok[i]);
        struct attn_label token = attn_label_token(&tokens->tok[i], TOKEN_MAX);
        widen(&c.index, &index);
        widen(&c.id, &id);
        widen(&c.token, &token);
    }
    return c;
}

static void print_header(struct attn_out *o, const struct columns *c, bool color)
{
    attn_paint(o, color, ATTN_DIM);
    right(o, "index", c->index);
    right(o, "id", GAP + c->id);
    if (c->text) {
        attn_label_pad(o, GAP);
        left(o, "token", c->bytes ? c->token : strlen("token"));
        attn_out_str(o, c->bytes ? "  bytes" : "");
    }
    attn_paint(o, color, ATTN_PLAIN);
    attn_out_char(o, '\n');
}

static void print_token(struct attn_out *o, const struct columns *c, size_t i, const struct attn_token *token)
{
    struct attn_label index = attn_label_number(i), id = id_of(token);
    attn_label_right(o, &index, c->index);
    attn_label_right(o, &id, GAP + c->id);
    if (token->known) {
        struct attn_label text = attn_label_token(token, TOKEN_MAX);
        attn_label_pad(o, GAP);
        attn_label_left(o, &text, token->named ? 0 : c->token);
        if (!token->named)
            attn_out_printf(o, "  %zu-%zu", token->start, token->end);
    }
    attn_out_char(o, '\n');
}

void attn_print_tokens(struct attn_out *o, const char *heading, const struct attn_tokens *tokens, size_t limit,
                       bool color)
{
    size_t n = tokens->n < limit ? tokens->n : limit;
    struct columns c = measure_tokens(tokens, n);
    title(o, heading, color);
    print_header(o, &c, color);
    for (size_t i = 0; i < n; i++)
        print_token(o, &c, i, &tokens->tok[i]);
    if (n < tokens->n)
        attn_out_printf(o, "… %zu more (--show tokens lists them all)\n", tokens->n - n);
}

/* ---- likeliest next tokens ------------------------------------------------------------- */

/* The width of the column: that of its title, or of "0." and the digits. */
static size_t probability_columns(const struct attn_sink_job *job)
{
    size_t title_columns = strlen("probability"), number_columns = 2 + (size_t)job->precision;
    return number_columns > title_columns ? number_columns : title_columns;
}

static void print_likely(struct attn_out *o, const struct attn_sink_job *job, int32_t token, double p,
                         size_t id_columns)
{
    struct attn_label id = attn_label_number((uint64_t)token);
    attn_out_right(o, probability_columns(job), p, job->precision);
    attn_label_right(o, &id, GAP + id_columns);
    size_t len = 0;
    const char *s = job->token_text ? job->token_text(job->token_ctx, token, &len) : NULL;
    if (s) {
        struct attn_label text = attn_label_text(s, len, TOKEN_MAX);
        attn_label_pad(o, GAP);
        attn_out_str(o, text.text);
    }
    attn_out_char(o, '\n');
}

void attn_print_edits(struct attn_out *o, const struct attn_edits *edits)
{
    for (size_t i = 0; i < attn_edits_count(edits); i++)
        attn_out_printf(o, "edit: %s\n", attn_edits_text(edits, i));
}

bool attn_next_find(struct attn_next *next, const struct attn_probe *logits)
{
    if (logits->row0 + logits->rows < logits->shape[0])
        return false;
    attn_logits_top(next->best, &next->n, ATTN_NEXT_MAX, logits->data + (logits->rows - 1) * logits->ld, logits->cols,
                    &next->err);
    return true;
}

bool attn_next_before(struct attn_next *before, struct attn_compared *c, const struct attn_sink_job *job)
{
    if (!job->compare || attn_compare_result(job->compare, c, NULL))
        return false;
    *before = (struct attn_next){.n = c->n_before};
    memcpy(before->best, c->before, sizeof before->best);
    return true;
}

void attn_print_next(struct attn_out *o, const char *heading, const struct attn_next *next,
                     const struct attn_sink_job *job)
{
    size_t id_columns = strlen("id");
    for (size_t i = 0; i < next->n; i++) {
        struct attn_label id = attn_label_number((uint64_t)next->best[i].id);
        widen(&id_columns, &id);
    }
    attn_out_char(o, '\n');
    title(o, heading, job->color);
    if (!next->n) {
        attn_out_printf(o, "none: %s%s\n", next->err.msg, ATTN_NEXT_ADVICE);
        return;
    }
    attn_paint(o, job->color, ATTN_DIM);
    right(o, "probability", probability_columns(job));
    right(o, "id", GAP + id_columns);
    attn_out_str(o, job->token_text ? "  token" : "");
    attn_paint(o, job->color, ATTN_PLAIN);
    attn_out_char(o, '\n');
    for (size_t i = 0; i < next->n; i++)
        print_likely(o, job, next->best[i].id, next->best[i].p, id_columns);
}
