/* dump_table.c - reads dumps from tables of text: one matrix, or the long table of many.
 *
 * Matrices are as `run --format csv` writes them, or bare numbers.
 *
 * RFC 4180: fields are separated by commas, or by semicolons or tabs (fields.h); a field that contains one is quoted,
 * and quotes in it are doubled.
 * The first row labels the columns, the first field of each row labels the row; all others are numbers, which may be
 * inf or nan.  If the very first field is a number, there are no labels at all.
 *
 * The long table is that of `run --format tidy`:
 *
 *     name,layer,head,row,col,row_token,col_token,value
 *
 * in the order it is written: array by array; heads, rows and columns ascending.  Column labels are taken from the
 * first array that has any. */
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/num.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "io/dump.h"
#include "io/fields.h"
#include "trace/trace.h"

/* ---- one matrix ------------------------------------------------------------------------ */

struct table { struct attn_array of; size_t room, rows, columns, labels /* of a row: 1 or 0 */; };

/* Spreadsheets write a byte order mark, which is not part of the first field. */
static struct attn_fields fields_of(const char *text, size_t len)
{
    return (struct attn_fields){text + attn_utf8_mark(text, len), text + len, attn_fields_comma(text, len)};
}
/* Whether the first field is a number too: then all are, and there are no labels. */
static bool is_bare(struct attn_fields f)
{
    const char *s;
    size_t len;
    bool last;
    double x;
    return attn_fields_next(&f, &s, &len, &last) && attn_fields_number(&x, s, len, f.comma);
}

static int bad_row(const struct table *t, size_t found, const char *path, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: row %zu has %zu numbers, the first row %s %zu%s", path, t->rows + 1, found,
                     t->labels ? "labels" : "has", t->columns, t->labels ? " columns" : "");
}

static int add_number(struct table *t, const char *s, size_t len, char comma, const char *path, struct attn_err *err)
{
    double x;
    if (!attn_fields_number(&x, s, len, comma))
        return attn_fail(err, ATTN_EFORMAT, "%s: row %zu: '%.*s' is not a number, expected a matrix: numbers, but for "
                                            "the first row and column, which may be labels", path, t->rows + 1,
                         attn_shown(s, len), s);
    return attn_array_add(&t->of, &t->room, x) ? ATTN_OK
           : attn_no_memory(err, path, "for more than %zu numbers", t->of.n);
}

static int read_row(struct table *t, struct attn_fields *f, const char *path, struct attn_err *err)
{
    bool last = false;
    size_t found = 0;
    for (size_t i = 0; !last; i++) {
        const char *s;
        size_t len;
        if (!attn_fields_next(f, &s, &len, &last))
            return attn_fail(err, ATTN_EFORMAT,
                             "%s: row %zu: a quote is not closed where its field ends", path, t->rows + 1);
        found = i + 1 - t->labels;
        if (found > t->columns)
            continue;
        int rc = i >= t->labels ? add_number(t, s, len, f->comma, path, err) : ATTN_OK;
        if (rc)
            return rc;
    }
    if (found != t->columns)
        return bad_row(t, found, path, err);
    t->rows++;
    return ATTN_OK;
}

/* Reads the header and leaves f before the first row of numbers. */
static int read_header(struct table *t, struct attn_fields *f, const char *path, struct attn_err *err)
{
    const struct attn_fields start = *f;
    const char *s;
    size_t len, i = 0;
    t->labels = !is_bare(start);
    for (bool last = false; !last; i++)
        if (!attn_fields_next(f, &s, &len, &last))
            return attn_fail(err, ATTN_EFORMAT, "%s: the first row: a quote is not closed where its field ends", path);
    t->columns = i - t->labels;
    if (!t->labels)
        *f = start;
    return t->columns ? ATTN_OK
                      : attn_fail(err, ATTN_EFORMAT,
                                  "%s: the first row has one field, expected labels of columns after it", path);
}

/* Tables of commands that look like a matrix with labels, by how their first line begins and ends. */
static const struct { const char *begin, *end, *command; } answers[] = {
    {"layer,", ",metric,effect", "patch"}, {"pos,", "metric,effect", "patch"}, {"layer,head,previous,", "", "heads"},
    {"point,layer,pos,top1_id,", "", "lens"},
};
static const char records[] = "record,line,id,name,layer,head,row,col,";

