/* plan.c - plans a run: checks the plan, asks the observers what they want, and lays out one arena; what a
 * model announces under a kind of attention, to select from; and what a run would cost, computed without running it. */
#include "run/run.h"

#include "base/cpu.h"
#include "base/err.h"
#include "base/size.h"
#include "compute/gemm.h"
#include "compute/position.h"
#include "model/kind.h"
#include "model/model.h"
#include "trace/select.h"
#include "trace/spec.h"

#include <stdlib.h>
#include <string.h>

/* Rows of logits in one band: with more, the output layer is read less often; beyond LOGITS numbers, only a few. */
enum { LOGIT_ROWS = 128, LOGIT_ROWS_FEW = 32, LOGITS = 1 << 23 };

/* ---- what can be selected ---- */

static bool selects(const struct attn_select *s, int act, size_t L)
{
    for (size_t layer = 0; layer < L; layer++)
        if (attn_select_wants(s, act, (int)layer))
            return true;
    return false;
}

int attn_select_new(struct attn_select **out, const struct attn_model *m, const struct attn_kind *kind,
                    const char *show, const char *layers, const char *heads, struct attn_err *err)
{
    static const struct attn_kind own;
    struct attn_hook_points hooks = attn_model_hook_points(m, kind ? kind : &own);
    struct attn_select *otherwise;
    int rc = attn_select_make(out, &hooks, m->source.name, show, layers, heads, err);
    if (rc != ATTN_EFORMAT || attn_select_make(&otherwise, &m->hooks, m->source.name, show, layers, heads, NULL))
        return rc;
    if (selects(otherwise, ATTN_ACT_DIVISORS, hooks.L) && hooks.has[ATTN_ACT_SCORES])
        rc = attn_fail(err, rc, "--show divisors: only --attention causal-renorm masks after the softmax, and then "
                                "divides each row by what is left");
    else
        rc = attn_fail(err, rc, "--show: linear attention has neither dots nor scores, only a pattern");
    attn_select_free(otherwise);
    return rc;
}

/* ---- the plan ---- */

static int check_plan(const struct attn_model *m, const struct attn_plan *p, struct attn_err *err)
{
    size_t n_ctx = m->w.n.n_ctx, most;
    if (p->rows == 0 || p->seqs == 0)
        return attn_fail(err, ATTN_EFORMAT, "nothing to run: the text has no tokens");
    if ((unsigned)p->copies > ATTN_COPY_FIRST)
        return attn_fail(err, ATTN_EUSAGE,
                         "attn_plan.copies is %d, but must be one of enum attn_copies", (int)p->copies);
    if (p->kind.form == ATTN_MASKED)
        return attn_fail(err, ATTN_EUSAGE, "masks are for attn_attention: a run takes a kind that says what they are");
    int rc = attn_kind_check(&p->kind, err);
    if (rc || __builtin_mul_overflow(p->seqs, n_ctx, &most) || p->rows <= most)
        return rc;
    return attn_fail(err, ATTN_EFORMAT, "the text has %zu tokens, but model %s takes at most %zu (n_ctx): shorten it",
                     p->rows, m->source.name, n_ctx);
}

static bool any_layer(const struct attn_run *r, int act, unsigned flags)
{
    for (size_t layer = 0; layer < r->model->w.n.L; layer++)
        if (attn_trace_wants(&r->trace, act, (int)layer, flags))
            return true;
    return false;
}

static bool any_matrix(const struct attn_run *r, unsigned flags)
{
    return any_layer(r, ATTN_ACT_DOTS, flags) || any_layer(r, ATTN_ACT_SCORES, flags) ||
           any_layer(r, ATTN_ACT_PATTERN, flags);
}

/* The width of the wider of two: the contexts of all heads, the hidden layer. */
static size_t branch(const struct attn_weights *w)
{
    return larger(w->n.H * w->n.dv, w->mlp ? w->n.m : 0);
}

/* The width of the widest rows that are the input of a product. */
static size_t widest(const struct attn_run *r)
{
    const struct attn_weights *w = &r->model->w;
    return larger(larger(r->pass.ldx, branch(w)), w->project_in.data ? w->project_in.in : 0);
}

/* The width of the widest norm. */
static size_t normed(const struct attn_weights *w)
{
    return w->n.L && attn_has(&w->block[0].q_norm) ? larger(w->n.d, w->n.H * w->n.dh) : w->n.d;
}

