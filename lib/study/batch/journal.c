/* journal.c - records the progress of an output, so that no record is done twice and none is lost.
 *
 * OUT.part.json (sidecar.h) is kept beside the output while it grows and is rewritten after each pass, once the data
 * it describes has been written.  In the end it becomes OUT.json.  Outputs written in place, such as standard output,
 * have no journal.  The writer holds a lock on it, so that nobody else writes to the same output meanwhile. */
#include "batch/batch.h"

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
#include "base/format.h"
#include "base/map.h"

static bool there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* Whether it contains anything; an empty file was only created to be locked. */
static bool has_begun(const struct attn_journal *j)
{
    struct stat st;
    return stat(j->part_json, &st) == 0 && st.st_size > 0;
}

char *attn_part_found(const char *path)
{
    char *part;
    struct stat st;
    if (attn_asprintf(&part, "%s.part", path) < 0)
        return NULL;
    if (lstat(part, &st))
        part[strlen(path)] = '\0';
    return part;
}

bool attn_part_size(const char *path, uint64_t *bytes)
{
    char *part;
    struct stat st;
    if (attn_asprintf(&part, "%s.part", path) < 0)
        return false;
    bool found = stat(part, &st) == 0;
    *bytes = found ? (uint64_t)st.st_size : 0;
    free(part);
    return found;
}

bool attn_part_peek(const char *path, void *to, size_t n, uint64_t at)
{
    char *part;
    if (attn_asprintf(&part, "%s.part", path) < 0)
        return false;
    int fd = attn_disk_open(part, O_RDONLY | O_NONBLOCK, 0);        /* it may be a pipe that nobody writes to */
    bool read = fd >= 0 && pread(fd, to, n, (off_t)at) == (ssize_t)n;
    if (fd >= 0)
        close(fd);
    free(part);
    return read;
}

int attn_part_check(const char *path, bool renaming, const struct attn_written *w, struct attn_err *err)
{
    struct attn_sha256 sha;
    struct stat st;
    char *name = renaming ? attn_part_found(path) : strdup(path);
    if (!name)
        return attn_no_memory(err, path, "for its name");
    int rc = ATTN_OK;
    if (stat(name, &st))
        rc = attn_fail_errno(err, path, "open");
    else if (!S_ISREG(st.st_mode))
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: is no file, but it was when it was finished: start anew with --force", name);
    else if ((uint64_t)st.st_size != w->bytes)
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: has %" PRIu64 " bytes, and had %" PRIu64 " when it was finished: start anew with --force",
                       name, (uint64_t)st.st_size, w->bytes);
    else if (*w->sha256)
        rc = attn_written_check(&sha, name, w, err);
    free(name);
    return rc;
}

int attn_part_rename(const char *path, bool must, struct attn_err *err)
{
    char *part;
    if (attn_asprintf(&part, "%s.part", path) < 0)
        return attn_no_memory(err, path, "for its name");
    bool renamed = rename(part, path) == 0, before = !renamed && errno == ENOENT && (!must || there(path));
    int rc = renamed || before ? ATTN_OK : attn_fail_errno(err, path, "replace");
    free(part);
    return rc;
}

/* The reader of a sidecar that was cut short, as its first write may be, or changed, does not know the way out. */
static int with_way_out(int rc, const struct attn_err *why, struct attn_err *err)
{
    if (rc == ATTN_EFORMAT && !strstr(why->msg, "--force"))
        return attn_fail(err, rc, "%s: start anew with --force", why->msg);
    return attn_fail_as(err, why);
}

static int read_side(struct attn_sidecar *made, const char *path, struct attn_err *err)
{
    struct attn_err why = {0};
    return with_way_out(attn_sidecar_read(made, path, &why), &why, err);
}

/* Reads the sidecar at `path` and checks that it was made in the same way. */
static int take_over(struct attn_journal *j, const char *path, struct attn_err *err)
{
    struct attn_sidecar made;
    struct attn_err why = {0};
    int rc = read_side(&made, path, err);
    if (rc)
        return rc;
    rc = attn_sidecar_agree(&made, &j->side, path, err);
    if (!rc && made.complete)
        rc = with_way_out(attn_sidecar_check_finished(&made, path, &why), &why, err);
    if (!rc) {
        j->side.now = made.now;
        j->side.synced = made.synced;
        j->side.tokens = made.tokens;
        j->side.total = made.total;
        j->side.complete = made.complete;
    }
    attn_sidecar_free(&made);
    return rc;
}

static int refuse(const struct attn_journal *j, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s.part: an earlier run was not finished: continue it with --resume, or start "
                                        "anew with --force", j->path);
}

