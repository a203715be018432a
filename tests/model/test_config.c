#include "suites.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "corpus.h"
#include "model/config.h"
#include "scratch.h"

static int read_file(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    struct attn_config c = {0};
    int rc = attn_config_read(&c, bytes, len, name, err);
    attn_config_free(&c);
    return rc;
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_array.json", "it is an array, expected an object"},
        {"n_bpe_with_drop.json", "\"tokenizer.drop\" is set, expected it only with \"type\": \"word\""},
        {"n_comment.json", "unknown key \"_comment\""},
        {"n_cut.json", "column 48: expected a key"},
        {"n_gemma2_cap.json", "\"final_logit_softcapping\" is 1e-50, expected a finite number above 0, or null"},
        {"n_gemma2_scalar.json", "\"query_pre_attn_scalar\" is 0, expected a number above it"},
        {"n_gptj_rotary.json", "expected an even number: see \"rotary_dim\""},
        {"n_eos_beyond.json", "\"eos_token_id\" is 6, expected less than \"vocab_size\" 6"},
        {"n_eos_text.json", "\"eos_token_id\" is \"end\", expected a whole number from 0"},
        {"n_d_mlp_negative.json", "\"d_mlp\" is -1, expected a whole number from 0"},
        {"n_drop_null.json", "\"tokenizer.drop\" is null, expected a string"},
        {"n_drop_number.json", "\"tokenizer.drop\" is 1, expected a string"},
        {"n_eps_infinite.json", "\"norm_eps\" is inf, expected a finite number"},
        {"n_eps_negative.json", "\"norm_eps\" is -1e-05, expected a finite number"},
        {"n_flag_number.json", "\"residual\" is 1, expected true or false"},
        {"n_flag_string.json", "\"tied\" is \"true\", expected true or false"},
        {"n_fraction.json", "\"n_head\" is 1.5, expected a whole number from 1 to 2147483647"},
        {"n_gpt2_both_ways.json", "\"is_causal\" is false, expected true: its absence cannot be computed here"},
        {"n_gpt2_activation.json",
         "\"activation_function\" is \"silu\", expected \"gelu_new\", \"gelu\", \"gelu_pytorch_tanh\""},
        {"n_gpt2_cross_attention.json", "\"add_cross_attention\" is true, expected it not to be there"},
        {"n_gpt2_heads.json", "\"n_embd\" 16 is not a multiple of \"n_head\" 3"},
        {"n_gpt2_negative.json", "\"n_layer\" is -1, expected a whole number from 1"},
        {"n_gpt2_no_width.json", "there is no \"n_embd\""},
        {"n_gpt2_null_vocab.json", "\"vocab_size\" is null, expected a whole number"},
        {"n_gpt2_pruned.json", "\"pruned_heads\" is an object, expected it not to be there"},
        {"n_cohere2_no_window.json",
         "layer 0 has a window (\"sliding_attention\"), but \"sliding_window\" gives no size that counts"},
        {"n_codegen_heads.json", "\"n_head\" is 6, expected a multiple of 4"},
        {"n_exaone4_pattern.json", "\"sliding_window_pattern\" is \"LLLG\", expected a whole number from 1"},
        {"n_gemma3_no_section.json", "there is no \"text_config\", expected an object"},
        {"n_gemma3_section.json", "\"text_config\" is an array, expected an object"},
        {"n_gpt1_act.json", "\"afn\" is \"tanh\", expected \"gelu\", \"relu\", \"silu\" or \"swish\""},
        {"n_gpt2_quantized.json", "\"quantization_config\" says that the weights are quantised (GPTQ, 4 bits), which "
         "is not read: take the model"},
        {"n_hunyuan_head.json", "there is no \"head_dim\""},
        {"n_llama_nf4.json", "quantised (bitsandbytes, 4 bits)"},
        {"n_llama_fp8.json", "quantised (FP8), which is not read"},
        {"n_mpt_alibi.json", "\"attn_config.alibi\" is false, expected true"},
        {"n_mpt_bias.json", "\"no_bias\" is false, expected true"},
        {"n_mpt_slopes.json", "\"attn_config.alibi_bias_max\" is 16, expected 8"},
        {"n_xglm_narrow.json", "\"d_model\" is 2, expected at least 4"},
        {"n_gpt2_tied_text.json", "\"tie_word_embeddings\" is \"yes\", expected true or false"},
        {"n_gpt_neo_layer_kind.json", "\"attention_layers\" is \"sparse\", expected \"global\" or \"local\""},
        {"n_gpt_neo_layers_few.json", "the attention layers are 2, expected \"num_layers\" 4"},
        {"n_gpt_neo_layers_more.json", "the attention layers are 5, expected \"num_layers\" 4"},
        {"n_gpt_neo_layers_text.json",
         "\"attention_layers\" is \"global\", expected \"global\" or \"local\" for each"},
        {"n_gpt_neo_many_layers.json", "\"num_layers\" is 2147483647, expected at most"},
        {"n_gpt_neo_types_empty.json", "\"attention_types\" describes 0 layers"},
        {"n_gpt_neo_types_flat.json", "\"attention_types\" is \"global\", expected lists of kinds"},
        {"n_gpt_neo_types_huge.json", "describes 4294967294 layers"},
        {"n_gpt_neo_types_many.json", "\"attention_types\" describes 24 layers, expected \"num_layers\" 4"},
        {"n_gpt_neo_types_times.json", "\"attention_types\" is an array, expected lists of kinds"},
        {"n_gpt_neox_rotary_above.json", "\"rotary_pct\" is 1.5, expected at most 1"},
        {"n_gemma3_local_theta.json", "\"rope_theta\" is 1, expected more than 1 with \"rope_type\": \"yarn\""},
        {"n_gpt_neox_rotary_odd.json",
         "9 numbers of each head of 32 are turned by position, expected an even number: see \"rotary_pct\""},
        {"n_gpt_neox_theta.json", "\"rotary_emb_base\" is 0, expected a number above it"},
        {"n_head_product.json", "\"n_head\" 65536 times \"d_head\" 65536 is too large"},
        {"n_heads_do_not_divide.json", "\"d_model\" 4 is not a multiple of \"n_head\" 3"},
        {"n_infinite_size.json", "\"n_ctx\" is inf, expected a whole number"},
        {"n_key_case.json", "unknown key \"N_HEAD\", did you mean \"n_head\"?"},
        {"n_key_twice.json", "key 'n_head' for the second time"},
        {"n_kv_heads_do_not_divide.json", "\"n_kv_head\" is 3, expected a divisor of \"n_head\" 4"},
        {"n_layer_kind.json", "\"attention_layers\" is \"sliding\", expected \"global\" or \"local\" for each layer"},
        {"n_layers_too_few.json", "the attention layers are 2, expected \"num_layers\" 3"},
        {"n_llama_activation.json", "\"hidden_act\" is \"relu\", expected \"silu\", \"swish\", \"gelu_pytorch_tanh\""},
        {"n_llama_factor_alone.json", "\"rope_scaling\" has a factor 2 but no \"rope_type\""},
        {"n_llama_factor_missing.json", "\"rope_parameters.factor\" is missing or 0, expected at least 1"},
        {"n_llama_factor_null.json", "\"rope_scaling.factor\" is missing or 0, expected at least 1"},
        {"n_llama_factor_zero.json", "\"rope_parameters.factor\" is missing or 0, expected at least 1"},
        {"n_llama_factor_small_new.json", "\"rope_parameters.factor\" is 0.5, expected at least 1"},
        {"n_llama_factor_small.json", "\"rope_scaling.factor\" is 0.5, expected at least 1"},
        {"n_llama_heads_odd.json",
         "7 numbers of each head of 7 are turned by position, expected an even number: see \"head_dim\""},
        {"n_llama_kv_heads.json", "\"num_key_value_heads\" is 3, expected a divisor of \"num_attention_heads\" 4"},
        {"n_llama_layer_types.json",
         "\"layer_types\" is \"sliding_attention\", expected a list of nothing but \"full_attention\""},
        {"n_llama_llama3_bounds.json", "expected 0 < low < high"},
        {"n_llama_mrope.json",
         "\"rope_scaling.type\" is \"mrope\", expected \"default\", \"linear\", \"llama3\", \"yarn\", \"dynamic\" or "
         "\"longrope\""},
        {"n_llama_multiplier.json", "\"residual_multiplier\" is 0.22, expected 1"},
        {"n_llama_ntk.json", "\"rope_scaling.rope_type\" is \"ntk\""},
        {"n_llama_partial.json", "\"partial_rotary_factor\" is 0.5, expected 1"},
        {"n_llama_partial_new.json", "\"rope_parameters.partial_rotary_factor\" is 0.5, expected 1"},
        {"n_llama_rope_by_layer.json", "unknown key \"rope_parameters.full_attention\""},
        {"n_llama_sliding.json", "\"sliding_window\" is 4096, expected it not to be there"},
        {"n_llama_softcap.json", "\"attn_logit_softcapping\" is 50, expected it not to be there"},
        {"n_llama_sliding_used.json", "\"sliding_window\" is 4096, expected it not to be there"},
        {"n_llama_width_product.json", "\"num_attention_heads\" 65536 times \"head_dim\" 65536 is too large"},
        {"n_lowercase_string.json", "\"tokenizer.lowercase\" is \"yes\", expected true or false"},
        {"n_many_values.json", "more than 4096 values"},
        {"n_mask.json", "\"mask\" is \"full\", expected \"none\" or \"causal\""},
        {"n_mlp.json",
         "\"mlp\" is \"elu\", expected \"none\", \"gelu\", \"gelu_new\", \"relu\", \"relu2\" or \"swiglu\""},
        {"n_mlp_above_31_bits.json", "\"n_embd\" 2147483647 makes an mlp of width 8589934588"},
        {"n_mlp_width.json", "expected \"d_model\" 3, because of an \"mlp\" without an output projection"},
        {"n_mlp_without_width.json", "\"d_mlp\" is 0, expected its width because \"mlp\" is \"gelu\""},
        {"n_model_type_number.json", "\"model_type\" is 1, expected \"attn-decoder\""},
        {"n_negative.json", "\"n_layer\" is -1, expected a whole number from 1"},
        {"n_norm_embed.json", "\"norm_embed\" is true, but \"norm\" is \"none\""},
        {"n_no_d_model.json", "there is no \"d_model\""},
        {"n_no_model_type.json", "there is no \"model_type\", expected \"attn-decoder\""},
        {"n_no_n_ctx.json", "there is no \"n_ctx\""},
        {"n_no_n_head.json", "there is no \"n_head\""},
        {"n_no_n_layer.json", "there is no \"n_layer\""},
        {"n_no_vocab_size.json", "there is no \"vocab_size\""},
        {"n_norm.json", "\"norm\" is true, expected \"none\", \"layernorm\" or \"rmsnorm\""},
        {"n_nul.json", "\\u0000 in a string"},
        {"n_null_size.json", "\"d_head\" is null, expected a whole number"},
        {"n_other_model.json", "\"model_type\" is \"bert\", expected \"attn-decoder\", \"gpt2\""},
        {"n_phi3_longrope_context.json",
         "\"original_max_position_embeddings\" is so small that its logarithm cannot divide"},
        {"n_phi3_longrope_zero.json", "\"rope_scaling.long_factor\" is 0, expected a list of finite numbers above 0"},
        {"n_position.json", "\"position\" is \"ropey\", expected \"none\", \"learned\" or \"rope\""},
        {"n_qwen2_default_kv_heads.json",
         "\"num_key_value_heads\" is 32, expected a divisor of \"num_attention_heads\" 4"},
        {"n_qwen2_sliding.json", "layer 1 has a window (\"sliding_attention\"), but \"sliding_window\" gives no size"},
        {"n_residual_width.json", "because of \"residual\": true without an output projection; "
                                  "set \"output_projection\": true"},
        {"n_rope_kind.json", "\"rope_scaling.rope_type\" is \"ntk\", expected \"default\", \"linear\", \"llama3\""},
        {"n_rope_odd.json", "\"d_head\" is 3, expected an even number with \"position\": \"rope\""},
        {"n_rotary_above_1.json", "\"rotary_pct\" is 1.5, expected at most 1"},
        {"n_rotary_odd.json",
         "3 numbers of each head of 6 are turned by position, expected an even number: see \"rotary_pct\""},
        {"n_scale.json", "\"scale\" is 0.5, expected \"none\" or \"sqrt\""},
        {"n_sliding_window.json", "\"sliding_window\" is 0, expected a whole number from 1"},
        {"n_stacked_width.json",
         "\"n_head\" 1 times \"d_value\" 4 is 4, expected \"d_model\" 3, because of \"n_layer\""},
        {"n_string_size.json", "\"d_model\" is \"3\", expected a whole number"},
        {"n_theta_string.json", "\"rope_theta\" is \"1e4\", expected a finite number"},
        {"n_theta_zero.json", "\"rope_theta\" is 0, expected a number above it"},
        {"n_tokenizer_array.json", "\"tokenizer\" is an array, expected an object"},
        {"n_tokenizer_type.json", "\"tokenizer.type\" is \"words\", expected \"word\", \"bpe\" or \"char\""},
        {"n_tokenizer_unknown_key.json", "unknown key \"tokenizer.lowercased\", did you mean \"tokenizer.lowercase\"?"},
        {"n_too_large.json", "\"vocab_size\" is 2147483648, expected a whole number from 1 to 2147483647"},
        {"n_trailing.json", "line 2, column 1: expected nothing after the end"},
        {"n_types_endless.json", "\"attention_types\" describes 2147483647 layers, expected \"num_layers\" 3"},
        {"n_unembed_width.json", "because of \"unembed\": true"},
        {"n_unknown_empty.json", "\"tokenizer.unknown\" is \"\", expected a text or null"},
        {"n_unknown_far.json", "unknown key \"temperature\""},
        {"n_unknown_key.json", "unknown key \"n_heads\", did you mean \"n_head\"?"},
        {"n_unknown_number.json", "\"tokenizer.unknown\" is 0, expected a text or null"},
        {"n_value_product.json", "\"n_head\" 65536 times \"d_value\" 65536 is too large"},
        {"n_zero.json", "\"n_ctx\" is 0, expected a whole number from 1"},
        {NULL, NULL}
    };
    corpus_check("tests/corpus/config", faults, read_file);
}
END_TEST