static bool is_one_of(const char *s, size_t len, const char *const *names)
{
    while (*names && (strlen(*names) != len || memcmp(*names, s, len) != 0))
        names++;
    return *names;
}

/* A table whose rows are heads or records, and whose columns are several things: as a heat map, of counts and effects
 * in one scale of colours, it would show nothing. */
static int refuse_columns(const char *s, size_t len, const char *path, struct attn_err *err)
{
    static const char *const rows[] = {"layer", "head", "pos", "record", "point", "name", NULL};
    static const char *const things[] = {"n", "layer", "head", "pos", "record", "id", "line", "metric", "effect",
                                         "mean_metric", "mean_effect", NULL};
    struct attn_fields f = fields_of(s, len);
    struct attn_str_view field;
    size_t fields = 0;
    bool first = false, several = false;
    for (bool last = len == 0; !last; fields++) {
        if (!attn_fields_next(&f, &field.s, &field.len, &last))
            return ATTN_OK;
        first |= !fields && is_one_of(field.s, field.len, rows);
        several |= fields && is_one_of(field.s, field.len, things);
    }
    if (!first || !several || fields < 3)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: its columns are %.*s, which are no numbers of one matrix: keep the first "
                                        "and the one to draw, as in: cut -d, -f1,%zu", path, attn_shown(s, len), s,
                     fields);
}

int attn_dump_refuse_answers(const char *s, size_t len, const char *path, struct attn_err *err)
{
    const char *end = len ? memchr(s, '\n', len) : NULL;
    len = end ? (size_t)(end - s) : len;
    len -= len && s[len - 1] == '\r';
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        size_t n = strlen(answers[i].begin), m = strlen(answers[i].end);
        if (len >= n + m && !memcmp(s, answers[i].begin, n) && !memcmp(s + len - m, answers[i].end, m))
            return attn_fail(err, ATTN_EFORMAT,
                             "%s: a table of %s, and no matrix: draw it with %s -o x.png", path, answers[i].command,
                             answers[i].command);
    }
    if (len >= sizeof records - 1 && !memcmp(s, records, sizeof records - 1))
        return attn_fail(err, ATTN_EFORMAT, "%s: a table of many texts, as batch writes them, expected that of one, as "
                                            "'run --format tidy' writes it", path);
    return refuse_columns(s, len, path, err);
}

int attn_dump_read_csv(struct attn_array *out, const char *text, size_t len, const char *path, struct attn_err *err)
{
    struct attn_fields f = fields_of(text, len);
    struct table t = {0};
    int rc = attn_dump_refuse_answers(f.at, (size_t)(f.end - f.at), path, err);
    if (!rc)
        rc = read_header(&t, &f, path, err);
    while (!rc && f.at < f.end)
        rc = read_row(&t, &f, path, err);
    if (rc) {
        attn_array_free(&t.of);
        return rc;
    }
    *out = t.of;
    out->ndim = 2;
    out->shape[0] = t.rows;
    out->shape[1] = t.columns;
    return ATTN_OK;
}

/* Labels are few compared to the numbers, so each may have memory of its own. */
static int add_label(struct attn_dump *d, struct attn_dump_list *to, const char *s, size_t len, struct attn_err *err)
{
    char *text = malloc(len + 1);
    if (!text)
        return attn_no_memory(err, d->path, "for a label");
    int rc = attn_dump_add_token(d, to, -1, text, attn_fields_text(text, s, len), err);
    free(text);
    return rc;
}

int attn_dump_read_labels(struct attn_dump *d, const char *text, size_t len, struct attn_err *err)
{
    struct attn_fields f = fields_of(text, len);
    int rc = ATTN_OK;
    if (is_bare(f))
        return ATTN_OK;
    for (size_t row = 0; !rc && f.at < f.end; row++) {
        bool last = false;
        for (size_t i = 0; !rc && !last; i++) {
            const char *s;
            size_t n;
            if (!attn_fields_next(&f, &s, &n, &last))
                return ATTN_OK;         /* cannot happen: the numbers were read from the same text */
            if ((row == 0) != (i == 0))
                rc = add_label(d, row ? &d->rows : &d->cols, s, n, err);
        }
    }
    return rc;
}

/* ---- the long table -------------------------------------------------------------------- */

enum field { NAME, LAYER, HEAD, ROW, COL, ROW_TOKEN, COL_TOKEN, VALUE, FIELDS };
static const char header[] = "name,layer,head,row,col,row_token,col_token,value";

