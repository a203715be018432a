/* The recipe language of init: what it can express, and its error messages. */
#include "suites.h"
#include "attn_tools.h"

#include "base/rng.h"
#include "golden.h"
#include "made.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Expects two recipes to make the same bytes. */
static void check_equivalent(const char *config, const char *a, const char *b, uint64_t seed)
{
    struct attn_init_opts o = {.config = config, .config_len = strlen(config), .draw = a, .seed = seed};
    size_t na, nb;
    made_init(&o);
    char *one = golden_text(made_path("model.safetensors"), &na);
    o.draw = b;
    made_init(&o);
    char *two = golden_text(made_path("model.safetensors"), &nb);
    ck_assert_msg(na == nb && memcmp(one, two, na) == 0, "'%s' is not '%s'", a ? a : "(default)", b);
    free(one);
    free(two);
}

START_TEST(default_is_torch_order)
{
    const char *config =
        "{\"model_type\": \"attn-decoder\", \"vocab_size\": 5, \"n_ctx\": 8, \"n_layer\": 2, \"n_head\": 2, "
        "\"n_kv_head\": 1, \"d_model\": 6, \"d_head\": 2, \"d_value\": 3, \"d_mlp\": 7, \"position\": \"learned\", "
        "\"norm\": \"layernorm\", \"mlp\": \"swiglu\", \"bias\": true, \"output_projection\": true, \"residual\": "
        "true, \"unembed\": true, \"tied\": false, \"tokenizer\": {\"type\": \"word\"}}";
    char draw[2048] = "seed:9 embed:randn pos_embed:randn norm1:ones norm2:ones norm1.bias:zeros";
    for (int i = 0; i < 2; i++) {
        static const char *const order[] = {"attn.q", "attn.k", "attn.v", "attn.o", "mlp.gate", "mlp.in", "mlp.out"};
        for (size_t j = 0; j < sizeof order / sizeof *order; j++)
            snprintf(draw + strlen(draw), sizeof draw - strlen(draw), "\nblocks.%d.%s.weight:linear", i, order[j]);
    }
    strcat(draw, " norm_final:ones;unembed:linear");
    check_equivalent(config, NULL, draw, 9);
}
END_TEST

START_TEST(equivalent_recipes)
{
    static const struct { const char *a, *b; } same[] = {
        {"seed:5 embed:randn q:rand k:rand v:rand",
         "seed:5 embed:normal(0,1) q:uniform(0,1) k:uniform(0,1) v:uniform(0,1)"},
        {"seed:5 embed:rand q:rand k:rand v:rand", "seed:5 skip:18 q:rand k:rand v:rand seed:5 embed:rand"},
        {"seed:5 embed:rand q:rand k:rand v:rand", "seed:1 q:randn; seed:5 ; embed:rand q:rand k:rand v:rand"},
        {"seed:5 heads(q:rand,v:rand) k:ones embed:zeros", "seed:5 embed:zeros k:ones q:rand v:rand"},
        {"seed:5 embed:rand/7 q:ones k:ones v:ones", "seed:5 embed:rand q:ones k:ones v:ones"},
        {"seed:5 q:linear k:linear v:linear embed:ones", "seed:5 heads(q:linear,k:linear,v:linear) embed:ones"},
    };
    char text[MADE_CONFIG];
    check_equivalent(made_options(text, &made_small, NULL).config, same[_i].a, same[_i].b, 0);
}
END_TEST

/* randn of 18 numbers is not the first 18 of 21, because the end of a tensor is drawn differently (torch-rng.md,
 * section 4): here 7 rows are drawn for a table of 6. */
START_TEST(rows_change_normals)
{
    char text[MADE_CONFIG];
    struct attn_init_opts o = made_options(text, &made_small, "embed:randn/7 q:ones k:ones v:ones");
    struct attn_rng rng = {.scalar = true};
    float want[21];
    o.seed = 11;
    o.scalar = true;
    attn_rng_seed(&rng, 11);
    attn_rng_normal(&rng, want, 21, 0, 1);
    made_init(&o);
    struct made_weights w = made_read(made_path("model.safetensors"));
    ck_assert_mem_eq(made_find(&w, "embed.weight")->data, want, 18 * sizeof *want);
    made_close(&w);
}
END_TEST

