/* dump.h - prints or writes the activations of a text, as the command run does. */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include "table.h"

struct dump {
    const struct command *command;      /* whose options the canonical command lists */
    const char *format, *path;          /* NULL: text; NULL: standard output */
    int precision;
    const struct attn_model *model;
    const struct attn_select *select;
    const struct attn_tokens *tokens;
    const struct attn_tokenizer *tokenizer;     /* may be NULL */
    const char *text; size_t len;       /* text NULL: ids were given */
    const struct attn_tokens *cross;    /* of the other text, which provides the keys; NULL: no cross-attention */
    const char *cross_text; size_t cross_len;   /* cross_text NULL: ids were given */
};
enum { DUMP_PRECISION = 4 };            /* digits after the point, as in the articles */

int dump_write(const struct dump *d, struct attn_err *err);
/* The format that the ending of a path stands for; NULL: none. */
const char *dump_format_of(const char *path);
/* Fails for a binary format on a terminal and, where there is no format, for an ending of pictures that nothing here draws. */
int dump_check_format(const char *format, const char *path, struct attn_err *err);

#endif
