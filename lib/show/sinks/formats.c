#include "sinks/formats.h"

#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "sinks/sink.h"

#define ROW(name, ending, help, show, flags, methods) {name, ending, help, show, flags},
static const struct attn_format formats[] = {ATTN_FORMATS(ROW)};
#undef ROW
enum { FORMATS = sizeof formats / sizeof *formats };

const struct attn_format *attn_format_next(const struct attn_format *f)
{
    const struct attn_format *next = f ? f + 1 : formats;
    return next < formats + FORMATS ? next : NULL;
}

const struct attn_format *attn_format_find(const char *name)
{
    const struct attn_format *f = NULL;
    while ((f = attn_format_next(f)) && strcmp(f->name, name) != 0)
        continue;
    return f;
}

const struct attn_format *attn_format_of_path(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    const struct attn_format *f = NULL;
    while (dot && (f = attn_format_next(f)) && (!f->ending || strcasecmp(dot, f->ending) != 0))
        continue;
    return f;
}

const char *attn_format_list(char list[ATTN_FORMAT_LIST], unsigned flags)
{
    char *at = list;
    *at = '\0';
    for (const struct attn_format *f = NULL; (f = attn_format_next(f));)
        if (f->flags & flags)
            at = stpcpy(stpcpy(at, at == list ? "" : ", "), f->name);
    return list;
}

int attn_format_check(const char *format, unsigned uses, struct attn_err *err)
{
    const struct attn_format *f = format ? attn_format_find(format) : NULL;
    char list[ATTN_FORMAT_LIST];
    if (!format || (f && f->flags & uses))
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected one of %s", format, attn_format_list(list, uses));
}
