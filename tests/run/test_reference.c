/* Native models of every kind against a decoder in double precision: many random configs, every activation, each of the
 * three storage types. */

#include "suites.h"

#include "derive.h"
#include "drawn.h"
#include "scratch.h"

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

static void check(const struct ref_config *c, const char *dtype, int T)
{
    drawn_native_use(c, dtype, T, 0, alone);
}

START_TEST(random_models)
{
    static const char *const dtypes[] = {"F32", "F16", "BF16"};
    agree_seed = (unsigned)_i * 7919u + 1;
    for (int round = 0; round < 15; round++) {
        struct ref_config c = drawn_native();
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
        struct ref_config c = drawn_native();
        int T = round % 4 == 0 ? 1 : 1 + agree_pick(c.n_ctx), Tk = round % 4 == 1 ? c.n_ctx : 1 + agree_pick(c.n_ctx);
        drawn_native_use(&c, "F32", T, Tk, agree_check_cross);
    }
}
END_TEST

/* Texts are short, because each tensor takes two losses in double precision.  Layers are widened: the slopes of a norm
 * of few numbers, or of a stream that a narrow mlp has squeezed, are too inaccurate in float32. */
START_TEST(gradients_of_random_models)
{
    enum { WIDE = 8 };
    static const char *const dtypes[] = {"F32", "F16", "BF16"};
    agree_seed = (unsigned)_i * 104729u + 3;
    for (int round = 0; round < 8; round++) {
        struct ref_config c = drawn_native();
        c.unembed = true;
        c.d += WIDE, c.dv += WIDE, c.m += c.m ? WIDE : 0;
        if (!c.projection)
            c.d = c.H * c.dv;
        drawn_native_use(&c, dtypes[agree_pick(3)], 1 + agree_pick(c.n_ctx < 20 ? c.n_ctx : 20), 0, slopes);
    }
}
END_TEST

START_TEST(sizes_at_the_edge)
{
    static const struct ref_config edge[] = {
        {.V = 1, .n_ctx = 1, .L = 1, .H = 1, .Hkv = 1, .d = 1, .dh = 1, .dv = 1, .position = "none", .norm = "none",
         .mlp = "none", .causal = true, .scale = true, .eps = 1e-5, .theta = 1e4},
        {.V = 11, .n_ctx = 70, .L = 2, .H = 64, .Hkv = 64, .d = 64, .dh = 1, .dv = 1, .position = "learned",
         .norm = "layernorm",
         .mlp = "gelu", .m = 3, .causal = true, .scale = true, .residual = true, .bias = true, .unembed = true,
         .eps = 1e-5, .theta = 1e4},
        {.V = 7, .n_ctx = 200, .L = 2, .H = 64, .Hkv = 4, .d = 33, .dh = 2, .dv = 3, .position = "rope",
         .norm = "rmsnorm",
         .mlp = "swiglu", .m = 65, .causal = true, .scale = true, .residual = true, .projection = true, .unembed = true,
         .tied = true, .eps = 1e-6, .theta = 1e4},
        {.V = 300, .n_ctx = 130, .L = 1, .H = 3, .Hkv = 3, .d = 513, .dh = 65, .dv = 129, .position = "learned",
         .norm = "layernorm",
         .mlp = "gelu_new", .m = 130, .scale = true, .residual = true, .projection = true, .bias = true,
         .unembed = true, .eps = 1e-5, .theta = 1e4}};
    agree_seed = 5;
    check(&edge[_i], "F32", edge[_i].n_ctx);
    check(&edge[_i], "BF16", 1);
    drawn_native_use(&edge[_i], "F32", 1, edge[_i].n_ctx, agree_check_cross);
    drawn_native_use(&edge[_i], "F32", edge[_i].n_ctx, 1, agree_check_cross);
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
