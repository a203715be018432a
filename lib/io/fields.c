#include "io/fields.h"

#include <string.h>

bool attn_fields_next(struct attn_fields *f, const char **s, size_t *len, bool *last)
{
    const char *p = f->at;
    if (p < f->end && *p == '"') {
        do {
            p = memchr(p + 1, '"', (size_t)(f->end - p - 1));
            if (!p)
                return false;
        } while (++p < f->end && *p == '"');
    }
    while (p < f->end && *p != ',' && *p != '\n')
        p++;
    *s = f->at;
    *len = (size_t)(p - f->at);
    *last = p == f->end || *p == '\n';
    if (*last && *len && (*s)[*len - 1] == '\r')
        --*len;
    f->at = p + (p < f->end);
    return true;
}

size_t attn_fields_text(char *out, const char *s, size_t len)
{
    bool quoted = len >= 2 && s[0] == '"';
    size_t n = 0;
    for (size_t i = quoted; i < len - quoted; i++) {
        out[n++] = s[i];
        i += quoted && s[i] == '"';     /* doubled */
    }
    return n;
}
