/* record_row.c - rows of CSV and TSV, one column of which is the text.
 *
 * A row must have as many fields as the first one: otherwise a text with an unquoted comma would be cut off there. */
#include "io/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/num.h"
#include "io/fields.h"
#include "base/strings.h"

static int refuse_quote(struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "a quote is not closed where its field ends");
}

/* ---- the first row --------------------------------------------------------------------- */

static bool is_called(const char *s, size_t len, const char *name)
{
    bool quoted = len >= 2 && *s == '"';
    size_t n = strlen(name);
    if (!quoted)
        return len == n && !memcmp(s, name, n);
    for (s++, len -= 2; len && *name && *s == *name; s++, len--, name++)
        if (*s == '"') {                /* a doubled quote */
            s++;
            len--;
        }
    return !len && !*name;
}

/* How many columns have that name; *at gets the last of them. */
static size_t find_column(const char *s, size_t len, char comma, const char *name, size_t *at)
{
    struct attn_fields f = {s, s + len, comma};
    size_t found = 0, i = 0, n;
    for (bool last = false; !last && attn_fields_next(&f, &s, &n, &last); i++)
        if (is_called(s, n, name)) {
            *at = i;
            found++;
        }
    return found;
}

static int count_columns(size_t *out, const char *s, size_t len, char comma, struct attn_err *err)
{
    struct attn_fields f = {s, s + len, comma};
    size_t n;
    *out = 0;
    for (bool last = false; !last; ++*out)
        if (!attn_fields_next(&f, &s, &n, &last))
            return refuse_quote(err);
    return ATTN_OK;
}

/* No column has that name: tries it as an index. */
static int find_index(size_t *at, const char *column, size_t columns, const char *s, size_t len, struct attn_err *err)
{
    uint64_t i = 0;
    if (!column)
        return columns == 1 ? ATTN_OK
                            : attn_fail(err, ATTN_EUSAGE, "which of %zu columns is the text? say --column NAME or its index: %.*s",
                                        columns, attn_shown(s, len), s);
    if (!attn_num_parse_u64(column, strlen(column), &i))
        return attn_fail(err, ATTN_EUSAGE, "no column is called '%s': %.*s", column, attn_shown(s, len), s);
    if (i >= columns)
        return attn_fail(err, ATTN_EUSAGE, "there is no column %s: there are %zu, counted from 0", column, columns);
    *at = (size_t)i;
    return ATTN_OK;
}

int attn_columns_read(struct attn_columns *out, const char *column, bool headless, const char *s, size_t len, char comma,
                      struct attn_err *err)
{
    *out = (struct attn_columns){.id = SIZE_MAX};
    int rc = count_columns(&out->n, s, len, comma, err);
    size_t found = rc || headless ? 0 : find_column(s, len, comma, column ? column : "text", &out->text);
    if (!rc && found > 1)
        return attn_fail(err, ATTN_EUSAGE, "%zu columns are called '%s': say which by its index, --column I", found,
                         column ? column : "text");
    if (!rc && !found)
        rc = find_index(&out->text, column, out->n, s, len, err);
    if (!rc && !headless && (find_column(s, len, comma, "id", &out->id) != 1 || out->id == out->text))
        out->id = SIZE_MAX;
    return rc;
}

/* ---- the others ------------------------------------------------------------------------ */

static int take_field(const char **to, size_t *to_len, char **room, size_t *size, const char *s, size_t len, struct attn_err *err)
{
    *to = s;
    *to_len = len;
    if (!len || *s != '"')
        return ATTN_OK;
    char *more = attn_grow(*room, size, len, 1);
    if (!more)
        return attn_fail(err, ATTN_ENOMEM, "no memory for a field of %zu bytes", len);
    *to = *room = more;
    *to_len = attn_fields_text(more, s, len);
    return ATTN_OK;
}

int attn_record_read_row(struct attn_record *out, struct attn_record_room *room, const struct attn_columns *of, const char *s,
                         size_t len, char comma, struct attn_err *err)
{
    struct attn_fields f = {s, s + len, comma};
    size_t i = 0, n;
    int rc = ATTN_OK;
    for (bool last = false; !rc && !last; i++) {
        if (!attn_fields_next(&f, &s, &n, &last))
            return refuse_quote(err);
        if (i == of->text)
            rc = take_field(&out->text, &out->text_len, &room->text, &room->text_room, s, n, err);
        else if (i == of->id)
            rc = take_field(&out->id, &out->id_len, &room->id, &room->id_room, s, n, err);
    }
    if (!rc && i != of->n)
        return attn_fail(err, ATTN_EFORMAT, "%zu fields, the first row has %zu: a text with a %s in it stands in double quotes", i,
                         of->n, comma == ',' ? "comma" : "tab");
    return rc;
}
