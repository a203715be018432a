/* test_names.c - the table of activations compared with the published list of names and shapes.  What has been
 * published stays; a further activation needs no line of it. */
#include "suites.h"

#include <string.h>

#include "trace/trace.h"

/* L, T, d, H, Hkv, dh, dv, m and V all differ, so that no two shapes can be confused. */
static const struct attn_info info = { .L = 12, .d = 101, .H = 4, .Hkv = 2, .dh = 13, .dv = 17, .m = 211, .V = 307,
    .output_projection = true };
static const struct attn_hook_points hooks = { .L = 12, .H = 4, .Hkv = 2 };
enum { T = 7 };

static const struct { int act; const char *name; int ndim; size_t shape[3]; } published[] = {
    { ATTN_ACT_EMBED,      "embed",                  2, { T, 101 } },
    { ATTN_ACT_POS_EMBED,  "pos_embed",              2, { T, 101 } },
    { ATTN_ACT_RESID_PRE,  "blocks.11.resid_pre",    2, { T, 101 } },
    { ATTN_ACT_NORM1,      "blocks.11.norm1",        2, { T, 101 } },
    { ATTN_ACT_Q,          "blocks.11.attn.q",       3, { 4, T, 13 } },
    { ATTN_ACT_K,          "blocks.11.attn.k",       3, { 2, T, 13 } },
    { ATTN_ACT_V,          "blocks.11.attn.v",       3, { 2, T, 17 } },
    { ATTN_ACT_DOTS,       "blocks.11.attn.dots",    3, { 4, T, T } },
    { ATTN_ACT_SCORES,     "blocks.11.attn.scores",  3, { 4, T, T } },
    { ATTN_ACT_PATTERN,    "blocks.11.attn.pattern", 3, { 4, T, T } },
    { ATTN_ACT_CONTEXT,    "blocks.11.attn.context", 2, { T, 68 } },
    { ATTN_ACT_OUT,        "blocks.11.attn.out",     2, { T, 101 } },
    { ATTN_ACT_ADDED,      "blocks.11.attn.added",   2, { T, 101 } },
    { ATTN_ACT_RESID_MID,  "blocks.11.resid_mid",    2, { T, 101 } },
    { ATTN_ACT_NORM2,      "blocks.11.norm2",        2, { T, 101 } },
    { ATTN_ACT_MLP_PRE,    "blocks.11.mlp.pre",      2, { T, 211 } },
    { ATTN_ACT_MLP_LINEAR, "blocks.11.mlp.linear",   2, { T, 211 } },
    { ATTN_ACT_MLP_POST,   "blocks.11.mlp.post",     2, { T, 211 } },
    { ATTN_ACT_MLP_OUT,    "blocks.11.mlp.out",      2, { T, 101 } },
    { ATTN_ACT_MLP_ADDED,  "blocks.11.mlp.added",    2, { T, 101 } },
    { ATTN_ACT_RESID_POST, "blocks.11.resid_post",   2, { T, 101 } },
    { ATTN_ACT_NORM_FINAL, "norm_final",             2, { T, 101 } },
    { ATTN_ACT_LOGITS,     "logits",                 2, { T, 307 } },
    { ATTN_ACT_RESULT,     "blocks.11.attn.result",  3, { 4, T, 101 } },
    { ATTN_ACT_NORMS,      "blocks.11.attn.norms",   3, { 4, T, T } },
    { ATTN_ACT_ROLLOUT,    "blocks.11.rollout",      2, { T, T } },
    { ATTN_ACT_LENS,       "blocks.11.lens",         2, { T, 307 } },
    { ATTN_ACT_MASK,       "blocks.11.attn.mask",    2, { T, T } },
    { ATTN_ACT_MASK_INF,   "blocks.11.attn.mask_inf", 2, { T, T } },
    { ATTN_ACT_DIVISORS,   "blocks.11.attn.divisors", 3, { 4, T, 1 } },
};
enum { PUBLISHED = sizeof published / sizeof published[0] };

START_TEST(every_published_name)
{
    char name[ATTN_NAME_MAX];
    int act = published[_i].act;
    bool block = !strncmp(published[_i].name, "blocks.", 7);
    ck_assert(_i == 0 || act > published[_i - 1].act);       /* in the order of the forward pass */
    attn_act_name(name, act, block ? 11 : -1);
    ck_assert_str_eq(name, published[_i].name);
    const char *dot = strrchr(name, '.');
    ck_assert_str_eq(attn_act_short(act), dot ? dot + 1 : name);
    ck_assert_str_eq(attn_act_tail(act), block ? name + strlen("blocks.11.") : name);
    ck_assert_int_eq(attn_act_per_layer(act), block);
}
END_TEST

START_TEST(every_text_selects_one)
{
    char text[ATTN_ACT_TEXT];
    attn_act_text(text, _i);
    for (int act = 0; act < ATTN_ACTS; act++)
        ck_assert_int_eq(attn_act_match(text, strlen(text), act, attn_act_per_layer(act) ? 11 : -1), act == _i);
}
END_TEST

