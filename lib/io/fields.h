/* fields.h - the fields of CSV, one after the other: RFC 4180, lines end in \n or \r\n.
 *
 * A field that begins with a quote ends with one, and quotes in it are doubled; in others a quote is a character like
 * any other.  TSV is the same with a tab for the comma. */
#ifndef ATTN_IO_FIELDS_H
#define ATTN_IO_FIELDS_H

#include "attn.h"

struct attn_fields { const char *at, *end; char comma; };

/* The next field as written, quotes included; *last: its line ends with it.  False: a quote is not closed where the
 * field ends. */
bool attn_fields_next(struct attn_fields *f, const char **s, size_t *len, bool *last);
/* What a field stands for, without its quotes, in `out`, which has room for len bytes; returns how many. */
size_t attn_fields_text(char *out, const char *s, size_t len);

/* The end of a row that comes in pieces: a line feed that is in no quotes. */
struct attn_row_end { bool inside, quoted, closing; };              /* zeroed: a row begins */
/* The bytes up to it and with it of s[0..len), or SIZE_MAX: it is not there yet.  *lines counts line feeds. */
size_t attn_row_end_find(struct attn_row_end *e, const char *s, size_t len, char comma, uint64_t *lines);

#endif
