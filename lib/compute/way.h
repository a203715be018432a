/* way.h - a table of the functions that take the steps from queries to contexts, for each kind of attention. */
#ifndef ATTN_COMPUTE_WAY_H
#define ATTN_COMPUTE_WAY_H

#include "compute/attention.h"

/* Steps, in their order. */
enum { ATTN_DOTS = 1, ATTN_SCORES = 2, ATTN_PATTERN = 4, ATTN_CONTEXT = 8 };

struct attn_way {                       /* a step that a way does not have is NULL */
    void (*dots)(const struct attn_head *h, const struct attn_band *b);
    void (*scores)(const struct attn_head *h, const struct attn_band *b);
    struct attn_found (*pattern)(const struct attn_head *h, const struct attn_band *b);
    void (*context)(const struct attn_head *h, const struct attn_band *b);
    struct attn_found (*rows)(const struct attn_head *h, const struct attn_band *b);   /* contexts from queries in one step */
    unsigned steps;                     /* steps that contexts need; the others are for observers only */
    unsigned keys, values;              /* steps that read panels of keys; steps that read values */
    bool features;                      /* the keys are phi(k) */
    bool apart;                         /* contexts are not computed from bands but by attn_linear_run */
};

const struct attn_way *attn_way_of(const struct attn_head *h);

#endif
