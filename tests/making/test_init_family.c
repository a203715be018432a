/* Hugging Face models made with random weights: each tensor of the family once, with the distribution its
 * authors start from. */
#include "suites.h"
#include "attn_tools.h"

#include "checkpoints.h"
#include "golden.h"
#include "made.h"
#include "model/family.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LLAMA_SIZES "\"vocab_size\": 40, \"hidden_size\": 32, \"num_hidden_layers\": 2, \"num_attention_heads\": 4, " \
                    "\"num_key_value_heads\": 2, \"intermediate_size\": 24, \"max_position_embeddings\": 16"

static const struct { const char *config; size_t tensors; const char *weight, *bias, *norm; } makes[] = {
    {"{\"model_type\": \"gpt2\", \"vocab_size\": 40, \"n_positions\": 16, \"n_embd\": 32, \"n_layer\": 2, "
     "\"n_head\": 4}", 2 + 2 * 12 + 2,
     "transformer.h.1.attn.c_attn.weight", "transformer.h.1.attn.c_attn.bias", "transformer.h.1.ln_1.weight"},
    {"{\"model_type\": \"gpt_neo\", \"vocab_size\": 40, \"max_position_embeddings\": 16, \"hidden_size\": 32, "
     "\"num_layers\": 2, \"num_heads\": 4, \"tie_word_embeddings\": false}", 2 + 2 * 13 + 2 + 1,
     "lm_head.weight", "transformer.h.0.mlp.c_fc.bias", "transformer.ln_f.weight"},
    {"{\"model_type\": \"gpt_neox\", \"vocab_size\": 40, \"max_position_embeddings\": 16, \"hidden_size\": 32, "
     "\"num_hidden_layers\": 2, \"num_attention_heads\": 4, \"intermediate_size\": 24, \"rotary_pct\": 0.5}",
     1 + 2 * 12 + 2 + 1,
     "gpt_neox.layers.1.attention.query_key_value.weight", "gpt_neox.layers.1.attention.query_key_value.bias",
     "gpt_neox.final_layer_norm.weight"},
    {"{\"model_type\": \"llama\", \"attention_bias\": true, " LLAMA_SIZES "}", 1 + 2 * 13 + 1 + 1,
     "model.layers.1.mlp.gate_proj.weight", "model.layers.1.self_attn.o_proj.bias", "model.norm.weight"},
    {"{\"model_type\": \"qwen2\", \"tie_word_embeddings\": true, " LLAMA_SIZES "}", 1 + 2 * 12 + 1,
     "model.embed_tokens.weight", "model.layers.0.self_attn.k_proj.bias", "model.layers.0.input_layernorm.weight"}};
enum { MAKES = sizeof makes / sizeof *makes };

static void expect_all(const struct made_weights *w, const char *name, float x)
{
    const struct attn_st_tensor *t = made_find(w, name);
    for (size_t i = 0; i < t->count; i++)
        ck_assert(memcmp(t->data + i * sizeof x, &x, sizeof x) == 0);
}

/* Mean and deviation of at least 768 numbers, within five standard errors. */
static void expect_normal(const struct made_weights *w, const char *name)
{
    const struct attn_st_tensor *t = made_find(w, name);
    double sum = 0, square = 0, n = (double)t->count;
    for (size_t i = 0; i < t->count; i++) {
        float x;
        memcpy(&x, t->data + i * sizeof x, sizeof x);
        sum += (double)x;
        square += (double)x * (double)x;
    }
    ck_assert(n >= 768);
    ck_assert_double_le(fabs(sum / n), 5 * 0.02 / sqrt(n));
    ck_assert_double_le(fabs(sqrt(square / n) / 0.02 - 1), 5 / sqrt(2 * n));
}

START_TEST(as_the_family_has_them)
{
    struct attn_info info;
    struct attn_model *m = made_open(made_model(makes[_i].config, 7, "F32"));
    ck_assert_ptr_null(attn_model_warning(m));
    attn_model_info(m, &info);
    ck_assert_uint_eq(info.tensors, makes[_i].tensors);
    struct made_weights w = made_read(made_path("model.safetensors"));
    ck_assert_uint_eq(attn_st_count(w.st), makes[_i].tensors);
    expect_normal(&w, makes[_i].weight);
    expect_all(&w, makes[_i].bias, 0);
    expect_all(&w, makes[_i].norm, 1);
    made_close(&w);
    attn_model_close(m);
    scratch_expect(made_path("config.json"), makes[_i].config);
}
END_TEST

