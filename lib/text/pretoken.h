/* pretoken.h - cuts text into the pieces within which byte-level BPE merges.
 *
 * GPT-2, Llama 3 and Qwen 2 describe their pieces by a regular expression.  There is no regex engine here but one
 * matcher for each, a row of a table, selected by the text of the pattern.  The pieces of all of them cover the whole
 * text.  Text is valid UTF-8. */
#ifndef ATTN_TEXT_PRETOKEN_H
#define ATTN_TEXT_PRETOKEN_H

#include "base/utf8.h"

enum attn_pretoken {
    ATTN_PRETOKEN_GPT2, ATTN_PRETOKEN_LLAMA3, ATTN_PRETOKEN_QWEN2,
    ATTN_PRETOKEN_DIGITS,                    /* each digit alone, the text between as a whole */
    ATTN_PRETOKEN_DIGIT_RUNS,                /* the same, but adjacent digits together */
    ATTN_PRETOKENS
};

/* Length of the first piece of s, len > 0.  The end of s is the end of the text. */
size_t attn_pretoken_next(enum attn_pretoken cut, const char *s, size_t len);
/* The cut that a pattern stands for; ATTN_PRETOKENS if it is unknown. */
enum attn_pretoken attn_pretoken_of(const char *pattern);

/* Letters, numbers and white space, as \p{L}, \p{N} and \s of regular expressions.  The version is Unicode 14, on which
 * the published tokenizers agree: characters added by Unicode 15 belong to no class, although utf8proc knows them. */
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
