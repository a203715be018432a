/* engine.c - what a batch works with, and how records run through the model: short ones together in one pass, one with
 * too many numbers to keep alone.
 *
 * A pass has enough rows for fast products, but takes no more than about a second: a signal has to wait for the pass
 * in progress, and a kill loses it. */
#include "attn_ask.h"
#include "attn_tools.h"
#include "batch/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/size.h"
#include "compute/vec.h"
#include "run/run.h"

enum {
    ROWS = 512, ROWS_LEAST = 32,        /* of a pass */
    SEQS = 256,
    NUMBERS = 1 << 21                   /* kept of a pass; a sentence of over half as many is written as it runs */
};
static const double WORK = 1.5e11;      /* floating point operations of a pass: a second or two on a slow machine */

/* ---- opening --------------------------------------------------------------------------- */

/* Starts the hash with what the keys of all records have in common. */
static void start_keys(struct attn_engine *e)
{
    struct attn_sha256 *sha = &e->reading.context;
    attn_sha256_start(sha);
    const char *parts[] = {"attn-cli ", ATTN_VERSION, "\n", e->digest, "\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        attn_sha256_add(sha, parts[i], strlen(parts[i]));
    for (size_t i = 0; i < e->o->n_options; i++) {      /* with their NULs, which separate them */
        attn_sha256_add(sha, e->o->options[i].name, strlen(e->o->options[i].name) + 1);
        attn_sha256_add(sha, e->o->options[i].value, strlen(e->o->options[i].value) + 1);
    }
}

static int open_input(struct attn_engine *e, struct attn_err *err)
{
    const struct attn_batch_opts *o = e->o;
    struct attn_records_opts records = o->records ? *o->records : (struct attn_records_opts){0};
    if (e->grids)
        attn_grids_ask(e->grids, &records);
    int rc = o->records ? attn_records_open(&e->in, &records, err) : ATTN_OK;
    if (!rc)
        rc = attn_team_new(&e->team, o->plan.threads, err);
    start_keys(e);
    e->reading.team = e->team;
    e->reading.table = !rc && e->in &&
                       (!strcmp(attn_records_format(e->in), "csv") || !strcmp(attn_records_format(e->in), "tsv"));
    return rc;
}

/* What is wrong with edits for any text is found before anything is written. */
static int open_editor(struct attn_engine *e, struct attn_err *err)
{
    struct attn_editor_opts o = {.edits = e->o->edits, .model = e->o->model, .encode = e->o->encode,
                                 .from = e->o->from, .plan = e->o->plan};
    bool for_each = e->o->grid && attn_edits_from(o.edits);     /* each record has another text to take values from */
    return attn_edits_count(o.edits) && !for_each ? attn_editor_new(&e->editor, &o, err) : ATTN_OK;
}

static int open_grids(struct attn_engine *e, struct attn_err *err)
{
    const struct attn_batch_opts *o = e->o;
    const struct attn_format *f = e->writing.format;
    e->reading.model = o->model;
    e->reading.opened = o->opened;
    e->reading.self = o->self;
    e->reading.encode = o->encode;
    e->reading.labels = o->labels;
    e->reading.n_ctx = e->info.n_ctx;
    if (o->grid && !(f->flags & (ATTN_FORMAT_LINES | ATTN_FORMAT_SUMMARY)))
        return attn_fail(err, ATTN_EUSAGE, "%s holds activations: a grid for each record is written as ndjson, as a "
                                           "table or as a summary", f->name);
    return o->grid ? attn_grids_new(&e->grids, o, &e->reading, err) : ATTN_OK;
}

static int open_writing(struct attn_engine *e, struct attn_err *err)
{
    const struct attn_batch_opts *o = e->o;
    int rc = attn_capture_new(&e->capture, &e->info, o->select, err);
    if (!rc && !e->grids && (o->summary || e->writing.format->flags & ATTN_FORMAT_SUMMARY))
        rc = attn_summary_new(&e->summary, o, &e->reading, e->team, err);
    attn_kind_say(&e->kind, &o->plan.kind);
    e->writing.job = (struct attn_sink_job){
        .kind = e->kind.of, .attention = o->plan.kind, .model = &e->info, .of = o->model, .digest = e->digest,
        .select = o->select,
        .cpu = o->plan.bf16 ? attn_cpu_target() : attn_vec_target(),
        .command = o->command, .picture = o->picture, .csv_safe = o->csv_safe,
        .edits = attn_edits_count(o->edits) ? o->edits : NULL,
        .token_text = attn_reading_text, .token_ctx = &e->reading};
    e->writing.capture = e->capture;
    e->writing.summary = e->summary;
    e->writing.grids = e->grids;
    e->writing.rows = o->summary != NULL;
    double rows = WORK / (2 * (double)e->info.parameters + 1);
    e->rows = rows < ROWS_LEAST ? ROWS_LEAST : rows < ROWS ? (size_t)rows : ROWS;
    return rc;
}

int attn_engine_open(struct attn_engine *e, const struct attn_batch_opts *o, struct attn_err *err)
{
    const char *format = o->format ? o->format : "ndjson";
    char list[ATTN_BATCH_FORMATS];
    *e = (struct attn_engine){.o = o, .writing.format = attn_batch_format(format)};
    if (!e->writing.format)
        return attn_fail(err, ATTN_EUSAGE, "unknown format '%s': expected one of %s", format, attn_batch_formats(list));
    attn_model_info(o->model, &e->info);
    int rc = attn_model_digest(o->model, false, e->digest, err);
    if (!rc)
        rc = open_editor(e, err);
    if (!rc)
        rc = open_grids(e, err);
    if (!rc)
        rc = open_input(e, err);
    return rc ? rc : open_writing(e, err);
}

void attn_engine_close(struct attn_engine *e)
{
    attn_editor_free(e->editor);
    attn_group_clear(&e->group);
    free(e->group.item);
    attn_run_free(e->run);
    free(e->ids);
    free(e->seq);
    attn_summary_free(e->summary);
    attn_grids_free(e->grids);
    attn_capture_free(e->capture);
    attn_tokenizer_close(e->reading.tokenizer);
    attn_records_close(e->in);
    attn_team_free(e->team);
}

/* ---- records --------------------------------------------------------------------------- */

/* Notes what keeps a record from being run. */
static int fit(struct attn_engine *e, struct attn_item *item, struct attn_err *err)
{
    int rc = e->grids ? attn_grids_fit(e->grids, item, err) : ATTN_OK;
    if (!rc && e->editor && !item->failure.code)
        rc = attn_editor_text(e->editor, 0, item->ids, item->tokens->n, false, &item->failure) ?
             attn_item_blame(item, err) : ATTN_OK;
    if (!rc && item->failure.code) {
        attn_tokens_free(item->tokens);
        item->tokens = NULL;
    } else if (!rc && e->editor && !e->edits) {
        rc = attn_editor_start(e->editor, err);
        e->edits = true;
    }
    return rc;
}

int attn_engine_encode(struct attn_engine *e, struct attn_err *err)
{
    int rc = attn_group_encode(&e->group, &e->reading, err);
    for (size_t i = 0; i < e->group.n && !rc; i++)
        if (e->group.item[i].tokens)
            rc = fit(e, &e->group.item[i], err);
    return rc;
}

/* ---- passes ---------------------------------------------------------------------------- */

/* What keeps the numbers of a pass; NULL: nothing, since only the summary is written. */
static struct attn_capture *kept(const struct attn_engine *e)
{
    return e->writing.format->flags & ATTN_FORMAT_SUMMARY ? NULL : e->capture;
}

static uint64_t numbers_of(const struct attn_engine *e, const struct attn_item *item)
{
    return kept(e) && item->tokens ? attn_capture_numbers(kept(e), item->tokens->n) : 0;
}

size_t attn_engine_take(const struct attn_engine *e, const struct attn_item *item, size_t n, bool *live)
{
    size_t rows = 0, i = 0;
    uint64_t numbers = 0;
    *live = !e->grids && numbers_of(e, item) > NUMBERS / 2;
    if (*live || e->grids)              /* a grid is many runs */
        return 1;
    for (; i < n && i < SEQS; i++) {
        uint64_t more = numbers_of(e, &item[i]);
        rows += item[i].tokens ? item[i].tokens->n : 0;
        if (i && (rows > e->rows || more > NUMBERS / 2 || (numbers += more) > NUMBERS))
            break;
    }
    return i;
}

/* A plan with room for that many rows. */
static struct attn_plan plan_for(const struct attn_engine *e, size_t rows)
{
    size_t most = e->info.n_ctx < ROWS ? smaller(e->rows, SEQS * e->info.n_ctx) : e->rows;
    struct attn_plan p = e->o->plan;
    p.rows = rows > most ? rows : most;
    p.seqs = SEQS;
    return p;
}

static int plan(struct attn_engine *e, size_t rows, struct attn_err *err)
{
    struct attn_observer watchers[3];
    size_t n = 0;
    if (e->run && rows <= e->plan.rows)
        return ATTN_OK;
    attn_run_free(e->run);
    e->run = NULL;
    e->plan = plan_for(e, rows);
    if (e->editor)
        watchers[n++] = attn_editor_observer(e->editor);
    if (kept(e))
        watchers[n++] = attn_capture_observer(kept(e));
    if (e->summary)
        watchers[n++] = attn_summary_observer(e->summary);
    return attn_run_new(&e->run, e->o->model, &e->plan, watchers, n, err);
}

static int collect(struct attn_engine *e, const struct attn_item *item, size_t n, size_t *seqs, size_t *rows,
                   struct attn_err *err)
{
    *seqs = *rows = 0;
    struct attn_seq *seq = attn_grow(e->seq, &e->seq_room, n, sizeof *seq);
    if (!seq)
        return attn_no_memory(err, NULL, "to list %zu sentences", n);
    e->seq = seq;
    for (size_t i = 0; i < n; i++) {
        const struct attn_tokens *t = item[i].tokens;
        int32_t *ids = attn_grow(e->ids, &e->ids_room, *rows + (t ? t->n : 0) + 1, sizeof *ids);
        if (!ids)
            return attn_no_memory(err, NULL, "for %zu tokens", *rows);
        e->ids = ids;
        if (!t)
            continue;
        memcpy(ids + *rows, item[i].ids, t->n * sizeof *ids);
        int rc = e->editor ? attn_editor_text(e->editor, *seqs, item[i].ids, t->n, false, err) : ATTN_OK;
        if (rc)
            return rc;
        seq[(*seqs)++] = (struct attn_seq){.T = t->n};
        *rows += t->n;
    }
    return ATTN_OK;
}

static int start_watchers(struct attn_engine *e, size_t seqs, bool keep, struct attn_err *err)
{
    int rc = keep && kept(e) ? attn_capture_start(kept(e), e->seq, seqs, err) : ATTN_OK;
    return !rc && e->summary ? attn_summary_start(e->summary, e->ids, e->seq, seqs, err) : rc;
}

static int forward(struct attn_engine *e, struct attn_run *run, size_t seqs, struct attn_err *err)
{
    int rc = attn_run_forward(run, e->ids, e->seq, seqs, err);
    for (size_t i = 0; i < seqs && !rc; i++)
        e->overflowed += attn_run_overflowed(run, i);
    return rc;
}

static int make_grid(struct attn_engine *e, const struct attn_item *item, struct attn_err *err)
{
    int rc = item->tokens ? attn_grids_run(e->grids, item, e->editor, &e->stopped, err) : ATTN_OK;
    e->overflowed += item->tokens && !rc && !e->stopped && attn_grids_overflowed(e->grids);
    return rc;
}

int attn_engine_run(struct attn_engine *e, const struct attn_item *item, size_t n, struct attn_err *err)
{
    size_t seqs, rows;
    if (e->grids)
        return make_grid(e, item, err);
    int rc = collect(e, item, n, &seqs, &rows, err);
    if (rc || !seqs)
        return rc;
    rc = plan(e, rows, err);
    if (!rc)
        rc = start_watchers(e, seqs, true, err);
    return rc ? rc : forward(e, e->run, seqs, err);
}

int attn_engine_live(struct attn_engine *e, const struct attn_item *item, const struct attn_observer *watcher,
                     struct attn_err *err)
{
    size_t seqs, rows, watchers = 0;
    struct attn_observer watch[3];
    struct attn_run *run = NULL;
    int rc = collect(e, item, 1, &seqs, &rows, err);
    if (!rc)
        rc = start_watchers(e, seqs, false, err);
    if (rc)
        return rc;
    struct attn_plan alone = e->o->plan;
    alone.rows = rows;
    alone.seqs = 1;
    if (e->editor)
        watch[watchers++] = attn_editor_observer(e->editor);
    if (watcher->wants)
        watch[watchers++] = *watcher;
    if (e->summary)
        watch[watchers++] = attn_summary_observer(e->summary);
    rc = attn_run_new(&run, e->o->model, &alone, watch, watchers, err);
    if (!rc)
        rc = forward(e, run, 1, err);
    attn_run_free(run);
    return rc;
}

uint64_t attn_engine_numbers(const struct attn_engine *e, const struct attn_item *item)
{
    if (!item->tokens)
        return 0;
    return e->grids ? attn_grids_cells(e->grids, item->tokens->n) : attn_capture_numbers(e->capture, item->tokens->n);
}

int attn_engine_memory(const struct attn_engine *e, uint64_t tokens, uint64_t *bytes, struct attn_err *err)
{
    struct attn_cost cost = {0};
    struct attn_plan p = plan_for(e, 0);
    struct attn_observer observers[2] = {kept(e) || !e->summary ? attn_capture_observer(e->capture) :
                                         attn_summary_observer(e->summary)};
    if (e->editor)
        observers[1] = attn_editor_observer(e->editor);
    int rc = attn_run_measure(&cost, e->o->model, &p, observers, e->editor ? 2 : 1, err);
    *bytes = cost.memory + attn_capture_bytes(e->capture) + (tokens < ATTN_RUN_REPAYS ? 0 : cost.copies);
    return rc;
}
