/* merge_shards.c - outputs of `batch` that are the shards of one, in order.
 *
 * Each is finished, all were made by the same command from an input with the same number of records, each shard is
 * there exactly once and has as many records as it should: joined, they are what one process would have written. */
#include "attn_tools.h"
#include "batch/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/format.h"
#include "base/share.h"
#include "base/target.h"

/* ---- one of them ----------------------------------------------------------------------- */

/* Refuses an output that is not known to be finished. */
static int refuse_unfinished(const char *path, struct attn_err *err)
{
    struct attn_sidecar side;
    char *beside;
    if (attn_asprintf(&beside, "%s.part.json", path) < 0)
        return attn_no_memory(err, path, "for its name");
    bool begun = attn_sidecar_read(&side, beside, NULL) == ATTN_OK;
    free(beside);
    struct stat st;
    if (!begun && lstat(path, &st))
        return attn_fail_errno(err, path, "open");
    if (!begun)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: there is no %s.json beside it: is it the output of batch?", path, path);
    int rc = attn_fail(err, ATTN_EFORMAT,
                       "%s: shard %" PRIu64 "/%" PRIu64 " is not finished, %" PRIu64 " of its records "
                       "are done: continue it with --resume", path, side.shard.index, side.shard.count,
                       side.now.records);
    attn_sidecar_free(&side);
    return rc;
}

static int check_shard(const struct attn_sidecar *s, const char *beside, struct attn_err *err)
{
    int rc = attn_sidecar_check_finished(s, beside, err);
    if (!rc && s->now.records > s->now.stream.bytes)    /* each takes a line */
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: says that %" PRIu64 " records are in %" PRIu64 " bytes: it was changed; "
                         "run this shard again", beside, s->now.records, s->now.stream.bytes);
    return rc;
}

static int read_shard(struct attn_shard_file *p, const char *path, struct attn_err *err)
{
    char *real = attn_target_follow(path), *beside = NULL;
    p->path = path;
    int n = real ? attn_asprintf(&beside, "%s.json", real) : -1;
    free(real);
    if (n < 0)
        return attn_no_memory(err, path, "for its name");
    struct stat st;
    int rc = lstat(beside, &st) ? refuse_unfinished(path, err) : attn_sidecar_read(&p->side, beside, err);
    if (!rc)
        rc = check_shard(&p->side, beside, err);
    free(beside);
    return rc;
}

/* ---- all of them ----------------------------------------------------------------------- */

static int differ(const struct attn_shard_file *a, const struct attn_shard_file *b, const char *of_a, const char *of_b,
                  struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT,
                     "the shards were not made the same way: %s %s, %s %s", a->path, of_a, b->path, of_b);
}

static int numbers_differ(const struct attn_shard_file *a, const struct attn_shard_file *b, const char *what,
                          uint64_t of_a, uint64_t of_b, struct attn_err *err)
{
    struct attn_difference d;
    snprintf(d.a, sizeof d.a, "with %" PRIu64 " %s", of_a, what);
    snprintf(d.b, sizeof d.b, "with %" PRIu64, of_b);
    return differ(a, b, d.a, d.b, err);
}

static int check_alike(const struct attn_shard_file *a, const struct attn_shard_file *b, struct attn_err *err)
{
    const struct attn_sidecar *s = &a->side, *t = &b->side;
    struct attn_difference d;
    if (attn_sidecar_differ(s, t, &d))
        return differ(a, b, d.a, d.b, err);
    if (s->shard.count != t->shard.count)
        return numbers_differ(a, b, "shards in all", s->shard.count, t->shard.count, err);
    if (s->shard.stride != t->shard.stride)
        return differ(a, b, s->shard.stride ? "with --stride" : "without --stride",
                      t->shard.stride ? "with --stride" : "without --stride", err);
    if (s->total != t->total)
        return numbers_differ(a, b, "records of the whole input", s->total, t->total, err);
    if (s->tokens && t->tokens && s->tokens != t->tokens)
        return numbers_differ(a, b, "tokens a sentence", s->tokens, t->tokens, err);
    return ATTN_OK;
}

