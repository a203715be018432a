/* running.c - runs what is typed, with what is asked for besides: edits, a kind of attention. */
#include "live/talk.h"

#include <stdlib.h>
#include <string.h>

#include "ask/edit.h"
#include "ask/editor.h"
#include "ask/metric.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/format.h"
#include "base/simd.h"
#include "base/size.h"
#include "base/strings.h"
#include "compute/mask.h"
#include "run/masked.h"

/* ---- the last run ------------------------------------------------------------------------ */

void attn_last_free(struct attn_last *l)
{
    attn_typed_free(&l->typed);
    attn_select_free(l->select);
    attn_editor_free(l->editor);
    attn_edits_free(l->edits);
    attn_remembered_free(l->plain);
    attn_remembered_free(l->edited);
    free(l->lens);
    *l = (struct attn_last){.there = false};
}

const struct attn_remembered *attn_last_shown(const struct attn_last *l) { return l->edited ? l->edited : l->plain; }

const float *attn_last_at(const struct attn_last *l, int act, int layer)
{
    const float *x = l->edited ? attn_remembered_at(l->edited, act, layer) : NULL;
    return x ? x : attn_remembered_at(l->plain, act, layer);
}

const float *attn_last_reads(const struct attn_last *l, size_t layer)
{
    const float *x = l->edited ? l->edited->reads[layer] : NULL;
    return x ? x : l->plain->reads[layer];
}

int attn_last_check(const struct attn_talk *t, struct attn_err *err)
{
    return t->last.there ? ATTN_OK : attn_fail(err, ATTN_EUSAGE, "question: nothing was run yet");
}

/* ---- reading what is asked --------------------------------------------------------------- */

static bool is_blank(const char *s) { return !s || !s[strspn(s, " \t\r\n")]; }

static int read_kind(struct attn_talk *t, struct attn_kind *k, const struct attn_live_asked *q, struct attn_err *err)
{
    struct attn_err why = {0};
    attn_live_at(t, ATTN_MEMBER_ATTENTION, -1);
    if (!is_blank(q->attention.s) && attn_kind_parse(k, q->attention.s, &why))
        return attn_fail(err, ATTN_EUSAGE, "--%s", why.msg);
    attn_live_at(t, ATTN_MEMBER_SCALE, -1);
    if (!is_blank(q->scale.s) && attn_scale_parse(k, q->scale.s, err))
        return ATTN_EUSAGE;
    attn_live_at(t, ATTN_MEMBER_DROPOUT, -1);
    if (!(q->dropout >= 0 && q->dropout < 1))
        return attn_fail(err, ATTN_EUSAGE, "--dropout: %g is not from 0 to below 1", q->dropout);
    k->dropout = q->dropout;
    k->dropout_seed = q->seed;
    return ATTN_OK;
}

static int read_bits(struct attn_talk *t, const struct attn_live_asked *q, struct attn_err *err)
{
    const bool generic = q->bits.s && !strcmp(q->bits.s, "generic");
    attn_live_at(t, ATTN_MEMBER_BITS, -1);
    if (q->bits.s && !generic && strcmp(q->bits.s, "default") != 0)
        return attn_fail(err, ATTN_EUSAGE, "question: \"bits\" is %.*s, expected default or generic",
                         attn_shown(q->bits.s, q->bits.len), q->bits.s);
    if (q->bits.s && !attn_cpu_choose(generic))
        return attn_fail(err, ATTN_EUSAGE, "question: \"bits\": this program cannot change them: start it with "
                                           "ATTN_SIMD=generic, or without");
    return ATTN_OK;
}

static int read_off(struct attn_edits **list, const char *head, struct attn_err *err)
{
    char edit[64];
    const size_t layer = strspn(head, "0123456789"), comma = head[layer] == ',';
    const size_t n = comma ? strspn(head + layer + 1, "0123456789") : 0, len = strlen(head);
    if (!layer || !n || layer + 1 + n != len || len > sizeof edit / 2)
        return attn_fail(err, ATTN_EUSAGE, "question: \"off\": '%.*s' is not LAYER,HEAD", attn_shown(head, len), head);
    attn_snprintf(edit, sizeof edit, "L%.*sH%s = 0", (int)layer, head, head + layer + 1);
    return attn_edits_parse(list, edit, err);
}

