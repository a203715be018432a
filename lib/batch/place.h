/* place.h - directories that appear complete or not at all: OUT/000012 is written as OUT/.000012.part. */
#ifndef ATTN_BATCH_PLACE_H
#define ATTN_BATCH_PLACE_H

#include "attn.h"

struct attn_record_dir { char *path, *part; };
/* Creates `part` as an empty directory; what a killed run left there is removed. */
int attn_record_dir_open(struct attn_record_dir *p, const char *dir, uint64_t number, struct attn_err *err);
/* Replaces the files of an older run under the final name; other files there stay. */
int attn_record_dir_commit(struct attn_record_dir *p, struct attn_err *err);
void attn_record_dir_close(struct attn_record_dir *p);            /* without commit: removes everything; zeroed is fine */
/* The single file that some formats write there has one of these names; other formats write a manifest.  NULL after
 * the last. */
extern const char *const attn_record_dir_files[];

#endif
