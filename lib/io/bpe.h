/* bpe.h - byte-pair encoding of one piece of text.
 *
 * Each byte begins as a token of its own.  Then, again and again, of all neighbours that have a rule
 * those with the first rule become one token, the leftmost such pair first, until no rule applies.  A
 * heap of pairs keeps that at n log n for n bytes. */
#ifndef ATTN_IO_BPE_H
#define ATTN_IO_BPE_H

#include "io/merges.h"
#include "io/pieces.h"

struct attn_bpe_rules {
    struct attn_vocab *vocab;
    struct attn_merges merges;
    int32_t byte[256];                  /* the token of each byte, -1: there is none */
    bool whole_first;                   /* a piece that is a token itself is not merged (ignore_merges) */
};

/* What one caller works with; zeroed but for `rules` it is ready. */
struct attn_bpe {
    const struct attn_bpe_rules *rules;
    struct symbol *symbol; size_t symbol_room;                      /* of the piece being merged */
    uint64_t *heap; size_t heap_n, heap_room;
    struct attn_part *part, few[ATTN_PIECE_PARTS]; size_t part_room;
    struct attn_pieces pieces;
    char *spelled; size_t spelled_room;
};

/* The parts of s, len > 0, in order, until the next call; `room` bytes can be read at s.  ATTN_EFORMAT: the
 * vocabulary lacks the byte at *n; ATTN_ENOMEM: no memory.  The message is the caller's. */
int attn_bpe_encode(struct attn_bpe *b, const char *s, size_t len, size_t room, const struct attn_part **part, size_t *n);
void attn_bpe_free(struct attn_bpe *b);

#endif