static struct attn_config read_path(const char *path)
{
    struct attn_config c = {0};
    struct attn_err err = {0};
    size_t len;
    char *text = corpus_slurp(path, &len);
    ck_assert_msg(attn_config_read(&c, text, len, path, &err) == ATTN_OK, "%s", err.msg);
    free(text);
    return c;
}

START_TEST(test_defaults)
{
    struct attn_config c = read_path("tests/corpus/config/y_least.json");
    ck_assert(c.V == 6 && c.n_ctx == 64 && c.L == 1 && c.H == 1 && c.d == 3);
    ck_assert(c.Hkv == 1 && c.dh == 3 && c.dv == 3 && c.m == 0);
    ck_assert(c.position == ATTN_POS_NONE && c.norm == ATTN_NORM_NONE && c.mlp == ATTN_MLP_NONE);
    ck_assert(c.norm_eps == 1e-5 && c.rope_theta == 10000);
    ck_assert(c.causal && c.scale && c.tied);
    ck_assert(!c.residual && !c.output_projection && !c.bias && !c.unembed);
    ck_assert(!c.plain_norms && !c.norm_embed && !c.no_final);
    ck_assert(c.tokenizer.kind == ATTN_RULE_WORD && !c.tokenizer.drop && !c.tokenizer.unknown &&
              !c.tokenizer.lowercase);
    attn_config_free(&c);
}
END_TEST

