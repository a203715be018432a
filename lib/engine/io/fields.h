/* fields.h - the fields of CSV, one after the other: RFC 4180, lines end in \n or \r\n.
 *
 * A field that begins with a quote ends with one, and quotes in it are doubled; in other fields a quote is an
 * ordinary character.  TSV is the same with tabs instead of commas. */
#ifndef ATTN_IO_FIELDS_H
#define ATTN_IO_FIELDS_H

#include "attn.h"

struct attn_fields { const char *at, *end; char comma; };

/* Gets the next field as written, quotes included; *last says whether its line ends with it.  False if a quoted field
 * does not end with its quote. */
bool attn_fields_next(struct attn_fields *f, const char **s, size_t *len, bool *last);
/* Writes a field's value, without quotes, to `out`, which has room for len bytes; returns its length. */
size_t attn_fields_text(char *out, const char *s, size_t len);

/* What separates the fields of a table: of a comma, a semicolon and a tab the one by which most rows have as many
 * fields as the first, and more than one; then that by which more fields are numbers; else a comma. */
char attn_fields_comma(const char *text, size_t len);
/* Reads a field as a number: blanks and quotes around it do not count.  Where fields are not separated by commas, one
 * may stand for the point, as in half of Europe.  Also nan and inf in any case, and NA. */
bool attn_fields_number(double *x, const char *s, size_t len, char comma);

/* Finds the end of a row that arrives in pieces: a line feed outside of quotes.  A zeroed struct starts a row. */
struct attn_row_end { bool inside, quoted, closing; };
/* How many bytes of s[0..len) end with the row's end; SIZE_MAX if it is not there yet.  *lines counts line feeds. */
size_t attn_row_end_find(struct attn_row_end *e, const char *s, size_t len, char comma, uint64_t *lines);

#endif
