#include "trace/names.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"

enum axis { NO_HEADS, QUERY_HEADS, KV_HEADS };
enum columns { WIDTH, AFTER_BLOCK, HEAD_KEY, HEAD_VALUE, ALL_VALUES, KEYS, MLP, VOCABULARY };

static const struct row { const char *tail, *title; bool block; enum axis axis; enum columns columns; } rows[ATTN_ACTS] = {
    [ATTN_ACT_EMBED]      = { "embed",        "token embeddings",                          false, NO_HEADS,    WIDTH },
    [ATTN_ACT_POS_EMBED]  = { "pos_embed",    "position embeddings",                       false, NO_HEADS,    WIDTH },
    [ATTN_ACT_RESID_PRE]  = { "resid_pre",    "residual stream before the block",          true,  NO_HEADS,    WIDTH },
    [ATTN_ACT_NORM1]      = { "norm1",        "input of attention",                        true,  NO_HEADS,    WIDTH },
    [ATTN_ACT_Q]          = { "attn.q",       "queries",                                   true,  QUERY_HEADS, HEAD_KEY },
    [ATTN_ACT_K]          = { "attn.k",       "keys",                                      true,  KV_HEADS,    HEAD_KEY },
    [ATTN_ACT_V]          = { "attn.v",       "values",                                    true,  KV_HEADS,    HEAD_VALUE },
    [ATTN_ACT_DOTS]       = { "attn.dots",    "dot products of queries and keys",          true,  QUERY_HEADS, KEYS },
    [ATTN_ACT_SCORES]     = { "attn.scores",  "attention scores",                          true,  QUERY_HEADS, KEYS },
    [ATTN_ACT_PATTERN]    = { "attn.pattern", "attention pattern",                         true,  QUERY_HEADS, KEYS },
    [ATTN_ACT_CONTEXT]    = { "attn.context", "context vectors",                           true,  NO_HEADS,    ALL_VALUES },
    [ATTN_ACT_OUT]        = { "attn.out",     "output of attention",                       true,  NO_HEADS,    WIDTH },
    [ATTN_ACT_RESID_MID]  = { "resid_mid",    "residual stream between attention and MLP", true,  NO_HEADS,    WIDTH },
    [ATTN_ACT_NORM2]      = { "norm2",        "input of the MLP",                          true,  NO_HEADS,    WIDTH },
    [ATTN_ACT_MLP_PRE]    = { "mlp.pre",      "MLP before its nonlinearity",               true,  NO_HEADS,    MLP },
    [ATTN_ACT_MLP_LINEAR] = { "mlp.linear",   "MLP, linear branch",                        true,  NO_HEADS,    MLP },
    [ATTN_ACT_MLP_POST]   = { "mlp.post",     "MLP after its nonlinearity",                true,  NO_HEADS,    MLP },
    [ATTN_ACT_MLP_OUT]    = { "mlp.out",      "output of the MLP",                         true,  NO_HEADS,    WIDTH },
    [ATTN_ACT_RESID_POST] = { "resid_post",   "residual stream after the block",           true,  NO_HEADS,    AFTER_BLOCK },
    [ATTN_ACT_NORM_FINAL] = { "norm_final",   "residual stream after the final norm",      false, NO_HEADS,    WIDTH },
    [ATTN_ACT_LOGITS]     = { "logits",       "logits",                                    false, NO_HEADS,    VOCABULARY },
};

void attn_act_name(char buf[ATTN_NAME_MAX], int act, int layer)
{
    if (rows[act].block)
        snprintf(buf, ATTN_NAME_MAX, "blocks.%d.%s", layer, rows[act].tail);
    else
        snprintf(buf, ATTN_NAME_MAX, "%s", rows[act].tail);
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
    return rows[act].tail;
}

const char *attn_act_title(int act)
{
    return rows[act].title;
}

const char *attn_act_axes(int act)
{
    if (attn_act_square(act))
        return " (rows: queries, columns: keys)";
    return act == ATTN_ACT_LOGITS ? " (columns: token ids)" : "";
}

const char *attn_act_short(int act)
{
    const char *dot = strchr(rows[act].tail, '.');
    return dot ? dot + 1 : rows[act].tail;
}

bool attn_act_per_layer(int act)
{
    return rows[act].block;
}

size_t attn_act_heads(const struct attn_stage *s, int act)
{
    switch (rows[act].axis) {
    case QUERY_HEADS: return s->H;
    case KV_HEADS:    return s->Hkv;
    case NO_HEADS:    break;
    }
    return 0;
}

bool attn_act_kv(int act)
{
    return rows[act].axis == KV_HEADS;
}

bool attn_act_square(int act)
{
    return rows[act].columns == KEYS;
}

static size_t columns(const struct attn_info *m, int act, size_t Tk)
{
    switch (rows[act].columns) {
    case WIDTH:       return m->d;
    case AFTER_BLOCK: return m->output_projection ? m->d : m->H * m->dv;
    case HEAD_KEY:    return m->dh;
    case HEAD_VALUE:  return m->dv;
    case ALL_VALUES:  return m->H * m->dv;
    case KEYS:        return Tk;
    case MLP:         return m->m;
    case VOCABULARY:  return m->V;
    }
    return 0;
}

int attn_act_shape(size_t shape[3], const struct attn_info *m, int act, size_t T, size_t Tk)
{
    int n = 0;
    if (rows[act].axis != NO_HEADS)
        shape[n++] = rows[act].axis == KV_HEADS ? m->Hkv : m->H;
    shape[n++] = attn_act_kv(act) ? Tk : T;
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
    return attn_glob(glob, len, name) || attn_glob(glob, len, rows[act].tail) ||
           attn_glob(glob, len, attn_act_short(act));
}
