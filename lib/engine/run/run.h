/* run.h - a run, as plan.c plans it and run.c drives it, and what it would cost. */
#ifndef ATTN_RUN_H
#define ATTN_RUN_H

#include "compute/panels.h"
#include "run/derive.h"

/* To copy the weights in panels takes as long as they save in so many rows of long passes.  Once these have come, as
 * many again are likely.  A pass of one row, which only waits for weights, saves about as much as LONE rows: 49 tokens,
 * more than `generate` adds by default, so that those never wait for a copy. */
enum { ATTN_RUN_REPAYS = 2048, ATTN_RUN_LONE = 42 };

struct attn_run {
    const struct attn_model *model;
    struct attn_plan plan;
    bool once;                          /* it is for a single pass */
    struct attn_arena arena;
    struct attn_trace trace;
    struct attn_observer *obs;
    struct attn_fusion *fusion;         /* [L] of the pass */
    struct attn_pass_seq *seq;
    struct attn_pass pass;
    struct attn_derive derive;          /* derive.pass NULL: nobody wants what is derived */
    size_t kept;                        /* bytes of the arena before the scratch */
    size_t rows;                        /* so far, of passes that gain by panels, as if all were long */
    size_t copy_after;                  /* so many rows; SIZE_MAX: never, or it is done */
    struct attn_panels panels;
    bool scanned;                       /* the weights are known to be finite: NaN does not come from them */
};

/* What panels would be for.  A run with caches will continue texts row by row, unless single rows gain nothing. */
struct attn_panels_use attn_run_use(const struct attn_run *r);
/* As attn_run_new, for a single pass. */
int attn_run_new_once(struct attn_run **out, const struct attn_model *m, const struct attn_plan *p,
                      const struct attn_observer *obs, size_t n_obs, struct attn_err *err);
/* Sets memory and scratch to what attn_run_new would allocate. */
int attn_run_measure(struct attn_cost *out, const struct attn_model *m, const struct attn_plan *p,
                     const struct attn_observer *obs, size_t n_obs, struct attn_err *err);

#endif
