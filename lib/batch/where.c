#include "batch/where.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/target.h"

/* Endings of the files that a batch makes from the names it is given. */
static const char *const of_output[] = {"", ".part", ".json", ".part.json", "/records.ndjson", "/records.ndjson.part", NULL};
static const char *const of_summary[] = {"", ".part", NULL};

static int no_memory(const char *path, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory for its name", path);
}

/* ---- names ----------------------------------------------------------------------------- */

static int check_names(const struct attn_output *out, bool directory, struct attn_err *err)
{
    const struct attn_batch_opts *o = out->e->o;
    if ((o->path && !*o->path) || (o->summary && !*o->summary))
        return attn_fail(err, ATTN_EUSAGE, "cannot write to a file without a name");
    if (directory && attn_target_in_place(o->path))
        return attn_fail(err, ATTN_EUSAGE, "%s writes files to a directory: name one with -o", out->e->how.writer->name);
    if (o->summary && attn_target_in_place(o->summary))
        return attn_fail(err, ATTN_EUSAGE, "a summary beside the output goes to a file, and %s is none", o->summary);
    if (!directory && o->path && o->path[strlen(o->path) - 1] == '/')
        return attn_fail(err, ATTN_EUSAGE, "%s: is a directory, expected a file for %s", o->path, out->e->how.writer->name);
    return ATTN_OK;
}

static int set_names(struct attn_output *out, bool directory, struct attn_err *err)
{
    const struct attn_batch_opts *o = out->e->o;
    if (!attn_target_in_place(o->path) && !(out->path = attn_target_follow_directory(o->path)))
        return attn_fail_errno(err, o->path, "create");
    if (o->summary && !(out->summary_path = attn_target_follow(o->summary)))
        return attn_fail_errno(err, o->summary, "create");
    if (out->path && asprintf(&out->stream_path, "%s%s", out->path, directory ? "/records.ndjson" : "") < 0) {
        out->stream_path = NULL;
        return no_memory(out->path, err);
    }
    out->e->how.dir = out->path;
    return ATTN_OK;
}

/* ---- one file, one use ----------------------------------------------------------------- */

static bool is_input(const char *path, const struct attn_records_opts *o)
{
    struct stat in, st;
    int failed = o->path && strcmp(o->path, "-") ? stat(o->path, &in) : fstat(STDIN_FILENO, &in);
    return !failed && S_ISREG(in.st_mode) && stat(path, &st) == 0 && in.st_dev == st.st_dev && in.st_ino == st.st_ino;
}

/* Refuses a file made from `path` that is the input or, unless NULL, the other output. */
static int check_apart(const struct attn_output *out, const char *path, const char *const *ending, const char *other, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (; *ending && path && !rc; ending++) {
        char *mine;
        if (asprintf(&mine, "%s%s", path, *ending) < 0)
            return no_memory(path, err);
        if (is_input(mine, out->e->o->records))
            rc = attn_fail(err, ATTN_EUSAGE, "%s: is the input, and would be written to: give the output another name", mine);
        if (!rc && other && attn_target_same(mine, other))
            rc = attn_fail(err, ATTN_EUSAGE, "%s: would be written to for the output and for the summary: give one of them another name",
                           mine);
        free(mine);
    }
    return rc;
}

int attn_output_find(struct attn_output *out, struct attn_err *err)
{
    bool directory = attn_writer_has_directory(out->e->how.writer);
    int rc = check_names(out, directory, err);
    if (!rc)
        rc = set_names(out, directory, err);
    if (!rc)
        rc = check_apart(out, out->path, of_output, out->summary_path, err);
    return rc ? rc : check_apart(out, out->summary_path, of_summary, out->path, err);
}
