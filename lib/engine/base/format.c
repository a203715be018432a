#include "base/format.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

/* The thread's locale and, if that has no decimal point, the one that stands in for it. */
struct locales { locale_t before, plain; };

static struct locales begin(void)
{
    struct locales l = {0};
    if (strcmp(nl_langinfo(RADIXCHAR), ".") != 0 && (l.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0)))
        l.before = uselocale(l.plain);
    return l;
}

static void end(struct locales *l)
{
    if (!l->plain)
        return;
    uselocale(l->before);
    freelocale(l->plain);
}

int attn_vasprintf(char **text, const char *fmt, va_list args)
{
    struct locales l = begin();
    int n = vasprintf(text, fmt, args);
    if (n < 0)
        *text = NULL;
    end(&l);
    return n;
}

int attn_vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
    struct locales l = begin();
    int n = vsnprintf(buf, size, fmt, args);
    end(&l);
    return n;
}

int attn_asprintf(char **text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = attn_vasprintf(text, fmt, args);
    va_end(args);
    return n;
}

int attn_snprintf(char *buf, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = attn_vsnprintf(buf, size, fmt, args);
    va_end(args);
    return n;
}
