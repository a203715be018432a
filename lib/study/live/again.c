/* again.c - one layer of the last run once more, and what follows it: where a weight comes from, and what comes next
 * without a head. */
#include "live/talk.h"

#include <stdlib.h>
#include <string.h>

#include "ask/editor.h"
#include "ask/metric.h"
#include "base/elementary.h"
#include "base/err.h"
#include "compute/mask.h"
#include "compute/position.h"

/* ---- one layer once more ----------------------------------------------------------------- */

static int check_place(struct attn_talk *t, const struct attn_live_asked *q, struct attn_err *err)
{
    int rc = attn_last_check(t, err);
    if (!rc && q->layer >= t->info.L) {
        attn_live_at(t, ATTN_MEMBER_LAYER, -1);
        return attn_fail(err, ATTN_EUSAGE, "there is no layer %llu: model %s has %zu", (unsigned long long)q->layer,
                         t->info.name, t->info.L);
    }
    if (!rc && q->head >= t->info.H) {
        attn_live_at(t, ATTN_MEMBER_HEAD, -1);
        return attn_fail(err, ATTN_EUSAGE, "there is no head %llu: model %s has %zu", (unsigned long long)q->head,
                         t->info.name, t->info.H);
    }
    return rc;
}

/* Runs the text from a layer on, with all edits, for an observer that comes after them. */
static int run_from(struct attn_talk *t, size_t layer, struct attn_observer observer, struct attn_err *err)
{
    const struct attn_last *l = &t->last;
    struct attn_plan plan = l->plan;
    const struct attn_observer obs[] = {
        l->editor ? attn_editor_observer(l->editor) : (struct attn_observer){.wants = NULL}, observer};
    const struct attn_seq seq = {.T = l->plain->T};
    const float *x = attn_last_reads(l, layer);
    struct attn_run *run = NULL;
    plan.rows = seq.T;
    plan.seqs = 1;
    int rc = l->editor ? attn_editor_skip(l->editor, 0, 0, err) : ATTN_OK;
    if (!rc)
        rc = attn_run_new(&run, t->model, &plan, obs, 2, err);
    if (!rc)
        rc = attn_run_restart(run, layer, &x, &seq, 1, err);
    attn_run_free(run);
    return rc;
}

/* ---- what comes next without a head ------------------------------------------------------ */

struct without { const struct attn_talk *t; size_t layer, head; float *logits; bool seen; };

static unsigned without_wants(void *self, int act, int layer)
{
    const struct without *s = self;
    if (act == ATTN_ACT_CONTEXT && (size_t)layer == s->layer)
        return ATTN_EDIT;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH | ATTN_LAST : 0;
}

static int without_edit(void *self, const struct attn_probe *p, float *data, struct attn_err *err)
{
    const struct without *s = self;
    const size_t dv = s->t->info.dv;
    (void)err;
    for (size_t t = 0; t < p->rows; t++)
        memset(data + t * p->ld + s->head * dv, 0, dv * sizeof *data);
    return ATTN_OK;
}

static int without_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct without *s = self;
    (void)err;
    if (p->row0 + p->rows == p->shape[0]) {
        memcpy(s->logits, p->data + (p->rows - 1) * p->ld, p->cols * sizeof *s->logits);
        s->seen = true;
    }
    return ATTN_OK;
}

static void put_without(struct attn_out *o, const struct attn_talk *t, const struct without *s)
{
    const struct attn_remembered *was = attn_last_shown(&t->last);
    const struct attn_metric kl = {.form = ATTN_METRIC_KL, .T = 1, .V = t->info.V, .reference = was->logits};
    struct attn_likely best[ATTN_COMPARED], before[ATTN_COMPARED];
    size_t n = 0, n_before = 0;
    const bool known = s->seen && was->predicted &&
                       !attn_logits_top(before, &n_before, ATTN_COMPARED, was->logits, t->info.V, NULL) &&
                       !attn_logits_top(best, &n, ATTN_COMPARED, s->logits, t->info.V, NULL);
    attn_out_str(o, "\"kl\":");
    if (known)
        attn_out_f64(o, attn_metric_part(&kl, 0, s->logits));
    else
        attn_out_str(o, "null");
    attn_out_str(o, ",\"after\":");
    attn_live_put_likely(o, t, best, n);
}

