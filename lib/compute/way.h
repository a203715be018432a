/* way.h - how the steps from queries to contexts are taken, for each kind of attention: a table. */
#ifndef ATTN_COMPUTE_WAY_H
#define ATTN_COMPUTE_WAY_H

#include "compute/attention.h"

/* Steps, in their order. */
enum { ATTN_DOTS = 1, ATTN_SCORES = 2, ATTN_PATTERN = 4, ATTN_CONTEXT = 8 };

struct attn_way {                       /* what is no step of this way is NULL */
    void (*dots)(const struct attn_head *h, const struct attn_band *b);
    void (*scores)(const struct attn_head *h, const struct attn_band *b);
    struct attn_empty (*pattern)(const struct attn_head *h, const struct attn_band *b);
    void (*context)(const struct attn_head *h, const struct attn_band *b);
    struct attn_empty (*rows)(const struct attn_head *h, const struct attn_band *b);   /* contexts at once, by no other step */
    unsigned steps;                     /* that a context takes; others are for who looks at them */
    unsigned keys, values;              /* steps that read panels of keys; that read values */
    bool features;                      /* the keys are phi(k) */
    bool apart;                         /* contexts do not come of bands, but of attn_linear_run */
};

const struct attn_way *attn_way_of(const struct attn_head *h);

#endif
