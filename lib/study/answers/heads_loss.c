/* heads_loss.c - does the model repeat a text of random tokens that is said twice?
 *
 * A token of the second half can be known by looking back.  A model that does so gives it more probability than the
 * first time; one that does not has heads that look back by chance.  The first token of each half does not count, as
 * nothing foretells it. */
#include "answers/heads.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "model/kind.h"

static const double CHEAPER = 1;        /* nats per token: less may be noise of few tokens */

static double mean_loss(const double *logprob, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum -= logprob[i];
    return sum / (double)n;
}

static int open_editor(struct attn_editor **out, const struct attn_batch_opts *b, struct attn_err *err)
{
    const struct attn_editor_opts o = {.edits = b->edits, .model = b->model, .encode = b->encode,
                                       .from = b->from, .plan = b->plan};
    *out = NULL;
    return attn_edits_count(b->edits) ? attn_editor_new(out, &o, err) : ATTN_OK;
}

/* Adds the losses of a text, edited as its scores are. */
static int add_text(struct attn_ranking *h, double *logprob, const int32_t *ids, size_t T, struct attn_editor *editor,
                    bool begin, struct attn_err *err)
{
    const struct attn_batch_opts *b = h->o->over;
    const struct attn_observer edits = editor ? attn_editor_observer(editor) : (struct attn_observer){.self = NULL};
    const struct attn_score_opts o = {.kind = b->plan.kind, .threads = b->plan.threads, .bf16 = b->plan.bf16,
                                      .observers = &edits,
                                      .n_observers = editor ? 1 : 0};
    size_t n = h->o->repeat;
    int rc = editor ? attn_editor_text(editor, 0, ids, T, false, err) : ATTN_OK;
    if (!rc && editor && begin)
        rc = attn_editor_start(editor, err);
    if (!rc)
        rc = attn_score(logprob, b->model, ids, T, &o, err);
    h->first += rc ? 0 : mean_loss(logprob + T - 2 * n + 1, n - 1) / (double)h->o->texts;
    h->second += rc ? 0 : mean_loss(logprob + T - n + 1, n - 1) / (double)h->o->texts;
    return rc;
}

int attn_heads_losses(struct attn_ranking *h, struct attn_err *err)
{
    const struct attn_heads_opts *o = h->o;
    struct attn_editor *editor = NULL;
    double *logprob;
    h->first = h->second = (double)NAN;
    if (o->repeat < 2 || attn_model_predicts(o->over->model, &o->over->plan.kind, NULL))
        return ATTN_OK;
    h->first = h->second = 0;
    int rc = open_editor(&editor, o->over, err);
    const int32_t *ids = o->ids;
    for (size_t i = 0; i < o->texts && !rc; ids += o->T[i++]) {
        logprob = calloc(o->T[i] + 1, sizeof *logprob);
        rc = logprob ? add_text(h, logprob, ids, o->T[i], editor, i == 0, err)
                     : attn_no_memory(err, NULL, "for the losses of %zu tokens", o->T[i]);
        free(logprob);
    }
    attn_editor_free(editor);
    if (rc != ATTN_EFORMAT)
        return rc;
    h->first = h->second = (double)NAN;                 /* logits overflow, as scores may, which are told of */
    if (err)
        *err = (struct attn_err){0};
    return ATTN_OK;
}

bool attn_heads_repeats(const struct attn_ranking *h)
{
    return h->second <= h->first - CHEAPER;
}
