#include "ask/edit_source.h"

#include "base/err.h"
#include "base/grow.h"
#include "base/strings.h"
#include "io/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* sum: of all rows, of many texts */
struct kept { float *data, *mean; double *sum; size_t heads, rows, cols; bool wanted; };

struct source {
    const struct attn_edit *edit;       /* the first that has it */
    struct attn_dump *dump;             /* of a file */
    struct attn_records *records;       /* of texts(FILE) */
    struct attn_tokens *tokens;         /* of one text, with their ids */
    int32_t *ids;
    struct kept *kept;                  /* [1 + L, ATTN_ACTS] of a text; row 0: outside the blocks */
    bool apart;                         /* its keys and values come of a pass of their own */
    bool cross;                         /* in the coming pass it looks at another text, as the edited text does */
};

struct attn_sources {
    const struct attn_editor_opts *o;
    const struct attn_venue *v;
    struct attn_tokenizer *tokenizer;
    struct attn_strings names;          /* canonical forms, with the numbers of the items */
    struct source *item; size_t n, room;
};

static int no_memory(const struct source *s, struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the source %.80s of an edit", s->edit->origin);
}

static struct kept *kept_of(const struct source *s, int act, int layer)
{
    return &s->kept[attn_act_slot(act, layer)];
}

static const struct attn_origin *origin(const struct source *s) { return &s->edit->value.of; }
static bool is_file(const struct source *s) { return origin(s)->form == ATTN_ORIGIN_FILE; }

/* ---- opening ---- */

int attn_sources_tokenizer(struct attn_sources *s, struct attn_err *err)
{
    return s->tokenizer ? ATTN_OK : attn_model_tokenizer(&s->tokenizer, s->o->model, err);
}

const char *attn_sources_token(struct attn_sources *s, int32_t id, size_t *len)
{
    *len = 0;
    return s->tokenizer || !attn_sources_tokenizer(s, NULL) ? attn_tokenizer_text(s->tokenizer, id, len) : NULL;
}

static int open_text(struct attn_sources *all, struct source *s, struct attn_err *err)
{
    const struct attn_origin *o = origin(s);
    int rc = attn_sources_tokenizer(all, err);
    return rc ? rc : attn_encode_with(&s->tokens, all->tokenizer, attn_edit_at(s->edit, o->text), o->text.len,
                                      &all->o->encode, err);
}

/* A copy of the tokens of --from, with their ids alone: more is not needed. */
static int open_from(struct attn_sources *all, struct source *s, struct attn_err *err)
{
    const struct attn_tokens *from = all->o->from;
    if (!from)
        return attn_edit_fail(s->edit, err, "there is no other text: give it with --from TEXT or --from-ids IDS");
    int32_t *ids = NULL;
    int rc = attn_tokens_to_ids(&ids, from, err);
    if (!rc)
        rc = attn_tokens_from_ids(&s->tokens, ids, from->n, err);
    free(ids);
    return rc;
}

static int open_records(struct source *s, struct attn_err *err)
{
    struct attn_records_opts o = {.path = attn_edit_at(s->edit, origin(s)->text)};
    return attn_records_open(&s->records, &o, err);
}

static int keep_ids(struct attn_sources *all, struct source *s, struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = attn_tokens_to_ids(&s->ids, s->tokens, err);
    return rc ? rc : attn_run_check_tokens(all->o->model, s->tokens, all->o->cross, &why)
         ? attn_edit_fail(s->edit, err, "%s: %s", s->edit->origin, why.msg) : ATTN_OK;
}

static int open_source(struct attn_sources *all, struct source *s, struct attn_err *err)
{
    const struct attn_origin *o = origin(s);
    int rc = ATTN_OK;
    switch (o->form) {
    case ATTN_ORIGIN_FILE:  return attn_dump_open_some(&s->dump, attn_edit_at(s->edit, o->text), err);
    case ATTN_ORIGIN_TEXTS: rc = open_records(s, err); break;
    case ATTN_ORIGIN_TEXT:  rc = open_text(all, s, err); break;
    case ATTN_ORIGIN_IDS:   rc = attn_tokens_from_ids(&s->tokens, s->edit->id + o->first, o->n, err); break;
    case ATTN_ORIGIN_FROM:  rc = open_from(all, s, err); break;
    }
    s->kept = rc ? NULL : calloc(attn_act_slots(all->v->info.L), sizeof *s->kept);
    if (!rc && !s->kept)
        rc = no_memory(s, err);
    return rc || !s->tokens ? rc : keep_ids(all, s, err);
}

