/* merge_rows.c - joins what has rows for each record: lines, tables, stacks.  Records come in their order, each from
 * the shard that has it. */
#include "batch/merge.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "batch/batch.h"
#include "io/fields.h"
#include "io/npy.h"
#include "sinks/sink_npy.h"

/* ---- lines ----------------------------------------------------------------------------- */

/* One of the files; it has been examined up to `at` and written up to `done`.  next: the record that the row there
 * belongs to, in a table; NO_RECORD: there is none. */
struct source {
    struct attn_map map;
    const char *at, *done, *end;
    const char *path;
    uint64_t next;
    struct attn_sha256 sha;             /* of all up to `done` */
};
#define NO_RECORD UINT64_MAX

static int refuse(const struct source *s, const char *what, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: %s, so that it is not what batch wrote: run this shard again", s->path, what);
}

/* JSON has no NUL, so that a hole in a file, which may be larger than any disk, is not read to its end. */
static const char *line_end(const char *s, const char *end)
{
    enum { SOME = 1 << 16 };
    while (s < end) {
        size_t n = (size_t)(end - s) < SOME ? (size_t)(end - s) : SOME;
        const char *found = memchr(s, '\n', n);
        if (found)
            return found + 1;
        if (memchr(s, '\0', n))
            break;
        s += n;
    }
    return NULL;
}

static const char *row_end(const char *s, const char *end)
{
    struct attn_row_end row = {0};
    uint64_t lines = 0;
    size_t n = attn_row_end_find(&row, s, (size_t)(end - s), ',', &lines);
    return n == SIZE_MAX ? NULL : s + n;
}

static uint64_t record_of_row(const struct source *s)
{
    uint64_t n = 0;
    const char *p = s->at;
    bool fits = true;
    for (; fits && p < s->end && *p >= '0' && *p <= '9'; p++)
        fits = !__builtin_mul_overflow(n, (uint64_t)10, &n) && !__builtin_add_overflow(n, (uint64_t)(*p - '0'), &n);
    return fits && p > s->at && p < s->end && *p == ',' ? n : NO_RECORD;
}

static int pass_record(struct source *s, bool table, uint64_t record, struct attn_err *err)
{
    while (!table || s->next == record) {
        const char *end = table ? row_end(s->at, s->end) : line_end(s->at, s->end);
        if (!end)
            return refuse(s, "a record is missing at its end", err);
        s->at = end;
        if (!table)
            break;
        s->next = record_of_row(s);
    }
    return ATTN_OK;
}

static void pass(struct source *s)
{
    attn_sha256_add(&s->sha, s->done, (size_t)(s->at - s->done));
    s->done = s->at;
}

static void flush(struct source *s, struct attn_out *to)
{
    attn_out_write(to, s->done, (size_t)(s->at - s->done));
    pass(s);
}

static int open_source(struct source *s, const struct attn_joined *file, struct attn_err *err)
{
    s->path = file->path;
    int rc = attn_map_open_found(&s->map, s->path, SIZE_MAX, file->links, err);
    if (rc)
        return rc;
    s->at = s->done = (const char *)s->map.data;
    s->end = s->at + s->map.len;
    attn_sha256_start(&s->sha);
    return s->map.len == file->as->bytes
               ? ATTN_OK
               : attn_fail(err, ATTN_EFORMAT,
                           "%s: has %zu bytes, and had %" PRIu64 " when it was finished: run this shard again",
                           s->path, s->map.len, file->as->bytes);
}

/* Skips the header of all files, which must be the same; writes that of the first. */
static int pass_headers(struct source *s, size_t n, struct attn_out *to, struct attn_err *err)
{
    const char *first = s[0].at, *end = row_end(first, s[0].end);
    size_t len = end ? (size_t)(end - first) : 0;
    for (size_t i = 0; i < n; i++) {
        if (!end || (size_t)(s[i].end - s[i].at) < len || memcmp(s[i].at, first, len) != 0)
            return refuse(&s[i], "its first row is not that of the others", err);
        s[i].at += len;
        if (i == 0)
            flush(s, to);
        pass(&s[i]);
        s[i].next = record_of_row(&s[i]);
    }
    return ATTN_OK;
}

/* The next record with a row in any of the files: the number of records is only what a sidecar says. */
static uint64_t record_after(uint64_t record, const struct attn_shard_files *shards, const struct source *s)
{
    uint64_t next = record + 1, found = NO_RECORD;
    if (next >= attn_shard_files_total(shards) || s[attn_shard_files_owner(shards, next)].next == next)
        return next;
    for (size_t i = 0; i < shards->n; i++)
        found = s[i].next > record && s[i].next < found ? s[i].next : found;
    return found;
}