int attn_live_without(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    struct without s = {.t = t, .layer = q->layer, .head = q->head};
    int rc = check_place(t, q, err);
    if (!rc && !t->info.unembed)
        rc = attn_fail(err, ATTN_EFORMAT,
                       "model %s has no output layer: nothing comes next, with or without a head", t->info.name);
    if (!rc && !(s.logits = calloc(t->info.V + 1, sizeof *s.logits)))
        rc = attn_no_memory(err, NULL, "for %zu logits", t->info.V);
    if (!rc)
        rc = run_from(t, s.layer, (struct attn_observer){.wants = without_wants, .edit = without_edit,
                                                         .watch = without_watch, .self = &s}, err);
    if (!rc)
        put_without(o, t, &s);
    free(s.logits);
    return rc;
}

/* ---- where a weight comes from ------------------------------------------------------------ */

struct weight {
    const struct attn_talk *t;
    size_t layer, head, kv, query, key;
    struct attn_kind kind;              /* of the layer */
    float *q, *k;                       /* [dh] of the query, of the key */
    float *dots, *scores, *pattern;     /* [T] of the query */
    bool *seen;                         /* [T] which keys the query may give a weight */
};

static unsigned weight_wants(void *self, int act, int layer)
{
    const struct weight *s = self;
    const bool is = act == ATTN_ACT_Q || act == ATTN_ACT_K || act == ATTN_ACT_DOTS || act == ATTN_ACT_SCORES ||
                    act == ATTN_ACT_PATTERN;
    return is && (size_t)layer == s->layer ? ATTN_WATCH : 0;
}

/* Takes a row of a head, where the band has it. */
static void take_row(float *to, const struct attn_probe *p, size_t head, size_t row)
{
    if (head >= p->head0 && head < p->head0 + p->heads && row >= p->row0 && row < p->row0 + p->rows)
        memcpy(to, p->data + (head - p->head0) * p->ld_head + (row - p->row0) * p->ld, p->cols * sizeof *to);
}

static int weight_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    const struct weight *s = self;
    (void)err;
    if (p->act == ATTN_ACT_K)
        take_row(s->k, p, s->kv, s->key);
    else
        take_row(p->act == ATTN_ACT_Q ? s->q : p->act == ATTN_ACT_DOTS ? s->dots
                 : p->act == ATTN_ACT_SCORES ? s->scores : s->pattern, p, s->head, s->query);
    return ATTN_OK;
}

static int see(struct weight *s, struct attn_err *err)
{
    const size_t T = s->t->last.plain->T;
    size_t *list = calloc(2 * T + 2, sizeof *list);
    if (!list)
        return attn_no_memory(err, NULL, "for %zu keys", T);
    attn_kind_mark(s->seen, list, list + T + 1, &s->kind, s->query, T);
    free(list);
    return ATTN_OK;
}

static void put_number(struct attn_out *o, const char *key, float x)
{
    attn_out_printf(o, ",\"%s\":", key);
    attn_out_f32(o, x);
}

static bool is_edited(const struct weight *s)
{
    static const int acts[] = {ATTN_ACT_DOTS, ATTN_ACT_SCORES, ATTN_ACT_PATTERN};
    const struct attn_editor *e = s->t->last.editor;
    bool is = false;
    for (size_t i = 0; i < sizeof acts / sizeof *acts && e; i++)
        is |= attn_editor_reaches(e, acts[i], (int)s->layer);
    return is;
}

/* What the softmax is made of; e^score may be beyond a double, and is null then. */
static void put_softmax(struct attn_out *o, const struct weight *s)
{
    const struct attn_weights *w = &s->t->model->w;
    const struct attn_info *info = &s->t->info;
    const float scale = attn_kind_scale(&s->kind, w->block[s->layer].scale, info->dh);
    double sum = 0;
    for (size_t key = 0; key < s->t->last.plain->T; key++)
        sum += s->seen[key] || s->kind.form == ATTN_CAUSAL_RENORM ? attn_exp((double)s->scores[key]) : 0;
    put_number(o, "scale", scale);
    put_number(o, "bias", w->alibi ? attn_alibi_at(w, scale, s->head, s->key) : 0);
    put_number(o, "cap", w->cap);
    put_number(o, "score", s->scores[s->key]);
    attn_out_str(o, ",\"sum\":");
    attn_out_f64(o, sum);
}

static void put_terms(struct attn_out *o, const struct weight *s)
{
    attn_out_str(o, ",\"terms\":[");
    for (size_t i = 0; i < s->t->info.dh; i++) {
        attn_out_str(o, i ? ",[" : "[");
        attn_out_f32(o, s->q[i]);
        attn_out_char(o, ',');
        attn_out_f32(o, s->k[i]);
        attn_out_char(o, ']');
    }
    attn_out_char(o, ']');
}

