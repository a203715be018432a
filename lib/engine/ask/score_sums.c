/* score_sums.c - adds up the scores of heads over the rows of their patterns, for each text of a pass by itself.
 *
 * The rows of a band are evaluated by several threads and added in their order, so that a sum has the same bits for any
 * number of threads, and for a text that runs alone or among others. */
#include "ask/scores.h"

#include <math.h>
#include <stdlib.h>

#include "base/elementary.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/size.h"
#include "base/utf8.h"
#include "compute/mask.h"
#include "model/model.h"
#include "trace/slice.h"

/* A row, and each of its weights, take a core about as long as this many floating point operations. */
static const double ROW_COST = 200, WEIGHT_COST = 4;

struct text { size_t T, start; };

struct attn_scores {
    const struct attn_model *model;
    struct attn_kind kind;
    const struct attn_select *heads;
    struct attn_scores_opts o;
    struct attn_team *team;
    size_t *first;                      /* [layers + 1]: how many heads layers before have */
    size_t *layer, layers;              /* [layers]: the selected ones */
    size_t *place;                      /* [L]: where it is among them, from 1; 0: not selected */
    size_t *last, seen;                 /* [V]: where each token was seen last, counted from 1 through all passes;
                                         * tokens so far */
    struct text *text; size_t text_room;
    double *ln; size_t lns, ln_room;    /* [lns]: the logarithm of each number of keys */
    size_t *same, same_room;            /* of all tokens of the pass: see struct attn_head_row */
    bool *marks; size_t marks_room;
    struct attn_score_sum *sum; size_t sum_room;        /* [texts, heads, o.n] */
    /* Of a band: its slices, which keys each row sees, and [slices, rows, o.n] numbers, 0 where nothing is offered. */
    struct attn_slice *slice; size_t slices, slice_room;
    struct sees { struct attn_range within; size_t n; } *sees;
    size_t sees_room, *list, *swaps, list_room, swaps_room;
    struct offer { double x; bool is; } *offer; size_t offer_room;
    float *even; size_t even_room;      /* [rows, cols] the same weight for each key that a row sees; of o.chance */
    struct attn_score_sum *chance; size_t chance_room;      /* [texts, layers, o.n] */
};

/* ---- made and freed ---- */

static int choose_layers(struct attn_scores *t, struct attn_err *err)
{
    const struct attn_dims *n = &t->model->w.n;
    t->layer = calloc(n->L + 1, sizeof *t->layer);
    t->place = calloc(n->L + 1, sizeof *t->place);
    t->first = calloc(n->L + 1, sizeof *t->first);
    t->last = calloc(n->V + 1, sizeof *t->last);
    if (!t->layer || !t->place || !t->first || !t->last)
        return attn_no_memory(err, NULL, "to list %zu layers and %zu tokens", n->L, n->V);
    for (size_t layer = 0; layer < n->L; layer++)
        if (attn_select_wants(t->heads, ATTN_ACT_PATTERN, (int)layer)) {
            size_t kept;
            attn_select_heads(t->heads, ATTN_ACT_PATTERN, (int)layer, &kept);
            t->layer[t->layers++] = layer;
            t->place[layer] = t->layers;
            t->first[t->layers] = t->first[t->layers - 1] + kept;
        }
    return ATTN_OK;
}

/* Those that a row offers, unless some were chosen. */
static void choose_columns(struct attn_scores *t)
{
    bool all = !t->o.n;
    for (const struct attn_head_score *s = NULL; all && (s = attn_head_score_next(s));)
        if (s->of)
            t->o.column[t->o.n++] = s;
}

int attn_scores_new(struct attn_scores **out, const struct attn_model *m, const struct attn_kind *kind,
                    const struct attn_select *heads,
                    const struct attn_scores_opts *o, struct attn_team *team, struct attn_err *err)
{
    struct attn_scores *t = *out = calloc(1, sizeof *t);
    if (!t)
        return attn_no_memory(err, NULL, "for the scores of heads");
    *t = (struct attn_scores){.model = m, .kind = *kind, .heads = heads, .o = *o, .team = team};
    choose_columns(t);
    int rc = choose_layers(t, err);
    if (rc) {
        attn_scores_free(t);
        *out = NULL;
    }
    return rc;
}

void attn_scores_free(struct attn_scores *t)
{
    if (!t)
        return;
    void *all[] = {t->layer, t->place, t->first, t->last, t->text, t->ln, t->same, t->marks, t->sum, t->slice,
        t->sees, t->list,
                   t->swaps, t->offer, t->even, t->chance};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(t);
}

size_t attn_scores_heads(const struct attn_scores *t)
{
    return t->first[t->layers];
}

size_t attn_scores_layers(const struct attn_scores *t)
{
    return t->layers;
}

size_t attn_scores_columns(const struct attn_scores *t)
{
    return t->o.n;
}

