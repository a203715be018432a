#include "visible.h"

#include "attn.h"
#include "character.h"

#include <string.h>

void print_text(FILE *f, const char *s, size_t len)
{
    for (size_t step; len > 0; s += step, len -= step)
        if (character(s, len, &step))
            fwrite(s, 1, step, f);
        else
            fputs("\xEF\xBF\xBD", f);
}

/* How the first character of a token shows, a NUL behind it; returns the bytes it stands for.  A token that
 * is a line feed must not break the table, and one that is part of a character not the terminal. */
static size_t visible(char form[8], const char *s, size_t len)
{
    size_t n;
    bool whole = character(s, len, &n);
    unsigned char c = (unsigned char)*s;
    if (c == ' ')
        strcpy(form, "·");
    else if (!whole || c < 0x20 || c == 0x7f)
        snprintf(form, 8, "\\x%02X", (unsigned)c);
    else
        snprintf(form, 8, "%.*s", (int)n, s);
    return whole ? n : 1;
}

size_t print_visible(FILE *f, const char *s, size_t len)
{
    size_t columns = 0;
    for (size_t at = 0; at < len;) {
        char form[8];
        at += visible(form, s + at, len - at);
        columns += attn_utf8_width(form, strlen(form));
        if (f)
            fputs(form, f);
    }
    return columns;
}
