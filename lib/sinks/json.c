/* json.c - writes one document (doc.h) to one stream; in ndjson it is one line. */
#include <stdlib.h>

#include "base/err.h"
#include "sinks/doc.h"

static void json_close(void *self)
{
    struct attn_doc *d = self;
    if (!d)
        return;
    attn_lines_free(d->lines);
    attn_sink_stream_close(d->out, d->job);
    free(d);
}

static int json_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    struct attn_doc *d = calloc(1, sizeof *d);
    if (!d)
        return attn_fail(err, ATTN_ENOMEM, "no memory for a JSON document");
    d->job = job;
    d->eol = f->flags & ATTN_FORMAT_LINES ? "" : "\n";
    int rc = attn_sink_stream(&d->out, job, err);
    if (!rc)
        rc = attn_lines_new(&d->lines, job->team, err);
    if (rc) {
        json_close(d);
        return rc;
    }
    attn_doc_begin(d);
    *self = d;
    return 0;
}

static unsigned json_wants(void *self, int act, int layer)
{
    return attn_piece_wants(((struct attn_doc *)self)->job->select, act, layer, true);
}

static int json_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct attn_doc *d = self;
    struct attn_piece piece;
    int rc = 0;                         /* the output keeps its error for finish */
    for (size_t at = 0; !rc && !attn_out_failed(d->out) && attn_piece_next(&piece, d->job->select, p, &at);)
        rc = attn_doc_piece(d, &piece, err);
    return rc;
}

static int json_finish(void *self, struct attn_err *err)
{
    struct attn_doc *d = self;
    attn_doc_end(d);
    attn_out_char(d->out, '\n');
    return attn_sink_stream_end(d->out, d->job, err);
}

const struct attn_sink_methods attn_json_methods = {
    .open = json_open, .wants = json_wants, .watch = json_watch, .finish = json_finish, .close = json_close,
};

const struct attn_sink_methods attn_ndjson_methods = {
    .open = json_open, .wants = json_wants, .watch = json_watch, .finish = json_finish, .close = json_close,
    .failed = attn_doc_failed,
};
