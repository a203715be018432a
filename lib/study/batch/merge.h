/* merge.h - the shards of a batch become what one process would have written.
 *
 *     merge.c             which files there will be, and in what order they appear
 *     merge_shards.c      finds the sidecars of all shards, and checks that they are those of one batch
 *     merge_rows.c        joins lines, tables and stacks: each record's rows come from the shard that has the record
 *     merge_directory.c   builds a directory under another name and takes the records' directories into it */
#ifndef ATTN_BATCH_MERGE_H
#define ATTN_BATCH_MERGE_H

#include "base/map.h"
#include "base/out.h"
#include "batch/sidecar.h"

/* ---- merge_shards.c ---- */

struct attn_shard_file { const char *path; struct attn_sidecar side; };
struct attn_shard_files { struct attn_shard_file *shard; size_t n; };   /* shard i of n is shard[i] */

/* path: the outputs in any order; the strings must outlive the result. */
int attn_shard_files_open(struct attn_shard_files *out, const char *const *path, size_t n, struct attn_err *err);
void attn_shard_files_close(struct attn_shard_files *s);                /* zeroed is fine */
uint64_t attn_shard_files_total(const struct attn_shard_files *s);      /* records of all shards */
/* The shard that contains a record. */
size_t attn_shard_files_owner(const struct attn_shard_files *s, uint64_t record);
/* The sidecar that the output of a single process would have; its strings are the first shard's. */
void attn_shard_files_whole(const struct attn_shard_files *s, struct attn_sidecar *out);

/* ---- merge_rows.c ---- */

/* A file as it was written. */
struct attn_joined { char *path; const struct attn_written *as; enum attn_links links; };

/* Joins the lines of several files, one for each shard.  A line of NDJSON is one record.  The rows of a table belong to
 * the record whose number they begin with; a record may have any number of them, below a header that is the same in all
 * files.  Checks that the files are as they were written, and how many records they hold. */
int attn_merge_lines(struct attn_out *to, const struct attn_shard_files *s, const struct attn_joined *file, bool table,
                     struct attn_err *err);
/* Joins the stacks into DIR/NAME.npy for every name, with a row for each record; sum: what all rows come to. */
int attn_merge_arrays(const struct attn_shard_files *s, const char *dir, char sum[65], struct attn_err *err);

/* ---- merge_directory.c ---- */

/* A directory that is filled as .NAME.part, beside its final name, and renamed when it is complete. */
struct attn_scaffold {
    const char *final;                  /* its name; must outlive it */
    const char *extra;                  /* name of a file besides those of any batch, or NULL */
    char *path;                         /* fill this */
    int lock;
};

/* Fails at once if the name is taken by anything but an empty directory. */
int attn_scaffold_open(struct attn_scaffold *s, const char *final, const char *extra, struct attn_err *err);
int attn_scaffold_commit(struct attn_scaffold *s, struct attn_err *err);
void attn_scaffold_close(struct attn_scaffold *s);      /* without commit: removes it */

/* DIR/000012 for each record that did not fail. */
int attn_merge_records(const struct attn_shard_files *s, const char *dir, struct attn_err *err);

#endif
