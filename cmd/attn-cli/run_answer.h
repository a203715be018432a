/* run_answer.h - what run says of a text in a table, in place of activations: the file it goes to, and the document
 * of JSON around its rows
 *
 *     {"version", "model", "text", "attention", ..., "tokens", "edits" where there are any,
 *      "context_text", "context_tokens" with another text, "rows": [...]} */
#ifndef CLI_RUN_ANSWER_H
#define CLI_RUN_ANSWER_H

#include "session.h"

struct run_answer {
    const struct session *of;
    const char *format, *path;          /* NULL: text; NULL: standard output */
};
struct attn_table;
int run_answer_write(const struct run_answer *a, const struct attn_table *t, struct attn_err *err);

#endif