START_TEST(test_every_key)
{
    struct attn_config c = read_path("tests/corpus/config/y_all.json");
    ck_assert(c.H == 2 && c.Hkv == 1 && c.d == 8 && c.dh == 2 && c.dv == 6 && c.m == 16);
    ck_assert(c.position == ATTN_POS_ROPE && c.norm == ATTN_NORM_RMS && c.mlp == ATTN_MLP_SWIGLU);
    ck_assert(c.norm_eps == 1e-6 && c.rope_theta == 500000);
    ck_assert(!c.causal && !c.scale && !c.tied);
    ck_assert(c.residual && c.output_projection && c.bias && c.unembed);
    ck_assert(c.plain_norms && c.norm_embed && c.no_final);
    ck_assert(c.tokenizer.kind == ATTN_RULE_CHAR && c.tokenizer.lowercase);
    ck_assert_str_eq(c.tokenizer.drop, ",.");
    ck_assert_str_eq(c.tokenizer.unknown, "<unk>");
    attn_config_free(&c);
}
END_TEST

START_TEST(test_forms_and_widths)
{
    struct attn_config c = read_path("tests/corpus/config/y_whole_forms.json");
    ck_assert_uint_eq(c.n_ctx, 64);                                 /* written as 6.4e1 */
    attn_config_free(&c);
    c = read_path("tests/corpus/config/y_stacked.json");
    ck_assert(c.dh == 4 && c.dv == 4 && c.Hkv == 2);
    attn_config_free(&c);
    c = read_path("tests/corpus/config/y_value_width.json");
    ck_assert(c.dh == 2 && c.dv == 4);
    attn_config_free(&c);
}
END_TEST

