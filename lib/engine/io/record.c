#include "io/record.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/num.h"
#include "base/strings.h"
#include "io/fields.h"

/* ---- an object of NDJSON --------------------------------------------------------------- */

struct reader {
    struct attn_json j; struct attn_record *out; struct attn_record_room *room; bool has_id;
    struct attn_err *err;
};

void attn_record_room_free(struct attn_record_room *room)
{
    free(room->text);
    free(room->id);
    free(room->ids);
    for (size_t i = 0; i < room->n_fields && room->of_field; i++) {
        free(room->of_field[i].text);
        free(room->of_field[i].ids);
    }
    free(room->field);
    free(room->of_field);
    *room = (struct attn_record_room){0};
}

int attn_record_room_make(struct attn_record_room *room, const struct attn_records_opts *o, struct attn_err *err)
{
    size_t n = room->n_fields = o->n_fields;
    room->n_columns = o->n_columns;
    room->field = calloc(n + 1, sizeof *room->field);
    room->of_field = calloc(n + 1, sizeof *room->of_field);
    if (!room->field || !room->of_field)
        return attn_no_memory(err, NULL, "for %zu fields of records", n);
    for (size_t i = 0; i < n; i++)
        room->field[i].name = o->fields[i];
    return ATTN_OK;
}

/* Forgets what the record before had. */
static void start_fields(struct attn_record *out, struct attn_record_room *room)
{
    for (size_t i = 0; i < room->n_fields; i++)
        room->field[i] = (struct attn_record_field){.name = room->field[i].name};
    out->field = room->field;
    out->n_fields = room->n_fields;
}

/* Reports a fault of the key or value just read. */
static int refuse(struct reader *r, const char *what)
{
    size_t line, column;
    if (r->j.failed)
        return attn_json_error(&r->j, r->err);
    attn_json_position(&r->j, r->j.start, &line, &column);
    return attn_fail(r->err, ATTN_EFORMAT, "column %zu: %s", column, what);
}

static int no_memory(struct reader *r)
{
    return attn_no_memory(r->err, NULL, "for a record of %zu bytes", r->j.len);
}

/* Gets the string just read; without escapes it is used in place. */
static int read_string(struct reader *r, char **room, size_t *size, const char **s, size_t *len)
{
    *s = r->j.text + r->j.token;
    *len = r->j.token_len;
    if (!r->j.escaped)
        return ATTN_OK;
    char *more = attn_grow(*room, size, r->j.token_len, 1);
    if (!more)
        return no_memory(r);
    *s = *room = more;
    *len = attn_json_string(&r->j, more);
    return ATTN_OK;
}

static int read_id(struct reader *r)
{
    enum attn_json_event e = attn_json_next(&r->j);
    if (r->has_id)
        return refuse(r, "\"id\" for the second time");
    r->has_id = true;
    if (e == ATTN_JSON_NULL)
        return ATTN_OK;
    if (e != ATTN_JSON_STRING && e != ATTN_JSON_NUMBER)
        return refuse(r, "expected a string or a number for \"id\"");
    r->out->id_is_number = e == ATTN_JSON_NUMBER;
    if (e == ATTN_JSON_STRING)
        return read_string(r, &r->room->id, &r->room->id_room, &r->out->id, &r->out->id_len);
    r->out->id = r->j.text + r->j.token;
    r->out->id_len = r->j.token_len;
    return ATTN_OK;
}

static int read_text(struct reader *r)
{
    enum attn_json_event e = attn_json_next(&r->j);
    if (r->out->text)
        return refuse(r, "\"text\" for the second time");
    if (e != ATTN_JSON_STRING)
        return refuse(r, "expected a string for \"text\"");
    return read_string(r, &r->room->text, &r->room->text_room, &r->out->text, &r->out->text_len);
}

/* Where ids are read to, and the buffer they are kept in. */
struct id_list { const int32_t **ids; size_t *n; int32_t **room; size_t *size; };

static int add_id(struct reader *r, const struct id_list *to)
{
    int32_t *more = attn_grow(*to->room, to->size, *to->n + 1, sizeof *more);
    if (!more)
        return no_memory(r);
    *to->ids = *to->room = more;
    if (!r->j.is_whole || r->j.whole > INT32_MAX)
        return refuse(r, "expected a token id, a whole number in 0..2147483647");
    more[(*to->n)++] = (int32_t)r->j.whole;
    return ATTN_OK;
}

