#include "io/fields.h"

#include <string.h>

/* Skips the quoted part that a field begins with; NULL if the quotes are not closed. */
static const char *pass_quotes(const char *p, const char *end)
{
    do {
        p = memchr(p + 1, '"', (size_t)(end - p - 1));
        if (!p)
            return NULL;
    } while (++p < end && *p == '"');
    return p;
}

bool attn_fields_next(struct attn_fields *f, const char **s, size_t *len, bool *last)
{
    bool quoted = f->at < f->end && *f->at == '"';
    const char *p = quoted ? pass_quotes(f->at, f->end) : f->at, *closed = p;
    if (!p)
        return false;
    while (p < f->end && *p != f->comma && *p != '\n')
        p++;
    *s = f->at;
    *len = (size_t)(p - f->at);
    *last = p == f->end || *p == '\n';
    if (*last && *len && (*s)[*len - 1] == '\r')
        --*len;
    f->at = p + (p < f->end);
    return !quoted || *s + *len == closed;
}

size_t attn_fields_text(char *out, const char *s, size_t len)
{
    bool quoted = len >= 2 && s[0] == '"';
    size_t n = 0;
    for (size_t i = quoted; i < len - quoted; i++) {
        out[n++] = s[i];
        i += quoted && s[i] == '"';     /* skips the second of two doubled quotes */
    }
    return n;
}

size_t attn_row_end_find(struct attn_row_end *e, const char *s, size_t len, char comma, uint64_t *lines)
{
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        bool quote = c == '"';
        *lines += c == '\n';
        if (e->quoted) {
            e->quoted = !quote;
            e->closing = quote;
        } else if (c == '\n') {
            *e = (struct attn_row_end){0};
            return i + 1;
        } else {
            e->quoted = quote && (!e->inside || e->closing);        /* the quote begins a field or doubles the one
                                                                     * before */
            e->closing = false;
            e->inside = c != comma;
        }
    }
    return SIZE_MAX;
}
