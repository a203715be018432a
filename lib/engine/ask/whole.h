/* whole.h - whole activations of one sentence, or as many numbers that belong to them, by activation and layer. */
#ifndef ATTN_ASK_WHOLE_H
#define ATTN_ASK_WHOLE_H

#include "attn_tools.h"
#include "trace/trace.h"

struct attn_whole {
    struct attn_info info;
    struct attn_hook_points hooks;
    size_t T;
    float **data;                       /* [1 + L, ATTN_ACTS]; NULL: not kept.  Outside the blocks first */
};

/* Makes room for what is selected of a sentence of T tokens, all zeros. */
int attn_whole_make(struct attn_whole *h, const struct attn_model *m, const struct attn_kind *kind,
                    const struct attn_select *what,
                    size_t T, struct attn_err *err);
void attn_whole_free(struct attn_whole *h);               /* all zero is fine */
float *attn_whole_at(const struct attn_whole *h, int act, int layer);         /* [T,n] or [H,T,n]; NULL: not kept */
size_t attn_whole_count(const struct attn_whole *h, int act);                 /* how many numbers that is */
struct attn_observer attn_whole_observer(struct attn_whole *h);               /* fills it from a run, of sentence 0 */

#endif
