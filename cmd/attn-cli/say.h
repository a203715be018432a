/* say.h - failures of the porch, and messages to the person at the keyboard.
 *
 * Functions here fail as the library's do: they return a code and leave a message.  main.c says it. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "attn.h"

int fail(struct attn_err *err, enum attn_status code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int fail_errno(struct attn_err *err, const char *path, const char *what);       /* "PATH: cannot WHAT: why" */
/* "attn-cli COMMAND: message"; wrong usage gets a line that names the help.  Returns the exit
 * status.  command NULL: before one was found. */
int say_error(const char *command, const struct attn_err *err);
/* What a message shows of something typed: all of it, or its beginning and "...". */
struct excerpt { char text[64]; };
struct excerpt excerpt(const char *typed);
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));      /* not under --quiet */

#endif
