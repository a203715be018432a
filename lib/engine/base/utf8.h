/* utf8.h - decoding of UTF-8 and the Unicode properties we need, on top of utf8proc. */
#ifndef ATTN_BASE_UTF8_H
#define ATTN_BASE_UTF8_H

#include "attn.h"

/* Length of the longest valid prefix; len if all of it is UTF-8: no surrogates, no overlong forms, at most U+10FFFF. */
size_t attn_utf8_valid(const char *s, size_t len);
/* Length of the ASCII prefix. */
size_t attn_utf8_ascii(const char *s, size_t len);
/* Length of the byte order mark that some editors put before a file, and nobody means as text; 0 if it has none. */
size_t attn_utf8_mark(const char *s, size_t len);
/* The code point at s, len > 0; *step gets its length.  Invalid bytes give U+FFFD, one for each maximal broken
 * sequence, as Python's errors="replace" does. */
uint32_t attn_utf8_next(const char *s, size_t len, size_t *step);
/* Writes the UTF-8 of a code point (no surrogate, at most U+10FFFF) and returns its length. */
size_t attn_utf8_put(char buf[4], uint32_t c);
/* Whether a terminal would obey it instead of showing it: controls, and what changes the direction of writing. */
bool attn_utf8_steers(uint32_t c);
/* A malloc'd copy for names in reports, pages and JSON, NULL without memory: invalid UTF-8 and whatever would steer a
 * terminal become U+FFFD. */
char *attn_utf8_readable(const char *s, size_t len);
/* Whether XML and HTML both allow it as it is: no control character but tab and line ends, no noncharacter. */
bool attn_utf8_in_markup(uint32_t c);
/* White space as Unicode defines it (and as regular expressions' \s): U+0009-000D, 0020, 0085,
 * 00A0, 1680, 2000-200A, 2028, 2029, 202F, 205F, 3000. */
bool attn_utf8_space(uint32_t c);
/* Whether a text is nothing but punctuation (general category P: . , ! ’ 。 and others), perhaps with white space. */
bool attn_utf8_punctuation(const char *s, size_t len);

#endif
