#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/utf8.h"

#undef attn_fail
#undef attn_no_memory
#undef attn_fail_errno

/* Whether s points into the middle of a UTF-8 character. */
static bool within(const char *s)
{
    return ((unsigned char)*s & 0xC0) == 0x80;
}

/* Ends dst after n bytes or less with "...", never in the middle of a character. */
static void cut(char *dst, size_t n)
{
    while (n > 0 && within(dst + n))
        n--;
    strcpy(dst + n, "...");
}

/* Copies src to dst[0..size); what could steer a terminal becomes visible. */
static void visible(char *dst, size_t size, const char *src)
{
    const char *end = src + strlen(src);
    size_t n = 0, whole = 0;            /* whole: where "..." would still fit */
    while (src < end) {
        char form[ATTN_VISIBLE];
        size_t step = attn_utf8_visible(form, src, (size_t)(end - src)), need = strlen(form);
        if (n + need >= size) {
            dst[n] = '\0';
            cut(dst, whole);
            return;
        }
        memcpy(dst + n, form, need);
        src += step;
        n += need;
        if (n + 4 <= size)
            whole = n;
    }
    dst[n] = '\0';
}

/* A long path goes before what is wrong with it: both ends stay, of at most size bytes with "..." and the NUL. */
static void fold(char *s, size_t size)
{
    size_t len = strlen(s), head = size / 3;
    if (len < size)
        return;
    size_t tail = len - (size - head - sizeof "...");
    while (head > 0 && within(s + head))
        head--;
    while (within(s + tail))
        tail++;
    memcpy(s + head, "...", 3);
    memmove(s + head + 3, s + tail, len - tail + 1);
}

/* Fills err; what comes before `fmt` is "NAME: no memory ", unless lead is "". */
static int fill(struct attn_err *err, enum attn_status code, const char *name, const char *lead, const char *fmt,
                va_list ap)
{
    char raw[PATH_MAX + PATH_MAX + sizeof err->msg];
    int n = snprintf(raw, sizeof raw, "%s%s%s", name ? name : "", name ? ": " : "", lead);
    if (n < (int)sizeof raw)
        n += attn_vsnprintf(raw + n, sizeof raw - (size_t)n, fmt, ap);
    if (n >= (int)sizeof raw)
        cut(raw, sizeof raw - sizeof "...");
    fold(raw, sizeof err->msg);
    err->code = code;
    visible(err->msg, sizeof err->msg, raw);
    return code;
}

int attn_fail(struct attn_err *err, enum attn_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int rc = err ? fill(err, code, NULL, "", fmt, ap) : (int)code;
    va_end(ap);
    return rc;
}

int attn_no_memory(struct attn_err *err, const char *name, const char *what, ...)
{
    va_list ap;
    va_start(ap, what);
    int rc = err ? fill(err, ATTN_ENOMEM, name, "no memory ", what, ap) : ATTN_ENOMEM;
    va_end(ap);
    return rc;
}

int attn_fail_as(struct attn_err *err, const struct attn_err *why)
{
    if (err && why->code)
        *err = *why;
    return why->code;
}

int attn_fail_errno(struct attn_err *err, const char *path, const char *what)
{
    int e = errno;
    return attn_fail(err, e == ENOMEM ? ATTN_ENOMEM : ATTN_EIO, "%s: cannot %s: %s", path, what, strerror(e));
}