/* Some weights of the query, as the place of an edit: from <= key < to, but for the one. */
static void put_place(struct attn_out *o, const struct weight *s, bool others, size_t from, size_t to)
{
    const char *before = "";
    attn_out_printf(o, "\"L%zuH%zu.%s[pos=%zu,key=", s->layer, s->head, attn_act_short(ATTN_ACT_PATTERN), s->query);
    if (!others)
        attn_out_u64(o, s->key);
    for (size_t side = 0; side < 2 && others; side++) {
        const size_t lo = side ? s->key + 1 : from, hi = side ? to : s->key;
        if (lo < hi) {
            attn_out_printf(o, "%s%zu", before, lo);
            if (hi - lo > 1)
                attn_out_printf(o, "-%zu", hi - 1);
            before = ",";
        }
    }
    attn_out_char(o, ']');
}

/* The edits that give it another weight, and the rest to the others in their shares. */
static void put_change(struct attn_out *o, const struct weight *s, double weight, size_t from, size_t to)
{
    const double rest = 1 - (double)s->pattern[s->key];
    attn_out_str(o, ",\"edits\":[");
    put_place(o, s, false, from, to);
    attn_out_str(o, " = ");
    attn_out_f64(o, weight);
    attn_out_char(o, '"');
    if (to - from > 1 && rest > 0) {
        attn_out_char(o, ',');
        put_place(o, s, true, from, to);
        attn_out_str(o, " *= ");
        attn_out_f64(o, (1 - weight) / rest);
        attn_out_char(o, '"');
    }
    attn_out_char(o, ']');
}

static void put_weight(struct attn_out *o, const struct weight *s, const struct attn_live_asked *q)
{
    const size_t T = s->t->last.plain->T;
    size_t keys = 0, from = T, to = 0;
    for (size_t key = 0; key < T; key++)
        if (s->seen[key]) {
            keys++;
            from = from < T ? from : key;
            to = key + 1;
        }
    const bool seen = s->seen[s->key], softmax = s->kind.form != ATTN_LINEAR;
    attn_out_str(o, "\"weight\":");
    attn_out_f32(o, s->pattern[s->key]);
    attn_out_printf(o, ",\"seen\":%s,\"from\":%zu,\"to\":%zu,\"keys\":%zu,\"softmax\":%s,\"edited\":%s",
                    seen ? "true" : "false", from < T ? from : 0, to, keys, softmax ? "true" : "false",
                    is_edited(s) ? "true" : "false");
    if (seen && q->given & ATTN_HAS_TO)
        put_change(o, s, q->to, from, to);
    if (!seen)
        return;
    put_terms(o, s);
    if (!softmax)
        return;
    put_number(o, "dot", s->dots[s->key]);
    put_softmax(o, s);
}

static int check_tokens(struct attn_talk *t, const struct attn_live_asked *q, struct attn_err *err)
{
    const uint64_t at[] = {q->query, q->key};
    for (size_t i = 0; i < 2; i++)
        if (at[i] >= t->last.plain->T) {
            attn_live_at(t, i ? ATTN_MEMBER_KEY : ATTN_MEMBER_QUERY, -1);
            return attn_fail(err, ATTN_EUSAGE, "there is no %s %llu: the text has %zu tokens", i ? "key" : "query",
                             (unsigned long long)at[i], t->last.plain->T);
        }
    return ATTN_OK;
}

int attn_live_weight(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    int rc = check_place(t, q, err);
    if (!rc)
        rc = check_tokens(t, q, err);
    if (rc)
        return rc;
    const size_t T = t->last.plain->T, dh = t->info.dh;
    const struct attn_weights *w = &t->model->w;
    struct weight s = {.t = t, .layer = q->layer, .head = q->head, .kv = q->head / (t->info.H / t->info.Hkv),
                       .query = q->query, .key = q->key,
                       .kind = attn_kind_in(&t->last.plan.kind, w->causal, w->block[q->layer].window),
                       .q = calloc(2 * dh + 3 * T + 1, sizeof *s.q), .seen = calloc(T + 1, sizeof *s.seen)};
    s.k = s.q + dh;
    s.dots = s.k + dh;
    s.scores = s.dots + T;
    s.pattern = s.scores + T;
    rc = s.q && s.seen ? see(&s, err) : attn_no_memory(err, NULL, "for a weight among %zu keys", T);
    if (!rc)
        rc = run_from(t, s.layer, (struct attn_observer){.wants = weight_wants, .watch = weight_watch, .self = &s},
                      err);
    if (!rc)
        put_weight(o, &s, q);
    free(s.q);
    free(s.seen);
    return rc;
}
