/* writing.c - writes one record: its line of the stream, its directory, its line of the summary.
 *
 * The sinks format a sentence; this file decides which of them and where to. */
#include "attn_tools.h"
#include "batch/batch.h"

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
#include "base/format.h"
#include "base/num.h"
#include "base/share.h"
#include "sinks/sink_json.h"
#include "sinks/manifest.h"

/* ---- formats --------------------------------------------------------------------------- */

enum { STREAM = ATTN_FORMAT_LINES | ATTN_FORMAT_SUMMARY, DIRECTORY = ATTN_FORMAT_APART | ATTN_FORMAT_STACK };

const struct attn_format *attn_batch_format(const char *name)
{
    const struct attn_format *f = attn_format_find(name);
    return f && f->flags & (STREAM | DIRECTORY) ? f : NULL;
}

const char *attn_batch_formats(char list[ATTN_BATCH_FORMATS])
{
    char streams[ATTN_FORMAT_LIST], apart[ATTN_FORMAT_LIST], stack[ATTN_FORMAT_LIST];
    snprintf(list, ATTN_BATCH_FORMATS,
             "%s, %s, %s", attn_format_list(streams, STREAM), attn_format_list(apart, ATTN_FORMAT_APART),
             attn_format_list(stack, ATTN_FORMAT_STACK));
    return list;
}

bool attn_batch_in_directory(const struct attn_format *f)
{
    return f->flags & DIRECTORY;
}

const char *attn_record_file(char name[ATTN_RECORD_FILE], const struct attn_format *f)
{
    if (!(f->flags & ATTN_FORMAT_APART) || f->flags & ATTN_FORMAT_MANY)
        return NULL;
    snprintf(name, ATTN_RECORD_FILE, "activations%s", f->ending);
    return name;
}

bool attn_record_named(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits >= 6 && !name[digits];
}

/* How the stream is written: beside a directory it is an index, of documents without activations. */
static const struct attn_format *stream_of(const struct attn_format *f)
{
    return f->flags & DIRECTORY ? attn_format_find("ndjson") : f;
}

/* ---- the directory of a record ------------------------------------------------------------ */

/* It appears complete or not at all: OUT/000012 is written as OUT/.000012.part. */
struct record_dir { char *path, *part; };

/* Removes a directory and the files in it; if it contains somebody's directory, both stay. */
static void clear(const char *path)
{
    int fd = attn_disk_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d && fd >= 0)
        close(fd);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(path);
}

/* Creates `part` as an empty directory; what a killed run left there is removed. */
static int open_dir(struct record_dir *p, const char *dir, uint64_t number, struct attn_err *err)
{
    *p = (struct record_dir){0};
    if (attn_asprintf(&p->path, "%s/%06" PRIu64, dir, number) < 0)
        p->path = NULL;
    if (attn_asprintf(&p->part, "%s/.%06" PRIu64 ".part", dir, number) < 0)
        p->part = NULL;
    if (!p->path || !p->part)
        return attn_no_memory(err, dir, "for the path of record %" PRIu64, number);
    if (attn_disk_make(p->part))
        return ATTN_OK;
    clear(p->part);
    return attn_disk_make(p->part) ? ATTN_OK : attn_fail_errno(err, p->part, "create the directory");
}

static void remove_in(const char *dir, const char *file)
{
    char *path;
    if (attn_asprintf(&path, "%s/%s", dir, file) < 0)
        return;
    unlink(path);
    free(path);
}

/* Removes the files that an older run wrote. */
static int clear_ours(const struct record_dir *p, struct attn_err *err)
{
    char name[ATTN_RECORD_FILE];
    for (const struct attn_format *f = NULL; (f = attn_format_next(f));)
        if (attn_record_file(name, f))
            remove_in(p->path, name);
    return attn_rewrite_remove(p->path, p->part, err);
}

/* Removes OUT/NAME of an older run, unless there are files of somebody else. */
static int forget(const char *dir, const char *name, struct attn_err *err)
{
    struct record_dir p = {0};
    struct stat st;
    if (attn_asprintf(&p.path, "%s/%s", dir, name) < 0)
        return attn_no_memory(err, dir, "for the path of a record");
    int rc = lstat(p.path, &st) ? ATTN_OK
             : S_ISDIR(st.st_mode) ? clear_ours(&p, err)
             : attn_fail(err, ATTN_EIO, "%s: is a link or a file, and would be taken for the directory of a record: "
                                        "remove it, or give the output another name", p.path);
    rmdir(p.path);
    free(p.path);
    return rc;
}

/* A record that failed has no directory: that of an older run would be taken for its own. */
static int forget_record(const char *dir, uint64_t number, struct attn_err *err)
{
    char name[32];
    snprintf(name, sizeof name, "%06" PRIu64, number);
    return forget(dir, name, err);
}

