/* clue.c - what the search for a cause asks of the activations around the first difference. */
#include "compare/diff.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "model/model.h"

bool attn_clue_say(struct clue *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (attn_vasprintf(&c->d->cause, fmt, ap) < 0)
        c->d->cause = NULL;
    va_end(ap);
    return true;
}

static char side(bool a) { return a ? 'A' : 'B'; }

bool attn_clue_tell(struct clue *c, bool a, const char *fmt, ...)
{
    va_list ap;
    char *named = strdup(fmt);
    for (char *s = named; s && *s; s++)
        if (*s == '@' || *s == '#')
            *s = side((*s == '@') == a);
    va_start(ap, fmt);
    if (!named || attn_vasprintf(&c->d->cause, named, ap) < 0)
        c->d->cause = NULL;
    va_end(ap);
    free(named);
    return true;
}

bool attn_clue_other(const struct clue *c, int act, struct attn_pair *out)
{
    return attn_diff_pair(c->d, act, attn_act_per_layer(act) ? c->layer : -1, out);
}

bool attn_clue_alike(const struct clue *c, int act, struct attn_pair *out)
{
    return attn_clue_other(c, act, out) && attn_pair_alike(out, &c->p);
}

bool attn_clue_either(const struct clue *c, int act, struct attn_pair *out)
{
    return attn_diff_either(c->d, act, attn_act_per_layer(act) ? c->layer : -1, out);
}

/* The output of the last block, which everything after the blocks reads. */
static bool last_block(const struct clue *c, struct attn_pair *x)
{
    for (size_t i = c->d->n; i-- > 0;)
        if (c->d->row[i].act == ATTN_ACT_RESID_POST)
            return attn_diff_pair(c->d, ATTN_ACT_RESID_POST, c->d->row[i].layer, x);
    return false;
}

/* What parallel branches with one norm read. */
static bool shared_norm(const struct clue *c, struct attn_pair *x)
{
    return c->model && c->model->w.one_norm && attn_clue_other(c, ATTN_ACT_NORM1, x);
}

bool attn_clue_input(const struct clue *c, struct attn_pair *x)
{
    switch (c->act) {
    case ATTN_ACT_NORM1:
        return attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_Q: case ATTN_ACT_K: case ATTN_ACT_V:
        return attn_clue_other(c, ATTN_ACT_NORM1, x) || attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_OUT:
        return attn_clue_other(c, ATTN_ACT_CONTEXT, x);
    case ATTN_ACT_ADDED:
        return attn_clue_other(c, ATTN_ACT_OUT, x);
    case ATTN_ACT_NORM2:
        return attn_clue_other(c, ATTN_ACT_RESID_MID, x) || attn_clue_other(c, ATTN_ACT_RESID_PRE, x);
    case ATTN_ACT_MLP_PRE: case ATTN_ACT_MLP_LINEAR:
        return attn_clue_other(c, ATTN_ACT_NORM2, x) || attn_clue_other(c, ATTN_ACT_RESID_MID, x) || shared_norm(c, x);
    case ATTN_ACT_MLP_POST:
        return attn_clue_other(c, ATTN_ACT_MLP_PRE, x);
    case ATTN_ACT_MLP_OUT:
        return attn_clue_other(c, ATTN_ACT_MLP_POST, x);
    case ATTN_ACT_MLP_ADDED:
        return attn_clue_other(c, ATTN_ACT_MLP_OUT, x);
    case ATTN_ACT_NORM_FINAL:
        return last_block(c, x);
    case ATTN_ACT_LOGITS:
        return attn_clue_other(c, ATTN_ACT_NORM_FINAL, x) || last_block(c, x);
    default:
        return false;
    }
}

size_t attn_clue_head_width(const struct clue *c)
{
    struct attn_pair p, context;
    if (attn_clue_other(c, ATTN_ACT_Q, &p) || attn_clue_other(c, ATTN_ACT_K, &p))
        return p.n;
    if (c->model)
        return c->model->w.n.dh;
    size_t H = attn_clue_heads(c);
    return H && attn_clue_other(c, ATTN_ACT_CONTEXT, &context) ? context.n / H : 0;
}

size_t attn_clue_width(const struct clue *c)
{
    struct attn_pair x;
    return attn_clue_other(c, ATTN_ACT_EMBED, &x) || attn_clue_input(c, &x) ? x.n : 0;
}

bool attn_clue_heads_apart(const struct clue *c, struct attn_pair *out)
{
    size_t H = attn_clue_heads(c);
    if (H < 2 || c->p.n % H)
        return false;
    *out = attn_pair_split(&c->p, H);
    return true;
}

size_t attn_clue_heads(const struct clue *c)
{
    static const int with_heads[] = {ATTN_ACT_Q, ATTN_ACT_DOTS, ATTN_ACT_SCORES, ATTN_ACT_PATTERN};
    struct attn_pair p;
    for (size_t i = 0; i < sizeof with_heads / sizeof *with_heads; i++)
        if (attn_clue_other(c, with_heads[i], &p))
            return p.H;
    return c->model ? c->model->w.n.H : 0;
}

double attn_clue_theta(const struct clue *c)
{
    return c->model && c->model->w.rotary ? c->model->config.rope_theta : 0;
}

const char *attn_clue_factor(const struct clue *c, double factor, char buf[64])
{
    bool heads = c->act >= ATTN_ACT_Q && c->act <= ATTN_ACT_OUT;       /* elsewhere no factor comes from their width */
    double dh = heads ? (double)attn_clue_head_width(c) : NAN, d = (double)attn_clue_width(c);
    double layer = c->layer + 1;
    const struct { const char *name; double x; } known[] = {
        {"sqrt(d_head)", sqrt(dh)}, {"1/sqrt(d_head)", 1 / sqrt(dh)}, {"d_head", dh}, {"1/d_head", 1 / dh},
        {"sqrt(d_model)", sqrt(d)}, {"1/sqrt(d_model)", 1 / sqrt(d)}, {"the number of the layer from 1", layer},
        {"1 over the number of the layer from 1", 1 / layer}, {"log2(e)", M_LOG2E}, {"ln(2)", M_LN2},
        {"sqrt((d - 1)/d): the variance of a sample", sqrt((d - 1) / d)},
        {"sqrt(d/(d - 1)): the variance of a sample", sqrt(d / (d - 1))}};
    buf[0] = '\0';
    for (size_t i = 0, n = 0; i < sizeof known / sizeof *known; i++)
        if (fabs(known[i].x - 1) > 1e-9 && fabs(factor / known[i].x - 1) < 2e-5 && n + strlen(known[i].name) + 5 < 64)
            n += (size_t)snprintf(buf + n, 64 - n, n ? " or %s" : " = %s", known[i].name);
    return buf;
}
