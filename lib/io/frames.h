/* frames.h - finds where the records of an input end, before anybody parses them.
 *
 * A record is a line, or a row of a table, which may contain line ends in quotes.  Lines end in \n or \r\n; the last
 * one may lack its end.  A byte order mark at the start is dropped.  Lines of white space are counted as lines but are
 * not records.  Nothing else ends a record: \r alone, NUL and Unicode's line separators are ordinary characters.
 *
 * A record longer than ATTN_FRAME_MB is skipped in pieces, so that memory stays bounded. */
#ifndef ATTN_IO_FRAMES_H
#define ATTN_IO_FRAMES_H

#include "io/fields.h"

enum { ATTN_FRAME_MB = 16 };

/* The bytes of a file or a pipe as they arrive; memory holds only what has not been taken yet. */
struct attn_feed {
    const char *name;                   /* for messages */
    int fd; bool owned;
    char *buf; size_t room, from, to;   /* bytes [from, to) can be taken */
    bool over;                          /* no more bytes will come */
    bool counted;                       /* a regular file of `size` bytes, which can be read twice */
    uint64_t size, taken;
    bool (*stop)(void *self); void *self;   /* asked while waiting; NULL: never stop */
};
enum attn_feed_event { ATTN_FEED_MORE, ATTN_FEED_OVER, ATTN_FEED_NOTHING, ATTN_FEED_STOPPED };


/* The record at the front of the feed. */
struct attn_frame {
    bool whole, too_long;               /* its end was found; too_long: most of it has been discarded */
    size_t len;                         /* including its line end */
    uint64_t lines;                     /* line feeds in it */
    struct attn_row_end end;
    size_t seen;                        /* bytes that were searched and are still in the feed */
};
struct attn_frames {
    struct attn_feed feed;
    char comma;                         /* field separator of a table; 0: records are lines */
    struct attn_frame now;
    bool begun;                         /* a byte order mark has been dealt with */
    uint64_t line, blank;               /* where the record begins, from 1; blank lines so far */
};

/* All but the feed's stop and self must be zeroed.  A path of NULL or "-" means standard input, which stays open.
 * Nothing here waits unless told to, and waiting ends when `stop` says so. */
int attn_frames_open(struct attn_frames *f, const char *path, struct attn_err *err);
void attn_frames_close(struct attn_frames *f);                      /* zeroed is fine */
/* Reads on until a record is whole (MORE).  NOTHING is possible only if `wait` is false. */
int attn_frames_find(struct attn_frames *f, bool wait, enum attn_feed_event *what, struct attn_err *err);
/* The bytes of a whole record without its line end. */
const char *attn_frames_bytes(const struct attn_frames *f, size_t *len);
void attn_frames_drop(struct attn_frames *f);                       /* goes on to the next one */

#endif
