#include "base/disk.h"
#include "attn_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

int attn_disk_open(const char *path, int flags, mode_t mode)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Whether an open file is still the one at this path: 1, 0, or -1 with errno. */
static int is_at(int fd, const char *path)
{
    struct stat a, b;
    if (fstat(fd, &a) != 0)
        return -1;
    if (lstat(path, &b) != 0)
        return errno == ENOENT ? 0 : -1;
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_file(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

int attn_disk_take(const char *path, mode_t mode)
{
    for (;;) {
        int fd = attn_disk_open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW, mode);
        if (fd < 0)
            return fd;
        bool file = is_file(fd), locked = file && !attn_disk_lock(fd) && errno == EWOULDBLOCK;
        int here = file && !locked ? is_at(fd, path) : -1, why = locked ? EWOULDBLOCK : file ? errno : ENODEV;
        if (here > 0)
            return fd;
        close(fd);      /* it is locked by another process, or was renamed or removed before we got the lock */
        errno = why;
        if (here < 0)
            return -1;
    }
}

int attn_disk_not_taken(struct attn_err *err, const char *name, const char *ending, const char *what)
{
    if (errno == EWOULDBLOCK)
        return attn_fail(err, ATTN_EIO, "%s%s: another process is writing to it: wait for its end, or choose another "
                         "name", name, ending);
    if (errno == ELOOP || errno == ENODEV)
        return attn_fail(err, ATTN_EIO,
                         "%s%s: found a %s, expected a regular file: remove it, or choose another name", name,
                         ending, errno == ELOOP ? "link" : "pipe or device");
    return attn_fail_errno(err, name, what);
}

bool attn_disk_lock(int fd)
{
    int rc;
    do
        rc = flock(fd, LOCK_EX | LOCK_NB);
    while (rc && errno == EINTR);
    return rc == 0;
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

bool attn_disk_cut(int fd, uint64_t len)
{
    int rc;
    do
        rc = ftruncate(fd, (off_t)len);
    while (rc && errno == EINTR);
    return rc == 0;
}

bool attn_disk_make(const char *dir)
{
    int rc;
    do
        rc = mkdir(dir, 0777);
    while (rc && errno == EINTR);
    return rc == 0;
}

/* Malloc'd: the directory that holds `dir`; NULL without memory or where there is none to be made. */
static char *parent_of(const char *dir)
{
    size_t n = strlen(dir);
    while (n && dir[n - 1] == '/')
        n--;
    while (n && dir[n - 1] != '/')
        n--;
    return n ? strndup(dir, n) : NULL;
}

size_t attn_disk_make_path(const char *dir)
{
    if (attn_disk_make(dir))
        return 1;
    char *parent = errno == ENOENT ? parent_of(dir) : NULL;
    size_t above = parent ? attn_disk_make_path(parent) : 0;
    bool made = above && attn_disk_make(dir);
    if (above && !made)
        attn_disk_unmake_path(parent, above);
    free(parent);                       /* keeps errno */
    return made ? above + 1 : 0;
}

void attn_disk_unmake_path(const char *dir, size_t levels)
{
    int saved = errno;
    char *parent = levels && !rmdir(dir) ? parent_of(dir) : NULL;
    if (parent)
        attn_disk_unmake_path(parent, levels - 1);
    free(parent);
    errno = saved;
}

/* ---- mapped and temporary files -------------------------------------------------------- */

struct attn_cleanup {
    struct attn_cleanup *next;
    atomic_bool live;                   /* false: the entry can be used again */
    char *path;
    uintptr_t data; size_t len;         /* 0: not mapped */
    pid_t owner;
};

static _Atomic(struct attn_cleanup *) first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* for those who add */

/* An entry that is not used, perhaps new; NULL: no memory. */
static struct attn_cleanup *unused(void)
{
    struct attn_cleanup *t = atomic_load(&first);
    while (t && atomic_load(&t->live))
        t = t->next;
    if (t)
        return t;
    t = calloc(1, sizeof *t);
    if (t) {
        t->next = atomic_load(&first);
        atomic_store(&first, t);
    }
    return t;
}

struct attn_cleanup *attn_cleanup_add(const char *path, const void *data, size_t len)
{
    char *copy = strdup(path);
    pthread_mutex_lock(&lock);
    struct attn_cleanup *t = copy ? unused() : NULL;
    if (t) {
        free(t->path);
        t->path = copy;
        t->data = (uintptr_t)data;
        t->len = len;
        t->owner = getpid();
        atomic_store(&t->live, true);
    }
    pthread_mutex_unlock(&lock);
    if (!t)
        free(copy);
    return t;
}

void attn_cleanup_drop(struct attn_cleanup *t)
{
    if (t)
        atomic_store(&t->live, false);
}

bool attn_cleanup_is_ours(const struct attn_cleanup *t)
{
    return !t || t->owner == getpid();
}

const char *attn_file_mapped_at(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    for (struct attn_cleanup *t = atomic_load(&first); t; t = t->next)
        if (atomic_load(&t->live) && t->data && at - t->data < t->len)
            return t->path;
    return NULL;
}

void attn_files_abandon(void)
{
    for (struct attn_cleanup *t = atomic_load(&first); t; t = t->next)
        if (atomic_load(&t->live) && !t->data && attn_cleanup_is_ours(t))
            unlink(t->path);
}
