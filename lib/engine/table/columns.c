#include "table/columns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/format.h"
#include "base/num.h"
#include "base/size.h"
#include "table/cells.h"

static bool is_text(const struct attn_column *c)
{
    return c->kind == ATTN_COLUMN_TEXT || c->kind == ATTN_COLUMN_TOKEN || c->kind == ATTN_COLUMN_JSON;
}
static bool is_flat(const struct attn_column *c) { return c->kind < ATTN_COLUMN_NESTED; }
static bool in_objects(const struct attn_column *c) { return !(c->flags & (ATTN_COLUMN_FLAT | ATTN_COLUMN_READ)); }
static bool in_csv(const struct attn_column *c) { return is_flat(c) && !(c->flags & ATTN_COLUMN_READ); }
static bool for_people(const struct attn_column *c) { return is_flat(c) && !(c->flags & ATTN_COLUMN_DATA); }

static const struct attn_datum *row_of(struct attn_datum *cell, const struct attn_table *t, size_t i)
{
    memset(cell, 0, t->columns * sizeof *cell);
    t->row(cell, t->self, i);
    return cell;
}

/* ---- objects ----------------------------------------------------------------------------- */

/* With the fewest digits, from six on, that read back as the same number. */
static void put_shortest(struct attn_out *o, double x)
{
    char text[ATTN_NUM_FIXED_MAX];
    double back;
    int digits = 6;
    do
        attn_snprintf(text, sizeof text, "%.*g", digits, x);
    while (digits++ < 17 && attn_num_parse_f64(text, strlen(text), &back) && back != x);
    attn_out_str(o, text);
}

static void put_rows(struct attn_out *o, const struct attn_table *t);

static void put_sizes(struct attn_out *o, const struct attn_datum *d)
{
    for (uint64_t i = 0; i < d->n; i++)
        attn_out_printf(o, i ? ", %zu" : "[%zu", d->sizes[i]);
    attn_out_str(o, d->n ? "]" : "[]");
}

static void put_json(struct attn_out *o, const struct attn_table *t, const struct attn_column *c,
                     const struct attn_datum *d, size_t row)
{
    if (!d->there)
        attn_out_str(o, "null");
    else if (c->kind == ATTN_COLUMN_JSON)
        attn_out_write(o, d->s, d->len);
    else if (c->kind == ATTN_COLUMN_SIZES)
        put_sizes(o, d);
    else if (c->kind == ATTN_COLUMN_ROWS)
        put_rows(o, d->rows);
    else if (is_text(c))
        attn_out_json(o, d->s, d->len);
    else if (c->kind == ATTN_COLUMN_NESTED)
        c->write(o, t->self, row);
    else if (c->kind == ATTN_COLUMN_TRUTH)
        attn_out_str(o, d->n ? "true" : "false");
    else if (c->kind == ATTN_COLUMN_WHOLE)
        attn_out_u64(o, d->n);
    else if (t->spaced && isfinite(d->x))
        put_shortest(o, d->x);
    else
        attn_out_f64(o, d->x);
}

static void put_key(struct attn_out *o, const char *name, const char *colon)
{
    attn_out_json(o, name, strlen(name));
    attn_out_str(o, colon);
}

static bool same_group(const struct attn_column *a, const struct attn_column *b)
{
    return a && b && a->group && b->group && !strcmp(a->group, b->group);
}

static void put_object(struct attn_out *o, const struct attn_table *t, const struct attn_datum *cell, size_t row)
{
    const struct attn_column *before = NULL;
    const char *comma = t->spaced ? ", " : ",", *colon = t->spaced ? ": " : ":";
    if (!t->column->name) {
        put_json(o, t, t->column, cell, row);
        return;
    }
    attn_out_char(o, '{');
    for (size_t i = 0; i < t->columns; i++) {
        const struct attn_column *c = &t->column[i];
        if (!in_objects(c) || (c->flags & ATTN_COLUMN_OPTIONAL && !cell[i].there))
            continue;
        bool inside = same_group(before, c);
        attn_out_str(o, before && before->group && !inside ? "}" : "");
        attn_out_str(o, before ? comma : "");
        if (c->group && !inside) {
            put_key(o, c->group, colon);
            attn_out_char(o, '{');
        }
        put_key(o, c->name, colon);
        put_json(o, t, c, &cell[i], row);
        before = c;
    }
    attn_out_str(o, before && before->group ? "}}" : "}");
}

