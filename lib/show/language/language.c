#include "language/language.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/err.h"

ATTN_EMBED(attn_language_pack, ATTN_BUILT "/languages");

static const struct attn_languages *all(void)
{
    return (const struct attn_languages *)(const void *)attn_language_pack;
}

static const char *text(uint32_t at)
{
    return (const char *)attn_language_pack + at;
}

/* ---- which languages there are ---------------------------------------------------------- */

const char *attn_language_code(const struct attn_language *l)
{
    return l ? text(l->code) : "en";
}

bool attn_language_row(size_t i, const char **code, const char **name)
{
    const struct attn_language *l = i && i <= all()->count ? &all()->of[i - 1] : NULL;
    *code = l ? text(l->code) : i ? NULL : "en";
    *name = l ? text(l->name) : i ? NULL : "English";
    return *code;
}

/* Of a locale, what stands before the country and the encoding. */
bool attn_language_find(const struct attn_language **out, const char *code)
{
    const size_t n = strcspn(code, "_-.@");
    *out = NULL;
    for (size_t i = 0; i < all()->count; i++)
        if (!strncmp(text(all()->of[i].code), code, n) && !text(all()->of[i].code)[n])
            *out = &all()->of[i];
    return *out || (n == 2 && !strncmp(code, "en", n));
}

int attn_language_choose(const struct attn_language **out, const char *code, struct attn_err *err)
{
    char list[256] = "";
    const char *one, *name;
    size_t used = 0;
    if (attn_language_find(out, code))
        return ATTN_OK;
    for (size_t i = 0; attn_language_row(i, &one, &name) && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s (%s)", i ? ", " : "", one, name);
    return attn_fail(err, ATTN_EUSAGE, "unknown language '%.40s': there are %s", code, list);
}

/* ---- what they say ---------------------------------------------------------------------- */

static int compare(const void *english, const void *pair)
{
    return strcmp(english, text(((const struct attn_language_pair *)pair)->english));
}

const char *attn_tr(const struct attn_language *l, const char *english)
{
    if (!l)
        return english;
    const void *pairs = attn_language_pack + l->first;
    const struct attn_language_pair *found = bsearch(english, pairs, l->count, sizeof *found, compare);
    return found ? text(found->other) : english;
}
