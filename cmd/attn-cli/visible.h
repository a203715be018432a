/* visible.h - prints text of unknown origin safely on a terminal. */
#ifndef CLI_VISIBLE_H
#define CLI_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints the text with U+FFFD for bytes that are not UTF-8.  On a terminal control characters are made visible, as in \x1B,
 * except line feeds and tabs. */
void print_text(FILE *f, const char *s, size_t len, bool terminal);
/* Prints a token as run's table does: · for a space, ↵ and → for line feed and tab, \xNN for other control bytes and parts of
 * characters.  Prints nothing if f is NULL.  Returns the columns it takes on a terminal. */
size_t print_visible(FILE *f, const char *s, size_t len);

#endif
