/* pieces.h - the tokens of pieces met before.
 *
 * Most pieces of a text are short and come many times.  Each has one place where it may be remembered,
 * found by its bytes; the next piece that belongs there takes its place.  Only pieces of at most 16
 * bytes and 3 tokens are: an entry is half a cache line. */
#ifndef ATTN_IO_PIECES_H
#define ATTN_IO_PIECES_H

#include "attn.h"

struct attn_part { int32_t id; uint32_t len; };                     /* a token and its bytes of the piece */

enum { ATTN_PIECES = 1 << 15, ATTN_PIECE_MAX = 16, ATTN_PIECE_PARTS = 3 };

/* All zero: free.  key: the bytes, as two numbers. */
struct attn_piece_slot { uint64_t key[2]; int32_t id[ATTN_PIECE_PARTS]; uint8_t len, part_len[ATTN_PIECE_PARTS]; };
struct attn_pieces { struct attn_piece_slot *slot; };               /* zeroed: empty */

/* The slot where s, 0 < len <= PIECE_MAX, belongs; NULL: no memory.  known: it is there. */
struct attn_piece_slot *attn_pieces_slot(struct attn_pieces *p, const char *s, size_t len, bool *known);
/* The parts of what is there; returns how many. */
size_t attn_piece_recall(const struct attn_piece_slot *slot, struct attn_part part[ATTN_PIECE_PARTS]);
/* Puts s, which belongs there, in, if it has few enough parts. */
void attn_piece_keep(struct attn_piece_slot *slot, const char *s, size_t len, const struct attn_part *part, size_t n);
void attn_pieces_free(struct attn_pieces *p);

#endif
