/* stack.c - the sentences of a batch as one array for each name: DIR/blocks.0.attn.pattern.npy, [records, kept heads,
 * T, n] or [records, T, n].
 *
 * All sentences are as long as the first.  Row i is record i of the output; a failed record is NaN.  The number of rows
 * is written into the headers at the end.  Files grow as NAME.npy.part and are renamed when all is done. */
#include "batch/batch.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/format.h"
#include "base/map.h"
#include "sinks/sink_npy.h"
#include "trace/slice.h"

struct array { int act, layer; struct attn_out *out; };

struct attn_stack {
    const struct attn_info *info;
    const struct attn_select *select;
    char *dir;
    struct array *file; size_t n;
    size_t *index;                      /* [slots] index in file, from 1; 0: none */
    size_t T;
    uint64_t rows;
};

/* The shape of an array without its first axis, the records: [kept heads, T, n] or [T, n]. */
static int shape_of(const struct attn_stack *s, const struct array *f, size_t shape[3])
{
    size_t heads;
    int n = attn_act_shape(shape, s->info, f->act, s->T, s->T);
    attn_select_heads(s->select, f->act, f->layer, &heads);
    if (heads)
        shape[0] = heads;
    return n;
}

static size_t row_bytes(const struct attn_stack *s, const struct array *f)
{
    size_t shape[3], bytes = sizeof(float);
    int n = shape_of(s, f, shape);
    for (int i = 0; i < n; i++)
        bytes *= shape[i];
    return bytes;
}

static void put_header(const struct attn_stack *s, const struct array *f, char header[ATTN_NPY_HEADER])
{
    size_t shape[4] = {(size_t)s->rows};
    int n = shape_of(s, f, shape + 1);
    attn_npy_header(header, shape, n + 1);
}

static char *path_of(const struct attn_stack *s, const struct array *f)
{
    char name[ATTN_NAME_MAX], *path;
    attn_act_name(name, f->act, f->layer);
    return attn_asprintf(&path, "%s/%s.npy", s->dir, name) < 0 ? NULL : path;
}

/* Bytes of an array so far; more than any file has if the number of its rows cannot be right. */
static uint64_t length(const struct attn_stack *s, const struct array *f)
{
    uint64_t bytes;
    bool fits = !__builtin_mul_overflow(s->rows, (uint64_t)row_bytes(s, f), &bytes) &&
                !__builtin_add_overflow(bytes, (uint64_t)ATTN_NPY_HEADER, &bytes);
    return fits ? bytes : UINT64_MAX;
}

/* What a header says of all axes but the first, the records. */
static const char *axes_in(const char header[ATTN_NPY_HEADER + 1])
{
    enum { TEXT = 10 };                 /* where it begins */
    const char *shape = strstr(header + TEXT, "'shape': ("), *axes = shape ? strchr(shape, ',') : NULL;
    return axes ? axes : "";
}

/* Checks that an array that was begun has rows of this shape.  Cutting it refuses one that is missing or too short. */
static int check_shape(const struct attn_stack *s, const struct array *f, const char *path, struct attn_err *err)
{
    char want[ATTN_NPY_HEADER + 1] = "", got[ATTN_NPY_HEADER + 1] = "";
    put_header(s, f, want);
    size_t n = strcspn(axes_in(want), ")") + 1;
    if (!attn_part_peek(path, got, ATTN_NPY_HEADER, 0) || !strncmp(axes_in(want), axes_in(got), n))
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s.part: its rows are not those of sentences of %zu tokens, as the journal "
                                        "says: one of them was changed; start anew with --force", path, s->T);
}

void attn_stack_hash_name(struct attn_sha256 *sha, const char *name, size_t len)
{
    attn_sha256_start(sha);
    attn_sha256_add(sha, name, len);
    attn_sha256_add(sha, " ", 1);
}

/* Hashes the rows of an array at `path` or PATH.part, up to byte `to`. */
static int hash_rows(struct attn_sha256 *sha, const struct array *f, const char *path, uint64_t to,
                     struct attn_err *err)
{
    char name[ATTN_NAME_MAX], *found = attn_part_found(path);
    if (!found)
        return attn_no_memory(err, path, "for its name");
    attn_act_name(name, f->act, f->layer);
    attn_stack_hash_name(sha, name, strlen(name));
    int rc = attn_written_hash(sha, found, ATTN_NPY_HEADER, to, false, err);
    free(found);
    return rc;
}

static int check_sum(const struct attn_stack *s, const char *found, const char *sum, struct attn_err *err)
{
    return !*sum || !strcmp(found, sum) ? ATTN_OK
           : attn_fail(err, ATTN_EFORMAT, "%s: the rows of its arrays are not as they were written: start anew with "
                                          "--force", s->dir);
}

