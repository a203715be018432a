#include "agree.h"
#include "draw.h"

#include "keep.h"
#include "answers/answers.h"
#include "made.h"
#include "model/model.h"
#include "worse.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

unsigned agree_seed;

int agree_pick(int n)
{
    return (int)draw_below(&agree_seed, (size_t)n);
}

/* known: which of those kept the reference computes, too; off: by how much the first activation is off that is beyond
 * the bound; what: its name. */
struct state { const struct agree *a; struct keep *kept; bool known[KEEP_MAX]; double off; char what[64]; };

static const double *weight_of(void *ctx, const char *name)
{
    const struct agree *a = ((struct state *)ctx)->a;
    return a->weight(a->weights, name);
}

/* The largest error of float32 against double over up to three layers of these sizes, relative to 1 or the largest
 * number of the activation.  Typical is 3e-7, and ten times that where norms follow each other without a residual
 * stream.  Unscaled scores of up to a few hundred, rounded at 2^-24 of that, make a sharp softmax lose a hundred times
 * as much, which later layers inherit.  A norm after a branch enlarges a small one, with its roundings: the worst of
 * 2400 models was at 1.1e-5. */
static double bound(const struct ref_config *c)
{
    return !c->scale ? 2e-4 : c->post ? 3e-5 : 8e-6;
}

static void compare_in(struct state *s, size_t seq, const char *name, const double *want, size_t n)
{
    const struct kept *a = keep_find(s->kept, name, seq);
    double scale = 1, worst = 0;
    int layer;
    if (!(s->kept->flags & ATTN_DERIVE) && attn_act_derived(attn_act_find(name, &layer)))
        return;
    ck_assert_msg(a != NULL, "%s was not told\n%s", name, s->a->about);
    ck_assert_uint_eq(a->n, n);
    s->known[a - s->kept->a] = true;
    for (size_t i = 0; i < n; i++)
        if (isfinite(want[i]) && fabs(want[i]) > scale)
            scale = fabs(want[i]);
    bool pattern = a->act == ATTN_ACT_PATTERN || a->act == ATTN_ACT_NORMS || a->act == ATTN_ACT_ROLLOUT;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(want[i]) || (pattern && want[i] == 0))    /* hidden positions are exactly -inf or 0 */
            ck_assert_msg(a->data[i] == (float)want[i],
                          "%s[%zu] is %g, expected %g\n%s", name, i, (double)a->data[i], want[i],
                          s->a->about);
        else
            worst = worse(worst, fabs(a->data[i] - want[i]) / scale);
    }
    if (getenv("ATTN_TEST_VERBOSE"))
        printf("%-24s %.1e %s\n", name, worst, s->a->about);
    if (!s->what[0] && !(worst <= bound(s->a->config))) {
        s->off = worst;
        snprintf(s->what, sizeof s->what, "%s", name);
    }
}

static void compare(void *ctx, const char *name, const double *want, size_t n)
{
    compare_in(ctx, 0, name, want, n);
}

static void compare_other(void *ctx, const char *name, const double *want, size_t n)
{
    compare_in(ctx, 1, name, want, n);
}

static int32_t *pick_ids(const struct agree *a, int T)
{
    int32_t *ids = calloc((size_t)T, sizeof *ids);
    ck_assert_ptr_nonnull(ids);
    for (int t = 0; t < T; t++)
        ids[t] = agree_pick(a->config->V);
    return ids;
}

static struct keep *new_keep(bool cross)
{
    struct keep *k = calloc(1, sizeof *k);
    ck_assert_ptr_nonnull(k);
    k->only = -1;
    k->cross = cross;
    k->flags = ATTN_WATCH | (agree_pick(2) ? ATTN_WHOLE : 0) | (agree_pick(2) ? ATTN_DERIVE : 0);
    return k;
}

