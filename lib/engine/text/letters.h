/* letters.h - which characters are letters, marks, numbers, punctuation and parts of words, as those count them who
 * wrote the tokenizers: by older versions of Unicode. */
#ifndef ATTN_TEXT_LETTERS_H
#define ATTN_TEXT_LETTERS_H

#include "base/utf8.h"

/* Letters, numbers and white space, as \p{L}, \p{N} and \s of regular expressions.  The version is Unicode 14, on which
 * the published tokenizers agree: characters added by Unicode 15 belong to no class, although utf8proc knows them. */
enum attn_class { ATTN_CLASS_OTHER, ATTN_CLASS_LETTER, ATTN_CLASS_NUMBER, ATTN_CLASS_SPACE };

enum attn_class attn_class_of(uint32_t c);

/* The same in more detail, as bits. */
enum {
    ATTN_IS_UPPER = 1 << 0,             /* Lu, Lt */
    ATTN_IS_LOWER = 1 << 1,             /* Ll */
    ATTN_IS_CASELESS = 1 << 2,          /* Lm, Lo */
    ATTN_IS_LETTER = 7,
    ATTN_IS_MARK = 1 << 3, ATTN_IS_NUMBER = 1 << 4, ATTN_IS_SPACE = 1 << 5, ATTN_IS_PUNCTUATION = 1 << 6,
    ATTN_IS_SYMBOL = 1 << 7,
    ATTN_IS_NEWLINE = 1 << 8            /* CR, LF */
};
unsigned attn_kind_of_char(uint32_t c);
/* The general category, as the bit whose number is utf8proc's. */
uint32_t attn_category_bit(uint32_t c);

/* \w of regular expressions; what counts as punctuation in pre-tokenizers, that of Unicode 8 and all of ASCII's. */
bool attn_is_word(uint32_t c);
bool attn_is_punctuation(uint32_t c);
/* What BERT's normalizer takes for accents and for control characters: those of Unicode 8. */
bool attn_is_old_mark(uint32_t c);
bool attn_is_old_control(uint32_t c);
/* What it puts spaces around. */
bool attn_is_chinese(uint32_t c);

/* The class of the character at s, len > 0, valid UTF-8; *step gets its length.  ASCII, the usual case, is inline. */
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
