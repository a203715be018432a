#include "parsers.h"

#include <cjson/cJSON.h>
#include <expat.h>
#include <gumbo.h>
#include <stdio.h>
#include <string.h>

/* Since expat 2.9 these names are the ones to use. */
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#define XML_GetCurrentColumnNumber64 XML_GetCurrentColumnNumber
#endif

const char *xml_fault(char fault[PARSERS_FAULT], const char *text, size_t len)
{
    XML_Parser p = XML_ParserCreate("UTF-8");
    bool good = p && XML_Parse(p, text, (int)len, XML_TRUE) == XML_STATUS_OK;
    if (!good)
        snprintf(fault, PARSERS_FAULT, "line %llu, column %llu: %s",
                 p ? (unsigned long long)XML_GetCurrentLineNumber64(p) : 0,
                 p ? (unsigned long long)XML_GetCurrentColumnNumber64(p) : 0,
                 p ? XML_ErrorString(XML_GetErrorCode(p)) : "no memory");
    XML_ParserFree(p);
    return good ? NULL : fault;
}

/* The next child from `*at` on that is more than text; NULL: there is none. */
static const GumboNode *next_child(const GumboVector *children, unsigned *at)
{
    while (*at < children->length) {
        const GumboNode *n = children->data[(*at)++];
        if (n->type == GUMBO_NODE_ELEMENT || n->type == GUMBO_NODE_COMMENT || n->type == GUMBO_NODE_TEMPLATE)
            return n;
    }
    return NULL;
}

static bool same_attributes(const GumboVector *a, const GumboVector *b)
{
    bool same = a->length == b->length;
    for (unsigned i = 0; same && i < a->length; i++)
        same = !strcmp(((const GumboAttribute *)a->data[i])->name, ((const GumboAttribute *)b->data[i])->name);
    return same;
}

/* Whether two elements are the same but for their texts and the values of their attributes. */
static bool same_element(const GumboNode *a, const GumboNode *b)
{
    unsigned at_a = 0, at_b = 0;
    if (a->type != b->type || a->type == GUMBO_NODE_COMMENT)
        return a->type == b->type;
    const GumboElement *x = &a->v.element, *y = &b->v.element;
    bool same = x->tag == y->tag && same_attributes(&x->attributes, &y->attributes);
    while (same) {
        const GumboNode *p = next_child(&x->children, &at_a), *q = next_child(&y->children, &at_b);
        if (!p || !q)
            return p == q;
        same = same_element(p, q);
    }
    return false;
}

const char *html_fault(char fault[PARSERS_FAULT], const char *text, size_t len, const char *harmless,
                       size_t harmless_len)
{
    GumboOutput *a = gumbo_parse_with_options(&kGumboDefaultOptions, text, len);
    GumboOutput *b = gumbo_parse_with_options(&kGumboDefaultOptions, harmless, harmless_len);
    bool same = same_element(a->root, b->root);
    snprintf(fault, PARSERS_FAULT, "%u faults; the tree is %s", a->errors.length, same ? "right" : "another one");
    bool good = same && a->errors.length == 0;
    gumbo_destroy_output(&kGumboDefaultOptions, a);
    gumbo_destroy_output(&kGumboDefaultOptions, b);
    return good ? NULL : fault;
}

const char *json_fault(char fault[PARSERS_FAULT], const char *text, size_t len)
{
    const char *end = NULL;
    cJSON *tree = cJSON_ParseWithLengthOpts(text, len, &end, false);
    bool good = tree && text + len == end + strspn(end, "\n");
    if (!good)
        snprintf(fault, PARSERS_FAULT, "at '%.40s'", end ? end : text);
    cJSON_Delete(tree);
    return good ? NULL : fault;
}
