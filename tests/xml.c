#include "xml.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

enum { DEEPEST = 32, NAME = 32 };

struct xml { const char *text, *at, *end; char open[DEEPEST][NAME]; size_t depth, roots; };

static bool is(struct xml *x, const char *s)
{
    size_t n = strlen(s);
    bool found = (size_t)(x->end - x->at) >= n && !memcmp(x->at, s, n);
    x->at += found ? n : 0;
    return found;
}

static bool name(struct xml *x, char out[NAME])
{
    size_t n = 0;
    while (x->at < x->end && n < NAME - 1 && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:-", *x->at))
        out[n++] = *x->at++;
    out[n] = '\0';
    return n > 0;
}

static void blanks(struct xml *x)
{
    while (x->at < x->end && (*x->at == ' ' || *x->at == '\n'))
        x->at++;
}

/* Reads one character of text; false if XML does not allow it here. */
static bool character(struct xml *x)
{
    size_t step;
    if (*x->at == '&')
        return is(x, "&lt;") || is(x, "&gt;") || is(x, "&amp;") || is(x, "&quot;") || is(x, "&apos;");
    if (!attn_utf8_valid(x->at, (size_t)(x->end - x->at) < 4 ? (size_t)(x->end - x->at) : 4))
        return false;
    uint32_t c = attn_utf8_next(x->at, (size_t)(x->end - x->at), &step);
    x->at += step;
    return (c >= 0x20 || c == '\t' || c == '\n') && c != '<' && c != 0xFFFE && c != 0xFFFF;
}

static const char *attributes(struct xml *x)
{
    char seen[16][NAME];
    for (size_t n = 0;; n++) {
        blanks(x);
        if (x->at == x->end || *x->at == '>' || *x->at == '/')
            return NULL;
        if (n == 16 || !name(x, seen[n]) || !is(x, "=\""))
            return "an attribute is name=\"value\"";
        for (size_t i = 0; i < n; i++)
            if (!strcmp(seen[i], seen[n]))
                return "an attribute is there twice";
        while (x->at < x->end && *x->at != '"')
            if (!character(x))
                return "a character that XML has not";
        if (!is(x, "\""))
            return "a value does not end";
    }
}

static const char *element(struct xml *x)
{
    char tag[NAME];
    if (is(x, "/")) {
        if (!name(x, tag) || !x->depth || strcmp(tag, x->open[--x->depth]) != 0 || !is(x, ">"))
            return "an end without its beginning";
        return NULL;
    }
    if (!name(x, tag) || x->depth == DEEPEST)
        return "an element has a name";
    x->roots += x->depth == 0;
    const char *fault = attributes(x);
    if (fault || is(x, "/>"))
        return fault;
    strcpy(x->open[x->depth++], tag);
    return is(x, ">") ? NULL : "an element ends with >";
}

const char *xml_fault(const char *text, size_t len, size_t *at)
{
    struct xml x = {.text = text, .at = text, .end = text + len};
    const char *fault = NULL;
    while (!fault && x.at < x.end) {
        *at = (size_t)(x.at - text);
        if (is(&x, "<"))
            fault = element(&x);
        else if (!x.depth && *x.at != '\n')
            fault = "text outside";
        else if (!character(&x))
            fault = "a character that XML has not";
    }
    return fault ? fault : x.depth ? "an element does not end" : x.roots == 1 ? NULL : "there is one root";
}
