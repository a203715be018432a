#include "base/list_file.h"

#include <string.h>

#include "base/utf8.h"

struct attn_list_file attn_list_file_begin(const char *text, size_t len)
{
    size_t mark = attn_utf8_mark(text, len);
    return (struct attn_list_file){.at = text + mark, .end = text + len};
}

bool attn_list_file_next(struct attn_list_file *l, const char **item, size_t *len)
{
    while (l->at < l->end) {
        const char *at = l->at, *stop = memchr(at, '\n', (size_t)(l->end - at));
        stop = stop ? stop : l->end;
        l->at = stop + (stop < l->end);
        l->line++;
        while (at < stop && (*at == ' ' || *at == '\t'))
            at++;
        while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
            stop--;
        *item = at;
        *len = (size_t)(stop - at);
        if (at < stop && *at != '#')
            return true;
    }
    return false;
}
