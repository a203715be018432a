/* disk.h - file calls that are repeated until all is done, because a signal may interrupt them and a disk may fill up
 * half way; and a list of the files that are mapped or temporary. */
#ifndef ATTN_BASE_DISK_H
#define ATTN_BASE_DISK_H

#include <sys/types.h>

#include "attn.h"

/* Opens a file close-on-exec and without making a terminal ours; -1 with errno.  `mode` is for a new file. */
int attn_disk_open(const char *path, int flags, mode_t mode);
/* Opens a file to read and write, creating it if needed, and locks it for this process until it is closed; -1 with
 * errno, which is EWOULDBLOCK if another process has it, ELOOP if a link is there, which is not followed, and ENODEV
 * if a pipe or device is.  On file systems without locks nobody is kept out. */
int attn_disk_take(const char *path, mode_t mode);
/* Says from errno why this failed.  The user knows the file as NAME and its ENDING, and took it for `what`. */
int attn_disk_not_taken(struct attn_err *err, const char *name, const char *ending, const char *what);
/* Locks a file or directory for this process if nobody else has it; false with errno. */
bool attn_disk_lock(int fd);
/* Writes all of data at byte `at` of a file; false with errno. */
bool attn_disk_write(int fd, const void *data, size_t len, uint64_t at);
/* Waits until what was written is on the disk; false with errno. */
bool attn_disk_sync(int fd);
bool attn_disk_cut(int fd, uint64_t len);               /* gives a file that length; false with errno */
bool attn_disk_make(const char *dir);   /* makes a directory; false with errno */
/* Makes a directory and the parents that it lacks; returns how many levels were made, 0 with errno. */
size_t attn_disk_make_path(const char *dir);
void attn_disk_unmake_path(const char *dir, size_t levels);     /* removes as many, as far as they are empty */

/* What a signal handler must know when the process has to end at once: which file is mapped where, to name the one that
 * shrank, and which temporary files are to be removed.  A handler may interrupt any code, so it takes no lock: it walks
 * a list whose entries are never freed, only used again. */
struct attn_cleanup;
/* Notes a file: `len` bytes of it are mapped at `data` or, if that is NULL, it is a temporary one.  NULL: no memory,
 * and nothing is noted. */
struct attn_cleanup *attn_cleanup_add(const char *path, const void *data, size_t len);
void attn_cleanup_drop(struct attn_cleanup *t);                     /* NULL is fine */
/* Whether this process noted the file: a child of fork must not remove what its parent writes.  NULL: yes. */
bool attn_cleanup_is_ours(const struct attn_cleanup *t);

#endif
