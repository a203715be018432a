/* output.c - where the records of a batch go, in order, and the progress of that.
 *
 * The output is a stream of lines, for some formats also a directory for each record or a stack, a summary on
 * request, and the journal.  Passes are written one after the other; each is passed to the system before the journal
 * mentions it, and from time to time synced to the disk. */
#include "attn_tools.h"
#include "batch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/map.h"
#include "base/os.h"
#include "base/target.h"

static const double SYNC = 2;           /* seconds between two syncs to the disk */
/* Writing a number, or a record, takes a core about as long as this many floating point operations. */
static const double NUMBER_COST = 500, RECORD_COST = 50000;

/* ---- the names of its files: no two of them, nor the input, are the same file ------------- */

/* Endings of the files that a batch makes from the names it is given. */
static const char *const of_output[] = {"", ".part", ".json", ".part.json", "/records.ndjson",
                                        "/records.ndjson.part", NULL};
static const char *const of_summary[] = {"", ".part", NULL};

static int no_memory(const char *path, struct attn_err *err)
{
    return attn_no_memory(err, path, "for its name");
}

static int check_names(const struct attn_output *out, bool directory, struct attn_err *err)
{
    const struct attn_batch_opts *o = out->e->o;
    if ((o->path && !*o->path) || (o->summary && !*o->summary))
        return attn_fail(err, ATTN_EUSAGE, "cannot write to a file without a name");
    if (directory && attn_target_in_place(o->path))
        return attn_fail(err, ATTN_EUSAGE,
                         "%s writes files to a directory: name one with -o", out->e->writing.format->name);
    if (out->e->grids && out->e->writing.format->flags & ATTN_FORMAT_SUMMARY && attn_target_in_place(o->path))
        return attn_fail(err, ATTN_EUSAGE,
                         "the means over all records are known at the end, so they go to a file: name one with "
                         "--summary");
    if (o->summary && attn_target_in_place(o->summary))
        return attn_fail(err, ATTN_EUSAGE, "a summary beside the output goes to a file, and %s is none", o->summary);
    if (!directory && o->path && o->path[strlen(o->path) - 1] == '/')
        return attn_fail(err, ATTN_EUSAGE, "%s: is a directory, expected a file for %s; for a directory of tables give "
                         "--format csv", o->path, out->e->writing.format->name);
    return ATTN_OK;
}

static int set_names(struct attn_output *out, bool directory, struct attn_err *err)
{
    const struct attn_batch_opts *o = out->e->o;
    if (!attn_target_in_place(o->path) && !(out->path = attn_target_follow_directory(o->path)))
        return attn_fail_errno(err, o->path, "create");
    if (o->summary && !(out->summary_path = attn_target_follow(o->summary)))
        return attn_fail_errno(err, o->summary, "create");
    if (out->path && attn_asprintf(&out->stream_path, "%s%s", out->path, directory ? "/records.ndjson" : "") < 0) {
        out->stream_path = NULL;
        return no_memory(out->path, err);
    }
    out->e->writing.dir = out->path;
    return ATTN_OK;
}

static bool is_input(const char *path, const struct attn_records_opts *o)
{
    struct stat in, st;
    int failed = o->path && strcmp(o->path, "-") ? stat(o->path, &in) : fstat(STDIN_FILENO, &in);
    return !failed && S_ISREG(in.st_mode) && stat(path, &st) == 0 && in.st_dev == st.st_dev && in.st_ino == st.st_ino;
}

/* Refuses a file made from `path` that is the input or, unless NULL, the other output. */
static int check_apart(const struct attn_output *out, const char *path, const char *const *ending, const char *other,
                       struct attn_err *err)
{
    int rc = ATTN_OK;
    for (; *ending && path && !rc; ending++) {
        char *mine;
        if (attn_asprintf(&mine, "%s%s", path, *ending) < 0)
            return no_memory(path, err);
        if (is_input(mine, out->e->o->records))
            rc = attn_fail(err, ATTN_EUSAGE,
                           "%s: is the input, and would be written to: give the output another name", mine);
        if (!rc && other && attn_target_same(mine, other))
            rc = attn_fail(err, ATTN_EUSAGE, "%s: would be written to for the output and for the summary: give one of "
                                             "them another name", mine);
        free(mine);
    }
    return rc;
}

