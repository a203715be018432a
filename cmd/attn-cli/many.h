/* many.h - one answer to many texts: what a command writes for each of them, put together.
 *
 * In a table each row begins with the number of its text, `record`, and there is one header; JSON is one document with
 * a list of records; for people each text stands above its answer. */
#ifndef CLI_MANY_H
#define CLI_MANY_H

#include "attn_tools.h"
#include "table.h"

/* Runs the command for n texts; `choose` makes number i the one in hand, or fails with what is wrong with it. */
int many_answer(const struct command *c, size_t n, int (*choose)(size_t i, struct attn_err *err), struct attn_err *err);
/* Whether the command's answers can be put together in the format that was asked for. */
bool many_joins(const struct command *c);
const char *many_format(const struct command *c);       /* that format; "text" if none was asked for */

#endif
