/* ready.c - how much of a text that is still being generated can be printed already. */
#include "attn.h"

#include "base/utf8.h"

#include <string.h>

/* How many bytes at the end of the text are the beginning of `stop` (not empty), but not all of it. */
static size_t begun(const char *text, size_t len, const char *stop)
{
    size_t n = strlen(stop) - 1;
    if (n > len)
        n = len;
    while (n && memcmp(text + len - n, stop, n) != 0)
        n--;
    return n;
}

/* How many bytes at the end of the text are the beginning of a UTF-8 character whose rest is missing. */
static size_t cut(const char *text, size_t len)
{
    for (size_t n = 1; n <= 3 && n <= len; n++) {
        const char *s = text + len - n;
        unsigned char first = (unsigned char)*s;
        size_t step;
        if ((first & 0xC0) == 0x80)
            continue;
        attn_utf8_next(s, n, &step);
        return first >= 0xC2 && first <= 0xF4 && step == n && attn_utf8_valid(s, n) == 0 ? n : 0;
    }
    return 0;
}

size_t attn_text_ready(const char *text, size_t len, const char *stop, bool *stopped)
{
    bool stops = stop && *stop;
    const char *at = stops ? memmem(text, len, stop, strlen(stop)) : NULL;
    *stopped = at != NULL;
    if (at)
        return (size_t)(at - text);
    if (stops)
        len -= begun(text, len, stop);
    return len - cut(text, len);
}