static const struct { const char *draw, *expect; } wrong[] = {
    {"", "no step draws 4 of the model's weights: embed.weight, blocks.0.attn.q.weight"},
    {"embed:rand q:rand k:rand", "no step draws 1 of the model's weights: blocks.0.attn.v.weight"},
    {"embed:rand qq:rand", "column 12, 'qq:rand': no tensor 'qq' in this model, which has embed, q, k, v"},
    {"o:rand", "no tensor 'o'"},
    {"embed.bias:rand", "no tensor 'embed.bias'"},
    {"blocks.1.attn.q.weight:rand", "no tensor 'blocks.1.attn.q.weight'"},
    {"embed", "expected NAME:DIST, seed:N, skip:N or heads(...)"},
    {"seed:", "expected a whole number, found ''"},
    {"seed:-1", "expected a whole number, found '-1'"},
    {"skip:1e9", "expected a whole number, found '1e9'"},
    {"skip:68719476737", "expected at most 68719476736"},
    {"embed:gauss", "expected rand, randn, uniform(A,B)"},
    {"embed:rand(1)", "expected nothing after 'rand', found '(1)'"},
    {"embed:uniform", "expected two numbers, (FROM,TO) after 'uniform', found ''"},
    {"embed:uniform(1)", "expected two numbers"},
    {"embed:uniform(1,2", "expected two numbers"},
    {"embed:uniform(1,2,3)", "expected two numbers"},
    {"embed:normal(0,nan)", "expected two numbers, (MEAN,STD)"},
    {"embed:rand/", "expected a number of rows after '/', found ''"},
    {"embed:rand/0", "expected at least 1 row"},
    {"embed:rand/5", "cannot keep 6 rows of 5"},
    {"embed:ones/7", "'ones' cannot have /ROWS"},
    {"embed:rand/18446744073709551615", "no memory for 18446744073709551615 rows of 3"},
    {"embed:linear", "linear draws matrices; embed.weight is none"},
    {"heads(o:rand)", "expected up to three of q, k and v, found 'o'"},
    {"heads(q:rand,k:rand,v:rand,q:rand)", "expected up to three of q, k and v"},
    {"heads(q)", "expected rand"},
    {"heads()", "expected up to three of q, k and v, found ''"},
    {"embed:file()", "expected (PATH) after 'file'"},
    {"embed:file(/nowhere/x.csv)", "/nowhere/x.csv"},
    {"q:file(data/journey-inputs.csv)", "data/journey-inputs.csv: line 1: expected 2 numbers, found more"},
    {"v:file(data/journey-inputs.csv)", "data/journey-inputs.csv: line 1: expected 4 numbers, found fewer"},
    {"embed:file(data/life.txt)", "data/life.txt: line 1: expected a finite number, found 'Life'"},
};

START_TEST(wrong_recipes)
{
    char text[MADE_CONFIG];
    struct attn_init_opts o = made_options(text, &made_small, wrong[_i].draw);
    struct attn_err err = {0};
    ck_assert_int_ne(attn_init(made_path(""), &o, &err), ATTN_OK);
    ck_assert_msg(strstr(err.msg, wrong[_i].expect) != NULL, "'%s' does not say '%s'", err.msg, wrong[_i].expect);
    ck_assert_msg(scratch_count() == 0, "a failed init left a file");
}
END_TEST

/* As many names as fit; the end says whether these are all. */
START_TEST(what_is_not_drawn_is_listed)
{
    char text[MADE_CONFIG];
    struct attn_err err = {0};
    struct made_sizes deep = made_small;
    struct attn_init_opts o = made_options(text, &made_small, "k:rand v:rand");
    ck_assert_int_eq(attn_init(made_path(""), &o, &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "draw: no step draws 2 of the model's weights: embed.weight, blocks.0.attn.q.weight");
    deep.L = 9;
    deep.dv = deep.d / deep.H;
    o = made_options(text, &deep, "embed:rand q:rand k:rand");
    ck_assert_int_eq(attn_init(made_path(""), &o, &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg,
                     "draw: no step draws 9 of the model's weights: blocks.0.attn.v.weight, blocks.1.attn.v.weight, "
                     "blocks.2.attn.v.weight, blocks.3.attn.v.weight, blocks.4.attn.v.weight, blocks.5.attn.v.weight, "
                     "blocks.6.attn.v.weight, ...");
}
END_TEST

/* Numbers from a file get to their places; too many or too few of them are refused. */
START_TEST(numbers_from_a_file)
{
    static const struct { const char *csv, *expect; } list[] = {
        {" 1, 2.5\r\n\n-3e-1,4\n5,6 \n", NULL},
        {"1,2\n3,4\n", "expected 3 rows of numbers, found 2"},
        {"1,2\n3,4\n5,6\n7", "line 4: expected the end after 3 rows, found more"},
        {"1,2\n3,,4\n5,6\n", "line 2: expected a finite number, found ''"},
        {"1,2\n3,1e39\n5,6\n", "line 2: expected a finite number, found '1e39'"},
        {"1,2\n3,inf\n5,6\n", "found 'inf'"},
        {"1 2\n3 4\n5 6\n", "line 1: expected 2 numbers, found fewer"},
    };
    static const float want[] = {1, 2.5f, -0.3f, 4, 5, 6};
    char text[MADE_CONFIG];
    const char *csv = scratch_path("q.csv");
    scratch_put(csv, list[_i].csv, strlen(list[_i].csv));
    struct attn_init_opts o = made_options(text, &made_small, printed("embed:ones k:ones v:ones q:file(%s)", csv));
    struct attn_err err = {0};
    int rc = attn_init(made_path(""), &o, &err);
    ck_assert_msg((rc == ATTN_OK) == !list[_i].expect, "%s", err.msg);
    if (list[_i].expect) {
        ck_assert_msg(strstr(err.msg, list[_i].expect) != NULL, "'%s' does not say '%s'", err.msg, list[_i].expect);
        return;
    }
    struct made_weights w = made_read(made_path("model.safetensors"));
    ck_assert_mem_eq(made_find(&w, "blocks.0.attn.q.weight")->data, want, sizeof want);
    made_close(&w);
}
END_TEST

Suite *suite_recipe(void)
{
    Suite *s = suite_create("recipe");
    TCase *t = tcase_create("recipe");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, default_is_torch_order);
    tcase_add_loop_test(t, equivalent_recipes, 0, 6);
    tcase_add_test(t, rows_change_normals);
    tcase_add_test(t, what_is_not_drawn_is_listed);
    tcase_add_loop_test(t, wrong_recipes, 0, sizeof wrong / sizeof *wrong);
    tcase_add_loop_test(t, numbers_from_a_file, 0, 7);
    suite_add_tcase(s, t);
    return s;
}