static void write_path(const char *path, const struct attn_config *c)
{
    struct attn_out *out = NULL;
    struct attn_err err = {0};
    ck_assert_int_eq(attn_out_open(&out, path, &err), ATTN_OK);
    attn_config_write(out, c);
    ck_assert_msg(attn_out_commit(out, &err) == ATTN_OK, "%s", err.msg);
    attn_out_close(out);
}

static void same_text(const char *a, const char *b)
{
    ck_assert((a == NULL) == (b == NULL));
    if (a)
        ck_assert_str_eq(a, b);
}

static void same_config(const struct attn_config *a, const struct attn_config *b)
{
    ck_assert(a->V == b->V && a->n_ctx == b->n_ctx && a->L == b->L && a->H == b->H && a->Hkv == b->Hkv);
    ck_assert(a->d == b->d && a->dh == b->dh && a->dv == b->dv && a->m == b->m);
    ck_assert(a->position == b->position && a->norm == b->norm && a->mlp == b->mlp);
    ck_assert(a->norm_eps == b->norm_eps && a->rope_theta == b->rope_theta);
    ck_assert(a->causal == b->causal && a->scale == b->scale && a->residual == b->residual && a->bias == b->bias);
    ck_assert(a->output_projection == b->output_projection && a->tied == b->tied && a->unembed == b->unembed);
    ck_assert(a->plain_norms == b->plain_norms && a->norm_embed == b->norm_embed && a->no_final == b->no_final);
    ck_assert(a->tokenizer.kind == b->tokenizer.kind && a->tokenizer.lowercase == b->tokenizer.lowercase);
    same_text(a->tokenizer.drop, b->tokenizer.drop);
    same_text(a->tokenizer.unknown, b->tokenizer.unknown);
}

