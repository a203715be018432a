/* run.c - plans a run and drives the forward pass: checks the input, asks the observers, allocates one
 * arena, and checks after each block whether an observer failed or a number is not finite. */
#include "attn.h"

#include "base/cpu.h"
#include "base/err.h"
#include "base/size.h"
#include "compute/block.h"
#include "compute/ends.h"
#include "compute/gemm.h"
#include "compute/rows.h"
#include "compute/vec.h"
#include "run/cost.h"
#include "run/kind.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum { LOGIT_ROWS = 32 };               /* most rows of logits in one band */

struct attn_run {
    const struct attn_model *model;
    struct attn_plan plan;
    struct attn_arena arena;
    struct attn_trace trace;
    struct attn_observer *obs;
    struct attn_pass_seq *span;
    struct attn_pass pass;
    size_t kept;                        /* bytes of the arena before the scratch */
    bool scanned;                       /* the weights were checked: numbers that are not finite do not come from them */
};

/* ---- planning ---- */

static int check_plan(const struct attn_model *m, const struct attn_plan *p, struct attn_err *err)
{
    size_t n_ctx = m->w.n.n_ctx, most;
    if (p->rows == 0 || p->seqs == 0)
        return attn_fail(err, ATTN_EFORMAT, "nothing to run: the text has no tokens");
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

/* The width of the widest rows that are the input of a product. */
static size_t widest(const struct attn_run *r)
{
    const struct attn_weights *w = &r->model->w;
    size_t context = w->n.H * w->n.dv, m = w->mlp ? w->n.m : 0, branch = larger(context, m);
    return larger(r->pass.ldx, branch);
}

static void lay_out(struct attn_arena *a, struct attn_run *r)
{
    const struct attn_dims *n = &r->model->w.n;
    struct attn_pass *p = &r->pass;
    size_t R = r->plan.rows;
    const struct attn_weights *w = &r->model->w;
    r->span = attn_arena_bytes(a, r->plan.seqs, sizeof *r->span);
    p->overflowed = attn_arena_bytes(a, r->plan.seqs, sizeof *p->overflowed);
    p->x = attn_arena_f32(a, R, p->ldx, 1);
    p->y = attn_arena_f32(a, R, n->d, 1);
    p->q = attn_arena_f32(a, R, n->H, n->dh);
    p->k = attn_arena_f32(a, R, n->Hkv, n->dh);
    p->v = attn_arena_f32(a, R, n->Hkv, n->dv);
    p->context = attn_arena_f32(a, R, n->H, n->dv);
    p->out = attn_arena_f32(a, R, n->d, 1);
    p->second = attn_arena_f32(a, R, w->parallel ? n->d : 0, 1);
    p->pre = attn_arena_f32(a, R, w->mlp ? n->m : 0, 1);
    p->linear = attn_arena_f32(a, R, w->mlp == ATTN_SWIGLU ? n->m : 0, 1);
    p->cos = attn_arena_f32(a, R, w->rotary / 2, 1);
    p->sin = attn_arena_f32(a, R, w->rotary / 2, 1);
    p->norm_w = attn_arena_f32(a, n->d, 1, 1);
    p->norm_b = attn_arena_f32(a, n->d, 1, 1);
    p->rounded = r->plan.bf16 ? attn_arena_f32(a, R + ATTN_GEMM_MORE, widest(r) + ATTN_GEMM_MORE, 1) : NULL;
    r->kept = a->used;
    p->text = attn_arena_bytes(a, r->plan.seqs, sizeof *p->text);
    attn_room_lay_out(&p->room, a);
    p->logits = attn_arena_f32(a, p->logit_rows, n->V, 1);
}

/* Asks the observers.  This comes before the layout, because the size of the scratch depends on what they want. */
static int ask(struct attn_run *r, const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    size_t L = r->model->w.n.L;
    struct attn_stage stage = attn_model_stage(r->model, &r->plan.kind);
    r->obs = calloc(n_obs + 1, sizeof *r->obs);
    r->trace = (struct attn_trace){.obs = r->obs, .n_obs = n_obs, .L = L};
    r->trace.want = calloc(n_obs + 1, attn_trace_size(L));
    if (!r->obs || !r->trace.want)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for %zu observers of %zu layers", n_obs, L);
    if (n_obs)
        memcpy(r->obs, obs, n_obs * sizeof *obs);
    attn_trace_ask(&r->trace, &stage);
    return ATTN_OK;
}

/* Roughly how many floating point operations a pass over all rows takes. */
static double work(const struct attn_run *r)
{
    const struct attn_dims *n = &r->model->w.n;
    double qkv = (double)n->d * (double)(n->H * n->dh + n->Hkv * (n->dh + n->dv)), o = (double)(n->H * n->dv) * (double)n->d;
    double mlp = 3.0 * (double)n->d * (double)n->m, keys = (double)r->pass.room.keys * (double)(n->H * (n->dh + n->dv));
    double logits = r->pass.logit_rows ? (double)n->d * (double)n->V : 0;
    return 2.0 * (double)r->plan.rows * ((double)n->L * (qkv + o + mlp + keys) + logits);
}

static int threads_of(const struct attn_run *r)
{
    return r->plan.threads > 0 ? r->plan.threads : attn_cpu_count();
}

static struct attn_room room_of(const struct attn_run *r)
{
    const struct attn_dims *n = &r->model->w.n;
    const struct attn_plan *p = &r->plan;
    size_t longest = smaller(p->rows, n->n_ctx), keys = p->keys > p->rows ? smaller(p->keys, n->n_ctx) : longest;
    return (struct attn_room){
        .H = n->H, .dh = n->dh, .dv = n->dv, .rows = p->rows, .longest = longest, .own = longest,
        .keys = keys, .positions = keys, .kind = p->kind, .threads = threads_of(r),
        .told = any_matrix(r, ATTN_WATCH | ATTN_EDIT), .whole = any_matrix(r, ATTN_WHOLE)};
}

/* Sets the sizes that the layout depends on, then counts its memory. */
static void size_up(struct attn_run *r)
{
    const struct attn_dims *n = &r->model->w.n;
    struct attn_pass *p = &r->pass;
    p->w = &r->model->w;
    p->trace = &r->trace;
    p->span = NULL;
    p->ldx = larger(n->width, n->d);
    p->room = room_of(r);
    if (attn_trace_wants(&r->trace, ATTN_ACT_LOGITS, -1, ATTN_WATCH | ATTN_EDIT))
        p->logit_rows = smaller(attn_trace_wants_all(&r->trace, ATTN_ACT_LOGITS, -1) ? r->plan.rows : r->plan.seqs, LOGIT_ROWS);
    lay_out(&r->arena, r);
}

static int make_room(struct attn_run *r, struct attn_err *err)
{
    int rc = attn_team_new(&r->pass.team, threads_of(r), err);
    if (rc)
        return rc;
    size_up(r);
    rc = attn_arena_make(&r->arena, err);
    if (rc)
        return rc;
    attn_arena_large_pages(&r->arena);
    lay_out(&r->arena, r);
    attn_kernel_prepare(work(r));
    return ATTN_OK;
}

int attn_run_new(struct attn_run **out, const struct attn_model *m, const struct attn_plan *p,
                 const struct attn_observer *obs, size_t n_obs, struct attn_err *err)
{
    *out = NULL;
    int rc = check_plan(m, p, err);
    if (rc)
        return rc;
    struct attn_run *r = calloc(1, sizeof *r);
    if (!r)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for a run");
    r->model = m;
    r->plan = *p;
    rc = ask(r, obs, n_obs, err);
    if (!rc)
        rc = make_room(r, err);
    if (rc) {
        attn_run_free(r);
        return rc;
    }
    *out = r;
    return ATTN_OK;
}

void attn_run_free(struct attn_run *r)
{
    if (!r)
        return;
    attn_team_free(r->pass.team);
    attn_arena_free(&r->arena);
    free(r->trace.want);
    free(r->obs);
    free(r);
}

struct attn_lost attn_run_lost(const struct attn_run *r)
{
    return r->pass.lost;
}

struct attn_lost attn_run_overflow(const struct attn_run *r)
{
    return r->pass.wild;
}

bool attn_run_overflowed(const struct attn_run *r, size_t seq)
{
    return r->pass.wild.rows && atomic_load_explicit(&r->pass.overflowed[seq], memory_order_relaxed);
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
        if (r.arena.overflow)
            rc = attn_fail(err, ATTN_ENOMEM, "a run of this size needs more memory than can be addressed");
    }
    free(r.trace.want);
    free(r.obs);
    return rc;
}

