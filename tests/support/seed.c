#include "seed.h"
#include "alone.h"

#include "scratch.h"

#include "compute/gemm.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

float *seed_zeros(size_t n)
{
    float *x = calloc(n + 1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

static size_t rows_of(const cJSON *matrix)
{
    return (size_t)cJSON_GetArraySize(matrix);
}

static size_t cols_of(const cJSON *matrix)
{
    return (size_t)cJSON_GetArraySize(cJSON_GetArrayItem(matrix, 0));
}

/* y[rows(x), n] = x w + b; without w a copy of x. */
static void project(float *y, const cJSON *x, const cJSON *w, const cJSON *b)
{
    size_t n, unused;
    float *input = golden_floats(x, &n);
    if (!w) {
        memcpy(y, input, n * sizeof *y);
        free(input);
        return;
    }
    float *weight = golden_floats(w, &unused), *bias = b ? golden_floats(b, &unused) : NULL;
    struct attn_mat m = {.data = weight, .in = rows_of(w), .out = cols_of(w), .ld = cols_of(w), .bias = {.data = bias}};
    attn_gemm(alone(), y, m.out, input, m.in, rows_of(x), &m, ATTN_STORE, NULL);
    free(input);
    free(weight);
    free(bias);
}

/* Loads what head h uses as "query", "key" or "value": given as such, or projected from the inputs. */
static void load(float *y, const struct seed *e, const char *given, const char *what, size_t h)
{
    char weight[16], bias[16];
    const cJSON *x = golden_find(e->doc, given);
    snprintf(weight, sizeof weight, "W_%s", what);
    snprintf(bias, sizeof bias, "b_%s", what);
    if (x) {
        project(y, x, NULL, NULL);
        return;
    }
    const cJSON *head = cJSON_GetArrayItem(golden_get(golden_get(e->doc, "weights"), "heads"), (int)h);
    const cJSON *other = golden_find(e->doc, "context_inputs");
    x = other && strcmp(what, "query") != 0 ? other : golden_get(e->doc, "inputs");
    project(y, x, golden_find(head, weight), golden_find(head, bias));
}

static void read_mask(struct seed *e, const cJSON *mask)
{
    size_t n;
    float *m = golden_floats(mask, &n);
    ck_assert_uint_eq(n, e->Tq * e->Tk);
    e->mask = malloc(n);
    ck_assert_ptr_nonnull(e->mask);
    for (size_t i = 0; i < n; i++)
        e->mask[i] = m[i] != 0;
    free(m);
    e->a.kind.form = ATTN_MASKED;
    e->a.mask = e->mask;
}

static void read_sizes(struct seed *e)
{
    const cJSON *o = golden_get(e->doc, "options"), *inputs = golden_find(e->doc, "inputs");
    const cJSON *keys = golden_find(e->doc, "context_inputs");
    size_t dh = (size_t)golden_number(o, "d_k"), H = (size_t)golden_number(o, "n_head");
    e->Tq = rows_of(inputs ? inputs : golden_get(e->doc, "q"));
    e->Tk = keys ? rows_of(keys) : inputs ? e->Tq : rows_of(golden_get(e->doc, "k"));
    e->a = (struct attn_attention){
        .batch = 1, .H = H, .Hkv = H, .Tq = e->Tq, .Tk = e->Tk, .dh = dh, .dv = (size_t)golden_number(o, "d_v"),
        .scale = cJSON_IsTrue(golden_get(o, "scale")) ? (float)(1 / sqrt((double)dh)) : 1,
        .kind = {.form = cJSON_IsTrue(golden_get(o, "causal")) ? ATTN_CAUSAL : ATTN_FULL}, .threads = 1,
    };
    if (golden_find(o, "mask"))
        read_mask(e, golden_find(o, "mask"));
}

/* Puts the heads of the context [H, T, dv] side by side and applies the output projection. */
static void join_heads(struct seed *e)
{
    size_t dv = e->a.dv, H = e->a.H;
    const cJSON *w = golden_find(e->doc, "weights"), *o = w ? golden_find(w, "W_O") : NULL;
    e->joined = seed_zeros(e->Tq * H * dv);
    for (size_t h = 0; h < H; h++)
        for (size_t t = 0; t < e->Tq; t++)
            memcpy(e->joined + (t * H + h) * dv, e->context + (h * e->Tq + t) * dv, dv * sizeof(float));
    if (!o)
        return;
    size_t unused;
    float *weight = golden_floats(o, &unused),
        *bias = golden_find(w, "b_O") ? golden_floats(golden_find(w, "b_O"), &unused) : NULL;
    struct attn_mat m = {.data = weight, .in = H * dv, .out = cols_of(o), .ld = cols_of(o), .bias = {.data = bias}};
    e->output = seed_zeros(e->Tq * m.out);
    attn_gemm(alone(), e->output, m.out, e->joined, m.in, e->Tq, &m, ATTN_STORE, NULL);
    free(weight);
    free(bias);
}

void seed_attend(struct seed *e)
{
    struct attn_err err = {0};
    ck_assert_msg(attn_attention(e->context, e->q, e->k, e->v, &e->a, &err) == ATTN_OK, "%s: %s", e->name, err.msg);
}

void seed_open(struct seed *e, const char *name)
{
    *e = (struct seed){.name = name};
    e->doc = golden_read(printed("tests/golden/seeds/%s.json", name));
    read_sizes(e);
    size_t H = e->a.H, dh = e->a.dh, dv = e->a.dv, square = H * e->Tq * e->Tk;
    e->q = seed_zeros(H * e->Tq * dh), e->k = seed_zeros(H * e->Tk * dh), e->v = seed_zeros(H * e->Tk * dv);
    e->context = seed_zeros(H * e->Tq * dv);
    e->a.dots = seed_zeros(square), e->a.scores = seed_zeros(square), e->a.pattern = seed_zeros(square);
    for (size_t h = 0; h < H; h++) {
        load(e->q + h * e->Tq * dh, e, "q", "query", h);
        load(e->k + h * e->Tk * dh, e, "k", "key", h);
        load(e->v + h * e->Tk * dv, e, "v", "value", h);
    }
    seed_attend(e);
    join_heads(e);
}

void seed_close(struct seed *e)
{
    float *all[] = {e->q, e->k, e->v, e->context, e->joined, e->output, e->a.dots, e->a.scores, e->a.pattern};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(e->mask);
    cJSON_Delete(e->doc);
}
