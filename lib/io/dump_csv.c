/* dump_csv.c - matrices as `run --format csv` writes them, or bare numbers.
 *
 * RFC 4180: fields are separated by commas; a field that contains a comma is quoted, and quotes in it are doubled.
 * The first row labels the columns, the first field of each row labels the row; all others are numbers, which may be
 * inf or nan.  If the very first field is a number, there are no labels at all. */
#include "io/dump.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/num.h"
#include "io/fields.h"
#include "base/strings.h"

struct table { float *data; size_t n, room, rows, columns, labels /* of a row: 1 or 0 */; };

/* Skips a byte order mark, which spreadsheets write and which is not part of the first field. */
static struct attn_fields fields_of(const char *text, size_t len)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t skip = len >= strlen(mark) && !memcmp(text, mark, strlen(mark)) ? strlen(mark) : 0;
    return (struct attn_fields){text + skip, text + len, ','};
}

/* Accepts what other programs write: surrounding blanks, nan and inf in any case, NA. */
static bool parse_number(double *x, const char *s, size_t len)
{
    static const struct { const char *name; double x; } names[] = {
        {"nan", NAN}, {"na", NAN}, {"inf", INFINITY}, {"infinity", INFINITY}, {"+inf", INFINITY}, {"-inf", -INFINITY}, {"-infinity", -INFINITY}};
    for (; len && (*s == ' ' || *s == '\t'); len--)
        s++;
    while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
        len--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == len && !strncasecmp(s, names[i].name, len)) {
            *x = names[i].x;
            return true;
        }
    return attn_num_parse_f64(s, len, x);
}

/* Whether the first field is a number too: then all are, and there are no labels. */
static bool is_bare(struct attn_fields f)
{
    const char *s;
    size_t len;
    bool last;
    double x;
    return attn_fields_next(&f, &s, &len, &last) && parse_number(&x, s, len);
}

static int bad_row(const struct table *t, size_t found, const char *path, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: row %zu has %zu numbers, the first row %s %zu%s", path, t->rows + 1, found,
                     t->labels ? "labels" : "has", t->columns, t->labels ? " columns" : "");
}

static int add_number(struct table *t, const char *s, size_t len, const char *path, struct attn_err *err)
{
    double x;
    if (!parse_number(&x, s, len))
        return attn_fail(err, ATTN_EFORMAT, "%s: row %zu: '%.*s' is not a number", path, t->rows + 1, attn_shown(s, len), s);
    float *more = attn_grow(t->data, &t->room, t->n + 1, sizeof *more);
    if (!more)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for more than %zu numbers", path, t->n);
    t->data = more;
    t->data[t->n++] = (float)x;
    return ATTN_OK;
}

static int read_row(struct table *t, struct attn_fields *f, const char *path, struct attn_err *err)
{
    bool last = false;
    size_t found = 0;
    for (size_t i = 0; !last; i++) {
        const char *s;
        size_t len;
        if (!attn_fields_next(f, &s, &len, &last))
            return attn_fail(err, ATTN_EFORMAT, "%s: row %zu: a quote is not closed where its field ends", path, t->rows + 1);
        found = i + 1 - t->labels;
        if (found > t->columns)
            continue;
        int rc = i >= t->labels ? add_number(t, s, len, path, err) : ATTN_OK;
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
                      : attn_fail(err, ATTN_EFORMAT, "%s: the first row has one field, expected labels of columns after it", path);
}

int attn_dump_read_csv(struct attn_array *out, const char *text, size_t len, const char *path, struct attn_err *err)
{
    struct attn_fields f = fields_of(text, len);
    struct table t = {0};
    int rc = read_header(&t, &f, path, err);
    while (!rc && f.at < f.end)
        rc = read_row(&t, &f, path, err);
    if (rc) {
        free(t.data);
        return rc;
    }
    *out = (struct attn_array){.ndim = 2, .shape = {t.rows, t.columns}, .n = t.n, .data = t.data};
    return ATTN_OK;
}

/* Labels are few compared to the numbers, so each may have memory of its own. */
static int add_label(struct attn_dump *d, struct attn_dump_list *to, const char *s, size_t len, struct attn_err *err)
{
    char *text = malloc(len + 1);
    if (!text)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a label", d->path);
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