int attn_threads_available(void) { return attn_cpu_count(); }

const char *attn_cpu_target(void)
{
    switch (attn_cpu_bf16()) {
    case ATTN_BF16_TILES: return "avx512-amx";
    case ATTN_BF16_DOTS: return "avx512-bf16";
    default: return attn_vec_target();
    }
}

/* ---- running ---- */

static int take_cache(const struct attn_run *r, const struct attn_pass_seq *s, size_t i, struct attn_err *err)
{
    if (!s->kv)
        return ATTN_OK;
    if (s->kv->n != &r->model->w.n)
        return attn_fail(err, ATTN_EUSAGE, "the cache of sentence %zu belongs to another model", i);
    size_t most = smaller(s->kv->capacity, r->pass.room.keys);
    if (s->pos + s->T > most)
        return attn_fail(err, ATTN_EUSAGE, "sentence %zu grows to %zu tokens, but its cache and plan have room for %zu", i,
                         s->pos + s->T, most);
    if (s->kv->taken)
        return attn_fail(err, ATTN_EUSAGE, "the cache of sentence %zu is that of another one of the same call, too", i);
    s->kv->taken = true;
    return ATTN_OK;
}

static void let_go(struct attn_run *r)
{
    for (size_t i = 0; i < r->pass.spans; i++)
        if (r->span[i].kv)
            r->span[i].kv->taken = false;
    r->pass.spans = 0;
}

