/* columns.h - an answer as a table, and its writers: a command says once what its columns are and fills in a row; every
 * format follows.
 *
 *     text     aligned columns for people, numbers with `digits` after the point
 *     md       the same as a table of Markdown
 *     csv      all digits; what is not there is empty (cells.h)
 *     tidy     the same as csv: a row is an observation, a column what was seen of it
 *     tsv      the same with tabs between the fields, which are never quoted
 *     ndjson   one object per row
 *     json     these objects within the document of the command, which writes the rest of it; what is not there is null
 *
 * Rows are asked for one at a time, for text twice, and nothing is kept of them: a table of any length takes the memory
 * of a row. */
#ifndef ATTN_TABLE_COLUMNS_H
#define ATTN_TABLE_COLUMNS_H

#include "attn.h"
#include "base/out.h"

#include <math.h>
#include <string.h>

enum attn_column_kind {
    ATTN_COLUMN_TEXT,
    ATTN_COLUMN_TOKEN,                  /* a text that may be blanks alone: for people it has signs for these */
    ATTN_COLUMN_WHOLE, ATTN_COLUMN_REAL, ATTN_COLUMN_TRUTH,
    ATTN_COLUMN_JSON,                   /* a text that objects have as the value it is */
    /* What objects alone can have: an array or object that `write` writes, a list of sizes, another table. */
    ATTN_COLUMN_NESTED, ATTN_COLUMN_SIZES, ATTN_COLUMN_ROWS
};
enum { ATTN_DIGITS_NONE = -1 };         /* no digits after the point */
enum { ATTN_NESTED_COLUMNS = 32 };      /* those of a table within another, at most */
struct attn_table;
enum {
    ATTN_COLUMN_FLAT = 1,               /* not in objects: it spells out a nested column, or numbers the rows */
    ATTN_COLUMN_DATA = 2,               /* not for people */
    ATTN_COLUMN_OPTIONAL = 4,           /* objects leave it out where it is not there */
    ATTN_COLUMN_READ = 8,               /* for people alone: other columns say it to programs */
    ATTN_COLUMN_SIGNIFICANT = 16,       /* `digits` counts all digits of a real, not those after the point */
    ATTN_COLUMN_PERCENT = 32            /* a part of 1, for people in percent */
};

struct attn_column {
    const char *name;                   /* any text: each format escapes it; NULL: a row is no object but its value */
    const char *group;                  /* neighbours of one group are an object within it, else GROUP_NAME, which has
                                         * less than 64 bytes; or NULL */
    enum attn_column_kind kind;
    unsigned flags;
    const char *heading;                /* for people; NULL: as elsewhere */
    int digits;                         /* of a real for people, after the point; 0: all */
    /* In text: columns at least, 0: what it needs; blanks before it, 0: two, or none before the first. */
    size_t width, gap;
    void (*write)(struct attn_out *o, const void *self, size_t row);    /* of a nested column: its JSON */
};

/* What stands in a cell; all zeros: nothing. */
struct attn_datum {
    bool there; const char *s; size_t len; uint64_t n; double x;
    const char *read; size_t read_len;  /* of a text: what people read in its place; NULL: the same */
    const size_t *sizes; const struct attn_table *rows;
};

static inline struct attn_datum attn_datum_text(const char *s, size_t len)  /* NULL: nothing */
{
    return (struct attn_datum){.there = s != NULL, .s = s, .len = len};
}
static inline struct attn_datum attn_datum_str(const char *s) { return attn_datum_text(s, s ? strlen(s) : 0); }
static inline struct attn_datum attn_datum_whole(uint64_t n) { return (struct attn_datum){.there = true, .n = n}; }
static inline struct attn_datum attn_datum_index(int i)         /* below 0: nothing */
{
    return (struct attn_datum){.there = i >= 0, .n = (uint64_t)i};
}
static inline struct attn_datum attn_datum_real(double x) { return (struct attn_datum){.there = true, .x = x}; }
/* NaN: nothing */
static inline struct attn_datum attn_datum_number(double x) { return (struct attn_datum){.there = !isnan(x), .x = x}; }
static inline struct attn_datum attn_datum_truth(bool b) { return attn_datum_whole(b); }
static inline struct attn_datum attn_datum_sizes(const size_t *sizes, int n)
{
    return (struct attn_datum){.there = true, .sizes = sizes, .n = (uint64_t)n};
}
static inline struct attn_datum attn_datum_rows(const struct attn_table *t)     /* NULL: nothing */
{
    return (struct attn_datum){.there = t != NULL, .rows = t};
}

struct attn_table {
    const struct attn_column *column; size_t columns;
    size_t rows;
    /* Fills in a row, cell[columns], of which nothing is there yet.  Texts are borrowed until the next row. */
    void (*row)(struct attn_datum *cell, const void *self, size_t row);
    const void *self;
    bool spaced;                        /* objects are spaced and numbers shortest, as in documents of the program */
    bool csv_safe;                      /* no text is a formula of a spreadsheet */
    /* In text alone: which rows are listed, NULL: all; how many of them at most, 0: any number; what a line then calls
     * those that are left out; and blanks before each line. */
    bool (*listed)(const void *self, size_t row);
    size_t most;
    const char *left;
    size_t indent;
    /* Within another table: what stands before each object, NULL: a blank between them; and whether it is one object,
     * not a list of them. */
    const char *between;
    bool alone;
};

bool attn_table_writes(const char *format);     /* whether it is one of those above, but json */
int attn_table_write(struct attn_out *o, const struct attn_table *t, const char *format, struct attn_err *err);
/* The rows as objects with commas between them, `first` before the first and `between` before the others. */
int attn_table_objects(struct attn_out *o, const struct attn_table *t, const char *first, const char *between,
                       struct attn_err *err);

#endif
