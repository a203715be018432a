#include "batch/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "sinks/rewrite.h"

const char *const attn_record_dir_files[] = {"activations.npz", "activations.png", "activations.svg", NULL};

/* Removes a directory and the files in it; if it contains somebody's directory, both stay. */
static void clear(const char *path)
{
    int fd = attn_disk_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(path);
}

int attn_record_dir_open(struct attn_record_dir *p, const char *dir, uint64_t number, struct attn_err *err)
{
    *p = (struct attn_record_dir){0};
    if (asprintf(&p->path, "%s/%06" PRIu64, dir, number) < 0)
        p->path = NULL;
    if (asprintf(&p->part, "%s/.%06" PRIu64 ".part", dir, number) < 0)
        p->part = NULL;
    if (!p->path || !p->part)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the path of record %" PRIu64, dir, number);
    if (attn_disk_make(p->part))
        return ATTN_OK;
    clear(p->part);
    return attn_disk_make(p->part) ? ATTN_OK : attn_fail_errno(err, p->part, "create the directory");
}

static void remove_in(const char *dir, const char *file)
{
    char *path;
    if (asprintf(&path, "%s/%s", dir, file) < 0)
        return;
    unlink(path);
    free(path);
}

/* Removes the files that an older run wrote. */
static int clear_ours(const struct attn_record_dir *p, struct attn_err *err)
{
    for (const char *const *file = attn_record_dir_files; *file; file++)
        remove_in(p->path, *file);
    return attn_rewrite_remove(p->path, p->part, err);
}

static int move_file(DIR *from, const struct attn_record_dir *p, int to, const char *file, struct attn_err *err)
{
    return renameat(dirfd(from), file, to, file) == 0 || errno == ENOENT ? ATTN_OK
           : attn_fail(err, ATTN_EIO, "%s/%s: cannot replace: %s", p->path, file, strerror(errno));
}

/* The manifest goes first: if the rest never comes, it says what is missing, and the next run knows what is ours. */
static int move_files(DIR *from, const struct attn_record_dir *p, int to, struct attn_err *err)
{
    int rc = move_file(from, p, to, "manifest.json", err);
    for (struct dirent *e; !rc && (errno = 0, e = readdir(from));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            rc = move_file(from, p, to, e->d_name, err);
    return rc || !errno ? rc : attn_fail_errno(err, p->part, "read");
}

/* Moves the files into an existing directory, which has files of somebody else. */
static int move_in(const struct attn_record_dir *p, struct attn_err *err)
{
    int to = attn_disk_open(p->path, O_RDONLY | O_DIRECTORY, 0);
    DIR *from = to < 0 ? NULL : opendir(p->part);
    int rc = from ? move_files(from, p, to, err) : attn_fail_errno(err, to < 0 ? p->path : p->part, "open");
    if (from)
        closedir(from);
    if (to >= 0)
        close(to);
    if (!rc)
        rmdir(p->part);
    return rc;
}

static bool is_full(int number)
{
    return number == ENOTEMPTY || number == EEXIST;
}

int attn_record_dir_commit(struct attn_record_dir *p, struct attn_err *err)
{
    int rc = ATTN_OK;
    bool there = rename(p->part, p->path) == 0;
    if (!there && is_full(errno)) {
        rc = clear_ours(p, err);
        there = !rc && rename(p->part, p->path) == 0;
    }
    if (rc)
        return rc;
    rc = there ? ATTN_OK : is_full(errno) ? move_in(p, err) : attn_fail_errno(err, p->path, "replace");
    if (rc)
        return rc;
    free(p->part);
    p->part = NULL;
    return ATTN_OK;
}

void attn_record_dir_close(struct attn_record_dir *p)
{
    if (p->part)
        clear(p->part);
    free(p->part);
    free(p->path);
    *p = (struct attn_record_dir){0};
}
