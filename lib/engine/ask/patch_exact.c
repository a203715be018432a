/* patch_exact.c - what does the metric become when a cell is patched?  A run for each cell, begun where the cell lies.
 *
 * The run of the text is kept: what each block reads and, where no row depends on later ones, all keys and values.  A
 * cell's run begins at its layer and at the first row that the patch changes, so it computes only what can be
 * different; many of them share a pass.  Restarted runs have the bits of whole ones, so a cell has the bits of a whole
 * run that is patched. */
#include "ask/editor.h"
#include "ask/patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "compute/attention.h"
#include "model/model.h"

enum { ROWS = 512, SEQS = 64 };         /* of a pass: enough for fast products */
static const size_t CACHES = (size_t)256 << 20;         /* bytes for keys and values of its sentences */

struct entry { size_t cell, first; };   /* by index; the first row that changes */

struct exact {
    struct attn_patch *p;
    bool rows;                          /* runs may begin at any row */
    bool rounds;                        /* rows are rounded in another way once they are edited, all of them */
    float *x;                           /* [L + 1, T, width] what blocks read; the last: what the final norm reads */
    size_t width;
    struct attn_kv *kv, **copy;         /* of the text; of each sentence of a pass */
    size_t *clean;                      /* [seqs] the rows of a copy before this one are those of the text */
    struct attn_run *run; int planned;  /* for cells of this layer: edits elsewhere would only slow it down */
    size_t seqs, most;                  /* sentences and rows of a pass */
    struct entry *entry;                /* of the pass that runs */
    struct attn_seq *seq;
    const float **begin;
    float *patched;                     /* [seqs, T, width] where what a block reads is itself patched */
    size_t n;
    size_t done;
};

static struct attn_patch_cell *cell_of(const struct exact *e, const struct entry *t)
{
    return &e->p->cell[t->cell];
}

static float *reads(const struct exact *e, size_t layer)
{
    return e->x + layer * e->p->T * e->width;
}

/* ---- the run of the text ---- */

/* What blocks read, before anybody edits it: a restarted run edits it again. */
static unsigned first_wants(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_RESID_PRE ? ATTN_EDIT : 0;
}

static void take(const struct exact *e, size_t layer, const struct attn_probe *p)
{
    for (size_t t = 0; t < p->rows; t++)
        memcpy(reads(e, layer) + (p->row0 + t) * p->cols, p->data + t * p->ld, p->cols * sizeof *e->x);
}

static int first_edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    (void)data, (void)err;
    take(self, (size_t)p->layer, p);
    return ATTN_OK;
}

static unsigned last_wants(void *self, int act, int layer)
{
    const struct exact *e = self;
    const struct attn_metric *m = &e->p->metric;
    if (act == ATTN_ACT_LOGITS)
        return ATTN_WATCH | (attn_metric_first(m) + 1 == m->T ? ATTN_LAST : 0);
    return act == ATTN_ACT_RESID_POST && (size_t)layer + 1 == e->p->info.L ? ATTN_WATCH : 0;
}

static int last_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    const struct exact *e = self;
    if (p->act == ATTN_ACT_RESID_POST)
        take(e, e->p->info.L, p);
    for (size_t i = 0; i < p->rows && p->act == ATTN_ACT_LOGITS; i++)
        if (attn_metric_reads(&e->p->metric, p->row0 + i))
            e->p->part[p->row0 + i] = attn_metric_part(&e->p->metric, p->row0 + i, p->data + i * p->ld);
    return ATTN_OK;
}

/* The metric of the rows before `end`, added up in their order. */
static double metric_before(const struct attn_patch *p, size_t end)
{
    double sum = 0;
    for (size_t t = 0; t < end; t++)
        if (attn_metric_reads(&p->metric, t))
            sum += p->part[t];
    return sum;
}

static int run_text(struct exact *e, struct attn_err *err)
{
    struct attn_patch *p = e->p;
    struct attn_plan plan = p->o->plan;
    struct attn_run *run = NULL;
    struct attn_seq seq = {.T = p->T, .kv = e->kv};
    const struct attn_observer obs[] = {{.wants = first_wants, .edit = first_edit, .self = e}, attn_patch_editor(p),
                                        {.wants = last_wants, .watch = last_watch, .self = e},
                                        attn_whole_observer(&p->text), attn_patch_teller(p)};
    plan.rows = p->T;
    plan.seqs = 1;
    plan.keys = e->kv ? p->T : 0;
    int rc = attn_run_new(&run, p->model, &plan, obs, sizeof obs / sizeof *obs, err);
    if (!rc)
        rc = attn_run_forward(run, p->ids, &seq, 1, err);
    attn_run_free(run);
    p->metric_text = metric_before(p, p->T);
    return rc;
}

