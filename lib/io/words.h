/* words.h - a text as a word tokenizer reads it.
 *
 * Characters of `drop` vanish, white space (Unicode's) separates, letters may be made lower case.
 * What is left between two white spaces is a word; nothing left is none.  Tokenizer and vocabulary
 * builder share this, so that the words of a text are always known to its vocabulary. */
#ifndef ATTN_IO_WORDS_H
#define ATTN_IO_WORDS_H

#include "io/strings.h"

struct attn_words {
    const char *text; size_t len, at;   /* the caller's; at: next byte to read */
    struct attn_strings drop;           /* characters */
    bool lowercase;
    int16_t byte[256];                  /* what becomes of each, found out once */
    char *word; size_t word_len, room;  /* the word just read */
    size_t start, end;                  /* from its first kept character past its last, in bytes of the text */
    bool failed;                        /* out of memory */
};

/* drop may be NULL.  Fails when text or drop are not UTF-8, or the text has a NUL. */
int attn_words_start(struct attn_words *w, const char *drop, bool lowercase, const char *text, size_t len,
                     struct attn_err *err);
bool attn_words_next(struct attn_words *w);                         /* false: no more, or failed */
void attn_words_free(struct attn_words *w);

#endif
