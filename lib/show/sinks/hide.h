/* hide.h - which keys a query cannot look at, for pictures: there a weight of 0 is drawn as hidden and not as small. */
#ifndef ATTN_SINKS_HIDE_H
#define ATTN_SINKS_HIDE_H

#include "picture/album.h"
#include "run/masked.h"
#include "sinks/sink.h"

struct attn_masking attn_sink_masking(const struct attn_sink_job *job);
/* attn_masked_text of what the job shows, which may be words. */
const char *attn_sink_masked_text(char text[ATTN_KIND_TEXT], const struct attn_sink_job *job, int act, int layer);

/* Rows [row0, row0 + rows) and columns [col0, col0 + cols) of a matrix over all `keys`, as they are shown: tokens, or
 * words, of which one is hidden where all of its tokens are.  NULL: each is a token. */
struct attn_window { size_t row0, rows, col0, cols, keys; const struct attn_words *row_words, *key_words; };
/* Marks in `hidden` [rows, cols] what a kind hides in a window. */
int attn_hide_kind(unsigned char *hidden, const struct attn_kind *k, const struct attn_window *part,
                   struct attn_err *err);
/* Gives a sheet of the album, whose rows and columns are those of the window, its mask. */
int attn_sink_mask(struct attn_album *a, struct attn_sheet *s, const struct attn_sink_job *job, int act,
                   const struct attn_window *part, struct attn_err *err);

#endif