/* ---- the cells of a pass ---- */

/* Where a cell's run begins: at its block, at the next one if that reads it, or behind all blocks for what
 * comes after them. */
static size_t start_of(const struct attn_patch *p, const struct attn_patch_cell *c)
{
    if (p->act == ATTN_ACT_RESID_POST)
        return (size_t)c->layer + 1;
    return attn_act_per_layer(p->act) ? (size_t)c->layer : p->act < ATTN_ACT_RESID_PRE ? 0 : p->info.L;
}

/* The columns of a row that a cell takes from the other text. */
static struct attn_range columns(const struct attn_patch *p, const struct attn_patch_cell *c, size_t cols)
{
    if (p->act != ATTN_ACT_CONTEXT || c->head < 0)
        return (struct attn_range){0, cols};
    return (struct attn_range){(size_t)c->head * p->info.dv, ((size_t)c->head + 1) * p->info.dv};
}

static bool has_head(const struct attn_patch *p, const struct attn_patch_cell *c, size_t head)
{
    return p->act == ATTN_ACT_CONTEXT || c->head < 0 || (size_t)c->head == head;
}

/* The first row in which both texts differ within a cell; T: there is none. */
static size_t first_change(const struct attn_patch *p, const struct attn_patch_cell *c)
{
    size_t shape[3], T = p->T, first = T;
    int ndim = attn_act_shape(shape, &p->info, p->act, T, T);
    size_t heads = ndim == 3 ? shape[0] : 1, cols = shape[ndim - 1];
    const float *a = attn_whole_at(&p->text, p->act, c->layer), *b = attn_whole_at(&p->from, p->act, c->layer);
    struct attn_range r = columns(p, c, cols);
    for (size_t h = 0; h < heads; h++)
        for (size_t t = c->pos < 0 ? 0 : (size_t)c->pos; has_head(p, c, h) &&
             t < (c->pos < 0 ? first : (size_t)c->pos + 1); t++) {
            size_t at = (h * T + t) * cols + r.lo;
            if (memcmp(a + at, b + at, (r.hi - r.lo) * sizeof *a) != 0)
                first = smaller(first, t);
        }
    return first;
}

static unsigned cell_wants(void *self, int act, int layer)
{
    const struct exact *e = self;
    return act == e->p->act && layer == e->planned && act != ATTN_ACT_RESID_POST
        ? ATTN_EDIT | (act >= ATTN_ACT_NORM_FINAL ? ATTN_LAST : 0) : 0;
}

/* Puts the piece of the other text in place of that of this one. */
static int cell_edit(void *self, const struct attn_probe *b, float *data, struct attn_err *err)
{
    (void)err;
    const struct exact *e = self;
    const struct attn_patch_cell *c = cell_of(e, &e->entry[b->seq]);
    size_t first = e->entry[b->seq].first + b->row0;
    if (b->layer != c->layer)
        return ATTN_OK;
    const float *from = attn_whole_at(&e->p->from, b->act, b->layer);
    struct attn_range r = columns(e->p, c, b->cols);
    for (size_t h = 0; h < b->heads; h++)
        for (size_t i = 0; i < b->rows; i++)
            if (has_head(e->p, c, b->head0 + h) && (c->pos < 0 || (size_t)c->pos == first + i))
                memcpy(data + h * b->ld_head + i * b->ld + r.lo,
                       from + ((b->head0 + h) * e->p->T + first + i) * b->cols + r.lo, (r.hi - r.lo) * sizeof *data);
    return ATTN_OK;
}

static unsigned metric_wants(void *self, int act, int layer)
{
    return act == ATTN_ACT_LOGITS ? last_wants(self, act, layer) : 0;
}

static int metric_watch(void *self, const struct attn_probe *b, struct attn_err *err)
{
    (void)err;
    const struct exact *e = self;
    struct entry *to = &e->entry[b->seq];
    for (size_t i = 0; i < b->rows; i++) {
        size_t t = to->first + b->row0 + i;
        if (attn_metric_reads(&e->p->metric, t))
            cell_of(e, to)->metric += attn_metric_part(&e->p->metric, t, b->data + i * b->ld);
    }
    return ATTN_OK;
}

