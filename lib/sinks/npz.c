/* npz.c - all activations in one zip archive for numpy.load: members NAME.npy (npy.h), stored. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "sinks/npy.h"
#include "sinks/piece.h"
#include "sinks/sink.h"
#include "sinks/zip.h"

struct npz { const struct attn_sink_job *job; struct attn_out *out; struct attn_zip *zip; };

static void npz_close(void *self)
{
    struct npz *n = self;
    if (!n)
        return;
    attn_zip_free(n->zip);
    attn_out_close(n->out);
    free(n);
}

static int npz_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    (void)f;
    if (!attn_select_activations(job->select))
        return attn_fail(err, ATTN_EUSAGE, "an npz archive holds activations, and only tokens are selected; "
                         "for the token table take text, json or csv");
    struct npz *n = calloc(1, sizeof *n);
    if (!n)
        return attn_fail(err, ATTN_ENOMEM, "no memory for an npz archive");
    n->job = job;
    int rc = attn_out_open(&n->out, job->path, err);
    if (!rc)
        rc = attn_zip_new(&n->zip, n->out, ATTN_ZIP_LIMIT, err);
    if (rc)
        npz_close(n);
    else
        *self = n;
    return rc;
}

static unsigned npz_wants(void *self, int act, int layer)
{
    return attn_piece_wants(((struct npz *)self)->job->select, act, layer, true);
}

static int begin(struct npz *n, const struct attn_piece *p, struct attn_err *err)
{
    char name[ATTN_NAME_MAX + 8], header[ATTN_NPY_HEADER];
    size_t shape[3];
    int ndim = attn_piece_shape(shape, p);
    uint64_t size = sizeof header + (uint64_t)p->matrices * p->T * p->cols * sizeof(float);
    snprintf(name, sizeof name, "%s.npy", p->of->name);
    int rc = attn_zip_begin(n->zip, name, size, err);
    if (rc)
        return rc;
    attn_npy_header(header, shape, ndim);
    attn_zip_add(n->zip, header, sizeof header);
    return 0;
}

static int add_piece(struct npz *n, const struct attn_piece *p, struct attn_err *err)
{
    int rc = attn_piece_opens(p) ? begin(n, p, err) : 0;
    size_t together = attn_piece_together(p);
    for (size_t i = 0; !rc && i < p->rows; i += together)
        attn_zip_add(n->zip, attn_piece_row(p, i), together * p->cols * sizeof(float));
    if (!rc && attn_piece_ends(p))
        attn_zip_end(n->zip);
    return rc;
}

static int npz_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct npz *n = self;
    struct attn_piece p;
    int rc = 0;
    for (size_t at = 0; !rc && attn_piece_next(&p, n->job->select, probe, &at);)
        rc = add_piece(n, &p, err);
    return rc;
}

static int npz_finish(void *self, struct attn_err *err)
{
    struct npz *n = self;
    attn_zip_finish(n->zip);
    return attn_out_commit(n->out, err);
}

const struct attn_sink_methods attn_npz_methods = {
    .open = npz_open, .wants = npz_wants, .watch = npz_watch, .finish = npz_finish, .close = npz_close,
};
