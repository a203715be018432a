/* sink_csv.h - the format csv, one matrix per file, and the fields of CSV that other tables have, too.
 *
 * OUT/blocks.0.attn.pattern.head0.csv, OUT/embed.csv, OUT/tokens.csv: the first column has the query tokens, the first
 * row the key tokens (dots, scores, pattern) or the column numbers, and the corner cell "token"; -inf, inf and nan are
 * text.  tokens.csv has index,id,text,start,end; the last three are empty for ids alone.  context_tokens.csv has the
 * tokens of the other text in cross-attention.
 *
 * A field is quoted as RFC 4180 says when it holds a comma, a quote or a line end, or begins or ends with a space;
 * quotes inside are doubled.  Lines end in \n alone, which every reader accepts.  Readers choke on NUL
 * and on invalid UTF-8: a NUL becomes U+FFFD, and so does each invalid sequence, as in JSON.
 *
 * A spreadsheet runs a text that begins with = + - @, a tab or a carriage return as a formula, quoted or not.  `safe` puts
 * a single quote before it, which makes it text there; numbers are what they are. */
#ifndef ATTN_SINKS_SINK_CSV_H
#define ATTN_SINKS_SINK_CSV_H

#include "attn_tools.h"
#include "base/out.h"

void attn_cell_text(struct attn_out *o, const char *s, size_t len, bool safe);
void attn_cell_f64(struct attn_out *o, double x);       /* nothing if x is NaN */
void attn_cell_record(struct attn_out *o, const struct attn_record *r, bool safe);       /* "12,13,name,": number, line, id */

/* What ends a row of a table whose rows are lines: ",id,error" and the line end; line ends in texts become \n. */
void attn_cell_end(struct attn_out *o, const struct attn_record *r, const char *failed, bool safe);

/* The fields of all tokens, quoted once for those who write them often: that of token i is text[end[i - 1]..end[i]),
 * of the first text[0..end[0]). */
struct attn_cells { char *text; size_t *end, longest; };
int attn_cells_make(struct attn_cells *c, const struct attn_tokens *t, bool safe, struct attn_err *err);
void attn_cells_free(struct attn_cells *c);                         /* zeroed cells are fine */
size_t attn_cells_put(const struct attn_cells *c, size_t i, char *buf);         /* at most longest bytes */

#endif
