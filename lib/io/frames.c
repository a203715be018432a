#include "io/frames.h"

#include <string.h>

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
        attn_feed_take(&f->feed, now->seen);
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
    attn_feed_take(&f->feed, f->now.len);
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
        attn_feed_take(&f->feed, n);
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
            rc = attn_feed_more(&f->feed, wait, what, err);
            if (*what == ATTN_FEED_OVER)
                *what = ATTN_FEED_MORE; /* a last record without a line end may be whole now */
        }
    }
    return rc;
}
