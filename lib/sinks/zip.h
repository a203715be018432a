/* zip.h - a zip archive written front to back, its members stored as they are.
 *
 * A member is a local header, its bytes, and a descriptor with CRC-32 and size (flag bit 3: the
 * header comes before they are known).  The central directory ends the archive.  Whatever does not
 * fit 32 bits (16 for the count) uses the ZIP64 fields.  All dates are 1980-01-01. */
#ifndef ATTN_SINKS_ZIP_H
#define ATTN_SINKS_ZIP_H

#include "base/out.h"

struct attn_zip;
/* `limit`: the size from which ZIP64 is used, ATTN_ZIP_LIMIT but in tests. */
#define ATTN_ZIP_LIMIT UINT64_C(0xFFFFFFFF)
int attn_zip_new(struct attn_zip **out, struct attn_out *to, uint64_t limit, struct attn_err *err);
void attn_zip_free(struct attn_zip *z);                             /* NULL is fine; leaves the output alone */

/* One member at a time: begin with its size, add just that many bytes, end. */
int attn_zip_begin(struct attn_zip *z, const char *name, uint64_t size, struct attn_err *err);
void attn_zip_add(struct attn_zip *z, const void *data, size_t len);
void attn_zip_end(struct attn_zip *z);
void attn_zip_finish(struct attn_zip *z);                           /* the central directory */

#endif
