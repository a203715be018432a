/* target.h - where output goes, so that a file is whole or not there.
 *
 * A regular or absent target, found by following links, is written beside itself under a name
 * nobody else has and renamed when committed; it keeps the permissions it had.  Devices, pipes
 * and standard output are written in place.  What grows for hours is called PATH.part meanwhile, and
 * stays when it is closed without commit, to be continued. */
#ifndef ATTN_BASE_TARGET_H
#define ATTN_BASE_TARGET_H

#include "attn.h"

struct attn_target {
    int fd;                             /* write here; -1: closed */
    bool borrowed;                      /* standard output: not ours to close */
    char *name;                         /* for messages */
    char *final, *temp;                 /* NULL where it is written in place; else fd can be read, too */
    bool grows;                         /* temp is PATH.part and stays when it is closed */
};

/* NULL, "-" and any name of the file or device that standard output is are standard output. */
int attn_target_open(struct attn_target *t, const char *path, struct attn_err *err);
/* One that grows, from its first `keep` bytes on, which PATH.part must have; in place where that is no file. */
int attn_target_open_growing(struct attn_target *t, const char *path, uint64_t keep, struct attn_err *err);
/* Whether a path is written in place: standard output, devices, pipes; NULL is standard output. */
bool attn_target_in_place(const char *path);
/* Malloc'd: the file a path names once links are followed, also where there is none yet.  NULL with errno. */
char *attn_target_follow(const char *path);
/* The same with and without slashes at the end, whether or not the directory is there. */
char *attn_target_follow_directory(const char *path);
/* Whether two paths are of one file, also where there is none yet. */
bool attn_target_same(const char *a, const char *b);
/* Closes and renames; does nothing the second time. */
int attn_target_commit(struct attn_target *t, struct attn_err *err);
void attn_target_close(struct attn_target *t);      /* without commit: what was there is as it was */

#endif
