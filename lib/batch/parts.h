/* parts.h - outputs of `batch` that are the shards of one, in order.
 *
 * Each is finished, all were made by the same command from an input with the same number of records, each shard is
 * there exactly once and has as many records as it should: joined, they are what one process would have written. */
#ifndef ATTN_BATCH_PARTS_H
#define ATTN_BATCH_PARTS_H

#include "batch/sidecar.h"

struct attn_shard_file { const char *path; struct attn_sidecar side; };
struct attn_shard_files { struct attn_shard_file *part; size_t n; };            /* part i is shard i of n */

/* path: the outputs in any order; the strings must outlive the parts. */
int attn_parts_open(struct attn_shard_files *out, const char *const *path, size_t n, struct attn_err *err);
void attn_parts_close(struct attn_shard_files *p);                        /* zeroed is fine */
uint64_t attn_parts_total(const struct attn_shard_files *p);              /* records of all parts */
/* The part that contains a record. */
size_t attn_parts_owner(const struct attn_shard_files *p, uint64_t record);
/* The sidecar that the output of a single process would have. */
void attn_parts_whole(const struct attn_shard_files *p, struct attn_sidecar *out);    /* its strings are the first part's */

#endif
