/* feed.h - the bytes of a file or a pipe as they arrive; memory holds only what has not been taken yet.
 *
 * Nothing here waits unless told to, and waiting ends when `stop` says so. */
#ifndef ATTN_IO_FEED_H
#define ATTN_IO_FEED_H

#include "attn.h"

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

/* All but stop and self must be zeroed.  NULL or "-" means standard input, which stays open. */
int attn_feed_open(struct attn_feed *f, const char *path, struct attn_err *err);
void attn_feed_close(struct attn_feed *f);                          /* zeroed is fine */
/* Reads on until MORE bytes are there or the input is OVER.  NOTHING is possible only if `wait` is false. */
int attn_feed_more(struct attn_feed *f, bool wait, enum attn_feed_event *what, struct attn_err *err);
void attn_feed_take(struct attn_feed *f, size_t n);

#endif
