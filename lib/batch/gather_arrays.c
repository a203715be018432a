/* gather_arrays.c - joins the stacks of several outputs: NAME.npy with a row for each record.
 *
 * A part whose records all failed has no arrays, because it never learned the length of the sentences: its rows are
 * NaN. */
#include "batch/gather.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/map.h"
#include "batch/batch.h"
#include "io/npy.h"
#include "sinks/npy.h"

struct rows { struct attn_map map; struct attn_array of; const unsigned char *data; uint64_t next; };   /* data NULL: rows of NaN */

static int open_rows(struct rows *r, const struct attn_shard_file *p, const char *name, struct attn_err *err)
{
    char *path;
    if (!p->side.tokens)
        return ATTN_OK;
    if (asprintf(&path, "%s/%s", p->path, name) < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of an array", p->path);
    int rc = attn_map_open_found(&r->map, path, SIZE_MAX, ATTN_LINKS_REFUSED, err);
    if (!rc)
        rc = attn_npy_view(&r->of, &r->data, r->map.data, r->map.len, path, err);
    if (!rc && (!r->of.ndim || r->of.shape[0] != p->side.now.records))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: does not have the %" PRIu64 " rows it had when it was finished: run this shard again", path,
                       p->side.now.records);
    free(path);
    return rc;
}

/* Checks that all have the same shape, except for the number of rows. */
static int agree(const struct rows *r, const struct attn_shard_files *p, const char *name, struct attn_array *like, struct attn_err *err)
{
    *like = (struct attn_array){0};
    for (size_t i = 0; i < p->n; i++) {
        if (r[i].data && !like->ndim)
            *like = r[i].of;
        if (r[i].data && (r[i].of.ndim != like->ndim ||
                          memcmp(r[i].of.shape + 1, like->shape + 1, ((size_t)like->ndim - 1) * sizeof *like->shape) != 0))
            return attn_fail(err, ATTN_EFORMAT, "%s/%s: its shape is not that of the other shards", p->part[i].path, name);
    }
    return ATTN_OK;
}

static void write_rows(struct rows *r, const struct attn_shard_files *p, const struct attn_array *like, struct attn_out *to)
{
    char header[ATTN_NPY_HEADER];
    size_t shape[ATTN_ARRAY_DIMS], bytes = sizeof(float);
    memcpy(shape, like->shape, sizeof shape);
    shape[0] = (size_t)attn_parts_total(p);
    for (int k = 1; k < like->ndim; k++)
        bytes *= shape[k];
    attn_npy_header(header, shape, like->ndim);
    attn_out_write(to, header, sizeof header);
    for (uint64_t record = 0; record < attn_parts_total(p) && !attn_out_failed(to); record++) {
        struct rows *from = &r[attn_parts_owner(p, record)];
        if (from->data)
            attn_out_write(to, from->data + from->next++ * bytes, bytes);
        else
            attn_stack_write_nan(to, bytes);
    }
}

static int write_array(struct rows *r, const struct attn_shard_files *p, const char *dir, const char *name, struct attn_err *err)
{
    struct attn_array like;
    struct attn_out *to;
    char *path;
    int rc = agree(r, p, name, &like, err);
    if (rc)
        return rc;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the name of an array", dir);
    rc = attn_out_open(&to, path, err);
    if (!rc) {
        write_rows(r, p, &like, to);
        rc = attn_out_commit(to, err);
        attn_out_close(to);
    }
    free(path);
    return rc;
}

static int gather(const struct attn_shard_files *p, const char *dir, const char *name, struct attn_err *err)
{
    struct rows *r = calloc(p->n + 1, sizeof *r);
    int rc = ATTN_OK;
    if (!r)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu arrays", p->n);
    for (size_t i = 0; i < p->n && !rc; i++)
        rc = open_rows(&r[i], &p->part[i], name, err);
    if (!rc)
        rc = write_array(r, p, dir, name, err);
    for (size_t i = 0; i < p->n; i++)
        attn_map_close(&r[i].map);
    free(r);
    return rc;
}

/* ---- all of them ----------------------------------------------------------------------- */

typedef int array_fn(const struct attn_shard_files *p, const char *dir, const char *name, struct attn_err *err);

/* Calls what(p, dir, NAME) for each NAME.npy of a part. */
static int for_arrays(const struct attn_shard_file *of, array_fn *what, const struct attn_shard_files *p, const char *dir, struct attn_err *err)
{
    static const char ending[] = ".npy";
    DIR *d = opendir(of->path);
    int rc = ATTN_OK;
    if (!d)
        return attn_fail_errno(err, of->path, "read");
    for (struct dirent *e; !rc && (errno = 0, e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n > strlen(ending) && !strcmp(e->d_name + n - strlen(ending), ending))
            rc = what(p, dir, e->d_name, err);
        errno = 0;
    }
    if (!rc && errno)
        rc = attn_fail_errno(err, of->path, "read");
    closedir(d);
    return rc;
}

/* Checks that an array of one part exists in all. */
static int check_all_have(const struct attn_shard_files *p, const char *dir, const char *name, struct attn_err *err)
{
    (void)dir;
    for (size_t i = 0; i < p->n; i++)
        if (p->part[i].side.tokens && !attn_folder_has(p->part[i].path, name))
            return attn_fail(err, ATTN_EFORMAT, "%s: has no %s, which other shards have: run this shard again", p->part[i].path, name);
    return ATTN_OK;
}

int attn_gather_arrays(const struct attn_shard_files *p, const char *dir, struct attn_err *err)
{
    const struct attn_shard_file *with = NULL;
    int rc = ATTN_OK;
    for (size_t i = 0; i < p->n && !rc; i++)
        if (p->part[i].side.tokens) {
            with = &p->part[i];
            rc = for_arrays(with, check_all_have, p, dir, err);
        }
    return rc || !with ? rc : for_arrays(with, gather, p, dir, err);
}
