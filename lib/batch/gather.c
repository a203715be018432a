#include "batch/gather.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/map.h"
#include "batch/place.h"
#include "sinks/manifest.h"

/* ---- one file, one directory ----------------------------------------------------------- */

static int copy_file(const char *from, const char *to, struct attn_err *err)
{
    struct attn_map map;
    struct attn_out *o;
    int rc = attn_map_open(&map, from, SIZE_MAX, err);
    if (rc)
        return rc;
    rc = attn_out_open(&o, to, err);
    if (!rc) {
        attn_out_write(o, map.data, map.len);
        rc = attn_out_commit(o, err);
        attn_out_close(o);
    }
    attn_map_close(&map);
    return rc;
}

static int take_file(const char *from, const char *to, const char *name, struct attn_err *err)
{
    char *source, *target;
    int n = asprintf(&source, "%s/%s", from, name);
    if (n < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a file", from);
    n = asprintf(&target, "%s/%s", to, name);
    int rc = n < 0 ? attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a file", to) : ATTN_OK;
    if (!rc && link(source, target))
        rc = copy_file(source, target, err);
    if (n >= 0)
        free(target);
    free(source);
    return rc;
}

static int take_files(DIR *d, const char *from, const char *to, struct attn_err *err)
{
    int rc = mkdir(to, 0777) ? attn_fail_errno(err, to, "create the directory") : ATTN_OK;
    for (struct dirent *e; !rc && (errno = 0, e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            rc = take_file(from, to, e->d_name, err);
    return !rc && errno ? attn_fail_errno(err, from, "read") : rc;
}

/* Whether a file is there and not empty: an empty one was lost in a crash. */
static bool has_filled(const char *dir, const char *name)
{
    struct stat st;
    char *path;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        return false;
    bool found = stat(path, &st) == 0 && st.st_size > 0;
    free(path);
    return found;
}

/* Checks that a record's directory is complete: the files its manifest lists, or one of the files that need no
 * manifest. */
static int check_directory(const char *dir, struct attn_err *err)
{
    const char *const *file = attn_place_files;
    if (has_filled(dir, "manifest.json"))
        return attn_manifest_check(dir, err);
    while (*file && !has_filled(dir, *file))
        file++;
    return *file ? ATTN_OK : attn_fail(err, ATTN_EFORMAT, "%s: does not have the files it had when it was written: run this shard again", dir);
}

/* A record that failed has no directory. */
static int take_directory(const char *from, const char *to, uint64_t *found, struct attn_err *err)
{
    DIR *d = opendir(from);
    if (!d)
        return errno == ENOENT ? ATTN_OK : attn_fail_errno(err, from, "read");
    int rc = check_directory(from, err);
    if (!rc)
        rc = take_files(d, from, to, err);
    closedir(d);
    ++*found;
    return rc;
}

/* ---- all of them ----------------------------------------------------------------------- */

static int take_record(const struct attn_part *p, const char *dir, uint64_t record, uint64_t *found, struct attn_err *err)
{
    char *from = NULL, *to = NULL;
    bool named = asprintf(&from, "%s/%06" PRIu64, p->path, record) > 0 && asprintf(&to, "%s/%06" PRIu64, dir, record) > 0;
    int rc = named ? take_directory(from, to, found, err) : attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of a record", dir);
    if (named)
        free(to);
    free(from);
    return rc;
}

static int check_found(const struct attn_part *p, uint64_t found, struct attn_err *err)
{
    uint64_t good = p->side.now.records - p->side.now.failed;
    return found == good ? ATTN_OK
                         : attn_fail(err, ATTN_EFORMAT, "%s: has the directories of %" PRIu64 " records, and had those of %" PRIu64
                                     " when it was finished: run this shard again", p->path, found, good);
}

int attn_gather_records(const struct attn_parts *p, const char *dir, struct attn_err *err)
{
    uint64_t *found = calloc(p->n + 1, sizeof *found);
    int rc = ATTN_OK;
    if (!found)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu counts", p->n);
    for (uint64_t record = 0; record < attn_parts_total(p) && !rc; record++) {
        size_t i = attn_parts_owner(p, record);
        rc = take_record(&p->part[i], dir, record, &found[i], err);
    }
    for (size_t i = 0; i < p->n && !rc; i++)
        rc = check_found(&p->part[i], found[i], err);
    free(found);
    return rc;
}
