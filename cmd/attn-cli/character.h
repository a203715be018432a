/* character.h - where the characters of a text are. */
#ifndef CLI_CHARACTER_H
#define CLI_CHARACTER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a character is at s, len > 0; *step gets its bytes.  false: it is not UTF-8, and *step is how many bytes
 * some character could begin with, at least one. */
bool character(const char *s, size_t len, size_t *step);

#endif
