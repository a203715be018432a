/* pretoken.h - cutting text into the pieces that byte-level BPE merges within.
 *
 * GPT-2, Llama 3 and Qwen 2 describe their pieces by a regular expression; there is no regex engine
 * here but one matcher for each, recognised by the text of its pattern.  All of them cut the whole
 * text: what follows a piece is another.  Text is valid UTF-8. */
#ifndef ATTN_IO_PRETOKEN_H
#define ATTN_IO_PRETOKEN_H

#include "attn.h"

enum attn_cut {
    ATTN_CUT_GPT2, ATTN_CUT_LLAMA3, ATTN_CUT_QWEN2,
    ATTN_CUT_DIGITS,                    /* each number character alone, what is between whole */
    ATTN_CUT_DIGIT_RUNS,                /* the same with adjacent ones together */
    ATTN_CUTS
};

/* Bytes of the first piece of s, len > 0.  The end of s is the end of the text. */
size_t attn_cut_next(enum attn_cut cut, const char *s, size_t len);
/* The cut a pattern stands for; ATTN_CUTS when it is none of those known. */
enum attn_cut attn_cut_of(const char *pattern);

#endif