static int join_lines(struct attn_out *to, const struct attn_shard_files *shards, struct source *s, bool table,
                      struct attn_err *err)
{
    size_t last = 0;
    int rc = table ? pass_headers(s, shards->n, to, err) : ATTN_OK;
    for (uint64_t record = 0; record < attn_shard_files_total(shards) && !rc && !attn_out_failed(to);) {
        size_t owner = attn_shard_files_owner(shards, record);
        if (owner != last)
            flush(&s[last], to);
        rc = pass_record(&s[owner], table, record, err);
        last = owner;
        record = table ? record_after(record, shards, s) : record + 1;
    }
    flush(&s[last], to);
    for (size_t i = 0; i < shards->n && !rc && !attn_out_failed(to); i++)
        if (s[i].at != s[i].end)
            rc = refuse(&s[i], "more than its records is there", err);
    return rc;
}

static int check_sums(struct source *s, size_t n, const struct attn_joined *file, struct attn_err *err)
{
    char hex[65];
    for (size_t i = 0; i < n; i++) {
        attn_sha256_end(&s[i].sha, hex);
        if (*file[i].as->sha256 && strcmp(hex, file[i].as->sha256) != 0)
            return refuse(&s[i], "its bytes are not those it had when it was finished", err);
    }
    return ATTN_OK;
}

int attn_merge_lines(struct attn_out *to, const struct attn_shard_files *shards, const struct attn_joined *file,
                     bool table, struct attn_err *err)
{
    struct source *s = calloc(shards->n + 1, sizeof *s);
    int rc = ATTN_OK;
    if (!s)
        return attn_no_memory(err, NULL, "for %zu files", shards->n);
    for (size_t i = 0; i < shards->n && !rc; i++)
        rc = open_source(&s[i], &file[i], err);
    if (!rc)
        rc = join_lines(to, shards, s, table, err);
    if (!rc && !attn_out_failed(to))
        rc = check_sums(s, shards->n, file, err);
    for (size_t i = 0; i < shards->n; i++)
        attn_map_close(&s[i].map);
    free(s);
    return rc;
}

/* ---- stacks ---------------------------------------------------------------------------- */

/* The rows of one shard.  If all its records failed it has no arrays, as it never learned the length of the sentences:
 * then data is NULL, and its rows are NaN. */
struct rows { struct attn_map map; struct attn_array of; const unsigned char *data; uint64_t next; };

/* The arrays of all shards, the directory they are joined in, and what the rows come to: of all, and of each shard. */
struct arrays { const struct attn_shard_files *p; const char *dir; char *sum, (*of_shard)[65]; };

static void add_rows(char sum[65], const char *name, const struct rows *r)
{
    struct attn_sha256 sha;
    char hex[65];
    attn_stack_hash_name(&sha, name, strlen(name) - strlen(".npy"));
    attn_sha256_add(&sha, r->data, r->of.n * sizeof(float));
    attn_sha256_end(&sha, hex);
    attn_sums_add(sum, hex);
}

static int open_rows(struct rows *r, const struct attn_shard_file *p, const char *name, struct attn_err *err)
{
    char *path;
    if (!p->side.tokens)
        return ATTN_OK;
    if (attn_asprintf(&path, "%s/%s", p->path, name) < 0)
        return attn_no_memory(err, p->path, "for the name of an array");
    int rc = attn_map_open_found(&r->map, path, SIZE_MAX, ATTN_LINKS_REFUSED, err);
    if (!rc)
        rc = attn_npy_view(&r->of, &r->data, r->map.data, r->map.len, path, err);
    if (!rc && (!r->of.ndim || r->of.shape[0] != p->side.now.records))
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: does not have the %" PRIu64 " rows it had when it was finished: run this "
                       "shard again", path, p->side.now.records);
    if (!rc && (r->of.ndim > 4 || r->of.n == 0))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: has %d axes and %zu numbers, which no array of a stack has: run this "
                                          "shard again", path,
                       r->of.ndim, r->of.n);
    if (!rc && (r->of.ndim < 3 || r->of.shape[r->of.ndim - 2] != p->side.tokens))
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: its sentences do not have the %" PRIu64 " tokens they had when it was finished: run this "
                       "shard again", path, p->side.tokens);
    free(path);
    return rc;
}

/* Checks that all have the same shape, except for the number of rows. */
static int agree(const struct rows *r, const struct attn_shard_files *p, const char *name, struct attn_array *like,
                 struct attn_err *err)
{
    *like = (struct attn_array){0};
    for (size_t i = 0; i < p->n; i++) {
        if (r[i].data && !like->ndim)
            *like = r[i].of;
        if (r[i].data && (r[i].of.ndim != like->ndim ||
                          memcmp(r[i].of.shape + 1, like->shape + 1,
                                 ((size_t)like->ndim - 1) * sizeof *like->shape) != 0))
            return attn_fail(err, ATTN_EFORMAT,
                             "%s/%s: its shape is not that of the other shards", p->shard[i].path, name);
    }
    return ATTN_OK;
}

