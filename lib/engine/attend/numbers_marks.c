/* numbers_marks.c - marks as Chinese keyboards and printed pages have them: "１，０；０，−∞" is "1,0;0,-inf". */
#include "attend/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* What is written in place of a character; NULL: it stays. */
static const char *plain(char buf[2], uint32_t c)
{
    static const struct { uint32_t c; const char *plain; } others[] = {
        {0x2212, "-"}, {0x221E, "inf"}, {0x3000, " "}, {0x3001, ","}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].c == c)
            return others[i].plain;
    buf[0] = (char)(c - 0xFEE0);        /* full-width ASCII */
    return c >= 0xFF01 && c <= 0xFF5E ? buf : NULL;
}

/* No mark becomes longer. */
char *attn_numbers_plain(const char *text, size_t *len)
{
    char *out = malloc(*len + 1), buf[2] = "";
    size_t n = 0, step;
    for (size_t i = 0; out && i < *len; i += step) {
        const char *instead = plain(buf, attn_utf8_next(text + i, *len - i, &step));
        size_t size = instead ? strlen(instead) : step;
        memcpy(out + n, instead ? instead : text + i, size);
        n += size;
    }
    *len = n;
    return out;
}
