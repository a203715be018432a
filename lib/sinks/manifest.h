/* manifest.h - manifest.json: what a directory of outputs holds and how it came to be.
 *
 *     {"tool": "attn-cli", "version", "command", "model": {"name", "family", "digest"},
 *      "options": {"format", "show", "layer", "head"}, "cpu", "tokens": [...],
 *      "context_tokens": [...] in cross-attention,
 *      "files": [{"file", "name", "layer", "head", "heads", "shape", "sha256", "bytes"}, ...]}
 *
 * with the files in the order of the forward pass, one per line.  `head` is the one head that a file
 * holds, `heads` the list of heads it holds; both are null without a head axis, and `head` also if all selected
 * heads share the file.  There are no times and no paths, so the same command writes the same bytes. */
#ifndef ATTN_SINKS_MANIFEST_H
#define ATTN_SINKS_MANIFEST_H

#include "base/map.h"
#include "sinks/files.h"

/* Writes the manifest into directory job->path. */
int attn_manifest_write(const struct attn_sink_job *job, const char *format, struct attn_file *const *files, size_t n,
                        struct attn_err *err);
/* ---- reading: for those who check or remove the files ----
 *
 * Only what is written here is read, line by line: a name of our own characters, a SHA-256 and a size.  A file is ours
 * if it still is as the list says; one that somebody has changed since is his. */

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

/* Calls with(self, FILE, bytes) for each file that a directory's manifest lists, which need not be there.  Fails unless
 * the manifest is exactly in our format. */
typedef int attn_manifest_fn(void *self, const char *file, uint64_t bytes, struct attn_err *err);
int attn_manifest_each(const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err);

#endif
