#include "io/json_put.h"

#include <string.h>

static void put_escape(FILE *f, unsigned char c)
{
    static const char letters[] = "\"\\bfnrt", meaning[] = "\"\\\b\f\n\r\t";
    const char *m = memchr(meaning, c, sizeof meaning - 1);
    if (m)
        fprintf(f, "\\%c", letters[m - meaning]);
    else
        fprintf(f, "\\u%04X", (unsigned)c);
}

void attn_json_put(FILE *f, const char *s, size_t len)
{
    size_t from = 0;                    /* not written yet */
    putc('"', f);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        fwrite(s + from, 1, i - from, f);
        put_escape(f, c);
        from = i + 1;
    }
    fwrite(s + from, 1, len - from, f);
    putc('"', f);
}
