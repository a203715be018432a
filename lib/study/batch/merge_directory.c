/* merge_directory.c - the directory that a merge fills: built beside its final name, renamed when it is complete.
 *
 * Its name, .NAME.part, and its files tell what an interrupted process left, which the next one removes; nothing else
 * is ever removed.  It is locked, so that only one process fills it.  Records' directories of the shards become part of
 * it by links to their files, or copies where the file system has no links: a finished output is never modified. */
#include "attn_tools.h"
#include "batch/merge.h"

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
#include "base/folder.h"
#include "base/format.h"
#include "batch/batch.h"
#include "sinks/manifest.h"

static int taken(const char *path, struct attn_err *err)
{
    return attn_fail(err, ATTN_EIO, "%s: is there already: remove it, or give another name", path);
}

/* ---- what an interrupted process left --------------------------------------------------- */

struct sweep { const struct attn_scaffold *of; bool removes; };

static bool is_file_of_batch(const char *name, const char *extra)
{
    const char *dot = strrchr(name, '.');
    bool known = (extra && !strcmp(name, extra)) || (dot && (!strcmp(dot, ".tmp") || !strcmp(dot, ".ndjson")));
    for (const struct attn_format *f = NULL; dot && !known && (f = attn_format_next(f));)
        known = f->ending && !strcmp(dot, f->ending);
    return known;
}

static int sweep(const struct sweep *s, const char *dir, bool record, struct attn_err *err);

/* Handles what is at `path`; in the directory of a `record` there are only files. */
static int sweep_one(const struct sweep *s, const char *path, const char *name, bool record, struct attn_err *err)
{
    struct stat st;
    if (lstat(path, &st))
        return attn_fail_errno(err, path, "open");
    bool directory = S_ISDIR(st.st_mode);
    bool known = directory ? !record && attn_record_named(name) : S_ISREG(st.st_mode) &&
                 is_file_of_batch(name, s->of->extra);
    if (!known)
        return attn_fail(err, ATTN_EIO, "%s: is no file of an interrupted merge: move it elsewhere, or give the output "
                         "another name", path);
    int rc = directory ? sweep(s, path, true, err) : ATTN_OK;
    return !rc && s->removes && remove(path) ? attn_fail_errno(err, path, "remove") : rc;
}

