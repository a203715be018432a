/* json_put.h - strings as JSON writes them. */
#ifndef ATTN_IO_JSON_PUT_H
#define ATTN_IO_JSON_PUT_H

#include <stdio.h>

#include "attn.h"

/* Valid UTF-8 with its quotes, only what must be escaped escaped.  Errors stick to f. */
void attn_json_put(FILE *f, const char *s, size_t len);

#endif
