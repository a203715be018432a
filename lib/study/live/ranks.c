/* ranks.c - what the heads of the last run do: their scores, and the role that follows from these. */
#include "live/talk.h"

#include <string.h>

#include "ask/scores.h"

static const char *token_text(void *ctx, int32_t id, size_t *len)
{
    const struct attn_talk *t = ctx;
    return t->tokenizer ? attn_tokenizer_text(t->tokenizer, id, len) : NULL;
}

/* The pattern of one head, as the run announced it. */
static struct attn_probe pattern_of(const struct attn_talk *t, const char *name, size_t layer, size_t head)
{
    const size_t T = t->last.plain->T;
    const float *all = attn_last_at(&t->last, ATTN_ACT_PATTERN, (int)layer);
    return (struct attn_probe){.name = name, .act = ATTN_ACT_PATTERN, .layer = (int)layer, .ndim = 3,
                               .shape = {t->info.H, T, T}, .head0 = head, .heads = 1, .rows = T, .cols = T,
                               .ld_head = T * T, .ld = T, .data = all + head * T * T};
}

static int add_up(struct attn_scores *s, struct attn_talk *t, struct attn_err *err)
{
    const struct attn_seq seq = {.T = t->last.plain->T};
    char name[ATTN_NAME_MAX];
    int rc = attn_scores_start(s, t->last.typed.id, &seq, 1, err);
    for (size_t layer = 0; layer < t->info.L; layer++) {
        attn_act_name(name, ATTN_ACT_PATTERN, (int)layer);
        for (size_t head = 0; head < t->info.H && !rc; head++) {
            const struct attn_probe p = pattern_of(t, name, layer, head);
            rc = attn_scores_watch(s, &p, err);
        }
    }
    return rc;
}

static bool any_rows(const struct attn_scores *s, size_t column)
{
    bool any = false;
    for (size_t i = 0; i < attn_scores_heads(s) && !any; i++)
        any = attn_scores_head(s, i).rows[column] > 0;
    return any;
}

/* The next score that a table has. */
static const struct attn_head_score *next_score(const struct attn_scores *s, const struct attn_head_score *c)
{
    while ((c = attn_head_score_next(c)) && (c->flags & ATTN_SCORE_NO_TEXT ||
           (c->flags & ATTN_SCORE_IF_ANY && !any_rows(s, attn_head_score_index(c)))))
        ;
    return c;
}

static bool is_negative(const struct attn_probe *p)
{
    bool any = false;
    for (size_t i = 0; i < p->rows * p->cols && !any; i++)
        any = p->data[i] < 0;
    return any;
}

static void put_head(struct attn_out *o, const struct attn_talk *t, const struct attn_scores *s, size_t i)
{
    const struct attn_head_scored h = attn_scores_head(s, i);
    const struct attn_probe p = pattern_of(t, "", h.at.layer, h.at.head);
    attn_out_printf(o, "%s{\"layer\":%zu,\"head\":%zu,\"role\":", i ? "," : "", h.at.layer, h.at.head);
    if (h.role)
        attn_out_json(o, h.role->name, strlen(h.role->name));
    else
        attn_out_str(o, "null");
    attn_out_str(o, ",\"share\":");
    attn_out_f64(o, h.share);
    attn_out_str(o, ",\"scores\":");
    char before = '[';
    for (const struct attn_head_score *c = NULL; (c = next_score(s, c)); before = ',') {
        attn_out_char(o, before);
        attn_out_f64(o, h.score[attn_head_score_index(c)]);
    }
    attn_out_printf(o, "],\"negative\":%s}", is_negative(&p) ? "true" : "false");
}

static void put_heads(struct attn_out *o, const struct attn_talk *t, const struct attn_scores *s)
{
    char before = '[';
    attn_out_str(o, "\"scores\":");
    for (const struct attn_head_score *c = NULL; (c = next_score(s, c)); before = ',') {
        attn_out_char(o, before);
        attn_out_json(o, c->name, strlen(c->name));
    }
    attn_out_str(o, "],\"heads\":[");
    for (size_t i = 0; i < attn_scores_heads(s); i++)
        put_head(o, t, s, i);
    attn_out_char(o, ']');
}

int attn_live_heads(struct attn_talk *t, const struct attn_live_asked *q, struct attn_out *o, struct attn_err *err)
{
    const struct attn_scores_opts opts = {.chance = true, .text = token_text, .ctx = t};
    struct attn_select *all = NULL;
    struct attn_scores *s = NULL;
    (void)q;
    int rc = attn_last_check(t, err);
    if (!rc)
        rc = attn_select_new(&all, t->model, &t->last.plan.kind, "pattern", NULL, NULL, err);
    if (!rc)
        rc = attn_scores_new(&s, t->model, &t->last.plan.kind, all, &opts, NULL, err);
    if (!rc)
        rc = add_up(s, t, err);
    if (!rc)
        put_heads(o, t, s);
    attn_scores_free(s);
    attn_select_free(all);
    return rc;
}
