/* disk.h - calls on files that are open, until they are done: a signal may interrupt them, and a disk be full half way. */
#ifndef ATTN_BASE_DISK_H
#define ATTN_BASE_DISK_H

#include "attn.h"

/* All of data at byte `at` of a file; false with errno. */
bool attn_disk_write(int fd, const void *data, size_t len, uint64_t at);
/* What was written is on the disk; false with errno. */
bool attn_disk_sync(int fd);

#endif
