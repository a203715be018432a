/* escape.h - escape sequences in JSON strings. */
#ifndef ATTN_IO_ESCAPE_H
#define ATTN_IO_ESCAPE_H

#include "attn.h"

/* Reads the escape at s[0..n), where s[0] is a backslash: *c gets the character.  Returns its length, 0 if it is
 * invalid.  A surrogate pair is one escape; half a pair is invalid, since UTF-8 cannot encode it. */
size_t attn_escape_read(const char *s, size_t n, uint32_t *c);

#endif
