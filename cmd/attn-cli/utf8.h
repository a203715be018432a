/* utf8.h - text from who knows where, character by character. */
#ifndef CLI_UTF8_H
#define CLI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the character at s, len > 0.  When it is no UTF-8 (*good false): of the broken sequence, as
 * many as some character could begin with, at least one. */
size_t utf8_step(const char *s, size_t len, bool *good);
/* A broken sequence becomes U+FFFD. */
void utf8_print(FILE *f, const char *s, size_t len);
/* For tables: control bytes as \xNN.  Returns the columns it took, near enough: code points. */
size_t utf8_print_visible(FILE *f, const char *s, size_t len);
size_t utf8_columns(const char *s, size_t len);         /* the same, without printing */

#endif
