/* record.h - parses one record of many, whose end is known: an object of NDJSON, a row of CSV or TSV.
 *
 * A fault in a record is ATTN_EFORMAT and does not affect the others.  Its message has neither file nor line, which
 * the caller, who counts lines, adds. */
#ifndef ATTN_IO_RECORD_H
#define ATTN_IO_RECORD_H

#include "attn_tools.h"

/* Buffers for parts that cannot be used in place; each grows to the longest it has met. */
struct attn_record_room {
    char *text, *id; size_t text_room, id_room;
    int32_t *ids; size_t ids_room;
    /* those that are asked for; that tables must have */
    struct attn_record_field *field; size_t n_fields, n_columns;
    struct attn_field_room { char *text; size_t text_room; int32_t *ids; size_t ids_room, column; } *of_field;
};
/* Makes room for the fields that are asked for. */
int attn_record_room_make(struct attn_record_room *room, const struct attn_records_opts *o, struct attn_err *err);
void attn_record_room_free(struct attn_record_room *room);          /* zeroed is fine */

/* What is said of a line, or of a file, that holds a list of records in place of one. */
#define ATTN_RECORD_LIST "begins with '[': expected one object per line, e.g. `jq -c '.[]'`"

/* Reads {"text": "..."} or {"ids": [...]}, each with an optional "id", a string or a number, and with the fields of
 * the room, which are strings, token ids or lists of these; other members are ignored.  If it fails, `out` may still
 * have an id. */
int attn_record_read_object(struct attn_record *out, struct attn_record_room *room, const char *s, size_t len,
                            struct attn_err *err);

/* What the first row of a table says about all rows. */
struct attn_columns { size_t n, text, id; bool guessed; };      /* id SIZE_MAX: none; guessed: text is the only one */
/* Finds the columns, and those of the room's fields.  A `column` of NULL means "text" or the only column; the id is
 * another column called "id".  With `headless` only the number of columns is looked at, and `column` is an index. */
int attn_columns_read(struct attn_columns *out, struct attn_record_room *room, const char *column, bool headless,
                      const char *s, size_t len, char comma, struct attn_err *err);
int attn_record_read_row(struct attn_record *out, struct attn_record_room *room, const struct attn_columns *of,
                         const char *s, size_t len, char comma, struct attn_err *err);

#endif