static int read_edits(struct attn_talk *t, struct attn_edits **list, const struct attn_live_asked *q,
                      struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < q->off.n && !rc; i++) {
        attn_live_at(t, ATTN_MEMBER_OFF, (long)i);
        rc = read_off(list, q->off.item[i], err);
    }
    for (size_t i = 0; i < q->edits.n && !rc; i++) {
        const char *edit = q->edits.item[i] + strspn(q->edits.item[i], " \t\r\n");
        attn_live_at(t, ATTN_MEMBER_EDITS, (long)i);
        if (*edit && *edit != '#')
            rc = attn_edits_parse(list, edit, err);
    }
    return rc;
}

/* The names of what is to be kept, as one list. */
static int join(char **out, const struct attn_live_list *names, struct attn_err *err)
{
    size_t len = 1;
    for (size_t i = 0; i < names->n; i++)
        len += strlen(names->item[i]) + 1;
    char *at = *out = malloc(len);
    if (!at)
        return attn_no_memory(err, NULL, "for a list of %zu names", names->n);
    *at = '\0';
    for (size_t i = 0; i < names->n; i++)
        at = stpcpy(stpcpy(at, i ? "," : ""), names->item[i]);
    return ATTN_OK;
}

static int read_keep(struct attn_talk *t, struct attn_last *l, const struct attn_live_asked *q, struct attn_err *err)
{
    char *show = NULL;
    attn_live_at(t, ATTN_MEMBER_KEEP, -1);
    if (!q->keep.n)
        return ATTN_OK;
    int rc = join(&show, &q->keep, err);
    if (!rc)
        rc = attn_select_new(&l->select, t->model, &l->plan.kind, show, NULL, NULL, err);
    free(show);
    return rc;
}

static int make_editor(struct attn_talk *t, struct attn_last *l, struct attn_err *err)
{
    const struct attn_editor_opts o = {.edits = l->edits, .model = t->model, .plan = l->plan};
    attn_live_at(t, ATTN_MEMBER_EDITS, -1);
    if (!attn_edits_count(l->edits))
        return ATTN_OK;
    int rc = attn_editor_new(&l->editor, &o, err);
    if (!rc)
        rc = attn_editor_text(l->editor, 0, l->typed.id, l->typed.all->n, false, err);
    return rc ? rc : attn_editor_start(l->editor, err);
}

/* All that can be wrong is found here, before anything of the last run is touched. */
static int read_all(struct attn_talk *t, struct attn_last *l, const struct attn_live_asked *q, struct attn_err *err)
{
    l->plan.threads = 1;
    int rc = read_kind(t, &l->plan.kind, q, err);
    if (!rc)
        rc = read_bits(t, q, err);
    if (!rc)
        rc = attn_live_type(&l->typed, t, q, &t->last.typed, err);
    if (!rc)
        rc = attn_run_check_tokens(t->model, l->typed.all, NULL, err);
    if (!rc)
        rc = read_keep(t, l, q, err);
    if (!rc)
        rc = read_edits(t, &l->edits, q, err);
    if (!rc)
        rc = make_editor(t, l, err);
    if (!rc)
        t->in = NULL;
    return rc;
}

/* ---- what stays of the run before -------------------------------------------------------- */

static bool same_kind(const struct attn_kind *a, const struct attn_kind *b)
{
    return a->form == b->form && a->w == b->w && a->s == b->s && a->r == b->r && a->b == b->b && a->seed == b->seed &&
           a->scaling == b->scaling && a->scale == b->scale && a->dropout == b->dropout &&
           a->dropout_seed == b->dropout_seed;
}

