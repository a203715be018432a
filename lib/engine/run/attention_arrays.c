/* attention_arrays.c - attention over plain arrays, with the arithmetic of the forward pass. */
#include "attn.h"

#include "base/arena.h"
#include "base/cpu.h"
#include "base/err.h"
#include "base/simd.h"
#include "base/team.h"
#include "compute/multi_head.h"
#include "model/kind.h"

#include <stdint.h>

/* An observer that copies bands of dots, scores and pattern into those arrays that the caller wants. */
struct copier { float *at[3]; size_t next; unsigned want[2 * ATTN_ACTS]; };

static unsigned copier_wants(void *self, int act, int layer)
{
    const struct copier *c = self;
    bool kept = layer >= 0 && act >= ATTN_ACT_DOTS && act <= ATTN_ACT_PATTERN;
    return kept && c->at[act - ATTN_ACT_DOTS] ? ATTN_WATCH : 0;
}

static int copier_watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)err;
    const struct copier *c = self;
    attn_probe_copy(c->at[p->act - ATTN_ACT_DOTS] + p->seq * c->next, p);
    return ATTN_OK;
}

static int check(const struct attn_attention *a, struct attn_err *err)
{
    if (!a->batch || !a->H || !a->Hkv || !a->Tq || !a->Tk || !a->dh || !a->dv)
        return attn_fail(err, ATTN_EUSAGE, "attention needs batch, H, Hkv, Tq, Tk, dh and dv of at least 1");
    if (a->H % a->Hkv)
        return attn_fail(err, ATTN_EUSAGE, "%zu query heads cannot share %zu key/value heads evenly", a->H, a->Hkv);
    if (a->pos > SIZE_MAX / 2 - a->Tq)
        return attn_fail(err, ATTN_EUSAGE, "the first query cannot be at position %zu", a->pos);
    if (a->kind.form == ATTN_MASKED && !a->mask)
        return attn_fail(err, ATTN_EUSAGE, "ATTN_MASKED needs a mask of [%zu, %zu]", a->Tq, a->Tk);
    if (a->kind.form == ATTN_LINEAR && (a->dots || a->scores))
        return attn_fail(err, ATTN_EUSAGE, "linear attention has neither dots nor scores: only a pattern");
    int rc = attn_kind_check(&a->kind, err);
    return rc ? rc : attn_cpu_check(err);
}

static struct attn_heads_seq seq_of(const struct attn_attention *a, size_t b, float *context,
                                    const float *q, const float *k, const float *v)
{
    return (struct attn_heads_seq){
        .q = q + b * a->H * a->Tq * a->dh, .k = k + b * a->Hkv * a->Tk * a->dh, .v = v + b * a->Hkv * a->Tk * a->dv,
        .context = context + b * a->H * a->Tq * a->dv, .Tq = a->Tq, .Tk = a->Tk, .pos = a->pos};
}

static struct attn_heads heads_of(const struct attn_attention *a, struct attn_heads_seq *seq,
                                  const struct attn_scratch *scratch, struct attn_trace *trace)
{
    return (struct attn_heads){
        .head = {.ldc = a->dv, .dh = a->dh, .dv = a->dv, .scale = attn_kind_scale(&a->kind, a->scale, a->dh),
                 .kind = attn_kind_in(&a->kind, a->kind.causal, 0), .mask = a->mask},
        .H = a->H, .Hkv = a->Hkv, .next_q = a->Tq * a->dh, .next_k = a->Tk * a->dh, .next_v = a->Tk * a->dv,
        .next_context = a->Tq * a->dv, .ldq = a->dh, .ldk = a->dh, .ldv = a->dv, .seq = seq, .seqs = a->batch,
        .scratch = scratch, .trace = trace};
}

static struct attn_scratch scratch_of(const struct attn_attention *a)
{
    size_t rows, positions = a->pos + a->Tq;
    return (struct attn_scratch){
        .H = a->H, .dh = a->dh, .dv = a->dv, .rows = __builtin_mul_overflow(a->batch, a->Tq, &rows) ? SIZE_MAX : rows,
        .longest = a->Tq, .keys = a->Tk, .own = a->Tk, .positions = positions > a->Tk ? positions : a->Tk,
        .kind = a->kind,
        .threads = a->threads > 0 ? a->threads : attn_cpu_count(),
        .watched = a->dots || a->scores || a->pattern};
}

int attn_attention(float *context, const float *q, const float *k, const float *v,
                   const struct attn_attention *a, struct attn_err *err)
{
    struct attn_team *team = NULL;
    struct attn_arena arena = {0};
    struct copier c = {.at = {a->dots, a->scores, a->pattern}, .next = a->H * a->Tq * a->Tk};
    const struct attn_observer obs = {.wants = copier_wants, .watch = copier_watch, .self = &c};
    struct attn_trace trace = {.obs = &obs, .n_obs = 1, .L = 1, .want = c.want};
    const struct attn_hook_points hooks = {.L = 1,
                                     .has = {[ATTN_ACT_DOTS] = true, [ATTN_ACT_SCORES] = true,
                                             [ATTN_ACT_PATTERN] = true}};
    struct attn_scratch scratch = scratch_of(a);
    struct attn_heads_seq *seq = NULL;
    int rc = check(a, err);
    if (!rc)
        rc = attn_team_new(&team, scratch.threads, err);
    for (int walk = 0; walk < 2 && !rc; walk++) {       /* first counts memory, then divides it */
        seq = attn_arena_bytes(&arena, a->batch, sizeof *seq);
        attn_scratch_lay_out(&scratch, &arena);
        if (walk == 0)
            rc = attn_arena_make(&arena, err);
    }
    if (rc)
        goto out;
    attn_trace_ask(&trace, &hooks, 0);
    for (size_t b = 0; b < a->batch; b++)
        seq[b] = seq_of(a, b, context, q, k, v);
    struct attn_heads h = heads_of(a, seq, &scratch, &trace);
    attn_heads_run(&h, team);
    if (a->overflow)
        *a->overflow = h.nonfinite;
    if (h.lost.rows && a->refuse_empty)
        rc = attn_fail(err, ATTN_EFORMAT, "%zu of %zu rows look at no key, the first in sentence %zu, head %zu, row "
                                          "%zu",
                       h.lost.rows, a->batch * a->H * a->Tq, h.lost.seq, h.lost.head, h.lost.row);
out:
    attn_arena_free(&arena);
    attn_team_free(team);
    return rc;
}