/* Each activation that the model has is announced, once, in each layer if it lies in blocks; and no others are. */
static void check_announced(const struct state *s)
{
    struct attn_model *m = made_open(s->a->dir);
    const struct attn_hook_points hooks = attn_model_hook_points(m, &(struct attn_kind){.form = ATTN_MODEL});
    char name[ATTN_NAME_MAX];
    for (int act = 0; act < ATTN_ACTS; act++) {
        const bool derived = attn_act_derived(act), layers = attn_act_per_layer(act);
        const bool has = hooks.has[act] && (!derived || s->kept->flags & ATTN_DERIVE);
        for (int layer = 0; has && layer < (layers ? (int)hooks.L : 1); layer++) {
            attn_act_name(name, act, layers ? layer : -1);
            ck_assert_msg(keep_find(s->kept, name, 0) != NULL, "%s is never announced, though the model has it\n%s",
                          name, s->a->about);
        }
    }
    for (size_t i = 0; i < s->kept->n; i++)
        ck_assert_msg(hooks.has[s->kept->a[i].act], "%s is announced, though the model has none\n%s",
                      s->kept->a[i].name, s->a->about);
    attn_model_close(m);
}

/* Everything that was announced must be known to the reference, and within the bound. */
static void judge(const struct state *s, int T, int Tk)
{
    const struct agree *a = s->a;
    ck_assert_msg(!s->what[0], "%s is off by %g (bound %g), the first that is, T %d, %d keys\n%s", s->what, s->off,
                  bound(a->config), T, Tk, a->about);
    for (size_t i = 0; i < s->kept->n; i++)
        ck_assert_msg(s->known[i], "%s is announced, but tests/support/reference.c does not compute it\n%s",
                      s->kept->a[i].name, a->about);
    keep_free(s->kept);
    free(s->kept);
}

/* The parts of a logit add up to it.  Each of them, and each number of the stream, is rounded to 24 bits
 * a few times. */
static void check_attribution(const struct agree *a, const int32_t *ids, int T)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    struct attn_tokens *tokens = NULL;
    int32_t foil = agree_pick(a->config->V);
    struct attn_attribute_opts o = {.target = agree_pick(a->config->V), .foil = agree_pick(2) ? &foil : NULL,
                                    .threads = 1,
                                    .pos = agree_pick(2) ? -1 : agree_pick(T), .neurons = (size_t)agree_pick(3)};
    ck_assert_msg(!attn_model_open(&m, a->dir, &err) && !attn_tokens_from_ids(&tokens, ids, (size_t)T, &err),
                  "%s", err.msg);
    struct attn_attribution found = {.model = m, .tokens = tokens, .o = &o};
    int rc = attn_attribution_find(&found, &err);
    double size = 1;
    for (size_t i = 0; i < found.n; i++)
        size += fabs(found.part[i].value);
    ck_assert_int_eq(rc != 0,
                     !a->config->residual || !a->config->unembed || a->config->after || a->config->post_norm_residual);
    ck_assert_msg(fabs(found.sum - found.logit) <= 4e-6 * size,
                  "the parts add up to %.9g, the logit is %.9g\n%s", found.sum,
                  found.logit, a->about);
    attn_attribution_free(&found);
    attn_tokens_free(tokens);
    attn_model_close(m);
}

void agree_check(const struct agree *a, int T)
{
    int32_t *ids = pick_ids(a, T);
    struct state s = {.a = a, .kept = new_keep(false)};
    keep_run(s.kept, a->dir, ids, (size_t)T, 1 + agree_pick(3));
    check_announced(&s);
    ref_run(a->config, ids, T, weight_of, compare, &s);
    judge(&s, T, T);
    check_attribution(a, ids, T);
    free(ids);
}

void agree_check_cross(const struct agree *a, int T, int Tk)
{
    int32_t *ids = pick_ids(a, T + Tk);
    struct state s = {.a = a, .kept = new_keep(true)};
    keep_run_cross(s.kept, a->dir, ids, (size_t)T, (size_t)Tk, 1 + agree_pick(3));
    ref_run_cross(a->config, ids, T, ids + T, Tk, weight_of, compare, compare_other, &s);
    judge(&s, T, Tk);
    free(ids);
}
