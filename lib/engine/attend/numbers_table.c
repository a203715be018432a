/* numbers_table.c - a table of numbers with labels in its first row, its first column, or both: RFC 4180. */
#include "attend/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "io/fields.h"

/* What is known of the table before its numbers are read. */
struct layout {
    bool head, side;                    /* the first row, the first column has labels */
    bool corner;                        /* the first field is empty or `token`: the column below it has labels */
    size_t columns;                     /* of numbers */
};

struct field { const char *s; size_t len; bool last; };

static bool next(struct attn_fields *f, struct field *out)
{
    return attn_fields_next(f, &out->s, &out->len, &out->last);
}

/* Whether there is another row: empty lines are none. */
static bool more_rows(struct attn_fields *f)
{
    while (f->at < f->end && (*f->at == '\n' || *f->at == '\r'))
        f->at++;
    return f->at < f->end;
}

/* Also True and False. */
static bool number_of(double *x, const struct field *f, char comma)
{
    const char *s = f->s, *end = s + f->len;
    while (s < end && *s == ' ')
        s++;
    while (end > s && end[-1] == ' ')
        end--;
    return attn_fields_number(x, f->s, f->len, comma) || attn_numbers_one(x, s, (size_t)(end - s));
}

static bool is_number(const struct field *f, char comma)
{
    double x;
    return number_of(&x, f, comma);
}

static bool is_corner(const struct field *f)
{
    return f->len == 0 || (f->len == 2 && !memcmp(f->s, "\"\"", 2)) || (f->len == 5 && !memcmp(f->s, "token", 5));
}

static int unclosed(const char *name, size_t row, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: row %zu: a quote is not closed where its field ends", name, row);
}

/* Looks at the first row, and leaves f behind it. */
static int first_row(struct layout *l, struct attn_fields *f, const char *name, struct attn_err *err)
{
    struct field it = {.last = false};
    bool numbers = true, bare = true;   /* all behind the first field; that, too */
    size_t n = 0;
    for (; !it.last; n++) {
        if (!next(f, &it))
            return unclosed(name, 0, err);
        l->corner = n ? l->corner : is_corner(&it);
        numbers &= n == 0 || is_number(&it, f->comma);
        bare &= is_number(&it, f->comma);
    }
    l->head = l->corner || !numbers || n == 1;
    l->side = l->corner || (!l->head && !bare);
    l->columns = n;
    return ATTN_OK;
}

/* Counts the rows from the second on, and those that begin with a number. */
static int first_column(struct attn_fields f, size_t *numbers, size_t *rows, const char *name, struct attn_err *err)
{
    for (*rows = *numbers = 0; more_rows(&f); ++*rows) {
        struct field it = {.last = false};
        for (size_t i = 0; !it.last; i++) {
            if (!next(&f, &it))
                return unclosed(name, *rows + 1, err);
            *numbers += i == 0 && is_number(&it, f.comma);
        }
    }
    return ATTN_OK;
}

static int lay_out(struct layout *l, struct attn_fields f, const char *name, struct attn_err *err)
{
    size_t numbers, rows;
    if (first_row(l, &f, name, err) || first_column(f, &numbers, &rows, name, err))
        return err->code;
    if (l->head && !l->corner) {
        if (l->columns > 1 && rows && numbers == rows)
            return attn_fail(err, ATTN_EFORMAT, "%s: nobody can tell whether the numbers in its first column are "
                                                "labels: call that column token if they are, or leave the first row "
                                                "out", name);
        l->side = rows && numbers < rows;
    }
    l->columns -= l->side;
    if (!l->columns || (l->head && !rows))
        return attn_fail(err, ATTN_EFORMAT, "%s: there are no numbers %s: expected fields with commas or semicolons "
                                            "between them",
                         name, l->columns ? "below the first row" : "beside the first column");
    return ATTN_OK;
}

static int add_label(struct attn_dump_list *to, const struct field *f, const char *name, struct attn_err *err)
{
    struct attn_dump d = {.path = name};
    if (attn_utf8_valid(f->s, f->len) < f->len)
        return attn_fail(err, ATTN_EFORMAT, "%s: label %zu is not UTF-8: a spreadsheet saves a table as \"CSV UTF-8\", "
                                            "and iconv -f GBK -t UTF-8 turns one of Chinese into it", name, to->n);
    char *text = malloc(f->len + 1);
    if (!text)
        return attn_no_memory(err, name, "for a label");
    int rc = attn_dump_add_token(&d, to, -1, text, attn_fields_text(text, f->s, f->len), err);
    free(text);
    return rc;
}

static int add_number(struct attn_array *a, size_t *room, const struct field *f, char comma, size_t row, size_t col,
                      const char *name, struct attn_err *err)
{
    double x;
    if (!number_of(&x, f, comma))
        return attn_fail(err, ATTN_EFORMAT, "%s: row %zu, column %zu: found '%.*s', expected a number", name, row, col,
                         attn_shown(f->s, f->len), f->s);
    return attn_array_add(a, room, x) ? ATTN_OK : attn_no_memory(err, name, "for more than %zu numbers", a->n);
}

static int read_row(struct attn_labelled *out, size_t *room, const struct layout *l, struct attn_fields *f, size_t row,
                    struct attn_err *err)
{
    struct field it = {.last = false};
    bool labels = l->head && row == 0;
    size_t n = 0, numbers = row - l->head;
    int rc = ATTN_OK;
    for (; !rc && !it.last; n++) {
        if (!next(f, &it))
            return unclosed(out->name, row, err);
        bool side = l->side && n == 0;
        if (labels && !side)
            rc = add_label(&out->cols, &it, out->name, err);
        else if (side && !labels)
            rc = add_label(&out->rows, &it, out->name, err);
        else if (!side && n < l->columns + l->side)
            rc = add_number(&out->of, room, &it, f->comma, numbers, n - l->side, out->name, err);
    }
    if (!rc && n - l->side != l->columns)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: row %zu has %zu numbers, the first row has %zu", out->name, numbers,
                       n - l->side, l->columns);
    out->of.shape[0] += !labels;
    return rc;
}

int attn_numbers_table(struct attn_labelled *out, const char *text, size_t len, const char *name, struct attn_err *err)
{
    size_t mark = attn_utf8_mark(text, len), room = 0;
    struct attn_fields f = {text + mark, text + len, attn_fields_comma(text, len)};
    struct layout l = {.columns = 0};
    int rc = attn_dump_refuse_answers(f.at, len - mark, name, err);
    if (!rc && more_rows(&f))
        rc = lay_out(&l, f, name, err);
    for (size_t row = 0; !rc && more_rows(&f); row++)
        rc = read_row(out, &room, &l, &f, row, err);
    if (!rc && !out->of.n)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: there are no numbers", name);
    out->of.ndim = 2;
    out->of.shape[1] = l.columns;
    return rc;
}
