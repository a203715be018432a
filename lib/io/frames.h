/* frames.h - where the records of an input end, before anybody looks into them.
 *
 * A record is a line, or the row of a table, in whose quotes there may be line ends.  Lines end in \n or \r\n, the last
 * one may lack its end; a byte order mark in front of all is dropped; lines of nothing but white space are no
 * records, but lines.  Nothing else ends a record: \r alone, NUL and Unicode's line separators are characters of it.
 *
 * One longer than ATTN_FRAME_MB is passed over in pieces, so that memory is bounded whatever comes. */
#ifndef ATTN_IO_FRAMES_H
#define ATTN_IO_FRAMES_H

#include "io/feed.h"
#include "io/fields.h"

enum { ATTN_FRAME_MB = 16 };

/* The record whose bytes are the first in the feed. */
struct attn_frame {
    bool whole, too_long;               /* its end was found; too_long: most of it is gone */
    size_t len;                         /* with its line end */
    uint64_t lines;                     /* line feeds */
    struct attn_row_end end;
    size_t seen;                        /* bytes looked at that are still there */
};
struct attn_frames {
    struct attn_feed feed;
    char comma;                         /* between the fields of a table; 0: records are lines */
    struct attn_frame now;
    bool begun;                         /* the byte order mark is behind us */
    uint64_t line, blank;               /* where the record begins, from 1; blank lines so far */
};

/* Until a record is whole, which is MORE. */
int attn_frames_find(struct attn_frames *f, bool wait, enum attn_feed_event *what, struct attn_err *err);
/* The bytes of a whole record without its line end. */
const char *attn_frames_bytes(const struct attn_frames *f, size_t *len);
void attn_frames_drop(struct attn_frames *f);                       /* the next one, then */

#endif
