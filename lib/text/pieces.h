/* pieces.h - a cache of the tokens of pieces seen before.
 *
 * Most pieces of a text are short and recur often.  A hash of a piece's bytes selects a set of two entries, one cache
 * line; the less recently used one is replaced.  Only pieces of at most 16 bytes and 3 tokens are kept. */
#ifndef ATTN_TEXT_PIECES_H
#define ATTN_TEXT_PIECES_H

#include "attn.h"

struct attn_piece_token { int32_t id; uint32_t len; };                     /* a token and its length within the piece */

enum { ATTN_PIECE_SETS = 1 << 15, ATTN_PIECE_MAX = 16, ATTN_PIECE_PARTS = 3 };

/* len 0: free.  key: the bytes as two numbers.  The last part's length follows from the others. */
struct attn_piece_entry { uint64_t key[2]; int32_t id[ATTN_PIECE_PARTS]; uint8_t len, parts, part_len[ATTN_PIECE_PARTS - 1]; };
struct attn_pieces { void *memory; struct attn_piece_entry (*set)[2]; };  /* zeroed: empty */

/* The set of s, 0 < len <= PIECE_MAX, valid until the next call; NULL: no memory.  `room` bytes must be readable at
 * s.  *known: s is its first entry. */
struct attn_piece_entry *attn_pieces_find(struct attn_pieces *p, const char *s, size_t len, size_t room, bool *known);
/* Writes the parts of a known piece; returns how many. */
size_t attn_piece_recall(const struct attn_piece_entry *known, struct attn_piece_token part[ATTN_PIECE_PARTS]);
/* Stores s in its set, if it has few enough parts. */
void attn_piece_keep(struct attn_piece_entry *place, const char *s, size_t len, const struct attn_piece_token *part, size_t n);
void attn_pieces_free(struct attn_pieces *p);

#endif
