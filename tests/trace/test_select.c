/* test_select.c - --show, --layer and --head for two small models. */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "trace/select.h"
#include "trace/trace.h"

/* The activations of two models: a GPT-2 has all of them; the articles' model has no norms, positions, output
 * projection, MLP or output layer. */
static struct attn_hook_points gpt(void)
{
    struct attn_hook_points s = { .L = 3, .H = 4, .Hkv = 2, .turned = true };
    for (int act = 0; act < ATTN_ACTS; act++)
        s.has[act] = act != ATTN_ACT_MLP_LINEAR && act != ATTN_ACT_ADDED && act != ATTN_ACT_MLP_ADDED;
    return s;
}

static struct attn_hook_points article(void)
{
    struct attn_hook_points s = { .L = 1, .H = 1, .Hkv = 1 };
    static const int has[] = { ATTN_ACT_EMBED, ATTN_ACT_RESID_PRE, ATTN_ACT_Q, ATTN_ACT_K, ATTN_ACT_V, ATTN_ACT_DOTS,
                               ATTN_ACT_SCORES, ATTN_ACT_PATTERN, ATTN_ACT_CONTEXT, ATTN_ACT_RESID_POST };
    for (size_t i = 0; i < sizeof has / sizeof has[0]; i++)
        s.has[has[i]] = true;
    return s;
}

/* Lists the wanted activations in order, "tokens" first, with heads as in "[0,2]". */
static void describe(char *out, size_t size, const struct attn_select *s)
{
    snprintf(out, size, "%s", attn_select_tokens(s) ? "tokens " : "");
    for (int layer = -1; layer < 3; layer++)
        for (int act = 0; act < ATTN_ACTS; act++) {
            char name[ATTN_NAME_MAX];
            size_t n;
            if (!attn_select_wants(s, act, layer))
                continue;
            attn_act_name(name, act, layer);
            strncat(out, name, size - strlen(out) - 1);
            const size_t *heads = attn_select_heads(s, act, layer, &n);
            for (size_t i = 0; i < n; i++)
                snprintf(out + strlen(out), size - strlen(out),
                         "%s%zu%s", i ? "," : "[", heads[i], i + 1 < n ? "" : "]");
            strncat(out, " ", size - strlen(out) - 1);
        }
    if (*out)
        out[strlen(out) - 1] = '\0';
}

