/* keep.h - an observer that keeps every activation whole, by name. */
#ifndef ATTN_TESTS_KEEP_H
#define ATTN_TESTS_KEEP_H

#include "attn.h"

enum { KEEP_MAX = 400 };

struct kept { char name[64]; int act, layer; size_t seq; int ndim; size_t shape[3], n, seen; float *data; };
struct keep {
    struct kept a[KEEP_MAX]; size_t n;
    unsigned flags;                     /* what wants answers; 0: ATTN_WATCH */
    int only;                           /* an activation, or -1: all */
    size_t bands, disorder;             /* told; out of order */
};

struct attn_observer keep_observer(struct keep *k);
void keep_free(struct keep *k);
/* NULL when it was not told; fails the test when it was told in part. */
const struct kept *keep_find(const struct keep *k, const char *name, size_t seq);
/* Fails the test unless both hold the same names, shapes and bits. */
void keep_expect_same(const struct keep *a, const struct keep *b);

/* Opens, runs the ids as one sentence with `threads` and keeps everything; fails the test if it cannot. */
void keep_run(struct keep *k, const char *model, const int32_t *ids, size_t T, int threads);
/* A sentence of T ids that looks at the keys of the Tk ids after them, which are sentence 1. */
void keep_run_cross(struct keep *k, const char *model, const int32_t *ids, size_t T, size_t Tk, int threads);
void keep_run_bf16(struct keep *k, const char *model, const int32_t *ids, size_t T, int threads);

#endif
