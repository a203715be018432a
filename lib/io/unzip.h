/* unzip.h - the members of a zip archive without compression, such as numpy.savez writes.
 *
 * The list of members at the end of the file decides; each entry points to a local header and the data after it.
 * ZIP64 fields are read.  Archives in several parts and encrypted or compressed members are refused by name.  Each
 * member's CRC is checked.  Nothing is copied. */
#ifndef ATTN_IO_UNZIP_H
#define ATTN_IO_UNZIP_H

#include "base/crc32.h"

struct attn_unzip {
    const unsigned char *bytes; size_t len;
    const char *path;                   /* for messages */
    size_t at, end;                     /* in the list: the next entry; where the list ends */
    uint64_t entries, room;             /* entries left; most bytes that their data can have together */
    struct attn_crc32 crc;
};
struct attn_unzipped { const char *name; size_t name_len; const unsigned char *data; size_t size; };

int attn_unzip_start(struct attn_unzip *z, const unsigned char *bytes, size_t len, const char *path, struct attn_err *err);
/* Gets the next member; name is NULL after the last. */
int attn_unzip_next(struct attn_unzip *z, struct attn_unzipped *out, struct attn_err *err);

#endif
