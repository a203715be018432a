/* pretoken.h - cuts text into the pieces within which byte-level BPE merges.
 *
 * GPT-2, Llama 3 and Qwen 2 describe their pieces by a regular expression.  There is no regex engine here but one
 * matcher for each, selected by the text of the pattern.  The pieces of all of them cover the whole text.  Text is
 * valid UTF-8. */
#ifndef ATTN_IO_PRETOKEN_H
#define ATTN_IO_PRETOKEN_H

#include "attn.h"

enum attn_cut {
    ATTN_CUT_GPT2, ATTN_CUT_LLAMA3, ATTN_CUT_QWEN2,
    ATTN_CUT_DIGITS,                    /* each digit alone, the text between as a whole */
    ATTN_CUT_DIGIT_RUNS,                /* the same, but adjacent digits together */
    ATTN_CUTS
};

/* Length of the first piece of s, len > 0.  The end of s is the end of the text. */
size_t attn_cut_next(enum attn_cut cut, const char *s, size_t len);
/* The cut that a pattern stands for; ATTN_CUTS if it is unknown. */
enum attn_cut attn_cut_of(const char *pattern);

#endif
