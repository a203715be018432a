/* feed.h - bytes of a file or a pipe as they come, in memory of what is not yet taken.
 *
 * Nothing here waits unless it is told to, and waiting ends when somebody asks to stop. */
#ifndef ATTN_IO_FEED_H
#define ATTN_IO_FEED_H

#include "attn.h"

struct attn_feed {
    const char *name;                   /* what messages call it */
    int fd; bool owned;
    char *buf; size_t room, from, to;   /* bytes [from, to) are there to be taken */
    bool over;                          /* and there are no others */
    bool counted;                       /* a regular file, which can be read twice, of `size` bytes */
    uint64_t size, taken;
    bool (*stop)(void *self); void *self;   /* NULL: never */
};
enum attn_feed_event { ATTN_FEED_MORE, ATTN_FEED_OVER, ATTN_FEED_NOTHING, ATTN_FEED_STOPPED };

/* Zeroed but for stop and self.  NULL or "-" is standard input, which stays open. */
int attn_feed_open(struct attn_feed *f, const char *path, struct attn_err *err);
void attn_feed_close(struct attn_feed *f);                          /* zeroed is fine */
/* Reads on: MORE bytes are there, or it is OVER.  NOTHING comes only where `wait` is false. */
int attn_feed_more(struct attn_feed *f, bool wait, enum attn_feed_event *what, struct attn_err *err);
void attn_feed_take(struct attn_feed *f, size_t n);

#endif
