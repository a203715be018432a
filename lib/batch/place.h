/* place.h - directories that are whole or not there: OUT/000012 is written as OUT/.000012.part. */
#ifndef ATTN_BATCH_PLACE_H
#define ATTN_BATCH_PLACE_H

#include "attn.h"

struct attn_place { char *path, *part; };
/* part is then an empty directory, whatever a killed run left there. */
int attn_place_open(struct attn_place *p, const char *dir, uint64_t number, struct attn_err *err);
/* Replaces what an older run left under the name; files of somebody else there stay. */
int attn_place_commit(struct attn_place *p, struct attn_err *err);
void attn_place_close(struct attn_place *p);            /* without commit: nothing is left; zeroed is fine */
/* The one file that some formats write there, under one of these names; others write a manifest.  NULL after the last. */
extern const char *const attn_place_files[];

#endif
