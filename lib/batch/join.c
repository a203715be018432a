#include "batch/join.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/fields.h"

/* One of the files; it has been examined up to `at` and written up to `done`. */
struct source { struct attn_map map; const char *at, *done, *end; const char *path; };

static int refuse(const struct source *s, const char *what, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: %s, so that it is not what batch wrote: run this shard again", s->path, what);
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

/* ---- one record ------------------------------------------------------------------------ */

/* The record that the next row belongs to; UINT64_MAX if there is none. */
static uint64_t record_of_row(const struct source *s)
{
    uint64_t n = 0;
    const char *p = s->at;
    bool fits = true;
    for (; fits && p < s->end && *p >= '0' && *p <= '9'; p++)
        fits = !__builtin_mul_overflow(n, (uint64_t)10, &n) && !__builtin_add_overflow(n, (uint64_t)(*p - '0'), &n);
    return fits && p > s->at && p < s->end && *p == ',' ? n : UINT64_MAX;
}

static int pass_record(struct source *s, bool table, uint64_t record, struct attn_err *err)
{
    while (!table || record_of_row(s) == record) {
        const char *next = table ? row_end(s->at, s->end) : line_end(s->at, s->end);
        if (!next)
            return refuse(s, "a record is missing at its end", err);
        s->at = next;
        if (!table)
            break;
    }
    return ATTN_OK;
}

static void flush(struct source *s, struct attn_out *to)
{
    attn_out_write(to, s->done, (size_t)(s->at - s->done));
    s->done = s->at;
}

/* ---- all of them ----------------------------------------------------------------------- */

static int open_source(struct source *s, const struct attn_joined *file, struct attn_err *err)
{
    s->path = file->path;
    int rc = attn_map_open_found(&s->map, s->path, SIZE_MAX, file->links, err);
    if (rc)
        return rc;
    s->at = s->done = (const char *)s->map.data;
    s->end = s->at + s->map.len;
    return s->map.len == file->bytes
               ? ATTN_OK
               : attn_fail(err, ATTN_EFORMAT, "%s: has %zu bytes, and had %" PRIu64 " when it was finished: run this shard again",
                           s->path, s->map.len, file->bytes);
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
        s[i].done = s[i].at;
    }
    return ATTN_OK;
}

/* The next record with a row in any of the files: how many records there are is only what somebody said. */
static uint64_t record_after(uint64_t record, const struct attn_shard_files *parts, const struct source *s)
{
    uint64_t next = record + 1, found = UINT64_MAX;
    if (next >= attn_parts_total(parts) || record_of_row(&s[attn_parts_owner(parts, next)]) == next)
        return next;
    for (size_t i = 0; i < parts->n; i++) {
        uint64_t n = record_of_row(&s[i]);
        found = n > record && n < found ? n : found;
    }
    return found;
}

static int join(struct attn_out *to, const struct attn_shard_files *parts, struct source *s, bool table, struct attn_err *err)
{
    size_t last = 0;
    int rc = table ? pass_headers(s, parts->n, to, err) : ATTN_OK;
    for (uint64_t record = 0; record < attn_parts_total(parts) && !rc && !attn_out_failed(to);) {
        size_t owner = attn_parts_owner(parts, record);
        if (owner != last)
            flush(&s[last], to);
        rc = pass_record(&s[owner], table, record, err);
        last = owner;
        record = table ? record_after(record, parts, s) : record + 1;
    }
    flush(&s[last], to);
    for (size_t i = 0; i < parts->n && !rc && !attn_out_failed(to); i++)
        if (s[i].at != s[i].end)
            rc = refuse(&s[i], "more than its records is there", err);
    return rc;
}

int attn_join(struct attn_out *to, const struct attn_shard_files *parts, const struct attn_joined *file, bool table, struct attn_err *err)
{
    struct source *s = calloc(parts->n + 1, sizeof *s);
    int rc = ATTN_OK;
    if (!s)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu files", parts->n);
    for (size_t i = 0; i < parts->n && !rc; i++)
        rc = open_source(&s[i], &file[i], err);
    if (!rc)
        rc = join(to, parts, s, table, err);
    for (size_t i = 0; i < parts->n; i++)
        attn_map_close(&s[i].map);
    free(s);
    return rc;
}
