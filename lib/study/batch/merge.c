/* merge.c - merges the shards of a batch into what one process would have written.
 *
 * Nothing appears under its final name before it is complete: streams are renamed, and so is a directory, which is
 * built beside its final name.  The sidecar of a stream, which is replaced if it is there, comes last.  A directory,
 * which is not replaced, comes last itself, after its sidecar: until then whatever is there can be merged again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attn_tools.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/strings.h"
#include "base/target.h"
#include "batch/batch.h"
#include "batch/merge.h"

struct merge {
    const struct attn_merge_opts *o;
    const struct attn_format *format;
    bool grids;                         /* they are of grids, whose summary is made of the joined rows */
    struct attn_shard_files shards;
    char *path, *sidecar;               /* links followed; the sidecar's, or NULL: standard output, pipe, device */
    char *inside;                       /* the summary's name, if it belongs into the directory that is written */
    struct attn_mark mark;              /* what was written: stream, summary, arrays */
};

/* ---- the files of a shard -------------------------------------------------------------- */

/* A file that each shard has; its path is malloc'd.  Links are followed where somebody typed the path, here or, for a
 * summary, when the shard was made. */
struct stream {
    char *(*path)(const struct attn_shard_file *);
    const struct attn_written *(*as)(const struct attn_shard_file *);
    bool table;
    enum attn_links links;
};

static char *own_path(const struct attn_shard_file *p)
{
    return strdup(p->path);
}

static char *records_path(const struct attn_shard_file *p)
{
    char *path;
    return attn_asprintf(&path, "%s/records.ndjson", p->path) < 0 ? NULL : path;
}

/* A summary given by name only is in the output's directory. */
static char *summary_path(const struct attn_shard_file *p)
{
    const char *slash = strrchr(p->path, '/'), *name = p->side.summary;
    char *path;
    int dir = *name != '/' && slash ? (int)(slash + 1 - p->path) : 0;
    return attn_asprintf(&path, "%.*s%s", dir, p->path, name) < 0 ? NULL : path;
}

static const struct attn_written *own(const struct attn_shard_file *p)
{
    return &p->side.now.stream;
}

static const struct attn_written *rows(const struct attn_shard_file *p)
{
    return &p->side.now.summary;
}

static const struct stream lines = {own_path, own, false, ATTN_LINKS_FOLLOWED},
                           table = {own_path, own, true, ATTN_LINKS_FOLLOWED},
                           records = {records_path, own, false, ATTN_LINKS_REFUSED},
                           summary = {summary_path, rows, true, ATTN_LINKS_FOLLOWED};

static int join_into(struct attn_out *to, const struct merge *m, const struct stream *s, struct attn_err *err)
{
    size_t n = m->shards.n;
    struct attn_joined *file = calloc(n + 1, sizeof *file);
    int rc = ATTN_OK;
    if (!file)
        return attn_no_memory(err, NULL, "for %zu paths", n);
    for (size_t i = 0; i < n && !rc; i++) {
        file[i] = (struct attn_joined){s->path(&m->shards.shard[i]), s->as(&m->shards.shard[i]), s->links};
        rc = file[i].path ? ATTN_OK : attn_no_memory(err, NULL, "for %zu paths", n);
    }
    if (!rc)
        rc = attn_merge_lines(to, &m->shards, file, s->table, err);
    for (size_t i = 0; i < n; i++)
        free(file[i].path);
    free(file);
    return rc;
}

static int open_hashed(struct attn_out **to, const char *path, struct attn_err *err)
{
    struct attn_sha256 sha;
    int rc = attn_out_open(to, path, err);
    attn_sha256_start(&sha);
    if (!rc)
        attn_out_hash_on(*to, &sha);
    return rc;
}

static int join(const struct merge *m, const struct stream *s, const char *path, struct attn_written *w,
                struct attn_err *err)
{
    struct attn_out *to;
    int rc = open_hashed(&to, path, err);
    if (rc)
        return rc;
    rc = join_into(to, m, s, err);
    if (!rc)
        rc = attn_out_commit(to, err);
    attn_written_note(w, to);
    attn_out_close(to);
    return rc;
}

static int means_of(struct attn_out *rows, const char *path, struct attn_written *w, struct attn_err *err)
{
    struct attn_map map;
    char *name = NULL;
    if (attn_asprintf(&name, "the rows of all shards, for %s", path) < 0)
        return attn_no_memory(err, path, "for its name");
    int rc = attn_out_map(rows, &map, err);
    if (!rc) {
        rc = attn_means_make(&map, name, path, w, err);
        attn_map_close(&map);
    }
    free(name);
    return rc;
}

