/* recipe.h - a small language that says which tensor gets which numbers, and in what order.
 *
 * Random numbers come from one stream, so that order matters: a recipe replays the calls of a torch program.  Steps
 * are separated by white space or ';' and are executed from left to right:
 *
 *     seed:N                  torch.manual_seed(N)
 *     skip:N                  N words of the generator are drawn and dropped
 *     NAME:DIST               one tensor, or one of every layer, layer 0 first
 *     heads(NAME:DIST,...)    of q, k, v: head by head, each as a matrix of its own
 *
 * NAME is embed, pos_embed, q, k, v, o, norm1, norm2, mlp.in, mlp.gate, mlp.out, norm_final or unembed; the same with
 * .bias; or a tensor's full name, like blocks.0.attn.q.weight.  DIST is
 *
 *     rand                    uniform numbers from 0 to 1
 *     randn                   normal numbers
 *     uniform(A,B)            uniform numbers from A to B
 *     normal(MEAN,STD)
 *     linear                  as torch.nn.Linear draws them, with the bias if the model needs one
 *     zeros, ones, identity
 *     file(PATH)              CSV text, one row a line
 *
 * A random DIST may end in /ROWS: a tensor of ROWS rows is drawn and the first rows are kept (`embed:randn/50000` is
 * torch.nn.Embedding(50000, d) of a larger vocabulary).  A tensor drawn twice keeps the later numbers.  A weight that no
 * step draws is an error; a required bias that no step draws is zero. */
#ifndef ATTN_MAKING_RECIPE_H
#define ATTN_MAKING_RECIPE_H

#include "making/draw.h"

/* Errors name the step and its column. */
int attn_recipe_follow(struct attn_draw *d, const char *recipe, struct attn_err *err);

#endif
