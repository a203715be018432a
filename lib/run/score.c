/* score.c - how likely each token of a text is; texts longer than the context are read in overlapping windows. */
#include "attn.h"

#include "base/err.h"
#include "base/size.h"
#include "model/model.h"

struct scorer {
    const int32_t *ids;
    double *out;
    size_t start, next;                 /* first token of the window; first token without a score */
};

static unsigned wants(void *self, int act, int layer)
{
    (void)self;
    (void)layer;
    return act == ATTN_ACT_LOGITS ? ATTN_WATCH : 0;
}

/* Scores tokens.  Row t of a window predicts its token t + 1; the token after the window is scored in the next one. */
static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct scorer *s = self;
    int rc = ATTN_OK;
    for (size_t i = 0; i < p->rows && !rc; i++) {
        size_t row = p->row0 + i, at = s->start + row + 1;
        if (at != s->next || row + 1 == p->shape[0])
            continue;
        rc = attn_logprob(&s->out[at], p->data + i * p->ld, p->cols, s->ids[at], err);
        s->next++;
    }
    return rc;
}

static int check(const struct attn_model *m, const int32_t *ids, size_t n, size_t stride, const struct attn_kind *kind,
                 struct attn_err *err)
{
    size_t n_ctx = m->w.n.n_ctx;
    int rc = attn_model_predicts(m, kind, err);
    if (rc)
        return rc;
    if (n > n_ctx && (stride < 1 || stride >= n_ctx))
        return attn_fail(err, ATTN_EUSAGE, "the text has %zu tokens, more than the %zu (n_ctx) of model %s: windows %zu apart "
                         "cannot score each of them, expected 1 to %zu", n, n_ctx, m->source.name, stride, n_ctx - 1);
    return attn_model_check_ids(m, ids, n, err);
}

int attn_score(double *out, const struct attn_model *m, const int32_t *ids, size_t n, size_t stride,
               const struct attn_kind *kind, int threads, bool bf16, const struct attn_observer *beside, struct attn_err *err)
{
    size_t window = smaller(n, m->w.n.n_ctx);
    struct scorer s = {.ids = ids, .out = out, .next = 1};
    struct attn_observer obs[2] = {{.wants = wants, .watch = watch, .self = &s}};
    size_t n_obs = 1;
    if (beside)
        obs[n_obs++] = *beside;
    struct attn_plan plan = {.rows = window, .seqs = 1, .threads = threads, .bf16 = bf16};
    if (kind)
        plan.kind = *kind;
    struct attn_run *run = NULL;
    int rc = check(m, ids, n, stride, kind, err);
    if (!rc)
        rc = attn_run_new(&run, m, &plan, obs, n_obs, err);
    if (!rc)
        out[0] = 0;
    for (size_t end = 0; !rc && end < n; s.start += stride) {
        struct attn_seq seq = {.T = n - s.start < window ? n - s.start : window};
        rc = attn_run_forward(run, ids + s.start, &seq, 1, err);
        end = s.start + seq.T;
    }
    attn_run_free(run);
    return rc;
}