START_TEST(by_seed_and_type)
{
    char digest[4][80];
    static const char *const types[] = {"F32", "F32", "F32", "BF16"};
    for (int i = 0; i < 4; i++) {
        struct attn_err err = {0};
        struct attn_model *m = made_open(made_model(makes[_i].config, i == 1 ? 8 : 7, types[i]));
        ck_assert(attn_model_digest(m, true, digest[i], &err) == 0);
        attn_model_close(m);
    }
    ck_assert_str_ne(digest[0], digest[1]);
    ck_assert_str_eq(digest[0], digest[2]);
    ck_assert_str_ne(digest[0], digest[3]);
}
END_TEST

START_TEST(no_recipes)
{
    struct attn_err err = {0};
    const struct attn_init_opts o = {.config = makes[0].config, .config_len = strlen(makes[0].config),
                                     .draw = "embed:rand"};
    ck_assert_int_eq(attn_init(made_path(""), &o, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "a recipe draws attn-decoder models, not \"gpt2\""));
}
END_TEST

/* ---- every family ---- */

static const char *family_of(int i) { return attn_families[1 + i]->name; }          /* the first is our own */

/* A model is made, described, run, continued and converted; what is converted has the same weights. */
START_TEST(the_command_knows_every_family)
{
    const char *name = family_of(_i);
    const char *small = strcmp(name, "gpt2") ? "" : " --n-layer 2 --n-head 4 --d-model 64 --vocab-size 512";
    succeed(printed("\"$A\" init -o $D/m --family %s --seed 3%s && grep -q '\"%s\"' $D/m/config.json", name,
                    small, name));
    expect("\"$A\" info -m $D/m --check --format json", 0, printed("\"family\": \"%s\"", name));
    expect("\"$A\" run -m $D/m --ids 3,1,4,1,5 --show logits -q --format json | grep -o '.nonfinite.*'", 0,
           "\"nonfinite\":0");
    expect("\"$A\" generate -m $D/m --ids 3,1,4 -n 4 --format json | grep -c '\"logprob\"'", 0, "7\n");
    succeed("\"$A\" convert -q -m $D/m -o $D/c 2>/dev/null && cmp $D/m/config.json $D/c/config.json");
    expect("\"$A\" diff -m $D/m --with $D/c --ids 3,1,4,1,5 --exact", 0, "");
}
END_TEST

static int families(void)
{
    int n = 0;
    while (attn_families[1 + n])
        n++;
    return n;
}

START_TEST(sizes_fit_together)
{
    succeed("\"$A\" init -o $D/m --family gemma2 --d-model 96 --n-head 6 --n-kv-head 3 --vocab-size 20");
    expect("cat $D/m/config.json", 0, "\"head_dim\": 16");
    succeed("\"$A\" init -o $D/o --family llama --n-head 1 && grep -q '\"num_key_value_heads\": 1' $D/o/config.json");
    expect("\"$A\" init -o $D/n --family bloom --d-mlp 3 2>&1", 2, "--d-mlp does not go with --family bloom");
    expect("\"$A\" init -o $D/n --family qwen3 --d-head 10 --tied true && grep -e head_dim -e tie_ $D/n/config.json", 0,
           "\"head_dim\": 10");
}
END_TEST

/* A word that has meant two things. */
START_TEST(what_gelu_means_is_told)
{
    succeed("\"$A\" init -o $D/m --family gemma");
    expect("\"$A\" run -m $D/m --ids 1,2 2>&1 >$D/out | wc -c", 0, "0\n");
    succeed("sed -i 's/\"hidden_act\": \"gelu_pytorch_tanh\"/\"hidden_act\": \"gelu\"/' $D/m/config.json");
    expect("\"$A\" run -m $D/m --ids 1,2 2>&1 >$D/out", 0,
           "/m/config.json: \"hidden_act\" is \"gelu\", which is computed with erf");
}
END_TEST

/* A bias that the configuration switches off would change numbers. */
START_TEST(a_bias_that_is_off_has_no_place)
{
    succeed("\"$A\" init -q -o $D/m --family llama && sed '1s/{/{\"attention_bias\": true, /' $D/m/config.json "
            ">$D/c.json && \"$A\" init -q -o $D/with --config $D/c.json && cp $D/m/config.json $D/with/");
    expect("\"$A\" run -m $D/with --ids 1,2 2>&1", 1,
           "proj.bias' has no place in the model that config.json describes");
}
END_TEST

