/* cost.h - what a run would take, without making it. */
#ifndef ATTN_COST_H
#define ATTN_COST_H

#include "attn.h"

/* run.c: sets memory and scratch as attn_run_new would lay them out. */
int attn_run_measure(struct attn_cost *out, const struct attn_model *m, const struct attn_plan *p,
                     const struct attn_observer *obs, size_t n_obs, struct attn_err *err);

#endif
