#include "text/classes.h"

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

enum { FIRST_NEW = 0x1123F };

/* Letters and numbers added by Unicode 15, in ascending order. */
static const struct { uint32_t first, last; } newer[] = {
    {FIRST_NEW, 0x11240}, {0x11F02, 0x11F02}, {0x11F04, 0x11F10}, {0x11F12, 0x11F33}, {0x11F50, 0x11F59},
    {0x1342F, 0x1342F}, {0x13441, 0x13446}, {0x1B132, 0x1B132}, {0x1B155, 0x1B155}, {0x1D2C0, 0x1D2D3},
    {0x1DF25, 0x1DF2A}, {0x1E030, 0x1E06D}, {0x1E4D0, 0x1E4EB}, {0x1E4F0, 0x1E4F9}, {0x2B739, 0x2B739},
    {0x31350, 0x323AF},
};

static bool is_newer(uint32_t c)
{
    size_t i = 0;
    while (i < sizeof newer / sizeof *newer && newer[i].last < c)
        i++;
    return i < sizeof newer / sizeof *newer && newer[i].first <= c;
}

enum attn_class attn_class_of(uint32_t c)
{
    enum attn_class class = ATTN_CLASS_OTHER;
    if (attn_utf8_space(c))
        return ATTN_CLASS_SPACE;
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LL: case UTF8PROC_CATEGORY_LT: case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        class = ATTN_CLASS_LETTER;
        break;
    case UTF8PROC_CATEGORY_ND: case UTF8PROC_CATEGORY_NL: case UTF8PROC_CATEGORY_NO:
        class = ATTN_CLASS_NUMBER;
        break;
    default:
        break;
    }
    return class != ATTN_CLASS_OTHER && c >= FIRST_NEW && is_newer(c) ? ATTN_CLASS_OTHER : class;
}
