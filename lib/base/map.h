/* map.h - a file as bytes in memory.
 *
 * Regular files are mapped read-only and never copied; anything else that can be read (a pipe, a device) is read up
 * to a limit.  A file that shrinks while mapped raises SIGBUS, which the program, not the library, turns into a
 * message. */
#ifndef ATTN_BASE_MAP_H
#define ATTN_BASE_MAP_H

#include "attn.h"

/* data is never NULL, not even for an empty file.  Bytes that lie elsewhere, such as in the program, are not owned. */
struct attn_map { const unsigned char *data; size_t len; bool mapped, owned; };

/* Fails for directories, unreadable files and files of more than `limit` bytes, with the path in the message.  "-" is
 * standard input. */
int attn_map_open(struct attn_map *out, const char *path, size_t limit, struct attn_err *err);
void attn_map_close(struct attn_map *m);                            /* a zeroed map is fine */

#endif
