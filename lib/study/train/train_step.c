/* train_step.c - a step of a training: the gradient over its contexts, the optimizer, and from time to time the loss of
 * what is held out; and what is saved of it. */
#include "train/trainer.h"
#include "attn_tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "making/draw.h"

/* ---- gradients ----------------------------------------------------------------------------- */

/* Whether it is the turn of what has a share, at i; *turns gets how often it was before. */
static bool has_turn(uint64_t i, double share, uint64_t *turns)
{
    *turns = (uint64_t)((double)i * share);
    return (uint64_t)((double)(i + 1) * share) > *turns;
}

/* Adds context number i: the next one of a text, alternating according to their shares. */
static void draw_context(struct attn_train *t, uint64_t i)
{
    uint64_t repeats, others;
    if (has_turn(i, t->repeats_share, &repeats)) {
        struct attn_token_range s = attn_deck_at(&t->repeats, repeats);
        attn_contexts_add_against(&t->batch, &t->against, &s);
        return;
    }
    i -= repeats;
    bool other = has_turn(i, t->share, &others);
    struct attn_deck *deck = other ? &t->other : &t->deck;
    struct attn_token_range s = attn_deck_at(deck, other ? others : i - others);
    attn_contexts_add(&t->batch, deck->corpus, &s, t->settings.join);
}

/* Draws the contexts of one part of a step. */
static void draw_part(struct attn_train *t, uint64_t part)
{
    attn_contexts_clear(&t->batch);
    for (uint64_t i = 0; i < t->settings.batch; i++)
        draw_context(t, part * t->settings.batch + i);
}

static struct attn_grad_batch batch_of(const struct attn_contexts *c)
{
    return (struct attn_grad_batch){.ids = c->ids, .targets = c->targets, .T = c->T, .seqs = c->seqs, .N = c->N};
}

/* Computes the gradient over all parts of a step, and counts the tokens it predicts. */
static int add_gradients(struct attn_train *t, size_t step, double *loss, size_t *targets, struct attn_err *err)
{
    size_t parts = t->settings.accumulate, first = step * parts;
    int rc = ATTN_OK;
    *targets = 0;
    *loss = 0;
    for (size_t i = 0; i < parts; i++) {
        draw_part(t, first + i);
        *targets += t->batch.N;
    }
    memset(t->params->grad, 0, t->params->count * sizeof *t->params->grad);
    for (size_t i = 0; i < parts && !rc; i++) {
        double part = 0;
        if (parts > 1)                  /* a single part has just been drawn */
            draw_part(t, first + i);
        struct attn_grad_batch b = batch_of(&t->batch);
        b.N = *targets;
        b.seed = t->settings.seed;
        b.step = first + i;
        if (t->batch.N > 0)             /* with texts of one token there may be nothing to predict */
            rc = attn_grad_add(t->grad, &part, &b, err);
        *loss += part;
    }
    return rc;
}

/* ---- what is held out ---------------------------------------------------------------------- */

struct held_out { double nats, bytes, targets; };

static int measure_batch(struct attn_train *t, struct held_out *h, struct attn_err *err)
{
    struct attn_grad_batch b = batch_of(&t->batch);
    double loss = 0;
    int rc = b.N > 0 ? attn_grad_loss(t->grad, &loss, &b, err) : ATTN_OK;
    h->nats += loss * (double)b.N;
    h->targets += (double)b.N;
    for (size_t i = 0; i < t->batch.n && !rc; i++)
        if (t->batch.targets[i] >= 0)
            h->bytes += t->bytes[t->batch.targets[i]];
    attn_contexts_clear(&t->batch);
    return rc;
}

/* Measures tokens at .. end - 1 in pieces of n_ctx. */
static int measure_pieces(struct attn_train *t, size_t at, size_t end, struct held_out *h, struct attn_err *err)
{
    size_t n_ctx = t->model->config.n_ctx;
    int rc = ATTN_OK;
    for (struct attn_token_range s = {.at = at}; s.at < end && !rc; s.at += s.n) {
        s.n = end - s.at < n_ctx ? end - s.at : n_ctx;
        if (t->batch.n + s.n > t->batch.room)
            rc = measure_batch(t, h, err);
        attn_contexts_add(&t->batch, &t->held_out, &s, t->settings.join);
    }
    return rc;
}

static int measure(struct attn_train *t, struct attn_point *p, struct attn_err *err)
{
    const struct attn_corpus *c = &t->held_out;
    struct held_out h = {0};
    int rc = ATTN_OK;
    size_t at = 0;
    attn_contexts_clear(&t->batch);
    for (size_t d = 0; d < c->documents && !rc && !t->settings.join; at = c->end[d++])
        rc = measure_pieces(t, at, c->end[d], &h, err);
    if (!rc)
        rc = measure_pieces(t, at, c->n, &h, err);                  /* nothing is left unless documents are joined */
    if (!rc)
        rc = measure_batch(t, &h, err);
    p->held_out = h.nats / h.targets;
    p->bits_per_byte = h.nats / (M_LN2 * h.bytes);
    return rc;
}