static const struct { const char *show, *layers, *heads, *want; } good[] = {
    { NULL, "1", "0", "blocks.1.attn.pattern[0] blocks.1.attn.context" },
    { "pattern", NULL, "3", "blocks.0.attn.pattern[3] blocks.1.attn.pattern[3] blocks.2.attn.pattern[3]" },
    { "blocks.2.attn.scores", NULL, NULL, "blocks.2.attn.scores[0,1,2,3]" },
    { "attn.out", "0-1", NULL, "blocks.0.attn.out blocks.1.attn.out" },
    { "mlp.out", "0,2", NULL, "blocks.0.mlp.out blocks.2.mlp.out" },
    { "*.out", "0", NULL, "blocks.0.attn.out blocks.0.mlp.out" },
    { "tokens", NULL, NULL, "tokens" },
    { "tokens,logits", "1", "1", "tokens logits" },
    { " embed , logits ", NULL, NULL, "embed logits" },
    { "embed,embed,emb*", NULL, NULL, "embed" },
    { "norm?", "2", NULL, "blocks.2.norm1 blocks.2.norm2" },
    { "blocks.*.attn.*", "1", "2", "blocks.1.attn.q[2] blocks.1.attn.k[1] blocks.1.attn.v[1] blocks.1.attn.dots[2] "
      "blocks.1.attn.scores[2] blocks.1.attn.pattern[2] blocks.1.attn.context blocks.1.attn.out" },
    { "k,q", "0", "0,1", "blocks.0.attn.q[0,1] blocks.0.attn.k[0]" },
    { "v", "0", "3,1", "blocks.0.attn.v[0,1]" },
    { "q", "0", " 3 , 0-1,1 ", "blocks.0.attn.q[0,1,3]" },
    { "blocks.0.norm1,blocks.1.norm1,logits", "1", NULL, "logits blocks.1.norm1" },
    { "q", "2-2", "00", "blocks.2.attn.q[0]" },
    { "q", "-1", "-2", "blocks.2.attn.q[2]" },
    { "q", "last,0", "last", "blocks.0.attn.q[3] blocks.2.attn.q[3]" },
    { "q", "all", "-1,-4", "blocks.0.attn.q[0,3] blocks.1.attn.q[0,3] blocks.2.attn.q[0,3]" },
    { "q", NULL, "L1H2", "blocks.1.attn.q[2]" },
    { "q,logits", NULL, " L-1H1,3 ", "logits blocks.2.attn.q[1,3]" },
    { "q", "1-2", "L2H*", "blocks.2.attn.q[0,1,2,3]" },
    { "L1H2", NULL, NULL, "blocks.1.attn.pattern[2]" },
    { "L1", NULL, NULL, "blocks.1.attn.pattern[0,1,2,3] blocks.1.attn.context" },
    { "L0,2H1,3.q,L-1.mlp.out", NULL, NULL, "blocks.0.attn.q[1,3] blocks.2.attn.q[1,3] blocks.2.mlp.out" },
    { "L0H0.q,L0H2.q", NULL, NULL, "blocks.0.attn.q[0,2]" },
    { "L0H0.q,q", "0-1", NULL, "blocks.0.attn.q[0,1,2,3] blocks.1.attn.q[0,1,2,3]" },
    { "q,L0H0.q", "0", NULL, "blocks.0.attn.q[0,1,2,3]" },
    { "L2H3.attn.*", NULL, NULL, "blocks.2.attn.q[3] blocks.2.attn.k[1] blocks.2.attn.v[1] blocks.2.attn.dots[3] "
      "blocks.2.attn.scores[3] blocks.2.attn.pattern[3]" },
    { "L0-1H0.k", NULL, NULL, "blocks.0.attn.k[0] blocks.1.attn.k[0]" },
    { "hook_pattern", "0", "1", "blocks.0.attn.pattern[1]" },
    { "blocks.1.attn.hook_z,blocks.*.hook_mlp_out", NULL, NULL,
      "blocks.0.mlp.out blocks.1.attn.context blocks.1.mlp.out blocks.2.mlp.out" },
    { "L1.hook_attn_out,hook_embed,hook_rot_q", "1", "0", "embed blocks.1.attn.q[0] blocks.1.attn.out" },
    { "model.layers.2.self_attn.o_proj,transformer.h.0.ln_2,lm_head", NULL, NULL,
      "logits blocks.0.norm2 blocks.2.attn.out" },
    { "model.layers.*.mlp", "0", NULL, "blocks.0.mlp.out" },
    { "gpt_neox.layers.1", NULL, NULL, "blocks.1.resid_post" },
    { "attentions", "2", "3", "blocks.2.attn.pattern[3]" },
};

START_TEST(selects)
{
    struct attn_hook_points hooks = gpt();
    struct attn_select *s;
    struct attn_err err = { 0 };
    char got[2048];
    ck_assert_msg(!attn_select_make(&s, &hooks, "gpt", good[_i].show, good[_i].layers, good[_i].heads, &err),
                  "%s", err.msg);
    describe(got, sizeof got, s);
    ck_assert_str_eq(got, good[_i].want);
    attn_select_free(s);
}
END_TEST

/* How many activations a model has, in all layers, and how many matrices: one for each of their heads. */
struct counted { size_t activations, matrices; };
static struct counted count(const struct attn_hook_points *hooks)
{
    struct counted all = {0, 0};
    for (int act = 0; act < ATTN_ACTS; act++) {
        const size_t heads = attn_act_heads(hooks, act), layers = attn_act_per_layer(act) ? hooks->L : 1;
        if (!hooks->has[act] || attn_act_derived(act))
            continue;
        all.activations += layers;
        all.matrices += layers * (heads ? heads : 1);
    }
    return all;
}

