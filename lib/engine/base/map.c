#include "base/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/os.h"
#include "base/size.h"

enum { LEAST = 65536, HUGE_PAGE = 2 << 20 };    /* LEAST: room for a read */

static int too_large(const char *name, size_t limit, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: is larger than %zu bytes, the most that is read here", name, limit);
}

static ssize_t read_some(int fd, void *buf, size_t len)
{
    ssize_t n;
    do
        n = read(fd, buf, len);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Reads to the end of the file, however long it is. */
static int read_all(struct attn_map *m, int fd, const char *name, size_t limit, struct attn_err *err)
{
    unsigned char *data = NULL;
    for (size_t size = 0;;) {
        if (!data || m->len == size) {
            unsigned char *more = attn_grow(data, &size, size + LEAST, 1);
            if (!more)
                return attn_no_memory(err, name, "to read more than %zu bytes", m->len);
            m->data = data = more;
            m->owned = true;
        }
        ssize_t n = read_some(fd, data + m->len, size - m->len);
        if (n < 0)
            return attn_fail_errno(err, name, "read");
        if (n == 0)
            return 0;
        m->len += (size_t)n;
        if (m->len > limit)
            return too_large(name, limit, err);
    }
}

/* Linux then reads 2 MB at a time, and keeps them in huge pages where the file system has such.  Pages that were read
 * one by one take twice as long to map, in every run until they are read again. */
static void read_in_large_pieces(void *data, size_t len)
{
    if (len >= HUGE_PAGE)
        attn_os_large_pages(data, len);
}

static int map_all(struct attn_map *m, int fd, off_t size, const char *name, size_t limit, struct attn_err *err)
{
    if ((uintmax_t)size > limit)
        return too_large(name, limit, err);
    void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return attn_fail_errno(err, name, "map");
    read_in_large_pieces(data, (size_t)size);
    *m = (struct attn_map){.data = data, .len = (size_t)size, .mapped = true, .owned = true,
                            .cleanup = attn_cleanup_add(name, data, (size_t)size)};
    return 0;
}

static int read_stream(struct attn_map *m, int fd, const struct stat *st, const char *name, size_t limit,
                       struct attn_err *err)
{
    return read_all(m, fd, name, S_ISCHR(st->st_mode) ? smaller(limit, ATTN_DEVICE_MOST) : limit, err);
}

/* Of a file of our own opening, which is at its first byte. */
static int take(struct attn_map *out, int fd, const struct stat *st, const char *name, size_t limit,
                struct attn_err *err)
{
    if (S_ISREG(st->st_mode) && st->st_size > 0)            /* files in /proc claim to be empty */
        return map_all(out, fd, st->st_size, name, limit, err);
    return read_stream(out, fd, st, name, limit, err);
}

bool attn_map_copy(struct attn_map *out, const void *data, size_t len)
{
    void *copy = malloc(len ? len : 1);
    if (copy)
        memcpy(copy, data, len);
    *out = (struct attn_map){.data = copy, .len = copy ? len : 0, .owned = copy};
    return copy;
}

int attn_map_file(struct attn_map *out, int fd, const char *name, struct attn_err *err)
{
    struct stat st;
    *out = (struct attn_map){0};
    return fstat(fd, &st) ? attn_fail_errno(err, name, "read") : take(out, fd, &st, name, SIZE_MAX, err);
}

int attn_map_open(struct attn_map *out, const char *path, size_t limit, struct attn_err *err)
{
    bool in = strcmp(path, "-") == 0;
    const char *name = in ? "standard input" : path;
    struct stat st;
    int rc;
    *out = (struct attn_map){0};
    int fd = in ? STDIN_FILENO : attn_disk_open(path, O_RDONLY, 0);
    if (fd < 0)
        return attn_fail_errno(err, name, "open");
    if (fstat(fd, &st) != 0)
        rc = attn_fail_errno(err, name, "read");
    else if (S_ISDIR(st.st_mode))
        rc = attn_fail(err, ATTN_EIO, "%s: is a directory, expected a file", name);
    else
        rc = in ? read_stream(out, fd, &st, name, limit, err) : take(out, fd, &st, name, limit, err);
    if (!in)
        close(fd);
    if (rc != 0)
        attn_map_close(out);
    return rc;
}

/* ---- paths that nobody typed ------------------------------------------------------------- */

static int check_kind(const struct stat *st, const char *path, struct attn_err *err)
{
    if (S_ISREG(st->st_mode))
        return ATTN_OK;
    if (S_ISDIR(st->st_mode))
        return attn_fail(err, ATTN_EIO, "%s: is a directory, expected a file", path);
    return attn_fail(err, ATTN_EIO, "%s: found a %s, expected a regular file", path,
                     S_ISLNK(st->st_mode) ? "link" : "pipe or device");
}

static int stat_found(struct stat *st, const char *path, enum attn_links links)
{
    return links == ATTN_LINKS_FOLLOWED ? stat(path, st) : lstat(path, st);
}

int attn_map_check_found(const char *path, enum attn_links links, struct attn_err *err)
{
    struct stat st;
    return stat_found(&st, path, links) ? ATTN_OK : check_kind(&st, path, err);
}

/* Looks before it opens, because opening some devices has effects, and afterwards at what was opened. */
int attn_map_open_found(struct attn_map *out, const char *path, size_t limit, enum attn_links links,
                        struct attn_err *err)
{
    struct stat st;
    *out = (struct attn_map){0};
    int rc = stat_found(&st, path, links) ? attn_fail_errno(err, path, "open") : check_kind(&st, path, err);
    if (rc)
        return rc;
    int fd = attn_disk_open(path, O_RDONLY | O_NONBLOCK | (links == ATTN_LINKS_REFUSED ? O_NOFOLLOW : 0), 0);
    if (fd < 0)
        return attn_fail_errno(err, path, "open");
    rc = fstat(fd, &st) ? attn_fail_errno(err, path, "read") : check_kind(&st, path, err);
    if (!rc)
        rc = take(out, fd, &st, path, limit, err);
    close(fd);
    if (rc)
        attn_map_close(out);
    return rc;
}

void attn_map_close(struct attn_map *m)
{
    attn_cleanup_drop(m->cleanup);
    if (m->mapped)
        munmap((void *)(uintptr_t)m->data, m->len);
    else if (m->owned)
        free((void *)(uintptr_t)m->data);
    *m = (struct attn_map){0};
}
