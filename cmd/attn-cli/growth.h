/* growth.h - runs a growing list of token ids through a model, each id once, for its predictions of the next.
 *
 * The first reading takes the whole prompt in one pass.  Keys and values are cached, so that each later token costs one row. */
#ifndef CLI_GROWTH_H
#define CLI_GROWTH_H

#include "attn.h"

struct growth {
    int32_t *ids; size_t n, room;
    size_t seen;                        /* ids that went through the model */
    float *logits;                      /* [V] for the token after those */
    double *logprob;                    /* [room] for each token but the first; NULL: not asked for */
    struct attn_kv *kv;
    struct attn_run *run;
    size_t V;
};

/* g is zeroed before.  room: how many ids there may be in the end, at least as many as in the prompt. */
int growth_start(struct growth *g, const struct attn_model *m, const struct attn_tokens *prompt, size_t room,
                 bool logprobs, const struct attn_kind *kind, int threads, bool bf16, struct attn_err *err);
/* Runs the ids not seen yet, if any; then g->logits predict token g->n. */
int growth_read(struct growth *g, struct attn_err *err);
/* Appends an id.  Only after growth_read, and while there is room. */
int growth_add(struct growth *g, int32_t id, struct attn_err *err);
void growth_end(struct growth *g);

#endif
