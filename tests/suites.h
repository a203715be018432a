/* suites.h - every suite there is; main.c runs them. */
#ifndef ATTN_TESTS_SUITES_H
#define ATTN_TESTS_SUITES_H

#include <check.h>

Suite *suite_base(void);
Suite *suite_num(void);
Suite *suite_map(void);
Suite *suite_out(void);
Suite *suite_team(void);
Suite *suite_json(void);
Suite *suite_safetensors(void);
Suite *suite_config(void);
Suite *suite_family(void);
Suite *suite_index(void);
Suite *suite_vocab(void);
Suite *suite_malformed(void);
Suite *suite_tokens(void);
Suite *suite_pretoken(void);
Suite *suite_bpe(void);
Suite *suite_tokenizer_json(void);
Suite *suite_rng(void);
Suite *suite_boxmuller(void);
Suite *suite_layout(void);
Suite *suite_recipe(void);
Suite *suite_init(void);
Suite *suite_init_family(void);
Suite *suite_models(void);
Suite *suite_vec(void);
Suite *suite_gemm(void);
Suite *suite_attention(void);
Suite *suite_names(void);
Suite *suite_select(void);
Suite *suite_sinks(void);
Suite *suite_outdir(void);
Suite *suite_text(void);
Suite *suite_lines(void);
Suite *suite_zip(void);
Suite *suite_model(void);
Suite *suite_shards(void);
Suite *suite_run(void);
Suite *suite_reference(void);
Suite *suite_seeds(void);
Suite *suite_families(void);
Suite *suite_checkpoints(void);
Suite *suite_trained(void);
Suite *suite_predict(void);
Suite *suite_dump(void);
Suite *suite_evidence(void);
Suite *suite_diff(void);
Suite *suite_compare(void);
Suite *suite_cmd(void);
Suite *suite_generate(void);
Suite *suite_derivation(void);
Suite *suite_explain(void);

#endif
