#include "opts_language.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *given;

static const char *code_of(size_t i)
{
    const char *code, *name;
    return attn_language_row(i, &code, &name) ? code : NULL;
}

/* The language of a locale as "zh_CN.UTF-8"; NULL: it is none of ours. */
static const char *of_locale(const char *locale)
{
    const char *code;
    const size_t n = strcspn(locale, "_-.@:");
    for (size_t i = 0; (code = code_of(i)); i++)
        if (strlen(code) == n && !strncmp(code, locale, n))
            return code;
    return NULL;
}

const char *language_of(bool terminal)
{
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    const char *list = getenv("LANGUAGE"), *locale = NULL, *code = NULL;
    if (given || !terminal)
        return given;
    for (size_t i = 0; !locale && i < sizeof variables / sizeof *variables; i++)
        if ((locale = getenv(variables[i])) && !*locale)
            locale = NULL;
    if (locale && (!strcmp(locale, "POSIX") || (*locale == 'C' && (!locale[1] || locale[1] == '.'))))
        return NULL;
    while (list && *list && !(code = of_locale(list)))
        list += strcspn(list, ":") + (strchr(list, ':') != NULL);
    return code ? code : locale ? of_locale(locale) : NULL;
}

bool language_is_given(void) { return given; }

static void list_languages(char help[OPTION_HELP], const char *of)
{
    const char *code;
    snprintf(help, OPTION_HELP, "the language of %s: ", of);
    for (size_t i = 0; (code = code_of(i)); i++)
        snprintf(help + strlen(help), OPTION_HELP - strlen(help), "%s%s", i ? ", " : "", code);
    snprintf(help + strlen(help), OPTION_HELP - strlen(help),
             " (default: on a terminal that of LANGUAGE and LANG, else en); messages, help and what programs read stay "
             "English");
}

static void explain_languages(char help[OPTION_HELP]) { list_languages(help, "explanations"); }
static void explain_page_languages(char help[OPTION_HELP])
{
    list_languages(help, "what is explained, as in the first look and in pages (html)");
}

/* A locale, the language's own name, or what people write for it. */
static const char *mistaken(const char *value)
{
    static const struct { const char *word, *code; } others[] = {{"cn", "zh"}, {"chinese", "zh"}, {"english", "en"}};
    static char why[64];
    const char *code, *name, *meant = NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcasecmp(value, others[i].word))
            meant = others[i].code;
    for (size_t i = 0; attn_language_row(i, &code, &name); i++)
        if (!strcmp(value, name) || of_locale(value) == code || (meant && !strcmp(meant, code))) {
            snprintf(why, sizeof why, "its code is %s", code);
            return why;
        }
    return NULL;
}

#define LANGUAGE(about, uses) \
    {0, "lang", OPT_CHOICE, &given, "CODE", NULL, .choice = code_of, .explain = about, .mistaken = mistaken, \
     .formats = uses, .section = OF_SHOWN, .flags = OPT_USUAL}

const struct option language_options[] = {LANGUAGE(explain_languages, 0), {.name = NULL}};
const struct option page_language_options[] = {LANGUAGE(explain_page_languages, ATTN_FORMAT_SAYS), {.name = NULL}};
