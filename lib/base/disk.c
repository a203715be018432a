#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int attn_disk_open(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static bool is_at(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int attn_disk_take(const char *path, mode_t mode)
{
    for (;;) {
        int fd = attn_disk_open(path, O_RDWR | O_CREAT | O_NONBLOCK, mode);
        bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (fd < 0 || (!held && is_at(fd, path)))
            return fd;
        close(fd);                      /* held by another process, or renamed or removed by it before we got the lock */
        errno = EWOULDBLOCK;
        if (held)
            return -1;
    }
}

bool attn_disk_write(int fd, const void *data, size_t len, uint64_t at)
{
    const char *from = data;
    while (len > 0) {
        ssize_t n = pwrite(fd, from, len, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;             /* the only reason why a file takes no bytes */
        if (n <= 0)
            return false;
        from += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return true;
}

bool attn_disk_sync(int fd)
{
    int rc;
    do
        rc = fdatasync(fd);
    while (rc && errno == EINTR);
    return rc == 0;
}