static int sweep(const struct sweep *s, const char *dir, bool record, struct attn_err *err)
{
    int rc = ATTN_OK;
    DIR *d = opendir(dir);
    if (!d)
        return attn_fail_errno(err, dir, "read");
    for (struct dirent *e; !rc && (errno = 0, e = readdir(d));) {
        char *path;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        if (attn_asprintf(&path, "%s/%s", dir, e->d_name) < 0) {
            rc = attn_no_memory(err, dir, "for the name of a file");
            break;
        }
        rc = sweep_one(s, path, e->d_name, record, err);
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

/* ---- taking its name --------------------------------------------------------------------- */

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
    if (attn_asprintf(&s->path, "%.*s.%s.part", (int)(name - s->final), s->final, name) >= 0)
        return ATTN_OK;
    s->path = NULL;
    attn_no_memory(err, s->final, "for its name");
    return ATTN_ENOMEM;
}

/* Makes the directory or takes over what is left of it.  Begins again if another process, which had locked it, has
 * renamed it meanwhile. */
static int hold(struct attn_scaffold *s, struct attn_err *err)
{
    for (;;) {
        struct stat st, locked;
        if (!attn_disk_make(s->path) && errno != EEXIST)
            return attn_fail_errno(err, s->final, "create the directory");
        int rc = attn_folder_hold(&s->lock, s->path, err);
        bool there = !rc && lstat(s->path, &st) == 0;
        if (!rc && !there && errno != ENOENT)
            return attn_fail_errno(err, s->path, "read");
        if (there && !S_ISDIR(st.st_mode))
            return attn_fail(err, ATTN_EIO, "%s: is no directory: remove it, or give the output another name", s->path);
        if (rc || (there && (s->lock < 0 || (fstat(s->lock, &locked) == 0 && locked.st_dev == st.st_dev &&
                                                locked.st_ino == st.st_ino))))
            return rc;
        if (s->lock >= 0)
            close(s->lock);
        s->lock = -1;
    }
}

int attn_scaffold_open(struct attn_scaffold *s, const char *final, const char *extra, struct attn_err *err)
{
    *s = (struct attn_scaffold){.final = final, .extra = extra, .lock = -1};
    int rc = is_free(final) ? name_it(s, err) : taken(final, err);
    if (!rc)
        rc = hold(s, err);
    if (!rc)
        rc = clear(s, err);
    if (rc) {                           /* what is there is not of any merge, unless the directory is empty */
        if (s->path && s->lock >= 0)
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
    if (s->lock >= 0)
        close(s->lock);
    free(s->path);
    *s = (struct attn_scaffold){.lock = -1};
}

/* ---- the directories of records --------------------------------------------------------- */

static int copy(const struct attn_map *map, const char *to, struct attn_err *err)
{
    struct attn_out *o;
    int rc = attn_out_open(&o, to, err);
    if (rc)
        return rc;
    attn_out_write(o, map->data, map->len);
    return attn_out_end(o, ATTN_OK, err);
}

static bool is_as_listed(const struct attn_map *map, const struct attn_manifest_file *f)
{
    char hex[65];
    attn_sha256_of(hex, map->data, map->len);
    return !strcmp(hex, f->sha256);
}

/* Opens the file even if it is only linked, so that it is known to be one. */
static int take(const char *from, const char *to, const struct attn_manifest_file *f, struct attn_err *err)
{
    struct attn_map map;
    struct stat st;
    int rc = attn_map_open_found(&map, from, SIZE_MAX, ATTN_LINKS_REFUSED, err);
    if (rc)
        return rc;
    if (lstat(to, &st) == 0)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: is listed twice in the manifest beside it: run this shard again", from);
    else if (*f->sha256 && map.len != f->bytes)
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: has %zu bytes, and had %" PRIu64 " when it was written", from, map.len, f->bytes);
    else if (*f->sha256 && !is_as_listed(&map, f))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: its bytes are not those it had when it was written: run this shard "
                                          "again", from);
    else if (link(from, to))
        rc = copy(&map, to, err);
    attn_map_close(&map);
    return rc;
}

struct record { char *from, *to; };     /* a directory and what it becomes */

/* Is an attn_manifest_fn. */
static int take_file(void *self, const struct attn_manifest_file *f, struct attn_err *err)
{
    const struct record *r = self;
    char *from = NULL, *to = NULL;
    bool named = attn_asprintf(&from, "%s/%s", r->from, f->file) > 0 && attn_asprintf(&to, "%s/%s", r->to, f->file) > 0;
    int rc = named ? take(from, to, f, err) : attn_no_memory(err, r->from, "for the name of a file");
    if (named)
        free(to);
    free(from);
    return rc;
}

/* Whether something is there, except for an empty file, which was lost in a crash. */
static bool has_filled(const char *dir, const char *name)
{
    struct stat st;
    char *path;
    if (attn_asprintf(&path, "%s/%s", dir, name) < 0)
        return false;
    bool found = lstat(path, &st) == 0 && (st.st_size > 0 || !S_ISREG(st.st_mode));
    free(path);
    return found;
}

/* Takes the files that the manifest lists, or one of the files that need no manifest. */
static int take_files(struct record *r, struct attn_err *err)
{
    char name[ATTN_RECORD_FILE];
    const struct attn_format *f = NULL;
    if (has_filled(r->from, "manifest.json")) {
        int rc = attn_manifest_each(r->from, take_file, r, err);
        return rc ? rc : take_file(r, &(struct attn_manifest_file){.file = "manifest.json"}, err);
    }
    while ((f = attn_format_next(f)) && !(attn_record_file(name, f) && has_filled(r->from, name)))
        continue;
    if (!f)
        return attn_fail(err, ATTN_EFORMAT, "%s: does not have the files it had when it was written: run this shard "
                                            "again",
                         r->from);
    return take_file(r, &(struct attn_manifest_file){.file = name}, err);
}

/* Refuses a directory with anything that was not taken. */
static int check_all_taken(DIR *d, const struct record *r, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (struct dirent *e; !rc && (errno = 0, e = readdir(d));)
        if (!attn_folder_has(r->to, e->d_name))
            rc = attn_fail(err, ATTN_EFORMAT,
                           "%s/%s: is not among the files that batch wrote there: move it elsewhere, or run this shard "
                           "again", r->from, e->d_name);
    return !rc && errno ? attn_fail_errno(err, r->from, "read") : rc;
}

/* A record that failed has no directory. */
static int take_directory(struct record *r, uint64_t *found, struct attn_err *err)
{
    int fd = attn_disk_open(r->from, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return attn_fail(err, ATTN_EFORMAT, "%s: found a link or a file, expected the directory of a record", r->from);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    if (!d)
        return errno == ENOENT ? ATTN_OK : attn_fail_errno(err, r->from, "read");
    int rc = attn_disk_make(r->to) ? take_files(r, err) : attn_fail_errno(err, r->to, "create the directory");
    if (!rc)
        rc = check_all_taken(d, r, err);
    closedir(d);
    ++*found;
    return rc;
}

static int take_record(const struct attn_shard_file *p, const char *dir, uint64_t record, uint64_t *found,
                       struct attn_err *err)
{
    struct record r = {0};
    bool named = attn_asprintf(&r.from, "%s/%06" PRIu64, p->path, record) > 0 &&
                 attn_asprintf(&r.to, "%s/%06" PRIu64, dir, record) > 0;
    int rc = named ? take_directory(&r, found, err) : attn_no_memory(err, dir, "for the name of a record");
    if (named)
        free(r.to);
    free(r.from);
    return rc;
}

static int check_found(const struct attn_shard_file *p, uint64_t found, struct attn_err *err)
{
    uint64_t good = p->side.now.records - p->side.now.failed;
    return found == good ? ATTN_OK
                         : attn_fail(err, ATTN_EFORMAT,
                                     "%s: has the directories of %" PRIu64 " records, and had those of %" PRIu64
                                     " when it was finished: run this shard again", p->path, found, good);
}

int attn_merge_records(const struct attn_shard_files *p, const char *dir, struct attn_err *err)
{
    uint64_t *found = calloc(p->n + 1, sizeof *found);
    int rc = ATTN_OK;
    if (!found)
        return attn_no_memory(err, NULL, "for %zu counts", p->n);
    for (uint64_t record = 0; record < attn_shard_files_total(p) && !rc; record++) {
        size_t i = attn_shard_files_owner(p, record);
        rc = take_record(&p->shard[i], dir, record, &found[i], err);
    }
    for (size_t i = 0; i < p->n && !rc; i++)
        rc = check_found(&p->shard[i], found[i], err);
    free(found);
    return rc;
}