/* ... but what is derived, which only its own name means. */
START_TEST(a_star_is_all)
{
    struct attn_hook_points hooks = gpt();
    struct attn_select *s;
    ck_assert_int_eq(attn_select_make(&s, &hooks, "gpt", "*", NULL, NULL, NULL), 0);
    ck_assert(attn_select_tokens(s));
    for (int act = 0; act < ATTN_ACTS; act++)
        for (int layer = -1; layer < 3; layer++)
            ck_assert_int_eq(attn_select_wants(s, act, layer),
                             hooks.has[act] && !attn_act_derived(act) && attn_act_per_layer(act) == (layer >= 0));
    ck_assert(!attn_select_wants(s, ATTN_ACT_Q, 3) && !attn_select_wants(s, ATTN_ACT_Q, -2));
    const struct counted all = count(&hooks);
    ck_assert_uint_eq(attn_select_activations(s), all.activations);
    ck_assert_uint_eq(attn_select_matrices(s), all.matrices);
    attn_select_free(s);
}
END_TEST

/* A wildcard that finds nothing is a note where another item finds something, in any order, and an error by itself. */
START_TEST(a_wildcard_may_find_nothing)
{
    static const char *const shows[] = {"pattern,xyz*", "xyz*, pattern,abc*", "tokens,xyz*"};
    struct attn_hook_points hooks = gpt();
    struct attn_select *s;
    struct attn_err err = {0};
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++) {
        ck_assert_int_eq(attn_select_make(&s, &hooks, "gpt", shows[i], NULL, NULL, &err), 0);
        ck_assert_ptr_nonnull(strstr(attn_select_note(s), "nothing matches 'xyz*'"));
        ck_assert_uint_eq(attn_select_activations(s), i < 2 ? 3 : 0);
        attn_select_free(s);
    }
    ck_assert_int_eq(attn_select_make(&s, &hooks, "gpt", "pattern,xyz", NULL, NULL, &err), ATTN_EUSAGE);
    ck_assert_int_eq(attn_select_make(&s, &hooks, "gpt", "abc*,xyz*", NULL, NULL, &err), ATTN_EUSAGE);
    ck_assert_int_eq(attn_select_make(&s, &hooks, "gpt", "pattern", NULL, NULL, &err), 0);
    ck_assert_ptr_null(attn_select_note(s));
    attn_select_free(s);
}
END_TEST

START_TEST(tells_which_layers_interleave)
{
    struct attn_hook_points hooks = gpt();
    struct attn_select *s;
    ck_assert_int_eq(attn_select_make(&s, &hooks, "gpt", "pattern,blocks.1.attn.dots,q", NULL, NULL, NULL), 0);
    ck_assert(!attn_select_interleaved(s, 0));
    ck_assert(attn_select_interleaved(s, 1));
    ck_assert(!attn_select_interleaved(s, -1));
    struct attn_asked asked = attn_select_asked(s);
    ck_assert_str_eq(asked.show, "pattern,blocks.1.attn.dots,q");
    ck_assert_ptr_null(asked.layers);
    attn_select_free(s);
    attn_select_free(NULL);
}
END_TEST

