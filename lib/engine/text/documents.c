#include "text/documents.h"

#include <string.h>

struct attn_documents attn_documents_of(const char *text, size_t len)
{
    return (struct attn_documents){text, text + len};
}

/* Length of the line end at s; 0 if there is none. */
static size_t line_end(const char *s, const char *end)
{
    if (end - s >= 2 && s[0] == '\r' && s[1] == '\n')
        return 2;
    return s < end && *s == '\n';
}

static const char *before_line_end(const char *start, const char *s)
{
    if (s > start && s[-1] == '\n')
        s--;
    return s > start && s[0] == '\n' && s[-1] == '\r' ? s - 1 : s;
}

/* Takes the text up to the next mark, and removes the mark. */
static void take(struct attn_documents *d, const char **text, size_t *len)
{
    static const char mark[] = ATTN_END_OF_TEXT;
    const size_t n = sizeof mark - 1;
    const char *start = d->rest, *at = memmem(start, (size_t)(d->end - start), mark, n);
    const char *stop = at ? at : d->end;
    d->rest = at ? at + n : d->end;
    if (at && (at == start || at[-1] == '\n') && (d->rest == d->end || line_end(d->rest, d->end))) {
        stop = before_line_end(start, at);
        d->rest += line_end(d->rest, d->end);
    }
    *text = start;
    *len = (size_t)(stop - start);
}

bool attn_documents_next(struct attn_documents *d, const char **text, size_t *len)
{
    for (*len = 0; *len == 0 && d->rest < d->end;)
        take(d, text, len);
    return *len > 0;
}
