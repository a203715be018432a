/* files.h - where formats with many files write: a directory with a manifest, or one stream.
 *
 * Standard output, a path with the format's ending (in upper or lower case), a pipe and a device
 * take one file.  Any other path is a directory, made with its parents if it is missing.  In a
 * directory each file replaces an older one when it is complete, a few at a time; the manifest
 * comes last (manifest.h). */
#ifndef ATTN_SINKS_FILES_H
#define ATTN_SINKS_FILES_H

#include "attn_tools.h"
#include "base/out.h"
#include "trace/slice.h"
#include "sinks/sink.h"

struct attn_file {
    char file[ATTN_NAME_MAX + 32];      /* its name in the directory */
    char name[ATTN_NAME_MAX];           /* name of the activation, or "tokens" */
    int act, layer, head;               /* -1: none; head -1 also means all selected heads */
    const size_t *heads; size_t n_heads;/* heads in this file, borrowed; 0: no head axis */
    int ndim; size_t shape[3];
    struct attn_out *out;               /* open while it is written */
    char sha256[65]; uint64_t bytes;    /* set once it is complete */
};

/* What the files are, for messages, and how many of them the selection makes. */
struct attn_files_plan { const struct attn_format *format; const char *unit, *units; size_t count; };

struct attn_files;
int attn_files_open(struct attn_files **out, const struct attn_sink_job *job, const struct attn_files_plan *plan,
                    struct attn_err *err);
/* Opens a file.  `what` is copied; its members up to shape must be set.  f owns the result. */
int attn_files_begin(struct attn_file **out, struct attn_files *f, const struct attn_file *what,
                     struct attn_err *err);
int attn_files_end(struct attn_files *f, struct attn_file *file, struct attn_err *err);
int attn_files_finish(struct attn_files *f, struct attn_err *err);
const char *attn_files_note(const struct attn_files *f);            /* about the directory, for the user; or NULL */
void attn_files_close(struct attn_files *f);                        /* NULL is fine */

#endif
