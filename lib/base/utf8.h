/* utf8.h - what we need to know of Unicode, beside utf8proc. */
#ifndef ATTN_BASE_UTF8_H
#define ATTN_BASE_UTF8_H

#include "attn.h"

/* Length of the longest valid prefix; equals len when all of it is UTF-8 (no surrogates, no
 * overlong forms, nothing above U+10FFFF). */
size_t attn_utf8_valid(const char *s, size_t len);
/* How many bytes of ASCII it begins with. */
size_t attn_utf8_ascii(const char *s, size_t len);
/* The code point at s, len > 0; *step gets its bytes.  What is no UTF-8 gives U+FFFD, one for each
 * maximal broken sequence, as Python's errors="replace" does. */
uint32_t attn_utf8_next(const char *s, size_t len, size_t *step);
/* The bytes of a code point (no surrogate, at most U+10FFFF) and how many they are. */
size_t attn_utf8_put(char buf[4], uint32_t c);
/* For names in reports, pages and JSON, malloc'd, NULL: no memory.  What is no UTF-8 or would steer a terminal becomes U+FFFD. */
char *attn_utf8_readable(const char *s, size_t len);
/* White space as Unicode defines it (and as regular expressions' \s): U+0009-000D, 0020, 0085,
 * 00A0, 1680, 2000-200A, 2028, 2029, 202F, 205F, 3000. */
bool attn_utf8_space(uint32_t c);
/* The letter a code point is composed of and its accents, at most four code points; of others itself. */
size_t attn_utf8_decompose(uint32_t out[4], uint32_t c);

#endif