int attn_writing_clear(const char *dir, const struct attn_share *share, uint64_t total, struct attn_err *err)
{
    int rc = ATTN_OK;
    DIR *d = opendir(dir);
    if (!d)
        return attn_fail_errno(err, dir, "read");
    for (struct dirent *e; !rc && (errno = 0, e = readdir(d));) {
        uint64_t number;
        bool record = attn_record_named(e->d_name) && attn_num_parse_u64(e->d_name, strlen(e->d_name), &number);
        if (record && !attn_share_has(share, total, number))
            rc = forget(dir, e->d_name, err);
    }
    closedir(d);
    return rc;
}

static int move_file(DIR *from, const struct record_dir *p, int to, const char *file, struct attn_err *err)
{
    return renameat(dirfd(from), file, to, file) == 0 || errno == ENOENT ? ATTN_OK
           : attn_fail(err, ATTN_EIO, "%s/%s: cannot replace: %s", p->path, file, strerror(errno));
}

/* The manifest goes first: if the rest never comes, it says what is missing, and the next run knows what is ours. */
static int move_files(DIR *from, const struct record_dir *p, int to, struct attn_err *err)
{
    int rc = move_file(from, p, to, "manifest.json", err);
    for (struct dirent *e; !rc && (errno = 0, e = readdir(from));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            rc = move_file(from, p, to, e->d_name, err);
    return rc || !errno ? rc : attn_fail_errno(err, p->part, "read");
}

/* Moves the files into an existing directory, which has files of somebody else. */
static int move_in(const struct record_dir *p, struct attn_err *err)
{
    int to = attn_disk_open(p->path, O_RDONLY | O_DIRECTORY, 0);
    DIR *from = to < 0 ? NULL : opendir(p->part);
    int rc = from ? move_files(from, p, to, err) : attn_fail_errno(err, to < 0 ? p->path : p->part, "open");
    if (from)
        closedir(from);
    if (to >= 0)
        close(to);
    if (!rc)
        rmdir(p->part);
    return rc;
}

static bool is_full(int number)
{
    return number == ENOTEMPTY || number == EEXIST;
}

/* Replaces the files of an older run under the final name; other files there stay. */
static int commit_dir(struct record_dir *p, struct attn_err *err)
{
    int rc = ATTN_OK;
    bool there = rename(p->part, p->path) == 0;
    if (!there && is_full(errno)) {
        rc = clear_ours(p, err);
        there = !rc && rename(p->part, p->path) == 0;
    }
    if (rc)
        return rc;
    rc = there ? ATTN_OK : is_full(errno) ? move_in(p, err) : attn_fail_errno(err, p->path, "replace");
    if (rc)
        return rc;
    free(p->part);
    p->part = NULL;
    return ATTN_OK;
}

/* Without commit, removes everything. */
static void close_dir(struct record_dir *p)
{
    if (p->part)
        clear(p->part);
    free(p->part);
    free(p->path);
    *p = (struct record_dir){0};
}

/* ---- activations ----------------------------------------------------------------------- */

static struct attn_sink_job job_of(const struct attn_writing *w, const struct attn_item *item,
                                   const struct attn_sink_record *record)
{
    struct attn_sink_job job = w->job;
    job.tokens = item->tokens;
    job.text = item->of.text;
    job.text_len = item->of.text_len;
    job.record = record;
    return job;
}

/* The sink of one record. */
struct record_sink {
    const struct attn_sink_methods *methods;    /* NULL: only the summary watches */
    void *self;
    struct attn_sink_job job;
    struct attn_sink_record record;
    struct record_dir dir;
    char *file;
};

static int open_file(struct record_sink *s, const struct attn_writing *w, uint64_t number, struct attn_err *err)
{
    int rc = open_dir(&s->dir, w->dir, number, err);
    if (rc)
        return rc;
    s->job.to = NULL;
    s->job.path = s->dir.part;
    s->job.staged = true;
    char name[ATTN_RECORD_FILE];
    if (attn_record_file(name, w->format) && attn_asprintf(&s->file, "%s/%s", s->dir.part, name) < 0) {
        s->file = NULL;
        return attn_no_memory(err, s->dir.part, "for the path of a file");
    }
    if (s->file)
        s->job.path = s->file;
    return ATTN_OK;
}

static int open_sink(struct record_sink *s, const struct attn_writing *w, const struct attn_item *item,
                     struct attn_out *to, struct attn_team *team, struct attn_err *err)
{
    *s = (struct record_sink){.record = {&item->of, item->key}};
    s->job = job_of(w, item, &s->record);
    s->job.to = to;
    s->job.team = team;
    int rc = w->format->flags & ATTN_FORMAT_APART ? open_file(s, w, item->of.number, err) : ATTN_OK;
    const struct attn_sink_methods *methods = attn_format_methods(w->format);
    if (!rc && methods)
        rc = methods->open(&s->self, w->format, &s->job, err);
    if (!rc)
        s->methods = methods;
    return rc;
}

static int finish_sink(struct record_sink *s, struct attn_err *err)
{
    int rc = s->methods ? s->methods->finish(s->self, err) : ATTN_OK;
    return rc || !s->dir.part ? rc : commit_dir(&s->dir, err);
}

static void close_sink(struct record_sink *s)
{
    if (s->methods)
        s->methods->close(s->self);
    close_dir(&s->dir);
    free(s->file);
}

static int announce(const struct attn_writing *w, const struct attn_item *item, size_t i, struct attn_out *to,
                    struct attn_err *err)
{
    struct record_sink s;
    int rc = open_sink(&s, w, item, to, NULL, err);
    if (!rc && s.methods)
        rc = attn_capture_announce(w->capture, i, s.methods->watch, s.self, err);
    if (!rc)
        rc = finish_sink(&s, err);
    close_sink(&s);
    return rc;
}

int attn_writing_live(struct attn_engine *e, const struct attn_item *item, struct attn_out *to,
                      const struct attn_observer *watcher, struct attn_err *err)
{
    struct record_sink s;
    struct attn_observer sink;
    int rc = open_sink(&s, &e->writing, item, to, e->team, err);
    if (s.methods)
        sink = (struct attn_observer){.wants = s.methods->wants, .watch = s.methods->watch, .self = s.self};
    if (!rc)
        rc = attn_engine_live(e, item, s.methods ? &sink : watcher, err);
    if (!rc)
        rc = finish_sink(&s, err);
    close_sink(&s);
    return rc;
}

/* ---- lines ----------------------------------------------------------------------------- */

/* Writes the document without activations, which are in other files. */
static int write_index(const struct attn_writing *w, const struct attn_sink_job *job, struct attn_err *err)
{
    const struct attn_format *index = stream_of(w->format);
    const struct attn_sink_methods *methods = attn_format_methods(index);
    void *self;
    int rc = methods->open(&self, index, job, err);
    if (rc)
        return rc;
    rc = methods->finish(self, err);
    methods->close(self);
    return rc;
}

/* Why a record failed; NULL: it has not. */
static const char *failure_of(const struct attn_item *item)
{
    return item->failure.code ? item->failure.msg : NULL;
}

/* Whether grids are written as rows: to a table, which has a header, or for a summary. */
static bool in_rows(const struct attn_writing *w)
{
    const struct attn_sink_methods *methods = attn_format_methods(stream_of(w->format));
    return w->grids && (!methods || methods->header);
}

static int write_grid(const struct attn_writing *w, const struct attn_item *item, const char *failed,
                      const struct attn_sink_job *job, struct attn_err *err)
{
    if (!in_rows(w) && !failed)
        return attn_grids_document(w->grids, item, job, err);
    if (in_rows(w))
        attn_grids_rows(w->grids, item, failed, job->to);
    else
        attn_doc_failed(job->to, job, failed);
    return ATTN_OK;
}

static int write_line(const struct attn_writing *w, const struct attn_item *item, size_t i, bool live,
                      const struct attn_sink_job *job, struct attn_err *err)
{
    bool inside = !attn_batch_in_directory(w->format);
    const char *failed = failure_of(item);
    if (w->grids)
        return write_grid(w, item, failed, job, err);
    if (w->format->flags & ATTN_FORMAT_SUMMARY)
        return attn_summary_line(w->summary, i, failed, job->to, job), ATTN_OK;
    if (failed)
        return attn_format_methods(stream_of(w->format))->failed(job->to, job, failed), ATTN_OK;
    int rc = live || w->format->flags & ATTN_FORMAT_STACK ? ATTN_OK : announce(w, item, i, job->to, err);
    return rc || inside ? rc : write_index(w, job, err);
}

int attn_writing_lines(struct attn_record_lines *out, const struct attn_writing *w, const struct attn_item *item,
                       size_t i, bool live, struct attn_err *err)
{
    struct attn_sink_record record = {&item->of, item->key};
    struct attn_sink_job job = job_of(w, item, &record);
    *out = (struct attn_record_lines){0};
    int rc = failure_of(item) && w->format->flags & ATTN_FORMAT_APART ? forget_record(w->dir, item->of.number, err) :
             ATTN_OK;
    if (!rc)
        rc = attn_out_open_memory(&job.to, err);
    if (rc)
        return rc;
    rc = write_line(w, item, i, live, &job, err);
    if (!rc)
        rc = attn_out_take(job.to, &out->line, &out->line_len, err);
    if (!rc && w->rows) {
        if (w->grids)
            attn_grids_rows(w->grids, item, failure_of(item), job.to);
        else
            attn_summary_line(w->summary, i, failure_of(item), job.to, &job);
        rc = attn_out_take(job.to, &out->row, &out->row_len, err);
    }
    attn_out_close(job.to);
    return rc;
}

void attn_writing_lines_free(struct attn_record_lines *l)
{
    free(l->line);
    free(l->row);
}

void attn_writing_header(const struct attn_writing *w, struct attn_out *stream)
{
    const struct attn_sink_methods *methods = attn_format_methods(stream_of(w->format));
    if (in_rows(w))
        attn_grids_header(w->grids, stream);
    else if (!methods)
        attn_summary_header(w->summary, stream);
    else if (methods->header)
        attn_out_str(stream, methods->header);
}

void attn_writing_summary_header(const struct attn_writing *w, struct attn_out *rows)
{
    if (w->grids)
        attn_grids_header(w->grids, rows);
    else
        attn_summary_header(w->summary, rows);
}
