/* further.c - what goes beyond the last run: the token that follows, what is measured and written of its text. */
#include "live/talk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/question.h"
#include "base/err.h"
#include "base/format.h"
#include "base/num.h"
#include "text/token_json.h"

/* ---- the next token ---------------------------------------------------------------------- */

static int make_sampler(struct attn_talk *t, const struct attn_live_asked *q, struct attn_err *err)
{
    const struct attn_sampling asked = {.temperature = q->temperature, .top_p = q->top_p, .top_k = q->top_k,
                                        .seed = q->seed};
    if (t->sampler && !q->first)
        return ATTN_OK;
    attn_sampler_free(t->sampler);
    t->sampler = NULL;
    return attn_sampler_new(&t->sampler, t->info.V, &asked, err);
}

int attn_live_next(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    int32_t id = -1;
    int rc = attn_last_check(t, err);
    if (!rc)
        rc = attn_model_predicts(t->model, &t->last.plan.kind, err);
    if (!rc)
        rc = make_sampler(t, q, err);
    if (!rc)
        rc = attn_sampler_next(t->sampler, &id, attn_last_shown(&t->last)->logits, err);
    if (rc)
        return rc;
    size_t len = 0;
    const char *s = t->tokenizer ? attn_tokenizer_text(t->tokenizer, id, &len) : NULL;
    attn_out_printf(o, "\"id\":%d", (int)id);
    attn_token_text_json(o, s, len);
    attn_out_printf(o, ",\"ends\":%s,\"room\":%zu", attn_model_ends(t->model, id) ? "true" : "false",
                    t->info.n_ctx - t->last.plain->T);
    return ATTN_OK;
}

/* ---- the last run as a question of the library -------------------------------------------- */

enum { PLAN = 512 };
struct question { struct attn_question q; char plan[PLAN], kind[ATTN_KIND_TEXT]; const char **edit; int32_t *from; };

/* In the words of attn_plan_parse. */
static void say_plan(struct question *to, const struct attn_kind *k)
{
    char number[ATTN_NUM_MAX + 1];
    size_t n = (size_t)attn_snprintf(to->plan, PLAN, "threads=1,kind=%s", attn_kind_text(to->kind, k));
    number[attn_num_f64(number, k->scale)] = '\0';
    if (k->scaling)
        n += (size_t)attn_snprintf(to->plan + n, PLAN - n, ",scale=%s", k->scaling == ATTN_SCALE_NONE ? "none"
                                   : k->scaling == ATTN_SCALE_SQRT ? "sqrt" : number);
    number[attn_num_f64(number, k->dropout)] = '\0';
    if (k->dropout > 0)
        attn_snprintf(to->plan + n, PLAN - n, ",dropout=%s,seed=%llu", number, (unsigned long long)k->dropout_seed);
}

static int say_edits(struct question *to, const struct attn_edits *edits, struct attn_err *err)
{
    const size_t n = attn_edits_count(edits);
    to->edit = calloc(n + 1, sizeof *to->edit);
    if (!to->edit)
        return attn_no_memory(err, NULL, "for %zu edits", n);
    for (size_t i = 0; i < n; i++)
        to->edit[i] = attn_edits_text(edits, i);
    to->q.edits = to->edit;
    return ATTN_OK;
}

/* Whether the text alone makes the tokens that it has: appended ones may be others. */
static bool reads_alike(const struct attn_talk *t, const struct attn_typed *typed)
{
    int32_t *ids = NULL;
    size_t n = 0;
    bool alike = !typed->n_more;
    if (!alike && !attn_encode_ids(&ids, &n, t->tokenizer, typed->text, typed->len, NULL, NULL))
        alike = n == typed->all->n && (!n || !memcmp(ids, typed->id, n * sizeof *ids));
    free(ids);
    return alike;
}

static int say(struct question *to, struct attn_talk *t, struct attn_err *err)
{
    *to = (struct question){.q = {.model = t->model, .tokenizer = t->tokenizer}};
    int rc = attn_last_check(t, err);
    if (rc)
        return rc;
    const struct attn_typed *typed = &t->last.typed;
    say_plan(to, &t->last.plan.kind);
    to->q.plan = to->plan;
    if (typed->ids || !reads_alike(t, typed))
        to->q.text = (struct attn_input){.ids = typed->id, .n = typed->all->n};
    else
        to->q.text = (struct attn_input){.text = typed->text, .len = typed->len};
    return say_edits(to, t->last.edits, err);
}

static void end(struct question *q)
{
    free(q->edit);
    free(q->from);
}

int attn_live_metric(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    struct question of;
    double value = NAN;
    int rc = say(&of, t, err);
    if (!rc) {
        attn_live_at(t, ATTN_MEMBER_METRIC, -1);
        rc = attn_ask_metric(&value, &of.q, q->metric.s, err);
    }
    attn_out_str(o, "\"value\":");
    attn_out_f64(o, value);
    end(&of);
    return rc;
}

int attn_live_score(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    struct question of;
    double *score = NULL;
    size_t n = 0;
    (void)q;
    int rc = say(&of, t, err);
    if (!rc)
        rc = attn_ask_score(&score, &n, &of.q, err);
    attn_out_str(o, "\"logprobs\":[");
    for (size_t i = 0; i < n; i++) {
        attn_out_str(o, i ? "," : "");
        if (i)
            attn_out_f64(o, score[i]);
        else
            attn_out_str(o, "null");
    }
    attn_out_char(o, ']');
    free(score);
    end(&of);
    return rc;
}

/* ---- documents --------------------------------------------------------------------------- */

static int say_from(struct question *to, const struct attn_live_asked *q, struct attn_err *err)
{
    size_t n = 0;
    if (q->from.s && q->from_ids.s)
        return attn_fail(err, ATTN_EUSAGE,
                         "--from and --from-ids are both given: the text that values come from is one of them");
    if (q->from.s)
        to->q.from = (struct attn_input){.text = q->from.s, .len = q->from.len};
    int rc = q->from_ids.s ? attn_ids_parse(&to->from, &n, q->from_ids.s, err) : ATTN_OK;
    if (!rc && q->from_ids.s)
        to->q.from = (struct attn_input){.ids = to->from, .n = n};
    return rc;
}

int attn_live_write(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    struct question of;
    struct attn_out *document = NULL;
    char *text = NULL;
    size_t len = 0;
    int rc = say(&of, t, err);
    if (!rc)
        rc = say_from(&of, q, err);
    if (!rc)
        rc = attn_out_open_memory(&document, err);
    if (!rc)
        rc = attn_ask_write_to(document, &of.q, q->what.s, q->options.item, err);
    if (!rc)
        rc = attn_out_take(document, &text, &len, err);
    attn_out_str(o, "\"text\":");
    attn_out_json(o, text ? text : "", len);
    attn_out_close(document);
    free(text);
    end(&of);
    return rc;
}
