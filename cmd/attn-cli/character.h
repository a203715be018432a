/* character.h - finds the UTF-8 characters of a text. */
#ifndef CLI_CHARACTER_H
#define CLI_CHARACTER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a valid character starts at s, len > 0; *step gets its length.  If not, *step is the number of bytes, at least one,
 * that are a prefix of some character. */
bool character(const char *s, size_t len, size_t *step);

#endif