/* The rest of a list that has begun. */
static int add_ids(struct reader *r, const struct id_list *to)
{
    static const int32_t none;
    enum attn_json_event e;
    int rc = ATTN_OK;
    *to->ids = &none;
    while (!rc && (e = attn_json_next(&r->j)) == ATTN_JSON_NUMBER)
        rc = add_id(r, to);
    return rc || e == ATTN_JSON_ARRAY_END ? rc : refuse(r, "expected a token id, a whole number in 0..2147483647");
}

static int read_ids(struct reader *r)
{
    const struct id_list to = {&r->out->ids, &r->out->n, &r->room->ids, &r->room->ids_room};
    enum attn_json_event e = attn_json_next(&r->j);
    if (r->out->ids)
        return refuse(r, "\"ids\" for the second time");
    return e == ATTN_JSON_ARRAY ? add_ids(r, &to) : refuse(r, "expected a list of token ids for \"ids\"");
}

static int read_field(struct reader *r, size_t i)
{
    struct attn_record_field *f = &r->room->field[i];
    struct attn_field_room *room = &r->room->of_field[i];
    const struct id_list to = {&f->ids, &f->n, &room->ids, &room->ids_room};
    char what[80];
    enum attn_json_event e = attn_json_next(&r->j);
    snprintf(what, sizeof what, "\"%.*s\" for the second time", attn_shown(f->name, strlen(f->name)), f->name);
    if (f->text || f->ids)
        return refuse(r, what);
    if (e == ATTN_JSON_STRING)
        return read_string(r, &room->text, &room->text_room, &f->text, &f->len);
    if (e == ATTN_JSON_NUMBER)
        return add_id(r, &to);
    if (e == ATTN_JSON_ARRAY)
        return add_ids(r, &to);
    return e == ATTN_JSON_NULL ? ATTN_OK : refuse(r, "expected a string, a token id or a list of token ids");
}

static int read_member(struct reader *r)
{
    for (size_t i = 0; i < r->room->n_fields; i++)
        if (attn_json_is(&r->j, r->room->field[i].name))
            return read_field(r, i);
    if (attn_json_is(&r->j, "text"))
        return read_text(r);
    if (attn_json_is(&r->j, "id"))
        return read_id(r);
    if (attn_json_is(&r->j, "ids"))
        return read_ids(r);
    attn_json_skip(&r->j, attn_json_next(&r->j));
    return r->j.failed ? attn_json_error(&r->j, r->err) : ATTN_OK;
}

static int read_all(struct reader *r)
{
    enum attn_json_event e = attn_json_next(&r->j);
    int rc = ATTN_OK;
    if (e == ATTN_JSON_ARRAY)
        return attn_fail(r->err, ATTN_EFORMAT, ATTN_RECORD_LIST);
    if (e != ATTN_JSON_OBJECT)
        return refuse(r, "expected an object, {\"text\": \"...\"} or {\"ids\": [...]}");
    while (!rc && (e = attn_json_next(&r->j)) == ATTN_JSON_KEY)
        rc = read_member(r);
    if (!rc && (e == ATTN_JSON_FAILED || attn_json_next(&r->j) != ATTN_JSON_DONE))
        rc = attn_json_error(&r->j, r->err);
    if (!rc && r->out->text && r->out->ids)
        rc = attn_fail(r->err, ATTN_EFORMAT, "has both \"text\" and \"ids\": expected one of them");
    if (!rc && !r->out->text && !r->out->ids)
        rc = attn_fail(r->err, ATTN_EFORMAT, "has neither \"text\" nor \"ids\"");
    return rc;
}

int attn_record_read_object(struct attn_record *out, struct attn_record_room *room, const char *s, size_t len,
                            struct attn_err *err)
{
    struct reader r = {.out = out, .room = room, .err = err};
    start_fields(out, room);
    attn_json_start(&r.j, s, len, NULL);
    return read_all(&r);
}

/* ---- the first row of a table ----------------------------------------------------------
 *
 * A row must have as many fields as the first one: otherwise a text with an unquoted comma would be cut off there. */

