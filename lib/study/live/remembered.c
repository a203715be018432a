#include "live/remembered.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/editor.h"
#include "base/err.h"
#include "base/size.h"
#include "compute/block.h"
#include "compute/mask.h"

enum { ROOM = 64 };                     /* tokens that a cache has room for at first */

/* ---- what there is ----------------------------------------------------------------------- */

static bool reaches(const struct attn_remembered *k, int act, int layer)
{
    return layer >= 0 ? layer >= k->from : act >= ATTN_ACT_NORM_FINAL || k->from < 0;
}

static int layer_of(size_t slot) { return (int)(slot / ATTN_ACTS) - 1; }
static int act_of(size_t slot) { return (int)(slot % ATTN_ACTS); }

static bool any_wanted(const struct attn_remembered *k, int first, int end)
{
    bool any = false;
    for (size_t s = 0; s < k->slots; s++)
        any |= k->wanted[s] && act_of(s) >= first && act_of(s) < end;
    return any;
}

const float *attn_remembered_at(const struct attn_remembered *k, int act, int layer)
{
    return reaches(k, act, layer) ? k->data[attn_act_slot(act, layer)] : NULL;
}

/* Dots of earlier queries with later keys are part of what is kept, and what is derived may be, too. */
bool attn_remembered_grows(const struct attn_remembered *k)
{
    const struct attn_weights *w = &k->model->w;
    bool past = k->kind.form != ATTN_CAUSAL_RENORM && !any_wanted(k, ATTN_ACT_DOTS, ATTN_ACT_DOTS + 1) &&
                !any_wanted(k, ATTN_ACT_DERIVED, ATTN_ACTS);
    for (size_t layer = 0; layer < w->n.L && past; layer++) {
        const struct attn_kind own = attn_kind_in(&k->kind, w->causal, w->block[layer].window);
        past = attn_kind_past(&own);
    }
    return past;
}

/* ---- making and freeing ------------------------------------------------------------------ */

int attn_remembered_new(struct attn_remembered **out, const struct attn_model *m, const struct attn_kind *kind,
                        bool *wanted,
                  struct attn_err *err)
{
    struct attn_remembered *k = *out = calloc(1, sizeof *k);
    if (!k) {
        free(wanted);
        return attn_no_memory(err, NULL, "for what is kept of a text");
    }
    *k = (struct attn_remembered){.model = m, .kind = *kind, .hooks = attn_model_hook_points(m, kind), .wanted = wanted,
                            .from = -1};
    k->kind.causal = m->w.causal;
    attn_model_info(m, &k->info);
    k->slots = attn_act_slots(k->info.L);
    k->data = calloc(k->slots, sizeof *k->data);
    k->reads = calloc(k->info.L + 1, sizeof *k->reads);
    k->logits = calloc(k->info.V + 1, sizeof *k->logits);
    if (k->data && k->reads && k->logits)
        return ATTN_OK;
    const size_t L = k->info.L;
    attn_remembered_free(k);
    *out = NULL;
    return attn_no_memory(err, NULL, "for what is kept of %zu layers", L);
}

/* Nothing stays of any text. */
static void forget(struct attn_remembered *k)
{
    for (size_t s = 0; k->data && s < k->slots; s++) {
        free(k->data[s]);
        k->data[s] = NULL;
    }
    for (size_t layer = 0; k->reads && layer < k->info.L; layer++) {
        free(k->reads[layer]);
        k->reads[layer] = NULL;
    }
    free(k->ids);
    k->ids = NULL;
    k->T = 0;
}

void attn_remembered_free(struct attn_remembered *k)
{
    if (!k)
        return;
    forget(k);
    attn_kv_free(k->kv);
    free(k->wanted);
    free(k->data);
    free(k->reads);
    free(k->logits);
    free(k);
}

/* ---- room for a text of another length --------------------------------------------------- */

/* What stands in the columns of keys that an earlier row does not see. */
static float hidden(int act) { return act == ATTN_ACT_SCORES ? -INFINITY : 0; }

