/* manifest.h - manifest.json: what a directory of outputs holds and how it came to be.
 *
 *     {"tool": "attn-cli", "version", "command", "model": {"name", "family", "digest"},
 *      "options": {"format", "show", "layer", "head"}, "cpu", "tokens": [...],
 *      "context_tokens": [...] where there is another text,
 *      "files": [{"file", "name", "layer", "head", "heads", "shape", "sha256", "bytes"}, ...]}
 *
 * with the files in the order written, one a line.  `head` is the one head a file holds, `heads`
 * the list of those it holds; both are null without a head axis, `head` also when all kept heads
 * share the file.  No times and no paths: the same command writes the same bytes. */
#ifndef ATTN_SINKS_MANIFEST_H
#define ATTN_SINKS_MANIFEST_H

#include "sinks/files.h"

/* Writes the manifest into directory job->path, then removes the files an older one listed and
 * this one does not.  An older manifest that is not just as we write it removes nothing. */
int attn_manifest_replace(const struct attn_sink_job *job, const char *format, struct attn_file *const *files,
                          size_t n, struct attn_err *err);
/* Removes the files that the manifest in a directory lists, and itself, if it is just as we write it. */
void attn_manifest_remove(const char *dir);
/* It is as we write it, and all files that it lists are there, and as long as it says. */
int attn_manifest_check(const char *dir, struct attn_err *err);

#endif
