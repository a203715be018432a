/* listed.h - the files that a manifest lists, for those who check or remove them.
 *
 * Only what manifest.h wrote is read, line by line: a name of our own characters, a SHA-256 and a size.  A file is ours
 * if it still is as the list says; one that somebody has changed since is his. */
#ifndef ATTN_SINKS_LISTED_H
#define ATTN_SINKS_LISTED_H

#include "base/map.h"

#define ATTN_LISTED_TOOL "{\"tool\":\"attn-cli\",\n"           /* how a manifest begins, its list, each line of it; its end */
#define ATTN_LISTED_FILES "\n\"files\":["
#define ATTN_LISTED_FILE "\n{\"file\":\""
#define ATTN_LISTED_END "\n]}\n"

struct attn_listed { const char *name, *sha256; size_t len; uint64_t bytes; };  /* both strings lie in the text, without NUL */

/* Maps DIR/FILE, which may be no link: what it lists is removed or copied.  After a failure the map is empty. */
int attn_listed_open(struct attn_map *out, const char *dir, const char *file, struct attn_err *err);
/* Where the list begins, if the text is a manifest of ours from its first to its last byte; else NULL. */
const char *attn_listed_in(const struct attn_map *manifest);
/* Reads the next file; false at the end of the list. */
bool attn_listed_next(const char **at, const char *end, struct attn_listed *f);
/* Finds the next file in a text that may have been cut short and continued; false: there is none. */
bool attn_listed_find(const char **at, const char *end, struct attn_listed *f);
char *attn_listed_path(const char *dir, const struct attn_listed *f);   /* malloc'd */

#endif
