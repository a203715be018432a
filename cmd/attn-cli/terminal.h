/* terminal.h - whether standard output is a terminal, its width, and whether it shows colours. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

bool terminal_is(const char *path);     /* whether the output is standard output and a terminal */
int terminal_columns(bool terminal);    /* of a terminal; for a file, a usual width */
bool terminal_colored(bool terminal);

#endif
