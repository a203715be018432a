/* ablations.h - what comes next without each head, as a table: one row per head, by layer and head. */
#ifndef CLI_ABLATIONS_H
#define CLI_ABLATIONS_H

#include "run_answer.h"

struct ablations {
    const struct attn_ablated *row; size_t n;
    const struct attn_tokenizer *tokenizer;     /* NULL: tokens have their ids alone */
};
int ablations_write(const struct ablations *a, const struct run_answer *to, struct attn_err *err);

#endif