/* Joins the rows of grids in a file without a name, and writes their means. */
static int join_means(const struct merge *m, const struct stream *s, const char *path, struct attn_written *w,
                      struct attn_err *err)
{
    struct attn_out *rows;
    int rc = attn_out_open_scratch(&rows, path, err);
    if (rc)
        return rc;
    rc = join_into(rows, m, s, err);
    if (!rc)
        rc = means_of(rows, path, w, err);
    attn_out_close(rows);
    return rc;
}

static int join_summary(const struct merge *m, const char *path, struct attn_written *w, struct attn_err *err)
{
    if (!m->grids)
        return join(m, &summary, path, w, err);
    return attn_target_in_place(path) ? attn_fail(err, ATTN_EUSAGE,
                                                  "the means over all records go to a file, and %s is none", path)
                                      : join_means(m, &summary, path, w, err);
}

/* Refuses to overwrite a file of that name that is not a sidecar. */
static int check_beside(const struct merge *m, struct attn_err *err)
{
    struct attn_sidecar made;
    struct stat st;
    if (!m->sidecar || lstat(m->sidecar, &st))
        return ATTN_OK;
    int rc = attn_sidecar_read(&made, m->sidecar, err);
    if (!rc)
        attn_sidecar_free(&made);
    return rc;
}

/* ---- output ------------------------------------------------------------------------------ */

static int fill(struct merge *m, const char *dir, struct attn_err *err)
{
    char *path;
    if (attn_asprintf(&path, "%s/records.ndjson", dir) < 0)
        return attn_no_memory(err, dir, "for the name of a file");
    int rc = join(m, &records, path, &m->mark.stream, err);
    free(path);
    if (!rc && m->format->flags & ATTN_FORMAT_APART)
        rc = attn_merge_records(&m->shards, dir, err);
    return !rc && m->format->flags & ATTN_FORMAT_STACK ? attn_merge_arrays(&m->shards, dir, m->mark.arrays, err) : rc;
}

static int write_sidecar(const struct merge *m, struct attn_err *err)
{
    struct attn_sidecar whole;
    attn_shard_files_whole(&m->shards, &whole);
    whole.now.stream = m->mark.stream;
    whole.now.summary = m->mark.summary;
    memcpy(whole.now.arrays, m->mark.arrays, sizeof whole.now.arrays);
    whole.synced = whole.now;
    int rc = m->o->summary ? attn_sidecar_set_summary(&whole, m->o->summary, m->o->path, err) : ATTN_OK;
    if (!rc)
        rc = attn_sidecar_write(&whole, m->sidecar, err);
    free(whole.summary);
    return rc;
}

/* Writes the summary; one that belongs into the directory goes to where that is filled. */
static int write_summary(struct merge *m, const char *dir, struct attn_err *err)
{
    char *path = NULL;
    if (!m->o->summary)
        return ATTN_OK;
    if (!m->inside)
        return join_summary(m, m->o->summary, &m->mark.summary, err);
    if (attn_folder_has(dir, m->inside))
        return attn_fail(err, ATTN_EUSAGE, "%s: would be written to for the output and for the summary: give one of "
                                           "them another name", m->o->summary);
    if (attn_asprintf(&path, "%s/%s", dir, m->inside) < 0)
        return attn_no_memory(err, m->o->summary, "for its name");
    int rc = join_summary(m, path, &m->mark.summary, err);
    free(path);
    return rc;
}

static int finish_directory(struct merge *m, struct attn_scaffold *s, struct attn_err *err)
{
    int rc = fill(m, s->path, err);
    if (!rc)
        rc = write_summary(m, s->path, err);
    if (!rc)
        rc = write_sidecar(m, err);
    if (!rc && (rc = attn_scaffold_commit(s, err)))
        unlink(m->sidecar);              /* nothing is there that it describes */
    return rc;
}

static int write_directory(struct merge *m, struct attn_err *err)
{
    struct attn_scaffold s;
    int rc = attn_scaffold_open(&s, m->path, m->inside, err);
    if (rc)
        return rc;
    rc = finish_directory(m, &s, err);
    attn_scaffold_close(&s);
    return rc;
}

/* Removes the sidecar, which describes the output about to be replaced. */
static int forget(const struct merge *m, struct attn_err *err)
{
    return m->sidecar && unlink(m->sidecar) && errno != ENOENT ? attn_fail_errno(err, m->sidecar, "replace") : ATTN_OK;
}

