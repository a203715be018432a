#include "picture/wrap.h"

#include <string.h>

#include "base/size.h"
#include "base/utf8.h"

/* Whether all of a text is drawn in so many columns; a label has bytes for some 190 of them. */
static bool fits(const char *text, size_t len, size_t columns)
{
    enum { ANY = 1000 };
    if (len >= sizeof((struct attn_label *)0)->text)
        return false;
    struct attn_label l = attn_label_line(text, len, ANY);
    return l.bytes + ATTN_VISIBLE < sizeof l.text && attn_utf8_width(l.text, l.bytes) <= columns;
}

static size_t word_end(const struct attn_wrap *t, size_t from)
{
    const char *blank = memchr(t->s + from, ' ', t->len - from);
    return blank ? (size_t)(blank - t->s) : t->len;
}

static size_t blanks_end(const struct attn_wrap *t, size_t from)
{
    while (from < t->len && t->s[from] == ' ')
        from++;
    return from;
}

/* The characters of one word that fit, at least one. */
static size_t part_of_word(const struct attn_wrap *t, size_t columns)
{
    size_t n = 0, step = 0;
    for (attn_utf8_next(t->s, t->len, &step); n < t->len && (!n || fits(t->s, n + step, columns));) {
        n += step;
        if (n < t->len)
            attn_utf8_next(t->s + n, t->len - n, &step);
    }
    return n;
}

struct attn_label attn_wrap_next(struct attn_wrap *rest, size_t columns)
{
    size_t end = word_end(rest, 0);
    if (!fits(rest->s, end, columns))
        end = part_of_word(rest, columns);
    for (size_t more; end < rest->len && rest->s[end] == ' '; end = more) {
        more = word_end(rest, blanks_end(rest, end));
        if (!fits(rest->s, more, columns))
            break;
    }
    struct attn_label l = attn_label_line(rest->s, end, larger(columns, 1));
    size_t from = blanks_end(rest, end);
    *rest = (struct attn_wrap){rest->s + from, rest->len - from};
    return l;
}

struct attn_label attn_wrap_last(struct attn_wrap *rest, size_t columns)
{
    struct attn_label l = attn_label_line(rest->s, rest->len, larger(columns, 1));
    *rest = (struct attn_wrap){rest->s + rest->len, 0};
    return l;
}

size_t attn_wrap_count(const char *s, size_t len, size_t columns, size_t most)
{
    struct attn_wrap rest = {s, len};
    size_t n = 0;
    for (; rest.len && n < most; n++)
        attn_wrap_next(&rest, columns);
    return n;
}