void attn_stack_sum(const struct attn_stack *s, char sum[65])
{
    char hex[65];
    attn_sums_start(sum);
    for (size_t i = 0; s->T && i < s->n; i++) {
        attn_out_digest_so_far(s->file[i].out, hex);
        attn_sums_add(sum, hex);
    }
}

static int open_file(struct attn_stack *s, struct array *f, bool there, struct attn_err *err)
{
    char *path = path_of(s, f), header[ATTN_NPY_HEADER];
    struct attn_sha256 sha;
    if (!path)
        return attn_no_memory(err, s->dir, "for the path of a file");
    uint64_t keep = there ? length(s, f) : 0;
    int rc = attn_map_check_found(path, ATTN_LINKS_REFUSED, err);
    if (!rc && there)
        rc = check_shape(s, f, path, err);
    if (!rc)
        rc = attn_out_open_growing(&f->out, path, keep, err);
    if (!rc && !there) {
        put_header(s, f, header);
        attn_out_write(f->out, header, sizeof header);
    }
    if (!rc)
        rc = hash_rows(&sha, f, path, there ? keep : ATTN_NPY_HEADER, err);
    if (!rc)
        attn_out_hash_on(f->out, &sha);
    free(path);
    return rc;
}

static void list(struct attn_stack *s)
{
    for (int layer = -1; layer < (int)s->info->L; layer++)
        for (int act = 0; act < ATTN_ACTS; act++)
            if (attn_act_per_layer(act) == (layer >= 0) && attn_select_wants(s->select, act, layer)) {
                s->file[s->n] = (struct array){.act = act, .layer = layer};
                s->index[attn_act_slot(act, layer)] = ++s->n;
            }
}

int attn_stack_new(struct attn_stack **out, const struct attn_info *info, const struct attn_select *select,
                   const char *dir, struct attn_err *err)
{
    struct attn_stack *s = *out = calloc(1, sizeof *s);
    size_t n = attn_select_activations(select);
    if (s) {
        *s = (struct attn_stack){.info = info, .select = select, .dir = strdup(dir)};
        s->file = calloc(n + 1, sizeof *s->file);
        s->index = calloc(attn_act_slots(info->L), sizeof *s->index);
        if (s->dir && s->file && s->index) {
            list(s);
            return ATTN_OK;
        }
    }
    attn_stack_free(s);
    *out = NULL;
    return attn_no_memory(err, NULL, "for a stack of %zu arrays", n);
}

static int check_tokens(const struct attn_stack *s, size_t T, struct attn_err *err)
{
    return T <= s->info->n_ctx ? ATTN_OK
           : attn_fail(err, ATTN_EFORMAT, "%s: its sentences are said to have %zu tokens, but the model takes %zu at "
                                          "most: start anew with --force", s->dir, T, s->info->n_ctx);
}

static int check_array(const struct attn_stack *s, const struct array *f, char sum[65], struct attn_err *err)
{
    char *path = path_of(s, f), hex[65];
    struct attn_sha256 sha;
    if (!path)
        return attn_no_memory(err, s->dir, "for the path of a file");
    int rc = attn_part_check(path, true, &(struct attn_written){.bytes = length(s, f)}, err);
    if (!rc)
        rc = hash_rows(&sha, f, path, length(s, f), err);
    free(path);
    if (rc)
        return rc;
    attn_sha256_end(&sha, hex);
    attn_sums_add(sum, hex);
    return ATTN_OK;
}

int attn_stack_check_end(struct attn_stack *s, size_t T, uint64_t rows, const char *sum, struct attn_err *err)
{
    char found[65];
    int rc = check_tokens(s, T, err);
    s->T = T;
    s->rows = rows;
    attn_sums_start(found);
    for (size_t i = 0; i < s->n && T && !rc; i++)
        rc = check_array(s, &s->file[i], found, err);
    return rc ? rc : check_sum(s, found, sum, err);
}

int attn_stack_continue(struct attn_stack *s, size_t T, uint64_t rows, const char *sum, struct attn_err *err)
{
    char found[65];
    int rc = check_tokens(s, T, err);
    s->T = T;
    s->rows = rows;
    for (size_t i = 0; !rc && T && i < s->n; i++)
        rc = open_file(s, &s->file[i], true, err);
    if (rc)
        return rc;
    attn_stack_sum(s, found);
    return check_sum(s, found, sum, err);
}

void attn_stack_free(struct attn_stack *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->file && i < s->n; i++)
        attn_out_close(s->file[i].out);
    free(s->file);
    free(s->index);
    free(s->dir);
    free(s);
}

