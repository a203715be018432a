/* zip.h - writes a zip archive front to back, with uncompressed members.
 *
 * A member is a local header, its bytes, and a descriptor with CRC-32 and size (flag bit 3 says so: the
 * header is written before they are known).  The archive ends with the central directory.  Numbers that
 * do not fit 32 bits (the count: 16) go to the ZIP64 fields.  All dates are 1980-01-01. */
#ifndef ATTN_SINKS_ZIP_H
#define ATTN_SINKS_ZIP_H

#include "base/out.h"

struct attn_zip;
/* `limit`: the size from which ZIP64 is used: ATTN_ZIP_LIMIT, except in tests. */
#define ATTN_ZIP_LIMIT UINT64_C(0xFFFFFFFF)
int attn_zip_new(struct attn_zip **out, struct attn_out *to, uint64_t limit, struct attn_err *err);
void attn_zip_free(struct attn_zip *z);                             /* NULL is fine; leaves the output alone */

/* Write one member at a time: begin it with its size, add exactly so many bytes, end it. */
int attn_zip_begin(struct attn_zip *z, const char *name, uint64_t size, struct attn_err *err);
void attn_zip_add(struct attn_zip *z, const void *data, size_t len);
void attn_zip_end(struct attn_zip *z);
void attn_zip_finish(struct attn_zip *z);                           /* writes the central directory */

#endif
