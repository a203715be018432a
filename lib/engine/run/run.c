/* run.c - drives the forward pass: checks the input, computes block after block, and checks after each whether an
 * observer failed or a number is not finite.  Here are also the caches that continue a sentence token by token, and
 * runs of a single sentence. */
#include "run/run.h"

#include "attend/attend.h"
#include "base/err.h"
#include "base/size.h"
#include "compute/position.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

static int take_cache(const struct attn_run *r, const struct attn_pass_seq *s, size_t i, struct attn_err *err)
{
    if (!s->kv)
        return ATTN_OK;
    if (s->kv->n != &r->model->w.n)
        return attn_fail(err, ATTN_EUSAGE, "the cache of sentence %zu belongs to another model", i);
    size_t most = smaller(s->kv->capacity, r->pass.scratch.keys);
    if (s->pos + s->T > most)
        return attn_fail(err, ATTN_EUSAGE,
                         "sentence %zu grows to %zu tokens, but its cache and plan have room for %zu", i,
                         s->pos + s->T, most);
    if (!attn_rope_cache_valid(&r->model->w, s->pos, s->pos + s->T))
        return attn_fail(err, ATTN_EUSAGE, "sentence %zu grows from %zu to %zu tokens, and its cached keys were turned "
                                           "by the angles of shorter texts: run all of it with an empty cache", i,
                         s->pos, s->pos + s->T);
    if (s->kv->taken)
        return attn_fail(err, ATTN_EUSAGE, "the cache of sentence %zu is that of another one of the same call, too", i);
    s->kv->taken = true;
    return ATTN_OK;
}

static void release_caches(struct attn_run *r)
{
    for (size_t i = 0; i < r->pass.seqs; i++)
        if (r->seq[i].kv)
            r->seq[i].kv->taken = false;
    r->pass.seqs = 0;
}

/* Puts sentence i in the rows after those before it.  Fails if it does not fit into the plan or is invalid. */
static int add_seq(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t i, struct attn_err *err)
{
    struct attn_pass_seq *s = &r->seq[i];
    size_t used = r->pass.rows, n_ctx = r->model->w.n.n_ctx;
    *s = (struct attn_pass_seq){.row = used, .T = seq->T, .pos = seq->kv ? seq->kv->length : 0, .kv = seq->kv};
    if (seq->T == 0)
        return attn_fail(err, ATTN_EFORMAT, "nothing to run: the text has no tokens");
    if (seq->T > n_ctx - s->pos)
        return attn_fail(err, ATTN_EFORMAT, "the text has %zu tokens, but model %s takes at most %zu (n_ctx): shorten "
                                            "it",
                         s->pos + seq->T, r->model->source.name, n_ctx);
    if (seq->T > r->plan.rows - used)
        return attn_fail(err, ATTN_EUSAGE,
                         "sentence %zu has %zu tokens, but %zu of the %zu planned rows are left", i, seq->T,
                         r->plan.rows - used, r->plan.rows);
    r->pass.rows = used + seq->T;
    int rc = take_cache(r, s, i, err);
    if (rc)
        return rc;
    r->pass.seqs = i + 1;
    return ids ? attn_model_check_ids(r->model, ids + s->row, s->T, err) : ATTN_OK;
}

/* Cross-attention: lets sentence i look at the keys of another sentence of this pass, if its seq says so. */
static int set_keys(struct attn_run *r, const struct attn_seq *seq, size_t i, size_t n, struct attn_err *err)
{
    size_t j = 0;
    if (!seq[i].keys)
        return ATTN_OK;
    while (j < n && &seq[j] != seq[i].keys)
        j++;
    if (r->plan.kind.form != ATTN_MODEL)
        return attn_fail(err, ATTN_EUSAGE, "a sentence that looks at another one has no mask, and the other one the "
                                           "model's own attention: that goes with no other kind");
    if (j == n || j == i || seq[j].keys)
        return attn_fail(err, ATTN_EUSAGE, "sentence %zu looks at the keys of one that is no other of the %zu, or that "
                                           "has none of its own", i, n);
    if (seq[i].kv || seq[j].kv)
        return attn_fail(err, ATTN_EUSAGE,
                         "sentence %zu looks at the keys of sentence %zu: neither can have a cache", i, j);
    r->seq[i].keys = &r->seq[j];
    return ATTN_OK;
}

