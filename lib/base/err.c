#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Copies src to dst[0..size), control bytes made visible, "..." where it had to be cut. */
static void visible(char *dst, size_t size, const char *src)
{
    size_t n = 0;
    for (; *src; src++) {
        unsigned char c = (unsigned char)*src;
        bool plain = (c >= 0x20 && c != 0x7f) || c == '\n';
        if (n + (plain ? 1 : 4) + 4 > size) {
            while (n > 0 && ((unsigned char)dst[n - 1] & 0xC0) == 0x80)
                n--;                    /* not in the middle of a character */
            if (n > 0 && (unsigned char)dst[n - 1] >= 0xC0)
                n--;
            memcpy(dst + n, "...", 3);
            n += 3;
            break;
        }
        n += (size_t)(plain ? (dst[n] = (char)c, 1) : sprintf(dst + n, "\\x%02X", c));
    }
    dst[n] = '\0';
}

int attn_fail(struct attn_err *err, enum attn_status code, const char *fmt, ...)
{
    if (!err)
        return code;
    char raw[4 * sizeof err->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    err->code = code;
    visible(err->msg, sizeof err->msg, raw);
    return code;
}

int attn_fail_errno(struct attn_err *err, const char *path, const char *what)
{
    int e = errno;
    return attn_fail(err, e == ENOMEM ? ATTN_ENOMEM : ATTN_EIO, "%s: cannot %s: %s", path, what, strerror(e));
}
