/* held.h - whole activations of one sentence, or as many numbers that belong to them, by activation and layer. */
#ifndef ATTN_ASK_HELD_H
#define ATTN_ASK_HELD_H

#include "attn_tools.h"
#include "trace/trace.h"

struct attn_held {
    struct attn_info info;
    struct attn_stage stage;
    size_t T;
    float **data;                       /* [1 + L, ATTN_ACTS]; NULL: not held.  Outside the blocks first */
};

/* Makes room for what is selected of a sentence of T tokens, all zeros. */
int attn_held_make(struct attn_held *h, const struct attn_model *m, const struct attn_kind *kind, const struct attn_select *what,
                   size_t T, struct attn_err *err);
void attn_held_free(struct attn_held *h);               /* all zero is fine */
float *attn_held_at(const struct attn_held *h, int act, int layer);         /* [T,n] or [H,T,n]; NULL: not held */
size_t attn_held_count(const struct attn_held *h, int act);                 /* how many numbers that is */
struct attn_observer attn_held_observer(struct attn_held *h);               /* fills it from a run, of sentence 0 */
/* Shows all of it to an observer, in the order of the forward pass. */
int attn_held_show(const struct attn_held *h, const struct attn_observer *to, struct attn_err *err);

#endif