static int refuse_missing(const struct attn_shard_files *p, uint64_t count, uint64_t missing, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT,
                     "shard %" PRIu64 "/%" PRIu64 " is missing: %zu of %" PRIu64 " are given", missing,
                     count, p->n, count);
}

/* They are sorted, so that the one at i must be shard i. */
static int check_all_there(const struct attn_shard_files *p, struct attn_err *err)
{
    uint64_t count = p->shard[0].side.shard.count;
    for (size_t i = 0; i < p->n; i++) {
        uint64_t index = p->shard[i].side.shard.index;
        if (i && index == i - 1)
            return attn_fail(err, ATTN_EFORMAT, "%s and %s are both shard %" PRIu64 "/%" PRIu64, p->shard[i - 1].path,
                             p->shard[i].path, index, count);
        if (index != i)
            return refuse_missing(p, count, i, err);
    }
    return p->n < count ? refuse_missing(p, count, p->n, err) : ATTN_OK;
}

static int by_shard(const void *a, const void *b)
{
    uint64_t i = ((const struct attn_shard_file *)a)->side.shard.index,
    k = ((const struct attn_shard_file *)b)->side.shard.index;
    return (i > k) - (i < k);
}

int attn_shard_files_open(struct attn_shard_files *out, const char *const *path, size_t n, struct attn_err *err)
{
    int rc = ATTN_OK;
    *out = (struct attn_shard_files){.shard = calloc(n ? n : 1, sizeof *out->shard)};
    if (!out->shard)
        return attn_no_memory(err, NULL, "for %zu shards", n);
    for (; out->n < n && !rc; out->n++)
        rc = read_shard(&out->shard[out->n], path[out->n], err);
    for (size_t i = 1; i < n && !rc; i++)
        rc = check_alike(&out->shard[0], &out->shard[i], err);
    if (!rc && n)
        qsort(out->shard, n, sizeof *out->shard, by_shard);
    if (!rc)
        rc = n ? check_all_there(out, err) : attn_fail(err, ATTN_EUSAGE, "no shard is given");
    if (rc)
        attn_shard_files_close(out);
    return rc;
}

void attn_shard_files_close(struct attn_shard_files *p)
{
    for (size_t i = 0; i < p->n; i++)
        attn_sidecar_free(&p->shard[i].side);
    free(p->shard);
    *p = (struct attn_shard_files){0};
}

uint64_t attn_shard_files_total(const struct attn_shard_files *p)
{
    return p->shard[0].side.total;
}

size_t attn_shard_files_owner(const struct attn_shard_files *p, uint64_t record)
{
    const struct attn_share *s = &p->shard[0].side.shard;
    size_t low = 0, high = p->n - 1;
    if (s->stride)
        return (size_t)(record % s->count);
    while (low < high) {                /* finds the first whose range ends after the record */
        size_t i = low + (high - low) / 2;
        uint64_t from, to;
        attn_share_range(&p->shard[i].side.shard, attn_shard_files_total(p), &from, &to);
        if (record < to)
            high = i;
        else
            low = i + 1;
    }
    return low;
}

static void add(struct attn_mark *m, const struct attn_mark *more)
{
    m->records += more->records;
    m->failed += more->failed;
    m->stream.bytes += more->stream.bytes;
    attn_sums_add(m->keys, more->keys);
}

void attn_shard_files_whole(const struct attn_shard_files *p, struct attn_sidecar *out)
{
    *out = p->shard[0].side;
    out->summary = NULL;
    out->shard = (struct attn_share){.count = 1};
    for (size_t i = 1; i < p->n; i++) {
        add(&out->now, &p->shard[i].side.now);
        out->tokens = out->tokens ? out->tokens : p->shard[i].side.tokens;
    }
    out->now.next = out->total;
    out->now.summary = (struct attn_written){0};
    out->synced = out->now;
}
