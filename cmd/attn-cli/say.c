#include "say.h"

#include "table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fail(struct attn_err *err, enum attn_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    err->code = code;
    return code;
}

int fail_errno(struct attn_err *err, const char *path, const char *what)
{
    int e = errno;
    return fail(err, e == ENOMEM ? ATTN_ENOMEM : ATTN_EIO, "%s: cannot %s: %s", path, what, strerror(e));
}

struct excerpt excerpt(const char *typed)
{
    enum { MARK = 3 };
    struct excerpt e;
    size_t n = strlen(typed), most = sizeof e.text - 1;
    if (n > most)
        for (n = most - MARK; n > 0 && ((unsigned char)typed[n] & 0xC0) == 0x80; n--)
            ;                           /* not in the middle of a character */
    snprintf(e.text, sizeof e.text, "%.*s%s", (int)n, typed, typed[n] ? "..." : "");
    return e;
}

int say_error(const char *command, const struct attn_err *err)
{
    fprintf(stderr, "attn-cli%s%s: ", command ? " " : "", command ? command : "");
    for (const char *s = err->msg; *s; s++)             /* what was typed may hold escape sequences */
        if (((unsigned char)*s < 0x20 && *s != '\n') || *s == 0x7f)
            fprintf(stderr, "\\x%02X", (unsigned)(unsigned char)*s);
        else
            fputc(*s, stderr);
    fputc('\n', stderr);
    if (err->code != ATTN_EUSAGE)
        return 1;
    fprintf(stderr, "try 'attn-cli help%s%s'\n", command ? " " : "", command ? command : "");
    return 2;
}

void say_note(const char *fmt, ...)
{
    if (common.quiet)
        return;
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}
