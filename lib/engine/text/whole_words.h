/* whole_words.h - which neighbouring tokens make a word, for people who read matrices.
 *
 * White space between two tokens parts words: at the end of the one, at the start of the other, or as bytes of the text
 * that belong to neither (a tokenizer of words).  A space that is a token of its own goes with what follows, as it does
 * when it is a part of that.  Tokens that stand for no bytes (a beginning mark) are words of their own.  Where neither
 * places nor white space are known, each token is a word.  Punctuation and digits belong to the word they touch.
 * Where the text is known, a Chinese character or a kana is a word of its own, also if its bytes are several tokens.
 *
 * The page's words.js does the same, so that pages and tables of a text have the same words.  The test
 * `words` compares them. */
#ifndef ATTN_TEXT_WHOLE_WORDS_H
#define ATTN_TEXT_WHOLE_WORDS_H

#include "attn.h"

struct attn_words {
    size_t n;
    size_t *first;                      /* [n + 1]: word w is tokens first[w] to first[w + 1] - 1 */
    size_t longest;                     /* tokens of the longest word */
    /* The words as tokens of a text, without the spaces around them; id -1 for several; places, if they are known. */
    struct attn_tokens tokens;
    char *pool;
};

/* text: what the tokens come from, or NULL.  A word is read there, as its tokens may be parts of a character. */
int attn_words_make(struct attn_words *out, const struct attn_tokens *t, const char *text, size_t len,
                    struct attn_err *err);
void attn_words_free(struct attn_words *w);             /* not the struct itself; zeroed is fine */

#endif
