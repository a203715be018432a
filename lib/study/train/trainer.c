/* trainer.c - opens a training, with all it needs to take steps, reports on it, and closes it. */
#include "train/trainer.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/simd.h"
#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/team.h"
#include "base/utf8.h"

/* ---- texts --------------------------------------------------------------------------------- */

static int count_bytes(struct attn_train *t, struct attn_err *err)
{
    int32_t mark;
    size_t V = t->model->config.V, len;
    int rc = attn_corpus_mark(&mark, t->tokenizer, err);
    if (rc)
        return rc;
    t->bytes = calloc(V, sizeof *t->bytes);
    if (!t->bytes)
        return attn_no_memory(err, NULL, "for the lengths of %zu tokens", V);
    for (size_t id = 0; id < V; id++)
        if ((int32_t)id != mark && attn_tokenizer_text(t->tokenizer, (int32_t)id, &len))
            t->bytes[id] = (uint32_t)len;
    return ATTN_OK;
}

/* Checks a text as a whole, so that an error counts bytes from its start, not from that of a document. */
static int check_utf8(const char *text, size_t len, const char *what, struct attn_err *err)
{
    size_t valid = text ? attn_utf8_valid(text, len) : len;
    if (valid == len)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT,
                     "%s is not UTF-8 at byte %zu: found 0x%02X", what, valid, (unsigned char)text[valid]);
}

/* A tokenizer that was made for another model may have more tokens. */
static int check_ids(const struct attn_corpus *c, size_t V, const char *what, struct attn_err *err)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->ids[i] < 0 || (size_t)c->ids[i] >= V)
            return attn_fail(err, ATTN_EFORMAT, "%s: token %zu has the id %d, expected less than \"vocab_size\", %zu: "
                                                "the tokenizer was not made for this config.json", what, i, c->ids[i],
                             V);
    return ATTN_OK;
}

static int read_text(struct attn_train *t, struct attn_corpus *c, const char *text, size_t len, const char *what,
                     struct attn_err *err)
{
    int rc = attn_corpus_add(c, t->tokenizer, text, len, err);
    return rc ? rc : check_ids(c, t->model->config.V, what, err);
}

/* Tokens that are predicted from others before them. */
static size_t targets_of(const struct attn_corpus *c, bool join)
{
    size_t n = 0, at = 0;
    for (size_t d = 0; d < c->documents && !join; at = c->end[d++])
        n += c->end[d] > at ? c->end[d] - at - 1 : 0;
    return join && c->n ? c->n - 1 : n;
}

static int check_text(const struct attn_train *t, size_t len, struct attn_err *err)
{
    if (len == 0)
        return attn_fail(err, ATTN_EFORMAT, "the text is empty: there is nothing to train on");
    return targets_of(&t->text, t->settings.join) ? ATTN_OK
         : attn_fail(err, ATTN_EFORMAT, "the text: %zu token%s to train on, and none follows another in its document; "
                                        "take a longer text",
                     t->text.n, t->text.n == 1 ? "" : "s");
}

static int check_held_out(const struct attn_train *t, struct attn_err *err)
{
    if (t->settings.held_out == 0 || targets_of(&t->held_out, t->settings.join))
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "the text: its last %g %% have %zu token%s to hold out, expected at least 2%s; "
                                        "take a longer text or --held-out 0", t->settings.held_out, t->held_out.n,
                     t->held_out.n == 1 ? "" : "s", t->held_out.n < 2 ? "" : " in one document");
}

static int read_texts(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    static const char also[] = "the other text", against[] = "the text of --against";
    size_t cut = attn_corpus_cut(o->text, o->text_len, t->settings.held_out);
    int rc = check_utf8(o->text, o->text_len, "the text", err);
    if (!rc)
        rc = check_utf8(o->also, o->also_len, also, err);
    if (!rc)
        rc = check_utf8(o->against, o->against_len, against, err);
    if (!rc)
        rc = read_text(t, &t->text, o->text, cut, "the text", err);
    if (!rc)
        rc = read_text(t, &t->held_out, o->text + cut, o->text_len - cut, "the text held out", err);
    if (!rc && o->also)
        rc = read_text(t, &t->also, o->also, o->also_len, also, err);
    if (!rc && o->against)
        rc = read_text(t, &t->against, o->against, o->against_len, against, err);
    if (!rc)
        rc = check_text(t, o->text_len, err);
    if (!rc)
        rc = check_held_out(t, err);
    return rc ? rc : count_bytes(t, err);
}

