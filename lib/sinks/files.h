/* files.h - where formats of many files write: a directory with a manifest, or one stream.
 *
 * Standard output, a path with the format's extension (in any case), a pipe and a device take one
 * file; any other path is a directory, made if absent (its parent must be there).  In a directory
 * each file replaces its older self when it is whole, a few at a time, the manifest comes last (manifest.h). */
#ifndef ATTN_SINKS_FILES_H
#define ATTN_SINKS_FILES_H

#include "base/out.h"
#include "sinks/piece.h"
#include "sinks/sink.h"

struct attn_file {
    char file[ATTN_NAME_MAX + 32];      /* its name in the directory */
    char name[ATTN_NAME_MAX];           /* of the activation, or "tokens" */
    int act, layer, head;               /* -1: none (of tokens); head -1 also: all the kept ones */
    const size_t *heads; size_t n_heads;/* in this file; 0: no head axis.  Borrowed */
    int ndim; size_t shape[3];
    struct attn_out *out;               /* while it is written */
    char sha256[65]; uint64_t bytes;    /* once it is whole */
};

/* What the files are and how many the selection makes. */
struct attn_files_plan { const char *format, *extension, *unit, *units; size_t count; };

struct attn_files;
int attn_files_open(struct attn_files **out, const struct attn_sink_job *job, const struct attn_files_plan *plan,
                    struct attn_err *err);
/* Copies `what`, whose members up to shape are filled; the file is the list's. */
int attn_files_begin(struct attn_file **out, struct attn_files *f, const struct attn_file *what,
                     struct attn_err *err);
int attn_files_end(struct attn_files *f, struct attn_file *file, struct attn_err *err);
int attn_files_finish(struct attn_files *f, struct attn_err *err);
void attn_files_close(struct attn_files *f);                        /* NULL is fine */

#endif
