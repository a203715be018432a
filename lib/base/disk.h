/* disk.h - file calls that are repeated until all is done: a signal may interrupt them, and a disk may fill up half
 * way. */
#ifndef ATTN_BASE_DISK_H
#define ATTN_BASE_DISK_H

#include <sys/types.h>

#include "attn.h"

/* Opens a file close-on-exec and without making a terminal ours; -1 with errno.  `mode` is for a new file. */
int attn_disk_open(const char *path, int flags, mode_t mode);
/* Opens a file to read and write, creating it if needed, and locks it for this process until it is closed; -1 with
 * errno, which is EWOULDBLOCK if another process has it.  On file systems without locks nobody is kept out. */
int attn_disk_take(const char *path, mode_t mode);
/* Writes all of data at byte `at` of a file; false with errno. */
bool attn_disk_write(int fd, const void *data, size_t len, uint64_t at);
/* Waits until what was written is on the disk; false with errno. */
bool attn_disk_sync(int fd);

#endif
