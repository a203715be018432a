/* recipe.h - a little language that says which tensor gets which numbers, and in what order.
 *
 * Random numbers come from one stream, so that order matters: a recipe replays the calls of a
 * torch program.  Steps are separated by white space or ';' and are done from left to right:
 *
 *     seed:N                  torch.manual_seed(N)
 *     skip:N                  N words of the generator are drawn and dropped
 *     NAME:DIST               one tensor, or one of every layer, layer 0 first
 *     heads(NAME:DIST,...)    of q, k, v: head by head, each as a matrix of its own
 *
 * NAME is embed, pos_embed, q, k, v, o, norm1, norm2, mlp.in, mlp.gate, mlp.out, norm_final or
 * unembed; the same with .bias; or a tensor's full name, like blocks.0.attn.q.weight.  DIST is
 *
 *     rand                    uniform numbers from 0 to 1
 *     randn                   normal numbers
 *     uniform(A,B)            from A to B
 *     normal(MEAN,STD)
 *     linear                  as torch.nn.Linear draws them, bias included when the model needs one
 *     zeros, ones, identity
 *     file(PATH)              CSV text, one line a row
 *
 * A random DIST may end in /ROWS: a tensor of ROWS rows is drawn and the first rows are kept
 * (`embed:randn/50000` is torch.nn.Embedding(50000, d) of a large vocabulary).  A tensor drawn twice
 * keeps the later numbers.  Weights that no step draws are an error; needed biases are then zero. */
#ifndef ATTN_RECIPE_H
#define ATTN_RECIPE_H

#include "making/draw.h"

/* Errors name the step and its column. */
int attn_recipe_follow(struct attn_draw *d, const char *recipe, struct attn_err *err);

#endif
