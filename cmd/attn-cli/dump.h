/* dump.h - the activations of a text, printed or written as run does. */
#ifndef CLI_DUMP_H
#define CLI_DUMP_H

#include "table.h"

struct dump {
    const struct command *command;      /* whose options the canonical command has */
    const char *format, *path;          /* NULL: text; standard output */
    int precision;
    const struct attn_model *model;
    const struct attn_select *select;
    const struct attn_tokens *tokens;
    const struct attn_tokenizer *tokenizer;     /* may be NULL */
    const char *text; size_t len;       /* NULL: ids were given */
    const struct attn_tokens *cross;    /* of the other text, whose keys are looked at; NULL: there is none */
    const char *cross_text; size_t cross_len;   /* NULL: ids were given */
};
enum { DUMP_PRECISION = 4 };            /* as the articles print */

int dump_write(const struct dump *d, struct attn_err *err);
/* By the ending of a path; NULL: the ending says nothing. */
const char *dump_format_of(const char *path);
/* Some formats are not for a terminal, and without a format some endings promise a picture that nothing here draws. */
int dump_check_format(const char *format, const char *path, struct attn_err *err);

#endif
