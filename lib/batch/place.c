#include "batch/place.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* What lies directly in it, and itself; somebody's directory in it stays, and so does it. */
static void clear(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(path);
}

int attn_place_open(struct attn_place *p, const char *dir, uint64_t number, struct attn_err *err)
{
    *p = (struct attn_place){0};
    if (asprintf(&p->path, "%s/%06" PRIu64, dir, number) < 0)
        p->path = NULL;
    if (asprintf(&p->part, "%s/.%06" PRIu64 ".part", dir, number) < 0)
        p->part = NULL;
    if (!p->path || !p->part)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the path of record %" PRIu64, dir, number);
    if (mkdir(p->part, 0777) == 0)
        return ATTN_OK;
    clear(p->part);
    return mkdir(p->part, 0777) == 0 ? ATTN_OK : attn_fail_errno(err, p->part, "create the directory");
}

int attn_place_commit(struct attn_place *p, struct attn_err *err)
{
    int rc = rename(p->part, p->path);
    if (rc && (errno == ENOTEMPTY || errno == EEXIST)) {
        clear(p->path);
        rc = rename(p->part, p->path);
    }
    if (rc)
        return attn_fail_errno(err, p->path, "replace");
    free(p->part);
    p->part = NULL;
    return ATTN_OK;
}

void attn_place_close(struct attn_place *p)
{
    if (p->part)
        clear(p->part);
    free(p->part);
    free(p->path);
    *p = (struct attn_place){0};
}
