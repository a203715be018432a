/* drawn_native.c - native models of every kind that make sense, in all three storage types. */
#include "drawn.h"

#include "attn_tools.h"
#include "made.h"
#include "scratch.h"

#include "compute/vec.h"
#include "io/safetensors.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a random model that makes sense ---- */

static int heads_for(int *kv)
{
    static const int some[][2] = {{1, 1}, {2, 1}, {2, 2}, {3, 3}, {4, 2}, {6, 3}, {5, 1}, {8, 8}};
    int i = agree_pick(8);
    *kv = some[i][1];
    return some[i][0];
}

static const char *draw_mlp(void)
{
    const char *own[32];
    int n = 0;
    for (const struct attn_mlp_row *m = NULL; (m = attn_mlp_next(m));)
        if (m->own)
            own[n++] = m->name;
    return own[agree_pick(n)];
}

struct ref_config drawn_native(void)
{
    static const char *const positions[] = {"none", "learned", "rope"},
        *const norms[] = {"none", "layernorm", "rmsnorm"};
    struct ref_config c = {
        .V = 2 + agree_pick(90), .n_ctx = 1 + agree_pick(90), .L = 1 + agree_pick(3), .dh = 1 + agree_pick(20),
        .dv = 1 + agree_pick(20), .d = 1 + agree_pick(70),
        .position = positions[agree_pick(3)], .norm = norms[agree_pick(3)], .mlp = draw_mlp(),
        .causal = agree_pick(3) > 0,
        .scale = agree_pick(3) > 0, .residual = agree_pick(2), .projection = agree_pick(3) > 0, .bias = agree_pick(2),
        .tied = agree_pick(2),
        .unembed = agree_pick(2), .eps = agree_pick(2) ? 1e-5 : 1e-6, .theta = agree_pick(2) ? 10000 : 500000};
    c.H = heads_for(&c.Hkv);
    c.norm_embed = strcmp(c.norm, "none") && agree_pick(3) == 0;
    c.plain = agree_pick(4) == 0, c.no_final = agree_pick(4) == 0;
    c.m = strcmp(c.mlp, "none") ? 1 + agree_pick(100) : 0;
    if (strcmp(c.position, "rope") == 0)
        c.dh += c.dh % 2;
    bool needs_width = c.residual || c.L > 1 || c.m || c.unembed;
    if (!c.projection && needs_width)
        c.d = c.H * c.dv;
    return c;
}

static char *config_text(const struct ref_config *c)
{
    char *text = NULL;
#define YES(x) ((x) ? "true" : "false")
    ck_assert_int_ge(asprintf(&text,
        "{\"model_type\": \"attn-decoder\", \"vocab_size\": %d, \"n_ctx\": %d, \"n_layer\": %d, \"n_head\": %d, "
        "\"n_kv_head\": %d, \"d_model\": %d, \"d_head\": %d, \"d_value\": %d, \"d_mlp\": %d, \"position\": \"%s\", "
        "\"norm\": \"%s\", \"norm_eps\": %g, \"mlp\": \"%s\", \"mask\": \"%s\", \"scale\": \"%s\", \"residual\": %s, "
        "\"output_projection\": %s, \"bias\": %s, \"tied\": %s, \"unembed\": %s, \"rope_theta\": %g, \"norm_weight\": "
        "%s, \"norm_embed\": %s, \"final_norm\": %s}",
        c->V, c->n_ctx, c->L, c->H, c->Hkv, c->d, c->dh, c->dv, c->m, c->position, c->norm, c->eps, c->mlp,
        c->causal ? "causal" : "none", c->scale ? "sqrt" : "none", YES(c->residual), YES(c->projection), YES(c->bias),
        YES(c->tied), YES(c->unembed), c->theta, YES(!c->plain), YES(c->norm_embed), YES(!c->no_final)), 0);
#undef YES
    return text;
}

/* ---- its weights, widened ---- */

struct weights { struct made_weights file; double **wide; };

static void open_weights(struct weights *w)
{
    w->file = made_read(made_path("model.safetensors"));
    w->wide = calloc(attn_st_count(w->file.st), sizeof *w->wide);
    for (size_t i = 0; i < attn_st_count(w->file.st); i++) {
        const struct attn_st_tensor *t = attn_st_at(w->file.st, i);
        enum attn_dtype type = !strcmp(t->dtype, "F32") ? ATTN_F32 : !strcmp(t->dtype, "F16") ? ATTN_F16 : ATTN_BF16;
        float *one = malloc(t->count * sizeof *one + 1);
        w->wide[i] = malloc(t->count * sizeof **w->wide + 1);
        attn_vec_widen(one, t->data, type, 0, t->count);
        for (size_t k = 0; k < t->count; k++)
            w->wide[i][k] = one[k];
        free(one);
    }
}

static void close_weights(struct weights *w)
{
    for (size_t i = 0; i < attn_st_count(w->file.st); i++)
        free(w->wide[i]);
    free(w->wide);
    made_close(&w->file);
}

static const double *weight_of(void *ctx, const char *name)
{
    const struct weights *w = ctx;
    for (size_t i = 0; i < attn_st_count(w->file.st); i++)
        if (strcmp(attn_st_at(w->file.st, i)->name, name) == 0)
            return w->wide[i];
    return NULL;
}

/* ---- one of them ---- */

void drawn_native_use(const struct ref_config *c, const char *dtype, int T, int Tk,
                      void (*use)(const struct agree *a, int T, int Tk))
{
    char *text = config_text(c);
    const char *dir = made_model(text, (uint64_t)agree_seed, dtype);
    struct weights w;
    open_weights(&w);
    const struct agree a = {.dir = dir, .config = c, .weight = weight_of, .weights = &w, .about = text};
    use(&a, T, Tk);
    close_weights(&w);
    free(text);
}