/* What is asked for, and what the questions after a run look at; NULL: no memory. */
static bool *wanted(const struct attn_talk *t, const struct attn_last *l)
{
    const struct attn_hook_points hooks = attn_model_hook_points(t->model, &l->plan.kind);
    bool *w = calloc(attn_act_slots(t->info.L), sizeof *w);
    for (int layer = -1; layer < (int)t->info.L && w; layer++)
        for (int act = 0; act < ATTN_ACTS; act++)
            w[attn_act_slot(act, layer)] =
                hooks.has[act] && attn_act_per_layer(act) == (layer >= 0) &&
                (act == ATTN_ACT_PATTERN || act == ATTN_ACT_RESID_POST ||
                 (l->select && attn_select_wants(l->select, act, layer)));
    return w;
}

/* Whether a longer text leaves what edits do to its first rows as it is. */
static bool leave_rows(const struct attn_edits *edits)
{
    bool leave = true;
    for (size_t i = 0; i < attn_edits_count(edits); i++) {
        const struct attn_edit *e = &edits->edit[i];
        leave &= !e->origin;
        for (size_t k = 0; k < e->indices; k++)
            leave &= e->index[k].form == ATTN_INDEX_RANGE || e->index[k].form == ATTN_INDEX_ALL ||
                     e->index[k].form == ATTN_INDEX_TOKEN;
    }
    return leave;
}

static bool same_edits(const struct attn_edits *a, const struct attn_edits *b)
{
    bool same = attn_edits_count(a) == attn_edits_count(b);
    for (size_t i = 0; i < attn_edits_count(a) && same; i++)
        same = !strcmp(attn_edits_text(a, i), attn_edits_text(b, i));
    return same && leave_rows(a);
}

/* Takes over what the last run kept, if it was one of the same kind; the last run is then no more. */
static int take_over(struct attn_talk *t, struct attn_last *l, struct attn_err *err)
{
    struct attn_last *was = &t->last;
    bool *w = wanted(t, l);
    if (!w)
        return attn_no_memory(err, NULL, "for what is kept of %zu layers", t->info.L);
    const bool same = was->there && same_kind(&was->plan.kind, &l->plan.kind) && was->generic == l->generic &&
                      !memcmp(was->plain->wanted, w, was->plain->slots * sizeof *w);
    if (!same)
        return attn_remembered_new(&l->plain, t->model, &l->plan.kind, w, err);
    free(w);
    l->plain = was->plain;
    l->edited = was->edited;
    l->same_edits = was->edited && same_edits(was->edits, l->edits);
    l->lens = was->lens;
    l->lens_rows = was->lens_rows;
    l->lens_room = was->lens_room;
    was->plain = was->edited = NULL;
    was->lens = NULL;
    return ATTN_OK;
}

/* ---- running ----------------------------------------------------------------------------- */

static int run_edited(struct attn_talk *t, struct attn_last *l, struct attn_err *err)
{
    bool *w = l->edited ? NULL : wanted(t, l);
    if (!l->edited && !w)
        return attn_no_memory(err, NULL, "for what is kept of %zu layers", t->info.L);
    int rc = l->edited ? ATTN_OK : attn_remembered_new(&l->edited, t->model, &l->plan.kind, w, err);
    return rc ? rc : attn_remembered_edit(l->edited, l->plain, l->editor, l->same_edits, err);
}

static int run_both(struct attn_talk *t, struct attn_last *l, struct attn_err *err)
{
    const bool was_edited = l->edited;
    int rc = attn_remembered_run(l->plain, l->typed.id, l->typed.all->n, err);
    if (!rc && l->editor)
        rc = run_edited(t, l, err);
    if (!l->editor) {
        attn_remembered_free(l->edited);
        l->edited = NULL;
    }
    if (rc)
        return rc;
    const size_t first = l->edited ? smaller(l->edited->first, l->plain->first) : l->plain->first;
    l->lens_rows = was_edited == (l->edited != NULL) ? smaller(l->lens_rows, first) : 0;
    return ATTN_OK;
}

