/* pretoken.h - cuts text into the pieces within which a tokenizer's model works.
 *
 * Files describe their pieces by a regular expression.  Those of large families have a scanner each, a row of a table,
 * selected by the text of the pattern; all others are run as they are written (regex.h), which takes ten times as long.
 * Text is valid UTF-8. */
#ifndef ATTN_TEXT_PRETOKEN_H
#define ATTN_TEXT_PRETOKEN_H

#include "text/letters.h"
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

/* Length of the first piece of s, len > 0, by a pattern that matches everything.  The text ends with s. */
size_t attn_pretoken_next(enum attn_pretoken cut, const char *s, size_t len);
/* The cut that a pattern stands for; ATTN_PRETOKEN_REGEX if it has no scanner. */
enum attn_pretoken attn_pretoken_of(const char *pattern);
/* The pattern of a scanner; NULL: it has none. */
const char *attn_pretoken_pattern(enum attn_pretoken cut);

/* ---- cuts ------------------------------------------------------------------------------ */

/* What becomes of matches: pieces of their own; nothing; part of the piece before or after; one piece with its like. */
enum attn_behavior { ATTN_ISOLATED, ATTN_REMOVED, ATTN_WITH_PREVIOUS, ATTN_WITH_NEXT, ATTN_CONTIGUOUS };

struct attn_split {
    enum attn_pretoken pattern;
    enum attn_behavior behavior;
    bool invert;                        /* matches are what lies between those of the pattern */
    char *literal; size_t literal_len;  /* owned; not empty */
    struct attn_regex *regex;           /* owned */
};

void attn_split_free(struct attn_split *c);                             /* zeroed is fine */

/* The pieces of a text one by one: set cut, s, len and, for a regular expression, effort, and zero the rest. */
struct attn_stretch { size_t at, len; bool match; };
struct attn_cutter {
    const struct attn_split *cut; const char *s; size_t len; struct attn_regex_effort *effort;
    size_t at; struct attn_stretch next; bool waiting;
    /* by a regular expression: the match from `at` on */
    struct attn_regex_walk walk; struct attn_stretch found; bool ahead;
};
bool attn_cutter_next(struct attn_cutter *c, const char **piece, size_t *len);

#endif