/* Which of the selected layers head i is in. */
static size_t among(const struct attn_scores *t, size_t i)
{
    size_t low = 0, high = t->layers;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (t->first[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct attn_head_place attn_scores_place(const struct attn_scores *t, size_t i)
{
    size_t n, at = among(t, i), layer = t->layer[at];
    const size_t *heads = attn_select_heads(t->heads, ATTN_ACT_PATTERN, (int)layer, &n);
    return (struct attn_head_place){layer, heads[i - t->first[at]]};
}

const struct attn_score_sum *attn_scores_sums(const struct attn_scores *t, size_t text, size_t i)
{
    return t->sum + (text * attn_scores_heads(t) + i) * t->o.n;
}

const struct attn_score_sum *attn_scores_chance(const struct attn_scores *t, size_t text, size_t i)
{
    return t->chance + (text * t->layers + i) * t->o.n;
}

struct attn_head_scored attn_scores_tell(const struct attn_scores *t, size_t i, const struct attn_score_sum *sum,
                                         const struct attn_score_sum *chance)
{
    struct attn_head_scored h = {.at = attn_scores_place(t, i)};
    for (size_t k = 0; k < ATTN_HEAD_SCORES; k++)
        h.score[k] = h.chance[k] = (double)NAN;
    for (size_t c = 0; c < t->o.n; c++) {
        size_t k = attn_head_score_index(t->o.column[c]);
        h.score[k] = attn_score_mean(&sum[c]);
        h.rows[k] = sum[c].n;
        h.chance[k] = t->o.chance ? attn_score_mean(&chance[c]) : (double)NAN;
    }
    attn_head_scored_name(&h);
    return h;
}

struct attn_head_scored attn_scores_head(const struct attn_scores *t, size_t i)
{
    return attn_scores_tell(t, i, attn_scores_sums(t, 0, i), attn_scores_chance(t, 0, among(t, i)));
}

/* ---- a pass begins ---- */

/* Grows *array to n items. */
#define GROW(array, room, n) \
    (((grown = attn_grow(array, &(room), (n), sizeof *(array)))) ? ((array) = grown, true) : false)

static int make_room(struct attn_scores *t, size_t tokens, size_t texts, struct attn_err *err)
{
    void *grown;
    if (!GROW(t->text, t->text_room, texts + 1) || !GROW(t->same, t->same_room, tokens + 1) ||
        !GROW(t->marks, t->marks_room, tokens + 1) ||
        !GROW(t->sum, t->sum_room, texts * attn_scores_heads(t) * t->o.n + 1) ||
        !GROW(t->chance, t->chance_room, texts * t->layers * t->o.n + 1))
        return attn_no_memory(err, NULL, "for the scores of %zu heads in %zu texts", attn_scores_heads(t), texts);
    return ATTN_OK;
}

/* Finds the last earlier place of each token of a text.  What `last` has of other texts is below t->seen. */
static void link_same(struct attn_scores *t, const struct text *of, const int32_t *ids)
{
    for (size_t i = 0; i < of->T; i++) {
        size_t *last = &t->last[ids[of->start + i]];
        t->same[of->start + i] = *last > t->seen ? *last - t->seen : 0;
        *last = t->seen + i + 1;
    }
    t->seen += of->T;
}

static void mark(struct attn_scores *t, const struct text *of, const int32_t *ids)
{
    for (size_t i = of->start; i < of->start + of->T; i++) {
        size_t len = 0;
        const char *text = t->o.text ? t->o.text(t->o.ctx, ids[i], &len) : NULL;
        t->marks[i] = text && attn_utf8_punctuation(text, len);
    }
}

int attn_scores_start(struct attn_scores *t, const int32_t *ids, const struct attn_seq *seq, size_t n,
                      struct attn_err *err)
{
    size_t tokens = 0;
    for (size_t i = 0; i < n; i++)
        tokens += seq[i].T;
    int rc = make_room(t, tokens, n, err);
    if (rc)
        return rc;
    for (size_t i = 0, start = 0; i < n; start += seq[i++].T) {
        t->text[i] = (struct text){seq[i].T, start};
        link_same(t, &t->text[i], ids);
        mark(t, &t->text[i], ids);
    }
    for (size_t i = 0; i < n * attn_scores_heads(t) * t->o.n; i++)
        t->sum[i] = (struct attn_score_sum){0};
    for (size_t i = 0; i < n * t->layers * t->o.n; i++)
        t->chance[i] = (struct attn_score_sum){0};
    return ATTN_OK;
}

/* ---- bands ---- */

unsigned attn_scores_wants(const struct attn_scores *t, int act, int layer)
{
    return attn_slice_wants(t->heads, act, layer, false);
}

struct band { struct attn_scores *t; const struct attn_probe *p; };

/* Item i is row i % rows of slice i / rows; after the last slice come the rows of equal weights. */
static void evaluate(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct band *b = ctx;
    struct attn_scores *t = b->t;
    size_t row = i % b->p->rows;
    const struct attn_slice *s = i / b->p->rows < t->slices ? &t->slice[i / b->p->rows] : NULL;
    struct attn_head_row r = {.weight = s ? attn_slice_row(s, row) : t->even + row * b->p->cols,
                              .lo = t->sees[row].within.lo, .hi = t->sees[row].within.hi,
                              .q = b->p->row0 + row, .seen = t->sees[row].n, .most = t->ln[t->sees[row].n],
                              .same = t->same + t->text[b->p->seq].start,
                              .marks = t->marks + t->text[b->p->seq].start};
    for (size_t c = 0; c < t->o.n; c++) {
        struct offer *o = &t->offer[i * t->o.n + c];
        o->is = r.q > 0 && t->o.column[c]->of(&o->x, &r);
        if (!o->is)
            o->x = 0;
    }
}

/* Which keys query q of a layer may look at, and how many. */
static struct sees count_keys(const struct attn_scores *t, const struct attn_kind *k, size_t q, size_t Tk)
{
    struct sees s = {attn_kind_bounds(k, q, Tk), 0};
    if (attn_kind_picks(k))
        s.n = attn_kind_pick(t->list, t->swaps, k, q, Tk);
    else
        s.n = k->form == ATTN_CAUSAL_RENORM ? smaller(q + 1, Tk)       /* later ones have no weight in the end */
                                            : s.within.hi - s.within.lo;
    return s;
}

/* The row of a head that looks at all n keys alike. */
static void put_even(float *even, const struct attn_scores *t, const struct attn_kind *k, const struct sees *s,
                     size_t Tk)
{
    for (size_t j = 0; j < Tk; j++)
        even[j] = 0;
    for (size_t j = 0; j < s->n; j++)
        even[attn_kind_picks(k) ? t->list[j] : s->within.lo + j] = 1 / (float)s->n;
}

static int count_rows(struct attn_scores *t, const struct attn_probe *p, struct attn_err *err)
{
    void *grown;
    size_t swaps = t->swaps_room;
    if (!GROW(t->ln, t->ln_room, p->cols + 1) || !GROW(t->sees, t->sees_room, p->rows) ||
        !GROW(t->list, t->list_room, p->row0 + p->rows + 1) || !GROW(t->swaps, t->swaps_room, p->row0 + p->rows + 1) ||
        (t->o.chance && !GROW(t->even, t->even_room, p->rows * p->cols)))
        return attn_no_memory(err, NULL, "to list %zu keys", p->cols);
    for (; swaps < t->swaps_room; swaps++)
        t->swaps[swaps] = 0;
    for (; t->lns <= p->cols; t->lns++)
        t->ln[t->lns] = attn_log((double)t->lns);
    struct attn_kind k = attn_kind_in(&t->kind, t->model->w.causal, t->model->w.block[p->layer].window);
    for (size_t i = 0; i < p->rows; i++) {
        t->sees[i] = count_keys(t, &k, p->row0 + i, p->cols);
        if (t->o.chance)
            put_even(t->even + i * p->cols, t, &k, &t->sees[i], p->cols);
    }
    return ATTN_OK;
}

static int list_slices(struct attn_scores *t, const struct attn_probe *p, struct attn_err *err)
{
    void *grown;
    struct attn_slice s;
    t->slices = 0;
    for (size_t at = 0; attn_slice_next(&s, t->heads, p, &at);) {
        if (!GROW(t->slice, t->slice_room, t->slices + 1))
            return attn_no_memory(err, NULL, "for %zu heads", t->slices + 1);
        t->slice[t->slices++] = s;
    }
    return GROW(t->offer, t->offer_room, (t->slices + 1) * p->rows * t->o.n + 1)
               ? ATTN_OK : attn_no_memory(err, NULL, "for the scores of %zu heads in %zu rows", t->slices, p->rows);
}

/* What each of the rows offers, to the sums of n columns. */
static void add_rows(struct attn_score_sum *sum, const struct offer *o, size_t rows, size_t n)
{
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < n; c++, o++) {
            sum[c].sum += o->x;
            sum[c].n += o->is;
        }
}

int attn_scores_watch(struct attn_scores *t, const struct attn_probe *p, struct attn_err *err)
{
    struct band b = {t, p};
    int rc = list_slices(t, p, err);
    if (!rc)
        rc = count_rows(t, p, err);
    if (rc)
        return rc;
    bool even = t->o.chance && t->slices && t->slice[0].nth == 0;      /* of a layer's bands those of its first head */
    size_t rows = (t->slices + even) * p->rows;
    attn_team_run(t->team, rows, (double)rows * (ROW_COST + WEIGHT_COST * (double)p->cols), evaluate, &b);
    if (even)
        add_rows(t->chance + (p->seq * t->layers + t->place[p->layer] - 1) * t->o.n,
                 t->offer + t->slices * p->rows * t->o.n, p->rows, t->o.n);
    for (size_t i = 0; i < t->slices; i++) {
        size_t head = t->first[t->place[p->layer] - 1] + t->slice[i].nth;
        struct attn_score_sum *sum = t->sum + (p->seq * attn_scores_heads(t) + head) * t->o.n;
        add_rows(sum, t->offer + i * p->rows * t->o.n, p->rows, t->o.n);
    }
    return ATTN_OK;
}
