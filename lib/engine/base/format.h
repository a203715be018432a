/* format.h - printf into memory, with a point in numbers whatever locale a host program has set.
 *
 * Machines read most of what we format, and a decimal comma spoils it. */
#ifndef ATTN_BASE_FORMAT_H
#define ATTN_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* The text, which the caller frees, and its length; *text is NULL if there is no memory (-1). */
int attn_asprintf(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int attn_vasprintf(char **text, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
int attn_snprintf(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int attn_vsnprintf(char *buf, size_t size, const char *fmt, va_list args) __attribute__((format(printf, 3, 0)));

#endif