/* A summary of grids that is the only output. */
static int write_means(struct merge *m, struct attn_err *err)
{
    if (!m->path)
        return attn_fail(err, ATTN_EUSAGE, "the means over all records go to a file: name it with -o");
    int rc = forget(m, err);
    if (!rc)
        rc = join_means(m, &table, m->path, &m->mark.stream, err);
    if (!rc)
        rc = write_summary(m, NULL, err);
    return rc ? rc : write_sidecar(m, err);
}

static int write_stream(struct merge *m, struct attn_err *err)
{
    bool is_table = !strcmp(m->format->name, "tidy") || !strcmp(m->format->name, "summary");
    struct attn_out *to;
    int rc = m->path ? open_hashed(&to, m->path, err) : attn_out_open(&to, m->o->path, err);
    if (rc)
        return rc;
    rc = join_into(to, m, is_table ? &table : &lines, err);
    if (!rc)
        rc = attn_out_flush(to, false, err);    /* a full disk is found before anything is replaced */
    if (!rc)
        rc = write_summary(m, NULL, err);
    if (!rc)
        rc = forget(m, err);
    if (!rc)
        rc = attn_out_commit(to, err);
    attn_written_note(&m->mark.stream, to);
    attn_out_close(to);
    return !rc && m->sidecar ? write_sidecar(m, err) : rc;
}

/* ---- what is merged already -------------------------------------------------------------- */

static bool has_size(const char *path, uint64_t bytes)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == bytes;
}

/* Whether a sidecar describes what these shards become. */
static bool describes(const struct attn_sidecar *made, const struct merge *m)
{
    struct attn_sidecar whole;
    attn_shard_files_whole(&m->shards, &whole);
    bool named = !m->o->summary || !attn_sidecar_set_summary(&whole, m->o->summary, m->o->path, NULL);
    bool same = named && made->complete && !attn_sidecar_agree(made, &whole, m->path, NULL) &&
                made->total == whole.total && made->now.records == whole.now.records &&
                    made->now.failed == whole.now.failed &&
                made->now.stream.bytes == whole.now.stream.bytes && !strcmp(made->now.keys, whole.now.keys);
    free(whole.summary);
    return same;
}

/* Whether an earlier merge of these shards has done all, as one that was killed at its very end has. */
static bool is_merged(const struct merge *m)
{
    struct attn_sidecar made;
    char *lines_path;
    if (attn_sidecar_read(&made, m->sidecar, NULL))
        return false;
    bool whole = describes(&made, m) && (!m->o->summary || has_size(m->o->summary, made.now.summary.bytes));
    if (attn_asprintf(&lines_path, "%s/records.ndjson", m->path) < 0)
        lines_path = NULL;
    whole = whole && lines_path && has_size(lines_path, made.now.stream.bytes);
    free(lines_path);
    attn_sidecar_free(&made);
    return whole;
}

/* ---- merging --------------------------------------------------------------------------- */

/* Whether a path, probably from a glob, is the sidecar of another one. */
static bool is_sidecar(const struct attn_strings *paths, const char *path)
{
    static const char ending[] = ".json";
    size_t len = strlen(path), stem = len > strlen(ending) ? len - strlen(ending) : 0;
    return stem && !strcmp(path + stem, ending) && attn_strings_find(paths, path, stem) != ATTN_STRINGS_NONE;
}

static int open_shards(struct merge *m, struct attn_err *err)
{
    const struct attn_merge_opts *o = m->o;
    const char **path = calloc(o->n + 1, sizeof *path);
    struct attn_strings all = {0};
    size_t n = 0, added = 0;
    while (added < o->n && attn_strings_add(&all, o->shard[added], strlen(o->shard[added])) != ATTN_STRINGS_NONE)
        added++;
    int rc = path && added == o->n ? ATTN_OK : attn_no_memory(err, NULL, "for %zu paths", o->n);
    for (size_t i = 0; i < o->n && !rc; i++)
        if (!is_sidecar(&all, o->shard[i]))
            path[n++] = o->shard[i];
    if (!rc)
        rc = attn_shard_files_open(&m->shards, path, n, err);
    attn_strings_free(&all);
    free(path);
    if (rc)
        return rc;
    m->grids = attn_sidecar_has_option(&m->shards.shard[0].side, "over");
    m->format = attn_batch_format(m->shards.shard[0].side.format);
    return m->format ? ATTN_OK : attn_fail(err, ATTN_EFORMAT, "%s: is of a format that is not known here, %s",
                                         m->shards.shard[0].path, m->shards.shard[0].side.format);
}

static int check_summaries(const struct merge *m, struct attn_err *err)
{
    for (size_t i = 0; m->o->summary && i < m->shards.n; i++)
        if (!m->shards.shard[i].side.summary)
            return attn_fail(err, ATTN_EFORMAT, "%s: was made without --summary, so that there is none to join",
                             m->shards.shard[i].path);
    return ATTN_OK;
}

