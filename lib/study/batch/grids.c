#include "batch/grids.h"

#include <stdlib.h>
#include <string.h>

#include "ask/metric.h"
#include "ask/patch.h"
#include "base/err.h"
#include "batch/batch.h"
#include "sinks/sink_csv.h"
#include "sinks/grid.h"

enum { FROM, ANSWERS };                 /* fields of a record: the other text; those of the metric; that text's ids */

struct attn_grids {
    const struct attn_batch_opts *o;
    struct attn_reading *reading;
    struct attn_metric *metric;
    const char **field; size_t n_fields;    /* the last one: "from_ids", the other text as ids */
    unsigned over; size_t cells;        /* axes; cells of one position */
    bool own;                           /* edits take values from the other text, so each record has an editor */
    bool stopped;                       /* the user ended the grid that was being made */
    bool overflowed;                    /* in a run for the last grid dots overflowed */
    struct attn_patch *patch;           /* of the record that ran last */
    struct attn_patch_result result;
};

/* ---- the question ---- */

static bool has_field(const struct attn_grids *g, const char *name)
{
    size_t i = 0;
    while (i < g->n_fields && strcmp(g->field[i], name) != 0)
        i++;
    return i < g->n_fields;
}

static int list_fields(struct attn_grids *g, struct attn_err *err)
{
    static const char *const taken[] = {"text", "ids", "id", "from", "from_ids"};
    g->field = calloc(ANSWERS + g->metric->n + 1, sizeof *g->field);
    if (!g->field)
        return attn_no_memory(err, NULL, "for the fields of records");
    g->field[FROM] = "from";
    g->n_fields = ANSWERS;
    for (size_t i = 0; i < g->metric->n; i++) {
        const struct attn_metric_term *t = &g->metric->term[i];
        for (size_t k = 0; k < sizeof taken / sizeof *taken && t->field; k++)
            if (!strcmp(t->token, taken[k]))
                return attn_fail(err, ATTN_EUSAGE,
                                 "metric '%s': column %zu: {%s} is a text of the record, or its label: expected "
                                 "another field, as in {answer}", g->metric->text, t->column, t->token);
        if (t->field && !has_field(g, t->token))
            g->field[g->n_fields++] = t->token;
    }
    g->field[g->n_fields++] = "from_ids";
    return ATTN_OK;
}

static int step(void *self, size_t done, size_t all, struct attn_err *err)
{
    struct attn_grids *g = self;
    const struct attn_records_opts *r = g->o->records;
    (void)all;
    g->stopped = done > 0 && r && r->stop && r->stop(r->self);
    return g->stopped ? attn_fail(err, ATTN_EUSAGE, "stopped") : ATTN_OK;
}

static void note_overflow(void *self, const struct attn_lost *rows)
{
    struct attn_grids *g = self;
    (void)rows;
    g->overflowed = true;
}

static struct attn_patch_opts question(struct attn_grids *g)
{
    const struct attn_batch_grid *grid = g->o->grid;
    return (struct attn_patch_opts){.what = grid->what, .over = grid->over, .method = grid->method, .metric = g->metric,
                                    .plan = g->o->plan, .step = step, .overflow = note_overflow, .self = g};
}

static int understand(struct attn_grids *g, struct attn_err *err)
{
    int rc = attn_metric_new(&g->metric, g->o->grid->metric, err);
    if (!rc)
        rc = list_fields(g, err);
    if (rc)
        return rc;
    const struct attn_patch_opts opts = question(g);
    struct attn_err why = {0};
    rc = attn_patch_check(g->o->model, &opts, &g->result, &why);
    if (rc)                             /* of a batch the name of the option is another */
        return strncmp(why.msg, "--what", 6) ? attn_fail_as(err, &why) : attn_fail(err, why.code,
                                                                                   "--patch%s", why.msg + 6);
    g->over = g->result.over;
    g->cells = g->result.grid[0] * g->result.grid[1];
    if (attn_metric_has_words(g->metric))
        rc = attn_reading_tokenizer(g->reading, err);
    return rc ? rc : attn_metric_check(g->metric, g->o->model, g->reading->tokenizer, err);
}

