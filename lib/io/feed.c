#include "io/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/grow.h"

enum { CHUNK = 1 << 16, ASK_MS = 200 };

/* Opens a pipe without waiting for its writer: attn_feed_more waits, because it can be stopped. */
int attn_feed_open(struct attn_feed *f, const char *path, struct attn_err *err)
{
    struct stat st;
    f->owned = path && strcmp(path, "-") != 0;
    f->name = f->owned ? path : "standard input";
    f->fd = f->owned ? attn_disk_open(path, O_RDONLY | O_NONBLOCK, 0) : STDIN_FILENO;
    if (f->fd < 0) {
        f->owned = false;
        return attn_fail_errno(err, f->name, "open");
    }
    bool regular = fstat(f->fd, &st) == 0 && S_ISREG(st.st_mode);
    f->size = regular ? (uint64_t)st.st_size : 0;
    f->counted = regular && f->owned;
    return ATTN_OK;
}

void attn_feed_close(struct attn_feed *f)
{
    if (f->owned)
        close(f->fd);
    free(f->buf);
    *f = (struct attn_feed){0};
}

/* Moves the unread bytes to the front and makes room for a chunk after them. */
static bool make_room(struct attn_feed *f)
{
    if (f->from)
        memmove(f->buf, f->buf + f->from, f->to - f->from);
    f->to -= f->from;
    f->from = 0;
    char *more = attn_grow(f->buf, &f->room, f->to + CHUNK, 1);
    f->buf = more ? more : f->buf;
    return more != NULL;
}

static int read_chunk(struct attn_feed *f, enum attn_feed_event *what, struct attn_err *err)
{
    if (f->room - f->to < CHUNK && !make_room(f))
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a record of more than %zu bytes", f->name, f->to);
    ssize_t n = read(f->fd, f->buf + f->to, CHUNK);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? ATTN_OK : attn_fail_errno(err, f->name, "read");
    f->to += (size_t)n;
    f->over = n == 0;
    *what = n ? ATTN_FEED_MORE : ATTN_FEED_OVER;
    return ATTN_OK;
}

int attn_feed_more(struct attn_feed *f, bool wait, enum attn_feed_event *what, struct attn_err *err)
{
    struct pollfd in = {.fd = f->fd, .events = POLLIN};
    int rc = ATTN_OK;
    *what = f->over ? ATTN_FEED_OVER : ATTN_FEED_NOTHING;
    while (!rc && *what == ATTN_FEED_NOTHING) {
        if (f->stop && f->stop(f->self)) {
            *what = ATTN_FEED_STOPPED;
            break;
        }
        int ready = poll(&in, 1, wait ? ASK_MS : 0);
        if (ready > 0)
            rc = read_chunk(f, what, err);
        else if (ready < 0 && errno != EINTR)
            rc = attn_fail_errno(err, f->name, "read");
        else if (!wait)
            break;
    }
    return rc;
}

void attn_feed_take(struct attn_feed *f, size_t n)
{
    f->from += n;
    f->taken += n;
}
