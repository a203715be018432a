/* pretoken.h - cuts text into the pieces within which a tokenizer's model works.
 *
 * Files describe their pieces by a regular expression.  Those of large families have a scanner each, a row of a table, selected
 * by the text of the pattern; all others are run as they are written (regex.h), which takes ten times as long.  Text is valid
 * UTF-8. */
#ifndef ATTN_TEXT_PRETOKEN_H
#define ATTN_TEXT_PRETOKEN_H

#include "base/utf8.h"
#include "text/regex.h"

enum attn_pretoken {
    ATTN_PRETOKEN_GPT2, ATTN_PRETOKEN_LLAMA3, ATTN_PRETOKEN_QWEN2, ATTN_PRETOKEN_QWEN35, ATTN_PRETOKEN_O200K,
    ATTN_PRETOKEN_TEKKEN,               /* these match everything, the others leave gaps */
    ATTN_PRETOKEN_DEEPSEEK, ATTN_PRETOKEN_BLOOM, ATTN_PRETOKEN_LAST_SPACES,
    ATTN_PRETOKEN_NUMBERS,              /* each number alone */
    ATTN_PRETOKEN_SPELLED_NUMBERS,      /* the same in bytes that are spelled as a byte-level vocabulary does */
    ATTN_PRETOKEN_PUNCTUATION, ATTN_PRETOKEN_SPACES, ATTN_PRETOKEN_WORDS,
    ATTN_PRETOKEN_LITERAL, ATTN_PRETOKEN_REGEX,
    ATTN_PRETOKENS
};

/* Length of the first piece of s, len > 0, by a pattern that matches everything.  The end of s is the end of the text. */
size_t attn_pretoken_next(enum attn_pretoken cut, const char *s, size_t len);
/* The cut that a pattern stands for; ATTN_PRETOKEN_REGEX if it has no scanner. */
enum attn_pretoken attn_pretoken_of(const char *pattern);
/* The pattern of a scanner; NULL: it has none. */
const char *attn_pretoken_pattern(enum attn_pretoken cut);

/* ---- cuts ------------------------------------------------------------------------------ */

/* What becomes of matches: pieces of their own; nothing; part of the piece before or after; one piece with their like. */
enum attn_behavior { ATTN_ISOLATED, ATTN_REMOVED, ATTN_WITH_PREVIOUS, ATTN_WITH_NEXT, ATTN_CONTIGUOUS };

struct attn_split {
    enum attn_pretoken pattern;
    enum attn_behavior behavior;
    bool invert;                        /* what is no match counts as one, and the other way round */
    char *literal; size_t literal_len;  /* owned; not empty */
    struct attn_regex *regex;           /* owned */
};

void attn_split_free(struct attn_split *c);                             /* zeroed is fine */

/* The pieces of a text one by one: set cut, s, len and, for a regular expression, effort, and zero the rest. */
struct attn_stretch { size_t at, len; bool match; };
struct attn_cutter {
    const struct attn_split *cut; const char *s; size_t len; struct attn_regex_effort *effort;
    size_t at; struct attn_stretch next; bool waiting;
    struct attn_regex_walk walk; struct attn_stretch found; bool ahead;     /* by a regular expression: the match from `at` on */
};
bool attn_cutter_next(struct attn_cutter *c, const char **piece, size_t *len);

/* ---- properties of characters (letters.c) ---- */

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
    ATTN_IS_MARK = 1 << 3, ATTN_IS_NUMBER = 1 << 4, ATTN_IS_SPACE = 1 << 5, ATTN_IS_PUNCTUATION = 1 << 6, ATTN_IS_SYMBOL = 1 << 7,
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
