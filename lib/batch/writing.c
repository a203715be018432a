#include "batch/writing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sinks/doc.h"
#include "sinks/tidy.h"

static const struct attn_writer writers[] = {
    {"ndjson", &attn_format_ndjson, NULL, NULL, false},
    {"tidy", &attn_format_tidy, NULL, NULL, false},
    {"summary", NULL, NULL, NULL, false},
    {"csv", &attn_format_ndjson, &attn_format_csv, NULL, false},
    {"npy", &attn_format_ndjson, &attn_format_npy, NULL, false},
    {"npz", &attn_format_ndjson, &attn_format_npz, "activations.npz", false},
    {"png", &attn_format_ndjson, &attn_format_png, "activations.png", false},
    {"svg", &attn_format_ndjson, &attn_format_svg, "activations.svg", false},
    {"stack", &attn_format_ndjson, NULL, NULL, true},
};

const struct attn_writer *attn_writer_find(const char *name)
{
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (!strcmp(writers[i].name, name))
            return &writers[i];
    return NULL;
}

const char *attn_writer_list(void)
{
    return "ndjson, tidy, summary, csv, npy, npz, png, svg, stack";
}

bool attn_writer_has_directory(const struct attn_writer *k)
{
    return k->each || k->stack;
}

static struct attn_sink_job job_of(const struct attn_writing *w, const struct attn_item *item, const struct attn_sink_record *record)
{
    struct attn_sink_job job = w->job;
    job.tokens = item->tokens;
    job.text = item->of.text;
    job.text_len = item->of.text_len;
    job.record = record;
    return job;
}

/* ---- activations ----------------------------------------------------------------------- */

static int open_place(struct attn_live *l, const struct attn_writing *w, uint64_t number, struct attn_err *err)
{
    int rc = attn_record_dir_open(&l->place, w->dir, number, err);
    if (rc)
        return rc;
    l->job.to = NULL;
    l->job.path = l->place.part;
    l->job.staged = true;
    if (w->writer->file && asprintf(&l->file, "%s/%s", l->place.part, w->writer->file) < 0) {
        l->file = NULL;
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the path of a file", l->place.part);
    }
    if (l->file)
        l->job.path = l->file;
    return ATTN_OK;
}

int attn_live_open(struct attn_live *l, const struct attn_writing *w, const struct attn_item *item, struct attn_out *to,
                   struct attn_team *team, struct attn_err *err)
{
    *l = (struct attn_live){.record = {&item->of, item->key}};
    l->job = job_of(w, item, &l->record);
    l->job.to = to;
    l->job.team = team;
    int rc = w->writer->each ? open_place(l, w, item->of.number, err) : ATTN_OK;
    const struct attn_format *format = w->writer->each ? w->writer->each : w->writer->stack ? NULL : w->writer->stream;
    if (!rc && format)
        rc = format->open(&l->self, &l->job, err);
    if (!rc)
        l->format = format;
    return rc;
}

int attn_live_finish(struct attn_live *l, struct attn_err *err)
{
    int rc = l->format ? l->format->finish(l->self, err) : ATTN_OK;
    return rc || !l->place.part ? rc : attn_record_dir_commit(&l->place, err);
}

void attn_live_close(struct attn_live *l)
{
    if (l->format)
        l->format->close(l->self);
    attn_record_dir_close(&l->place);
    free(l->file);
}

static int tell(const struct attn_writing *w, const struct attn_item *item, size_t i, struct attn_out *to, struct attn_err *err)
{
    struct attn_live l;
    int rc = attn_live_open(&l, w, item, to, NULL, err);
    if (!rc && l.format)
        rc = attn_capture_tell(w->capture, i, l.format->watch, l.self, err);
    if (!rc)
        rc = attn_live_finish(&l, err);
    attn_live_close(&l);
    return rc;
}

/* ---- lines ----------------------------------------------------------------------------- */

/* Writes the document without activations, which are in other files. */
static int write_index(const struct attn_writing *w, const struct attn_sink_job *job, struct attn_err *err)
{
    void *self;
    int rc = w->writer->stream->open(&self, job, err);
    if (rc)
        return rc;
    rc = w->writer->stream->finish(self, err);
    w->writer->stream->close(self);
    return rc;
}

static void write_failure(const struct attn_writing *w, const struct attn_sink_job *job, const char *why)
{
    if (!w->writer->stream)
        attn_summary_failed(w->summary, job->to, job, why);
    else if (w->writer->stream == &attn_format_tidy)
        attn_tidy_failed(job->to, job, why);
    else
        attn_doc_failed(job->to, job, why);
}

static int write_line(const struct attn_writing *w, const struct attn_item *item, size_t i, bool live,
                      const struct attn_sink_job *job, struct attn_err *err)
{
    bool inside = !attn_writer_has_directory(w->writer);
    if (item->failure.code)
        return write_failure(w, job, item->failure.msg), ATTN_OK;
    if (!w->writer->stream)
        return attn_summary_line(w->summary, i, job->to, job), ATTN_OK;
    int rc = live || w->writer->stack ? ATTN_OK : tell(w, item, i, job->to, err);
    return rc || inside ? rc : write_index(w, job, err);
}

static void write_row(const struct attn_writing *w, const struct attn_item *item, size_t i, const struct attn_sink_job *job)
{
    if (item->failure.code)
        attn_summary_failed(w->summary, job->to, job, item->failure.msg);
    else
        attn_summary_line(w->summary, i, job->to, job);
}

int attn_writing_lines(struct attn_lines_of *out, const struct attn_writing *w, const struct attn_item *item, size_t i, bool live,
                       struct attn_err *err)
{
    struct attn_sink_record record = {&item->of, item->key};
    struct attn_sink_job job = job_of(w, item, &record);
    *out = (struct attn_lines_of){0};
    int rc = attn_out_open_memory(&job.to, err);
    if (rc)
        return rc;
    rc = write_line(w, item, i, live, &job, err);
    if (!rc)
        rc = attn_out_take(job.to, &out->line, &out->line_len, err);
    if (!rc && w->summary && w->writer->stream) {
        write_row(w, item, i, &job);
        rc = attn_out_take(job.to, &out->row, &out->row_len, err);
    }
    attn_out_close(job.to);
    return rc;
}

void attn_writing_lines_free(struct attn_lines_of *l)
{
    free(l->line);
    free(l->row);
}

void attn_writing_header(const struct attn_writing *w, struct attn_out *stream)
{
    if (!w->writer->stream)
        attn_summary_header(w->summary, stream);
    else if (w->writer->stream == &attn_format_tidy)
        attn_out_str(stream, attn_tidy_header);
}
