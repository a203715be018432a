/* diagram.c - the diagram of a cell of attention, or of an example: shapes, and numbers of one query and one key. */
#include "explain/article.h"

#include <stdio.h>

#include "base/format.h"

/* ---- a cell of a run ---------------------------------------------------------------------- */

/* How queries, keys and values come from what the layer reads. */
static void projected(char how[64], const struct attn_mat *w, const struct attn_weights *all, char letter, bool turns)
{
    const char *turned = !turns || letter == 'v' || !all->rotary ? "" : " (RoPE)";
    snprintf(how, 64, w->bias.data ? "·W_%c + b%s" : "·W_%c%s", letter, turned);
}

static struct attn_stage_array seen(const struct attn_explainer *e, int act, size_t rows, const float *x,
                                    const char *name, const char *how)
{
    return (struct attn_stage_array){name, how, rows, e->w->seen[act].cols, x, attn_explain_digits(e, act)};
}

static struct attn_stage_array of_query(const struct attn_explainer *e, int act, const char *name, const char *how)
{
    return seen(e, act, e->w->tokens->n, attn_explain_query_row(e, act), name, how);
}

static struct attn_stage_array of_key(const struct attn_explainer *e, int act, const char *name, const char *how)
{
    return seen(e, act, e->w->keys->n, attn_worked_row(e->w, act, e->w->key), name, how);
}

/* What the layer reads of a token. */
static struct attn_stage_array read(const struct attn_explainer *e, const struct attn_spot *s, const char *name)
{
    const int act = s->seen[ATTN_ACT_NORM1].x ? ATTN_ACT_NORM1 : ATTN_ACT_RESID_PRE;
    return (struct attn_stage_array){name, NULL, s->of->n, s->seen[act].cols, attn_spot_row(s, act),
                                     attn_spot_digits(s, act, e->precision)};
}

enum { NAMED = ATTN_TOKEN_NAME + 32 };
static const char *named(char buf[NAMED], const char *fmt, const char *name)
{
    snprintf(buf, NAMED, fmt, name);
    return buf;
}

static void say(struct attn_explainer *e, const char *query, const char *key)
{
    attn_derive_words(&e->d, "The whole way, with the shape of each array and one of its rows: for k and v that of "
                             "%s, else that of %s.", key, query);
}

/* Linear attention has neither dot products nor scores. */
void attn_explain_diagram(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    const struct attn_weights *all = &w->model->w;
    const struct attn_block *b = &all->block[w->layer];
    const struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    char q[64], k[64], v[64], scale[64], query_name[ATTN_TOKEN_NAME], key_name[ATTN_TOKEN_NAME];
    char query_of[NAMED], key_of[NAMED];
    if (w->kind.form == ATTN_LINEAR)
        return;
    projected(q, &b->q, all, 'q', b->rope >= 0);
    projected(k, &b->k, all, 'k', b->rope >= 0);
    projected(v, &b->v, all, 'v', b->rope >= 0);
    attn_snprintf(scale, sizeof scale, "× %.4f%s", (double)w->scale, attn_kind_past(&w->kind) ? tr(e, ", mask") : "");
    say(e, named(query_of, tr(e, "query %s"), attn_explain_token(e, query_name, &query)),
        named(key_of, tr(e, "key %s"), attn_explain_token(e, key_name, &key)));
    const struct attn_stage_array way[ATTN_STAGES] = {
        [ATTN_STAGE_X] = read(e, &query, "x"),
        [ATTN_STAGE_Y] = attn_worked_cross(w) ? read(e, &key, "y") : (struct attn_stage_array){.name = NULL},
        [ATTN_STAGE_Q] = of_query(e, ATTN_ACT_Q, "q", q),
        [ATTN_STAGE_K] = of_key(e, ATTN_ACT_K, "k", k),
        [ATTN_STAGE_V] = of_key(e, ATTN_ACT_V, "v", v),
        [ATTN_STAGE_DOTS] = of_query(e, ATTN_ACT_DOTS, "dots", "q·k"),
        [ATTN_STAGE_SCORES] = of_query(e, ATTN_ACT_SCORES, "scores", scale),
        [ATTN_STAGE_WEIGHTS] = of_query(e, ATTN_ACT_PATTERN, "weights", "softmax"),
        [ATTN_STAGE_CONTEXT] = of_query(e, ATTN_ACT_CONTEXT, "context", "Σ weight·v")};
    attn_derive_diagram(&e->d, way);
}

