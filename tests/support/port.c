#include "port.h"

#include "scratch.h"
#include "suites.h"

#include "io/dump.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *in_layer(int layer, const char *tail)
{
    return layer < 0 ? tail : printed("blocks.%d.%s", layer, tail);
}

static double *copy(const double *x, size_t n)
{
    double *y = calloc(n + 1, sizeof *y);
    ck_assert_ptr_nonnull(y);
    if (x)
        memcpy(y, x, n * sizeof *y);
    return y;
}

/* In double precision, four sums at once: quicker than one. */
static double quick_dot(const double *x, const double *y, int n)
{
    double sum = 0, second = 0, third = 0, fourth = 0;
    int i = 0;
    for (; y && i + 3 < n; i += 4) {
        sum += x[i] * y[i];
        second += x[i + 1] * y[i + 1];
        third += x[i + 2] * y[i + 2];
        fourth += x[i + 3] * y[i + 3];
    }
    for (; i < n; i++)
        sum += x[i] * (y ? y[i] : 1);
    return sum + second + (third + fourth);
}

void port_start(struct port *p, const struct agree *model)
{
    static const char type[] = "\"model_type\": \"";
    *p = (struct port){.model = model, .other = *model->config, .from = 1, .to = 0, .dot = quick_dot, .seed = 1};
    p->family = strstr(model->about, type);
    ck_assert_ptr_nonnull(p->family);
    p->family += strlen(type);
}

void port_free(struct port *p)
{
    for (size_t i = 0; i < p->weights; i++)
        free(p->weight[i].x);
    for (size_t i = 0; i < p->n; i++)
        free(p->act[i].x);
    *p = (struct port){0};
}

/* ---- weights ---- */

static const double *weight_of(void *ctx, const char *name)
{
    const struct port *p = ctx;
    for (size_t i = p->weights; i-- > 0;)
        if (!strcmp(p->weight[i].name, name))
            return p->weight[i].x;
    return p->model->weight(p->model->weights, name);
}

const double *port_weight(const struct port *p, int layer, const char *tail)
{
    return p->model->weight(p->model->weights, in_layer(layer, tail));
}

static void replace(struct port *p, int layer, const char *tail, double *x)
{
    ck_assert_uint_lt(p->weights, PORT_WEIGHTS);
    snprintf(p->weight[p->weights].name, sizeof p->weight[0].name, "%s", in_layer(layer, tail));
    p->weight[p->weights++].x = x;
}

double *port_weight_own(struct port *p, int layer, const char *tail, const double *from, size_t n)
{
    double *x = copy(from, n);
    replace(p, layer, tail, x);
    return x;
}

void port_weight_lose(struct port *p, int layer, const char *tail)
{
    replace(p, layer, tail, NULL);
}

/* ---- activations ---- */

const struct port_act *port_find(const struct port *p, const char *name)
{
    for (size_t i = p->n; i-- > 0;)
        if (!strcmp(p->act[i].name, name))
            return &p->act[i];
    return NULL;
}

const double *port_told(const struct port *p, int layer, const char *tail)
{
    const struct port_act *a = port_find(p, in_layer(layer, tail));
    ck_assert_msg(a != NULL, "%s was not computed\n%s", tail, p->model->about);
    return a->x;
}

static void edit(void *ctx, const char *name, double *x, size_t n)
{
    struct port *p = ctx;
    int layer, act = attn_act_find(name, &layer);
    if (p->edit)
        p->edit(p, layer, attn_act_tail(act), x, n);
    if (p->finish)
        p->finish(p, layer, attn_act_tail(act), x, n);
}

static void keep(void *ctx, const char *name, const double *x, size_t n)
{
    struct port *p = ctx;
    ck_assert_uint_lt(p->n, PORT_ACTS);
    struct port_act *a = &p->act[p->n++];
    *a = (struct port_act){.n = n, .x = copy(x, n)};
    snprintf(a->name, sizeof a->name, "%s", name);
    a->act = attn_act_find(name, &a->layer);
    ck_assert_int_ge(a->act, 0);
}

void port_run(struct port *p, const int32_t *ids, int T)
{
    const struct ref_port port = {.other = &p->other, .from = p->from, .to = p->to, .dot = p->dot, .edit = edit};
    int32_t *all = calloc((size_t)(T + p->padded) + 1, sizeof *all);
    ck_assert_ptr_nonnull(all);
    memcpy(all + p->padded, ids, (size_t)T * sizeof *all);
    p->T = T;
    ref_run_port(p->model->config, &port, all, T + p->padded, weight_of, keep, p);
    free(all);
}

/* ---- a dump ---- */

static size_t heads_of(const struct port *p, int act)
{
    bool kv = act == ATTN_ACT_K || act == ATTN_ACT_V;
    bool apart = kv || act == ATTN_ACT_Q || act == ATTN_ACT_DOTS || act == ATTN_ACT_SCORES || act == ATTN_ACT_PATTERN;
    return !apart ? 0 : (size_t)(kv ? p->model->config->Hkv : p->model->config->H);
}

/* The rows, and of what has a column for each key the columns, of the text without what it was padded with. */
static struct attn_array array_of(const struct port *p, const struct port_act *a)
{
    size_t heads = heads_of(p, a->act), H = heads ? heads : 1, T = (size_t)p->T, skip = (size_t)p->padded;
    size_t width = a->n / H / (T + skip);
    bool keys = a->act == ATTN_ACT_DOTS || a->act == ATTN_ACT_SCORES || a->act == ATTN_ACT_PATTERN;
    size_t left = keys ? skip : 0, n = width - left;
    struct attn_array out = {.ndim = 2, .shape = {T, n}, .n = H * T * n};
    if (heads)
        out = (struct attn_array){.ndim = 3, .shape = {H, T, n}, .n = H * T * n};
    out.data = calloc(out.n + 1, sizeof *out.data);
    ck_assert_ptr_nonnull(out.data);
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < T; t++)
            for (size_t j = 0; j < n; j++)
                out.data[(h * T + t) * n + j] = (float)a->x[(h * (T + skip) + skip + t) * width + left + j];
    return out;
}

struct attn_dump *port_dump(const struct port *p)
{
    struct attn_err err = {0};
    struct attn_dump *d = calloc(1, sizeof *d);
    ck_assert_ptr_nonnull(d);
    for (size_t i = 0; i < p->n; i++) {
        const struct attn_dumped what = {.of = array_of(p, &p->act[i])};
        ck_assert_msg(!attn_dump_add(d, p->act[i].name, strlen(p->act[i].name), &what, &err), "%s", err.msg);
    }
    return d;
}
