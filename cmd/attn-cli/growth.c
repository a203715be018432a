#include "growth.h"

#include "overflow.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

static unsigned wants(void *self, int act, int layer)
{
    const struct growth *g = self;
    (void)layer;
    return act != ATTN_ACT_LOGITS ? 0 : g->logprob ? ATTN_WATCH : ATTN_WATCH | ATTN_LAST;
}

/* A token's row predicts the next one: it gives the log-probability of a known next token, or the logits after the last. */
static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct growth *g = self;
    for (size_t i = 0; i < p->rows; i++) {
        size_t next = g->seen + p->row0 + i + 1;
        const float *row = p->data + i * p->ld;
        if (next == g->n)
            memcpy(g->logits, row, g->V * sizeof *row);
        else if (attn_logprob(&g->logprob[next], row, g->V, g->ids[next], err))
            return err->code;
    }
    return ATTN_OK;
}

static int make_room(struct growth *g, const struct attn_tokens *prompt, bool logprobs, struct attn_err *err)
{
    g->ids = calloc(g->room, sizeof *g->ids);
    g->logits = calloc(g->V, sizeof *g->logits);
    g->logprob = logprobs ? calloc(g->room, sizeof *g->logprob) : NULL;
    if (!g->ids || !g->logits || (logprobs && !g->logprob))
        return fail(err, ATTN_ENOMEM, "no memory for %zu tokens", g->room);
    for (g->n = 0; g->n < prompt->n; g->n++)
        g->ids[g->n] = prompt->tok[g->n].id;
    return ATTN_OK;
}

int growth_start(struct growth *g, const struct attn_model *m, const struct attn_tokens *prompt, size_t room,
                 bool logprobs, const struct attn_kind *kind, int threads, bool bf16, struct attn_err *err)
{
    struct attn_info info;
    struct attn_observer logits = {.wants = wants, .watch = watch, .self = g, .overflow = overflow_add};
    struct attn_plan plan = {.rows = prompt->n, .seqs = 1, .keys = room, .threads = threads, .bf16 = bf16, .kind = *kind};
    attn_model_info(m, &info);
    g->V = info.V;
    g->room = room;
    if (make_room(g, prompt, logprobs, err) || attn_run_new(&g->run, m, &plan, &logits, 1, err) ||
        attn_kv_new(&g->kv, m, room, err))
        return err->code;
    return ATTN_OK;
}

int growth_read(struct growth *g, struct attn_err *err)
{
    struct attn_seq seq = {.T = g->n - g->seen, .kv = g->kv};
    if (!seq.T)
        return ATTN_OK;
    int code = attn_run_forward(g->run, g->ids + g->seen, &seq, 1, err);
    g->seen = g->n;
    return code;
}

int growth_add(struct growth *g, int32_t id, struct attn_err *err)
{
    if (g->logprob && attn_logprob(&g->logprob[g->n], g->logits, g->V, id, err))
        return err->code;
    g->ids[g->n++] = id;
    return ATTN_OK;
}

void growth_end(struct growth *g)
{
    attn_run_free(g->run);
    attn_kv_free(g->kv);
    free(g->ids);
    free(g->logits);
    free(g->logprob);
}