/* ---- passes ---- */

/* What the block at `layer` reads of the text or, where that is what is patched, of the patched text. */
static const float *beginning(const struct exact *e, size_t i, size_t layer)
{
    const struct attn_patch *p = e->p;
    const struct entry *t = &e->entry[i];
    const size_t width = layer == p->info.L ? e->width : p->info.d;
    const float *x = reads(e, layer) + t->first * width, *from;
    float *to;
    if (p->act != ATTN_ACT_RESID_POST)
        return x;
    to = e->patched + i * p->T * e->width;
    const struct attn_patch_cell *cell = cell_of(e, t);
    from = attn_whole_at(&p->from, p->act, cell->layer) + t->first * width;
    for (size_t row = 0; row < p->T - t->first; row++) {
        bool patched = cell->pos < 0 || (size_t)cell->pos == t->first + row;
        memcpy(to + row * width, (patched ? from : x) + row * width, width * sizeof *to);
    }
    return to;
}

static int plan_run(struct exact *e, int layer, struct attn_err *err)
{
    struct attn_patch *p = e->p;
    struct attn_plan plan = p->o->plan;
    const struct attn_observer obs[] = {attn_patch_editor(p), {.wants = cell_wants, .edit = cell_edit, .self = e},
                                        {.wants = metric_wants, .watch = metric_watch, .self = e},
                                        attn_patch_teller(p)};
    plan.rows = e->most;
    plan.seqs = e->seqs;
    plan.keys = e->rows ? p->T : 0;
    attn_run_free(e->run);
    e->planned = layer;
    return attn_run_new(&e->run, p->model, &plan, obs, sizeof obs / sizeof *obs, err);
}

/* Tells the editor that sentence i of the pass is the text from row `first` on. */
static int tell_editor(const struct exact *e, size_t i, size_t first, struct attn_err *err)
{
    struct attn_editor *editor = e->p->o->editor;
    int rc = editor ? attn_editor_text(editor, i, e->p->ids, e->p->T, false, err) : ATTN_OK;
    if (editor && !rc)
        editor->text[i].first = first;
    return rc;
}

static int flush(struct exact *e, size_t layer, struct attn_err *err)
{
    struct attn_patch *p = e->p;
    int32_t *ids = NULL;
    size_t rows = 0;
    int patched = cell_of(e, &e->entry[0])->layer;
    int rc = e->run && e->planned == patched ? ATTN_OK : plan_run(e, patched, err);
    for (size_t i = 0; i < e->n && !rc; i++) {
        size_t first = e->entry[i].first;
        e->seq[i] = (struct attn_seq){.T = p->T - first, .kv = e->rows ? e->copy[i] : NULL};
        e->begin[i] = beginning(e, i, layer);
        cell_of(e, &e->entry[i])->metric = metric_before(p, first);
        rc = tell_editor(e, i, first, err);
        if (rc || !e->rows)
            continue;
        rc = attn_kv_copy(e->copy[i], first <= e->clean[i] ? e->copy[i] : e->kv, first, err);
        e->clean[i] = first;
    }
    if (attn_act_per_layer(p->act) || p->act > ATTN_ACT_RESID_PRE)
        rc = rc ? rc : attn_run_restart(e->run, layer, e->begin, e->seq, e->n, err);
    else if (!rc && !(ids = calloc(e->most + 1, sizeof *ids)))
        rc = attn_no_memory(err, NULL, "for %zu tokens", e->most);
    for (size_t i = 0; ids && i < e->n; rows += e->seq[i++].T)
        memcpy(ids + rows, p->ids + e->entry[i].first, e->seq[i].T * sizeof *ids);
    if (ids)
        rc = attn_run_forward(e->run, ids, e->seq, e->n, err);
    free(ids);
    e->done += e->n;
    e->n = 0;
    return rc ? rc : attn_patch_step(p, e->done, p->n, err);
}

