#include "character.h"

bool character(const char *s, size_t len, size_t *step)
{
    unsigned char first = (unsigned char)s[0];
    size_t need = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    /* The range of the second byte alone excludes overlong forms, surrogates and code points above U+10FFFF. */
    unsigned char lo = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char hi = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    for (*step = 1; *step < need; ++*step) {
        if (*step == len || (unsigned char)s[*step] < lo || (unsigned char)s[*step] > hi)
            return false;
        lo = 0x80;
        hi = 0xBF;
    }
    return need > 0;
}