static int start(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t n, struct attn_err *err)
{
    r->pass.lost = r->pass.nonfinite = (struct attn_lost){0};
    if (n == 0 || n > r->plan.seqs)
        return attn_fail(err, ATTN_EUSAGE, "%zu sentences, but the plan has room for 1 to %zu", n, r->plan.seqs);
    r->trace.err = (struct attn_err){0};
    r->pass.rows = 0;
    for (size_t i = 0; i < n; i++)
        atomic_store_explicit(&r->pass.overflowed[i], false, memory_order_relaxed);
    r->pass.seq = r->seq;
    int rc = ATTN_OK;
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_seq(r, ids, &seq[i], i, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = set_keys(r, seq, i, n, err);
    return rc || !r->derive.pass ? rc : attn_derive_check(&r->derive, err);
}

/* Fails if an observer failed.  The weights of large models were not checked when they were opened: if a block gives
 * numbers that are not finite, or had such dots (the last block may leave their rows out), they are checked now, since
 * they are the likeliest cause. */
static int look_after(struct attn_run *r, struct attn_err *err)
{
    if (r->trace.err.code)
        return attn_fail_as(err, &r->trace.err);
    struct attn_rows x = {r->pass.x, r->pass.ldx, r->pass.rows, r->model->w.n.width};
    if (r->model->checked || r->scanned || (!r->pass.nonfinite.rows && attn_rows_finite(r->pass.team, &x)))
        return ATTN_OK;
    r->scanned = true;
    int rc = attn_model_check(r->model, err);
    if (rc)
        r->pass.nonfinite = (struct attn_lost){0};           /* the weights are to blame, and the error names them */
    return rc;
}

/* How many rows of long passes save as much by panels as this pass. */
static size_t saves(const struct attn_run *r)
{
    enum { LONG = 64 };
    if (r->pass.rows == 1)
        return attn_run_use(r).lone ? ATTN_RUN_LONE : 0;
    /* one weight stands for all */
    bool gain = r->model->w.n.L && attn_panels_help_many(&r->model->w.block->q, r->plan.bf16);
    return r->pass.rows >= LONG && gain ? r->pass.rows : 0;
}

static void copy_panels(struct attn_run *r)
{
    r->rows += saves(r);
    if (r->copy_after == SIZE_MAX || r->rows < r->copy_after)
        return;
    r->copy_after = SIZE_MAX;
    const struct attn_panels_use use = attn_run_use(r);
    if (attn_panels_make(&r->panels, &r->model->w, &use, r->pass.team))
        r->pass.w = &r->panels.w;
}

/* How many blocks to run: up to the last one that somebody watches, unless logits or a cache need all.  Where nobody
 * watches any, a run is there to be timed, or to see whether it fails.  What is derived is computed by an observer of
 * what it is made of. */
static size_t blocks_of(const struct attn_run *r)
{
    size_t L = r->model->w.n.L, read = L;
    if (attn_trace_wants_among(&r->trace, ATTN_ACT_NORM_FINAL, ATTN_ACT_DERIVED, -1))
        return L;
    for (size_t i = 0; i < r->pass.seqs; i++)
        if (r->seq[i].kv)
            return L;
    while (read > 0 && !attn_trace_wants_among(&r->trace, ATTN_ACT_RESID_PRE, ATTN_ACT_NORM_FINAL, (int)read - 1))
        read--;
    return read > 0 ? read : L;
}

/* Where a pass begins: with ids, or with what a later block reads. */
struct beginning { const int32_t *ids; size_t layer; const float *const *x; };

static int pass(struct attn_run *r, const struct beginning *b, struct attn_err *err)
{
    const struct attn_dims *n = &r->model->w.n;
    int rc = ATTN_OK;
    if (b->x)
        attn_embed_resume(&r->pass, b->x, b->layer == n->L ? n->width : n->d);
    else
        attn_embed_run(&r->pass, b->ids);
    r->pass.blocks = blocks_of(r);
    for (size_t layer = b->layer; layer < r->pass.blocks && !rc; layer++) {
        attn_block_run(&r->pass, (int)layer);
        rc = look_after(r, err);
    }
    if (rc)
        return rc;
    attn_unembed_run(&r->pass);
    r->pass.unread = false;
    for (size_t i = 0; i < r->pass.seqs; i++)
        if (r->seq[i].kv)
            r->seq[i].kv->length += r->seq[i].T;
    return look_after(r, err);
}

static int run_from(struct attn_run *r, const struct beginning *b, const struct attn_seq *seq, size_t n,
                    struct attn_err *err)
{
    int rc = attn_team_check(r->pass.team, "this run", err);
    if (rc)
        return rc;
    rc = start(r, b->ids, seq, n, err);
    if (!rc) {
        copy_panels(r);
        rc = pass(r, b, err);
    }
    release_caches(r);
    for (size_t i = 0; i < r->trace.n_obs && r->pass.nonfinite.rows; i++)
        if (r->obs[i].overflow)
            r->obs[i].overflow(r->obs[i].self, &r->pass.nonfinite);
    return rc;
}

int attn_run_forward(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t n,
                     struct attn_err *err)
{
    return run_from(r, &(struct beginning){.ids = ids}, seq, n, err);
}

int attn_run_restart(struct attn_run *r, size_t layer, const float *const *x, const struct attn_seq *seq, size_t n,
                     struct attn_err *err)
{
    if (layer > r->model->w.n.L)
        return attn_fail(err, ATTN_EUSAGE,
                         "a run cannot begin at layer %zu: model %s has %zu", layer, r->model->source.name,
                         r->model->w.n.L);
    return run_from(r, &(struct beginning){.layer = layer, .x = x}, seq, n, err);
}

struct attn_lost attn_run_lost(const struct attn_run *r)
{
    return r->pass.lost;
}

struct attn_lost attn_run_overflow(const struct attn_run *r)
{
    return r->pass.nonfinite;
}

bool attn_run_overflowed(const struct attn_run *r, size_t seq)
{
    return r->pass.nonfinite.rows && atomic_load_explicit(&r->pass.overflowed[seq], memory_order_relaxed);
}

/* ---- the key/value cache of a sentence ---- */

int attn_kv_new(struct attn_kv **out, const struct attn_model *m, size_t capacity, struct attn_err *err)
{
    const struct attn_dims *n = &m->w.n;
    *out = NULL;
    struct attn_kv *kv = calloc(1, sizeof *kv);
    if (!kv)
        return attn_no_memory(err, NULL, "for a cache");
    kv->capacity = smaller(capacity, n->n_ctx);
    kv->n = n;
    int rc = ATTN_OK;
    for (int walk = 0; walk < 2 && !rc; walk++) {       /* first counts memory, then divides it */
        kv->keys = attn_arena_f32(&kv->memory, n->L, n->Hkv, attn_keys_size(kv->capacity, n->dh, n->dv));
        kv->state = attn_arena_f32(&kv->memory, n->L, n->Hkv, attn_linear_size(n->dh, n->dv));
        if (walk == 0)
            rc = attn_arena_make(&kv->memory, err);
    }
    if (rc) {
        attn_kv_free(kv);
        return rc;
    }
    *out = kv;
    return ATTN_OK;
}

void attn_kv_free(struct attn_kv *kv)
{
    if (!kv)
        return;
    attn_arena_free(&kv->memory);
    free(kv);
}

/* The first n keys and values of each head, where the caches have room for different numbers of them. */
static void copy_keys(struct attn_kv *to, const struct attn_kv *from, size_t n)
{
    const struct attn_dims *d = from->n;
    const size_t there = attn_keys_size(to->capacity, d->dh, d->dv);
    const size_t here = attn_keys_size(from->capacity, d->dh, d->dv);
    for (size_t i = 0; i < d->L * d->Hkv; i++) {
        struct attn_keys t = attn_keys_in(to->keys + i * there, to->capacity, d->dh, d->dv);
        const struct attn_keys f = attn_keys_in(from->keys + i * here, from->capacity, d->dh, d->dv);
        memcpy(t.k, f.k, up(n, ATTN_PANEL) * d->dh * sizeof *t.k);
        memcpy(t.v, f.v, n * f.ldv * sizeof *t.v);
    }
}

int attn_kv_copy(struct attn_kv *to, const struct attn_kv *from, size_t n, struct attn_err *err)
{
    const struct attn_dims *d = from->n;
    if (to->n != d || n > to->capacity || n > from->length)
        return attn_fail(err, ATTN_EUSAGE, "a cache can be copied to one of the same model that has room for it, up to "
                                           "the %zu it has", from->length);
    if (to != from) {
        copy_keys(to, from, n);
        memcpy(to->state, from->state, d->L * d->Hkv * attn_linear_size(d->dh, d->dv) * sizeof *to->state);
    }
    to->length = n;
    return ATTN_OK;
}

size_t attn_kv_length(const struct attn_kv *kv)
{
    return kv->length;
}

/* ---- one sentence and, in the same pass, another one that it looks at in cross-attention ---- */

static int check_length(const struct attn_model *m, const struct attn_tokens *t, const char *which,
                        struct attn_err *err)
{
    if (!t->n)
        return attn_fail(err, ATTN_EFORMAT, "nothing to run: the %s has no tokens", which);
    if (t->n > m->w.n.n_ctx)
        return attn_fail(err, ATTN_EFORMAT,
                         "the %s has %zu tokens, but model %s takes at most %zu (n_ctx): shorten it", which,
                         t->n, m->source.name, m->w.n.n_ctx);
    return ATTN_OK;
}

int attn_run_check_tokens(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_tokens *cross,
                          struct attn_err *err)
{
    int rc = check_length(m, tokens, "text", err);
    if (!rc && cross)
        rc = check_length(m, cross, "other text, whose keys the first looks at,", err);
    if (!rc)
        rc = attn_model_check_tokens(m, tokens, err);
    return rc || !cross ? rc : attn_model_check_tokens(m, cross, err);
}

/* The ids of both sentences, one after the other; NULL: no memory. */
static int32_t *ids_of(const struct attn_tokens *tokens, const struct attn_tokens *cross, struct attn_err *err)
{
    size_t n = tokens->n + (cross ? cross->n : 0);
    int32_t *ids = calloc(n + 1, sizeof *ids);
    if (!ids)
        attn_no_memory(err, NULL, "for %zu tokens", n);
    for (size_t i = 0; ids && i < n; i++)
        ids[i] = i < tokens->n ? tokens->tok[i].id : cross->tok[i - tokens->n].id;
    return ids;
}

int attn_run_tokens(const struct attn_model *m, const struct attn_plan *p, const struct attn_tokens *tokens,
                    const struct attn_tokens *cross, const struct attn_observer *obs, size_t n_obs,
                    struct attn_err *err)
{
    int rc = attn_run_check_tokens(m, tokens, cross, err);
    if (!rc && m->attend)
        return attn_attend_run(m->attend, p, tokens, cross, obs, n_obs, err);
    int32_t *ids = rc ? NULL : ids_of(tokens, cross, err);
    if (rc || !ids)
        return rc ? rc : ATTN_ENOMEM;
    struct attn_run *run = NULL;
    struct attn_seq seq[] = {{.T = tokens->n, .keys = cross ? &seq[1] : NULL}, {.T = cross ? cross->n : 0}};
    struct attn_plan plan = *p;
    plan.rows = seq[0].T + seq[1].T;
    plan.seqs = cross ? 2 : 1;
    rc = attn_run_new_once(&run, m, &plan, obs, n_obs, err);
    if (!rc)
        rc = attn_run_forward(run, ids, seq, plan.seqs, err);
    attn_run_free(run);
    free(ids);
    return rc;
}