size_t attn_stack_tokens(const struct attn_stack *s)
{
    return s->T;
}

void attn_stack_write_nan(struct attn_out *o, size_t bytes)
{
    float nans[256];
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
        nans[i] = NAN;
    for (size_t n; bytes > 0 && !attn_out_failed(o); bytes -= n) {
        n = bytes < sizeof nans ? bytes : sizeof nans;
        attn_out_write(o, nans, n);
    }
}

int attn_stack_set_tokens(struct attn_stack *s, size_t T, struct attn_err *err)
{
    int rc = ATTN_OK;
    s->T = T;
    for (size_t i = 0; i < s->n && !rc; i++) {
        rc = open_file(s, &s->file[i], false, err);
        for (uint64_t row = 0; !rc && row < s->rows; row++)
            attn_stack_write_nan(s->file[i].out, row_bytes(s, &s->file[i]));
    }
    return rc;
}

static unsigned wants(void *self, int act, int layer)
{
    return attn_slice_wants(((struct attn_stack *)self)->select, act, layer, false);
}

static int watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    (void)err;                          /* outputs keep their errors */
    const struct attn_stack *s = self;
    struct attn_slice p;
    for (size_t at = 0; attn_slice_next(&p, s->select, probe, &at);) {
        struct attn_out *o = s->file[s->index[attn_act_slot(probe->act, probe->layer)] - 1].out;
        size_t together = attn_slice_together(&p);
        for (size_t i = 0; i < p.rows; i += together)
            attn_out_write(o, attn_slice_row(&p, i), together * p.cols * sizeof(float));
    }
    return ATTN_OK;
}

struct attn_observer attn_stack_observer(struct attn_stack *s)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = s};
}

void attn_stack_end_row(struct attn_stack *s, bool failed)
{
    for (size_t i = 0; failed && s->T && i < s->n; i++)
        attn_stack_write_nan(s->file[i].out, row_bytes(s, &s->file[i]));
    s->rows++;
}

/* Whether a file is called like an array and ends like this; *own: like one of this stack, unless that is NULL. */
static bool is_array(const struct attn_stack *s, const char *file, const char *ending, bool *own)
{
    char name[ATTN_NAME_MAX];
    size_t n = strlen(file), end = strlen(ending);
    int layer = -1, act = -1;
    if (n > end && n - end < sizeof name && !strcmp(file + n - end, ending)) {
        snprintf(name, sizeof name, "%.*s", (int)(n - end), file);
        act = attn_act_find(name, &layer);
    }
    *own = s && act >= 0 && layer < (int)s->info->L && s->index[attn_act_slot(act, layer)];
    return act >= 0;
}

/* Removes the arrays with this ending from the directory, but for those of the stack `keep` or NULL. */
static int clear(const char *dir, const char *ending, const struct attn_stack *keep, struct attn_err *err)
{
    int rc = ATTN_OK;
    bool own;
    DIR *d = opendir(dir);
    if (!d)
        return attn_fail_errno(err, dir, "read");
    for (struct dirent *e; !rc && (errno = 0, e = readdir(d));)
        if (is_array(keep, e->d_name, ending, &own) && !own && unlinkat(dirfd(d), e->d_name, 0))
            rc = attn_fail(err, ATTN_EIO, "%s/%s: cannot remove: %s", dir, e->d_name, strerror(errno));
    closedir(d);
    return rc;
}

int attn_stack_clear_begun(const struct attn_stack *s, struct attn_err *err)
{
    return clear(s->dir, ".npy.part", NULL, err);
}

int attn_stack_clear_others(const char *dir, const struct attn_stack *s, struct attn_err *err)
{
    return clear(dir, ".npy", s, err);
}

int attn_stack_flush(struct attn_stack *s, bool disk, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; s->T && i < s->n && !rc; i++)
        rc = attn_out_flush(s->file[i].out, disk, err);
    return rc;
}

void attn_stack_finish(struct attn_stack *s)
{
    char header[ATTN_NPY_HEADER];
    for (size_t i = 0; s->T && i < s->n; i++) {
        put_header(s, &s->file[i], header);
        attn_out_flush(s->file[i].out, false, NULL);
        attn_out_patch(s->file[i].out, header, sizeof header, 0);
    }
}

int attn_stack_rename(const struct attn_stack *s, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < s->n && !rc; i++) {
        char *path = path_of(s, &s->file[i]);
        rc = path ? attn_part_rename(path, false, err) : attn_no_memory(err, s->dir, "for the path of a file");
        free(path);
    }
    return rc;
}
