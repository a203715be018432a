/* batch.c - many sentences: reads records, runs them through the model and writes the results, until the input ends
 * or the user stops it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn_tools.h"
#include "base/err.h"
#include "base/share.h"
#include "batch/batch.h"

struct batch {
    const struct attn_batch_opts *o;
    struct attn_engine e;
    struct attn_output out;
    struct attn_batch_state *state;
    bool end, stopped;                  /* the input has ended; the user stopped it */
};

/* ---- what an earlier run has done -------------------------------------------------------- */

static int changed(const struct batch *b, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: is not the input that %s was made of: its first %" PRIu64 " records differ or "
                     "there are others now; start anew with --force", attn_records_path(b->e.in), b->out.path,
                     b->out.journal.side.now.records);
}

static void drop_first(struct attn_group *g, size_t n)
{
    struct attn_group done = {g->item, n, 0};
    attn_group_clear(&done);
    memmove(g->item, g->item + n, (g->n - n) * sizeof *g->item);
    g->n -= n;
}

/* Skips the records that an earlier run has done, once they prove to be the same; those read beyond them stay in the
 * group for this run. */
static int pass_over(struct batch *b, struct attn_err *err)
{
    const struct attn_mark *done = &b->out.journal.side.now;
    struct attn_mark seen = {0};
    memset(seen.keys, '0', sizeof seen.keys - 1);
    while (seen.records < done->records) {
        size_t i = 0;
        attn_group_clear(&b->e.group);
        int rc = attn_group_read(&b->e.group, b->e.in, &b->e.reading, &b->end, &b->stopped, err);
        if (rc || b->stopped)
            return rc;
        if (!b->e.group.n)
            return changed(b, err);
        for (; i < b->e.group.n && seen.records < done->records; i++, seen.records++)
            attn_mark_add_key(&seen, b->e.group.item[i].of.number, b->e.group.item[i].key);
        drop_first(&b->e.group, i);
    }
    return strcmp(seen.keys, done->keys) ? changed(b, err) : ATTN_OK;
}

/* ---- passes ---------------------------------------------------------------------------- */

static bool asked_to_stop(const struct batch *b)
{
    const struct attn_records_opts *r = b->o->records;
    return r->stop && r->stop(r->self);
}

/* Runs a sentence whose activations are written while the model runs. */
static int run_live(struct batch *b, const struct attn_item *item, struct attn_err *err)
{
    struct attn_observer stack = b->out.stack ? attn_stack_observer(b->out.stack) : (struct attn_observer){0};
    return attn_writing_live(&b->e, item, b->out.stream, &stack, err);
}

static void report_progress(struct batch *b, const struct attn_item *item, size_t n)
{
    struct attn_batch_state *s = b->state;
    for (size_t i = 0; i < n; i++) {
        s->tokens += item[i].tokens ? item[i].tokens->n : 0;
        if (item[i].failure.code && b->o->failed)
            b->o->failed(b->o->self, &item[i].of, item[i].failure.msg);
    }
    s->records = b->out.journal.side.now.records;
    s->failed = b->out.journal.side.now.failed;
    s->overflowed = b->e.overflowed;
    s->read = attn_records_bytes(b->e.in, &s->all);
    uint64_t N = attn_records_total(b->e.in);
    s->total = N == UINT64_MAX ? N : attn_share_size(&b->o->records->share, N);
    if (b->o->progress)
        b->o->progress(b->o->self, s);
}

/* The index of the first failed item if failures are fatal, else n. */
static size_t good_until(const struct batch *b, size_t n)
{
    size_t i = 0;
    while (i < n && !(b->o->fail_fast && b->e.group.item[i].failure.code))
        i++;
    return i;
}

static void refuse_length(struct attn_item *item, size_t T)
{
    snprintf(item->failure.msg, sizeof item->failure.msg,
             "the sentence has %zu tokens, but those of this stack have %zu: a stack "
             "takes one length, --format npy any", item->tokens->n, T);
    item->failure.code = ATTN_EFORMAT;
    attn_tokens_free(item->tokens);
    item->tokens = NULL;
}

/* Marks sentences that are not as long as the first one of a stack as failed. */
static int fit_stack(struct batch *b, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; b->out.stack && i < b->e.group.n && !rc; i++) {
        struct attn_item *item = &b->e.group.item[i];
        size_t T = attn_stack_tokens(b->out.stack);
        if (!item->tokens)
            continue;
        if (!T)
            rc = attn_stack_set_tokens(b->out.stack, item->tokens->n, err);
        else if (item->tokens->n != T)
            refuse_length(item, T);
    }
    return rc;
}

