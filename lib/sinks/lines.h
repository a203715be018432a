/* lines.h - much text made by several threads: rows are put into buffers side by side, and written in order.
 *
 * The last buffers of a call are written beside the work of the next one; flush before anything
 * else goes to the same output, and before that is closed. */
#ifndef ATTN_SINKS_LINES_H
#define ATTN_SINKS_LINES_H

#include "base/out.h"
#include "base/team.h"

struct attn_lines;
/* team NULL: the caller alone. */
int attn_lines_new(struct attn_lines **out, struct attn_team *team, struct attn_err *err);
void attn_lines_free(struct attn_lines *l);                         /* drops what was not flushed; NULL is fine */

/* put(ctx, i, buf) for each i < n, in any order; it returns how much of the `most` bytes at buf it used. */
struct attn_rows {
    size_t n, most;
    size_t (*put)(const void *ctx, size_t i, char *buf);
    const void *ctx;
};
int attn_lines_write(struct attn_lines *l, struct attn_out *to, const struct attn_rows *rows, struct attn_err *err);
void attn_lines_flush(struct attn_lines *l);

#endif
