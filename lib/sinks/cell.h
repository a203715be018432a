/* cell.h - fields of CSV as RFC 4180 quotes them.
 *
 * A field is quoted when it holds a comma, a quote or a line end, or begins or ends with a space;
 * quotes inside are doubled.  Lines end in one \n, which every reader takes.  Readers choke on NUL
 * and on what is no UTF-8: a NUL becomes U+FFFD, and so does each broken sequence, as in JSON. */
#ifndef ATTN_SINKS_CELL_H
#define ATTN_SINKS_CELL_H

#include "base/out.h"

void attn_cell_text(struct attn_out *o, const char *s, size_t len);
void attn_cell_token(struct attn_out *o, const struct attn_token *t);   /* how it reads, or its id */

#endif
