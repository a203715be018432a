/* missing.h - what wasi-libc has not, and the library calls; included before everything else (see the Makefile).  All
 * of it fails (page_os.c): a page's files cannot be written. */
#ifndef ATTN_BASE_PAGE_MISSING_H
#define ATTN_BASE_PAGE_MISSING_H

#include <sys/types.h>

char *realpath(const char *path, char *to);
int euidaccess(const char *path, int how);
int fchmod(int fd, mode_t mode);
int fchown(int fd, uid_t owner, gid_t group);
int flock(int fd, int how);
int shm_open(const char *name, int flags, mode_t mode);
int shm_unlink(const char *name);
pid_t getpid(void);
void sync(void);

#endif
