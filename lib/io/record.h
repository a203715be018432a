/* record.h - one record of many, once it is known where it ends: an object of NDJSON, a row of CSV or TSV.
 *
 * What is wrong with a record is ATTN_EFORMAT and concerns nobody else; messages have neither file nor line, which
 * whoever counts lines knows. */
#ifndef ATTN_IO_RECORD_H
#define ATTN_IO_RECORD_H

#include "attn.h"

/* Where its parts go that cannot stay as they are written; each grows to the longest there was. */
struct attn_record_room {
    char *text, *id; size_t text_room, id_room;
    int32_t *ids; size_t ids_room;
};
void attn_record_room_free(struct attn_record_room *room);          /* zeroed is fine */

/* {"text": "..."} or {"ids": [...]}, with or without an "id", a string or a number; other members are passed over.
 * `out` may have an id after a failure, too. */
int attn_record_read_object(struct attn_record *out, struct attn_record_room *room, const char *s, size_t len, struct attn_err *err);

/* What the first row of a table says of all. */
struct attn_columns { size_t n, text, id; };                        /* id SIZE_MAX: there is none */
/* column NULL: "text", or the only one; id: the one called "id", if it is another.  headless: only the number of
 * columns is looked at, and `column` is an index. */
int attn_columns_read(struct attn_columns *out, const char *column, bool headless, const char *s, size_t len, char comma,
                      struct attn_err *err);
int attn_record_read_row(struct attn_record *out, struct attn_record_room *room, const struct attn_columns *of, const char *s,
                         size_t len, char comma, struct attn_err *err);

#endif
