/* rewrite.h - a directory of outputs on its way from one manifest to the next, such that a run may be killed anywhere.
 *
 * Before a file gets its name, the manifest, which would no longer be true, becomes manifest.json.part; so does a new
 * one in a directory without a manifest.  Each file is added to it before it gets its name.  When the new manifest is
 * there, what the .part lists and the manifest does not is removed, and then the .part.  Thus a directory with a
 * manifest holds all that it lists; without one, but with a .part, it is unfinished and readers refuse it; and what
 * was ever written is remembered until it is removed, however many runs that takes.
 *
 * Only a file whose size and SHA-256 are as listed is removed: one that somebody has changed is his. */
#ifndef ATTN_SINKS_REWRITE_H
#define ATTN_SINKS_REWRITE_H

#include "sinks/files.h"

struct attn_rewrite;
/* dir is borrowed. */
int attn_rewrite_begin(struct attn_rewrite **out, const char *dir, struct attn_err *err);
/* Adds n files, before they get their names. */
int attn_rewrite_add(struct attn_rewrite *r, struct attn_file *const *files, size_t n, struct attn_err *err);
/* With the new manifest, which lists n files, in its place: removes the others.  *changed gets the name of the first that
 * was changed and so is left, malloc'd; NULL: there is none.  What could not be removed is left to the next run. */
int attn_rewrite_end(struct attn_rewrite *r, struct attn_file *const *files, size_t n, char **changed, struct attn_err *err);
void attn_rewrite_withdraw(struct attn_rewrite *r);                 /* in a directory that is to be removed */
void attn_rewrite_close(struct attn_rewrite *r);                    /* NULL is fine */

/* Removes the manifest of a directory, or its .part, and the files they list.  Files that the directory `instead` has,
 * too, will be replaced: they are removed even if they were changed. */
int attn_rewrite_remove(const char *dir, const char *instead, struct attn_err *err);

#endif