static const struct { const char *show, *layers, *heads; bool article; int code; const char *says[3]; } bad[] = {
    { "out", NULL, NULL, false, ATTN_EUSAGE, { "'out' is ambiguous", "attn.out", "mlp.out" } },
    { "out", NULL, NULL, true, ATTN_EUSAGE, { "'out' is ambiguous", "attn.out", "mlp.out" } },
    { "patern", NULL, NULL, false, ATTN_EUSAGE, { "unknown activation 'patern'", "nearest: attn.pattern" } },
    { "Q", NULL, NULL, false, ATTN_EUSAGE, { "unknown activation 'Q'", "nearest: attn.q" } },
    { "PATTERN", NULL, NULL, false, ATTN_EUSAGE, { "unknown activation 'PATTERN'", "nearest: attn.pattern" } },
    { "all", NULL, NULL, false, ATTN_EUSAGE, { "unknown activation 'all'; all of them are '*'" } },
    { "embed,resid_past", NULL, NULL, false, ATTN_EUSAGE, { "'resid_past'", "nearest: resid_post" } },
    { "xyzzyplugh", NULL, NULL, false, ATTN_EUSAGE, { "'xyzzyplugh'", "tokens, embed", "logits" } },
    { "xyz*", NULL, NULL, false, ATTN_EUSAGE, { "nothing matches 'xyz*'" } },
    { "blocks.5*.q", NULL, NULL, false, ATTN_EUSAGE, { "nothing matches 'blocks.5*.q'" } },
    { "", NULL, NULL, false, ATTN_EUSAGE, { "name is missing" } },
    { "q,,k", NULL, NULL, false, ATTN_EUSAGE, { "name is missing" } },
    { "q,", NULL, NULL, false, ATTN_EUSAGE, { "name is missing" } },
    { "L1H2,q", NULL, "1", false, ATTN_EUSAGE, { "the heads are given twice" } },
    { "L3H0", NULL, NULL, false, ATTN_EFORMAT, { "found 3", "3 layers" } },
    { "L0H4.q", NULL, NULL, false, ATTN_EFORMAT, { "found 4", "4 heads" } },
    { "L0H1.mlp.out", NULL, NULL, false, ATTN_EUSAGE, { "mlp.out is not made head by head" } },
    { "L0.logits", NULL, NULL, false, ATTN_EUSAGE, { "unknown activation 'logits'" } },
    { "hook_q", NULL, NULL, false, ATTN_EUSAGE, { "before rotation", "attn.q" } },
    { "ln1.hook_normalized", NULL, NULL, false, ATTN_EUSAGE, { "before weight and bias", "norm1" } },
    { "model.layers.0.mlp.up_proj", NULL, NULL, true, ATTN_EFORMAT, { "has no" } },
    { "logits", NULL, NULL, true, ATTN_EFORMAT, { "model 'm' has no 'logits'", "attn.pattern", "resid_post" } },
    { "mlp.*", NULL, NULL, true, ATTN_EFORMAT, { "model 'm' has no 'mlp.*'" } },
    { "blocks.7.attn.q", NULL, NULL, false, ATTN_EFORMAT, { "'blocks.7.attn.q'", "3 layers" } },
    { "blocks.99999999999999999999999.attn.q", NULL, NULL, false, ATTN_EFORMAT, { "3 layers" } },
    { "blocks.", NULL, NULL, false, ATTN_EUSAGE, { "unknown" } },
    { "blocks.7", NULL, NULL, false, ATTN_EUSAGE, { "unknown" } },
    { "blocks.7.", NULL, NULL, false, ATTN_EUSAGE, { "unknown" } },
    { NULL, "3", NULL, false, ATTN_EFORMAT, { "--layer '3': found 3", "'m' has 3 layers" } },
    { NULL, "0-99999999999", NULL, false, ATTN_EFORMAT, { "found 0-99999999999" } },
    { NULL, "0-99999999999999999999999999", NULL, false, ATTN_EFORMAT, { "3 layers" } },
    { NULL, "18446744073709551616", NULL, false, ATTN_EFORMAT, { "3 layers" } },
    { NULL, "1", NULL, true, ATTN_EFORMAT, { "has 1 layer," } },
    { NULL, NULL, "2,4", false, ATTN_EFORMAT, { "--head '2,4': found 4", "4 heads" } },
    { NULL, "", NULL, false, ATTN_EUSAGE, { "--layer ''" } },
    { NULL, "1,", NULL, false, ATTN_EUSAGE, { "--layer '1,'", "0,2-4" } },
    { NULL, "2-1", NULL, false, ATTN_EUSAGE, { "--layer '2-1'" } },
    { NULL, "-0", NULL, false, ATTN_EUSAGE, { "--layer '-0'" } },
    { NULL, "-4", NULL, false, ATTN_EFORMAT, { "--layer '-4': found -4", "3 layers" } },
    { NULL, "1-", NULL, false, ATTN_EUSAGE, { "--layer '1-'" } },
    { NULL, "1 2", NULL, false, ATTN_EUSAGE, { "--layer '1 2'" } },
    { NULL, "+1", NULL, false, ATTN_EUSAGE, { "--layer '+1'" } },
    { NULL, NULL, "alle", false, ATTN_EUSAGE, { "--head 'alle'" } },
    { NULL, "0", "L1H0", false, ATTN_EUSAGE, { "--head L1H0 is in layer 1, which --layer '0' leaves out" } },
    { NULL, NULL, "L1H0,L2H0", false, ATTN_EUSAGE, { "--show takes several" } },
    { NULL, NULL, "L1", false, ATTN_EUSAGE, { "one place such as L3H0" } },
    { "blocks.0.attn.q", "1", NULL, false, ATTN_EUSAGE, { "nothing to show" } },
};

