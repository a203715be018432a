/* npy.c - one activation per file: OUT/blocks.0.attn.pattern.npy, [selected heads,T,n] or [T,n].  The
 * token table has no file: it is in the manifest. */
#include "sinks/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sinks/files.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they lie in memory");

void attn_npy_header(char out[ATTN_NPY_HEADER], const size_t *shape, int ndim)
{
    enum { START = 10 };                /* magic, version, length */
    const unsigned length = ATTN_NPY_HEADER - START;
    char dict[ATTN_NPY_HEADER - START + 1];
    int n = snprintf(dict, sizeof dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < ndim; i++)
        n += snprintf(dict + n, sizeof dict - (size_t)n, i ? ", %zu" : "%zu", shape[i]);
    n += snprintf(dict + n, sizeof dict - (size_t)n, ndim == 1 ? ",), }" : "), }");     /* (5) is no tuple in Python */
    memset(out, ' ', ATTN_NPY_HEADER);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)(length & 0xFF);
    out[9] = (char)(length >> 8);
    memcpy(out + START, dict, (size_t)n);
    out[ATTN_NPY_HEADER - 1] = '\n';
}

struct npy {
    const struct attn_sink_job *job;
    struct attn_files *files;
    struct attn_file *writing[ATTN_ACTS];       /* several are open, as bands of dots, scores and pattern alternate */
};

static void npy_close(void *self)
{
    struct npy *n = self;
    if (!n)
        return;
    attn_files_close(n->files);
    free(n);
}

static int npy_open(void **self, const struct attn_format *f, const struct attn_sink_job *job, struct attn_err *err)
{
    struct npy *n = calloc(1, sizeof *n);
    if (!n)
        return attn_fail(err, ATTN_ENOMEM, "no memory for npy files");
    n->job = job;
    struct attn_files_plan plan = { f, "activation", "activations", attn_select_activations(job->select) };
    int rc = attn_files_open(&n->files, job, &plan, err);
    if (rc)
        npy_close(n);
    else
        *self = n;
    return rc;
}

static unsigned npy_wants(void *self, int act, int layer)
{
    return attn_piece_wants(((struct npy *)self)->job->select, act, layer, false);
}

static int begin(struct npy *n, const struct attn_piece *p, struct attn_err *err)
{
    struct attn_file **file = &n->writing[p->of->act];
    struct attn_file what = { .act = p->of->act, .layer = p->of->layer, .head = -1, .heads = p->kept, .n_heads = p->n_kept };
    what.ndim = attn_piece_shape(what.shape, p);
    attn_act_name(what.name, p->of->act, p->of->layer);
    snprintf(what.file, sizeof what.file, "%s.npy", what.name);
    int rc = attn_files_begin(file, n->files, &what, err);
    if (rc)
        return rc;
    char header[ATTN_NPY_HEADER];
    attn_npy_header(header, what.shape, what.ndim);
    attn_out_write((*file)->out, header, sizeof header);
    return 0;
}

static int add_piece(struct npy *n, const struct attn_piece *p, struct attn_err *err)
{
    struct attn_file **file = &n->writing[p->of->act];
    int rc = attn_piece_opens(p) ? begin(n, p, err) : 0;
    size_t together = attn_piece_together(p);
    for (size_t i = 0; !rc && i < p->rows; i += together)
        attn_out_write((*file)->out, attn_piece_row(p, i), together * p->cols * sizeof(float));
    return !rc && attn_piece_ends(p) ? attn_files_end(n->files, *file, err) : rc;
}

static int npy_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct npy *n = self;
    struct attn_piece p;
    int rc = 0;
    for (size_t at = 0; !rc && attn_piece_next(&p, n->job->select, probe, &at);)
        rc = add_piece(n, &p, err);
    return rc;
}

static int npy_finish(void *self, struct attn_err *err)
{
    return attn_files_finish(((struct npy *)self)->files, err);
}

static const char *npy_note(void *self)
{
    return attn_files_note(((struct npy *)self)->files);
}

const struct attn_sink_methods attn_npy_methods = {
    .open = npy_open, .wants = npy_wants, .watch = npy_watch, .finish = npy_finish, .note = npy_note, .close = npy_close,
};
