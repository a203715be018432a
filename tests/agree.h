/* agree.h - runs a model in the library and in double precision (reference.h) and holds every activation
 * of one against the other. */
#ifndef ATTN_TESTS_AGREE_H
#define ATTN_TESTS_AGREE_H

#include "reference.h"

struct agree {
    const char *dir;                    /* the model */
    const struct ref_config *config;    /* what it computes */
    ref_weight *weight; void *weights;  /* its numbers, by native names */
    const char *about;                  /* printed when they disagree */
};

/* Numbers below n, always the same ones after the same seed. */
extern unsigned agree_seed;
int agree_pick(int n);

/* T random ids, random threads and bands; fails the test unless they agree and tell the same names. */
void agree_check(const struct agree *a, int T);
/* The same of a sentence that looks at the keys of another one of Tk tokens. */
void agree_check_cross(const struct agree *a, int T, int Tk);

#endif