/* Whether a file that is there lies in a directory or below it; dir is a path without links. */
static bool is_below(const char *dir, const char *file)
{
    char *real = realpath(file, NULL);
    size_t n = strlen(dir);
    bool below = real && !strncmp(real, dir, n) && real[n] == '/';
    free(real);
    return below;
}

/* Sets *is to whether a path is a shard's sidecar or summary, or a file in its directory. */
static int belongs_to(bool *is, const struct attn_shard_file *p, const char *path, struct attn_err *err)
{
    char *real = attn_target_follow(p->path), *sidecar = NULL;
    if (!real)
        return attn_fail_errno(err, p->path, "find");
    if (attn_asprintf(&sidecar, "%s.json", real) < 0)
        sidecar = NULL;
    char *rows = p->side.summary ? summary_path(p) : NULL;
    bool named = sidecar && (rows || !p->side.summary);
    *is = named && (attn_target_same(sidecar, path) || (rows && attn_target_same(rows, path)) || is_below(real, path));
    free(real);
    free(sidecar);
    free(rows);
    return named ? ATTN_OK : attn_no_memory(err, p->path, "for the names of its files");
}

/* Refuses to replace a shard or a file of one: its other files would describe something else. */
static int check_target(const struct merge *m, const char *path, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; path && i < m->shards.n && !rc; i++) {
        const struct attn_shard_file *p = &m->shards.shard[i];
        bool shard = attn_target_same(p->path, path), file = false;
        if (!shard)
            rc = belongs_to(&file, p, path, err);
        if (shard || file)
            rc = attn_fail(err, ATTN_EUSAGE, "%s: is %s: give what they become another name", path,
                           shard ? "one of the shards" : "a file of one of the shards");
    }
    return rc;
}

static int check_targets(const struct merge *m, struct attn_err *err)
{
    const char *rows = m->o->summary;
    int rc = check_target(m, m->path, err);
    if (!rc)
        rc = check_target(m, m->sidecar, err);
    if (!rc)
        rc = check_target(m, rows, err);
    if (!rc)
        rc = check_beside(m, err);
    if (!rc && rows && m->path && (attn_target_same(m->path, rows) || attn_target_same(m->sidecar, rows)))
        rc = attn_fail(err, ATTN_EUSAGE, "%s: would be written to for the output and for the summary: give one of them "
                       "another name", rows);
    return rc;
}

/* The name of a file, malloc'd, if it is in a directory, which need not be there yet; else NULL. */
static char *name_inside(const char *dir, const char *file)
{
    char *real = attn_target_follow(file), *slash = real ? strrchr(real, '/') : NULL, *name = NULL;
    if (slash) {
        *slash = '\0';
        name = attn_target_same(real, dir) ? strdup(slash + 1) : NULL;
    }
    free(real);
    return name;
}

static int find_target(struct merge *m, struct attn_err *err)
{
    const char *path = m->o->path;
    bool in_place = attn_target_in_place(path), directory = attn_batch_in_directory(m->format);
    if (directory && in_place)
        return attn_fail(err, ATTN_EUSAGE, "shards of format %s become a directory: name it with -o", m->format->name);
    m->path = in_place ? NULL : directory ? attn_target_follow_directory(path) : attn_target_follow(path);
    if (!in_place && !m->path)
        return attn_fail_errno(err, path, "create");
    if (!in_place && attn_asprintf(&m->sidecar, "%s.json", m->path) < 0) {
        m->sidecar = NULL;
        return attn_no_memory(err, path, "for its name");
    }
    if (directory && m->o->summary && !attn_target_in_place(m->o->summary))
        m->inside = name_inside(m->path, m->o->summary);
    return check_targets(m, err);
}

static int write_all(struct merge *m, struct attn_err *err)
{
    int rc = check_summaries(m, err);
    if (!rc)
        rc = find_target(m, err);
    if (rc || !attn_batch_in_directory(m->format))
        return rc ? rc : m->grids && m->format->flags & ATTN_FORMAT_SUMMARY ? write_means(m, err) :
               write_stream(m, err);
    return is_merged(m) ? ATTN_OK : write_directory(m, err);
}

int attn_merge(const struct attn_merge_opts *o, struct attn_err *err)
{
    struct merge m = {.o = o};
    int rc = open_shards(&m, err);
    if (m.format)
        rc = write_all(&m, err);
    attn_shard_files_close(&m.shards);
    free(m.path);
    free(m.sidecar);
    free(m.inside);
    return rc;
}