/* A table within another. */
static void put_rows(struct attn_out *o, const struct attn_table *t)
{
    struct attn_datum cell[ATTN_NESTED_COLUMNS];
    assert(t->columns <= ATTN_NESTED_COLUMNS);
    attn_out_str(o, t->alone ? "" : "[");
    for (size_t i = 0; i < t->rows; i++) {
        attn_out_str(o, i ? "," : "");
        attn_out_str(o, t->between ? t->between : i ? " " : "");
        put_object(o, t, row_of(cell, t, i), i);
    }
    attn_out_str(o, t->alone ? "" : "]");
}

/* ---- CSV --------------------------------------------------------------------------------- */

enum { NUMBER = ATTN_NUM_FIXED_MAX };

/* What a column is called outside of objects. */
static struct attn_datum flat_name(char text[NUMBER], const struct attn_column *c)
{
    if (!c->group)
        return attn_datum_str(c->name);
    attn_snprintf(text, NUMBER, "%s_%s", c->group, c->name);
    return attn_datum_str(text);
}

/* A name may be a token's text, so that it is written as one. */
static void put_name(struct attn_out *o, const struct attn_table *t, const struct attn_column *c, char comma)
{
    char text[NUMBER];
    const struct attn_datum name = flat_name(text, c);
    (comma == ',' ? attn_cell_text : attn_cell_escaped)(o, name.s, name.len, t->csv_safe);
}

static void put_field(struct attn_out *o, const struct attn_table *t, const struct attn_column *c,
                      const struct attn_datum *d, char comma)
{
    if (!d->there)
        return;
    if (is_text(c))
        (comma == ',' ? attn_cell_text : attn_cell_escaped)(o, d->s, d->len, t->csv_safe);
    else if (c->kind == ATTN_COLUMN_REAL)
        attn_cell_f64(o, d->x);
    else if (c->kind == ATTN_COLUMN_TRUTH)
        attn_out_str(o, d->n ? "true" : "false");
    else
        attn_out_u64(o, d->n);
}

/* cell NULL: the line of names. */
static void put_fields(struct attn_out *o, const struct attn_table *t, const struct attn_datum *cell, char comma)
{
    bool first = true;
    for (size_t i = 0; i < t->columns; i++) {
        if (!in_csv(&t->column[i]))
            continue;
        if (!first)
            attn_out_char(o, comma);
        if (cell)
            put_field(o, t, &t->column[i], &cell[i], comma);
        else
            put_name(o, t, &t->column[i], comma);
        first = false;
    }
    attn_out_char(o, '\n');
}

static void put_csv(struct attn_out *o, const struct attn_table *t, const struct attn_datum *cell, size_t row)
{
    (void)row;
    put_fields(o, t, cell, ',');
}

static void put_tsv(struct attn_out *o, const struct attn_table *t, const struct attn_datum *cell, size_t row)
{
    (void)row;
    put_fields(o, t, cell, '\t');
}

/* ---- for people -------------------------------------------------------------------------- */

/* A cell that is no text. */
static void spell(char text[NUMBER], const struct attn_column *c, const struct attn_datum *d)
{
    bool percent = c->flags & ATTN_COLUMN_PERCENT;
    const double x = percent ? 100 * d->x : d->x;
    if (!d->there)
        attn_snprintf(text, NUMBER, "-");
    else if (c->kind == ATTN_COLUMN_TRUTH)
        attn_snprintf(text, NUMBER, "%s", d->n ? "yes" : "no");
    else if (c->kind == ATTN_COLUMN_WHOLE)
        text[attn_num_u64(text, d->n)] = '\0';
    else if (c->flags & ATTN_COLUMN_SIGNIFICANT)
        attn_snprintf(text, NUMBER, percent ? "%.*g %%" : "%.*g", c->digits, x);
    else if (!c->digits || fabs(x) >= 1e40)
        text[attn_num_f64(text, x)] = '\0';
    else
        attn_snprintf(text, NUMBER, percent ? "%.*f %%" : "%.*f", c->digits == ATTN_DIGITS_NONE ? 0 : c->digits, x);
}

