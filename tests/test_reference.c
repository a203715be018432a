/* Native models of every kind against a decoder in double precision: many random configs, every activation, all three storage
 * types. */

#include "suites.h"

#include "agree.h"
#include "derive.h"
#include "made.h"
#include "scratch.h"

#include "compute/vec.h"
#include "io/safetensors.h"

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

static struct ref_config random_config(void)
{
    static const char *const positions[] = {"none", "learned", "rope"}, *const norms[] = {"none", "layernorm", "rmsnorm"};
    static const char *const mlps[] = {"none", "gelu", "gelu_new", "swiglu"};
    struct ref_config c = {
        .V = 2 + agree_pick(90), .n_ctx = 1 + agree_pick(90), .L = 1 + agree_pick(3), .dh = 1 + agree_pick(20), .dv = 1 + agree_pick(20), .d = 1 + agree_pick(70),
        .position = positions[agree_pick(3)], .norm = norms[agree_pick(3)], .mlp = mlps[agree_pick(4)], .causal = agree_pick(3) > 0,
        .scale = agree_pick(3) > 0, .residual = agree_pick(2), .projection = agree_pick(3) > 0, .bias = agree_pick(2), .tied = agree_pick(2),
        .unembed = agree_pick(2), .eps = agree_pick(2) ? 1e-5 : 1e-6, .theta = agree_pick(2) ? 10000 : 500000};
    c.H = heads_for(&c.Hkv);
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
        "{\"model_type\": \"attn-decoder\", \"vocab_size\": %d, \"n_ctx\": %d, \"n_layer\": %d, \"n_head\": %d, \"n_kv_head\": %d, "
        "\"d_model\": %d, \"d_head\": %d, \"d_value\": %d, \"d_mlp\": %d, \"position\": \"%s\", \"norm\": \"%s\", \"norm_eps\": %g, "
        "\"mlp\": \"%s\", \"mask\": \"%s\", \"scale\": \"%s\", \"residual\": %s, \"output_projection\": %s, \"bias\": %s, "
        "\"tied\": %s, \"unembed\": %s, \"rope_theta\": %g}",
        c->V, c->n_ctx, c->L, c->H, c->Hkv, c->d, c->dh, c->dv, c->m, c->position, c->norm, c->eps, c->mlp,
        c->causal ? "causal" : "none", c->scale ? "sqrt" : "none", YES(c->residual), YES(c->projection), YES(c->bias),
        YES(c->tied), YES(c->unembed), c->theta), 0);
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

/* ---- the comparison ---- */

/* Tk: number of keys of the other text, if there is one. */
typedef void held(const struct agree *a, int T, int Tk);

static void alone(const struct agree *a, int T, int Tk)
{
    (void)Tk;
    agree_check(a, T);
}

static void slopes(const struct agree *a, int T, int Tk)
{
    (void)Tk;
    derive_check(a, T);
}

static void check_by(held *by, const struct ref_config *c, const char *dtype, int T, int Tk)
{
    char *text = config_text(c);
    const char *dir = made_model(text, (uint64_t)agree_seed, dtype);
    struct weights w;
    open_weights(&w);
    const struct agree a = {.dir = dir, .config = c, .weight = weight_of, .weights = &w, .about = text};
    by(&a, T, Tk);
    close_weights(&w);
    free(text);
}

static void check(const struct ref_config *c, const char *dtype, int T)
{
    check_by(alone, c, dtype, T, 0);
}

START_TEST(random_models)
{
    static const char *const dtypes[] = {"F32", "F16", "BF16"};
    agree_seed = (unsigned)_i * 7919u + 1;
    for (int round = 0; round < 15; round++) {
        struct ref_config c = random_config();
        int T = round % 5 == 0 ? 1 : round % 5 == 1 ? c.n_ctx : 1 + agree_pick(c.n_ctx);
        check(&c, dtypes[agree_pick(3)], T);
    }
}
END_TEST

