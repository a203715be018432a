/* cells.h - the fields of CSV, and the texts of Markdown.
 *
 * A field is quoted as RFC 4180 says when it holds a comma, a quote or a line end, or begins or ends with a space;
 * quotes inside are doubled.  Lines end in \n alone, which every reader accepts.  Readers choke on NUL
 * and on invalid UTF-8: a NUL becomes U+FFFD, and so does each invalid sequence, as in JSON.
 *
 * A spreadsheet runs a text that begins with = + - @, a tab or a carriage return as a formula, quoted or not.  `safe`
 * puts a single quote before it, which makes it text there; numbers are what they are. */
#ifndef ATTN_TABLE_CELLS_H
#define ATTN_TABLE_CELLS_H

#include "attn_tools.h"
#include "base/out.h"

void attn_cell_text(struct attn_out *o, const char *s, size_t len, bool safe);
/* A field of TSV: a tab, a line end and a backslash in it become \t, \n, \r and \\, so that a line is a row. */
void attn_cell_escaped(struct attn_out *o, const char *s, size_t len, bool safe);
void attn_cell_f64(struct attn_out *o, double x);       /* nothing if x is NaN */
/* "12,13,name,": number, line, id */
void attn_cell_record(struct attn_out *o, const struct attn_record *r, bool safe);

/* What ends a row of a table whose rows are lines: ",id,error" and the line end; line ends in texts become \n. */
void attn_cell_end(struct attn_out *o, const struct attn_record *r, const char *failed, bool safe);

/* Escapes what Markdown could take for emphasis, a link, an element or the end of a cell. */
void attn_cell_markdown(struct attn_out *o, const char *s);

#endif
