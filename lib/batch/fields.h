/* fields.h - a struct as a JSON object and back, by a table of its members. */
#ifndef ATTN_BATCH_FIELDS_H
#define ATTN_BATCH_FIELDS_H

#include "base/out.h"

enum attn_field_kind {
    ATTN_FIELD_WHOLE,                   /* uint64_t; UINT64_MAX is null */
    ATTN_FIELD_FLAG,                    /* bool */
    ATTN_FIELD_TEXT,                    /* char *, malloc'd; NULL is null */
    ATTN_FIELD_HEX,                     /* char[65]: 64 lower-case digits */
    ATTN_FIELD_OBJECT,                  /* the members in `of`, of the same struct */
    ATTN_FIELD_OPTIONS                  /* the options of the sidecar */
};
struct attn_field { const char *name; enum attn_field_kind kind; size_t offset; const struct attn_field *of; };

struct attn_sidecar;
/* Members with commas between them, without the braces.  A table ends with name NULL. */
void attn_fields_write(struct attn_out *o, const struct attn_field *table, const struct attn_sidecar *from);
/* An object of the members of several tables; NULL after the last.  Members of other names are passed over. */
int attn_fields_read(struct attn_sidecar *to, const struct attn_field *const *tables, const char *path, struct attn_err *err);

#endif
