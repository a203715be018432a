/* reading.h - the two sides of an activation of heads, where one side arranges them in another way.
 *
 * Ours are [heads, tokens, width] for q, k, v and result, and [tokens, heads * width] for context.  Ports have also
 * [tokens, heads, width], as TransformerLens, and each with axes of one in front.  Where the shapes of both sides leave
 * two readings, since there are as many heads as tokens, the numbers decide. */
#ifndef ATTN_COMPARE_READING_H
#define ATTN_COMPARE_READING_H

#include "compare/evidence.h"
#include "io/npy.h"

/* How both arrays are read: side s has [T,H,w] in memory if rows_first[s], else [H,T,w]. */
struct attn_heads_reading { size_t H, T, w; bool rows_first[2]; };
enum { ATTN_READINGS = 2 };

/* Whether ports arrange this activation in more than one way. */
bool attn_reads_heads(int act);
/* How the arrays can be read such that they have the same heads and tokens, at most one with heads and tokens swapped
 * against each other and one without; the likelier comes first.  rows_first: what their names say; tokens: how many
 * there are, 0: unknown.  Returns how many; 0: they are not the same array. */
size_t attn_readings(struct attn_heads_reading out[ATTN_READINGS], const struct attn_array *a,
                     const struct attn_array *b, int act, const bool rows_first[2], size_t tokens);

/* Whether heads and tokens lie the other way round in one of them. */
bool attn_reading_swaps(const struct attn_heads_reading *r);
bool attn_reading_ours(int act);                                    /* rows_first of our own arrays */
/* Whether the numbers of a side must be moved to be read in this order. */
bool attn_reading_moves(const struct attn_heads_reading *r, int side, bool rows_first);
/* out = the numbers of side s in the other order. */
void attn_reading_move(float *out, const float *x, const struct attn_heads_reading *r, int side);
/* The pair as our arrays are: a and b in our order. */
struct attn_pair attn_reading_pair(const struct attn_heads_reading *r, int act, const float *a, const float *b);
/* From [first axis, second axis, column] of numbers compared in this order to [head, token, column] of our array. */
void attn_reading_place(size_t at[3], const struct attn_heads_reading *r, int act, bool rows_first);

#endif
