/* diagram.c - the diagram of a cell of attention, or of an example: shapes, and numbers of one query and one key. */
#include "explain/article.h"

#include <stdio.h>

#include "attend/attend.h"
#include "base/format.h"

/* ---- a cell of a run ---------------------------------------------------------------------- */

/* How queries, keys and values come from what the layer reads. */
static void projected(char how[64], const struct attn_mat *w, const struct attn_weights *all, char letter, bool turns)
{
    const char *turned = !turns || letter == 'v' || !all->rotary ? "" : " (RoPE)";
    snprintf(how, 64, w->bias.data ? "·W_%c + b%s" : "·W_%c%s", letter, turned);
}

static struct attn_stage_array of_query(const struct attn_explainer *e, int act, const char *name, const char *how)
{
    return (struct attn_stage_array){name, how, e->w->tokens->n, e->w->seen[act].cols, NULL,
                                     attn_explain_query_row(e, act), attn_explain_digits(e, act)};
}

static struct attn_stage_array of_key(const struct attn_explainer *e, int act, const char *name, const char *how)
{
    const struct attn_spot key = attn_worked_key(e->w);
    return (struct attn_stage_array){name, how, key.of->n, key.seen[act].cols, NULL, attn_spot_row(&key, act),
                                     attn_explain_digits(e, act)};
}

/* What the layer reads of a token. */
static struct attn_stage_array read(const struct attn_explainer *e, const struct attn_spot *s, const char *name)
{
    const int act = s->seen[ATTN_ACT_NORM1].x ? ATTN_ACT_NORM1 : ATTN_ACT_RESID_PRE;
    return (struct attn_stage_array){name, NULL, s->of->n, s->seen[act].cols, NULL, attn_spot_row(s, act),
                                     attn_spot_digits(s, act, e->precision)};
}

enum { NAMED = ATTN_TOKEN_NAME + 32 };
static const char *named(char buf[NAMED], const char *fmt, const char *name)
{
    snprintf(buf, NAMED, fmt, name);
    return buf;
}

/* key NULL: neither keys nor values are shown. */
static void say(struct attn_explainer *e, const char *query, const char *key)
{
    if (!key)
        attn_derive_words(&e->d, "All steps.  A box has a name, [rows, columns] and one row: of %s.", query);
    else
        attn_derive_words(&e->d, "All steps.  A box has a name, [rows, columns] and one row: of %s in k and v, else of "
                                 "%s.", key, query);
}

/* A token by its name, or a row that is given by its number. */
static const char *spot(char buf[NAMED], const struct attn_explainer *e, const struct attn_spot *s, const char *by_name,
                        const char *by_number)
{
    char name[ATTN_TOKEN_NAME];
    if (e->w->model->attend && attn_spot_numbered(s)) {
        snprintf(buf, NAMED, by_number, s->t);
        return buf;
    }
    return named(buf, by_name, attn_explain_token(e, name, s));
}

/* How dot products become scores. */
static void scaled(char how[64], const struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    const struct attn_weights *all = &w->model->w;
    const struct attn_attend *a = w->model->attend;
    bool hides = (attn_kind_past(&w->kind) || (a && a->view[ATTN_ATTEND_MASK].x)) && !attn_explain_masks_late(e);
    attn_snprintf(how, 64, "× %.4f%s%s%s", w->scale, all->alibi ? tr(e, ", position") : "",
                  all->cap > 0 ? tr(e, ", soft cap") : "", hides ? tr(e, ", mask") : "");
}

/* What a run computes on the way, from what the layer reads. */
static void of_run(struct attn_stage_array way[ATTN_STAGES], char how[3][64], const struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    const struct attn_weights *all = &w->model->w;
    const struct attn_block *b = &all->block[w->layer];
    const struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    projected(how[0], &b->q, all, 'q', b->rope >= 0);
    projected(how[1], &b->k, all, 'k', b->rope >= 0);
    projected(how[2], &b->v, all, 'v', b->rope >= 0);
    way[ATTN_STAGE_X] = read(e, &query, "x");
    if (attn_worked_cross(w))
        way[ATTN_STAGE_Y] = read(e, &key, "y");
    way[ATTN_STAGE_Q] = of_query(e, ATTN_ACT_Q, "q", how[0]);
    way[ATTN_STAGE_K] = of_key(e, ATTN_ACT_K, "k", how[1]);
    way[ATTN_STAGE_V] = of_key(e, ATTN_ACT_V, "v", how[2]);
}

/* How a vector of numbers that are given is made of the rows that are read; "": it is given itself. */
static const char *made(const struct attn_attend *a, int given, const char *rows, const char *product)
{
    return a->plain ? rows : a->view[given].x ? "" : product;
}