/* ---- an example of an article ---------------------------------------------------------------- */

/* A token by its name, or else by its number. */
static const char *called(char buf[NAMED], const struct attn_lesson *r, const char *const *names, const char *by_name,
                          const char *by_number, size_t i)
{
    char quoted[ATTN_TOKEN_NAME];
    if (names) {
        snprintf(quoted, sizeof quoted, tr(&r->e, "\"%s\""), names[i]);
        return named(buf, by_name, quoted);
    }
    snprintf(buf, NAMED, by_number, i);
    return buf;
}

static const char *map_of(const struct attn_projection *p, bool read, const char *with_bias, const char *without)
{
    return !read ? "" : !p->w ? "= x" : p->b ? with_bias : without;
}

void attn_example_diagram(struct attn_lesson *r, size_t query, size_t key)
{
    const struct attn_example *e = &r->example;
    const int digits = r->e.precision;
    const bool two = e->y, hides = e->kind.form != ATTN_FULL && e->kind.form != ATTN_MODEL;
    char scale[64], query_name[NAMED], key_name[NAMED];
    if (e->unscaled)
        snprintf(scale, sizeof scale, "× 1%s", hides ? tr(&r->e, ", mask") : "");
    else
        snprintf(scale, sizeof scale, "/ √%zu%s", e->dk, hides ? tr(&r->e, ", mask") : "");
    say(&r->e, called(query_name, r, r->setup->names, tr(&r->e, "query %s"), tr(&r->e, "query %zu"), query),
        called(key_name, r, two ? NULL : r->setup->names, tr(&r->e, "key %s"), tr(&r->e, "key %zu"), key));
    const float *q = e->queries + query * e->dk, *k = e->keys + key * e->dk, *v = e->values + key * e->dv;
    const float *square = e->dots + query * e->Tk, *scores = e->scores + query * e->Tk;
    const struct attn_stage_array way[ATTN_STAGES] = {
        [ATTN_STAGE_X] = {e->x ? "x" : NULL, NULL, e->T, e->d, e->x ? e->x + query * e->d : NULL, digits},
        [ATTN_STAGE_Y] = {two ? "y" : NULL, NULL, e->Tk, e->d, two ? e->y + key * e->d : NULL, digits},
        [ATTN_STAGE_Q] = {"q", map_of(&e->q, e->x, "·W_q + b", "·W_q"), e->T, e->dk, q, digits},
        [ATTN_STAGE_K] = {"k", map_of(&e->k, e->x, "·W_k + b", "·W_k"), e->Tk, e->dk, k, digits},
        [ATTN_STAGE_V] = {"v", map_of(&e->v, e->x, "·W_v + b", "·W_v"), e->Tk, e->dv, v, digits},
        [ATTN_STAGE_DOTS] = {"dots", "q·k", e->T, e->Tk, square, digits},
        [ATTN_STAGE_SCORES] = {"scores", scale, e->T, e->Tk, scores, digits},
        [ATTN_STAGE_WEIGHTS] = {"weights", "softmax", e->T, e->Tk, e->pattern + query * e->Tk, digits},
        [ATTN_STAGE_CONTEXT] = {"context", "Σ weight·v", e->T, e->dv, e->context + query * e->dv, digits}};
    attn_derive_diagram(&r->e.d, way);
}
