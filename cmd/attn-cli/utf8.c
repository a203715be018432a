#include "utf8.h"

size_t utf8_step(const char *text, size_t len, bool *good)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = *s < 0x80 ? 1 : *s < 0xC2 ? 0 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : *s < 0xF5 ? 4 : 0;
    /* The second byte tells long forms, surrogates and what is above U+10FFFF. */
    unsigned char low = *s == 0xE0 ? 0xA0 : *s == 0xF0 ? 0x90 : 0x80, high = *s == 0xED ? 0x9F : *s == 0xF4 ? 0x8F : 0xBF;
    size_t i = 1;
    for (; i < n && i < len && s[i] >= low && s[i] <= high; i++) {
        low = 0x80;
        high = 0xBF;
    }
    *good = i == n;
    return i;
}

void utf8_print(FILE *f, const char *s, size_t len)
{
    for (size_t step; len; s += step, len -= step) {
        bool good;
        step = utf8_step(s, len, &good);
        good ? fwrite(s, 1, step, f) : fwrite("\xEF\xBF\xBD", 1, 3, f);
    }
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

size_t utf8_columns(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += is_control(s[i]) ? 4 : ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

size_t utf8_print_visible(FILE *f, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (is_control(s[i]))
            fprintf(f, "\\x%02X", (unsigned)(unsigned char)s[i]);
        else
            fputc(s[i], f);
    return utf8_columns(s, len);
}
