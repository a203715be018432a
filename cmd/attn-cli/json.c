#include "json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the character at s, 0 when it is not UTF-8: too long a form, a surrogate, above U+10FFFF, cut. */
static size_t character(const unsigned char *s, size_t len)
{
    size_t n = *s < 0x80 ? 1 : *s < 0xC2 ? 0 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : *s < 0xF5 ? 4 : 0;
    if (n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool bad = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) ||
               (s[0] == 0xF4 && s[1] > 0x8F);
    return bad ? 0 : n;
}

static void escape(FILE *f, char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *at = c ? strchr(from, c) : NULL;
    if (at)
        fprintf(f, "\\%c", to[at - from]);
    else
        fprintf(f, "\\u%04x", (unsigned)(unsigned char)c);
}

void json_string(FILE *f, const char *s, size_t len)
{
    if (!s) {
        fputs("null", f);
        return;
    }
    fputc('"', f);
    while (len) {
        size_t n = character((const unsigned char *)s, len);
        if (n == 0)
            fputs("\xEF\xBF\xBD", f);
        else if ((unsigned char)*s < 0x20 || *s == '"' || *s == '\\')
            escape(f, *s);
        else
            fwrite(s, 1, n, f);
        s += n ? n : 1;
        len -= n ? n : 1;
    }
    fputc('"', f);
}

void json_text(FILE *f, const char *s)
{
    json_string(f, s, s ? strlen(s) : 0);
}

void json_real(FILE *f, double x)
{
    char text[32];
    int digits = 6;                     /* fewer are never nicer: 10000, not 1e+04 */
    do
        snprintf(text, sizeof text, "%.*g", digits, x);
    while (digits++ < 17 && strtod(text, NULL) != x);
    fputs(text, f);
}