/* Refuses a summary in the directory of a record, which is replaced as a whole. */
static int check_outside(const struct attn_output *out, struct attn_err *err)
{
    size_t n = strlen(out->path);
    char record[32];
    const char *rest = out->summary_path && !strncmp(out->summary_path, out->path, n) && out->summary_path[n] == '/'
                       ? out->summary_path + n + 1 : "";
    snprintf(record, sizeof record, "%.*s", (int)strcspn(rest, "/"), rest);
    return !rest[strcspn(rest, "/")] || !attn_record_named(record) ? ATTN_OK
           : attn_fail(err, ATTN_EUSAGE,
                       "%s: is among the files of a record: give the summary another name", out->summary_path);
}

/* Sets path, stream_path and summary_path. */
static int find_paths(struct attn_output *out, struct attn_err *err)
{
    bool directory = attn_batch_in_directory(out->e->writing.format);
    int rc = check_names(out, directory, err);
    if (!rc)
        rc = set_names(out, directory, err);
    if (!rc)
        rc = check_apart(out, out->path, of_output, out->summary_path, err);
    if (!rc && directory)
        rc = check_outside(out, err);
    return rc ? rc : check_apart(out, out->summary_path, of_summary, out->path, err);
}

/* ---- opening --------------------------------------------------------------------------- */

static int copy(char **to, const char *s, struct attn_err *err)
{
    *to = s ? strdup(s) : NULL;
    return s && !*to ? attn_no_memory(err, NULL, "for '%s'", s) : ATTN_OK;
}

/* Fills in what a sidecar says about a batch before it starts: the command and its input. */
static int describe(struct attn_sidecar *s, const struct attn_engine *e, struct attn_err *err)
{
    const struct attn_batch_opts *o = e->o;
    const struct attn_records_opts *r = o->records;
    const char *format = attn_records_format(e->in);
    bool table = !strcmp(format, "csv") || !strcmp(format, "tsv");
    *s = (struct attn_sidecar){.total = UINT64_MAX, .header = table && !r->headless, .shard = r->share};
    attn_sums_start(s->now.keys);
    s->synced = s->now;
    if (!s->shard.count)
        s->shard = (struct attn_share){.count = 1};
    int rc = copy(&s->version, attn_version(), err);
    const struct { char **to; const char *from; } texts[] = {
        {&s->format, e->writing.format->name}, {&s->model, e->digest}, {&s->cpu, e->writing.job.cpu},
        {&s->command, o->command},
        {&s->input_format, format}, {&s->column, table ? r->column : NULL}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !rc; i++)
        rc = copy(texts[i].to, texts[i].from, err);
    for (size_t i = 0; i < o->n_options && !rc; i++)
        rc = attn_sidecar_add_option(s, o->options[i].name, o->options[i].value, err);
    return !rc && o->summary ? attn_sidecar_set_summary(s, o->summary, o->path, err) : rc;
}

static int check_arrays(const struct attn_output *out, struct attn_err *err)
{
    const struct attn_sidecar *s = &out->journal.side;
    return out->stack ? attn_stack_check_end(out->stack, (size_t)s->tokens, s->now.records, s->now.arrays, err)
                      : ATTN_OK;
}

/* Checks that a finished output is still there. */
static int check_complete(const struct attn_output *out, struct attn_err *err)
{
    const struct attn_mark *m = &out->journal.side.now;
    int rc = attn_part_check(out->stream_path, false, &m->stream, err);
    if (!rc && out->summary_path)
        rc = attn_part_check(out->summary_path, false, &m->summary, err);
    return rc ? rc : check_arrays(out, err);
}

/* The rows of a summary have no journal of their own: those of another batch that is not finished stay. */
static int check_rows_free(const struct attn_output *out, struct attn_err *err)
{
    uint64_t bytes;
    char *part;
    if (!out->path || !out->summary_path || out->e->o->force || !attn_part_size(out->summary_path, &bytes))
        return ATTN_OK;
    if (attn_asprintf(&part, "%s.part", out->summary_path) < 0)
        return no_memory(out->summary_path, err);
    int fd = attn_disk_take(part, 0666);
    free(part);
    if (fd < 0)
        return attn_disk_not_taken(err, out->summary_path, ".part", "create");
    close(fd);
    return attn_fail(err, ATTN_EFORMAT, "%s.part: a run with another output was not finished: continue that with "
                                        "--resume, give the summary another name, or start anew with --force",
                     out->summary_path);
}

