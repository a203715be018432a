/* lookup.h - the tokens of a piece by looking it up: as a whole (WordLevel), or by its longest beginning, then that of
 * what is left, and so on (WordPiece, whose later tokens are spelled with a prefix, such as ##).  A piece that cannot
 * be put together so is one unknown token. */
#ifndef ATTN_TEXT_LOOKUP_H
#define ATTN_TEXT_LOOKUP_H

#include "text/bpe.h"
#include "text/trie.h"

enum { ATTN_LOOKUP_LONGEST = 1000 };    /* most characters of a piece that is taken apart: keeps searching linear */

struct attn_lookup {
    const struct attn_vocab *vocab;     /* borrowed */
    bool parts;                         /* WordPiece */
    char *prefix; size_t prefix_len;    /* of all tokens of a piece but the first; owned */
    size_t longest;                     /* characters of a piece; longer ones are unknown */
    int32_t unknown;                    /* -1: an unknown piece is an error */
    struct attn_trie first, others;     /* of a piece's first token, and of the others, without the prefix */
};

/* Builds the tries, once all else is there; false: no memory. */
bool attn_lookup_index(struct attn_lookup *l);
void attn_lookup_free(struct attn_lookup *l);                       /* NULL is fine; frees l itself, too */

/* Working memory of one caller, zeroed at first. */
struct attn_lookup_work { struct attn_piece_token *part; size_t room; };

/* The tokens of s, len > 0, in order, valid until the next call.  ATTN_EFORMAT: the piece is unknown, and *n is 0;
 * ATTN_ENOMEM: no memory.  The caller writes the message. */
int attn_lookup_encode(struct attn_lookup_work *w, const struct attn_lookup *l, const char *s, size_t len,
                       const struct attn_piece_token **part, size_t *n);
void attn_lookup_work_free(struct attn_lookup_work *w);

#endif