/* The first rows of an activation at their places in one of T tokens; NULL: no memory. */
static float *moved(const struct attn_remembered *k, float *was, int act, size_t T, size_t keep)
{
    size_t shape[3];
    const int n = attn_act_shape(shape, &k->info, act, T, T);
    const size_t heads = n == 3 ? shape[0] : 1, cols = shape[n - 1], old = attn_act_square(act) ? k->T : cols;
    float *to = calloc(heads * T * cols + 1, sizeof *to);
    for (size_t h = 0; to && was && h < heads; h++)
        for (size_t t = 0; t < keep; t++) {
            float *row = to + (h * T + t) * cols;
            memcpy(row, was + (h * k->T + t) * old, smaller(old, cols) * sizeof *row);
            for (size_t i = old; i < cols; i++)
                row[i] = hidden(act);
        }
    free(was);
    return to;
}

static int lay_out(struct attn_remembered *k, const int32_t *ids, size_t T, struct attn_err *err)
{
    bool room = true;
    for (size_t s = 0; s < k->slots; s++) {
        const int act = act_of(s), layer = layer_of(s);
        const bool has = k->wanted[s] && reaches(k, act, layer);
        if (!has)
            free(k->data[s]);
        k->data[s] = has ? moved(k, k->data[s], act, T, k->first) : NULL;
        room &= !has || k->data[s];
    }
    for (size_t layer = 0; layer < k->info.L; layer++) {
        const bool has = (int)layer >= k->from;
        if (!has)
            free(k->reads[layer]);
        k->reads[layer] = has ? moved(k, k->reads[layer], ATTN_ACT_RESID_PRE, T, k->first) : NULL;
        room &= !has || k->reads[layer];
    }
    free(k->ids);
    k->ids = calloc(T, sizeof *ids);
    k->T = T;
    if (!room || !k->ids)
        return attn_no_memory(err, NULL, "for the activations of %zu tokens: take a shorter text", T);
    memcpy(k->ids, ids, T * sizeof *ids);
    return ATTN_OK;
}

/* A cache with room for the text, of which a new one has nothing yet. */
static int make_cache(struct attn_remembered *k, size_t T, struct attn_err *err)
{
    if (k->kv && T <= k->room)
        return ATTN_OK;
    size_t room = larger(k->room, ROOM);
    while (room < T)
        room *= 2;
    struct attn_kv *more = NULL;
    int rc = attn_kv_new(&more, k->model, room, err);
    if (!rc && k->kv)
        rc = attn_kv_copy(more, k->kv, attn_kv_length(k->kv), err);
    if (rc) {
        attn_kv_free(more);
        return rc;
    }
    attn_kv_free(k->kv);
    k->kv = more;
    k->room = room;
    return ATTN_OK;
}

/* ---- the pass ---------------------------------------------------------------------------- */

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_remembered *k = self;
    if (!reaches(k, act, layer))
        return 0;
    unsigned wants = 0;
    if (k->wanted[attn_act_slot(act, layer)])
        wants = ATTN_WATCH | (attn_act_derived(act) ? ATTN_DERIVE : 0);
    else if (act == ATTN_ACT_LOGITS)
        wants = ATTN_WATCH | ATTN_LAST;
    return wants | (act == ATTN_ACT_RESID_PRE ? ATTN_EDIT : 0);
}

