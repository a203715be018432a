/* map.h - a file as bytes in memory.
 *
 * Regular files are mapped read-only and never copied; anything else that can be read (a pipe, a
 * device) is read up to a limit.  A file that shrinks while mapped raises SIGBUS, which the
 * program, not the library, turns into a message. */
#ifndef ATTN_BASE_MAP_H
#define ATTN_BASE_MAP_H

#include "attn.h"

/* data is not NULL even for an empty file; not owned is what lives elsewhere, such as in the binary. */
struct attn_map { const unsigned char *data; size_t len; bool mapped, owned; };

/* Fails for directories, for what cannot be read, and beyond `limit` bytes, naming the path.
 * "-" is standard input. */
int attn_map_open(struct attn_map *out, const char *path, size_t limit, struct attn_err *err);
void attn_map_close(struct attn_map *m);                            /* a zeroed map is fine */

#endif