/* Cells whose runs begin at the same block come one after the other, by layer. */
static int run_cells(struct exact *e, struct attn_err *err)
{
    struct attn_patch *p = e->p;
    size_t rows = 0, layer = 0;
    int rc = attn_patch_step(p, 0, p->n, err);
    for (size_t i = p->n; i-- > 0 && !rc;) {            /* from the last row, so that copies of the cache stay clean */
        struct attn_patch_cell *cell = &p->cell[i];
        struct entry t = {i, first_change(p, cell)};
        if (t.first == p->T && !e->rounds) {            /* the same numbers in both texts */
            cell->metric = p->metric_text;
            e->done++;
            continue;
        }
        t.first = e->rows ? smaller(t.first, p->T - 1) : 0;
        size_t start = start_of(p, cell), more = p->T - t.first;
        if (e->n && (start != layer || e->n == e->seqs || rows + more > e->most))
            rc = flush(e, layer, err);
        rows = e->n ? rows + more : more;
        layer = start;
        e->entry[e->n++] = t;
    }
    return rc || !e->n ? rc : flush(e, layer, err);
}

/* ---- all of it ---- */

static int plan_cells(struct exact *e, struct attn_err *err)
{
    struct attn_patch *p = e->p;
    const struct attn_dims *d = &p->model->w.n;
    size_t cache = attn_keys_size(p->T, d->dh, d->dv), bytes;
    if (__builtin_mul_overflow(cache, d->L * d->Hkv * sizeof(float), &bytes))
        bytes = SIZE_MAX;
    e->seqs = larger(1, smaller(smaller(SEQS, p->n), e->rows ? CACHES / larger(bytes, 1) : SEQS));
    e->most = smaller(larger(ROWS, p->T), e->seqs * p->T);
    e->entry = calloc(e->seqs, sizeof *e->entry);
    e->seq = calloc(e->seqs, sizeof *e->seq);
    e->begin = calloc(e->seqs, sizeof *e->begin);
    e->clean = calloc(e->seqs, sizeof *e->clean);
    e->copy = calloc(e->seqs, sizeof *e->copy);
    e->patched = p->act == ATTN_ACT_RESID_POST ? calloc(e->seqs * p->T, e->width * sizeof *e->patched) : NULL;
    if (!e->entry || !e->seq || !e->begin || !e->clean || !e->copy || (p->act == ATTN_ACT_RESID_POST && !e->patched))
        return attn_no_memory(err, NULL, "for %zu cells", e->seqs);
    int rc = ATTN_OK;
    for (size_t i = 0; i < e->seqs && e->rows && !rc; i++)
        rc = attn_kv_new(&e->copy[i], p->model, p->T, err);
    return rc;
}

/* Linear attention and that by blocks have no pattern unless it is edited, and then get their contexts from it. */
static bool changes_the_way(enum attn_form form, int act)
{
    return (form == ATTN_LINEAR && act == ATTN_ACT_PATTERN) ||
           (form == ATTN_BLOCK && (act == ATTN_ACT_DOTS || act == ATTN_ACT_SCORES || act == ATTN_ACT_PATTERN));
}

static int prepare(struct exact *e, struct attn_err *err)
{
    struct attn_patch *p = e->p;
    const struct attn_kind *kind = &p->o->plan.kind;
    e->rounds = changes_the_way(kind->form, p->act);
    /* linear caches cannot be cut */
    e->rows = !e->rounds && kind->form != ATTN_LINEAR && attn_model_keeps(p->model, 1, p->T) &&
              !attn_model_continues(p->model, kind, NULL);
    e->width = larger(p->model->w.n.width, p->model->w.n.d);
    e->x = calloc((p->info.L + 1) * p->T, e->width * sizeof *e->x);
    if (!e->x)
        return attn_no_memory(err, NULL, "to keep %zu layers of %zu tokens", p->info.L, p->T);
    return e->rows ? attn_kv_new(&e->kv, p->model, p->T, err) : ATTN_OK;
}

int attn_patch_exact(struct attn_patch *p, struct attn_err *err)
{
    struct exact e = {.p = p};
    int rc = prepare(&e, err);
    if (!rc)
        rc = run_text(&e, err);
    if (!rc)
        rc = plan_cells(&e, err);
    if (!rc)
        rc = run_cells(&e, err);
    attn_run_free(e.run);
    for (size_t i = 0; e.copy && i < e.seqs; i++)
        attn_kv_free(e.copy[i]);
    attn_kv_free(e.kv);
    free(e.copy);
    free(e.clean);
    free(e.begin);
    free(e.seq);
    free(e.entry);
    free(e.patched);
    free(e.x);
    return rc;
}