struct tidy {
    struct attn_dump *d;
    const char *path;
    size_t line;
    struct attn_str_view field[FIELDS];
    struct attn_str_view name;                /* of the array being read; len 0: none yet */
    struct attn_dumped now;
    size_t room, heads_room;
    size_t row, col, rows, cols;        /* position of the last number; shape of a matrix, known after the first */
    bool of_keys;                       /* its rows are keys, perhaps of another text */
    struct attn_dump_list keys;         /* their labels */
    struct attn_err *err;
};

/* Length of the header line with its end; 0 if the first line is not the header. */
static size_t header_length(const char *text, size_t len)
{
    size_t mark = attn_utf8_mark(text, len), n = mark + sizeof header - 1;
    if (len < n || memcmp(text + mark, header, sizeof header - 1) != 0)
        return 0;
    n += n < len && text[n] == '\r';
    return n == len ? n : text[n] == '\n' ? n + 1 : 0;
}

bool attn_dump_is_tidy(const char *text, size_t len)
{
    return header_length(text, len) > 0;
}

bool attn_dump_is_of_several(const char *text, size_t len)
{
    return attn_dump_is_tidy(text, len);
}

static int refuse(const struct tidy *t, const char *what)
{
    return attn_fail(t->err, ATTN_EFORMAT, "%s: line %zu: %s", t->path, t->line, what);
}

static int no_memory(const struct tidy *t)
{
    return attn_no_memory(t->err, t->path, "for what it holds");
}

/* Checks that the matrix just finished has the same shape as the others of its array. */
static int end_matrix(struct tidy *t)
{
    size_t rows = t->row + 1, cols = t->col + 1;
    bool same = !t->rows || (t->rows == rows && t->cols == cols);
    if (!same || (rows > 1 && t->cols && t->cols != cols))
        return refuse(t, "the matrix before it has another shape than the others of its name");
    t->rows = rows;
    t->cols = cols;
    return ATTN_OK;
}

static int end_array(struct tidy *t)
{
    struct attn_array *of = &t->now.of;
    int rc = t->name.len ? end_matrix(t) : ATTN_OK;
    size_t n = t->now.n_heads;
    if (!t->name.len || rc)
        return rc;
    of->ndim = n ? 3 : 2;
    of->shape[0] = n ? n : t->rows;
    of->shape[1] = n ? t->rows : t->cols;
    of->shape[2] = n ? t->cols : 0;
    rc = of->n == (n ? n : 1) * t->rows * t->cols ? ATTN_OK : refuse(t, "numbers are missing before it");
    if (!rc) {
        rc = attn_dump_add(t->d, t->name.s, t->name.len, &t->now, t->err);
        t->now = (struct attn_dumped){0};
    }
    t->name.len = t->rows = t->cols = t->room = t->heads_room = 0;
    return rc;
}

static int begin_head(struct tidy *t)
{
    uint64_t head = 0;
    if (!t->field[HEAD].len)
        return ATTN_OK;
    if (!attn_num_parse_u64(t->field[HEAD].s, t->field[HEAD].len, &head))
        return refuse(t, "the head is no number");
    size_t *more = attn_grow(t->now.heads, &t->heads_room, t->now.n_heads + 1, sizeof *more);
    if (!more)
        return no_memory(t);
    t->now.heads = more;
    t->now.heads[t->now.n_heads++] = (size_t)head;
    return ATTN_OK;
}

static bool has_keys(const struct attn_str_view *name)
{
    char text[ATTN_NAME_MAX];
    int layer, act = -1;
    if (name->len < sizeof text) {
        memcpy(text, name->s, name->len);
        text[name->len] = '\0';
        act = attn_act_find(text, &layer);
    }
    return act >= 0 && attn_act_of_keys(act);
}

