/* parsers.h - what our writers produce, read by parsers that are not ours: expat for XML, gumbo for HTML,
 * cJSON for JSON. */
#ifndef TESTS_PARSERS_H
#define TESTS_PARSERS_H

#include <stdbool.h>
#include <stddef.h>

enum { PARSERS_FAULT = 160 };
/* Each returns NULL, or what is wrong, which is written into fault. */
const char *xml_fault(char fault[PARSERS_FAULT], const char *text, size_t len);
/* A page must not only be without faults, but have the elements and attributes of a page whose texts are harmless. */
const char *html_fault(char fault[PARSERS_FAULT], const char *text, size_t len, const char *harmless,
                       size_t harmless_len);
const char *json_fault(char fault[PARSERS_FAULT], const char *text, size_t len);

#endif
