/* json.h - the little JSON that commands print themselves. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdio.h>

/* With its quotes; bytes that are no UTF-8 become U+FFFD.  s NULL: null. */
void json_string(FILE *f, const char *s, size_t len);
void json_text(FILE *f, const char *s);                 /* NUL-terminated */
/* The shortest digits that read back as the same double. */
void json_real(FILE *f, double x);

#endif