/* Finds where a number belongs: right after the one before it, or at the start of a matrix or an array. */
static int locate(struct tidy *t)
{
    uint64_t row, col;
    const struct attn_str_view *f = t->field;
    if (!attn_num_parse_u64(f[ROW].s, f[ROW].len, &row) || !attn_num_parse_u64(f[COL].s, f[COL].len, &col))
        return refuse(t, "row and col are no numbers");
    bool same = t->name.len && t->name.len == f[NAME].len && !memcmp(t->name.s, f[NAME].s, f[NAME].len);
    bool first = row == 0 && col == 0, next_col = row == t->row && col == t->col + 1;
    bool next_row = row == t->row + 1 && col == 0 && (!t->cols || t->col + 1 == t->cols);
    int rc = ATTN_OK;
    if (!(same && !first && (next_col || next_row)) && !first)
        return refuse(t, "expected rows and columns in the order in which run --format tidy writes them");
    if (first && same)
        rc = f[HEAD].len && t->now.n_heads ? end_matrix(t) : refuse(t, "the name is there twice");
    else if (first)
        rc = end_array(t);
    else if (next_row && t->row == 0)
        t->cols = t->cols ? t->cols : t->col + 1;
    t->row = (size_t)row;
    t->col = (size_t)col;
    t->name = f[NAME];
    if (first)
        t->of_keys = has_keys(&t->name);
    return first && !rc ? begin_head(t) : rc;
}

static int note_label(struct tidy *t, struct attn_dump_list *to, const struct attn_str_view *s)
{
    char *text = malloc(s->len + 1);
    if (!text)
        return no_memory(t);
    int rc = attn_dump_add_token(t->d, to, -1, text, attn_fields_text(text, s->s, s->len), t->err);
    free(text);
    return rc;
}

static int note_labels(struct tidy *t)
{
    struct attn_dump_list *rows = t->of_keys ? &t->keys : &t->d->rows;
    int rc = ATTN_OK;
    if (t->col == 0 && t->row == rows->n)
        rc = note_label(t, rows, &t->field[ROW_TOKEN]);
    if (!rc && t->row == 0 && t->col == t->d->cols.n && t->field[COL_TOKEN].len)
        rc = note_label(t, &t->d->cols, &t->field[COL_TOKEN]);
    return rc;
}

static int add_tidy_number(struct tidy *t)
{
    double x;
    const struct attn_str_view *v = &t->field[VALUE];
    struct attn_array *of = &t->now.of;
    if (!attn_num_parse_f64(v->s, v->len, &x))
        return attn_fail(t->err, ATTN_EFORMAT, "%s: line %zu: '%.*s' is not a number", t->path, t->line,
                         attn_shown(v->s, v->len), v->s);
    return attn_array_add(of, &t->room, x) ? ATTN_OK : no_memory(t);
}

static int read_line(struct tidy *t, struct attn_fields *f)
{
    bool last = false;
    size_t n = 0;
    while (!last) {
        struct attn_str_view field;
        if (!attn_fields_next(f, &field.s, &field.len, &last))
            return refuse(t, "a quote is not closed where its field ends");
        if (n < FIELDS)
            t->field[n] = field;
        n++;
    }
    if (n != FIELDS || !t->field[NAME].len)
        return refuse(t, "expected a name and the other fields of the first line");
    int rc = locate(t);
    if (!rc)
        rc = note_labels(t);
    return rc ? rc : add_tidy_number(t);
}

static bool same_labels(const struct attn_dump_list *a, const struct attn_dump_list *b)
{
    size_t i = 0;
    while (i < a->n && i < b->n && a->item[i].len == b->item[i].len &&
           !memcmp(a->item[i].text, b->item[i].text, a->item[i].len))
        i++;
    return i == a->n && i == b->n;
}

/* The keys are those of another text where the queries have other labels. */
static void keep_keys(struct tidy *t)
{
    struct attn_dump_list *to = t->d->rows.n ? &t->d->keys : &t->d->rows;
    if (t->keys.n && !same_labels(&t->keys, &t->d->rows)) {
        *to = t->keys;
        t->keys = (struct attn_dump_list){0};
    }
}

int attn_dump_read_tidy(struct attn_dump *d, const char *text, size_t len, const char *path, struct attn_err *err)
{
    struct tidy t = {.d = d, .path = path, .line = 1, .err = err};
    struct attn_fields f = {text + header_length(text, len), text + len, ','};
    int rc = f.at > text ? ATTN_OK : attn_fail(err, ATTN_EFORMAT, "%s: line 1: expected %s", path, header);
    while (!rc && f.at < f.end) {
        t.line++;
        rc = read_line(&t, &f);
    }
    if (!rc)
        rc = end_array(&t);
    if (!rc && !d->n)
        rc = refuse(&t, "expected numbers below the first line");
    keep_keys(&t);
    attn_dump_list_free(&t.keys);
    attn_dump_drop(&t.now);
    return rc;
}
