/* seed.h - computes an example of the articles (tests/golden/seeds) with the library.
 *
 * Queries, keys and values come from the listed inputs and weights by attn_gemm, attention from attn_attention.
 * Anything missing, malformed or refused fails the test. */
#ifndef TESTS_SEED_H
#define TESTS_SEED_H

#include "attn.h"
#include "golden.h"

struct seed {
    const char *name;
    cJSON *doc;
    size_t Tq, Tk;
    uint8_t *mask;
    struct attn_attention a;            /* its dots, scores and pattern are the results */
    float *q, *k, *v, *context;         /* [H, T, ...] */
    float *joined, *output;             /* [Tq, H * dv], [Tq, d]; output NULL: no projection */
};

void seed_open(struct seed *e, const char *name);
void seed_close(struct seed *e);
void seed_attend(struct seed *e);       /* once more, after a change in e->a */
float *seed_zeros(size_t n);            /* calloc'd */

#endif