/* It comes before the edits: a pass that begins here edits it again. */
static int take_reads(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    const struct attn_remembered *k = self;
    (void)data, (void)err;
    for (size_t t = 0; t < p->rows; t++)
        memcpy(k->reads[p->layer] + (k->first + p->row0 + t) * p->cols, p->data + t * p->ld, p->cols * sizeof(float));
    return ATTN_OK;
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct attn_remembered *k = self;
    float *to = k->data[attn_act_slot(p->act, p->layer)];
    (void)err;
    for (size_t h = 0; to && h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            memcpy(to + ((p->head0 + h) * k->T + k->first + p->row0 + t) * p->cols,
                   p->data + h * p->ld_head + t * p->ld, p->cols * sizeof *to);
    if (p->act == ATTN_ACT_LOGITS && k->first + p->row0 + p->rows == k->T) {
        memcpy(k->logits, p->data + (p->rows - 1) * p->ld, k->info.V * sizeof *k->logits);
        k->predicted = true;
    }
    return ATTN_OK;
}

/* From row k->first on; x NULL: from the ids on, else what the layer k->from reads of these rows. */
static int run(struct attn_remembered *k, const float *x, struct attn_editor *e, struct attn_err *err)
{
    const struct attn_observer obs[] = {{.wants = wants, .edit = take_reads, .watch = watch, .self = k},
                                        e ? attn_editor_observer(e) : (struct attn_observer){.wants = NULL}};
    const struct attn_seq seq = {.T = k->T - k->first, .kv = k->kv};
    const struct attn_plan plan = {.rows = seq.T, .seqs = 1, .keys = k->T, .threads = 1, .kind = k->kind};
    struct attn_run *r = NULL;
    int rc = attn_run_new(&r, k->model, &plan, obs, e ? 2 : 1, err);
    k->predicted = false;
    if (!rc)
        rc = x ? attn_run_restart(r, (size_t)k->from, &x, &seq, 1, err)
               : attn_run_forward(r, k->ids + k->first, &seq, 1, err);
    attn_run_free(r);
    return rc;
}

/* Of two texts, how many tokens stay as they are, and need not be computed again; all of them at most. */
static size_t same_rows(const struct attn_remembered *k, const int32_t *ids, size_t T)
{
    size_t n = 0;
    while (n < k->T && n < T && k->ids[n] == ids[n])
        n++;
    const bool fits = attn_model_keeps(k->model, k->T, T) && attn_model_keeps(k->model, T, k->T);
    if (n == T && k->T == T)
        return n;
    if (!k->kv || !fits || attn_kv_length(k->kv) != k->T)
        return 0;
    if (k->kind.form == ATTN_LINEAR)    /* sums over all keys cannot be cut */
        return n == k->T && n < T ? n : 0;
    return smaller(n, T - 1);           /* the last row says what comes next */
}

/* Makes rows and cache ready for a pass over the rows from k->first on. */
static int prepare(struct attn_remembered *k, const int32_t *ids, size_t T, bool grows, struct attn_err *err)
{
    int rc = lay_out(k, ids, T, err);
    if (!rc && grows)
        rc = make_cache(k, T, err);
    return rc || !k->kv ? rc : attn_kv_copy(k->kv, k->kv, k->first, err);
}

int attn_remembered_run(struct attn_remembered *k, const int32_t *ids, size_t T, struct attn_err *err)
{
    const bool grows = attn_remembered_grows(k);
    k->first = same_rows(k, ids, T);
    if (k->first == T)
        return ATTN_OK;
    int rc = prepare(k, ids, T, grows, err);
    if (!rc)
        rc = run(k, NULL, NULL, err);
    if (rc)
        forget(k);
    return rc;
}

/* ---- with edits -------------------------------------------------------------------------- */

/* The first layer that an edit reaches: -1, or L for what comes after all of them. */
static int first_edited(const struct attn_remembered *k, const struct attn_editor *e)
{
    for (int layer = -1; layer < (int)k->info.L; layer++)
        for (int act = 0; act < ATTN_ACTS; act++)
            if (attn_act_per_layer(act) == (layer >= 0) && act < (layer < 0 ? ATTN_ACT_RESID_PRE : ATTN_ACTS) &&
                attn_editor_reaches(e, act, layer))
                return layer;
    return (int)k->info.L;
}

/* What the layer k->from reads of the rows to come. */
static const float *begins(const struct attn_remembered *k, const struct attn_remembered *plain)
{
    const size_t L = k->info.L, layer = (size_t)k->from;
    if (k->from < 0 || !L)
        return NULL;
    const size_t cols = layer < L ? k->model->w.n.d : k->model->w.n.width;
    const float *x = layer < L ? plain->reads[layer] : attn_remembered_at(plain, ATTN_ACT_RESID_POST, (int)L - 1);
    return x ? x + k->first * cols : NULL;
}

/* Its cache has nothing of the layers before the edits, which no pass of the same edits reads. */
int attn_remembered_edit(struct attn_remembered *k, const struct attn_remembered *plain,
                         struct attn_editor *e, bool same,
                   struct attn_err *err)
{
    const bool grows = attn_remembered_grows(k) && plain->kv;
    const int from = any_wanted(k, ATTN_ACT_DERIVED, ATTN_ACTS) || !k->info.L ? -1 : first_edited(k, e);
    k->first = same && grows && from == k->from ? same_rows(k, plain->ids, plain->T) : 0;
    k->first = smaller(k->first, plain->T - 1);
    if (k->kind.form == ATTN_LINEAR && k->first < k->T)
        k->first = 0;
    k->from = from;
    int rc = prepare(k, plain->ids, plain->T, grows, err);
    if (!rc && k->first)
        rc = attn_editor_skip(e, 0, k->first, err);
    if (!rc)
        rc = run(k, begins(k, plain), e, err);
    if (rc)
        forget(k);
    return rc;
}
