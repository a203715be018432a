#include "trace/trace.h"

#include "base/err.h"
#include "base/near.h"
#include "base/num.h"

#include <stdio.h>
#include <string.h>

enum heads { HEADS_NONE, HEADS_H, HEADS_HKV };
enum rows { ROWS_T, ROWS_TK };
enum columns { COLUMNS_D, COLUMNS_BLOCK, COLUMNS_DH, COLUMNS_DV, COLUMNS_HDV, COLUMNS_TK, COLUMNS_M, COLUMNS_V,
               COLUMNS_ONE };           /* counted in columns() */
static const char *const heads_texts[] = {"", "H,", "Hkv,"},
                  *const columns_texts[] = {"d", "d", "dh", "dv", "H*dv", "T", "m", "V", "1"};

#define ROW(id, name, heads, rows, columns, needs, title, help) \
    {name, title, help, HEADS_##heads, ROWS_##rows, COLUMNS_##columns, ATTN_NEEDS_##needs},
static const struct row { const char *name, *title, *help; enum heads heads; enum rows rows; enum columns columns;
                          enum attn_act_needs needs; } rows[ATTN_ACTS] = { ATTN_ACT_ROWS(ROW) };
static const char of_block[] = "blocks.*.";

void attn_act_name(char buf[ATTN_NAME_MAX], int act, int layer)
{
    char *at = buf;
    if (attn_act_per_layer(act)) {      /* without printf: a selection compares the names of all */
        at = stpcpy(at, "blocks.");
        at += attn_num_u64(at, (uint64_t)layer);
        at = stpcpy(at, ".");
    }
    stpcpy(at, attn_act_tail(act));
}

int attn_act_find(const char *name, int *layer)
{
    bool block = !strncmp(name, "blocks.", 7);
    size_t digits = block ? strspn(name + 7, "0123456789") : 0;
    const char *tail = block ? name + 7 + digits + 1 : name;
    uint64_t number = 0;
    *layer = -1;
    if (block && (!attn_num_parse_u64(name + 7, digits, &number) || number > INT32_MAX || name[7 + digits] != '.'))
        return -1;
    for (int act = 0; act < ATTN_ACTS; act++)
        if (attn_act_per_layer(act) == block && !strcmp(attn_act_tail(act), tail)) {
            *layer = block ? (int)number : -1;
            return act;
        }
    return -1;
}

const char *attn_act_tail(int act)
{
    return rows[act].name + (attn_act_per_layer(act) ? sizeof of_block - 1 : 0);
}

const char *attn_act_title(int act)
{
    return rows[act].title;
}

const char *attn_act_axes(int act)
{
    if (attn_act_square(act))
        return " (rows: queries, columns: keys)";
    return rows[act].columns == COLUMNS_V ? " (columns: token ids)" : "";
}

const char *attn_act_short(int act)
{
    const char *tail = attn_act_tail(act), *dot = strchr(tail, '.');
    return dot ? dot + 1 : tail;
}

static const struct attn_meaning meanings[] = {
    {"attention", "pattern"}, {"attentions", "pattern"}, {"weights", "pattern"}, {"attn", "pattern"},
    {"softmax", "pattern"}, {"probs", "pattern"},
    {"hidden", "resid_post"}, {"hidden_states", "resid_post"}, {"residual", "resid_post"},
    {"embedding", "embed"}, {"embeddings", "embed"},
    {"query", "q"}, {"key", "k"}, {"value", "v"}, {"queries", "q"}, {"keys", "k"}, {"values", "v"}, {"z", "context"},
    {0}};

bool attn_act_meant(const char *typed, size_t len, const char *name)
{
    return attn_near_means(meanings, typed, len, name);
}

const char *attn_act_nearest(const char *typed, int end)
{
    const char *best = NULL;
    unsigned distance = ATTN_FAR;
    struct attn_near near;
    attn_near_start(&near, typed, strlen(typed));
    for (int act = 0; act < end; act++)
        for (int tail = 0; tail <= 1; tail++) {
            const char *known = tail ? attn_act_tail(act) : attn_act_short(act);
            bool means = attn_act_meant(typed, strlen(typed), known);
            unsigned d = means ? 0 : attn_near(&near, known, strlen(known), distance);
            best = d < distance ? attn_act_tail(act) : best;
            distance = d < distance ? d : distance;
        }
    return best;
}

const char *attn_act_text(char buf[ATTN_ACT_TEXT], int act)
{
    bool shared = false;
    for (int other = 0; other < ATTN_ACTS; other++)
        shared |= other != act && !strcmp(attn_act_short(other), attn_act_short(act));
    snprintf(buf, ATTN_ACT_TEXT, "%s", shared ? rows[act].name : attn_act_short(act));
    return buf;
}

const char *attn_act_help(char buf[ATTN_ACT_HELP], int act)
{
    const struct row *r = &rows[act];
    snprintf(buf, ATTN_ACT_HELP, "[%sT,%s] %s", heads_texts[r->heads], columns_texts[r->columns],
             r->help ? r->help : r->title);
    return buf;
}

size_t attn_act_slot(int act, int layer) { return (size_t)(layer + 1) * ATTN_ACTS + (size_t)act; }
/* no overflow: there is memory for L blocks, which are larger */
size_t attn_act_slots(size_t L) { return (L + 1) * ATTN_ACTS; }

bool attn_act_per_layer(int act)
{
    return !strncmp(rows[act].name, of_block, sizeof of_block - 1);
}

size_t attn_act_heads(const struct attn_hook_points *s, int act)
{
    return rows[act].heads == HEADS_H ? s->H : rows[act].heads == HEADS_HKV ? s->Hkv : 0;
}

bool attn_act_kv_heads(int act)
{
    return rows[act].heads == HEADS_HKV;
}

bool attn_act_of_keys(int act)
{
    return rows[act].rows == ROWS_TK;
}

bool attn_act_derived(int act)
{
    return act >= ATTN_ACT_DERIVED;
}

enum attn_act_needs attn_act_needs(int act)
{
    return rows[act].needs;
}

bool attn_act_square(int act)
{
    return rows[act].columns == COLUMNS_TK;
}

bool attn_act_alternates(int act)
{
    return rows[act].heads == HEADS_H && (attn_act_square(act) || rows[act].columns == COLUMNS_ONE);
}

static size_t columns(const struct attn_info *m, int act, size_t Tk)
{
    const size_t heads = m->H * m->dv, block = m->output_projection ? m->d : heads,
                 n[] = {m->d, block, m->dh, m->dv, heads, Tk, m->m, m->V, 1};
    return n[rows[act].columns];
}

int attn_act_shape(size_t shape[3], const struct attn_info *m, int act, size_t T, size_t Tk)
{
    int n = 0;
    if (rows[act].heads != HEADS_NONE)
        shape[n++] = attn_act_kv_heads(act) ? m->Hkv : m->H;
    shape[n++] = attn_act_of_keys(act) ? Tk : T;
    shape[n++] = columns(m, act, Tk);
    return n;
}

bool attn_glob(const char *glob, size_t len, const char *name)
{
    size_t g = 0, star = len;           /* star: where the last * is that was passed; len: there was none yet */
    const char *retry = name;
    while (*name) {
        if (g < len && glob[g] == '*') {
            star = g++;
            retry = name;
        } else if (g < len && (glob[g] == '?' || glob[g] == *name)) {
            g++;
            name++;
        } else if (star < len) {        /* go back and let the star match one more character */
            g = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (g < len && glob[g] == '*')
        g++;
    return g == len;
}

bool attn_act_match(const char *glob, size_t len, int act, int layer)
{
    char name[ATTN_NAME_MAX];
    attn_act_name(name, act, layer);
    return attn_glob(glob, len, name) || attn_glob(glob, len, attn_act_tail(act)) ||
           attn_glob(glob, len, attn_act_short(act));
}

/* ---- observers ---- */

void attn_probe_copy(float *to, const struct attn_probe *p)
{
    size_t T = p->shape[p->ndim - 2];
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            memcpy(to + ((p->head0 + h) * T + p->row0 + t) * p->cols, p->data + h * p->ld_head + t * p->ld,
                   p->cols * sizeof *to);
}

static unsigned *flags_of(const struct attn_trace *t, size_t observer, int act, int layer)
{
    return &t->want[observer * attn_act_slots(t->L) + attn_act_slot(act, layer)];
}

/* Flags that say how it is wanted mean nothing without those that say what for. */
static unsigned answer(const struct attn_observer *o, int act, int layer)
{
    unsigned flags = o->wants ? o->wants(o->self, act, layer) : 0;
    if (attn_act_derived(act))
        flags = flags & ATTN_DERIVE ? flags & (ATTN_WATCH | ATTN_WHOLE) : 0;
    return flags & (ATTN_WATCH | ATTN_EDIT) ? flags : 0;
}

void attn_trace_ask(struct attn_trace *t, const struct attn_hook_points *hooks, size_t first)
{
    for (size_t i = first; i < t->n_obs; i++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            int from = attn_act_per_layer(act) ? 0 : -1;
            int end = attn_act_per_layer(act) ? (int)t->L : 0;
            for (int layer = from; layer < end; layer++)
                *flags_of(t, i, act, layer) = hooks->has[act] ? answer(&t->obs[i], act, layer) : 0;
        }
}

bool attn_trace_wants(const struct attn_trace *t, int act, int layer, unsigned flags)
{
    for (size_t i = 0; i < t->n_obs; i++)
        if (*flags_of(t, i, act, layer) & flags)
            return true;
    return false;
}

bool attn_trace_wants_among(const struct attn_trace *t, int first, int end, int layer)
{
    for (int act = first; act < end; act++)
        if (attn_trace_wants(t, act, layer, ATTN_WATCH | ATTN_EDIT))
            return true;
    return false;
}

bool attn_trace_wants_all(const struct attn_trace *t, int act, int layer)
{
    for (size_t i = 0; i < t->n_obs; i++) {
        unsigned flags = *flags_of(t, i, act, layer);
        if ((flags & (ATTN_WATCH | ATTN_EDIT)) && !(flags & ATTN_LAST))
            return true;
    }
    return false;
}

bool attn_trace_is_shown(const struct attn_probe *p, bool cross)
{
    return !cross || p->seq == (attn_act_of_keys(p->act) ? 1 : 0);
}

/* An observer that fails without saying why still ends the run. */
static bool failed(struct attn_trace *t, int status)
{
    if (status && !t->err.code)
        attn_fail(&t->err, ATTN_EIO, "an observer failed without a message");
    return status != 0;
}

void attn_trace_announce(struct attn_trace *t, const struct attn_probe *band, float *data)
{
    char name[ATTN_NAME_MAX];
    struct attn_probe p = *band;
    if (t->err.code || !attn_trace_wants(t, p.act, p.layer, ATTN_WATCH | ATTN_EDIT))
        return;
    attn_act_name(name, p.act, p.layer);
    p.name = name;
    p.data = data;
    for (size_t i = 0; i < t->n_obs; i++) {
        const struct attn_observer *o = &t->obs[i];
        if (o->edit && (*flags_of(t, i, p.act, p.layer) & ATTN_EDIT) && failed(t, o->edit(o->self, &p, data, &t->err)))
            return;
    }
    for (size_t i = 0; i < t->n_obs; i++) {
        const struct attn_observer *o = &t->obs[i];
        if (o->watch && (*flags_of(t, i, p.act, p.layer) & ATTN_WATCH) && failed(t, o->watch(o->self, &p, &t->err)))
            return;
    }
}