START_TEST(refuses)
{
    struct attn_hook_points hooks = bad[_i].article ? article() : gpt();
    struct attn_select *s = (struct attn_select *)&hooks;
    struct attn_err err = { 0 };
    int rc = attn_select_make(&s, &hooks, "m", bad[_i].show, bad[_i].layers, bad[_i].heads, &err);
    ck_assert_int_eq(rc, bad[_i].code);
    ck_assert_int_eq(err.code, rc);
    ck_assert_ptr_null(s);
    for (int i = 0; i < 3 && bad[_i].says[i]; i++)
        ck_assert_msg(strstr(err.msg, bad[_i].says[i]), "'%s' lacks '%s'", err.msg, bad[_i].says[i]);
}
END_TEST

START_TEST(a_long_wrong_name_is_only_an_error)
{
    struct attn_hook_points hooks = gpt();
    struct attn_select *s;
    struct attn_err err = { 0 };
    char show[5000];
    memset(show, 'q', sizeof show - 1);
    show[sizeof show - 1] = '\0';
    ck_assert_int_eq(attn_select_make(&s, &hooks, "m", show, NULL, NULL, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "unknown activation"));
}
END_TEST

static unsigned wants_last_logits(void *self, int act, int layer)
{
    (void)self;
    return act == ATTN_ACT_LOGITS && layer == -1 ? ATTN_WATCH | ATTN_LAST : 0;
}

/* Beyond the flags of the last observer lie those of one that wants everything, who is not of this run. */
START_TEST(only_observers_are_asked)
{
    enum { L = 2 };
    const struct attn_observer obs[] = {{.wants = wants_last_logits}, {.wants = wants_last_logits}};
    const struct attn_hook_points hooks = {.L = L, .has = {[ATTN_ACT_LOGITS] = true, [ATTN_ACT_PATTERN] = true}};
    const unsigned all = ATTN_WATCH | ATTN_EDIT;
    unsigned flags[3 * (L + 1) * ATTN_ACTS], *beyond = flags + 2 * (L + 1) * ATTN_ACTS;
    struct attn_trace t = {.obs = obs, .n_obs = 2, .L = L, .want = flags};
    ck_assert_uint_eq(attn_act_slots(L) * 3 * sizeof *flags, sizeof flags);
    memset(flags, 0, sizeof flags);
    for (size_t i = 0; i < (L + 1) * ATTN_ACTS; i++)
        beyond[i] = all;
    attn_trace_ask(&t, &hooks, 0);
    ck_assert(attn_trace_wants(&t, ATTN_ACT_LOGITS, -1, ATTN_WATCH) &&
              !attn_trace_wants(&t, ATTN_ACT_LOGITS, -1, ATTN_EDIT));
    ck_assert(!attn_trace_wants_all(&t, ATTN_ACT_LOGITS, -1) && !attn_trace_wants(&t, ATTN_ACT_PATTERN, 1, ATTN_WATCH));
    for (size_t i = 0; i < (L + 1) * ATTN_ACTS; i++)
        ck_assert_uint_eq(beyond[i], all);
}
END_TEST

Suite *suite_select(void)
{
    Suite *s = suite_create("select");
    TCase *t = tcase_create("select");
    tcase_add_loop_test(t, selects, 0, (int)(sizeof good / sizeof good[0]));
    tcase_add_test(t, a_star_is_all);
    tcase_add_test(t, a_wildcard_may_find_nothing);
    tcase_add_test(t, tells_which_layers_interleave);
    tcase_add_loop_test(t, refuses, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(t, a_long_wrong_name_is_only_an_error);
    tcase_add_test(t, only_observers_are_asked);
    suite_add_tcase(s, t);
    return s;
}
