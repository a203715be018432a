/* bpe.h - byte-pair encoding of one piece of text.
 *
 * Each byte begins as a token of its own.  Again and again the neighbouring pair whose rule comes first, and of
 * several the leftmost, is merged into one token, until no rule applies.  With a heap of pairs this takes n log n
 * steps for n bytes. */
#ifndef ATTN_TEXT_BPE_H
#define ATTN_TEXT_BPE_H

#include "text/merges.h"

struct attn_piece_token { int32_t id; uint32_t len; };                     /* a token and its length within the piece */

enum { ATTN_PIECE_SETS = 1 << 15, ATTN_PIECE_MAX = 16, ATTN_PIECE_PARTS = 3 };

/* len 0: free.  key: the bytes as two numbers.  The last part's length follows from the others. */
struct attn_piece_entry { uint64_t key[2]; int32_t id[ATTN_PIECE_PARTS]; uint8_t len, parts, part_len[ATTN_PIECE_PARTS - 1]; };
struct attn_pieces { void *memory; struct attn_piece_entry (*set)[2]; };  /* zeroed: empty */

struct attn_bpe_rules {
    struct attn_vocab *vocab;
    struct attn_merges merges;
    int32_t byte[256];                  /* the token of each byte; -1 if there is none */
    bool whole_first;                   /* a piece that is a token as a whole is not merged (ignore_merges) */
};

/* Working memory of one caller; ready to use when all but `rules` is zeroed. */
struct attn_bpe {
    const struct attn_bpe_rules *rules;
    struct symbol *symbol; size_t symbol_room;                      /* the piece being merged */
    uint64_t *heap; size_t heap_n, heap_room;
    struct attn_piece_token *part, few[ATTN_PIECE_PARTS]; size_t part_room;
    struct attn_pieces pieces;
    char *spelled; size_t spelled_room;
};

/* The tokens of s, len > 0, in order, valid until the next call.  `readable` bytes can be read at s.  ATTN_EFORMAT:
 * the vocabulary lacks the byte at *n; ATTN_ENOMEM: no memory.  The caller writes the message. */
int attn_bpe_encode(struct attn_bpe *b, const char *s, size_t len, size_t readable, const struct attn_piece_token **part,
                    size_t *n);
void attn_bpe_free(struct attn_bpe *b);

#endif
