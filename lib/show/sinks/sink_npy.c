#include "sinks/hide.h"
#include "sinks/sink_npy.h"
#include "attn_tools.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "sinks/files.h"
#include "trace/slice.h"
#include "sinks/sink.h"
#include "sinks/tensor_sheet.h"
#include "io/npy.h"
#include "io/zip.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they lie in memory");

static void header_of(char out[ATTN_NPY_HEADER], const char *type, const size_t *shape, int ndim)
{
    enum { START = 10 };                /* magic, version, length */
    const unsigned length = ATTN_NPY_HEADER - START;
    char dict[ATTN_NPY_HEADER - START + 1];
    assert(ndim <= ATTN_NPY_AXES);      /* there is room for so many sizes */
    int n = snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
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

void attn_npy_header_of(char out[ATTN_NPY_HEADER], size_t bytes, const size_t *shape, int ndim)
{
    header_of(out, bytes == sizeof(double) ? "<f8" : "<f4", shape, ndim);
}

void attn_npy_header(char out[ATTN_NPY_HEADER], const size_t *shape, int ndim)
{
    attn_npy_header_of(out, sizeof(float), shape, ndim);
}

/* ---- npy: one activation per file ------------------------------------------------------ */

/* OUT/blocks.0.attn.pattern.npy, [selected heads,T,n] or [T,n].  The token table has no file: it is in the manifest. */
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
        return attn_no_memory(err, NULL, "for npy files");
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
    return attn_slice_wants(((struct npy *)self)->job->select, act, layer, false);
}

static int npy_begin(struct npy *n, const struct attn_slice *p, struct attn_err *err)
{
    struct attn_file **file = &n->writing[p->of->act];
    struct attn_file what = { .act = p->of->act, .layer = p->of->layer, .head = -1, .heads = p->kept,
                             .n_heads = p->n_kept };
    what.ndim = attn_slice_shape(what.shape, p);
    attn_act_name(what.name, p->of->act, p->of->layer);
    snprintf(what.file, sizeof what.file, "%s.npy", what.name);
    int rc = attn_files_begin(file, n->files, &what, err);
    if (rc)
        return rc;
    char header[ATTN_NPY_HEADER];
    attn_npy_header_of(header, attn_slice_size(p), what.shape, what.ndim);
    attn_out_write((*file)->out, header, sizeof header);
    return 0;
}

static int npy_add(struct npy *n, const struct attn_slice *p, struct attn_err *err)
{
    struct attn_file **file = &n->writing[p->of->act];
    int rc = attn_slice_opens(p) ? npy_begin(n, p, err) : 0;
    size_t together = attn_slice_together(p);
    for (size_t i = 0; !rc && i < p->rows; i += together)
        attn_out_write((*file)->out, attn_slice_bytes(p, i), together * p->cols * attn_slice_size(p));
    return !rc && attn_slice_ends(p) ? attn_files_end(n->files, *file, err) : rc;
}

static int npy_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct npy *n = self;
    struct attn_slice p;
    int rc = 0;
    for (size_t at = 0; !rc && attn_slice_next(&p, n->job->select, probe, &at);)
        rc = npy_add(n, &p, err);
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

static int npy_tensor(const struct attn_tensor_sheet *w, struct attn_err *err)
{
    char header[ATTN_NPY_HEADER];
    bool deep = w->of->ndim > ATTN_NPY_AXES;
    if (deep)
        return attn_fail(err, ATTN_EUSAGE, "tensor '%s' has %d axes, and npy here %d: take json", w->of->name,
                         w->of->ndim, ATTN_NPY_AXES);
    attn_npy_header(header, w->of->shape, w->of->ndim);
    attn_out_write(w->out, header, sizeof header);
    attn_out_write(w->out, w->x, w->of->count * sizeof *w->x);
    return ATTN_OK;
}

const struct attn_sink_methods attn_npy_methods = {
    .open = npy_open, .wants = npy_wants, .watch = npy_watch, .finish = npy_finish, .note = npy_note,
    .close = npy_close, .tensor = npy_tensor,
};

/* ---- npz: all activations in one zip archive for numpy.load, members NAME.npy, stored, and the tokens ---- */

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
        return attn_no_memory(err, NULL, "for an npz archive");
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
    return attn_slice_wants(((struct npz *)self)->job->select, act, layer, true);
}

static int npz_begin(struct npz *n, const struct attn_slice *p, struct attn_err *err)
{
    char name[ATTN_NAME_MAX + 8], header[ATTN_NPY_HEADER];
    size_t shape[3];
    int ndim = attn_slice_shape(shape, p);
    uint64_t size = sizeof header + (uint64_t)p->matrices * p->T * p->cols * attn_slice_size(p);
    snprintf(name, sizeof name, "%s.npy", p->of->name);
    int rc = attn_zip_begin(n->zip, name, size, err);
    if (rc)
        return rc;
    attn_npy_header_of(header, attn_slice_size(p), shape, ndim);
    attn_zip_add(n->zip, header, sizeof header);
    return 0;
}

