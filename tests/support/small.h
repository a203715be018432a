/* small.h - three small models with every kind of part, and runs of them. */
#ifndef ATTN_TESTS_SMALL_H
#define ATTN_TESTS_SMALL_H

#include "attn.h"

enum { SMALL_MODELS = 3 };
extern const char *const small_configs[SMALL_MODELS];

/* The open one: n_ctx allows for several bands of queries.  ids: a text of n_ctx tokens. */
extern struct small { struct attn_model *model; bool bf16; int32_t ids[200]; } small;

/* Opens model i % SMALL_MODELS, to be computed in float32 and bf16 by turns. */
void small_open(int i);
void small_close(void);

/* Both fail the test if that fails. */
struct attn_run *small_run(size_t rows, size_t seqs, size_t keys, int threads,
                           const struct attn_observer *obs, size_t n);
void small_forward(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t n);

#endif
