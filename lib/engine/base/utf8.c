#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

/* Decodes the sequence at s.  On failure *step is the length of the maximal broken sequence: as many bytes as could
 * begin a valid sequence, at least one. */
static bool decode(const char *s, size_t len, size_t *step, uint32_t *c)
{
    unsigned char first = (unsigned char)s[0];
    *step = 1;
    *c = first;
    if (first < 0x80)
        return true;
    if (first < 0xC2 || first > 0xF4)
        return false;
    size_t need = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    /* The second byte alone reveals overlong forms, surrogates and code points above U+10FFFF. */
    unsigned char lo = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char hi = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    for (*c &= 0x7Fu >> need; *step < need; ++*step) {
        if (*step == len || (unsigned char)s[*step] < lo || (unsigned char)s[*step] > hi)
            return false;
        *c = *c << 6 | ((unsigned char)s[*step] & 0x3F);
        lo = 0x80;
        hi = 0xBF;
    }
    return true;
}

/* Whether the eight bytes at s are all ASCII; a shortcut, since most text is. */
static bool ascii8(const char *s)
{
    uint64_t word;
    memcpy(&word, s, sizeof word);
    return (word & 0x8080808080808080u) == 0;
}

size_t attn_utf8_ascii(const char *s, size_t len)
{
    size_t i = 0;
    while (len - i >= 8 && ascii8(s + i))
        i += 8;
    while (i < len && (unsigned char)s[i] < 0x80)
        i++;
    return i;
}

size_t attn_utf8_mark(const char *s, size_t len)
{
    static const char mark[] = "\xEF\xBB\xBF";
    return len >= strlen(mark) && !memcmp(s, mark, strlen(mark)) ? strlen(mark) : 0;
}

/* Whether s begins with a sequence of two bytes, or of three whose first says nothing about the second.  Nearly all
 * sequences are of these kinds. */
static bool is_plain2(const char *s, size_t len)
{
    unsigned char first = (unsigned char)s[0];
    return len >= 2 && first >= 0xC2 && first < 0xE0 && ((unsigned char)s[1] & 0xC0) == 0x80;
}

static bool is_plain3(const char *s, size_t len)
{
    unsigned char first = (unsigned char)s[0];
    return len >= 3 && first > 0xE0 && first < 0xF0 && first != 0xED && ((unsigned char)s[1] & 0xC0) == 0x80 &&
           ((unsigned char)s[2] & 0xC0) == 0x80;
}

size_t attn_utf8_valid(const char *s, size_t len)
{
    size_t i = 0;
    while (i < len) {
        size_t step;
        uint32_t c;
        if (len - i >= 8 && ascii8(s + i))
            i += 8;
        else if ((unsigned char)s[i] < 0x80)
            i++;
        else if (is_plain2(s + i, len - i))
            i += 2;
        else if (is_plain3(s + i, len - i))
            i += 3;
        else if (decode(s + i, len - i, &step, &c))
            i += step;
        else
            break;
    }
    return i;
}

uint32_t attn_utf8_next(const char *s, size_t len, size_t *step)
{
    uint32_t c;
    return decode(s, len, step, &c) ? c : 0xFFFD;
}

size_t attn_utf8_put(char buf[4], uint32_t c)
{
    if (c < 0x80) {
        buf[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        buf[i] = (char)(0x80 | (c & 0x3F));
    buf[0] = (char)((0xF00u >> n & 0xF0) | c);
    return n;
}

bool attn_utf8_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

bool attn_utf8_punctuation(const char *s, size_t len)
{
    bool any = false;
    for (size_t i = 0, step; i < len; i += step) {
        uint32_t c = attn_utf8_next(s + i, len - i, &step);
        utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
        bool is = k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
        if (!is && !attn_utf8_space(c))
            return false;
        any |= is;
    }
    return any;
}

size_t attn_utf8_width(const char *s, size_t len)
{
    size_t columns = 0, step;
    for (size_t i = 0; i < len; i += step)
        columns += (size_t)utf8proc_charwidth((utf8proc_int32_t)attn_utf8_next(s + i, len - i, &step));
    return columns;
}

bool attn_utf8_steers(uint32_t c)
{
    bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    return control || c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* Whether c shows nothing, as white space (not in this table) does, or changes the writing direction. */
static bool invisible(uint32_t c)
{
    static const struct { uint32_t first, last; } ranges[] = {
        { 0x00, 0x1F }, { 0x7F, 0x9F }, { 0xAD, 0xAD }, { 0x61C, 0x61C }, { 0x180E, 0x180E }, { 0x200B, 0x200F },
        { 0x202A, 0x202E }, { 0x2060, 0x206F }, { 0xFEFF, 0xFEFF }, { 0xFFF9, 0xFFFB }, { 0xE0000, 0xE007F },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return attn_utf8_space(c);
}

size_t attn_utf8_visible(char form[ATTN_VISIBLE], const char *s, size_t len)
{
    size_t step, good = attn_utf8_valid(s, len < 4 ? len : 4);
    if (!good) {
        snprintf(form, ATTN_VISIBLE, "\\x%02X", (unsigned char)s[0]);
        return 1;
    }
    uint32_t c = attn_utf8_next(s, good, &step);
    if (c != ' ' && invisible(c)) {
        snprintf(form, ATTN_VISIBLE, c < 0x80 ? "\\x%02X" : "\\u{%X}", (unsigned)c);
    } else {
        memcpy(form, s, step);
        form[step] = '\0';
    }
    return step;
}

char *attn_utf8_readable(const char *s, size_t len)
{
    char *text = malloc(3 * len + 1), *to = text;       /* U+FFFD takes 3 bytes */
    for (size_t i = 0, step; text && i < len; i += step) {
        uint32_t c = attn_utf8_next(s + i, len - i, &step);
        to += attn_utf8_put(to, c != ' ' && invisible(c) ? 0xFFFD : c);
    }
    if (text)
        *to = '\0';
    return text;
}

/* U+FDD0 to U+FDEF and the last two of each plane are no characters. */
bool attn_utf8_in_markup(uint32_t c)
{
    bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c >= 0x7F && c < 0xA0);
    return !control && !(c >= 0xFDD0 && c <= 0xFDEF) && (c & 0xFFFE) != 0xFFFE;
}
