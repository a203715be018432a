#include "canonical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void quote(FILE *f, const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
    if (*s && !s[strspn(s, plain)]) {
        fputs(s, f);
        return;
    }
    fputc('\'', f);
    for (; *s; s++)
        if (*s == '\'')
            fputs("'\\''", f);
        else
            fputc(*s, f);
    fputc('\'', f);
}

char *canonical_command(const struct command *c)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    fprintf(f, "attn-cli %s", c->name);
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++) {
        const char *value = o->flags & OPT_COUNTS ? option_given(o) : NULL;
        if (!value)
            continue;
        fprintf(f, " --%s", o->name);
        if (o->type != OPT_FLAG) {
            fputc(' ', f);
            quote(f, value);
        }
    }
    bool ok = !ferror(f);
    if (fclose(f) || !ok) {
        free(text);
        return NULL;
    }
    return text;
}