int attn_output_open(struct attn_output *out, struct attn_engine *e, enum attn_journal_state *state,
                     struct attn_err *err)
{
    *out = (struct attn_output){.e = e, .journal = {.fd = -1}};
    int rc = find_paths(out, err);
    if (!rc && e->writing.format->flags & ATTN_FORMAT_STACK)
        rc = attn_stack_new(&out->stack, &e->info, e->o->select, out->path, err);
    if (!rc)
        rc = describe(&out->journal.side, e, err);
    if (!rc)
        rc = attn_journal_open(&out->journal, out->path, e->o->resume, e->o->force, state, err);
    if (!rc && *state == ATTN_JOURNAL_NEW)
        rc = check_rows_free(out, err);
    return rc || *state != ATTN_JOURNAL_COMPLETE ? rc : check_complete(out, err);
}

/* ---- starting -------------------------------------------------------------------------- */

static int check_text(struct attn_sha256 *kept, const char *path, const struct attn_written *w, struct attn_err *err)
{
    char *found = path ? attn_part_found(path) : NULL;
    int rc = path && !found ? attn_no_memory(err, path, "for its name") : ATTN_OK;
    if (!rc)
        rc = attn_written_check(kept, found, path ? w : &(struct attn_written){0}, err);
    free(found);
    return rc;
}

/* Whether the stream and the summary are as they were written, up to where a mark says. */
static int check_texts(struct attn_output *out, const struct attn_mark *m, struct attn_err *err)
{
    int rc = check_text(&out->kept, out->stream_path, &m->stream, err);
    return rc ? rc : check_text(&out->kept_rows, out->summary_path, &m->summary, err);
}

/* After a system crash the journal may be ahead of what is on the disk; then falls back to the last sync.  Of arrays
 * and of the directories of records it is not known, so there it always does: that is at most two seconds of work. */
static int fall_back(struct attn_output *out, struct attn_err *err)
{
    struct attn_sidecar *s = &out->journal.side;
    bool back = attn_batch_in_directory(out->e->writing.format) || check_texts(out, &s->now, NULL);
    if (back)
        s->now = s->synced;
    if (s->now.failed == s->now.records)        /* there was no array yet */
        s->tokens = 0;
    return back ? check_texts(out, &s->now, err) : ATTN_OK;
}

static int open_streams(struct attn_output *out, struct attn_err *err)
{
    const struct attn_mark *m = &out->journal.side.now;
    int rc = ATTN_OK;
    if (attn_batch_in_directory(out->e->writing.format))
        rc = attn_map_check_found(out->stream_path, ATTN_LINKS_REFUSED, err);
    if (!rc)
        rc = attn_out_open_growing(&out->stream, out->path ? out->stream_path : out->e->o->path, m->stream.bytes, err);
    if (!rc && out->path)
        attn_out_hash_on(out->stream, &out->kept);
    if (!rc && m->stream.bytes == 0)
        attn_writing_header(&out->e->writing, out->stream);
    if (!rc && out->summary_path)
        rc = attn_out_open_growing(&out->rows, out->summary_path, m->summary.bytes, err);
    if (!rc && out->rows)
        attn_out_hash_on(out->rows, &out->kept_rows);
    if (!rc && out->rows && m->summary.bytes == 0)
        attn_writing_summary_header(&out->e->writing, out->rows);
    return rc;
}

int attn_output_start(struct attn_output *out, struct attn_err *err)
{
    struct attn_sidecar *s = &out->journal.side;
    size_t made;
    int rc = fall_back(out, err);
    if (!rc && attn_batch_in_directory(out->e->writing.format))
        rc = attn_folder_make(out->path, &made, err);
    if (!rc)
        rc = attn_journal_start(&out->journal, err);
    if (!rc && out->stack && !s->tokens)
        rc = attn_stack_clear_begun(out->stack, err);
    if (!rc)
        rc = open_streams(out, err);
    if (!rc && out->stack)
        rc = attn_stack_continue(out->stack, (size_t)s->tokens, s->now.records, s->now.arrays, err);
    out->synced = attn_clock_now();
    return rc;
}

/* ---- records --------------------------------------------------------------------------- */

struct written { struct attn_record_lines lines; size_t captured; struct attn_err err; };
struct job { struct attn_output *out; const struct attn_item *item; struct written *written; bool live; };

