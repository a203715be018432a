/* ablations.h - what comes next without each head, as a table: a row a head, by layer and head. */
#ifndef CLI_ABLATIONS_H
#define CLI_ABLATIONS_H

#include "attn_ask.h"
#include "attn_tools.h"

struct ablations {
    const struct attn_ablated *row; size_t n;
    const struct attn_model *model;
    const struct attn_tokens *tokens;
    const struct attn_tokenizer *tokenizer;     /* NULL: tokens have their ids alone */
    const char *text; size_t len;       /* text NULL: ids were given */
    const struct attn_edits *edits;     /* of all runs; NULL: none */
    const char *format, *path;          /* NULL: text; NULL: standard output */
};
int ablations_write(const struct ablations *a, struct attn_err *err);

#endif
