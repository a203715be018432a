/* parts.h - outputs of `batch` that are the shards of one, in the order of their shards.
 *
 * Each was finished, all were made by the same command from an input of as many records, each shard is there
 * once, and holds as many records as it should: what is joined is what one process would have written. */
#ifndef ATTN_BATCH_PARTS_H
#define ATTN_BATCH_PARTS_H

#include "batch/sidecar.h"

struct attn_part { const char *path; struct attn_sidecar side; };
struct attn_parts { struct attn_part *part; size_t n; };            /* part i is shard i of n */

/* path: of the outputs, in any order, which live on. */
int attn_parts_open(struct attn_parts *out, const char *const *path, size_t n, struct attn_err *err);
void attn_parts_close(struct attn_parts *p);                        /* zeroed is fine */
uint64_t attn_parts_total(const struct attn_parts *p);              /* records of them all */
/* The part that has this record. */
size_t attn_parts_owner(const struct attn_parts *p, uint64_t record);
/* What would lie beside the output of one process. */
void attn_parts_whole(const struct attn_parts *p, struct attn_sidecar *out);    /* its strings are the first part's */

#endif
