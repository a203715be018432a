/* terminal.h - what standard output is: a terminal of some width that takes colours, or not. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

bool terminal_is(const char *path);     /* an output that is standard output, and a terminal */
int terminal_columns(bool terminal);    /* of files those of a usual terminal */
bool terminal_colored(bool terminal);

#endif