/* ---- the answer -------------------------------------------------------------------------- */

static void put_typed(struct attn_out *o, const struct attn_typed *t)
{
    attn_out_printf(o, "\"text\":%s", t->ids ? "null,\"ids\":" : "");
    attn_out_json(o, t->text, t->len);
    attn_out_str(o, t->ids ? "," : ",\"ids\":null,");
    attn_live_put_tokens(o, t->all);
}

static void put_edits(struct attn_out *o, const struct attn_last *l)
{
    attn_out_printf(o, ",\"edited\":%s,\"edits\":[", l->edited ? "true" : "false");
    for (size_t i = 0; i < attn_edits_count(l->edits); i++) {
        const char *text = attn_edits_text(l->edits, i);
        attn_out_str(o, i ? "," : "");
        attn_out_json(o, text, strlen(text));
    }
    attn_out_char(o, ']');
}

/* What comes next, as the model is and with the edits; by the functions of attn_compare. */
static void put_next(struct attn_out *o, const struct attn_talk *t, const struct attn_last *l)
{
    struct attn_likely best[ATTN_COMPARED];
    struct attn_err why = {0};
    const struct attn_remembered *of[] = {l->plain, attn_last_shown(l)};
    const struct attn_metric kl = {.form = ATTN_METRIC_KL, .T = 1, .V = t->info.V, .reference = l->plain->logits};
    bool known = true;
    for (size_t i = 0; i < 2; i++) {
        size_t n = 0;
        known &= of[i]->predicted && !attn_logits_top(best, &n, ATTN_COMPARED, of[i]->logits, t->info.V, &why);
        attn_out_str(o, i ? ",\"after\":" : ",\"before\":");
        attn_live_put_likely(o, t, best, n);
    }
    attn_out_str(o, ",\"noNext\":");
    if (why.code)
        attn_out_json(o, why.msg, strlen(why.msg));
    else
        attn_out_str(o, "null");
    attn_out_str(o, ",\"kl\":");
    if (known && l->edited)
        attn_out_f64(o, attn_metric_part(&kl, 0, l->edited->logits));
    else
        attn_out_str(o, "null");
}

/* ---- sheets ---- */

struct mask { struct attn_kind by; size_t number; };
struct masks { struct mask *of; size_t n; };            /* those that are there already */

static int hide(float *hidden, const struct attn_kind *k, size_t T, struct attn_err *err)
{
    size_t *list = calloc(2 * T + 2, sizeof *list);
    bool *seen = calloc(T + 1, sizeof *seen);
    int rc = list && seen ? ATTN_OK : attn_no_memory(err, NULL, "for the keys of %zu queries", T);
    for (size_t q = 0; q < T && list && seen; q++) {
        memset(seen, 0, T * sizeof *seen);
        attn_kind_mark(seen, list, list + T + 1, k, q, T);
        for (size_t key = 0; key < T; key++)
            hidden[q * T + key] = seen[key] ? 0 : 1;
    }
    free(list);
    free(seen);
    return rc;
}

/* The array that says what is hidden by a kind; layers that hide the same share it. */
static int mask_of(size_t *number, struct attn_talk *t, struct masks *m, const struct attn_kind *k, size_t T,
                   struct attn_err *err)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct attn_kind *by = &m->of[i].by;
        if (by->form == k->form && by->causal == k->causal && by->w == k->w && by->s == k->s && by->r == k->r &&
            by->seed == k->seed) {
            *number = m->of[i].number;
            return ATTN_OK;
        }
    }
    struct mask *more = realloc(m->of, (m->n + 1) * sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu masks", m->n + 1);
    m->of = more;
    float *hidden = attn_live_new_array(number, t, T * T, err);
    more[m->n++] = (struct mask){*k, *number};
    return hidden ? hide(hidden, k, T, err) : ATTN_ENOMEM;
}

