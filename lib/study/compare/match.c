#include "compare/match.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "trace/trace.h"

struct matcher { struct attn_matches *to; const struct attn_dump *dump[2]; struct attn_names names[2]; bool *taken; };

/* ---- order ---- */

/* Sorts: before the blocks, in the blocks, after them, unknown names. */
static int stage(const struct attn_match *m)
{
    return m->act < 0 ? 3 : m->layer >= 0 ? 1 : m->act <= ATTN_ACT_POS_EMBED ? 0 : 2;
}

static int compare_places(const struct attn_match *x, const struct attn_match *y)
{
    if (stage(x) != stage(y))
        return stage(x) - stage(y);
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return x->act - y->act;
}

static int by_flow(const void *a, const void *b)
{
    const struct attn_match *x = a, *y = b;
    int order = compare_places(x, y);
    return order ? order : strcmp(x->name, y->name);
}

size_t attn_matches_find(const struct attn_matches *m, int act, int layer)
{
    const struct attn_match place = {.act = act, .layer = layer};
    size_t from = 0, to = m->n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_places(&m->item[middle], &place) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* ---- pairs ---- */

/* What b is to be called; false: there is no memory. */
static bool call(struct attn_match *m, const struct attn_known *a, const struct attn_known *b)
{
    const struct attn_dumped *x = m->side[0], *y = m->side[1];
    char ours[ATTN_NAME_MAX];
    assert(x || y);
    if (!x || !y || !strcmp(x->name, y->name) || (a && a->exact)) {
        m->name = x ? x->name : y->name;
    } else if (m->act < 0 || (b && b->exact && b->act == m->act && b->layer == m->layer)) {
        m->name = y->name;
    } else {
        attn_act_name(ours, m->act, m->layer);
        m->name = m->made = strdup(ours);
    }
    return m->name != NULL;
}

/* Adds a pair, or an array of one side alone: the numbers of arrays, or SIZE_MAX. */
static int put(struct matcher *m, size_t i, size_t k, struct attn_err *err)
{
    struct attn_match *to = &m->to->item[m->to->n++];
    const struct attn_known *a = i == SIZE_MAX ? NULL : &m->names[0].known[i];
    const struct attn_known *b = k == SIZE_MAX ? NULL : &m->names[1].known[k];
    const struct attn_known *known = a && (a->act >= 0 || !b) ? a : b;
    assert(known);
    *to = (struct attn_match){.side = {a ? &m->dump[0]->item[i] : NULL, b ? &m->dump[1]->item[k] : NULL},
                              .act = known->act, .layer = known->layer,
                              .rows_first = {a && a->rows_first, b && b->rows_first},
                              .perhaps_bare = {a && a->perhaps_bare, b && b->perhaps_bare},
                              .exact = a && b && a->exact && b->exact};
    if (a && b)
        m->taken[k] = true;
    m->to->common += a && b;
    return call(to, a, b) ? ATTN_OK : attn_no_memory(err, NULL, "for a name");
}

/* The array of b that is the i-th of a, if it has its name or else is the same; SIZE_MAX: there is none. */
static size_t counterpart(const struct matcher *m, size_t i)
{
    const struct attn_dump *a = m->dump[0], *b = m->dump[1];
    const struct attn_known *x = &m->names[0].known[i];
    const struct attn_dumped *same = attn_dump_item(b, a->item[i].name);
    if (same)
        return (size_t)(same - b->item);
    size_t k = x->act < 0 ? SIZE_MAX : attn_names_find(&m->names[1], x->act, x->layer);
    return k == SIZE_MAX || attn_dump_item(a, b->item[k].name) ? SIZE_MAX : k;
}

static int pair_up(struct matcher *m, struct attn_err *err)
{
    const struct attn_dump *a = m->dump[0], *b = m->dump[1];
    int rc = ATTN_OK;
    if (a->single && b->single && a->n && b->n)         /* two lone files need not have the same name */
        return put(m, 0, 0, err);
    for (size_t i = 0; i < a->n && !rc; i++)
        rc = put(m, i, counterpart(m, i), err);
    for (size_t k = 0; k < b->n && !rc; k++)
        if (!m->taken[k])
            rc = put(m, SIZE_MAX, k, err);
    return rc;
}

/* How many tokens the sentence has, as the dumps or the shapes of arrays without heads say. */
static size_t count_tokens(const struct matcher *m)
{
    for (int s = 0; s < 2; s++)
        if (m->dump[s]->tokens.n)
            return m->dump[s]->tokens.n;
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < m->dump[s]->n; i++) {
            const struct attn_array *x = &m->dump[s]->item[i].of;
            int act = m->names[s].known[i].act;
            if (act >= 0 && x->ndim >= 2 && !attn_reads_heads(act))
                return x->shape[x->ndim - 2];
        }
    return 0;
}

int attn_matches_of(struct attn_matches *out, const struct attn_dump *a, const struct attn_dump *b,
                    const struct attn_naming *rules, struct attn_err *err)
{
    struct matcher m = {.to = out, .dump = {a, b}};
    *out = (struct attn_matches){.item = calloc(a->n + b->n + 1, sizeof *out->item)};
    m.taken = calloc(b->n + 1, sizeof *m.taken);
    int rc = out->item && m.taken ? attn_names_of(m.names, m.dump, rules, err)
             : attn_no_memory(err, NULL, "to compare %zu and %zu arrays", a->n, b->n);
    if (!rc)
        rc = pair_up(&m, err);
    out->tokens = rc ? 0 : count_tokens(&m);
    attn_names_free(&m.names[0]);
    attn_names_free(&m.names[1]);
    free(m.taken);
    if (rc)
        attn_matches_free(out);
    else
        qsort(out->item, out->n, sizeof *out->item, by_flow);
    return rc;
}

void attn_matches_free(struct attn_matches *m)
{
    for (size_t i = 0; m->item && i < m->n; i++) {
        free(m->item[i].made);
        free(m->item[i].note);
    }
    free(m->item);
    *m = (struct attn_matches){0};
}