START_TEST(test_write_and_read)
{
    static const char *const files[] = {"y_all.json", "y_least.json", "y_bpe.json", "y_value_width.json",
                                        "y_eos_zero.json"};
    static const double reals[] = {1e-5, 1.0 / 3, 0x1p-1074, 0x1.fffffffffffffp1023, 123456789.125, 3e21};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) {
            char path[64] = "tests/corpus/config/";
            struct attn_config a = read_path(strcat(path, files[i]));
            a.norm_eps = a.rope_theta = reals[k];
            write_path(scratch_path("config.json"), &a);
            struct attn_config b = read_path(scratch_path("config.json"));
            same_config(&a, &b);
            attn_config_free(&a);
            attn_config_free(&b);
        }
}
END_TEST

/* Token 0 may end a text, too: it is not what says that none does. */
START_TEST(test_first_token_ends)
{
    struct attn_config zero = read_path("tests/corpus/config/y_eos_zero.json"),
        none = read_path("tests/corpus/config/y_eos_null.json");
    ck_assert(zero.n_eos == 1 && zero.eos[0] == 0);
    ck_assert(none.n_eos == 0);
    attn_config_free(&zero);
    attn_config_free(&none);
}
END_TEST

START_TEST(test_written_form)
{
    struct attn_config c = read_path("tests/corpus/config/y_least.json");
    size_t len;
    write_path(scratch_path("config.json"), &c);
    char *text = corpus_slurp(scratch_path("config.json"), &len);
    text[len - 1] = '\0';                                           /* replaces the final newline */
    ck_assert_ptr_eq(strstr(text, "{\n  \"model_type\": \"attn-decoder\",\n  \"vocab_size\": 6,\n"), text);
    ck_assert_ptr_nonnull(strstr(text, "\n  \"norm_eps\": 1e-05,\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n  \"rope_theta\": 10000,\n"));
    const char *end = "  \"tokenizer\": {\n    \"type\": \"word\",\n    \"drop\": \"\",\n    \"lowercase\": false,\n"
                      "    \"unknown\": null\n  }\n}";
    ck_assert_str_eq(text + strlen(text) - strlen(end), end);
    free(text);
    attn_config_free(&c);
}
END_TEST

