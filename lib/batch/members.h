/* members.h - reads and writes a struct as a JSON object, by a table of its members. */
#ifndef ATTN_BATCH_MEMBERS_H
#define ATTN_BATCH_MEMBERS_H

#include "base/out.h"

enum attn_member_kind {
    ATTN_MEMBER_WHOLE,                   /* uint64_t; UINT64_MAX is null */
    ATTN_MEMBER_FLAG,                    /* bool */
    ATTN_MEMBER_TEXT,                    /* char *, malloc'd; NULL is null */
    ATTN_MEMBER_HEX,                     /* char[65]: 64 lower-case digits */
    ATTN_MEMBER_OBJECT,                  /* the members in `of`, which belong to the same struct */
    ATTN_MEMBER_OPTIONS                  /* the options of the sidecar */
};
struct attn_member { const char *name; enum attn_member_kind kind; size_t offset; const struct attn_member *of; };

struct attn_sidecar;
/* Writes the members separated by commas, without the braces.  A table ends with a NULL name. */
void attn_members_write(struct attn_out *o, const struct attn_member *table, const struct attn_sidecar *from);
/* Reads an object with the members of several tables, NULL after the last.  Unknown members are ignored; path is for
 * messages. */
int attn_members_read(struct attn_sidecar *to, const struct attn_member *const *tables, const char *text, size_t len,
                      const char *path, struct attn_err *err);

#endif