static int refuse_quote(struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "a quote is not closed where its field ends");
}

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
                            : attn_fail(err, ATTN_EUSAGE,
                                        "which of %zu columns is the text? say --column NAME or its index: %.*s",
                                        columns, attn_shown(s, len), s);
    if (!attn_num_parse_u64(column, strlen(column), &i))
        return attn_fail(err, ATTN_EUSAGE, "no column is called '%s': %.*s", column, attn_shown(s, len), s);
    if (i >= columns)
        return attn_fail(err, ATTN_EUSAGE, "there is no column %s: there are %zu, counted from 0", column, columns);
    *at = (size_t)i;
    return ATTN_OK;
}

static int find_fields(struct attn_record_room *room, bool headless, const char *s, size_t len, char comma,
                       struct attn_err *err)
{
    for (size_t i = 0; i < room->n_fields; i++) {
        const char *name = room->field[i].name;
        size_t found = headless ? 0 : find_column(s, len, comma, name, &room->of_field[i].column);
        if (!found)
            room->of_field[i].column = SIZE_MAX;
        if (found > 1 || (!found && i < room->n_columns))
            return attn_fail(err, ATTN_EUSAGE, headless ? "without a header no column is called '%s'"
                             : found ? "several columns are called '%s': expected one" :
                             "no column is called '%s'", name);
    }
    return ATTN_OK;
}

int attn_columns_read(struct attn_columns *out, struct attn_record_room *room, const char *column, bool headless,
                      const char *s, size_t len, char comma, struct attn_err *err)
{
    *out = (struct attn_columns){.id = SIZE_MAX};
    int rc = count_columns(&out->n, s, len, comma, err);
    if (!rc)
        rc = find_fields(room, headless, s, len, comma, err);
    size_t found = rc || headless ? 0 : find_column(s, len, comma, column ? column : "text", &out->text);
    if (!rc && found > 1)
        return attn_fail(err, ATTN_EUSAGE, "%zu columns are called '%s': say which by its index, --column I", found,
                         column ? column : "text");
    out->guessed = !found && !column && !headless;
    if (!rc && !found)
        rc = find_index(&out->text, column, out->n, s, len, err);
    if (!rc && !headless && (find_column(s, len, comma, "id", &out->id) != 1 || out->id == out->text))
        out->id = SIZE_MAX;
    return rc;
}

/* ---- its other rows -------------------------------------------------------------------- */

static int take_field(const char **to, size_t *to_len, char **room, size_t *size, const char *s, size_t len,
                      struct attn_err *err)
{
    *to = s;
    *to_len = len;
    if (!len || *s != '"')
        return ATTN_OK;
    char *more = attn_grow(*room, size, len, 1);
    if (!more)
        return attn_no_memory(err, NULL, "for a field of %zu bytes", len);
    *to = *room = more;
    *to_len = attn_fields_text(more, s, len);
    return ATTN_OK;
}

int attn_record_read_row(struct attn_record *out, struct attn_record_room *room, const struct attn_columns *of,
                         const char *s, size_t len, char comma, struct attn_err *err)
{
    struct attn_fields f = {s, s + len, comma};
    size_t i = 0, n;
    int rc = ATTN_OK;
    start_fields(out, room);
    for (bool last = false; !rc && !last; i++) {
        if (!attn_fields_next(&f, &s, &n, &last))
            return refuse_quote(err);
        for (size_t k = 0; k < room->n_fields && !rc; k++)
            if (i == room->of_field[k].column)
                rc = take_field(&room->field[k].text, &room->field[k].len, &room->of_field[k].text,
                                &room->of_field[k].text_room, s, n, err);
        if (rc)
            break;
        if (i == of->text)
            rc = take_field(&out->text, &out->text_len, &room->text, &room->text_room, s, n, err);
        else if (i == of->id)
            rc = take_field(&out->id, &out->id_len, &room->id, &room->id_room, s, n, err);
    }
    if (!rc && i != of->n)
        return attn_fail(err, ATTN_EFORMAT,
                         "%zu fields, the first row has %zu: a text with a %s in it stands in double quotes", i,
                         of->n, comma == ',' ? "comma" : comma == ';' ? "semicolon" : "tab");
    return rc;
}
