#include "picture/page_ranking.h"

#include <math.h>
#include <string.h>

static void key(struct attn_out *o, const char *name)
{
    attn_out_printf(o, ",\"%s\":", name);
}

static void word(struct attn_out *o, const char *s) { attn_out_json(o, s, strlen(s)); }

/* Numbers below 0 are no weights, but what an edit has made of them. */
static bool ranks(const struct attn_album *a)
{
    bool can = a->n_scored > 1;
    for (const struct attn_sheet *s = a->sheet; s < a->sheet + a->n && can; s++)
        for (size_t i = 0; i < s->n * s->rows * s->cols && can && !strcmp(s->kind, "attn.pattern"); i++)
            can = !(s->data[i] < 0);
    return can;
}

static bool any_rows(const struct attn_album *a, const struct attn_head_score *s)
{
    bool any = false;
    for (size_t i = 0; i < a->n_scored; i++)
        any |= a->scored[i].rows[attn_head_score_index(s)] > 0;
    return any;
}

static const struct attn_head_score *next_share(const struct attn_album *a, const struct attn_head_score *s)
{
    while ((s = attn_head_score_next(s)) &&
           (!(s->flags & ATTN_SCORE_SHARE) || (s->flags & ATTN_SCORE_IF_ANY && !any_rows(a, s))))
        ;
    return s;
}

static void put_share(struct attn_out *o, char before, double x)
{
    attn_out_char(o, before);
    if (isfinite(x))
        attn_out_f64(o, x);
    else
        attn_out_str(o, "null");
}

static void put_head(struct attn_out *o, const struct attn_album *a, const struct attn_head_scored *h)
{
    attn_out_printf(o, "{\"layer\":%zu,\"head\":%zu", h->at.layer, h->at.head);
    key(o, "role");
    if (h->role)
        word(o, h->role->name);
    else
        attn_out_str(o, "null");
    key(o, "shares");
    char before = '[';
    for (const struct attn_head_score *c = NULL; (c = next_share(a, c)); before = ',')
        put_share(o, before, h->score[attn_head_score_index(c)]);
    attn_out_str(o, "]}");
}

void attn_page_ranking_write(struct attn_out *o, const struct attn_album *a)
{
    if (!ranks(a))
        return;
    key(o, "ranking");
    attn_out_str(o, "{\"scores\":");
    char before = '[';
    for (const struct attn_head_score *c = NULL; (c = next_share(a, c)); before = ',') {
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
    for (size_t i = 0; i < a->n_scored; i++, before = ',') {
        attn_out_char(o, before);
        put_head(o, a, &a->scored[i]);
    }
    attn_out_str(o, "]}");
}
