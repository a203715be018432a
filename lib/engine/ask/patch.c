/* patch.c - which piece of an activation matters for a metric?  The grid of pieces, and the runs of both texts. */
#include "ask/patch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/strings.h"
#include "model/model.h"

/* ---- what is asked ---- */

static int find_over(struct attn_patch *p, const char *text, struct attn_err *err)
{
    static const char *const axes[] = {"layer", "head", "pos"};
    for (const char *at = text; at; at = *at ? at + 1 : NULL) {
        size_t n = strcspn(at, ","), i = 0;
        while (i < 3 && (strlen(axes[i]) != n || strncmp(axes[i], at, n) != 0))
            i++;
        if (i == 3 || (p->over & 1U << i))
            return attn_fail(err, ATTN_EUSAGE,
                             "--over '%.80s': expected layer, or with commas layer,head, layer,pos or layer,head,pos; "
                             "pos alone for what is outside of the layers", text);
        p->over |= 1U << i;
        at += n;
    }
    return ATTN_OK;
}

static int find_method(struct attn_patch *p, const char *text, struct attn_err *err)
{
    uint64_t steps = 0;
    if (!text || !strcmp(text, "exact"))
        p->method = ATTN_PATCH_EXACT;
    else if (!strcmp(text, "gradient"))
        p->method = ATTN_PATCH_GRADIENT;
    else if (!strncmp(text, "ig:", 3) && attn_num_parse_u64(text + 3, strlen(text + 3), &steps) && steps &&
             steps <= 1000000)
        p->method = ATTN_PATCH_IG;
    else
        return attn_fail(err, ATTN_EUSAGE, "--method '%.80s': expected exact, gradient, or ig:STEPS with 1 to 1000000 "
                                           "steps",
                         text);
    p->steps = (size_t)steps;
    if (p->method == ATTN_PATCH_EXACT || attn_metric_is_smooth(&p->metric))
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE,
                     "metric '%s': a rank moves in steps, so it has no gradient: take --method exact, or another "
                     "metric", p->metric.text);
}

/* The one activation that the name means, and the layers where it is. */
static int find_what(struct attn_patch *p, const struct attn_patch_opts *o, struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = attn_select_new(&p->select, p->model, &o->plan.kind, o->what, NULL, NULL, &why);
    if (rc)                             /* it speaks of --show, which takes the same names */
        return attn_fail(err, why.code, "--what%s", strchr(why.msg, ':') ? strchr(why.msg, ':') : why.msg);
    p->layer = calloc(p->info.L + 1, sizeof *p->layer);
    if (!p->layer)
        return attn_no_memory(err, NULL, "for %zu layers", p->info.L);
    p->act = -1;
    for (int layer = -1; layer < (int)p->info.L; layer++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            if (attn_act_per_layer(act) != (layer >= 0) || !attn_select_wants(p->select, act, layer))
                continue;
            if (p->act >= 0 && p->act != act)
                return attn_fail(err, ATTN_EUSAGE,
                                 "--what '%.80s': expected one activation, but this means %s and %s, too",
                                 o->what, attn_act_tail(p->act), attn_act_tail(act));
            if (attn_act_derived(act))
                return attn_fail(err, ATTN_EUSAGE,
                                 "--what %s is only looked at: nothing is computed from it, so nothing "
                                 "changes with it", attn_act_tail(act));
            p->act = act;
            p->layer[p->grid[0]++] = (size_t)(layer < 0 ? 0 : layer);
        }
    return p->act >= 0 ? ATTN_OK : attn_fail(err, ATTN_EUSAGE,
                                             "--what '%.80s': expected the name of an activation", o->what);
}

static size_t heads_of(const struct attn_patch *p)
{
    const struct attn_hook_points hooks = attn_model_hook_points(p->model, &p->o->plan.kind);
    return p->act == ATTN_ACT_CONTEXT ? p->info.H : attn_act_heads(&hooks, p->act);
}

static int check_axes(struct attn_patch *p, struct attn_err *err)
{
    const char *name = attn_act_tail(p->act);
    if (!attn_act_per_layer(p->act) && p->over != ATTN_OVER_POS)
        return attn_fail(err, ATTN_EUSAGE, "--what %s is outside of the layers: expected --over pos", name);
    if (attn_act_per_layer(p->act) && !(p->over & ATTN_OVER_LAYER))
        return attn_fail(err, ATTN_EUSAGE, "--what %s is in every layer: expected --over layer, layer,head, layer,pos "
                                           "or layer,head,pos", name);
    if ((p->over & ATTN_OVER_HEAD) && !heads_of(p))
        return attn_fail(err, ATTN_EUSAGE, "--over head: %s has no heads: q, k, v, dots, scores, pattern and context "
                                           "have", name);
    return ATTN_OK;
}