START_TEST(every_published_shape)
{
    size_t shape[3];
    int act = published[_i].act, ndim = published[_i].ndim;
    ck_assert_int_eq(attn_act_shape(shape, &info, act, T, T), ndim);
    for (int i = 0; i < ndim; i++)
        ck_assert_uint_eq(shape[i], published[_i].shape[i]);
    ck_assert_uint_eq(attn_act_heads(&hooks, act), ndim == 3 ? shape[0] : 0);
    ck_assert_int_eq(attn_act_kv_heads(act), ndim == 3 && shape[0] == hooks.Hkv);
    ck_assert_int_eq(attn_act_square(act), shape[ndim - 1] == T);
    ck_assert_int_eq(attn_act_of_keys(act), attn_act_shape(shape, &info, act, T, 2 * T) && shape[ndim - 2] == 2 * T);
}
END_TEST

/* Without an output projection the context is the output of a block. */
START_TEST(width_after_a_bare_block)
{
    size_t shape[3];
    struct attn_info bare = info;
    bare.output_projection = false;
    ck_assert_int_eq(attn_act_shape(shape, &bare, ATTN_ACT_RESID_POST, T, T), 2);
    ck_assert_uint_eq(shape[1], info.H * info.dv);
}
END_TEST

START_TEST(the_longest_layer_fits)
{
    char name[ATTN_NAME_MAX];
    attn_act_name(name, ATTN_ACT_PATTERN, 2147483647);
    ck_assert_str_eq(name, "blocks.2147483647.attn.pattern");
}
END_TEST

static const struct { const char *glob, *name; bool fits; } globs[] = {
    { "pattern", "pattern", true },     { "pattern", "patterns", false },  { "pattern", "patter", false },
    { "", "", true },                   { "", "a", false },                { "*", "", true },
    { "*", "anything.at.all", true },   { "?", "q", true },                { "?", "", false },
    { "?", "qk", false },               { "norm?", "norm1", true },        { "norm?", "norm_final", false },
    { "*x", "x", true },                { "*x", "xxy", false },            { "*ab", "aab", true },
    { "a*b*c", "a-b-b-c", true },       { "a*b*c", "a-c-b", false },       { "**", "a", true },
    { "blocks.1*", "blocks.10.q", true },   { "[a]", "a", false },         { "[a]", "[a]", true },
    { "a**", "a", true },               { "*a*", "bbb", false },
};

START_TEST(globs_fit)
{
    ck_assert_int_eq(attn_glob(globs[_i].glob, strlen(globs[_i].glob), globs[_i].name), globs[_i].fits);
}
END_TEST

START_TEST(a_glob_ends_where_its_length_says)
{
    ck_assert(attn_glob("pattern,context", strlen("pattern"), "pattern"));
    ck_assert(!attn_glob("*x", 1 + 1, "xy"));
    ck_assert(attn_glob("*x", 1, "xy"));
}
END_TEST

static const struct { const char *glob; int act, layer; bool fits; } matches[] = {
    { "blocks.3.attn.pattern", ATTN_ACT_PATTERN, 3, true },     { "blocks.3.attn.pattern", ATTN_ACT_PATTERN, 4, false },
    { "attn.pattern", ATTN_ACT_PATTERN, 3, true },              { "pattern", ATTN_ACT_PATTERN, 3, true },
    { "tern", ATTN_ACT_PATTERN, 3, false },                     { "embed", ATTN_ACT_POS_EMBED, -1, false },
    { "out", ATTN_ACT_OUT, 0, true },                           { "out", ATTN_ACT_MLP_OUT, 0, true },
    { "mlp.out", ATTN_ACT_OUT, 0, false },                      { "mlp.*", ATTN_ACT_MLP_OUT, 0, true },
    { "blocks.*", ATTN_ACT_LOGITS, -1, false },                 { "resid_*", ATTN_ACT_RESID_MID, 1, true },
};

START_TEST(activations_match)
{
    const char *glob = matches[_i].glob;
    ck_assert_int_eq(attn_act_match(glob, strlen(glob), matches[_i].act, matches[_i].layer), matches[_i].fits);
}
END_TEST

static const char *activation_of(int i) { return attn_act_tail((enum attn_act)i); }
static const char *published_of(int i) { return activation_of(published[i].act); }

Suite *suite_names(void)
{
    Suite *s = suite_create("names");
    TCase *t = tcase_create("names");
    attn_test_add_rows(t, every_published_name, PUBLISHED, published_of);
    attn_test_add_rows(t, every_text_selects_one, ATTN_ACTS, activation_of);
    attn_test_add_rows(t, every_published_shape, PUBLISHED, published_of);
    tcase_add_test(t, width_after_a_bare_block);
    tcase_add_test(t, the_longest_layer_fits);
    tcase_add_loop_test(t, globs_fit, 0, (int)(sizeof globs / sizeof globs[0]));
    tcase_add_test(t, a_glob_ends_where_its_length_says);
    tcase_add_loop_test(t, activations_match, 0, (int)(sizeof matches / sizeof matches[0]));
    suite_add_tcase(s, t);
    return s;
}
