#include "say.h"

#include "table.h"
#include "visible.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
    bool fits = strlen(path) < sizeof err->msg / 2;             /* and leaves room for what is wrong with it */
    return fail(err, e == ENOMEM ? ATTN_ENOMEM : ATTN_EIO, "%s: cannot %s: %s", fits ? path : excerpt(path).text, what, strerror(e));
}

struct excerpt excerpt(const char *typed)
{
    enum { MARK = 3 };
    struct excerpt e;
    size_t n = strlen(typed), most = sizeof e.text - 1;
    if (n > most)
        for (n = most - MARK; n > 0 && ((unsigned char)typed[n] & 0xC0) == 0x80; n--)
            ;                           /* do not cut a character in two */
    snprintf(e.text, sizeof e.text, "%.*s%s", (int)n, typed, typed[n] ? "..." : "");
    return e;
}

/* What was typed may contain escape sequences: they are made visible. */
static void print_line(FILE *f, const char *before, const char *text, const char *after)
{
    fputs(before, f);
    print_text(f, text, strlen(text), true);
    fprintf(f, "\n%s", after);
}

/* Prints in one write, so that lines of parallel processes do not mix; without memory, piece by piece. */
static void say(const char *before, const char *text, const char *after)
{
    char *line = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&line, &len);
    if (f)
        print_line(f, before, text, after);
    if (f && fclose(f) == 0 && line)
        fwrite(line, 1, len, stderr);
    else
        print_line(stderr, before, text, after);
    free(line);
}

int say_error(const char *command, const struct attn_err *err)
{
    char before[64], after[64];
    const char *blank = command ? " " : "";
    bool usage = err->code == ATTN_EUSAGE;
    command = command ? command : "";
    snprintf(before, sizeof before, "attn-cli%s%s: ", blank, command);
    snprintf(after, sizeof after, "try 'attn-cli help%s%s'\n", blank, command);
    say(before, err->msg, usage ? after : "");
    return usage ? 2 : 1;
}

void say_note(const char *fmt, ...)
{
    char text[2 * sizeof ((struct attn_err *)NULL)->msg];
    va_list ap;
    if (common.quiet)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    say("", text, "");
}