/* What is given, and what is made of it; rows of x are shown where the query is one of them. */
static void of_given(struct attn_stage_array way[ATTN_STAGES], const struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    const struct attn_attend *a = w->model->attend;
    const struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    const bool other = a->view[ATTN_ATTEND_CROSS].x;
    const char *q = made(a, ATTN_ATTEND_Q, "= x", "·W_q");
    const bool vectors = attn_worked_has(w, ATTN_ACT_Q) && attn_worked_has(w, ATTN_ACT_K);
    const bool reads = vectors && query.seen[ATTN_ACT_RESID_PRE].x && *q;
    const bool both = reads && (other || !attn_worked_cross(w));        /* keys and values are made of what is shown */
    const char *k = both ? made(a, ATTN_ATTEND_K, other ? "= y" : "= x", "·W_k") : "";
    const char *v = both ? made(a, ATTN_ATTEND_V, other ? "= y" : "= x", "·W_v") : "";
    if (reads)
        way[ATTN_STAGE_X] = read(e, &query, "x");
    if (both && other)
        way[ATTN_STAGE_Y] = read(e, &key, "y");
    if (vectors) {
        way[ATTN_STAGE_Q] = of_query(e, ATTN_ACT_Q, "q", q);
        way[ATTN_STAGE_K] = of_key(e, ATTN_ACT_K, "k", k);
    }
    if (attn_worked_has(w, ATTN_ACT_V))
        way[ATTN_STAGE_V] = of_key(e, ATTN_ACT_V, "v", v);
}

/* How scores become weights. */
static const char *weighed(const struct attn_explainer *e)
{
    const bool sum = e->w->model->attend && e->w->model->attend->weights == ATTN_WEIGHTS_SUM;
    if (attn_explain_masks_late(e))
        return sum ? tr(e, "/ Σ, mask") : tr(e, "softmax, mask");
    return sum ? "/ Σ" : "softmax";
}

/* Linear attention has neither dot products nor scores. */
void attn_explain_diagram(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    const struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    char how[3][64], scale[64], query_of[NAMED], key_of[NAMED];
    struct attn_stage_array way[ATTN_STAGES] = {{.name = NULL}};
    if (w->kind.form == ATTN_LINEAR)
        return;
    if (w->model->attend)
        of_given(way, e);
    else
        of_run(way, how, e);
    scaled(scale, e);
    if (attn_worked_has(w, ATTN_ACT_DOTS))
        way[ATTN_STAGE_DOTS] = of_query(e, ATTN_ACT_DOTS, "dots", "q·k");
    way[ATTN_STAGE_SCORES] = of_query(e, ATTN_ACT_SCORES, "scores", scale);
    way[ATTN_STAGE_WEIGHTS] = of_query(e, ATTN_ACT_PATTERN, "weights", weighed(e));
    if (attn_worked_has(w, ATTN_ACT_CONTEXT))
        way[ATTN_STAGE_CONTEXT] = of_query(e, ATTN_ACT_CONTEXT, "context", "Σ weight·v");
    bool keys = way[ATTN_STAGE_K].name || way[ATTN_STAGE_V].name;
    say(e, spot(query_of, e, &query, tr(e, "query %s"), tr(e, "query %zu")),
        keys ? spot(key_of, e, &key, tr(e, "key %s"), tr(e, "key %zu")) : NULL);
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
        [ATTN_STAGE_X] = {e->x ? "x" : NULL, NULL, e->T, e->d, e->x ? e->x + query * e->d : NULL, NULL, digits},
        [ATTN_STAGE_Y] = {two ? "y" : NULL, NULL, e->Tk, e->d, two ? e->y + key * e->d : NULL, NULL, digits},
        [ATTN_STAGE_Q] = {"q", map_of(&e->q, e->x, "·W_q + b", "·W_q"), e->T, e->dk, q, NULL, digits},
        [ATTN_STAGE_K] = {"k", map_of(&e->k, e->x, "·W_k + b", "·W_k"), e->Tk, e->dk, k, NULL, digits},
        [ATTN_STAGE_V] = {"v", map_of(&e->v, e->x, "·W_v + b", "·W_v"), e->Tk, e->dv, v, NULL, digits},
        [ATTN_STAGE_DOTS] = {"dots", "q·k", e->T, e->Tk, square, NULL, digits},
        [ATTN_STAGE_SCORES] = {"scores", scale, e->T, e->Tk, scores, NULL, digits},
        [ATTN_STAGE_WEIGHTS] = {"weights", "softmax", e->T, e->Tk, e->pattern + query * e->Tk, NULL, digits},
        [ATTN_STAGE_CONTEXT] = {"context", "Σ weight·v", e->T, e->dv, e->context + query * e->dv, NULL, digits}};
    attn_derive_diagram(&r->e.d, way);
}