static int make_decks(struct attn_train *t, struct attn_err *err)
{
    size_t n_ctx = t->model->config.n_ctx;
    int rc = attn_deck_new(&t->deck, &t->text, n_ctx, t->settings.join, t->settings.seed, "the text", err);
    if (!rc && t->settings.against) {
        t->repeats_share = t->settings.against_share;
        rc = attn_deck_new(&t->repeats, &t->against, n_ctx, false, t->settings.seed, "the text of --against", err);
    }
    if (rc || !t->settings.also)
        return rc;
    double both = (double)t->text.n + (double)t->also.n;
    t->share = t->settings.also_share > 0 ? t->settings.also_share : (double)t->also.n / both;
    return attn_deck_new(&t->other, &t->also, n_ctx, t->settings.join, ~(uint64_t)t->settings.seed,
                         "the other text", err);
}

/* ---- opening ------------------------------------------------------------------------------- */

static int make_arithmetic(struct attn_train *t, int threads, struct attn_err *err)
{
    float drop = (float)t->settings.dropout;
    size_t n_ctx = t->model->config.n_ctx, room;
    struct attn_grad_plan plan = {.threads = threads, .longest = n_ctx, .dropout = {drop, drop, drop}};
    int rc = attn_params_new(&t->params, t->model, err);
    if (!rc)
        rc = attn_grad_new(&t->grad, t->params, &plan, err);
    if (!rc)
        rc = attn_optimizer_new(&t->optimizer, t->params, &t->settings, err);
    if (!rc)
        rc = attn_team_new(&t->team, threads, err);
    if (!rc && __builtin_mul_overflow(t->settings.batch, n_ctx, &room))
        rc = attn_fail(err, ATTN_EUSAGE,
                       "a batch of %zu contexts of %zu tokens is too large", t->settings.batch, n_ctx);
    if (!rc)
        rc = attn_contexts_new(&t->batch, room, err);
    if (rc)
        return rc;
    t->live = *t->model;
    t->live.w = t->params->w;
    t->live.checked = true;
    return ATTN_OK;
}

bool attn_train_exists(const char *path)
{
    return attn_folder_has(path, ATTN_CHECKPOINT_FILE);
}

static int may_begin(const char *path, struct attn_err *err)
{
    static const char *const weights[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                          "pytorch_model.bin.index.json"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        if (attn_folder_has(path, weights[i]))
            found = weights[i];
    if (!found || attn_train_exists(path) || attn_folder_has(path, ATTN_TRAIN_SETTINGS_FILE))
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "%s: there is a model already, and no training: choose another directory, or "
                                       "remove %s", path, found);
}

static int start(struct attn_train *t, const struct attn_train_opts *o, bool *goes_on, struct attn_err *err)
{
    int rc = attn_folder_hold(&t->lock, t->dir, err);
    bool there = !rc && attn_train_exists(t->dir);
    *goes_on = there && o->resume;
    if (rc)
        return rc;
    if (there && !o->resume)
        return attn_fail(err, ATTN_EUSAGE, "%s: there is a training already: go on with --resume, choose another "
                                           "directory, or remove " ATTN_CHECKPOINT_FILE, t->dir);
    rc = there ? ATTN_OK : may_begin(t->dir, err);
    return rc ? rc : attn_train_begin(t, o, there, err);
}

static int read_checkpoint(struct attn_train *t, struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = attn_checkpoint_read(t->dir, &t->optimizer, &t->curve, err);
    if (!rc && t->curve.n > t->settings.steps)
        rc = attn_fail(err, ATTN_EFORMAT,
                       "%s/" ATTN_CHECKPOINT_FILE ": has %zu steps, but train.json says %zu: one of them "
                       "was changed", t->dir, t->curve.n, t->settings.steps);
    if (!rc && attn_params_check(t->params, &why))
        rc = attn_fail(err, why.code,
                       "%s/" ATTN_CHECKPOINT_FILE ": %s: there is nothing to continue from", t->dir, why.msg);
    return rc;
}