static void lay_out(struct attn_arena *a, struct attn_run *r)
{
    const struct attn_dims *n = &r->model->w.n;
    struct attn_pass *p = &r->pass;
    size_t R = r->plan.rows;
    const struct attn_weights *w = &r->model->w;
    r->seq = attn_arena_bytes(a, r->plan.seqs, sizeof *r->seq);
    p->overflowed = attn_arena_bytes(a, r->plan.seqs, sizeof *p->overflowed);
    p->x = attn_arena_f32(a, R, p->ldx, 1);
    p->y = attn_arena_f32(a, R, n->d, 1);
    p->q = attn_arena_f32(a, R, n->H, n->dh);
    p->k = attn_arena_f32(a, R, n->Hkv, n->dh);
    p->v = attn_arena_f32(a, R, n->Hkv, n->dv);
    p->context = attn_arena_f32(a, R, n->H, n->dv);
    p->out = attn_arena_f32(a, R, n->d, 1);
    p->parallel_out = attn_arena_f32(a, R, w->parallel ? n->d : 0, 1);
    p->pre = attn_arena_f32(a, R, w->mlp ? n->m : 0, 1);
    p->linear = attn_arena_f32(a, R, attn_mlp_gated(w->mlp) ? n->m : 0, 1);
    p->cos = attn_arena_f32(a, w->ropes, R, w->rotary / 2);
    p->sin = attn_arena_f32(a, w->ropes, R, w->rotary / 2);
    p->bias = w->alibi ? attn_arena_f32(a, n->H, p->bias_ld, 1) : NULL;
    p->embed_proj = attn_arena_f32(a, R, w->project_in.data ? w->project_in.in : 0, 1);
    p->norm_w = attn_arena_f32(a, normed(w), 1, 1);
    p->norm_b = attn_arena_f32(a, normed(w), 1, 1);
    p->rounded = r->plan.bf16 ? attn_arena_f32(a, R + ATTN_GEMM_MORE, widest(r) + ATTN_GEMM_MORE, 1) : NULL;
    p->y_bf16 = r->plan.bf16 ? attn_arena_f32(a, R + ATTN_GEMM_MORE, n->d + ATTN_GEMM_MORE, 1) : NULL;
    p->inner_bf16 = r->plan.bf16 ? attn_arena_f32(a, R + ATTN_GEMM_MORE, branch(w) + ATTN_GEMM_MORE, 1) : NULL;
    r->kept = a->used;
    p->heads_seq = attn_arena_bytes(a, r->plan.seqs, sizeof *p->heads_seq);
    attn_scratch_lay_out(&p->scratch, a);
    p->logits = attn_arena_f32(a, p->logit_rows, n->V, 1);
    if (r->derive.pass)
        attn_derive_lay_out(&r->derive, a, R);
}

/* Asks the observers.  This comes before the layout, because the size of the scratch depends on what they want. */
static int ask(struct attn_run *r, const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    size_t L = r->model->w.n.L;
    struct attn_hook_points hooks = attn_model_hook_points(r->model, &r->plan.kind);
    r->obs = calloc(n_obs + 1, sizeof *r->obs);           /* one more: it may derive something */
    r->trace = (struct attn_trace){.obs = r->obs, .n_obs = n_obs, .L = L};
    r->pass.trace = &r->trace;
    r->trace.want = calloc(n_obs + 1, attn_act_slots(L) * sizeof *r->trace.want);
    r->pass.fusion = r->fusion = calloc(L + 1, sizeof *r->fusion);
    if (!r->obs || !r->trace.want || !r->fusion)
        return attn_no_memory(err, NULL, "for %zu observers of %zu layers", n_obs, L);
    if (n_obs)
        memcpy(r->obs, obs, n_obs * sizeof *obs);
    attn_trace_ask(&r->trace, &hooks, 0);
    if (attn_derive_wanted(&r->trace)) {
        r->derive.pass = &r->pass;
        r->obs[r->trace.n_obs++] = attn_derive_observer(&r->derive);
        attn_trace_ask(&r->trace, &hooks, n_obs);
    }
    return ATTN_OK;
}

/* Roughly how many floating point operations a pass over all rows takes. */
static double work(const struct attn_run *r)
{
    const struct attn_dims *n = &r->model->w.n;
    double qkv = (double)n->d * (double)(n->H * n->dh + n->Hkv * (n->dh + n->dv)),
    o = (double)(n->H * n->dv) * (double)n->d;
    double mlp = 3.0 * (double)n->d * (double)n->m,
    keys = (double)r->pass.scratch.keys * (double)(n->H * (n->dh + n->dv));
    double logits = r->pass.logit_rows ? (double)n->d * (double)n->V : 0;
    return 2.0 * (double)r->plan.rows * ((double)n->L * (qkv + o + mlp + keys) + logits);
}

