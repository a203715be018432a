/* pretoken.h - cuts text into the pieces within which byte-level BPE merges.
 *
 * GPT-2, Llama 3 and Qwen 2 describe their pieces by a regular expression.  There is no regex engine here but one
 * matcher for each, selected by the text of the pattern.  The pieces of all of them cover the whole text.  Text is
 * valid UTF-8. */
#ifndef ATTN_TEXT_PRETOKEN_H
#define ATTN_TEXT_PRETOKEN_H

#include "attn.h"

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

#endif
