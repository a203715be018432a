/* patch.h - a grid of runs of one text, each with one piece of an activation taken from the run of another text.
 *
 * A cell is a piece: what is patched of one layer, perhaps of one head, perhaps of one position.  patch.c makes the
 * grid and runs both texts; patch_exact.c runs each cell from where it begins; patch_gradient.c predicts all cells. */
#ifndef ATTN_ASK_PATCH_H
#define ATTN_ASK_PATCH_H

#include "ask/whole.h"
#include "ask/metric.h"

struct attn_patch {
    const struct attn_patch_opts *o;    /* while it is made */
    const struct attn_model *model;
    struct attn_info info;
    struct attn_select *select;         /* what is patched */
    int act;
    unsigned over;
    enum { ATTN_PATCH_EXACT, ATTN_PATCH_GRADIENT, ATTN_PATCH_IG } method;
    size_t steps;                       /* of ig */
    size_t *layer;                      /* [grid[0]] which layers */
    size_t grid[3];                     /* layers, heads, positions: 1 where there is no such axis */
    struct attn_patch_cell *cell; size_t n;
    size_t T;
    int32_t *ids, *from_ids;
    struct attn_metric metric, from_metric;             /* bound to both texts; the latter borrows from the first */
    double *part;                       /* [T] what each row of the text adds to its metric */
    struct attn_whole text, from;        /* what is patched, in the runs of both */
    double metric_text, metric_from;
};

/* What is wrong with a grid for any text, except the metric: the texts and the editor are not read.  Sets the axes and
 * sizes of a grid of one position. */
int attn_patch_check(const struct attn_model *m, const struct attn_patch_opts *o, struct attn_patch_result *grid,
                     struct attn_err *err);
/* Whether both texts have as many tokens. */
int attn_patch_check_texts(const struct attn_tokens *a, const struct attn_tokens *b, struct attn_err *err);

/* Fills the cells' metrics. */
int attn_patch_exact(struct attn_patch *p, struct attn_err *err);
int attn_patch_gradient(struct attn_patch *p, struct attn_err *err);
/* Says how many cells are done of all; fails if the caller wants to stop. */
int attn_patch_step(const struct attn_patch *p, size_t done, size_t all, struct attn_err *err);
/* The observer that edits runs of the text, to be called between those of the grid; it does nothing without edits. */
struct attn_observer attn_patch_editor(const struct attn_patch *p);
/* The observer that tells the caller of dots that overflow. */
struct attn_observer attn_patch_teller(const struct attn_patch *p);

#endif
