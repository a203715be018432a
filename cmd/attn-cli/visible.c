#include "visible.h"

#include "attn.h"
#include "character.h"

#include <string.h>

void print_text(FILE *f, const char *s, size_t len, bool terminal)
{
    for (size_t step; len > 0; s += step, len -= step) {
        char form[ATTN_VISIBLE];
        bool plain = !terminal || *s == '\n' || *s == '\t';
        if (!character(s, len, &step)) {
            fputs("\xEF\xBF\xBD", f);
        } else if (plain) {
            fwrite(s, 1, step, f);
        } else {
            attn_utf8_visible(form, s, len);
            fputs(form, f);
        }
    }
}

/* Like attn_utf8_visible, but with signs for space, line feed and tab: a token with a line feed must not break the table. */
static size_t visible(char form[ATTN_VISIBLE], const char *s, size_t len)
{
    const char *sign = *s == ' ' ? "·" : *s == '\n' ? "↵" : *s == '\t' ? "→" : NULL;
    if (!sign)
        return attn_utf8_visible(form, s, len);
    strcpy(form, sign);
    return 1;
}

size_t print_visible(FILE *f, const char *s, size_t len)
{
    size_t columns = 0;
    for (size_t at = 0; at < len;) {
        char form[ATTN_VISIBLE];
        at += visible(form, s + at, len - at);
        columns += attn_utf8_width(form, strlen(form));
        if (f)
            fputs(form, f);
    }
    return columns;
}