/* What tells sources apart: an archive is opened once for all its arrays, but each mean is a source by itself. */
static const char *name_of(const struct attn_edit *e)
{
    const struct attn_origin *o = &e->value.of;
    return o->form == ATTN_ORIGIN_FILE && e->value.form != ATTN_VALUE_MEAN ? attn_edit_at(e, o->text) : e->origin;
}

static struct source *source_of(const struct attn_sources *s, const struct attn_edit *e)
{
    return &s->item[attn_strings_find(&s->names, name_of(e), strlen(name_of(e)))];
}

static int find_source(struct source **out, struct attn_sources *s, const struct attn_edit *e, struct attn_err *err)
{
    struct source *more = attn_grow(s->item, &s->room, s->n + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for the sources of edits");
    s->item = more;
    size_t i = attn_strings_add(&s->names, name_of(e), strlen(name_of(e)));
    if (i == ATTN_STRINGS_NONE)
        return attn_no_memory(err, NULL, "for the sources of edits");
    *out = &more[i];
    if (i < s->n)
        return ATTN_OK;
    more[s->n++] = (struct source){.edit = e, .apart = s->o->cross != NULL};
    return open_source(s, &more[i], err);
}

/* ---- what is needed ---- */

static const struct attn_dumped *array_of(const struct source *s, const struct attn_edit *e, int act, int layer)
{
    char name[ATTN_NAME_MAX];
    attn_act_name(name, act, layer);
    if (s->dump->single)
        return s->dump->n == 1 ? s->dump->item : NULL;
    return attn_dump_item(s->dump, e->value.of.member.at ? attn_edit_at(e, e->value.of.member) : name);
}

static int no_array(const struct source *s, const struct attn_edit_reach *r, int layer, struct attn_err *err)
{
    char name[ATTN_NAME_MAX], list[200] = "";
    size_t n = 0;
    attn_act_name(name, r->act, layer);
    for (size_t i = 0; i < s->dump->n && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", s->dump->item[i].name);
    if (n >= sizeof list)
        strcpy(list + sizeof list - 4, "...");
    if (!n)
        return attn_edit_fail(r->edit, err, "%s has no arrays", attn_edit_at(r->edit, r->edit->value.of.text));
    return attn_edit_fail(r->edit, err,
                          "%s has no array '%s'; it has %s", attn_edit_at(r->edit, r->edit->value.of.text),
                          r->edit->value.of.member.at ? attn_edit_at(r->edit, r->edit->value.of.member) : name, list);
}

static struct attn_given given_of(const struct attn_array *a)
{
    size_t n = (size_t)a->ndim;
    return (struct attn_given){n > 2 ? a->shape[0] : 1, n > 1 ? a->shape[n - 2] : 1, n ? a->shape[n - 1] : 0, a->data};
}

static int check_array(const struct attn_sources *all, const struct attn_edit_reach *r, const struct attn_dumped *d,
                       struct attn_err *err)
{
    const struct attn_array *a = &d->of;
    const char *path = attn_edit_at(r->edit, r->edit->value.of.text), *tail = attn_act_tail(r->act);
    struct attn_given g = given_of(a);
    size_t heads = attn_act_heads(&all->v->hooks, r->act), shape[3];
    int n = attn_act_shape(shape, &all->v->info, r->act, 1, 1);
    if (d->wrong)
        return attn_fail(err, ATTN_EFORMAT, "%s", d->wrong);
    if (a->ndim < 1 || a->ndim > 3 || !a->n)
        return attn_edit_fail(r->edit, err, "%s: an array of %d axes and %zu numbers; expected [columns], [rows, "
                                            "columns]%s", path,
                              a->ndim, a->n, heads ? " or [heads, rows, columns]" : "");
    if (g.heads != 1 && g.heads != heads)
        return attn_edit_fail(r->edit, err,
                              "%s: the array [%zu, %zu, %zu] has %zu heads, but %s has %zu", path, g.heads,
                              g.rows, g.cols,
                              g.heads, tail, heads);
    if (!attn_act_square(r->act) && g.cols != shape[n - 1])
        return attn_edit_fail(r->edit, err,
                              "%s: the array has %zu columns, but %s has %zu", path, g.cols, tail, shape[n - 1]);
    return ATTN_OK;
}

int attn_sources_need(struct attn_sources *all, const struct attn_edit_reach *r, struct attn_err *err)
{
    struct source *s = NULL;
    int rc = find_source(&s, all, r->edit, err);
    for (size_t i = 0; !rc && i < r->layers.n; i++)
        for (size_t row = r->layers.r[i].lo; !rc && row < r->layers.r[i].hi; row++) {
            int layer = (int)row - 1;
            const struct attn_dumped *d = is_file(s) ? array_of(s, r->edit, r->act, layer) : NULL;
            if (!is_file(s))
                kept_of(s, r->act, layer)->wanted = true;
            else
                rc = d ? check_array(all, r, d, err) : no_array(s, r, layer, err);
            if (d && !rc && r->edit->value.form == ATTN_VALUE_MEAN && !s->kept) {
                s->kept = calloc(attn_act_slots(all->v->info.L), sizeof *s->kept);
                rc = s->kept ? ATTN_OK : no_memory(s, err);
            }
        }
    return rc;
}

/* ---- running ---- */

/* Where a text looks at another one, keys and values are those of a text that runs by itself; a source's are, too. */
static bool is_of_pass(const struct source *s, int act)
{
    return !s->apart || attn_act_of_keys(act) != s->cross;
}

static unsigned wants(void *self, int act, int layer)
{
    return is_of_pass(self, act) && kept_of(self, act, layer)->wanted ? ATTN_WATCH : 0;
}

static bool wants_any(struct source *s, size_t L)
{
    for (size_t row = 0; row <= L; row++)
        for (int act = 0; act < ATTN_ACTS; act++)
            if (wants(s, act, (int)row - 1))
                return true;
    return false;
}

static bool make_room(struct kept *k, const struct attn_probe *p, bool sums)
{
    k->heads = p->ndim == 3 ? p->shape[0] : 1;
    k->cols = p->cols;
    if (sums)
        return k->sum || (k->sum = calloc(k->heads * k->cols + 1, sizeof *k->sum));
    k->rows = p->shape[p->ndim - 2];
    return k->data || (k->data = calloc(k->heads * k->rows * k->cols + 1, sizeof *k->data));
}

static void add_row(double *sum, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += (double)x[i];
}

static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct source *s = self;
    struct kept *k = kept_of(s, p->act, p->layer);
    if (!attn_trace_is_shown(p, s->cross))
        return ATTN_OK;
    if (k->sum && k->cols != p->cols)
        return attn_edit_fail(s->edit, err,
                              "texts of %zu and %zu tokens have no mean %s: its columns are tokens", k->cols,
                              p->cols, p->name);
    if (!make_room(k, p, s->records != NULL))
        return no_memory(s, err);
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++) {
            const float *x = p->data + h * p->ld_head + t * p->ld;
            if (s->records)
                add_row(k->sum + (p->head0 + h) * k->cols, x, k->cols);
            else
                memcpy(k->data + ((p->head0 + h) * k->rows + p->row0 + t) * k->cols, x, k->cols * sizeof *x);
        }
    if (s->records && p->head0 == 0)
        k->rows += p->rows;
    return ATTN_OK;
}