static void write_rows(struct rows *r, const struct attn_shard_files *p, const struct attn_array *like,
                       struct attn_out *to, const struct attn_sha256 *name)
{
    char header[ATTN_NPY_HEADER];
    size_t shape[ATTN_ARRAY_DIMS], bytes = sizeof(float);
    memcpy(shape, like->shape, sizeof shape);
    shape[0] = (size_t)attn_shard_files_total(p);
    for (int k = 1; k < like->ndim; k++)
        bytes *= shape[k];
    attn_npy_header(header, shape, like->ndim);
    attn_out_write(to, header, sizeof header);
    attn_out_hash_on(to, name);
    for (uint64_t record = 0; record < attn_shard_files_total(p) && !attn_out_failed(to); record++) {
        struct rows *from = &r[attn_shard_files_owner(p, record)];
        if (from->data)
            attn_out_write(to, from->data + from->next++ * bytes, bytes);
        else
            attn_stack_write_nan(to, bytes);
    }
}

static int write_array(struct rows *r, const struct arrays *a, const char *name, struct attn_err *err)
{
    struct attn_array like;
    struct attn_sha256 sha;
    struct attn_out *to;
    char *path, hex[65];
    int rc = agree(r, a->p, name, &like, err);
    if (rc)
        return rc;
    if (attn_asprintf(&path, "%s/%s", a->dir, name) < 0)
        return attn_no_memory(err, a->dir, "for the name of an array");
    rc = attn_out_open(&to, path, err);
    if (!rc) {
        attn_stack_hash_name(&sha, name, strlen(name) - strlen(".npy"));
        write_rows(r, a->p, &like, to, &sha);
        attn_out_digest_so_far(to, hex);
        attn_sums_add(a->sum, hex);
        rc = attn_out_end(to, ATTN_OK, err);
    }
    free(path);
    return rc;
}

static int join_array(const struct arrays *a, const char *name, struct attn_err *err)
{
    const struct attn_shard_files *p = a->p;
    struct rows *r = calloc(p->n + 1, sizeof *r);
    int rc = ATTN_OK;
    if (!r)
        return attn_no_memory(err, NULL, "for %zu arrays", p->n);
    for (size_t i = 0; i < p->n && !rc; i++)
        rc = open_rows(&r[i], &p->shard[i], name, err);
    if (!rc)
        rc = write_array(r, a, name, err);
    for (size_t i = 0; i < p->n && !rc; i++)
        if (r[i].data)
            add_rows(a->of_shard[i], name, &r[i]);
    for (size_t i = 0; i < p->n; i++)
        attn_map_close(&r[i].map);
    free(r);
    return rc;
}

typedef int array_fn(const struct arrays *a, const char *name, struct attn_err *err);

/* Calls what(a, NAME) for each NAME.npy of a shard. */
static int for_arrays(const struct attn_shard_file *of, array_fn *what, const struct arrays *a, struct attn_err *err)
{
    static const char ending[] = ".npy";
    DIR *d = opendir(of->path);
    int rc = ATTN_OK;
    if (!d)
        return attn_fail_errno(err, of->path, "read");
    for (struct dirent *e; !rc && (errno = 0, e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n > strlen(ending) && !strcmp(e->d_name + n - strlen(ending), ending))
            rc = what(a, e->d_name, err);
        errno = 0;
    }
    if (!rc && errno)
        rc = attn_fail_errno(err, of->path, "read");
    closedir(d);
    return rc;
}

/* Checks that an array of one shard exists in all. */
static int check_all_have(const struct arrays *a, const char *name, struct attn_err *err)
{
    for (size_t i = 0; i < a->p->n; i++) {
        const struct attn_shard_file *p = &a->p->shard[i];
        if (p->side.tokens && !attn_folder_has(p->path, name))
            return attn_fail(err, ATTN_EFORMAT, "%s: has no %s, which other shards have: run this shard again",
                             p->path, name);
    }
    return ATTN_OK;
}

static int check_rows(const struct arrays *a, struct attn_err *err)
{
    for (size_t i = 0; i < a->p->n; i++) {
        const struct attn_shard_file *p = &a->p->shard[i];
        if (p->side.tokens && *p->side.now.arrays && strcmp(a->of_shard[i], p->side.now.arrays) != 0)
            return attn_fail(err, ATTN_EFORMAT, "%s: the rows of its arrays are not those it had when it was finished: "
                                                "run this shard again", p->path);
    }
    return ATTN_OK;
}

static int join_arrays(const struct arrays *a, struct attn_err *err)
{
    const struct attn_shard_file *with = NULL;
    int rc = ATTN_OK;
    for (size_t i = 0; i < a->p->n && !rc; i++) {
        attn_sums_start(a->of_shard[i]);
        if (a->p->shard[i].side.tokens) {
            with = &a->p->shard[i];
            rc = for_arrays(with, check_all_have, a, err);
        }
    }
    if (!rc && with)
        rc = for_arrays(with, join_array, a, err);
    return rc ? rc : check_rows(a, err);
}

int attn_merge_arrays(const struct attn_shard_files *p, const char *dir, char sum[65], struct attn_err *err)
{
    struct arrays a = {p, dir, sum, calloc(p->n + 1, sizeof *a.of_shard)};
    attn_sums_start(sum);
    int rc = a.of_shard ? join_arrays(&a, err) : attn_no_memory(err, NULL, "for the sums of %zu shards", p->n);
    free(a.of_shard);
    return rc;
}