int attn_train_measure_part(struct attn_train *t, size_t tokens, struct attn_err *err)
{
    struct held_out h = {0};
    attn_contexts_clear(&t->batch);
    int rc = measure_pieces(t, 0, tokens, &h, err);
    return rc ? rc : measure_batch(t, &h, err);
}

static bool is_due(const struct attn_train *t, size_t done)
{
    bool often = t->settings.eval_every > 0 && done % t->settings.eval_every == 0;
    return t->held_out.n > 0 && (often || done == t->settings.steps);
}

/* ---- the model ------------------------------------------------------------------------------ */

static int narrow_all(struct attn_st_tensor *list, const struct attn_params *p, float *values,
                      const struct attn_narrow *type, struct attn_err *err)
{
    int rc = ATTN_OK;
    memcpy(values, p->value, p->count * sizeof *values);
    attn_params_tensors(list, p, values);
    for (size_t i = 0; i < p->n && !rc; i++) {
        rc = attn_narrow(type, values + p->param[i].at, p->param[i].count, p->param[i].name, err);
        list[i].dtype = type->name;
        list[i].bytes = list[i].count * type->size;
    }
    return rc;
}

/* Writes the current parameters as model.safetensors. */
static int write_model(const struct attn_train *t, struct attn_err *err)
{
    const struct attn_params *p = t->params;
    struct attn_st_tensor *list = calloc(p->n, sizeof *list);
    float *values = malloc(p->count * sizeof *values);
    struct attn_out *out = NULL;
    if (!list || !values) {
        free(list);
        free(values);
        return attn_no_memory(err, t->dir, "to write the model");
    }
    int rc = narrow_all(list, p, values, attn_narrow_find(attn_store_name(t->settings.dtype)), err);
    if (!rc)
        rc = attn_folder_open(&out, t->dir, "model.safetensors", err);
    if (!rc)
        rc = attn_st_write(out, list, p->n, err);
    if (!rc && t->settings.best)        /* must reach the disk before a checkpoint that no longer has these weights */
        rc = attn_out_flush(out, true, err);
    rc = attn_out_end(out, rc, err);
    free(values);
    free(list);
    return rc;
}

/* ---- a step -------------------------------------------------------------------------------- */

int attn_train_update(struct attn_train *t, size_t step, struct attn_point *p, size_t *targets, struct attn_err *err)
{
    int rc = add_gradients(t, step, &p->loss, targets, err);
    return rc ? rc : attn_optimizer_step(&t->optimizer, step, &p->gradient, t->team, err);
}

static int take_step(struct attn_train *t, size_t step, struct attn_point *p, struct attn_err *err)
{
    size_t targets = 0;
    int rc = attn_train_update(t, step, p, &targets, err);
    p->tokens = (double)targets + (step > 0 ? t->curve.point[step - 1].tokens : 0);
    if (!rc && is_due(t, step + 1))
        rc = measure(t, p, err);
    return rc;
}

int attn_train_step(struct attn_train *t, struct attn_err *err)
{
    size_t step = t->curve.n;
    struct attn_err why = {0};
    if (step >= t->settings.steps)
        return attn_fail(err, ATTN_EUSAGE, "all %zu steps of this training are taken", step);
    struct attn_point p = {.step = (double)step + 1, .lr = attn_optimizer_rate(&t->settings, step), .held_out = NAN,
                           .bits_per_byte = NAN};
    int rc = take_step(t, step, &p, &why);
    if (rc)
        return attn_fail(err, why.code, "step %zu: %s%s", step + 1, why.msg,
                         why.code == ATTN_EFORMAT ? "; try a lower --lr, a longer --warmup or a smaller --clip" : "");
    rc = attn_watch_note(t->watch, &t->live, step + 1, t->settings.steps, err);
    if (rc)
        return rc;
    bool best = t->settings.best && p.held_out < attn_curve_best(&t->curve);
    if (!attn_curve_add(&t->curve, &p))
        return attn_fail(err, ATTN_ENOMEM, "step %zu: no memory for the curve", step + 1);
    return best ? write_model(t, err) : ATTN_OK;
}

/* ---- saving --------------------------------------------------------------------------------- */

/* Checks the weights first: a good checkpoint must not be replaced by one that training cannot continue from. */
static int check_weights(const struct attn_train *t, struct attn_err *err)
{
    struct attn_err why = {0};
    if (attn_params_check(t->params, &why))
        return attn_fail(err, why.code, "step %zu: after it %s; try a lower --lr, a longer --warmup or a smaller "
                                        "--clip",
                         t->curve.n, why.msg);
    return ATTN_OK;
}

/* Saves the watched activations first, because nothing else has them, then the checkpoint, from which all the rest
 * can be made. */
int attn_train_save(struct attn_train *t, struct attn_err *err)
{
    int rc = attn_team_check(t->team, "this training", err);
    if (!rc)
        rc = check_weights(t, err);
    if (!rc)
        rc = attn_watch_save(t->watch, err);
    if (!rc)
        rc = attn_checkpoint_write(t->dir, &t->optimizer, &t->curve, err);
    if (!rc && !t->settings.best)
        rc = write_model(t, err);
    return rc ? rc : attn_curve_save(t->dir, &t->curve, err);
}