static int open_all(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    bool goes_on = false;
    int rc;
    if ((rc = start(t, o, &goes_on, err)) || (rc = attn_tokenizer_open(&t->tokenizer, t->dir, err)) ||
        (rc = attn_model_open(&t->model, t->dir, err)) || (rc = read_texts(t, o, err)) || (rc = make_decks(t, err)) ||
        (rc = make_arithmetic(t, o->threads, err)))
        return rc;
    return goes_on ? read_checkpoint(t, err) : ATTN_OK;
}

static int check_lock(const char *path, struct attn_err *err)
{
    int lock, rc = attn_folder_hold(&lock, path, err);
    if (lock >= 0)
        close(lock);
    return rc;
}

int attn_train_may_begin(const char *path, struct attn_err *err)
{
    int rc = check_lock(path, err);
    return rc ? rc : may_begin(path, err);
}

int attn_train_spare(const char *path, struct attn_err *err)
{
    int rc = check_lock(path, err);
    return rc ? rc : attn_folder_spare_training(path, err);
}

int attn_train_open(struct attn_train **out, const char *path, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_train *t = *out = NULL;
    int rc = attn_cpu_check(err);    /* before anything is written */
    if (rc)
        return rc;
    t = calloc(1, sizeof *t);
    if (t)
        t->lock = -1;
    if (t)
        t->dir = strchr(path, '/') ? strdup(path) : NULL;
    if (t && !t->dir && attn_asprintf(&t->dir, "./%s", path) < 0)
        t->dir = NULL;
    rc = t && t->dir ? open_all(t, o, err) : attn_no_memory(err, NULL, "to train");
    if (rc)
        attn_train_close(t);
    else
        *out = t;
    return rc;
}

void attn_train_close(struct attn_train *t)
{
    if (!t)
        return;
    if (t->lock >= 0)
        close(t->lock);
    attn_watch_close(t->watch);
    attn_grad_free(t->grad);
    attn_optimizer_free(&t->optimizer);
    attn_params_free(t->params);
    attn_team_free(t->team);
    attn_contexts_free(&t->batch);
    attn_deck_free(&t->deck);
    attn_deck_free(&t->other);
    attn_deck_free(&t->repeats);
    attn_corpus_free(&t->text);
    attn_corpus_free(&t->also);
    attn_corpus_free(&t->against);
    attn_corpus_free(&t->held_out);
    attn_curve_free(&t->curve);
    attn_train_settings_free(&t->settings);
    attn_model_close(t->model);
    attn_tokenizer_close(t->tokenizer);
    free(t->bytes);
    free(t->dir);
    free(t);
}

/* ---- reporting ----------------------------------------------------------------------------- */

void attn_train_get(const struct attn_train *t, struct attn_train_state *out)
{
    const struct attn_curve *c = &t->curve;
    static const struct attn_point none = {.held_out = NAN, .bits_per_byte = NAN, .loss = NAN, .gradient = NAN,
                                           .lr = NAN};
    const struct attn_point *last = c->n > 0 ? &c->point[c->n - 1] : &none;
    double before = c->n > 1 ? c->point[c->n - 2].tokens : 0;
    *out = (struct attn_train_state){
        .step = c->n, .steps = t->settings.steps, .tokens = (size_t)last->tokens,
        .step_tokens = (size_t)(last->tokens - before),
        .text_tokens = t->text.n, .also_tokens = t->also.n, .held_out_tokens = t->held_out.n,
        .lr = last->lr, .loss = last->loss, .gradient = last->gradient,
        .held_out = last->held_out, .bits_per_byte = last->bits_per_byte, .warmup = t->settings.warmup};
    for (size_t i = 0; i < t->params->n; i++)
        out->parameters += t->params->param[i].count;
}

const struct attn_model *attn_train_model(const struct attn_train *t)
{
    return &t->live;
}

int attn_train_watch(struct attn_train *t, const struct attn_train_watch_opts *o, struct attn_err *err)
{
    if (t->watch)
        return attn_fail(err, ATTN_EUSAGE, "this training watches a sentence already");
    int rc = attn_watch_open(&t->watch, t->dir, &t->live, t->tokenizer, o, t->curve.n, err);
    if (!rc)
        rc = attn_watch_note(t->watch, &t->live, t->curve.n, t->settings.steps, err);
    if (rc) {
        attn_watch_close(t->watch);
        t->watch = NULL;
    }
    return rc;
}
