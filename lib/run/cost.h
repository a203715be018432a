/* cost.h - what a run would cost, computed without running it. */
#ifndef ATTN_COST_H
#define ATTN_COST_H

#include "attn.h"

/* In run.c.  Sets memory and scratch to what attn_run_new would allocate. */
int attn_run_measure(struct attn_cost *out, const struct attn_model *m, const struct attn_plan *p,
                     const struct attn_observer *obs, size_t n_obs, struct attn_err *err);

#endif
