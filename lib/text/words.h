/* words.h - splits a text into words.
 *
 * Characters of `drop` are removed, white space (Unicode's) separates words, letters may be lowercased.  Whatever is
 * left between two white spaces is a word, if anything.  The tokenizer and the vocabulary builder share this code, so
 * that a text's words are always in the vocabulary built from it. */
#ifndef ATTN_TEXT_WORDS_H
#define ATTN_TEXT_WORDS_H

#include "base/strings.h"

struct attn_words {
    const char *text; size_t len, at;   /* text is the caller's; at: next byte to read */
    struct attn_strings drop;           /* the characters to remove */
    bool lowercase;
    int16_t byte[256];                  /* what becomes of each byte, computed once */
    char *word; size_t word_len, room;  /* the word just read */
    size_t start, end;                  /* in bytes of the text: from its first kept character to the end of its last */
    bool failed;                        /* out of memory */
};

/* drop may be NULL.  Fails if text or drop are not UTF-8 or the text contains a NUL. */
int attn_words_start(struct attn_words *w, const char *drop, bool lowercase, const char *text, size_t len,
                     struct attn_err *err);
bool attn_words_next(struct attn_words *w);                         /* false: no more, or failed */
void attn_words_free(struct attn_words *w);

#endif