static int put_mask(struct attn_out *o, struct attn_talk *t, const struct attn_last *l, struct masks *m, int act,
                    int layer, struct attn_err *err)
{
    const struct attn_masking how = {.of = t->model, .kind = l->plan.kind};
    size_t number = 0;
    attn_out_str(o, ",\"mask\":");
    if (!attn_masks(&how, act)) {
        attn_out_str(o, "null}");
        return ATTN_OK;
    }
    const struct attn_kind k = attn_masked_by(&how, act, layer);
    int rc = mask_of(&number, t, m, &k, l->plain->T, err);
    attn_out_printf(o, "%zu}", number);
    return rc;
}

static int put_sheet(struct attn_out *o, struct attn_talk *t, const struct attn_last *l, struct masks *m, int act,
                     int layer, const float *x, struct attn_err *err)
{
    char name[ATTN_NAME_MAX];
    size_t shape[3], number = 0;
    const int n = attn_act_shape(shape, &t->info, act, l->plain->T, l->plain->T);
    const size_t heads = n == 3 ? shape[0] : 0, rows = shape[n - 2], cols = shape[n - 1];
    int rc = attn_live_array(&number, t, x, (heads ? heads : 1) * rows * cols, err);
    attn_act_name(name, act, layer);
    attn_out_printf(o, "{\"kind\":\"%s\",\"layer\":", attn_act_tail(act));
    if (layer < 0)
        attn_out_str(o, "null");
    else
        attn_out_printf(o, "%d", layer);
    attn_out_printf(o, ",\"name\":\"%s\",\"heads\":%zu,\"rows\":%zu,\"cols\":%zu", name, heads, rows, cols);
    attn_out_printf(o, ",\"array\":%zu", number);
    return rc ? rc : put_mask(o, t, l, m, act, layer, err);
}

static int put_sheets(struct attn_out *o, struct attn_talk *t, const struct attn_last *l, struct attn_err *err)
{
    struct masks m = {.of = NULL};
    bool any = false;
    int rc = ATTN_OK;
    attn_out_str(o, ",\"sheets\":[");
    for (int layer = -1; layer < (int)t->info.L; layer++)
        for (int act = 0; act < ATTN_ACTS && !rc && l->select; act++) {
            const float *x = attn_act_per_layer(act) == (layer >= 0) && attn_select_wants(l->select, act, layer)
                             ? attn_last_at(l, act, layer) : NULL;
            if (!x)
                continue;
            attn_out_str(o, any ? "," : "");
            rc = put_sheet(o, t, l, &m, act, layer, x, err);
            any = true;
        }
    attn_out_char(o, ']');
    free(m.of);
    return rc;
}

static int put_run(struct attn_out *o, struct attn_talk *t, double seconds, struct attn_err *err)
{
    const struct attn_last *l = &t->last;
    const size_t rows = l->plain->T - l->plain->first;
    put_typed(o, &l->typed);
    put_edits(o, l);
    put_next(o, t, l);
    int rc = put_sheets(o, t, l, err);
    attn_out_str(o, ",\"milliseconds\":");
    attn_out_f64(o, 1e3 * seconds);
    const bool whole = rows == l->plain->T && (!l->edited || (!l->edited->first && l->edited->from <= 0));
    attn_out_printf(o, ",\"whole\":%s,\"rows\":%zu", whole ? "true" : "false", rows);
    return rc;
}

int attn_live_run(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    struct attn_last next = {.generic = q->bits.s && !strcmp(q->bits.s, "generic")};
    int rc = read_all(t, &next, q, err);
    const double start = attn_clock_now();
    if (!rc && !(rc = take_over(t, &next, err)))
        rc = run_both(t, &next, err);
    if (rc) {
        attn_last_free(&next);
        t->last.there &= t->last.plain != NULL;
        return rc;
    }
    const double seconds = attn_clock_now() - start;
    attn_last_free(&t->last);
    t->last = next;
    t->last.there = true;
    return put_run(o, t, seconds, err);
}