static int run_group(struct batch *b, struct attn_err *err)
{
    int rc = attn_engine_encode(&b->e, err);
    if (!rc)
        rc = fit_stack(b, err);
    size_t n = good_until(b, b->e.group.n);
    for (size_t at = 0, step; at < n && !rc && !b->stopped; at += step) {
        const struct attn_item *item = &b->e.group.item[at];
        bool live;
        step = attn_engine_take(&b->e, item, n - at, &live);
        rc = live ? run_live(b, item, err) : attn_engine_run(&b->e, item, step, err);
        if (b->e.stopped) {
            b->stopped = true;
            return rc;
        }
        if (!rc)
            rc = attn_output_put(&b->out, item, step, live, err);
        if (!rc)
            report_progress(b, item, step);
        b->stopped = asked_to_stop(b) || attn_out_broken(b->out.stream);
    }
    if (rc || b->stopped || n == b->e.group.n)
        return rc;
    rc = attn_output_pause(&b->out, err);
    const struct attn_item *bad = &b->e.group.item[n];
    return rc ? rc : attn_fail(err, ATTN_EFORMAT, "%s: line %" PRIu64 ": %s", attn_records_path(b->e.in), bad->of.line,
                               bad->failure.msg);
}

static int run_all(struct batch *b, struct attn_err *err)
{
    int rc = ATTN_OK;
    while (!rc && !b->stopped && (b->e.group.n || !b->end)) {
        if (!b->e.group.n)
            rc = attn_group_read(&b->e.group, b->e.in, &b->e.reading, &b->end, &b->stopped, err);
        if (!rc && !b->stopped)
            rc = run_group(b, err);
        if (!b->stopped)
            attn_group_clear(&b->e.group);
    }
    return rc;
}

/* ---- from the beginning to the end ----------------------------------------------------- */

static void report_start(struct batch *b)
{
    const struct attn_mark *m = &b->out.journal.side.now;
    b->state->records = b->state->before = m->records;
    b->state->failed = m->failed;
    b->state->total = UINT64_MAX;
}

static int run(struct batch *b, struct attn_err *err)
{
    int rc = attn_output_start(&b->out, err);
    report_start(b);
    if (!rc)
        rc = pass_over(b, err);
    if (!rc)
        rc = run_all(b, err);
    if (rc)
        return rc;
    b->state->unread = attn_out_broken(b->out.stream);
    b->state->complete = !b->stopped || b->state->unread;
    return b->state->complete ? attn_output_finish(&b->out, attn_records_total(b->e.in), err) :
           attn_output_pause(&b->out, err);
}

/* Checks that the finished output was made from exactly this input. */
static int check_input(struct batch *b, struct attn_err *err)
{
    int rc = pass_over(b, err);
    if (!rc && !b->e.group.n && !b->end && !b->stopped)
        rc = attn_group_read(&b->e.group, b->e.in, &b->e.reading, &b->end, &b->stopped, err);
    return rc || !b->e.group.n ? rc : changed(b, err);
}

/* All records are done, but some files may not be renamed yet.  Standard input need not be supplied a second time. */
static int finish_earlier(struct batch *b, enum attn_journal_state state, struct attn_err *err)
{
    const char *path = b->o->records->path;
    int rc = path && strcmp(path, "-") ? check_input(b, err) : ATTN_OK;
    b->state->complete = true;
    if (rc || state != ATTN_JOURNAL_ENDING)
        return rc;
    rc = attn_output_check_end(&b->out, err);
    return rc ? rc : attn_output_end(&b->out, err);
}

int attn_batch(struct attn_batch_state *out, const struct attn_batch_opts *o, struct attn_err *err)
{
    struct batch b = {.o = o, .state = out, .out.journal = {.fd = -1}};
    enum attn_journal_state state = ATTN_JOURNAL_NEW;
    *out = (struct attn_batch_state){0};
    int rc = attn_engine_open(&b.e, o, err);
    if (!rc)
        rc = attn_output_open(&b.out, &b.e, &state, err);
    if (!rc)
        report_start(&b);
    if (!rc && (state == ATTN_JOURNAL_NEW || state == ATTN_JOURNAL_CONTINUED))
        rc = run(&b, err);
    else if (!rc)
        rc = finish_earlier(&b, state, err);
    if (rc && state == ATTN_JOURNAL_NEW && out->records == 0)
        attn_output_withdraw(&b.out);
    attn_output_close(&b.out);
    attn_engine_close(&b.e);
    return rc;
}