static int run_tokens(struct attn_sources *all, struct source *s, const struct attn_tokens *tokens,
                      struct attn_err *err)
{
    struct attn_observer o = {.wants = wants, .watch = watch, .self = s};
    int rc = ATTN_OK;
    for (int pass = s->apart ? 0 : 1; pass < 2 && !rc; pass++) {
        s->cross = pass == 0;
        if (wants_any(s, all->v->info.L))
            rc = attn_run_tokens(all->o->model, &all->o->plan, tokens, s->cross ? all->o->cross : NULL, &o, 1, err);
    }
    return rc;
}

static int run_record(struct attn_sources *all, struct source *s, const struct attn_record *rec, struct attn_err *err)
{
    struct attn_tokens *tokens = NULL;
    struct attn_err why = {0};
    int rc = rec->error ? attn_fail(&why, ATTN_EFORMAT, "%s", rec->error)
             : rec->text ? attn_sources_tokenizer(all, &why) : attn_tokens_from_ids(&tokens, rec->ids, rec->n, &why);
    if (!rc && rec->text)
        rc = attn_encode_with(&tokens, all->tokenizer, rec->text, rec->text_len, &all->o->encode, &why);
    if (!rc)
        rc = run_tokens(all, s, tokens, &why);
    attn_tokens_free(tokens);
    return rc ? attn_fail(err, why.code,
                          "%s:%llu: %s", attn_edit_at(s->edit, origin(s)->text), (unsigned long long)rec->line,
                          why.msg)
              : ATTN_OK;
}

static int run_records(struct attn_sources *all, struct source *s, struct attn_err *err)
{
    struct attn_record rec;
    enum attn_records_event what = ATTN_RECORDS_END;
    size_t n = 0;
    int rc;
    while (!(rc = attn_records_next(s->records, &rec, &what, err)) && what == ATTN_RECORDS_NEXT) {
        rc = run_record(all, s, &rec, err);
        if (rc)
            return rc;
        n++;
    }
    return rc ? rc : n ? ATTN_OK : attn_edit_fail(s->edit, err,
                                                  "%s has no records", attn_edit_at(s->edit, origin(s)->text));
}