/* To count processors reads files, which a short run can do without.  What is derived is not part of its work. */
static int threads_of(const struct attn_run *r)
{
    if (r->plan.threads > 0)
        return r->plan.threads;
    bool share = r->once && !r->derive.pass ? attn_team_repays(work(r)) : attn_team_helps(work(r));
    return share ? attn_cpu_count() : 1;
}

static struct attn_scratch scratch_of(const struct attn_run *r)
{
    const struct attn_dims *n = &r->model->w.n;
    const struct attn_plan *p = &r->plan;
    size_t longest = smaller(p->rows, n->n_ctx), keys = p->keys > p->rows ? smaller(p->keys, n->n_ctx) : longest;
    return (struct attn_scratch){
        .H = n->H, .dh = n->dh, .dv = n->dv, .rows = p->rows, .longest = longest, .own = longest,
        .keys = keys, .positions = keys, .kind = p->kind,
        .watched = any_matrix(r, ATTN_WATCH | ATTN_EDIT), .whole = any_matrix(r, ATTN_WHOLE)};
}

static size_t logit_rows_of(const struct attn_run *r)
{
    size_t rows = attn_trace_wants_all(&r->trace, ATTN_ACT_LOGITS, -1) ? r->plan.rows : r->plan.seqs;
    size_t fit = r->model->w.n.V ? LOGITS / r->model->w.n.V : 0;
    return smaller(rows, smaller(larger(fit, LOGIT_ROWS_FEW), LOGIT_ROWS));
}

/* Sets the sizes that the layout depends on, then counts its memory. */
static void size_up(struct attn_run *r)
{
    const struct attn_dims *n = &r->model->w.n;
    struct attn_pass *p = &r->pass;
    p->w = &r->model->w;
    p->seq = NULL;
    p->ldx = larger(n->width, n->d);
    p->scratch = scratch_of(r);
    p->R = r->plan.rows;
    p->bias_ld = p->scratch.keys;
    if (attn_trace_wants(&r->trace, ATTN_ACT_LOGITS, -1, ATTN_WATCH | ATTN_EDIT))
        p->logit_rows = logit_rows_of(r);
    p->scratch.threads = threads_of(r);
    lay_out(&r->arena, r);
}

static void fill_bias(const struct attn_run *r)
{
    const struct attn_weights *w = &r->model->w;
    float scale = w->n.L ? attn_kind_scale(&r->plan.kind, w->block[0].scale, w->n.dh) : 1;
    attn_alibi_fill(r->pass.bias, r->pass.bias_ld, w, scale, r->pass.bias_ld);
}

static int make(struct attn_run *r, struct attn_err *err)
{
    size_up(r);
    int rc = attn_team_new(&r->pass.team, r->pass.scratch.threads, err);
    if (rc)
        return rc;
    rc = attn_arena_make(&r->arena, err);
    if (rc)
        return rc;
    attn_arena_large_pages(&r->arena);
    lay_out(&r->arena, r);
    if (r->pass.bias)
        fill_bias(r);
    attn_fusion_plan(r->fusion, &r->model->w, &r->trace, &r->plan.kind, r->plan.bf16);
    attn_team_expect(r->pass.team, work(r));
    return ATTN_OK;
}

static const size_t copy_after[] = {
    [ATTN_COPY_REPAID] = ATTN_RUN_REPAYS, [ATTN_COPY_NEVER] = SIZE_MAX, [ATTN_COPY_FIRST] = 0};

static int new_run(struct attn_run **out, const struct attn_model *m, const struct attn_plan *p, bool once,
                   const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    *out = NULL;
    int rc = m->attend ? attn_fail(err, ATTN_EUSAGE, "numbers that were given have no weights to run: "
                                                     "attn_run_tokens shows what follows from them")
                       : check_plan(m, p, err);
    if (rc)
        return rc;
    struct attn_run *r = calloc(1, sizeof *r);
    if (!r)
        return attn_no_memory(err, NULL, "for a run");
    r->model = m;
    r->plan = *p;
    r->once = once;
    r->copy_after = copy_after[p->copies];
    r->pass.unread = true;
    rc = ask(r, obs, n_obs, err);
    if (!rc)
        rc = make(r, err);
    if (rc) {
        attn_run_free(r);
        return rc;
    }
    *out = r;
    return ATTN_OK;
}

