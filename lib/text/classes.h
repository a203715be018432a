/* classes.h - letters, numbers and white space, as \p{L}, \p{N} and \s of regular expressions.
 *
 * The version is Unicode 14, on which the published tokenizers agree: characters added by Unicode 15 belong to no
 * class, although utf8proc knows them. */
#ifndef ATTN_TEXT_CLASSES_H
#define ATTN_TEXT_CLASSES_H

#include "base/utf8.h"

enum attn_class { ATTN_CLASS_OTHER, ATTN_CLASS_LETTER, ATTN_CLASS_NUMBER, ATTN_CLASS_SPACE };

enum attn_class attn_class_of(uint32_t c);

/* The class of the character at s, len > 0, valid UTF-8; *step gets its length.  ASCII, the usual case, is handled
 * inline. */
static inline enum attn_class attn_class_at(const char *s, size_t len, size_t *step)
{
    unsigned char c = (unsigned char)*s;
    if (c >= 0x80)
        return attn_class_of(attn_utf8_next(s, len, step));
    *step = 1;
    if ((unsigned char)((c | 0x20) - 'a') < 26)
        return ATTN_CLASS_LETTER;
    if ((unsigned char)(c - '0') < 10)
        return ATTN_CLASS_NUMBER;
    return c == ' ' || (unsigned char)(c - '\t') < 5 ? ATTN_CLASS_SPACE : ATTN_CLASS_OTHER;
}

#endif
