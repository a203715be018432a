/* map.h - a file as bytes in memory.
 *
 * Regular files are mapped read-only and never copied; anything else that can be read (a pipe, a device) is read up
 * to a limit, that of devices at most ATTN_DEVICE_MOST.  A file that shrinks while mapped raises SIGBUS, which the
 * program, not the library, turns into a message; disk.h remembers for it which file is mapped where. */
#ifndef ATTN_BASE_MAP_H
#define ATTN_BASE_MAP_H

#include "attn.h"

#define ATTN_DEVICE_MOST ((size_t)1 << 30)      /* bytes that are read of a device, which may never end */

/* data is never NULL, not even for an empty file.  Bytes that lie elsewhere, such as in the program, are not owned. */
struct attn_cleanup;
struct attn_map { const unsigned char *data; size_t len; bool mapped, owned; struct attn_cleanup *cleanup; };

/* Fails for directories, unreadable files and files of more than `limit` bytes, with the path in the message.  The path
 * "-" is standard input. */
int attn_map_open(struct attn_map *out, const char *path, size_t limit, struct attn_err *err);

/* A copy of bytes that do not live as long; false: no memory. */
bool attn_map_copy(struct attn_map *out, const void *data, size_t len);

/* A file that we have written; it is at its end. */
int attn_map_file(struct attn_map *out, int fd, const char *name, struct attn_err *err);

/* Paths that no user typed, because a directory or a file names them.  Anything may be there: opening a pipe waits for
 * somebody at its other end, reading a device may never end, and a link may lead to a file of somebody else. */
enum attn_links { ATTN_LINKS_REFUSED, ATTN_LINKS_FOLLOWED };
/* The same for such a path: fails at once unless a regular file is there. */
int attn_map_open_found(struct attn_map *out, const char *path, size_t limit, enum attn_links links,
                        struct attn_err *err);
/* Fails if anything but a regular file is at such a path, which is about to be written. */
int attn_map_check_found(const char *path, enum attn_links links, struct attn_err *err);

void attn_map_close(struct attn_map *m);                            /* a zeroed map is fine */

#endif