/* A host program may have set a locale with a decimal comma.  Without such a locale on this machine the
 * test shows nothing. */
START_TEST(test_locale)
{
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas; i++)
        setlocale(LC_NUMERIC, commas[i]);
    struct attn_config a = read_path("tests/corpus/config/y_least.json");
    a.norm_eps = 0.25;
    write_path(scratch_path("config.json"), &a);
    struct attn_config b = read_path(scratch_path("config.json"));
    setlocale(LC_NUMERIC, "C");
    ck_assert(b.norm_eps == 0.25);
    attn_config_free(&a);
    attn_config_free(&b);
}
END_TEST

START_TEST(test_tokenizer_alone)
{
    static const char text[] = "{\"model_type\": \"gpt2\", \"n_embd\": 3, \"tokenizer\": {\"drop\": \"\u3002,\"}}";
    static const char bad[] = "{\"tokenizer\": {\"type\": \"bpe\", \"lowercase\": true}}";
    struct attn_config c = {0};
    struct attn_err err = {0};
    ck_assert_int_eq(attn_config_read_tokenizer(&c, text, sizeof text - 1, "config.json", &err), ATTN_OK);
    ck_assert_str_eq(c.tokenizer.drop, "\u3002,");
    attn_config_free(&c);
    ck_assert_int_eq(attn_config_read_tokenizer(&c, "{}", 2, "config.json", &err), ATTN_OK);
    ck_assert(c.tokenizer.kind == ATTN_RULE_WORD && !c.tokenizer.drop);
    ck_assert_int_eq(attn_config_read_tokenizer(&c, bad, sizeof bad - 1, "config.json", &err), ATTN_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.msg, "config.json: \"tokenizer.lowercase\" is set"));
}
END_TEST

START_TEST(test_names)
{
    ck_assert_str_eq(attn_position_name(ATTN_POS_ROPE), "rope");
    ck_assert_str_eq(attn_norm_name(ATTN_NORM_LAYER), "layernorm");
    ck_assert_str_eq(attn_mlp_name(ATTN_MLP_GELU_NEW), "gelu_new");
}
END_TEST

Suite *suite_config(void)
{
    Suite *s = suite_create("config");
    TCase *t = tcase_create("config");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_test(t, test_corpus);
    tcase_add_test(t, test_defaults);
    tcase_add_test(t, test_every_key);
    tcase_add_test(t, test_forms_and_widths);
    tcase_add_test(t, test_write_and_read);
    tcase_add_test(t, test_first_token_ends);
    tcase_add_test(t, test_written_form);
    tcase_add_test(t, test_locale);
    tcase_add_test(t, test_tokenizer_alone);
    tcase_add_test(t, test_names);
    suite_add_tcase(s, t);
    return s;
}
