/* outputs.h - where an answer goes: -o may be given several times, and each path gets the answer in the format that it
 * ends in.  Commands that only print (PRINTED) have -o from here. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "table.h"

/* Notes a path that was typed for row o, -o of a command's answer. */
int outputs_add(const struct option *o, const char *path, struct attn_err *err);
/* Answers, once for each path; `answer` is what runs the command. */
int outputs_answer(const struct command *c, int (*answer)(const struct command *c, struct attn_err *err),
                   struct attn_err *err);
extern const struct option printed_options[];   /* -o of a command that only prints */

/* ---- what a command prints, in memory ---- */

struct caught { int out, file; };
/* Until released, standard output is a file in memory; `shown`: on a terminal, in the end. */
int output_catch(struct caught *k, bool shown, struct attn_err *err);
int output_release(struct caught *k, char **text, size_t *len, struct attn_err *err);    /* malloc'd, with a NUL */

#endif
