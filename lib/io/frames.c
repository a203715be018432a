#include "io/frames.h"

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

/* ---- the bytes ------------------------------------------------------------------------- */

enum { CHUNK = 1 << 16, ASK_MS = 200 };

/* Opens a pipe without waiting for its writer: read_more waits, because it can be stopped. */
int attn_frames_open(struct attn_frames *frames, const char *path, struct attn_err *err)
{
    struct attn_feed *f = &frames->feed;
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

void attn_frames_close(struct attn_frames *f)
{
    if (f->feed.owned)
        close(f->feed.fd);
    free(f->feed.buf);
    f->feed = (struct attn_feed){0};
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
        return attn_no_memory(err, f->name, "for a record of more than %zu bytes", f->to);
    ssize_t n = read(f->fd, f->buf + f->to, CHUNK);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN ? ATTN_OK : attn_fail_errno(err, f->name, "read");
    f->to += (size_t)n;
    f->over = n == 0;
    *what = n ? ATTN_FEED_MORE : ATTN_FEED_OVER;
    return ATTN_OK;
}

/* Reads on until MORE bytes are there or the input is OVER. */
static int read_more(struct attn_feed *f, bool wait, enum attn_feed_event *what, struct attn_err *err)
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

static void take(struct attn_feed *f, size_t n)
{
    f->from += n;
    f->taken += n;
}

/* ---- records --------------------------------------------------------------------------- */

enum { LONGEST = ATTN_FRAME_MB << 20 };

static size_t find_line_end(const char *s, size_t len, uint64_t *lines)
{
    const char *end = len ? memchr(s, '\n', len) : NULL;
    *lines += end != NULL;
    return end ? (size_t)(end - s) + 1 : SIZE_MAX;
}

/* Searches the new bytes for the end of the record. */
static void look(struct attn_frames *f)
{
    struct attn_frame *now = &f->now;
    const char *s = f->feed.buf ? f->feed.buf + f->feed.from + now->seen : "";
    size_t len = f->feed.to - f->feed.from - now->seen;
    size_t end = f->comma ? attn_row_end_find(&now->end, s, len, f->comma, &now->lines) : find_line_end(s, len, &now->lines);
    now->whole = end != SIZE_MAX || (f->feed.over && (now->seen + len || now->too_long));
    now->len = now->seen + (end == SIZE_MAX ? len : end);
    now->seen += len;
    now->too_long |= now->len > LONGEST;
    if (now->too_long && !now->whole) {
        take(&f->feed, now->seen);
        now->seen = 0;
    }
}

const char *attn_frames_bytes(const struct attn_frames *f, size_t *len)
{
    const char *s = f->feed.buf + f->feed.from;
    *len = f->now.len;
    if (*len && s[*len - 1] == '\n')
        --*len;
    if (*len && s[*len - 1] == '\r')
        --*len;
    return s;
}

static bool is_blank(const struct attn_frames *f)
{
    size_t len;
    const char *s = attn_frames_bytes(f, &len), *white = f->comma == '\t' ? " \r\v\f" : " \t\r\v\f";
    for (size_t i = 0; i < len; i++)
        if (!s[i] || !strchr(white, s[i]))
            return false;
    return !f->now.too_long;
}

void attn_frames_drop(struct attn_frames *f)
{
    take(&f->feed, f->now.len);
    f->line += f->now.lines;
    f->now = (struct attn_frame){0};
}

/* Waits until three bytes are there or the first ones differ: a mark must not hide the quote after it. */
static bool pass_mark(struct attn_frames *f)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t n = f->feed.to - f->feed.from;
    n = n < 3 ? n : 3;
    bool same = !n || !memcmp(f->feed.buf + f->feed.from, mark, n);
    if (same && n < 3 && !f->feed.over)
        return false;
    if (same && n == 3)
        take(&f->feed, n);
    f->begun = true;
    return true;
}

int attn_frames_find(struct attn_frames *f, bool wait, enum attn_feed_event *what, struct attn_err *err)
{
    int rc = ATTN_OK;
    *what = ATTN_FEED_MORE;
    while (!rc && !f->now.whole && *what == ATTN_FEED_MORE) {
        if (f->begun || pass_mark(f))
            look(f);
        if (f->now.whole && is_blank(f)) {
            f->blank++;
            attn_frames_drop(f);
        } else if (!f->now.whole && f->feed.over) {
            *what = ATTN_FEED_OVER;
        } else if (!f->now.whole) {
            rc = read_more(&f->feed, wait, what, err);
            if (*what == ATTN_FEED_OVER)
                *what = ATTN_FEED_MORE; /* a last record without a line end may be whole now */
        }
    }
    return rc;
}