static void write_one(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct job *j = ctx;
    struct written *w = &j->written[i];
    attn_writing_lines(&w->lines, &j->out->e->writing, &j->item[i], w->captured, j->live, &w->err);
}

static int stack_one(struct attn_output *out, const struct attn_item *item, size_t captured, bool live,
                     struct attn_err *err)
{
    struct attn_observer stack = attn_stack_observer(out->stack);
    bool failed = item->failure.code != ATTN_OK;
    int rc = failed || live ? ATTN_OK : attn_capture_announce(out->e->capture, captured, stack.watch, stack.self, err);
    attn_stack_end_row(out->stack, failed);
    return rc;
}

static int append(struct attn_output *out, const struct attn_item *item, const struct written *w, bool live,
                  struct attn_err *err)
{
    struct attn_mark *m = &out->journal.side.now;
    attn_out_write(out->stream, w->lines.line, w->lines.line_len);
    if (out->rows)
        attn_out_write(out->rows, w->lines.row, w->lines.row_len);
    m->records++;
    m->failed += item->failure.code != ATTN_OK;
    m->next = item->of.number + 1;
    attn_mark_add_key(m, item->of.number, item->key);
    return out->stack ? stack_one(out, item, w->captured, live, err) : ATTN_OK;
}

/* Syncs the whole file system, since there are many small files. */
static int sync_all(const char *dir, struct attn_err *err)
{
    int fd = attn_disk_open(dir, O_RDONLY | O_DIRECTORY, 0);
    int rc = fd < 0 ? attn_fail_errno(err, dir,
                                      "open") : attn_os_sync_all(fd) ? ATTN_OK : attn_fail_errno(err, dir, "write");
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Passes what was written to the system or, with `disk`, to the disk. */
static int flush(struct attn_output *out, bool disk, struct attn_err *err)
{
    int rc = attn_out_flush(out->stream, disk, err);
    if (!rc && out->rows)
        rc = attn_out_flush(out->rows, disk, err);
    if (!rc && out->stack)
        rc = attn_stack_flush(out->stack, disk, err);
    return !rc && disk && out->e->writing.format->flags & ATTN_FORMAT_APART ? sync_all(out->path, err) : rc;
}

static int note(struct attn_output *out, bool disk, struct attn_err *err)
{
    struct attn_sidecar *s = &out->journal.side;
    int rc = flush(out, disk && out->path, err);
    attn_written_note(&s->now.stream, out->stream);
    if (out->rows)
        attn_written_note(&s->now.summary, out->rows);
    if (out->stack)
        attn_stack_sum(out->stack, s->now.arrays);
    s->tokens = out->stack ? attn_stack_tokens(out->stack) : 0;
    if (disk)
        out->synced = attn_clock_now();
    return rc ? rc : attn_journal_note(&out->journal, disk, err);
}

static int write_all(struct job *j, size_t n, struct attn_err *err)
{
    double cost = 0;
    size_t captured = 0;
    for (size_t i = 0; i < n; i++) {
        const struct attn_tokens *tokens = j->item[i].tokens;
        j->written[i].captured = captured;
        captured += j->item[i].failure.code == ATTN_OK;
        cost += RECORD_COST + (tokens ? NUMBER_COST * (double)attn_engine_numbers(j->out->e, &j->item[i]) : 0);
    }
    attn_team_run(j->out->e->team, n, cost, write_one, j);
    for (size_t i = 0; i < n; i++)
        if (j->written[i].err.code)
            return attn_fail_as(err, &j->written[i].err);
    return ATTN_OK;
}

int attn_output_put(struct attn_output *out, const struct attn_item *item, size_t n, bool live, struct attn_err *err)
{
    struct job j = {out, item, calloc(n + 1, sizeof *j.written), live};
    if (!j.written)
        return attn_no_memory(err, NULL, "for %zu records", n);
    int rc = write_all(&j, n, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = append(out, &item[i], &j.written[i], live, err);
    for (size_t i = 0; i < n; i++)
        attn_writing_lines_free(&j.written[i].lines);
    free(j.written);
    return rc ? rc : note(out, attn_clock_now() - out->synced >= SYNC, err);
}

/* ---- ending ---------------------------------------------------------------------------- */

int attn_output_pause(struct attn_output *out, struct attn_err *err)
{
    return note(out, true, err);
}

/* The summary of grids becomes their means, unless it is one of several shards. */
static bool has_means(const struct attn_output *out)
{
    return out->e->grids && out->journal.side.shard.count < 2;
}

static bool stream_is_summary(const struct attn_output *out)
{
    return out->e->writing.format->flags & ATTN_FORMAT_SUMMARY;
}

/* Of means that have taken the place of the rows they were made of, the journal does not know the length. */
static int check_end(const char *path, const struct attn_written *w, bool becomes_means, struct attn_err *err)
{
    uint64_t left;
    bool made = path && becomes_means && !attn_part_size(path, &left);
    return !path || made ? ATTN_OK : attn_part_check(path, true, w, err);
}

int attn_output_check_end(const struct attn_output *out, struct attn_err *err)
{
    const struct attn_sidecar *s = &out->journal.side;
    int rc = check_end(out->summary_path, &s->now.summary, has_means(out), err);
    if (!rc)
        rc = check_end(out->stream_path, &s->now.stream, has_means(out) && stream_is_summary(out), err);
    return rc ? rc : check_arrays(out, err);
}

static int end_summary(const struct attn_output *out, const char *path, struct attn_written *w, struct attn_err *err)
{
    return has_means(out) ? attn_means_write(path, w, err) : attn_part_rename(path, true, err);
}

/* Whether a batch was finished here before, whose sidecar is replaced in the end. */
static bool was_before(const struct attn_output *out)
{
    struct attn_sidecar older;
    bool was = out->journal.json && attn_sidecar_read(&older, out->journal.json, NULL) == ATTN_OK;
    if (was)
        attn_sidecar_free(&older);
    return was;
}

/* What an older batch left in the directory would be taken for arrays and records of this one. */
static int clear_older(const struct attn_output *out, struct attn_err *err)
{
    const struct attn_sidecar *s = &out->journal.side;
    const struct attn_format *f = out->e->writing.format;
    if (!attn_batch_in_directory(f) || !was_before(out))
        return ATTN_OK;
    int rc = attn_stack_clear_others(out->path, s->tokens ? out->stack : NULL, err);
    return rc ? rc : attn_writing_clear(out->path, &s->shard, f->flags & ATTN_FORMAT_APART ? s->total : 0, err);
}

int attn_output_end(struct attn_output *out, struct attn_err *err)
{
    struct attn_sidecar *s = &out->journal.side;
    int rc = out->stack ? attn_stack_rename(out->stack, err) : ATTN_OK;
    if (!rc)
        rc = clear_older(out, err);
    if (!rc && out->summary_path)
        rc = end_summary(out, out->summary_path, &s->now.summary, err);
    if (!rc && out->stream_path)
        rc = stream_is_summary(out) ? end_summary(out, out->stream_path, &s->now.stream, err)
                                    : attn_part_rename(out->stream_path, true, err);
    s->synced = s->now;
    return rc ? rc : attn_journal_finish(&out->journal, err);
}

int attn_output_finish(struct attn_output *out, uint64_t total, struct attn_err *err)
{
    struct attn_sidecar *s = &out->journal.side;
    if (out->stack)
        attn_stack_finish(out->stack);
    int rc = flush(out, out->path, err);
    s->now.next = s->total = total;
    s->complete = true;
    if (!rc)
        rc = note(out, true, err);
    if (!rc && out->rows && !has_means(out))
        rc = attn_out_commit(out->rows, err);
    if (!rc && !(has_means(out) && stream_is_summary(out)))
        rc = attn_out_commit(out->stream, err);
    return rc ? rc : attn_output_end(out, err);
}

static void remove_part(const char *path)
{
    char *part;
    if (!path || attn_asprintf(&part, "%s.part", path) < 0)
        return;
    unlink(part);
    free(part);
}

void attn_output_withdraw(struct attn_output *out)
{
    if (!out->journal.begun)
        return;
    if (out->stream)
        remove_part(out->stream_path);
    if (out->rows)
        remove_part(out->summary_path);
    if (out->stack)
        attn_stack_clear_begun(out->stack, NULL);
    if (out->path && attn_batch_in_directory(out->e->writing.format))
        rmdir(out->path);               /* fails, as it should, unless the directory is empty */
    unlink(out->journal.part_json);
}

void attn_output_close(struct attn_output *out)
{
    attn_out_close(out->stream);
    attn_out_close(out->rows);
    attn_stack_free(out->stack);
    attn_journal_close(&out->journal);
    free(out->path);
    free(out->stream_path);
    free(out->summary_path);
}
