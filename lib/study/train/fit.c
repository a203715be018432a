/* fit.c - how many steps a training takes that is to last a given time. */
#include "train/trainer.h"
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/size.h"

/* TRIED_MOST: seconds.  PLANNED leaves room for steps that take a little longer than those that were tried. */
static const double TRIED = 0.05, TRIED_MOST = 2, PLANNED = 0.92;
enum { STEPS_MAX = INT32_MAX };         /* as many as --steps takes */

struct costs { double step, measure, save; };   /* seconds each */

/* Takes the first steps for at most `seconds`, at least one.  The first one alone is not typical: it meets memory for
 * the first time.  One that fails ends it, and fails again in the training, with its message. */
static double try_steps(struct attn_train *t, double seconds)
{
    struct attn_err why = {0};
    double start = attn_clock_now(), first = 0, past = 0;
    size_t n = 0;
    for (int rc = ATTN_OK; !rc && (n == 0 || past < seconds) && n < t->settings.steps;) {
        struct attn_point p = {0};
        size_t targets;
        rc = attn_train_update(t, n++, &p, &targets, &why);
        past = attn_clock_now() - start;
        first = n == 1 ? past : first;
    }
    return n > 1 ? (past - first) / (double)(n - 1) : first;
}

/* Nothing else needs undoing: before the first step moments are 0, and what is random follows from a step's number. */
static void undo_steps(struct attn_train *t, const float *value)
{
    size_t size = t->params->count * sizeof *value;
    memcpy(t->params->value, value, size);
    memset(t->optimizer.m, 0, size);
    memset(t->optimizer.v, 0, size);
}

static int time_steps(struct attn_train *t, double seconds, double *cost, struct attn_err *err)
{
    size_t size = t->params->count * sizeof(float);
    float *value = malloc(size);
    if (!value)
        return attn_no_memory(err, t->dir, "to try a step");
    memcpy(value, t->params->value, size);
    *cost = try_steps(t, seconds < TRIED_MOST / TRIED ? seconds * TRIED : TRIED_MOST);
    undo_steps(t, value);
    free(value);
    return ATTN_OK;
}

/* What is held out may be long, so that a part of it must do. */
static int time_measure(struct attn_train *t, double *cost, struct attn_err *err)
{
    size_t n = t->held_out.n < t->batch.room ? t->held_out.n : t->batch.room;
    double start = attn_clock_now();
    int rc = n > 0 ? attn_train_measure_part(t, n, err) : ATTN_OK;
    *cost = n > 0 ? (attn_clock_now() - start) * (double)t->held_out.n / (double)n : 0;
    return rc;
}

static int time_save(struct attn_train *t, double *cost, struct attn_err *err)
{
    double start = attn_clock_now();
    int rc = attn_train_save(t, err);
    *cost = attn_clock_now() - start;
    return rc;
}

/* How many steps take `left` seconds, with what comes between them and, once more, at the end. */
static size_t steps_in(double left, const struct attn_train *t, const struct costs *c, size_t save_every)
{
    double best = t->settings.best ? c->save / 3 : 0;   /* the model alone, where a checkpoint has moments as well */
    double measure = c->measure + best, each = c->step + c->save / (double)save_every;
    if (t->settings.eval_every > 0)
        each += measure / (double)t->settings.eval_every;
    double n = (left - measure - c->save) / (each > 0 ? each : 1e-9);
    return n < 1 ? 1 : n < STEPS_MAX ? (size_t)n : STEPS_MAX;
}

/* So few steps may be that they all would be a warm-up: one of the usual length is then a tenth of them. */
static int set_steps(struct attn_train *t, size_t steps, bool usual, struct attn_err *err)
{
    t->settings.steps = steps;
    if (usual)
        t->settings.warmup = smaller(attn_train_settings_defaults.warmup, steps / 10);
    return attn_train_settings_save(t, err);
}

int attn_train_fit(struct attn_train *t, double seconds, size_t save_every, double *step, struct attn_err *err)
{
    struct costs c = {0};
    const bool usual = t->settings.warmup == attn_train_settings_defaults.warmup;
    double start = attn_clock_now();
    if (t->curve.n > 0 || t->watch)
        return attn_fail(err, ATTN_EUSAGE, "this training has begun: its number of steps, %zu, stays",
                         t->settings.steps);
    int rc = time_steps(t, seconds, &c.step, err);
    if (!rc)
        rc = time_measure(t, &c.measure, err);
    if (!rc)                            /* first, so that no checkpoint goes with quite another number */
        rc = set_steps(t, steps_in(PLANNED * seconds - (attn_clock_now() - start), t, &c, save_every), usual,
                       err);
    if (!rc)
        rc = time_save(t, &c.save, err);
    if (!rc)
        rc = set_steps(t, steps_in(PLANNED * seconds - (attn_clock_now() - start), t, &c, save_every), usual,
                       err);
    *step = c.step;
    return rc;
}