int attn_grids_new(struct attn_grids **out, const struct attn_batch_opts *o, struct attn_reading *reading,
                   struct attn_err *err)
{
    struct attn_grids *g = *out = calloc(1, sizeof *g);
    if (!g)
        return attn_no_memory(err, NULL, "for grids");
    g->o = o;
    g->reading = reading;
    g->own = attn_edits_from(o->edits);
    int rc = understand(g, err);
    if (rc) {
        attn_grids_free(g);
        *out = NULL;
    }
    return rc;
}

void attn_grids_free(struct attn_grids *g)
{
    if (!g)
        return;
    attn_patch_free(g->patch);
    attn_metric_free(g->metric);
    free(g->field);
    free(g);
}

void attn_grids_ask(const struct attn_grids *g, struct attn_records_opts *o)
{
    o->fields = g->field;
    o->n_fields = g->n_fields;
    o->n_columns = g->n_fields - 1;     /* in a table "from" is a text */
}

size_t attn_grids_cells(const struct attn_grids *g, size_t T)
{
    return g->cells * (g->over & ATTN_OVER_POS ? T : 1);
}

/* ---- one record ---- */

/* The other text, as one or the other field has it; NULL: it has none, or two. */
static const struct attn_record_field *other_text(const struct attn_item *item)
{
    const struct attn_record_field *f = item->of.field, *ids = &f[item->of.n_fields - 1];
    bool has_text = f[FROM].text || f[FROM].ids, has_ids = ids->text || ids->ids;
    return has_text == has_ids ? NULL : has_text ? &f[FROM] : ids;
}

static int encode(struct attn_grids *g, struct attn_item *item, struct attn_err *err)
{
    const struct attn_record_field *from = other_text(item);
    if (!from)
        return attn_fail(err, ATTN_EFORMAT, "expected \"from\", the other text, or \"from_ids\", its token ids");
    int rc = from->text ? attn_encode_with(&item->from, g->reading->tokenizer, from->text, from->len,
                                           &g->reading->encode, err)
                        : attn_tokens_from_ids(&item->from, from->ids, from->n, err);
    if (!rc && g->reading->labels)
        rc = attn_tokens_label(item->from, g->reading->labels, err);
    if (!rc)
        rc = attn_run_check_tokens(g->o->model, item->from, NULL, err);
    if (rc) {
        struct attn_err why = *err;
        return attn_fail(err, why.code, "\"%s\": %.200s", from->name, why.msg);
    }
    return attn_patch_check_texts(item->tokens, item->from, err);
}

/* In a table digits alone are an id. */
static bool is_id(const struct attn_grids *g, const struct attn_record_field *f)
{
    bool digits = f->len > 0 && f->len < 11 && g->reading->table;
    for (size_t i = 0; i < f->len && digits; i++)
        digits = f->text[i] >= '0' && f->text[i] <= '9';
    return digits;
}

static int64_t id_of(const struct attn_record_field *f)
{
    int64_t id = 0;
    for (size_t i = 0; i < f->len; i++)
        id = 10 * id + (f->text[i] - '0');
    return id;
}

static int bind_metric(struct attn_grids *g, const struct attn_item *item, struct attn_err *err)
{
    struct attn_metric_field *list = calloc(g->n_fields + 1, sizeof *list);
    struct attn_metric_of of = {.model = g->o->model, .tokenizer = g->reading->tokenizer, .ids = item->ids,
                                .T = item->tokens->n,
                                .field = list};
    int rc = list ? ATTN_OK : attn_no_memory(err, NULL, "for %zu fields", g->n_fields);
    for (size_t i = ANSWERS; i + 1 < g->n_fields && !rc; i++) {
        const struct attn_record_field *f = &item->of.field[i];
        if (f->ids && f->n != 1)
            rc = attn_fail(err, ATTN_EFORMAT, "{%s} is a list of %zu ids: expected one token", f->name, f->n);
        else if (f->text && is_id(g, f))
            list[of.n_fields++] = (struct attn_metric_field){.name = f->name, .id = id_of(f)};
        else if (f->text || f->ids)
            list[of.n_fields++] = (struct attn_metric_field){.name = f->name, .text = f->text, .len = f->len,
                                                             .id = f->ids ? f->ids[0] : 0};
    }
    if (!rc)
        rc = attn_metric_bind(g->metric, &of, err);
    free(list);
    return rc;
}

