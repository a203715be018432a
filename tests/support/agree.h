/* agree.h - runs a model in the library and in double precision (reference.h) and compares every activation. */
#ifndef ATTN_TESTS_AGREE_H
#define ATTN_TESTS_AGREE_H

#include "reference.h"

struct agree {
    const char *dir;                    /* the model */
    const struct ref_config *config;    /* what it computes */
    ref_weight *weight; void *weights;  /* its weights, by their native names */
    const char *about;                  /* printed if they disagree */
};

/* A random number below n; the same seed gives the same sequence. */
extern unsigned agree_seed;
int agree_pick(int n);

/* Runs T random ids with random threads and bands; fails the test unless both agree and announce the same names. */
void agree_check(const struct agree *a, int T);
/* The same for a sentence that attends to the keys of another one of Tk tokens. */
void agree_check_cross(const struct agree *a, int T, int Tk);

#endif
