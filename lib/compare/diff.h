/* diff.h - a comparison of two dumps, as the search for a cause sees it. */
#ifndef ATTN_DIFF_H
#define ATTN_DIFF_H

#include "attn.h"
#include "compare/evidence.h"
#include "io/dump.h"

struct attn_diff {
    const struct attn_dump *a, *b;
    struct attn_diff_opts o;
    struct attn_diff_row *row; size_t n;
    size_t first;                       /* the first row that differs; n if none does */
    const char *kind; char *cause;      /* NULL: none found */
};

/* Gets both sides of an activation that has the same shape in both dumps; false if there is none. */
bool attn_diff_pair(const struct attn_diff *d, int act, int layer, struct attn_pair *out);

/* causes.c: sets kind and cause from the first row that differs; fails only without memory. */
int attn_diff_explain(struct attn_diff *d, struct attn_err *err);

#endif
