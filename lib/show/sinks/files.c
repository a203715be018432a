#include "sinks/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/strings.h"
#include "sinks/sink_json.h"
#include "sinks/manifest.h"

enum { ENDED = 4, ENDED_MOST = 128 };   /* most open files that wait to be hashed together: per thread, and in all */
/* Hashing a byte takes a core about as long as so many floating point operations: for attn_team_run. */
static const double COST = 80;

struct ended { struct attn_file *file; struct attn_err err; };

struct attn_files {
    const struct attn_sink_job *job;
    const char *format;
    struct attn_out *stream;            /* the one stream; NULL: a directory */
    size_t made;                        /* levels of the directory that we made */
    bool finished;                      /* the manifest is written */
    int lock;                           /* the directory, locked; -1: it is not */
    struct attn_rewrite *rewrite;       /* NULL: no file has its name yet */
    char *note;
    struct attn_file **list;
    size_t n, room;
    struct ended *ended;                /* files that are written, but not yet hashed and renamed */
    size_t n_ended, most_ended;
};

static bool one_stream(const char *path, const char *ending)
{
    struct stat st;
    if (!path || !strcmp(path, "-") || attn_ends_with(path, ending))
        return true;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int make_directory(struct attn_files *f, struct attn_err *err)
{
    const char *path = f->job->path;
    struct stat st;
    if (!*path)
        return attn_fail(err, ATTN_EUSAGE, "cannot write the %s files to a directory without a name", f->format);
    f->made = attn_disk_make_path(path);
    if (f->made)
        return 0;
    if (errno != EEXIST)
        return attn_fail_errno(err, path, "create the directory");
    if (stat(path, &st))                /* a link to nothing, say */
        return attn_fail_errno(err, path, "open the directory");
    if (!S_ISDIR(st.st_mode))
        return attn_fail(err, ATTN_EIO, "%s: found a file, expected a directory for the %s files", path, f->format);
    return 0;
}

/* Two runs that write to one directory at a time would mix their files. */
static int take_directory(struct attn_files *f, struct attn_err *err)
{
    int rc = make_directory(f, err);
    return rc || f->job->staged ? rc : attn_folder_hold(&f->lock, f->job->path, err);
}

/* Names the command that writes a directory, unless it is too long for a message: then its options. */
static int too_many(const struct attn_sink_job *job, const struct attn_files_plan *plan, struct attn_err *err)
{
    enum { SHORT = 110 };
    const char *path = job->path && strcmp(job->path, "-") ? job->path : NULL, *ending = plan->format->ending;
    const char *command = job->command && strlen(job->command) <= SHORT ? job->command : "";
    char format[32] = "";
    size_t stem = path && attn_ends_with(path, ending) ? strlen(path) - strlen(ending) : 0;
    snprintf(format, sizeof format, " --format %s", plan->format->name);
    const char *more = strstr(command, format) ? "" : format;
    return attn_fail(err, ATTN_EUSAGE, "%s takes one %s of %s, but %zu %s are selected; select one, or "
                     "give a directory: %s%s -o %.*s",
                     path ? path : "standard output", plan->unit, plan->format->name, plan->count, plan->units, command,
                     more + (!*command && *more), (int)(stem ? stem : strlen("DIR")), stem ? path : "DIR");
}

static int open_target(struct attn_files *f, const struct attn_files_plan *plan, struct attn_err *err)
{
    if (!one_stream(f->job->path, plan->format->ending))
        return take_directory(f, err);
    if (plan->count == 1)
        return attn_out_open(&f->stream, f->job->path, err);
    return too_many(f->job, plan, err);
}

int attn_files_open(struct attn_files **out, const struct attn_sink_job *job, const struct attn_files_plan *plan,
                    struct attn_err *err)
{
    *out = NULL;
    struct attn_files *f = calloc(1, sizeof *f);
    if (!f)
        return attn_no_memory(err, NULL, "for a list of files");
    f->lock = -1;
    f->job = job;
    f->format = plan->format->name;
    f->most_ended = ENDED * (size_t)attn_team_size(job->team);
    if (f->most_ended > ENDED_MOST)
        f->most_ended = ENDED_MOST;
    f->ended = calloc(f->most_ended, sizeof *f->ended);
    int rc = f->ended ? open_target(f, plan, err)
                      : attn_no_memory(err, NULL, "for a list of %zu files", f->most_ended);
    if (rc)
        attn_files_close(f);
    else
        *out = f;
    return rc;
}

static struct attn_file *add(struct attn_files *f, const struct attn_file *what)
{
    struct attn_file **list = attn_grow(f->list, &f->room, f->n + 1, sizeof *list);
    if (!list)
        return NULL;
    f->list = list;
    struct attn_file *file = malloc(sizeof *file);
    if (file) {
        *file = *what;
        file->out = NULL;
        f->list[f->n++] = file;
    }
    return file;
}

static int open_in_directory(struct attn_file *file, const char *dir, struct attn_err *err)
{
    int rc = attn_folder_open(&file->out, dir, file->file, err);
    if (!rc)
        attn_out_hash(file->out);
    return rc;
}

int attn_files_begin(struct attn_file **out, struct attn_files *f, const struct attn_file *what,
                     struct attn_err *err)
{
    struct attn_file *file = add(f, what);
    *out = file;
    if (!file)
        return attn_no_memory(err, what->file, "to list %zu files", f->n + 1);
    if (!f->stream)
        return open_in_directory(file, f->job->path, err);
    file->out = f->stream;
    return 0;
}

/* Hashes ended files 2i and 2i + 1, and writes what is left of them: a full disk shows before any file is replaced. */
static void complete_two(void *ctx, size_t i, int worker)
{
    (void)worker;
    struct attn_files *f = ctx;
    struct attn_file *a = f->ended[2 * i].file;
    if (2 * i + 1 == f->n_ended) {
        attn_out_digest(a->out, a->sha256);
    } else {
        struct attn_file *b = f->ended[2 * i + 1].file;
        attn_out_digest_two(a->out, a->sha256, b->out, b->sha256);
    }
    for (size_t k = 2 * i; k < f->n_ended && k < 2 * i + 2; k++) {
        f->ended[k].err.code = ATTN_OK;
        attn_out_flush(f->ended[k].file->out, false, &f->ended[k].err);
    }
}

static void commit(void *ctx, size_t i, int worker)
{
    (void)worker;
    struct ended *e = &((struct attn_files *)ctx)->ended[i];
    e->err.code = ATTN_OK;
    attn_out_commit(e->file->out, &e->err);
    attn_out_close(e->file->out);
    e->file->out = NULL;
}

/* Adds the ended files to the list of those that get their names. */
static int list_ended(struct attn_files *f, struct attn_err *err)
{
    struct attn_file *list[ENDED_MOST];
    for (size_t i = 0; i < f->n_ended; i++) {
        list[i] = f->ended[i].file;
        list[i]->bytes = attn_out_bytes(list[i]->out);
    }
    if (f->job->staged)
        return ATTN_OK;
    int rc = f->rewrite ? ATTN_OK : attn_rewrite_begin(&f->rewrite, f->job->path, err);
    return rc ? rc : attn_rewrite_add(f->rewrite, list, f->n_ended, err);
}

/* The first failure of the ended files. */
static int failure(const struct attn_files *f, size_t n, struct attn_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (f->ended[i].err.code)
            return attn_fail_as(err, &f->ended[i].err);
    return ATTN_OK;
}

/* Completes the ended files, two at a time in a thread, and gives them their names. */
static int commit_ended(struct attn_files *f, struct attn_err *err)
{
    double bytes = 0;
    for (size_t i = 0; i < f->n_ended; i++)
        bytes += (double)attn_out_bytes(f->ended[i].file->out);
    attn_team_run(f->job->team, (f->n_ended + 1) / 2, COST * bytes, complete_two, f);
    int rc = failure(f, f->n_ended, err);
    if (!rc && !f->stream)
        rc = list_ended(f, err);
    if (rc)
        return rc;
    attn_team_run(f->job->team, f->n_ended, COST * bytes, commit, f);
    size_t n = f->n_ended;
    f->n_ended = 0;
    return failure(f, n, err);
}

int attn_files_end(struct attn_files *f, struct attn_file *file, struct attn_err *err)
{
    if (f->stream)
        return 0;                       /* a stream is committed by attn_files_finish */
    f->ended[f->n_ended++].file = file;
    return f->n_ended == f->most_ended ? commit_ended(f, err) : 0;
}

/* ---- the manifest ---------------------------------------------------------------------- */

static void member(struct attn_out *o, const char *key, const char *value)
{
    attn_doc_string(o, key);
    attn_out_char(o, ':');
    attn_doc_string(o, value);
}

static void options(struct attn_out *o, const struct attn_sink_job *job, const char *format)
{
    struct attn_asked asked = attn_select_asked(job->select);
    attn_out_str(o, "\"options\":{");
    member(o, "format", format);
    attn_out_char(o, ',');
    member(o, "show", asked.show);
    attn_out_char(o, ',');
    member(o, "layer", asked.layers);
    attn_out_char(o, ',');
    member(o, "head", asked.heads);
    attn_doc_kind(o, &job->kind, "");
    attn_out_str(o, "},\n");
}

static void write_file(struct attn_out *o, const struct attn_sink_job *job, const struct attn_file *f)
{
    attn_out_str(o, ATTN_LISTED_FILE);
    attn_out_str(o, f->file);           /* made of our own names: nothing to escape */
    attn_out_str(o, "\",");
    member(o, "name", f->name);
    attn_out_str(o, ",\"layer\":");
    attn_doc_index(o, f->layer);
    attn_out_str(o, ",\"head\":");
    attn_doc_index(o, f->head);
    attn_out_str(o, ",\"heads\":");
    if (f->n_heads)
        attn_doc_sizes(o, f->heads, f->n_heads);
    else
        attn_out_str(o, "null");
    attn_doc_mask(o, job, f->act, f->layer);
    attn_out_str(o, ",\"shape\":");
    attn_doc_sizes(o, f->shape, (size_t)f->ndim);
    attn_out_char(o, ',');
    member(o, "sha256", f->sha256);
    attn_out_str(o, ",\"bytes\":");
    attn_out_u64(o, f->bytes);
    attn_out_char(o, '}');
}

static void put_manifest(struct attn_out *o, const struct attn_sink_job *job, const char *format,
                         struct attn_file *const *files, size_t n)
{
    attn_out_str(o, ATTN_LISTED_TOOL);
    member(o, "version", attn_version());
    attn_out_str(o, ",\n");
    member(o, "command", job->command);
    attn_out_str(o, ",\n\"model\":");
    attn_doc_model(o, job);
    attn_out_str(o, ",\n");
    options(o, job, format);
    member(o, "cpu", job->cpu);
    attn_out_str(o, ",\n\"tokens\":");
    attn_doc_tokens(o, job->tokens, "\n");
    if (job->cross) {
        attn_out_str(o, ",\n\"context_tokens\":");
        attn_doc_tokens(o, job->cross, "\n");
    }
    attn_doc_words(o, job, "\n");
    attn_doc_edits(o, job->edits, "\n");
    attn_out_char(o, ',');
    attn_out_str(o, ATTN_LISTED_FILES);
    for (size_t i = 0; i < n; i++) {
        attn_out_str(o, i ? "," : "");
        write_file(o, job, files[i]);
    }
    attn_out_str(o, ATTN_LISTED_END);
}

static int write_manifest(const struct attn_sink_job *job, const char *format, struct attn_file *const *files, size_t n,
                          struct attn_err *err)
{
    struct attn_out *o;
    int rc = attn_folder_open(&o, job->path, "manifest.json", err);
    if (rc)
        return rc;
    put_manifest(o, job, format, files, n);
    return attn_out_end(o, ATTN_OK, err);
}

/* ---- the end --------------------------------------------------------------------------- */

static int compare(int a, int b)
{
    return (a > b) - (a < b);
}

/* The order of the forward pass: of activations outside the blocks, some come before them and some after. */
static int by_flow(const void *a, const void *b)
{
    const struct attn_file *x = *(struct attn_file *const *)a, *y = *(struct attn_file *const *)b;
    bool in_block = x->layer >= 0 && y->layer >= 0;
    int order = in_block ? compare(x->layer, y->layer) : 0;
    if (!order)
        order = compare(x->act, y->act);
    return order ? order : compare(x->head, y->head);
}

static int finish_directory(struct attn_files *f, struct attn_err *err)
{
    char *changed = NULL;
    int rc = write_manifest(f->job, f->format, f->list, f->n, err);
    if (rc || f->job->staged)
        return rc;
    rc = attn_rewrite_end(f->rewrite, f->list, f->n, &changed, err);
    if (changed && attn_asprintf(&f->note,
                                 "%s/%s: is left there: it is not as an older run wrote it", f->job->path, changed) < 0)
        f->note = NULL;
    free(changed);
    return rc;
}

const char *attn_files_note(const struct attn_files *f)
{
    return f->note;
}

int attn_files_finish(struct attn_files *f, struct attn_err *err)
{
    int rc = commit_ended(f, err);
    if (f->n)                           /* files were begun in another order, as dots, scores and pattern alternate */
        qsort(f->list, f->n, sizeof *f->list, by_flow);
    if (!rc)
        rc = f->stream ? attn_out_commit(f->stream, err)
                       : finish_directory(f, err);
    f->finished = !rc;
    return rc;
}

static void withdraw_file(const struct attn_files *f, const char *file)
{
    char *path;
    if (attn_asprintf(&path, "%s/%s", f->job->path, file) < 0)
        return;
    unlink(path);
    free(path);
}

/* Removes the manifest, the files, and the directory, if it was made for them and the writing did not finish. */
static void withdraw(const struct attn_files *f)
{
    if (f->rewrite)
        attn_rewrite_withdraw(f->rewrite);
    withdraw_file(f, "manifest.json");
    for (size_t i = 0; i < f->n; i++)
        withdraw_file(f, f->list[i]->file);
    attn_disk_unmake_path(f->job->path, f->made);       /* stops, rightly, where somebody else put something */
}

void attn_files_close(struct attn_files *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n && !f->stream; i++)
        attn_out_close(f->list[i]->out);
    attn_out_close(f->stream);
    if (f->made && !f->finished)
        withdraw(f);
    for (size_t i = 0; i < f->n; i++)
        free(f->list[i]);
    attn_rewrite_close(f->rewrite);
    if (f->lock >= 0)
        close(f->lock);
    free(f->note);
    free(f->list);
    free(f->ended);
    free(f);
}
