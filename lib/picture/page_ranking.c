#include "picture/page_ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ask/scores.h"
#include "base/err.h"
#include "base/utf8.h"

static void key(struct attn_out *o, const char *name)
{
    attn_out_printf(o, ",\"%s\":", name);
}

static void word(struct attn_out *o, const char *s) { attn_out_json(o, s, strlen(s)); }

/* A sheet without heads counts as one. */
static size_t ranked(const struct attn_sheet *s)
{
    return strcmp(s->kind, "attn.pattern") ? 0 : s->heads ? s->n : 1;
}

static bool is_pattern(const struct attn_sheet *s, size_t tokens)
{
    bool is = s->rows == tokens && s->cols == tokens;
    for (size_t i = 0, n = is ? ranked(s) * tokens * tokens : 0; i < n; i++)
        is = is && !(s->data[i] < 0);
    return is;
}

static bool ranks(const struct attn_album *a)
{
    size_t heads = 0;
    bool can = a->queries && a->keys == a->queries;
    for (size_t i = 0; can && i < a->queries->n; i++)
        can = a->queries->tok[i].id >= 0;
    for (size_t i = 0; can && i < a->n; i++) {
        can = !ranked(&a->sheet[i]) || is_pattern(&a->sheet[i], a->queries->n);
        heads += ranked(&a->sheet[i]);
    }
    return can && heads > 1;
}

int attn_page_words_find(struct attn_page_words *w, const struct attn_album *a, struct attn_err *err)
{
    const struct attn_tokens *t = a->queries;
    *w = (struct attn_page_words){0};
    if (!ranks(a))
        return ATTN_OK;
    w->same = calloc(t->n + 1, sizeof *w->same);
    w->marks = calloc(t->n + 1, sizeof *w->marks);
    if (!w->same || !w->marks)
        return attn_no_memory(err, NULL, "to compare %zu tokens", t->n);
    for (size_t i = 0; i < t->n; i++) {
        w->marks[i] = t->tok[i].known && attn_utf8_punctuation(t->tok[i].text, t->tok[i].text_len);
        w->any_marks |= w->marks[i] && i + 1 < t->n;
        for (size_t k = i; k > 0 && !w->same[i]; k--)
            w->same[i] = t->tok[k - 1].id == t->tok[i].id ? k : 0;
    }
    return ATTN_OK;
}

static const struct attn_head_score *next_share(const struct attn_page_words *w, const struct attn_head_score *s)
{
    while ((s = attn_head_score_next(s)) &&
           (!(s->flags & ATTN_SCORE_SHARE) || (s->flags & ATTN_SCORE_IF_ANY && !w->any_marks)))
        ;
    return s;
}

/* The mean over the rows from the second on, as the command heads has it. */
static double mean_share(const struct attn_head_score *s, const struct attn_page_words *w, const float *weight,
                         size_t T)
{
    struct attn_score_sum all = {0, 0};
    for (size_t q = 1; q < T; q++) {
        struct attn_head_row r = {.weight = weight + q * T, .hi = T, .q = q, .seen = T, .most = log((double)T),
                                  .same = w->same, .marks = w->marks};
        double x;
        if (s->of(&x, &r)) {
            all.sum += x;
            all.n++;
        }
    }
    return attn_score_mean(&all);
}

static void put_ranked(struct attn_out *o, const struct attn_page_words *w, const struct attn_sheet *s, size_t i)
{
    attn_out_printf(o, s->layer < 0 ? "{\"layer\":null" : "{\"layer\":%d", s->layer);
    key(o, "head");
    attn_out_printf(o, s->heads ? "%zu" : "null", s->heads ? s->heads[i] : 0);
    key(o, "shares");
    char before = '[';
    for (const struct attn_head_score *c = NULL; (c = next_share(w, c)); before = ',') {
        double share = mean_share(c, w, s->data + i * s->rows * s->cols, s->rows);
        attn_out_char(o, before);
        if (isfinite(share))
            attn_out_f64(o, share);
        else
            attn_out_str(o, "null");
    }
    attn_out_str(o, "]}");
}

void attn_page_ranking_write(struct attn_out *o, const struct attn_album *a, const struct attn_page_words *w)
{
    if (!w->same)
        return;
    attn_out_str(o, ",\"ranking\":{\"scores\":");
    char before = '[';
    for (const struct attn_head_score *c = NULL; (c = next_share(w, c)); before = ',') {
        attn_out_printf(o, "%c{\"name\":", before);
        word(o, c->name);
        key(o, "brief");
        word(o, c->brief);
        key(o, "help");
        word(o, c->help);
        attn_out_char(o, '}');
    }
    attn_out_char(o, ']');
    key(o, "heads");
    before = '[';
    for (const struct attn_sheet *s = a->sheet; s < a->sheet + a->n; s++)
        for (size_t i = 0; i < ranked(s); i++, before = ',') {
            attn_out_char(o, before);
            put_ranked(o, w, s, i);
        }
    attn_out_str(o, "]}");
}
