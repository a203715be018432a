/* unigram.h - the likeliest way to put a text together from pieces, each of which has a score.
 *
 * Each character's place has the best sum of scores up to there and the piece that gave it.  A character that is no
 * piece counts as an unknown one, whose score is below all others.  Of two ways with equal sums the one met first wins,
 * so the precision of the sums decides: double, or float as sentencepiece stores it. */
#ifndef ATTN_TEXT_UNIGRAM_H
#define ATTN_TEXT_UNIGRAM_H

#include "text/bpe.h"
#include "text/trie.h"

enum { ATTN_PIECE_LONGEST = 4096 };      /* bytes of a piece of any model, so that a search takes linear time */

struct attn_unigram {
    const struct attn_vocab *vocab;     /* borrowed */
    struct attn_trie trie;              /* of the pieces that text may match */
    double *score;                      /* [tokens] by rank; owned */
    const int32_t *byte;                /* [256]: the tokens of bytes; NULL: unknown characters do not become bytes */
    double unknown_score;
    int32_t unknown;                    /* -1: an unknown character is an error */
    bool single;                        /* sums are rounded to float */
    bool joined;                        /* neighbouring unknown characters may be a piece together */
};

/* Builds the trie and the unknown score from vocabulary and scores.  type: what each token is (attn_piece_type), where
 * text matches only some of them; NULL: all.  false: no memory. */
bool attn_unigram_index(struct attn_unigram *u, const unsigned char *type);
void attn_unigram_free(struct attn_unigram *u);                     /* zeroed is fine */

/* Working memory of one caller, zeroed at first. */
struct attn_best { double sum; int32_t id; uint32_t len; };         /* len: of the piece that ends here; 0: none does */
struct attn_lattice {
    struct attn_best *best; size_t room;
    struct attn_piece_token *part; size_t n, part_room;
};

/* The tokens of s, len > 0, in order, valid until the next call.  ATTN_EFORMAT: the character at *n is unknown;
 * ATTN_ENOMEM: no memory.  The caller writes the message. */
int attn_unigram_encode(struct attn_lattice *l, const struct attn_unigram *u, const char *s, size_t len,
                        const struct attn_piece_token **part, size_t *n);
void attn_lattice_free(struct attn_lattice *l);

#endif
