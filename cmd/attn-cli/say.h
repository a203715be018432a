/* say.h - errors of the command-line program, and messages to its user.
 *
 * Functions here fail as the library's do: they return a code and leave a message, which main.c prints. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "attn.h"

int fail(struct attn_err *err, enum attn_status code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int fail_errno(struct attn_err *err, const char *path, const char *what);       /* "PATH: cannot WHAT: why" */
/* Prints "attn-cli COMMAND: message" and, for a usage error, a line that names the help.  Returns the exit status.  command
 * NULL: the error came before a command was known. */
int say_error(const char *command, const struct attn_err *err);
/* What a message shows of an argument: all of it, or its beginning and "...". */
struct excerpt { char text[64]; };
struct excerpt excerpt(const char *typed);
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));      /* nothing under --quiet */

#endif