/* Cases: a single query; the maximal number of keys; more queries than keys or fewer, over several bands of rows. */
START_TEST(random_models_that_look_at_another_text)
{
    agree_seed = (unsigned)_i * 104729u + 5;
    for (int round = 0; round < 12; round++) {
        struct ref_config c = random_config();
        int T = round % 4 == 0 ? 1 : 1 + agree_pick(c.n_ctx), Tk = round % 4 == 1 ? c.n_ctx : 1 + agree_pick(c.n_ctx);
        check_by(agree_check_cross, &c, "F32", T, Tk);
    }
}
END_TEST

/* Texts are short, because each tensor takes two losses in double precision.  Layers are widened: the slopes of a norm of few
 * numbers, or of a stream that a narrow mlp has squeezed, are too inaccurate in float32. */
START_TEST(gradients_of_random_models)
{
    enum { WIDE = 8 };
    static const char *const dtypes[] = {"F32", "F16", "BF16"};
    agree_seed = (unsigned)_i * 104729u + 3;
    for (int round = 0; round < 8; round++) {
        struct ref_config c = random_config();
        c.unembed = true;
        c.d += WIDE, c.dv += WIDE, c.m += c.m ? WIDE : 0;
        if (!c.projection)
            c.d = c.H * c.dv;
        check_by(slopes, &c, dtypes[agree_pick(3)], 1 + agree_pick(c.n_ctx < 20 ? c.n_ctx : 20), 0);
    }
}
END_TEST

START_TEST(sizes_at_the_edge)
{
    static const struct ref_config edge[] = {
        {.V = 1, .n_ctx = 1, .L = 1, .H = 1, .Hkv = 1, .d = 1, .dh = 1, .dv = 1, .position = "none", .norm = "none", .mlp = "none",
         .causal = true, .scale = true, .eps = 1e-5, .theta = 1e4},
        {.V = 11, .n_ctx = 70, .L = 2, .H = 64, .Hkv = 64, .d = 64, .dh = 1, .dv = 1, .position = "learned", .norm = "layernorm",
         .mlp = "gelu", .m = 3, .causal = true, .scale = true, .residual = true, .bias = true, .unembed = true, .eps = 1e-5, .theta = 1e4},
        {.V = 7, .n_ctx = 200, .L = 2, .H = 64, .Hkv = 4, .d = 33, .dh = 2, .dv = 3, .position = "rope", .norm = "rmsnorm",
         .mlp = "swiglu", .m = 65, .causal = true, .scale = true, .residual = true, .projection = true, .unembed = true, .tied = true,
         .eps = 1e-6, .theta = 1e4},
        {.V = 300, .n_ctx = 130, .L = 1, .H = 3, .Hkv = 3, .d = 513, .dh = 65, .dv = 129, .position = "learned", .norm = "layernorm",
         .mlp = "gelu_new", .m = 130, .scale = true, .residual = true, .projection = true, .bias = true, .unembed = true, .eps = 1e-5,
         .theta = 1e4}};
    agree_seed = 5;
    check(&edge[_i], "F32", edge[_i].n_ctx);
    check(&edge[_i], "BF16", 1);
    check_by(agree_check_cross, &edge[_i], "F32", 1, edge[_i].n_ctx);
    check_by(agree_check_cross, &edge[_i], "F32", edge[_i].n_ctx, 1);
}
END_TEST

Suite *suite_reference(void)
{
    Suite *s = suite_create("reference");
    TCase *c = tcase_create("reference");
    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_loop_test(c, random_models, 0, 12);
    tcase_add_loop_test(c, gradients_of_random_models, 0, 8);
    tcase_add_loop_test(c, random_models_that_look_at_another_text, 0, 6);
    tcase_add_loop_test(c, sizes_at_the_edge, 0, 4);
    suite_add_tcase(s, c);
    return s;
}
