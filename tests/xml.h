/* xml.h - checks that a text is well-formed XML of the kind our writers produce: elements, attributes, text, five entities. */
#ifndef TESTS_XML_H
#define TESTS_XML_H

#include <stddef.h>

/* Returns NULL, or what is wrong and in *at where. */
const char *xml_fault(const char *text, size_t len, size_t *at);

#endif