/* Writes a text without what would break a table or steer a terminal; returns its width.  put NULL: only measures. */
static size_t put_visible(struct attn_out *o, const struct attn_column *c, const struct attn_datum *d,
                          void (*put)(struct attn_out *o, const char *s))
{
    const char *text = d->read ? d->read : d->s;
    size_t columns = 0, len = d->read ? d->read_len : d->len;
    for (size_t at = 0; at < len;) {
        char form[ATTN_VISIBLE];
        const char *s = text + at, *sign = *s == '\n' ? "↵" : *s == '\t' ? "→" : NULL;
        if (c->kind == ATTN_COLUMN_TOKEN && *s == ' ')
            sign = "·";
        at += sign ? 1 : attn_utf8_visible(form, s, len - at);
        sign = sign ? sign : form;
        columns += attn_utf8_width(sign, strlen(sign));
        if (put)
            put(o, sign);
    }
    return columns;
}

static size_t width_of(const struct attn_column *c, const struct attn_datum *d)
{
    char text[NUMBER];
    if (is_text(c))
        return put_visible(NULL, c, d, NULL);
    spell(text, c, d);
    return strlen(text);
}

static struct attn_datum heading(char text[NUMBER], const struct attn_column *c)
{
    return c->heading ? attn_datum_str(c->heading) : flat_name(text, c);
}

static const struct attn_column words = {.kind = ATTN_COLUMN_TEXT};      /* as headings are */

static void pad(struct attn_out *o, size_t n) { attn_out_printf(o, "%*s", (int)n, ""); }

/* cell NULL: the headings.  A width of 0 is that of a column that is left out. */
static void put_aligned(struct attn_out *o, const struct attn_table *t, const size_t *width,
                        const struct attn_datum *cell)
{
    size_t blanks = 0;                  /* that are due: the end of a line has none */
    bool any = false;
    pad(o, t->indent);
    for (size_t i = 0; i < t->columns; i++) {
        const struct attn_column *c = &t->column[i];
        char text[NUMBER];
        const struct attn_datum title = heading(text, c), *d = cell ? &cell[i] : &title;
        if (!width[i])
            continue;
        size_t used = width_of(cell ? c : &words, d), left = width[i] > used ? width[i] - used : 0;
        blanks += c->gap ? c->gap : any ? 2 : 0;
        any = true;
        if (!used) {
            blanks += left;
            continue;
        }
        pad(o, blanks + (is_text(c) ? 0 : left));
        if (cell && !is_text(c)) {
            spell(text, c, d);
            attn_out_str(o, text);
        } else {
            put_visible(o, cell ? c : &words, d, attn_out_str);
        }
        blanks = is_text(c) ? left : 0;
    }
    attn_out_char(o, '\n');
}

static bool is_listed(const struct attn_table *t, size_t row) { return !t->listed || t->listed(t->self, row); }

/* The first row that is listed from `row` on and, of `shown` before it, not one too many; the end of the rows: none. */
static size_t next_listed(const struct attn_table *t, size_t row, size_t shown)
{
    while (row < t->rows && !is_listed(t, row))
        row++;
    return t->most && shown >= t->most ? t->rows : row;
}

/* Texts that no row has are left out. */
static void measure(size_t *width, struct attn_datum *cell, const struct attn_table *t)
{
    for (size_t i = 0; i < t->columns; i++)
        width[i] = for_people(&t->column[i]) && !is_text(&t->column[i]) ? larger(t->column[i].width, 1) : 0;
    for (size_t r = 0, n = 0; (r = next_listed(t, r, n++)) < t->rows; r++) {
        row_of(cell, t, r);
        for (size_t i = 0; i < t->columns; i++)
            if (for_people(&t->column[i]) && cell[i].there && !t->column[i].width)
                width[i] = larger(width[i], larger(width_of(&t->column[i], &cell[i]), 1));
    }
    for (size_t i = 0; i < t->columns; i++) {
        char text[NUMBER];
        const struct attn_datum title = heading(text, &t->column[i]);
        if (width[i] && !t->column[i].width)
            width[i] = larger(width[i], width_of(&words, &title));
    }
}

