#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/format.h"
#include "base/map.h"
#include "base/target.h"

int attn_folder_make(const char *dir, size_t *made, struct attn_err *err)
{
    *made = attn_disk_make_path(dir);
    return *made || errno == EEXIST ? ATTN_OK : attn_fail_errno(err, dir, "make this directory");
}

int attn_folder_open(struct attn_out **out, const char *dir, const char *file, struct attn_err *err)
{
    char *path = NULL;
    if (attn_asprintf(&path, "%s/%s", dir, file) < 0)
        return attn_no_memory(err, dir, "for a path");
    int rc = attn_map_check_found(path, ATTN_LINKS_FOLLOWED, err);
    if (!rc)
        rc = attn_out_open(out, path, err);
    free(path);
    return rc;
}

bool attn_folder_has(const char *dir, const char *file)
{
    char *path;
    if (attn_asprintf(&path, "%s/%s", dir, file) < 0)
        return false;
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* Removes a temporary file of a process that was killed: nobody has locked it.  Who is about to lock it sees that it is
 * gone, and takes another; where files have no locks, one that is old. */
static void remove_left(int dir, const char *name)
{
    enum { OLD = 600 };                 /* seconds */
    struct stat st;
    /* on NFS who cannot write cannot lock */
    int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
        (attn_disk_lock(fd) || (errno != EWOULDBLOCK && time(NULL) - st.st_mtime > OLD)))
        unlinkat(dir, name, 0);
    if (fd >= 0)
        close(fd);
}

static void sweep(const char *dir)
{
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && (e = readdir(d));)
        if (attn_target_is_temp(e->d_name))
            remove_left(dirfd(d), e->d_name);
    if (d)
        closedir(d);
}

int attn_folder_hold(int *fd, const char *dir, struct attn_err *err)
{
    *fd = attn_disk_open(dir, O_RDONLY | O_DIRECTORY, 0);
    if (*fd < 0)
        return ATTN_OK;
    if (attn_disk_lock(*fd)) {
        sweep(dir);
        return ATTN_OK;
    }
    bool locked = errno == EWOULDBLOCK;
    close(*fd);
    *fd = -1;
    return locked ? attn_fail(err, ATTN_EIO,
                              "%s: another process is writing to it: wait for its end, or choose another directory",
                              dir) : ATTN_OK;
}

int attn_folder_begin(struct attn_held *h, const char *dir, struct attn_err *err)
{
    *h = (struct attn_held){.dir = dir, .lock = -1};
    int rc = attn_folder_make(dir, &h->made, err);
    return rc ? rc : attn_folder_hold(&h->lock, dir, err);
}

int attn_folder_end(struct attn_held *h, int rc)
{
    if (rc && h->lock >= 0)             /* without the lock it may be another's by now */
        attn_disk_unmake_path(h->dir, h->made);
    if (h->lock >= 0)
        close(h->lock);
    return rc;
}

int attn_folder_spare_training(const char *dir, struct attn_err *err)
{
    static const char *const files[] = {ATTN_CHECKPOINT_FILE, ATTN_TRAIN_SETTINGS_FILE};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (attn_folder_has(dir, files[i]))
            return attn_fail(err, ATTN_EUSAGE, "%s: there is a training already: choose another directory, or remove "
                                               "%s", dir, files[i]);
    return ATTN_OK;
}
