/* target.h - where output goes, such that a file appears complete or not at all.
 *
 * A regular or absent target, found by following links, is written beside itself under a unique name and renamed when
 * committed; the new file keeps the old one's permissions and, if this process may give files away, its owner.
 * Directories that are not there yet are made for it, and go again if it is not committed.
 * Devices, pipes and standard output are written in place.  A file that grows for hours is called PATH.part meanwhile;
 * closed without commit it stays, to be continued later. */
#ifndef ATTN_BASE_TARGET_H
#define ATTN_BASE_TARGET_H

#include "attn.h"

struct attn_target {
    int fd;                             /* write here; -1 if closed */
    bool shown;                         /* on a terminal, which obeys control sequences */
    bool borrowed;                      /* standard output, which is not ours to close */
    char *name;                         /* for messages */
    char *final, *temp;                 /* NULL if written in place; else fd can also be read */
    struct attn_cleanup *cleanup;       /* of temp, unless it grows */
    bool grows;                         /* temp is PATH.part and is kept when closed */
    char *folder; size_t made;          /* how many directories were made for it, for attn_disk_unmake_path */
    bool ours;                          /* the name is one nobody typed: a link there is replaced, not followed */
};

/* NULL, "-" and any path of the file or device that is our standard output mean standard output. */
int attn_target_open(struct attn_target *t, const char *path, struct attn_err *err);
/* Opens one whose name we made up, such as OUT.json beside OUT: a link or device there was planted, and is replaced. */
int attn_target_open_ours(struct attn_target *t, const char *path, struct attn_err *err);
/* Opens a nameless file beside the target, which is gone once closed; the target must not be written in place. */
int attn_target_open_scratch(struct attn_target *t, const char *path, struct attn_err *err);
/* Opens a target that grows, continued after its first `keep` bytes, which PATH.part must have; a device or pipe is
 * written in place. */
int attn_target_open_growing(struct attn_target *t, const char *path, uint64_t keep, struct attn_err *err);
/* Says that standard output is kept for a terminal, though it is none, until this is taken back. */
void attn_target_hold(bool held);
/* Whether a path would be written in place, as standard output (NULL), devices and pipes are. */
bool attn_target_in_place(const char *path);
/* Malloc'd: the path after following links; the file need not exist yet.  NULL with errno. */
char *attn_target_follow(const char *path);
/* The same for a directory, with or without trailing slashes; it need not exist. */
char *attn_target_follow_directory(const char *path);
/* Whether two paths name the same file, even one that does not exist yet. */
bool attn_target_same(const char *a, const char *b);
/* Whether a name in a directory is one of the unique ones. */
bool attn_target_is_temp(const char *name);
/* Closes and renames; a second call does nothing. */
int attn_target_commit(struct attn_target *t, struct attn_err *err);
void attn_target_close(struct attn_target *t);      /* without commit: the old file stays unchanged */

#endif
