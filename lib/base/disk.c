#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int attn_disk_open(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

bool attn_disk_write(int fd, const void *data, size_t len, uint64_t at)
{
    const char *from = data;
    while (len > 0) {
        ssize_t n = pwrite(fd, from, len, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;             /* what else a file that takes nothing means */
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
