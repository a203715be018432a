/* disk.h - calls on files until they are done: a signal may interrupt them, and a disk be full half way. */
#ifndef ATTN_BASE_DISK_H
#define ATTN_BASE_DISK_H

#include <sys/types.h>

#include "attn.h"

/* A descriptor that programs we start do not get, and a terminal does not become ours; -1 with errno.  `mode` is that of a new file. */
int attn_disk_open(const char *path, int flags, mode_t mode);
/* The file, made where there is none, for this process alone until it is closed, to read and write; -1 with errno, EWOULDBLOCK: it
 * is another's.  File systems without locks have none; there nobody is kept out. */
int attn_disk_take(const char *path, mode_t mode);
/* All of data at byte `at` of a file; false with errno. */
bool attn_disk_write(int fd, const void *data, size_t len, uint64_t at);
/* What was written is on the disk; false with errno. */
bool attn_disk_sync(int fd);

#endif
