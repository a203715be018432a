/* draw.h - the tensors of a new model, and how each of them is drawn.
 *
 * Random numbers come from one stream, so the caller's order of drawing matters: a recipe lets a user choose it,
 * attn_draw_default follows torch.  A tensor, or the columns of one head in it, is drawn as torch draws one tensor, row
 * by row, so `uniform` over a part of a larger matrix gives the same numbers as for a separate matrix.  `linear` draws
 * what torch.nn.Linear holds, [out, in], and stores it transposed. */
#ifndef ATTN_MAKING_DRAW_H
#define ATTN_MAKING_DRAW_H

#include "base/narrow.h"
#include "base/rng.h"
#include "model/layout.h"

enum attn_dist_kind { ATTN_DIST_UNIFORM, ATTN_DIST_NORMAL, ATTN_DIST_LINEAR, ATTN_DIST_CONSTANT, ATTN_DIST_IDENTITY,
                      ATTN_DIST_FILE };

struct attn_dist {
    enum attn_dist_kind kind;
    double a, b;                        /* uniform: from, to; normal: mean, std; constant: a */
    size_t rows;                        /* draw so many rows and keep the first ones; 0: as many as are filled */
    const char *path; size_t path_len;  /* file: CSV text, one row per line; borrowed */
};

/* One tensor.  If several parts share it, slot describes the first of them. */
struct attn_drawn { struct attn_slot slot; size_t count; float *x; };      /* x owned; NULL: not drawn (yet) */

struct attn_draw {
    const struct attn_config *config;
    struct attn_drawn *t; size_t n;     /* in the order of the forward pass */
    struct attn_rng rng;
};

/* Lists the model's tensors; `config` must outlive the list. */
int attn_draw_open(struct attn_draw *d, const struct attn_config *config, struct attn_err *err);
void attn_draw_close(struct attn_draw *d);              /* zeroed is fine */

/* Draws tensor i, or the columns of head h if `heads` lie side by side in it; the whole tensor is head 0 of 1.  With
 * `linear`, a required bias is drawn right after its weight. */
int attn_draw_tensor(struct attn_draw *d, size_t i, size_t h, size_t heads, const struct attn_dist *dist,
                     struct attn_err *err);
/* Checks that every weight has been drawn; required biases that were not drawn become zero. */
int attn_draw_finish(struct attn_draw *d, struct attn_err *err);

/* Draws tensor i as Hugging Face initialises a model: norms are one (zero where their weights count from one), biases
 * zero, all else is normal with standard deviation 0.02.  A bias that the family does not need stays unset. */
int attn_draw_plain(struct attn_draw *d, size_t i, struct attn_err *err);

/* Draws all tensors as torch builds modules in forward order: tables by randn, norms by ones, matrices by linear. */
int attn_draw_default(struct attn_draw *d, struct attn_err *err);

/* Draws what a recipe says, in its order: the small language of recipe.c.  Errors name the step and its column. */
int attn_recipe_follow(struct attn_draw *d, const char *recipe, struct attn_err *err);

struct attn_init_opts;
/* attn_init into a directory that the caller holds, and in which there may be a training. */
int attn_init_held(const char *path, const struct attn_init_opts *o, struct attn_err *err);

#endif
