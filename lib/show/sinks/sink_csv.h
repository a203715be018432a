/* sink_csv.h - the format csv, one matrix per file.
 *
 * OUT/blocks.0.attn.pattern.head0.csv, OUT/embed.csv, OUT/tokens.csv: the first column has the query tokens, the first
 * row the key tokens (dots, scores, pattern) or the column numbers, and the corner cell "token"; -inf, inf and nan are
 * text.  tokens.csv has index,id,text,start,end; the last three are empty for ids alone.  context_tokens.csv has the
 * tokens of the other text in cross-attention.  Fields are those of table/cells.h. */
#ifndef ATTN_SINKS_SINK_CSV_H
#define ATTN_SINKS_SINK_CSV_H

#include "attn_tools.h"
#include "base/out.h"
#include "table/cells.h"

/* The fields of all tokens, quoted once for those who write them often: that of token i is text[end[i - 1]..end[i]),
 * of the first text[0..end[0]). */
struct attn_cells { char *text; size_t *end, longest; };
int attn_cells_make(struct attn_cells *c, const struct attn_tokens *t, bool safe, struct attn_err *err);
void attn_cells_free(struct attn_cells *c);                         /* zeroed cells are fine */
size_t attn_cells_put(const struct attn_cells *c, size_t i, char *buf);         /* at most longest bytes */

#endif