static int open_editor(const struct attn_grids *g, struct attn_editor **editor, const struct attn_item *item,
                       struct attn_err *err)
{
    const struct attn_batch_opts *o = g->o;
    struct attn_editor_opts opts = {.edits = o->edits, .model = o->model, .encode = o->encode,
                                    .from = item->from, .plan = o->plan};
    int rc = attn_editor_new(editor, &opts, err);
    return rc ? rc : attn_editor_text(*editor, 0, item->ids, item->tokens->n, false, err);
}

static int check(struct attn_grids *g, struct attn_item *item, struct attn_err *err)
{
    struct attn_editor *editor = NULL;
    int rc = encode(g, item, err);
    if (!rc)
        rc = bind_metric(g, item, err);
    if (!rc && g->own)
        rc = open_editor(g, &editor, item, err);
    attn_editor_free(editor);
    return rc;
}

int attn_grids_fit(struct attn_grids *g, struct attn_item *item, struct attn_err *err)
{
    bool words = false;
    for (size_t i = 0; i < item->of.n_fields; i++)
        words |= item->of.field[i].text != NULL;
    int rc = words ? attn_reading_tokenizer(g->reading, err) : ATTN_OK;
    if (rc)
        return rc;
    return check(g, item, &item->failure) ? attn_item_blame(item, err) : ATTN_OK;
}

int attn_grids_run(struct attn_grids *g, const struct attn_item *item, struct attn_editor *editor, bool *stopped,
                   struct attn_err *err)
{
    struct attn_patch_opts opts = question(g);
    struct attn_editor *own = NULL;
    int rc = bind_metric(g, item, err);
    attn_patch_free(g->patch);
    g->patch = NULL;
    g->overflowed = false;
    if (!rc && g->own)
        rc = open_editor(g, &own, item, err);
    if (!rc && own)
        rc = attn_editor_start(own, err);
    if (!rc && editor)
        rc = attn_editor_text(editor, 0, item->ids, item->tokens->n, false, err);
    opts.tokens = item->tokens;
    opts.from = item->from;
    opts.editor = own ? own : editor;
    if (!rc)
        rc = attn_patch_new(&g->patch, g->o->model, &opts, err);
    attn_editor_free(own);
    *stopped = rc && g->stopped;
    if (*stopped)
        *err = (struct attn_err){0};
    if (g->patch)
        attn_patch_get(g->patch, &g->result);
    return *stopped ? ATTN_OK : rc;
}

bool attn_grids_overflowed(const struct attn_grids *g)
{
    return g->overflowed;
}

/* ---- its output ---- */

int attn_grids_document(const struct attn_grids *g, const struct attn_item *item, const struct attn_sink_job *job,
                        struct attn_err *err)
{
    const struct attn_batch_grid *grid = g->o->grid;
    const struct attn_record_field *from = other_text(item);
    return attn_grid_json(job->to, job, &(struct attn_grid_doc){
        .from = item->from, .from_text = from ? from->text : NULL, .from_len = from ? from->len : 0, .what = grid->what,
        .method = grid->method ? grid->method : "exact", .metric = grid->metric, .result = &g->result}, "", err);
}

void attn_grids_header(const struct attn_grids *g, struct attn_out *o)
{
    attn_out_str(o, "record,");
    attn_grid_columns(o, g->over);
    attn_out_str(o, ",id,error\n");
}

void attn_grids_rows(const struct attn_grids *g, const struct attn_item *item, const char *failed, struct attn_out *o)
{
    for (size_t k = 0; k < (failed ? 1 : g->result.n); k++) {
        attn_out_u64(o, item->of.number);
        attn_out_char(o, ',');
        if (!failed)
            attn_grid_row(o, g->over, &g->result.cell[k]);
        for (size_t i = 0; i < 3 && failed; i++)
            attn_out_str(o, g->over & 1U << i ? "," : "");
        attn_out_str(o, failed ? "," : "");
        attn_cell_end(o, &item->of, failed, g->o->csv_safe);
    }
}