int attn_run_new(struct attn_run **out, const struct attn_model *m, const struct attn_plan *p,
                 const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    return new_run(out, m, p, false, obs, n_obs, err);
}

int attn_run_new_once(struct attn_run **out, const struct attn_model *m, const struct attn_plan *p,
                      const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    return new_run(out, m, p, true, obs, n_obs, err);
}

void attn_run_free(struct attn_run *r)
{
    if (!r)
        return;
    attn_team_free(r->pass.team);
    attn_panels_free(&r->panels);
    attn_arena_free(&r->arena);
    free(r->trace.want);
    free(r->fusion);
    free(r->obs);
    free(r);
}

struct attn_panels_use attn_run_use(const struct attn_run *r)
{
    bool lone = r->plan.keys > 0 && attn_panels_help_one(r->plan.bf16),
    all = attn_trace_wants_all(&r->trace, ATTN_ACT_LOGITS, -1);
    bool logits = attn_trace_wants(&r->trace, ATTN_ACT_LOGITS, -1, ATTN_WATCH | ATTN_EDIT);
    return (struct attn_panels_use){r->plan.bf16, lone, all || (lone && logits)};
}

int attn_run_measure(struct attn_cost *out, const struct attn_model *m, const struct attn_plan *p,
                     const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    struct attn_run r = {.model = m, .plan = *p};
    int rc = check_plan(m, p, err);
    if (!rc)
        rc = ask(&r, obs, n_obs, err);
    if (!rc) {
        size_up(&r);
        out->memory = r.arena.used;
        out->scratch = r.arena.used - r.kept;
        const struct attn_panels_use use = attn_run_use(&r);
        out->copies = p->copies == ATTN_COPY_NEVER ? 0 : attn_panels_bytes(&m->w, &use);
        out->libxsmm = attn_gemm_share(p->rows, m->w.n.L ? &m->w.block[0].v : &m->w.unembed, p->bf16);
        if (r.arena.overflow)
            rc = attn_fail(err, ATTN_ENOMEM, "a run of this size needs more memory than can be addressed");
    }
    free(r.trace.want);
    free(r.fusion);
    free(r.obs);
    return rc;
}

int attn_select_one(size_t *layer, size_t *head, const struct attn_model *m, const char *layers, const char *heads,
                    struct attn_err *err)
{
    const struct attn_spec of[2] = {{"--layer", "layer", layers, m->w.n.L, "model", m->source.name},
                                    {"--head", "head", heads, m->w.n.H, "model", m->source.name}};
    return attn_spec_one(layer, head, &of[0], &of[1], err);
}

/* ---- costs ---- */

enum { NPY_HEADER = 128, CSV_NUMBER = 12 };     /* bytes; CSV has nine digits, sign, point and comma in most numbers */

static unsigned selected(void *self, int act, int layer)
{
    return attn_select_wants(self, act, layer) ? ATTN_WATCH | ATTN_DERIVE : 0;
}

/* Adds one activation, which is one .npy file. */
static void add_file(struct attn_cost *out, const struct attn_select *s, const struct attn_info *info, int act,
                     int layer, size_t T)
{
    size_t shape[3], heads;
    int n = attn_act_shape(shape, info, act, T, T);
    attn_select_heads(s, act, layer, &heads);
    uint64_t numbers = heads ? heads : 1;
    for (int i = n - 2; i < n; i++)
        numbers *= shape[i];
    out->activations++;
    out->numbers += numbers;
}

int attn_cost_of(struct attn_cost *out, const struct attn_model *m, const struct attn_select *what,
                 const struct attn_plan *p, struct attn_err *err)
{
    struct attn_info info;
    struct attn_observer obs = {.wants = selected, .self = (void *)what};
    *out = (struct attn_cost){0};
    int rc = attn_run_measure(out, m, p, &obs, 1, err);
    if (rc)
        return rc;
    attn_model_info(m, &info);
    for (int act = 0; act < ATTN_ACTS; act++)
        for (size_t layer = 0; layer < (attn_act_per_layer(act) ? info.L : 1); layer++)
            if (attn_select_wants(what, act, attn_act_per_layer(act) ? (int)layer : -1))
                add_file(out, what, &info, act, attn_act_per_layer(act) ? (int)layer : -1, p->rows);
    out->npy = out->activations * NPY_HEADER + out->numbers * sizeof(float);
    out->csv = out->numbers * CSV_NUMBER;
    return ATTN_OK;
}
