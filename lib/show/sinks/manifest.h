/* manifest.h - manifest.json: what a directory of outputs holds and how it came to be.
 *
 *     {"tool": "attn-cli", "version", "command", "model": {"name", "family", "digest"},
 *      "options": {"format", "show", "layer", "head"}, "cpu", "tokens": [...],
 *      "context_tokens": [...] in cross-attention, "edits": ["L1H2 = 0", ...] where there are any,
 *      "files": [{"file", "name", "layer", "head", "heads", "mask", "shape", "sha256", "bytes"}, ...]}
 *
 * with the files in the order of the forward pass, one per line.  `head` is the one head that a file
 * holds, `heads` the list of heads it holds; both are null without a head axis, and `head` also if all selected
 * heads share the file.  There are no times and no paths, so the same command writes the same bytes.
 *
 * A directory goes from one manifest to the next such that a run may be killed anywhere.  Before a file gets its
 * name, the manifest, which would no longer be true, becomes manifest.json.part; so does a new one in a directory
 * without a manifest.  Each file is added to it before it gets its name.  When the new manifest is there, what the
 * .part lists and the manifest does not is removed, and then the .part.  Thus a directory with a manifest holds all
 * that it lists; without one, but with a .part, it is unfinished and readers refuse it; and what was ever written is
 * remembered until it is removed, however many runs that takes.
 *
 * Only a file whose size and SHA-256 are as listed is removed: one that somebody has changed is his. */
#ifndef ATTN_SINKS_MANIFEST_H
#define ATTN_SINKS_MANIFEST_H

#include "sinks/files.h"

/* How a manifest begins, its list, each line of that; its end. */
#define ATTN_LISTED_TOOL "{\"tool\":\"attn-cli\",\n"
#define ATTN_LISTED_FILES "\n\"files\":["
#define ATTN_LISTED_FILE "\n{\"file\":\""
#define ATTN_LISTED_END "\n]}\n"

/* Calls `with` for each file that a directory's manifest lists, which need not be there.  Fails unless the manifest is
 * exactly in our format. */
struct attn_manifest_file { const char *file; uint64_t bytes; char sha256[65]; };
typedef int attn_manifest_fn(void *self, const struct attn_manifest_file *file, struct attn_err *err);
int attn_manifest_each(const char *dir, attn_manifest_fn *with, void *self, struct attn_err *err);

struct attn_rewrite;
/* dir is borrowed. */
int attn_rewrite_begin(struct attn_rewrite **out, const char *dir, struct attn_err *err);
/* Adds n files, before they get their names. */
int attn_rewrite_add(struct attn_rewrite *r, struct attn_file *const *files, size_t n, struct attn_err *err);
/* With the new manifest, which lists n files, in its place: removes the others.  *changed gets the name, malloc'd, of
 * the first that was changed and so is left; NULL: none was.  What could not be removed is left to the next run. */
int attn_rewrite_end(struct attn_rewrite *r, struct attn_file *const *files, size_t n, char **changed,
                     struct attn_err *err);
void attn_rewrite_withdraw(struct attn_rewrite *r);                 /* in a directory that is to be removed */
void attn_rewrite_close(struct attn_rewrite *r);                    /* NULL is fine */

/* Removes the manifest of a directory, or its .part, and the files they list.  Files that the directory `instead` has,
 * too, will be replaced: they are removed even if they were changed. */
int attn_rewrite_remove(const char *dir, const char *instead, struct attn_err *err);

#endif