static int resume(struct attn_journal *j, enum attn_journal_state *state, struct attn_err *err)
{
    int rc = ATTN_OK;
    uint64_t bytes;
    if (has_begun(j)) {
        rc = take_over(j, j->part_json, err);
        *state = j->side.complete ? ATTN_JOURNAL_ENDING : ATTN_JOURNAL_CONTINUED;
    } else if (attn_part_size(j->path, &bytes)) {
        rc = attn_fail(err, ATTN_EFORMAT, "%s.part: nothing beside it tells how it was made (%s): start anew with "
                                          "--force",
                       j->path, j->part_json);
    } else if (there(j->json) && there(j->path)) {
        rc = take_over(j, j->json, err);
        *state = ATTN_JOURNAL_COMPLETE;
    }
    return rc;
}

/* Refuses to replace a finished output, which may have taken days.  One of another share of the input says so: a
 * cluster task was restarted alone, without knowing about the others. */
static int check_replaced(const struct attn_journal *j, struct attn_err *err)
{
    struct attn_sidecar made;
    if (!there(j->json))
        return ATTN_OK;
    int rc = read_side(&made, j->json, err);
    if (rc)
        return rc;
    if (made.shard.count != j->side.shard.count)
        rc = attn_sidecar_agree(&made, &j->side, j->json, err);
    attn_sidecar_free(&made);
    if (!rc && there(j->path))
        rc = attn_fail(err, ATTN_EUSAGE, "%s: was finished before: --force makes it again, --resume leaves what is "
                       "done", j->path);
    return rc;
}

/* Locks the file for this process, creating an empty one if needed: so of two that start at once only one goes on. */
static int take(struct attn_journal *j, struct attn_err *err)
{
    j->fd = attn_disk_take(j->part_json, 0666);
    return j->fd >= 0 ? ATTN_OK : attn_disk_not_taken(err, j->path, ".part.json", "create");
}

int attn_journal_open(struct attn_journal *j, const char *path, bool resuming, bool force,
                      enum attn_journal_state *state, struct attn_err *err)
{
    uint64_t bytes;
    *state = ATTN_JOURNAL_NEW;
    j->fd = -1;
    if (!path)
        return resuming ? attn_fail(err, ATTN_EUSAGE,
                                    "--resume continues a file, but the output goes to standard output or "
                                    "a device: give a file with -o") : ATTN_OK;
    j->path = strdup(path);
    if (attn_asprintf(&j->part_json, "%s.part.json", path) < 0)
        j->part_json = NULL;
    if (attn_asprintf(&j->json, "%s.json", path) < 0)
        j->json = NULL;
    if (!j->path || !j->part_json || !j->json)
        return attn_no_memory(err, path, "for its name");
    int rc = attn_map_check_found(j->json, ATTN_LINKS_REFUSED, err);        /* it will be replaced */
    if (!rc)
        rc = attn_map_check_found(j->part_json, ATTN_LINKS_REFUSED, err);
    if (rc)
        return rc;
    if (resuming && !has_begun(j) && !attn_part_size(path, &bytes) && there(j->json) && there(path))
        return resume(j, state, err);   /* nothing needs to be written, and the directory may be read-only */
    rc = take(j, err);
    if (rc || force)
        return rc;
    if (resuming && (rc = resume(j, state, err)))
        return rc;
    if (resuming)
        return *state == ATTN_JOURNAL_NEW ? check_replaced(j, err) : ATTN_OK;
    return has_begun(j) || attn_part_size(path, &bytes) ? refuse(j, err) : check_replaced(j, err);
}

int attn_journal_start(struct attn_journal *j, struct attn_err *err)
{
    if (!j->path)
        return ATTN_OK;
    j->begun = true;
    return attn_sidecar_begin(&j->side, j->fd, j->part_json, err);
}

int attn_journal_note(struct attn_journal *j, bool disk, struct attn_err *err)
{
    if (disk)
        j->side.synced = j->side.now;
    if (!j->path)
        return ATTN_OK;
    int rc = attn_sidecar_update(&j->side, j->fd, j->part_json, err);
    if (!rc && disk && !attn_disk_sync(j->fd))
        rc = attn_fail_errno(err, j->part_json, "write");
    return rc;
}

int attn_journal_finish(struct attn_journal *j, struct attn_err *err)
{
    if (!j->path)
        return ATTN_OK;
    int rc = attn_sidecar_write(&j->side, j->json, err);
    if (!rc && unlink(j->part_json))
        rc = attn_fail_errno(err, j->part_json, "remove");
    return rc;
}

void attn_journal_close(struct attn_journal *j)
{
    if (j->fd >= 0) {
        if (!j->begun && !has_begun(j))
            unlink(j->part_json);       /* it was only created to be locked */
        close(j->fd);
    }
    free(j->path);
    free(j->part_json);
    free(j->json);
    attn_sidecar_free(&j->side);
}