static void put_comment(struct attn_out *o, const struct npz *n, const struct attn_slice *p)
{
    char mask[ATTN_KIND_TEXT];
    bool chosen = p->n_kept > 0 && p->kept[p->n_kept - 1] != p->n_kept - 1;     /* else they are the first ones */
    attn_out_str(o, chosen ? ATTN_NPZ_HEADS : "");
    for (size_t i = 0; i < p->n_kept && chosen; i++)
        attn_out_printf(o, i ? ",%zu" : "%zu", p->kept[i]);
    if (*attn_sink_masked_text(mask, n->job, p->of->act, p->of->layer))
        attn_out_printf(o, "%s" ATTN_NPZ_MASK "%s", chosen ? " " : "", mask);
}

/* Says in the member's comment which heads they are, and what hid keys. */
static int npz_comment(struct npz *n, const struct attn_slice *p, struct attn_err *err)
{
    struct attn_out *o;
    char *text;
    size_t len;
    int rc = attn_out_open_memory(&o, err);
    if (rc)
        return rc;
    put_comment(o, n, p);
    rc = attn_out_take(o, &text, &len, err);
    attn_out_close(o);
    if (!rc && len)
        attn_zip_comment(n->zip, text);
    else if (!rc)
        free(text);
    return rc;
}

static int npz_add(struct npz *n, const struct attn_slice *p, struct attn_err *err)
{
    int rc = attn_slice_opens(p) ? npz_begin(n, p, err) : 0;
    size_t together = attn_slice_together(p);
    for (size_t i = 0; !rc && i < p->rows; i += together)
        attn_zip_add(n->zip, attn_slice_bytes(p, i), together * p->cols * attn_slice_size(p));
    if (rc || !attn_slice_ends(p))
        return rc;
    attn_zip_end(n->zip);
    return npz_comment(n, p, err);
}

static int npz_watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct npz *n = self;
    struct attn_slice p;
    int rc = 0;
    for (size_t at = 0; !rc && attn_slice_next(&p, n->job->select, probe, &at);)
        rc = npz_add(n, &p, err);
    return rc;
}

enum { LONGEST = 1024 };                /* code points of a text: all have as many as the longest */

/* Fills points with a token's code points and zeros, and returns how many it has. */
static size_t spell(uint32_t points[LONGEST], const struct attn_token *t)
{
    char id[16];
    size_t n = 0, step, len = t->known ? t->text_len : (size_t)snprintf(id, sizeof id, "%d", (int)t->id);
    const char *s = t->known ? t->text : id, *end = s + len;
    memset(points, 0, LONGEST * sizeof *points);
    for (; s < end && n < LONGEST; s += step) {
        uint32_t c = attn_utf8_next(s, (size_t)(end - s), &step);
        points[n++] = c ? c : 0xFFFD;
    }
    if (s < end)
        points[LONGEST - 1] = 0x2026;
    return n;
}

static int npz_tokens(struct npz *n, const char *name, const struct attn_tokens *t, struct attn_err *err)
{
    uint32_t points[LONGEST];
    char header[ATTN_NPY_HEADER], type[24];
    size_t width = 1;                   /* NumPy has no texts of width 0 */
    for (size_t i = 0; i < t->n; i++) {
        size_t wide = spell(points, &t->tok[i]);
        width = wide > width ? wide : width;
    }
    snprintf(type, sizeof type, "<U%zu", width);
    header_of(header, type, &t->n, 1);
    int rc = attn_zip_begin(n->zip, name, sizeof header + (uint64_t)t->n * width * sizeof *points, err);
    if (rc)
        return rc;
    attn_zip_add(n->zip, header, sizeof header);
    for (size_t i = 0; i < t->n; i++) {
        spell(points, &t->tok[i]);
        attn_zip_add(n->zip, points, width * sizeof *points);
    }
    attn_zip_end(n->zip);
    return ATTN_OK;
}

static int npz_finish(void *self, struct attn_err *err)
{
    struct npz *n = self;
    int rc = npz_tokens(n, "tokens.npy", n->job->tokens, err);
    if (!rc && n->job->cross)
        rc = npz_tokens(n, "context_tokens.npy", n->job->cross, err);
    if (rc)
        return rc;
    attn_zip_finish(n->zip);
    return attn_out_commit(n->out, err);
}

const struct attn_sink_methods attn_npz_methods = {
    .open = npz_open, .wants = npz_wants, .watch = npz_watch, .finish = npz_finish, .close = npz_close,
};
