/* help.h - prints the rows of table.h as help texts, man page and completion scripts. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "table.h"

#include <stdio.h>

void help_print_short(FILE *f);         /* for `attn-cli` without arguments */
void help_print_tool(FILE *f);
void help_print_command(FILE *f, const struct command *c);
void man_print(FILE *f);                /* roff */
void completion_print(FILE *f, const char *shell);      /* one of completion_shells */
extern const char *const completion_shells[];           /* NULL after the last */

#endif
