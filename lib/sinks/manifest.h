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

#include "sinks/files.h"

/* Writes the manifest into directory job->path. */
int attn_manifest_write(const struct attn_sink_job *job, const char *format, struct attn_file *const *files, size_t n,
                        struct attn_err *err);
/* Calls with(self, FILE, bytes) for each file that a directory's manifest lists, which need not be there.  Fails unless
 * the manifest is exactly in our format. */
typedef int attn_manifest_fn(void *self, const char *file, uint64_t bytes, struct attn_err *err);
int attn_manifest_each(const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err);

#endif
