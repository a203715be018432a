/* keep.h - an observer that keeps a copy of every activation, by name. */
#ifndef ATTN_TESTS_KEEP_H
#define ATTN_TESTS_KEEP_H

#include "attn.h"

enum { KEEP_MAX = 400 };

struct kept { char name[64]; int act, layer; size_t seq; int ndim; size_t shape[3], n, seen; float *data; };
struct keep {
    struct kept a[KEEP_MAX]; size_t n;
    unsigned flags;                     /* the answer of `wants`; 0: ATTN_WATCH */
    int only;                           /* the one activation to keep, or -1: all */
    bool paused;                        /* nothing is kept for now */
    bool cross;                         /* the run is one of cross-attention: there is no rollout */
    size_t bands, disorder;             /* bands seen; bands that came out of order */
};

struct attn_observer keep_observer(struct keep *k);
void keep_free(struct keep *k);
/* NULL if it was not announced; fails the test if only a part of it was. */
const struct kept *keep_find(const struct keep *k, const char *name, size_t seq);
/* Fails the test unless both hold the same names, shapes and bits. */
void keep_expect_same(const struct keep *a, const struct keep *b);

/* Opens a model, runs the ids as one sentence on `threads` and keeps everything; fails the test if that fails. */
void keep_run(struct keep *k, const char *model, const int32_t *ids, size_t T, int threads);
/* A sentence of T ids that attends to the keys of the Tk ids after them, which are sentence 1. */
void keep_run_cross(struct keep *k, const char *model, const int32_t *ids, size_t T, size_t Tk, int threads);
void keep_run_bf16(struct keep *k, const char *model, const int32_t *ids, size_t T, int threads);

#endif