/* Everything about the question that no text changes. */
static int understand(struct attn_patch *p, const struct attn_patch_opts *o, struct attn_err *err)
{
    int rc = find_over(p, o->over, err);
    if (!rc)
        rc = find_method(p, o->method, err);
    if (!rc)
        rc = find_what(p, o, err);
    return rc ? rc : check_axes(p, err);
}

/* ---- the texts ---- */

/* Lists tokens, as in "Tom| gave| a| drink", as far as there is room. */
static void show_tokens(char *out, size_t size, const struct attn_tokens *t)
{
    size_t n = 0;
    *out = '\0';
    for (size_t i = 0; i < t->n && n + 1 < size; i++) {
        const struct attn_token *k = &t->tok[i];
        int len = attn_shown(k->text, k->text_len);
        int wrote = k->known ? snprintf(out + n, size - n, "%s%.*s", i ? "|" : "", len, k->text)
                             : snprintf(out + n, size - n, "%s%d", i ? "|" : "", (int)k->id);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
}

int attn_patch_check_texts(const struct attn_tokens *a, const struct attn_tokens *b, struct attn_err *err)
{
    char text[160], from[160];
    size_t same = 0;
    if (a->n == b->n)
        return ATTN_OK;
    while (same < a->n && same < b->n && a->tok[same].id == b->tok[same].id)
        same++;
    show_tokens(text, sizeof text, a);
    show_tokens(from, sizeof from, b);
    return attn_fail(err, ATTN_EFORMAT, "the texts have %zu and %zu tokens, and differ from token %zu on: '%s', '%s'; "
                     "expected as many, so that each has its counterpart", a->n, b->n, same, text, from);
}

static int take_texts(struct attn_patch *p, const struct attn_patch_opts *o, struct attn_err *err)
{
    int rc = attn_run_check_tokens(p->model, o->tokens, NULL, err);
    if (!rc)
        rc = attn_run_check_tokens(p->model, o->from, NULL, err);
    if (!rc)
        rc = attn_patch_check_texts(o->tokens, o->from, err);
    if (!rc)
        rc = attn_metric_fits(&p->metric, p->model, o->tokens->n, err);
    if (!rc)
        rc = attn_tokens_to_ids(&p->ids, o->tokens, err);
    if (!rc)
        rc = attn_tokens_to_ids(&p->from_ids, o->from, err);
    if (rc)
        return rc;
    p->T = o->tokens->n;
    if (!(p->part = calloc(p->T + 1, sizeof *p->part)))
        return attn_no_memory(err, NULL, "for %zu tokens", p->T);
    p->metric.ids = p->ids;
    return ATTN_OK;
}

/* ---- the grid ---- */

static void find_grid(struct attn_patch *p, size_t T)
{
    p->grid[0] = p->over & ATTN_OVER_LAYER ? p->grid[0] : 1;
    p->grid[1] = p->over & ATTN_OVER_HEAD ? heads_of(p) : 1;
    p->grid[2] = p->over & ATTN_OVER_POS ? T : 1;
}

static int make_cells(struct attn_patch *p, struct attn_err *err)
{
    size_t n;
    find_grid(p, p->T);
    if (__builtin_mul_overflow(p->grid[0] * p->grid[1], p->grid[2], &n) || !(p->cell = calloc(n + 1, sizeof *p->cell)))
        return attn_no_memory(err, NULL,
                              "for a grid of %zu layers, %zu heads and %zu positions", p->grid[0], p->grid[1],
                              p->grid[2]);
    p->n = n;
    for (size_t i = 0; i < n; i++)
        p->cell[i] = (struct attn_patch_cell){
            .layer = p->over & ATTN_OVER_LAYER ? (int)p->layer[i / p->grid[2] / p->grid[1]] : -1,
            .head = p->over & ATTN_OVER_HEAD ? (int)(i / p->grid[2] % p->grid[1]) : -1,
            .pos = p->over & ATTN_OVER_POS ? (int)(i % p->grid[2]) : -1};
    return ATTN_OK;
}

/* ---- the run of the other text ---- */

struct attn_observer attn_patch_editor(const struct attn_patch *p)
{
    return p->o->editor ? attn_editor_observer(p->o->editor) : (struct attn_observer){.wants = NULL};
}

struct attn_observer attn_patch_teller(const struct attn_patch *p)
{
    return (struct attn_observer){.overflow = p->o->overflow, .self = p->o->self};
}

/* The metric's reference is the text, without edits, also for the other text. */
static int run_from(struct attn_patch *p, const struct attn_patch_opts *o, struct attn_err *err)
{
    const struct attn_observer teller = attn_patch_teller(p);
    int rc = attn_metric_refer_run(&p->metric, p->model, o->tokens, &o->plan, &teller, err);
    p->from_metric = p->metric;
    p->from_metric.ids = p->from_ids;
    struct attn_measure measure = {.metric = &p->from_metric};
    struct attn_observer obs[] = {attn_whole_observer(&p->from), attn_measure_observer(&measure), teller};
    if (!rc)
        rc = attn_run_tokens(p->model, &o->plan, o->from, NULL, obs, sizeof obs / sizeof *obs, err);
    p->metric_from = measure.value;
    return rc;
}

int attn_patch_step(const struct attn_patch *p, size_t done, size_t all, struct attn_err *err)
{
    return p->o->step ? p->o->step(p->o->self, done, all, err) : ATTN_OK;
}

/* ---- all of it ---- */

static void find_effects(struct attn_patch *p)
{
    double whole = p->metric_from - p->metric_text;
    for (size_t i = 0; i < p->n; i++) {
        double part = p->cell[i].metric - p->metric_text;
        p->cell[i].effect = whole == 0 ? NAN : part == 0 ? 0 : part / whole;        /* not -0 */
    }
}

static int prepare(struct attn_patch *p, const struct attn_patch_opts *o, struct attn_err *err)
{
    int rc = understand(p, o, err);
    if (!rc)
        rc = take_texts(p, o, err);
    if (!rc)
        rc = attn_whole_make(&p->text, p->model, &o->plan.kind, p->select, p->T, err);
    if (!rc)
        rc = attn_whole_make(&p->from, p->model, &o->plan.kind, p->select, p->T, err);
    return rc ? rc : make_cells(p, err);
}

static struct attn_patch *start(const struct attn_model *m, const struct attn_patch_opts *o, struct attn_err *err)
{
    struct attn_patch *p = calloc(1, sizeof *p);
    if (!p) {
        attn_no_memory(err, NULL, "for a grid of patches");
        return NULL;
    }
    p->o = o;
    p->model = m;
    p->metric = *o->metric;
    p->metric.reference = NULL;
    attn_model_info(m, &p->info);
    return p;
}

int attn_patch_check(const struct attn_model *m, const struct attn_patch_opts *o, struct attn_patch_result *grid,
                     struct attn_err *err)
{
    struct attn_patch *p = start(m, o, err);
    if (!p)
        return ATTN_ENOMEM;
    int rc = understand(p, o, err);
    const struct attn_slopes_opts gradients = {.metric = &p->metric, .select = p->select, .plan = o->plan};
    if (!rc && p->method != ATTN_PATCH_EXACT)
        rc = attn_slopes_check(m, &gradients, err);
    *grid = (struct attn_patch_result){.over = p->over};
    if (!rc)
        find_grid(p, 1);
    memcpy(grid->grid, p->grid, sizeof grid->grid);
    attn_patch_free(p);
    return rc;
}

int attn_patch_new(struct attn_patch **out, const struct attn_model *m, const struct attn_patch_opts *o,
                   struct attn_err *err)
{
    *out = NULL;
    struct attn_patch *p = start(m, o, err);
    if (!p)
        return ATTN_ENOMEM;
    int rc = prepare(p, o, err);
    if (!rc)
        rc = run_from(p, o, err);
    if (!rc)
        rc = p->method == ATTN_PATCH_EXACT ? attn_patch_exact(p, err) : attn_patch_gradient(p, err);
    if (rc) {
        attn_patch_free(p);
        return rc;
    }
    find_effects(p);
    attn_whole_free(&p->text);
    attn_whole_free(&p->from);
    p->o = NULL;
    *out = p;
    return ATTN_OK;
}

void attn_patch_free(struct attn_patch *p)
{
    if (!p)
        return;
    attn_whole_free(&p->text);
    attn_whole_free(&p->from);
    attn_select_free(p->select);
    free(p->metric.reference);
    free(p->cell);
    free(p->layer);
    free(p->part);
    free(p->ids);
    free(p->from_ids);
    free(p);
}

void attn_patch_get(const struct attn_patch *p, struct attn_patch_result *out)
{
    *out = (struct attn_patch_result){.what = attn_act_tail(p->act), .over = p->over, .cell = p->cell, .n = p->n,
                                      .metric_text = p->metric_text, .metric_from = p->metric_from};
    memcpy(out->grid, p->grid, sizeof out->grid);
}
