/* target.h - where output goes, so that a file is whole or not there.
 *
 * A regular or absent target, found by following links, is written beside itself under a name
 * nobody else has and renamed when committed; it keeps the permissions it had.  Devices, pipes
 * and standard output are written in place. */
#ifndef ATTN_BASE_TARGET_H
#define ATTN_BASE_TARGET_H

#include "attn.h"

struct attn_target {
    int fd;                             /* write here; -1: closed */
    bool borrowed;                      /* standard output: not ours to close */
    char *name;                         /* for messages */
    char *final, *temp;                 /* NULL where it is written in place; else fd can be read, too */
};

/* NULL, "-" and any name of the file or device that standard output is are standard output. */
int attn_target_open(struct attn_target *t, const char *path, struct attn_err *err);
/* Closes and renames; does nothing the second time. */
int attn_target_commit(struct attn_target *t, struct attn_err *err);
void attn_target_close(struct attn_target *t);      /* without commit: what was there is as it was */

#endif
