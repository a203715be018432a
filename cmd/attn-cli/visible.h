/* visible.h - text from who knows where, for a terminal. */
#ifndef CLI_VISIBLE_H
#define CLI_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

/* As it is, but always UTF-8: what is none becomes U+FFFD. */
void print_text(FILE *f, const char *s, size_t len);
/* A token in a table: a dot for a space, \xNN for control bytes and parts of characters.  f NULL: nothing is
 * printed.  Returns its columns on a terminal. */
size_t print_visible(FILE *f, const char *s, size_t len);

#endif
