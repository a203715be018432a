#include "visible.h"

#include "attn.h"
#include "character.h"

#include <string.h>

enum { FORM = 8 };

/* How the first character of s looks where it must not steer a terminal, a NUL behind it; returns the bytes it
 * stands for. */
static size_t harmless(char form[FORM], const char *s, size_t len)
{
    size_t n;
    bool whole = character(s, len, &n);
    unsigned char c = (unsigned char)*s, next = n > 1 ? (unsigned char)s[1] : 0;
    if (!whole || c < 0x20 || c == 0x7f)
        snprintf(form, FORM, "\\x%02X", (unsigned)c);
    else if (c == 0xC2 && next < 0xA0)
        snprintf(form, FORM, "\\u{%X}", (unsigned)next);            /* C1: one of them does what ESC [ does */
    else
        snprintf(form, FORM, "%.*s", (int)n, s);
    return whole ? n : 1;
}

void print_text(FILE *f, const char *s, size_t len, bool terminal)
{
    for (size_t step; len > 0; s += step, len -= step) {
        char form[FORM];
        bool plain = !terminal || *s == '\n' || *s == '\t';
        if (!character(s, len, &step)) {
            fputs("\xEF\xBF\xBD", f);
        } else if (plain) {
            fwrite(s, 1, step, f);
        } else {
            harmless(form, s, len);
            fputs(form, f);
        }
    }
}

/* The same of a token: one that is a line feed must not break the table. */
static size_t visible(char form[FORM], const char *s, size_t len)
{
    const char *sign = *s == ' ' ? "·" : *s == '\n' ? "↵" : *s == '\t' ? "→" : NULL;
    if (!sign)
        return harmless(form, s, len);
    strcpy(form, sign);
    return 1;
}

size_t print_visible(FILE *f, const char *s, size_t len)
{
    size_t columns = 0;
    for (size_t at = 0; at < len;) {
        char form[FORM];
        at += visible(form, s + at, len - at);
        columns += attn_utf8_width(form, strlen(form));
        if (f)
            fputs(form, f);
    }
    return columns;
}