/* Places sentence i in the rows after those before it.  Fails if it does not fit into the plan or is invalid. */
static int place(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t i, struct attn_err *err)
{
    struct attn_pass_seq *s = &r->span[i];
    size_t used = r->pass.rows, n_ctx = r->model->w.n.n_ctx;
    *s = (struct attn_pass_seq){.row = used, .T = seq->T, .pos = seq->kv ? seq->kv->length : 0, .kv = seq->kv};
    if (seq->T == 0)
        return attn_fail(err, ATTN_EFORMAT, "nothing to run: the text has no tokens");
    if (seq->T > n_ctx - s->pos)
        return attn_fail(err, ATTN_EFORMAT, "the text has %zu tokens, but model %s takes at most %zu (n_ctx): shorten it",
                         s->pos + seq->T, r->model->source.name, n_ctx);
    if (seq->T > r->plan.rows - used)
        return attn_fail(err, ATTN_EUSAGE, "sentence %zu has %zu tokens, but %zu of the %zu planned rows are left", i, seq->T,
                         r->plan.rows - used, r->plan.rows);
    r->pass.rows = used + seq->T;
    int rc = take_cache(r, s, i, err);
    if (rc)
        return rc;
    r->pass.spans = i + 1;
    return attn_model_check_ids(r->model, ids + s->row, s->T, err);
}

/* Cross-attention: lets sentence i look at the keys of another sentence of this pass, if its seq says so. */
static int cross(struct attn_run *r, const struct attn_seq *seq, size_t i, size_t n, struct attn_err *err)
{
    size_t j = 0;
    if (!seq[i].keys)
        return ATTN_OK;
    while (j < n && &seq[j] != seq[i].keys)
        j++;
    if (r->plan.kind.form != ATTN_MODEL)
        return attn_fail(err, ATTN_EUSAGE, "a sentence that looks at another one has no mask, and the other one the model's own attention: "
                         "that goes with no other kind");
    if (j == n || j == i || seq[j].keys)
        return attn_fail(err, ATTN_EUSAGE, "sentence %zu looks at the keys of one that is no other of the %zu, or that has "
                         "none of its own", i, n);
    if (seq[i].kv || seq[j].kv)
        return attn_fail(err, ATTN_EUSAGE, "sentence %zu looks at the keys of sentence %zu: neither can have a cache", i, j);
    r->span[i].keys = &r->span[j];
    return ATTN_OK;
}

static int start(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t n, struct attn_err *err)
{
    r->pass.lost = r->pass.wild = (struct attn_lost){0};
    if (n == 0 || n > r->plan.seqs)
        return attn_fail(err, ATTN_EUSAGE, "%zu sentences, but the plan has room for 1 to %zu", n, r->plan.seqs);
    r->trace.err = (struct attn_err){0};
    r->pass.rows = 0;
    for (size_t i = 0; i < n; i++)
        atomic_store_explicit(&r->pass.overflowed[i], false, memory_order_relaxed);
    r->pass.span = r->span;
    int rc = ATTN_OK;
    for (size_t i = 0; i < n && !rc; i++)
        rc = place(r, ids, &seq[i], i, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = cross(r, seq, i, n, err);
    return rc;
}

/* Fails if an observer failed.  The weights of large models were not checked when they were opened: if a block
 * gives numbers that are not finite, they are checked now, since they are the likeliest cause. */
static int look_after(struct attn_run *r, struct attn_err *err)
{
    if (r->trace.err.code)
        return attn_fail_as(err, &r->trace.err);
    struct attn_rows x = {r->pass.x, r->pass.ldx, r->pass.rows, r->model->w.n.width};
    if (r->model->checked || r->scanned || attn_rows_finite(&x))
        return ATTN_OK;
    r->scanned = true;
    int rc = attn_model_check(r->model, err);
    if (rc)
        r->pass.wild = (struct attn_lost){0};           /* the weights are to blame, and the error names them */
    return rc;
}

static int pass(struct attn_run *r, const int32_t *ids, struct attn_err *err)
{
    int rc = ATTN_OK;
    attn_embed_run(&r->pass, ids);
    for (size_t layer = 0; layer < r->model->w.n.L && !rc; layer++) {
        attn_block_run(&r->pass, layer);
        rc = look_after(r, err);
    }
    if (rc)
        return rc;
    attn_unembed_run(&r->pass);
    for (size_t i = 0; i < r->pass.spans; i++)
        if (r->span[i].kv)
            r->span[i].kv->length += r->span[i].T;
    return look_after(r, err);
}

int attn_run_forward(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t n,
                     struct attn_err *err)
{
    int rc = attn_team_check(r->pass.team, "this run", err);
    if (rc)
        return rc;
    rc = start(r, ids, seq, n, err);
    if (!rc)
        rc = pass(r, ids, err);
    let_go(r);
    for (size_t i = 0; i < r->trace.n_obs && r->pass.wild.rows; i++)
        if (r->obs[i].overflow)
            r->obs[i].overflow(r->obs[i].self, &r->pass.wild);
    return rc;
}
