/* charclass.c - patterns that are a class of characters, such as \p{N}{1,3}, [0-9][0-9][0-9] or \s?[!-/:-~]+.
 *
 *     pattern     class "?" class "+"  |  class "+"  |  class "{1," digit "}"  |  class class ...
 *     class       "[" "^"? (item | item "-" item)+ "]"  |  "\s"  |  "\p{" L, M, N, P or S "}"
 *     item        a character, "\s", "\p{...}", or one of \r \n \t \\ \- \[ \] \^ \/ \.
 *
 * Whatever goes beyond that, such as a class within a class, is no pattern of this kind. */
#include "text/pretoken.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { CLASSES = 4, PLENTY = 1 << 30 };

struct range { uint32_t first, last; };
struct class { unsigned kinds; bool not; struct range *range; size_t n, room; };
struct attn_charclass {
    struct class class[CLASSES]; size_t n;
    bool optional;                      /* the first may be absent */
    size_t most;                        /* how often the last may come */
};

/* ---- reading --------------------------------------------------------------------------- */

/* A character, or kinds of them. */
struct item { uint32_t c; unsigned kinds; };

static bool add_range(struct class *c, uint32_t first, uint32_t last)
{
    struct range *range = first <= last ? attn_grow(c->range, &c->room, c->n + 1, sizeof *range) : NULL;
    if (!range)
        return false;
    c->range = range;
    range[c->n++] = (struct range){first, last};
    return true;
}

static unsigned property(char c)
{
    return c == 'L' ? ATTN_IS_LETTER : c == 'M' ? ATTN_IS_MARK : c == 'N' ? ATTN_IS_NUMBER : c == 'P' ? ATTN_IS_PUNCTUATION :
           c == 'S' ? ATTN_IS_SYMBOL : 0;
}

static bool read_escape(const char **s, struct item *out)
{
    static const char names[] = "rnt\\-[]^/.", chars[] = "\r\n\t\\-[]^/.";
    const char *p = *s, *name;
    if (p[0] == 's') {
        *out = (struct item){.kinds = ATTN_IS_SPACE};
        *s += 1;
        return true;
    }
    if (p[0] == 'p' && p[1] == '{' && property(p[2]) && p[3] == '}') {
        *out = (struct item){.kinds = property(p[2])};
        *s += 4;
        return true;
    }
    name = p[0] ? strchr(names, p[0]) : NULL;
    if (name)
        *out = (struct item){.c = (unsigned char)chars[name - names]};
    *s += name != NULL;
    return name != NULL;
}

static bool read_item(const char **s, struct item *out)
{
    size_t step, len = strlen(*s);
    if (**s == '\\') {
        ++*s;
        return read_escape(s, out);
    }
    if (len == 0 || **s == '[' || **s == ']' || strncmp(*s, "&&", 2) == 0)
        return false;
    *out = (struct item){.c = attn_utf8_next(*s, len, &step)};
    *s += step;
    return true;
}

static bool read_members(const char **s, struct class *c)
{
    struct item item, last;
    c->not = **s == '^';
    *s += c->not;
    while (**s != ']') {
        if (!read_item(s, &item))
            return false;
        last = item;
        bool range = !item.kinds && **s == '-' && (*s)[1] != ']' && (*s)[1] != '\0';
        if (range) {
            ++*s;
            if (!read_item(s, &last) || last.kinds)
                return false;
        }
        c->kinds |= item.kinds;
        if (!item.kinds && !add_range(c, item.c, last.c))
            return false;
    }
    ++*s;
    return c->kinds || c->n > 0;
}

static bool read_class(const char **s, struct class *c)
{
    struct item item;
    if (**s == '[') {
        ++*s;
        return read_members(s, c);
    }
    if (**s != '\\' || !read_item(s, &item) || !item.kinds)
        return false;
    c->kinds = item.kinds;
    return true;
}

static bool read_all(const char *s, struct attn_charclass *c)
{
    c->most = 1;
    while (*s) {
        if (c->n == CLASSES || !read_class(&s, &c->class[c->n]))
            return false;
        c->n++;
        if (*s == '?' && c->n == 1) {
            c->optional = true;
            s++;
        } else if (*s == '+') {
            c->most = PLENTY;
            s++;
            break;
        } else if (strncmp(s, "{1,", 3) == 0 && s[3] >= '1' && s[3] <= '9' && s[4] == '}') {
            c->most = (size_t)(s[3] - '0');
            s += 5;
            break;
        }
    }
    return !*s && c->n > 0 && (c->optional ? c->n == 2 : c->most == 1 || c->n == 1);
}

struct attn_charclass *attn_charclass_read(const char *pattern)
{
    struct attn_charclass *c = calloc(1, sizeof *c);
    if (c && !read_all(pattern, c)) {
        attn_charclass_free(c);
        return NULL;
    }
    return c;
}

void attn_charclass_free(struct attn_charclass *c)
{
    for (size_t i = 0; c && i < CLASSES; i++)
        free(c->class[i].range);
    free(c);
}

/* ---- matching -------------------------------------------------------------------------- */

static bool has(const struct class *c, uint32_t x)
{
    bool in = c->kinds && (attn_kind_of_char(x) & c->kinds);
    for (size_t i = 0; i < c->n && !in; i++)
        in = x >= c->range[i].first && x <= c->range[i].last;
    return in != c->not;
}

/* Where the last class, from byte `at` on, ends; `at` if it does not match there. */
static size_t repeat(const struct attn_charclass *c, const char *s, size_t len, size_t at)
{
    size_t step;
    for (size_t n = 0; n < c->most && at < len && has(&c->class[c->n - 1], attn_utf8_next(s + at, len - at, &step)); n++)
        at += step;
    return at;
}

size_t attn_charclass_match(const struct attn_charclass *c, const char *s, size_t len)
{
    size_t at = 0, step, end;
    for (size_t i = 0; i + 1 < c->n; i++) {
        if (at < len && has(&c->class[i], attn_utf8_next(s + at, len - at, &step)))
            at += step;
        else if (!c->optional)
            return 0;
    }
    end = repeat(c, s, len, at);
    if (end > at)
        return end;
    return c->optional ? repeat(c, s, len, 0) : 0;
}
