/* lines.h - prints much text in several threads: rows are printed into buffers in parallel, and written in order.
 *
 * The last buffers of a call are written while the next call prints.  So call attn_lines_flush before
 * anything else is written to the same output, and before that is closed. */
#ifndef ATTN_SINKS_LINES_H
#define ATTN_SINKS_LINES_H

#include "base/out.h"
#include "base/team.h"

struct attn_lines;
/* team NULL: only the calling thread works. */
int attn_lines_new(struct attn_lines **out, struct attn_team *team, struct attn_err *err);
void attn_lines_free(struct attn_lines *l);                         /* drops what was not flushed; NULL is fine */

/* put(ctx, i, buf) is called for each row i < n, in any order and thread; it prints at most `most` bytes into buf and
 * returns how many. */
struct attn_row_printer {
    size_t n, most;
    size_t (*put)(const void *ctx, size_t i, char *buf);
    const void *ctx;
};
int attn_lines_write(struct attn_lines *l, struct attn_out *to, const struct attn_row_printer *rows,
                     struct attn_err *err);
void attn_lines_flush(struct attn_lines *l);

#endif
