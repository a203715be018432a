/* err.h - errors: one struct, filled where the cause is known.
 *
 * Every function that can fail returns an int, 0 for success or an attn_status, and leaves a message that can be
 * shown as it is.  Callers pass it on unchanged. */
#ifndef ATTN_BASE_ERR_H
#define ATTN_BASE_ERR_H

#include "attn.h"

/* Returns `code`, so that a failure is one statement: return attn_fail(err, ATTN_EIO, ...).  A
 * message that does not fit has "..." in its middle, so that after a long path there is still what
 * is wrong with it; what could steer a terminal is shown by its number (attn_utf8_visible).  `err` may be NULL. */
int attn_fail(struct attn_err *err, enum attn_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Passes an error on that was kept elsewhere, and returns its code; ATTN_OK leaves err alone. */
int attn_fail_as(struct attn_err *err, const struct attn_err *why);

/* ATTN_ENOMEM: "NAME: no memory WHAT", or without a name (NULL); WHAT begins with "for" or "to". */
int attn_no_memory(struct attn_err *err, const char *name, const char *what, ...) __attribute__((format(printf, 3, 4)));

/* ATTN_EIO (ATTN_ENOMEM for ENOMEM): "PATH: cannot WHAT: strerror(errno)". */
int attn_fail_errno(struct attn_err *err, const char *path, const char *what);

/* Analyzers read one file at a time; this lets them see that none of these returns ATTN_OK. */
#ifdef ATTN_ANALYZED
#define attn_fail(err, code, ...) (attn_fail(err, code, __VA_ARGS__), (int)(code))
#define attn_no_memory(...) (attn_no_memory(__VA_ARGS__), (int)ATTN_ENOMEM)
#define attn_fail_errno(...) (attn_fail_errno(__VA_ARGS__), (int)ATTN_EIO)
#endif

#endif
