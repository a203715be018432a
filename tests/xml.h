/* xml.h - whether a text is well-formed XML, as far as our writers go: elements, attributes, text, five entities. */
#ifndef TESTS_XML_H
#define TESTS_XML_H

#include <stddef.h>

/* NULL: it is; else what is wrong, and *at is where. */
const char *xml_fault(const char *text, size_t len, size_t *at);

#endif
