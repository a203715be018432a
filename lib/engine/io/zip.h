/* zip.h - zip archives without compression: written front to back, read by their list of members.
 *
 * A member is a local header, its bytes, and a descriptor with CRC-32 and size (flag bit 3 says so: the
 * header is written before they are known).  The archive ends with the central directory.  Numbers that
 * do not fit 32 bits (the count: 16) go to the ZIP64 fields.  All dates are 1980-01-01. */
#ifndef ATTN_IO_ZIP_H
#define ATTN_IO_ZIP_H

#include "base/out.h"

/* The checksum of a member: polynomial 0x04C11DB7, bits reversed. */
struct attn_crc32 { uint32_t table[8][256]; };

void attn_crc32_make(struct attn_crc32 *c);
/* Continues from `crc`, which is 0 before the first byte. */
uint32_t attn_crc32_add(const struct attn_crc32 *c, uint32_t crc, const void *data, size_t n);

struct attn_zip;
/* `limit`: the size from which ZIP64 is used: ATTN_ZIP_LIMIT, except in tests. */
#define ATTN_ZIP_LIMIT UINT64_C(0xFFFFFFFF)
int attn_zip_new(struct attn_zip **out, struct attn_out *to, uint64_t limit, struct attn_err *err);
void attn_zip_free(struct attn_zip *z);                             /* NULL is fine; leaves the output alone */

/* Write one member at a time: begin it with its size, add exactly so many bytes, end it. */
int attn_zip_begin(struct attn_zip *z, const char *name, uint64_t size, struct attn_err *err);
void attn_zip_add(struct attn_zip *z, const void *data, size_t len);
void attn_zip_end(struct attn_zip *z);
/* Gives the last member a comment, which is no part of its bytes.  Takes ownership of it, and drops one that is too
 * long for the format. */
void attn_zip_comment(struct attn_zip *z, char *text);
void attn_zip_finish(struct attn_zip *z);                           /* writes the central directory */

/* Reads the members of such an archive, also as numpy.savez writes it.  The list at the end of the file decides; each
 * entry points to a local header and the data after it.  Archives in several parts and encrypted or compressed members
 * are refused by name.  Each member's CRC is checked unless the caller says otherwise.  Nothing is copied. */
struct attn_unzip {
    const unsigned char *bytes; size_t len;
    const char *path;                   /* for messages */
    size_t at, end;                     /* in the list: the next entry; where the list ends */
    uint64_t entries, room;             /* entries left; most bytes that their data can have together */
    struct attn_crc32 crc;
    /* Both may be set after the start. */
    bool unsummed;                      /* leaves the sums alone, so that no member is read */
    const char *advice;                 /* for a compressed member: how to write the archive instead */
};
struct attn_unzipped {
    const char *name; size_t name_len;
    const char *comment; size_t comment_len;
    const unsigned char *data; size_t size;
};

int attn_unzip_start(struct attn_unzip *z, const unsigned char *bytes, size_t len, const char *path,
                     struct attn_err *err);
/* Gets the next member; name is NULL after the last. */
int attn_unzip_next(struct attn_unzip *z, struct attn_unzipped *out, struct attn_err *err);

#endif
