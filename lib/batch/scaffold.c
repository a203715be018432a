#include "batch/scaffold.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/folder.h"

static int taken(const char *path, struct attn_err *err)
{
    return attn_fail(err, ATTN_EIO, "%s: is there already: remove it, or give another name", path);
}

/* ---- what an interrupted process left --------------------------------------------------- */

struct sweep { const struct attn_scaffold *of; bool removes; };

static bool is_record(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits >= 6 && !name[digits];
}

static bool is_file_of_ours(const char *name, const char *extra)
{
    static const char *const endings[] = {".json", ".ndjson", ".npy", ".npz", ".csv", ".png", ".svg", ".tmp"};
    const char *dot = strrchr(name, '.');
    bool ours = extra && !strcmp(name, extra);
    for (size_t i = 0; dot && !ours && i < sizeof endings / sizeof *endings; i++)
        ours = !strcmp(dot, endings[i]);
    return ours;
}

static int sweep(const struct sweep *how, const char *dir, bool record, struct attn_err *err);

/* Handles what is at `path`; in the directory of a `record` there are only files. */
static int sweep_one(const struct sweep *how, const char *path, const char *name, bool record, struct attn_err *err)
{
    struct stat st;
    if (lstat(path, &st))
        return attn_fail_errno(err, path, "open");
    bool directory = S_ISDIR(st.st_mode);
    bool ours = directory ? !record && is_record(name) : S_ISREG(st.st_mode) && is_file_of_ours(name, how->of->extra);
    if (!ours)
        return attn_fail(err, ATTN_EIO, "%s: is no file of an interrupted merge: move it elsewhere, or give the output another name", path);
    int rc = directory ? sweep(how, path, true, err) : ATTN_OK;
    return !rc && how->removes && remove(path) ? attn_fail_errno(err, path, "remove") : rc;
}

static int sweep(const struct sweep *how, const char *dir, bool record, struct attn_err *err)
{
    int rc = ATTN_OK;
    DIR *d = opendir(dir);
    if (!d)
        return attn_fail_errno(err, dir, "read");
    for (struct dirent *e; !rc && (errno = 0, e = readdir(d));) {
        char *path;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if (asprintf(&path, "%s/%s", dir, e->d_name) < 0) {
            rc = attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a file", dir);
            break;
        }
        rc = sweep_one(how, path, e->d_name, record, err);
        free(path);
    }
    closedir(d);
    return rc;
}

/* Looks at everything before it removes anything. */
static int clear(const struct attn_scaffold *s, struct attn_err *err)
{
    int rc = sweep(&(struct sweep){s, false}, s->path, false, err);
    return rc ? rc : sweep(&(struct sweep){s, true}, s->path, false, err);
}

/* ---- its place --------------------------------------------------------------------------- */

/* Whether there is nothing, or an empty directory, which rename() replaces. */
static bool is_free(const char *path)
{
    struct stat st;
    if (lstat(path, &st))
        return errno == ENOENT;
    DIR *d = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    bool empty = d != NULL;
    for (struct dirent *e; empty && (e = readdir(d));)
        empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
    if (d)
        closedir(d);
    return empty;
}

static int name_it(struct attn_scaffold *s, struct attn_err *err)
{
    const char *slash = strrchr(s->final, '/'), *name = slash ? slash + 1 : s->final;
    if (asprintf(&s->path, "%.*s.%s.part", (int)(name - s->final), s->final, name) >= 0)
        return ATTN_OK;
    s->path = NULL;
    attn_fail(err, ATTN_ENOMEM, "%s: no memory for its name", s->final);
    return ATTN_ENOMEM;
}

/* Makes the directory or takes over what is left of it.  Begins again if another process, which held it, has renamed it
 * meanwhile. */
static int hold(struct attn_scaffold *s, struct attn_err *err)
{
    for (;;) {
        struct stat st, held;
        if (!attn_disk_make(s->path) && errno != EEXIST)
            return attn_fail_errno(err, s->final, "create the directory");
        int rc = attn_folder_hold(&s->held, s->path, err);
        bool there = !rc && lstat(s->path, &st) == 0;
        if (!rc && !there && errno != ENOENT)
            return attn_fail_errno(err, s->path, "read");
        if (there && !S_ISDIR(st.st_mode))
            return attn_fail(err, ATTN_EIO, "%s: is no directory: remove it, or give the output another name", s->path);
        if (rc || (there && (s->held < 0 || (fstat(s->held, &held) == 0 && held.st_dev == st.st_dev && held.st_ino == st.st_ino))))
            return rc;
        if (s->held >= 0)
            close(s->held);
        s->held = -1;
    }
}

int attn_scaffold_open(struct attn_scaffold *s, const char *final, const char *extra, struct attn_err *err)
{
    *s = (struct attn_scaffold){.final = final, .extra = extra, .held = -1};
    int rc = is_free(final) ? name_it(s, err) : taken(final, err);
    if (!rc)
        rc = hold(s, err);
    if (!rc)
        rc = clear(s, err);
    if (rc) {                           /* what is there is not ours, unless the directory is empty */
        if (s->path && s->held >= 0)
            rmdir(s->path);
        free(s->path);
        s->path = NULL;
        attn_scaffold_close(s);
    }
    return rc;
}

int attn_scaffold_commit(struct attn_scaffold *s, struct attn_err *err)
{
    if (rename(s->path, s->final))
        return is_free(s->final) ? attn_fail_errno(err, s->final, "create the directory") : taken(s->final, err);
    free(s->path);
    s->path = NULL;
    return ATTN_OK;
}

void attn_scaffold_close(struct attn_scaffold *s)
{
    if (s->path && !clear(s, NULL))
        rmdir(s->path);
    if (s->held >= 0)
        close(s->held);
    free(s->path);
    *s = (struct attn_scaffold){.held = -1};
}
