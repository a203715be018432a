/* visible.h - text from who knows where, for a terminal. */
#ifndef CLI_VISIBLE_H
#define CLI_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* As it is, but always UTF-8: what is none becomes U+FFFD.  On a terminal control bytes are shown, as \x1B, but for
 * line feeds and tabs. */
void print_text(FILE *f, const char *s, size_t len, bool terminal);
/* A token in a table, as run shows it: · for a space, ↵ and → for line feed and tab, \xNN for other control bytes and
 * parts of characters.  f NULL: nothing is printed.  Returns its columns on a terminal. */
size_t print_visible(FILE *f, const char *s, size_t len);

#endif