static int put_text(struct attn_out *o, struct attn_datum *cell, const struct attn_table *t, struct attn_err *err)
{
    size_t *width = calloc(t->columns + 1, sizeof *width);
    if (!width)
        return attn_no_memory(err, NULL, "for a table of %zu columns", t->columns);
    measure(width, cell, t);
    put_aligned(o, t, width, NULL);
    size_t shown = 0, listed = 0;
    for (size_t i = 0; (i = next_listed(t, i, shown)) < t->rows; i++, shown++)
        put_aligned(o, t, width, row_of(cell, t, i));
    for (size_t i = 0; i < t->rows && t->most; i++)
        listed += is_listed(t, i);
    if (listed > shown) {
        pad(o, t->indent);
        attn_out_printf(o, "... and %zu more %s\n", listed - shown, t->left);
    }
    free(width);
    return ATTN_OK;
}

/* cell NULL: the headings and the line below them, which says on which side a column stands. */
static void put_markdown(struct attn_out *o, const struct attn_table *t, const struct attn_datum *cell, size_t row)
{
    (void)row;
    for (size_t i = 0; i < t->columns; i++) {
        const struct attn_column *c = &t->column[i];
        char text[NUMBER];
        if (!for_people(c))
            continue;
        struct attn_datum d = cell ? cell[i] : heading(text, c);
        if (cell && !is_text(c)) {
            spell(text, c, &d);
            d = attn_datum_str(text);
        }
        attn_out_str(o, "| ");
        put_visible(o, c, &d, attn_cell_markdown);
        attn_out_char(o, ' ');
    }
    attn_out_str(o, "|\n");
    for (size_t i = 0; !cell && i < t->columns; i++)
        if (for_people(&t->column[i]))
            attn_out_str(o, is_text(&t->column[i]) ? "|:---" : "|---:");
    attn_out_str(o, cell ? "" : "|\n");
}

static void put_ndjson(struct attn_out *o, const struct attn_table *t, const struct attn_datum *cell, size_t row)
{
    if (!cell)
        return;
    put_object(o, t, cell, row);
    attn_out_char(o, '\n');
}

/* ---- all of them ------------------------------------------------------------------------- */

/* line: writes a row, or with cell NULL what stands before the rows; NULL: they are measured first. */
static const struct format {
    const char *name;
    void (*line)(struct attn_out *o, const struct attn_table *t, const struct attn_datum *cell, size_t row);
} formats[] = {{"text", NULL}, {"ndjson", put_ndjson}, {"csv", put_csv}, {"tidy", put_csv}, {"tsv", put_tsv}, {"md",
    put_markdown}};

static const struct format *find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(name, formats[i].name))
            return &formats[i];
    return NULL;
}

bool attn_table_writes(const char *format) { return find(format) != NULL; }

static int new_row(struct attn_datum **cell, const struct attn_table *t, struct attn_err *err)
{
    *cell = calloc(t->columns + 1, sizeof **cell);
    return *cell ? ATTN_OK : attn_no_memory(err, NULL, "for a table of %zu columns", t->columns);
}

int attn_table_write(struct attn_out *o, const struct attn_table *t, const char *format, struct attn_err *err)
{
    const struct format *f = find(format);
    struct attn_datum *cell;
    assert(f);
    int rc = new_row(&cell, t, err);
    if (!rc && !f->line)
        rc = put_text(o, cell, t, err);
    for (size_t i = 0; i <= t->rows && f->line && !rc; i++)
        f->line(o, t, i ? row_of(cell, t, i - 1) : NULL, i - 1);
    free(cell);
    return rc;
}

int attn_table_objects(struct attn_out *o, const struct attn_table *t, const char *first, const char *between,
                       struct attn_err *err)
{
    struct attn_datum *cell;
    int rc = new_row(&cell, t, err);
    for (size_t i = 0; i < t->rows && !rc; i++) {
        attn_out_printf(o, "%s%s", i ? "," : "", i ? between : first);
        put_object(o, t, row_of(cell, t, i), i);
    }
    free(cell);
    return rc;
}
