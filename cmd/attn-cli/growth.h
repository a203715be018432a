/* growth.h - token ids that go through a model once each, as they come, for what they say of the next.
 *
 * The first reading takes all of the prompt in one pass; keys and values are kept, so that each token
 * after it is one row. */
#ifndef CLI_GROWTH_H
#define CLI_GROWTH_H

#include "attn.h"

struct growth {
    int32_t *ids; size_t n, room;
    size_t seen;                        /* how many went through the model */
    float *logits;                      /* [V] of what comes after those */
    double *logprob;                    /* [room] of each token but the first; NULL: not asked for */
    struct attn_kv *kv;
    struct attn_run *run;
    size_t V;
};

/* Zeroed before.  room: how long it may get, at least n. */
int growth_start(struct growth *g, const struct attn_model *m, const struct attn_tokens *prompt, size_t room,
                 bool logprobs, const struct attn_kind *kind, int threads, bool bf16, struct attn_err *err);
/* After it g->logits tells of token g->n; nothing to do when all were seen. */
int growth_read(struct growth *g, struct attn_err *err);
/* After a reading, while there is room. */
int growth_add(struct growth *g, int32_t id, struct attn_err *err);
void growth_end(struct growth *g);

#endif