/* What was downloaded cannot be drawn again. */
START_TEST(a_model_of_others_stays)
{
#define SMALL "\"$A\" init -q -o $D/m --vocab-size 40 --n-layer 1 --n-head 1 --d-model 8 "
    expect("echo '{\"a\": 0}' >$D/v && ends 1 \"$A\" init -o $D/n --vocab $D/v --n-layer 1 --n-head 1 --d-model 2 "
           "--unknown b 2>&1 && test ! -e $D/n", 0,
           "v: the token 'b' for unknown words is not in it: add it, or name another\n");
    expect("\"$A\" init -o $D/n --vocab $D/v --family gpt2 --n-layer 1 --n-head 1 --d-model 8 2>&1; rm -r $D/n $D/v", 0,
           "models of this family read vocab.json beside merges.txt, which is not there");
    succeed(SMALL "&& " SMALL "--seed 1 && echo {} >$D/m/tokenizer.json && sha256sum $D/m/* >$D/sums");
    expect(SMALL "2>&1", 2, "/m: holds a model that init did not make (tokenizer.json): choose another directory, or "
           "replace its weights with --force");
    succeed("rm $D/m/tokenizer.json && touch $D/m/merges.txt");
    expect(SMALL "2>&1", 2, "/m: holds a model that init did not make (merges.txt)");
    succeed("echo {} >$D/m/tokenizer.json && sha256sum -c --quiet $D/sums && " SMALL
            "--force && ! sha256sum -c --quiet $D/sums 2>&1");
}
END_TEST

/* Weights are written before config.json is replaced: where they do not fit, the model that was there stays. */
START_TEST(a_full_disk_keeps_the_model_there)
{
    succeed("\"$A\" init -q -o $D/m --vocab-size 40 --n-layer 1 --n-head 1 --d-model 8 && sha256sum $D/m/* >$D/sums");
    expect("ulimit -f 4; \"$A\" init -o $D/m --vocab-size 300 --n-layer 2 --n-head 1 --d-model 8 2>&1", 1,
           "File too large");
    expect("sha256sum -c --quiet $D/sums && ls -A $D/m | wc -l", 0, "2\n");
}
END_TEST

/* Checkpoints that another program wrote: its config.json alone gives their tensors, these shapes and no others. */
START_TEST(as_others_write_them)
{
    const char *dir = checkpoint_path(checkpoints[_i].name);
    if (!dir)
        return;
    struct attn_model *own, *other = made_open(dir);
    char *config = golden_text(printed("%s/config.json", dir), NULL);
    struct attn_tensor_info a, b;
    struct attn_info n;
    own = made_open(made_model(config, 3, "F32"));
    attn_model_info(own, &n);
    size_t tensors = n.tensors;
    attn_model_info(other, &n);
    ck_assert_uint_eq(tensors, n.tensors);
    for (size_t i = 0; i < tensors; i++) {
        attn_model_tensor(own, i, &a);
        attn_model_tensor(other, i, &b);
        size_t prefix = strlen(a.name) - strlen(b.name);       /* which files may omit */
        ck_assert_str_eq(prefix <= strlen(a.name) ? a.name + prefix : a.name, b.name);
        ck_assert(a.ndim == b.ndim && !memcmp(a.shape, b.shape, (size_t)a.ndim * sizeof *a.shape));
    }
    attn_model_close(own);
    attn_model_close(other);
    free(config);
}
END_TEST

Suite *suite_init_family(void)
{
    Suite *s = suite_create("init_family");
    TCase *t = tcase_create("init_family"), *cmd = tcase_create("command");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, as_the_family_has_them, 0, MAKES);
    tcase_add_loop_test(t, by_seed_and_type, 0, MAKES);
    tcase_add_test(t, no_recipes);
    attn_test_add_rows(t, as_others_write_them, CHECKPOINTS_HF, checkpoint_name);
    suite_add_tcase(s, t);
    tcase_add_checked_fixture(cmd, shell_set_up, scratch_remove);
    attn_test_add_rows(cmd, the_command_knows_every_family, families(), family_of);
    tcase_add_test(cmd, sizes_fit_together);
    tcase_add_test(cmd, what_gelu_means_is_told);
    tcase_add_test(cmd, a_bias_that_is_off_has_no_place);
    tcase_add_test(cmd, a_model_of_others_stays);
    tcase_add_test(cmd, a_full_disk_keeps_the_model_there);
    suite_add_tcase(s, cmd);
    return s;
}
