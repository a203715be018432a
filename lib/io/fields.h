/* fields.h - the fields of CSV, one after the other: RFC 4180, lines end in \n or \r\n. */
#ifndef ATTN_IO_FIELDS_H
#define ATTN_IO_FIELDS_H

#include "attn.h"

struct attn_fields { const char *at, *end; };

/* The next field as written, quotes included; *last: its line ends with it.  False: a quote is not closed. */
bool attn_fields_next(struct attn_fields *f, const char **s, size_t *len, bool *last);
/* What a field stands for, without its quotes, in `out`, which has room for len bytes; returns how many. */
size_t attn_fields_text(char *out, const char *s, size_t len);

#endif