static double *sum_rows(const struct attn_given *g)
{
    double *sum = calloc(g->heads * g->cols + 1, sizeof *sum);
    for (size_t i = 0; sum && i < g->heads * g->rows; i++)
        add_row(&sum[i / g->rows * g->cols], g->data + i * g->cols, g->cols);
    return sum;
}

/* Sets the mean over rows: of the sum of many texts, or of the data there is. */
static int find_mean(const struct source *s, struct kept *k, const struct attn_given *g, struct attn_err *err)
{
    size_t heads = g->heads, cols = g->cols;
    double *sum = k->sum ? k->sum : sum_rows(g);
    k->mean = calloc(heads * cols + 1, sizeof *k->mean);
    for (size_t i = 0; sum && k->mean && i < heads * cols; i++)
        k->mean[i] = (float)(sum[i] / (double)g->rows);
    bool ok = sum && k->mean;
    if (sum != k->sum)
        free(sum);
    k->heads = heads;
    k->cols = cols;
    return ok ? ATTN_OK : no_memory(s, err);
}

static int run_source(struct attn_sources *all, struct source *s, struct attn_err *err)
{
    return is_file(s) ? ATTN_OK : s->records ? run_records(all, s, err) : run_tokens(all, s, s->tokens, err);
}

/* The means that edits take of a source. */
static int find_means(const struct attn_sources *all, const struct attn_edit_reach *r, struct attn_err *err)
{
    const struct source *s = source_of(all, r->edit);
    int rc = ATTN_OK;
    for (size_t i = 0; !rc && i < r->layers.n; i++)
        for (size_t row = r->layers.r[i].lo; !rc && row < r->layers.r[i].hi; row++) {
            struct kept *k = kept_of(s, r->act, (int)row - 1);
            const struct attn_dumped *d = is_file(s) ? array_of(s, r->edit, r->act, (int)row - 1) : NULL;
            struct attn_given g = d ? given_of(&d->of) : (struct attn_given){k->heads, k->rows, k->cols, k->data};
            if (!k->mean)
                rc = find_mean(s, k, &g, err);
        }
    return rc;
}

int attn_sources_run(struct attn_sources *s, const struct attn_edit_reaches *all, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < s->n && !rc; i++)
        rc = run_source(s, &s->item[i], err);
    for (size_t i = 0; i < all->n && !rc; i++)
        if (all->item[i].edit->value.form == ATTN_VALUE_MEAN)
            rc = find_means(s, &all->item[i], err);
    return rc;
}

/* ---- what there is ---- */

struct attn_source_text attn_sources_text(const struct attn_sources *s, const struct attn_edit *e)
{
    const struct source *from = source_of(s, e);
    return from->tokens ? (struct attn_source_text){from->ids, from->tokens->n} : (struct attn_source_text){NULL, 0};
}

struct attn_given attn_sources_get(const struct attn_sources *s, const struct attn_edit *e, int act, int layer)
{
    const struct source *from = source_of(s, e);
    struct attn_given g;
    if (is_file(from)) {
        g = given_of(&array_of(from, e, act, layer)->of);
    } else {
        const struct kept *k = kept_of(from, act, layer);
        g = (struct attn_given){k->heads, from->tokens ? from->tokens->n : 1, k->cols, k->data};
    }
    if (e->value.form == ATTN_VALUE_MEAN) {
        g.rows = 1;
        g.data = from->kept ? kept_of(from, act, layer)->mean : NULL;
    }
    return g;
}

/* ---- the list of them ---- */

int attn_sources_new(struct attn_sources **out, const struct attn_editor_opts *o, const struct attn_venue *v,
                     struct attn_err *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return attn_no_memory(err, NULL, "for the sources of edits");
    (*out)->o = o;
    (*out)->v = v;
    return ATTN_OK;
}

static void free_source(struct source *s, size_t n)
{
    for (size_t i = 0; s->kept && i < n; i++) {
        free(s->kept[i].data);
        free(s->kept[i].mean);
        free(s->kept[i].sum);
    }
    free(s->kept);
    free(s->ids);
    attn_tokens_free(s->tokens);
    attn_records_close(s->records);
    attn_dump_free(s->dump);
}

void attn_sources_free(struct attn_sources *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free_source(&s->item[i], attn_act_slots(s->v->info.L));
    free(s->item);
    attn_strings_free(&s->names);
    attn_tokenizer_close(s->tokenizer);
    free(s);
}
