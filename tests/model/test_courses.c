/* Files that courses write: what they do not say is asked for and taken, and what only looks like one is refused. */
#include "suites.h"

#include "corpus.h"
#include "scratch.h"
#include "shell.h"

#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the corpus ---- */

/* A model of llama2.c, of width 2 and with two tokens, for vocabularies. */
static void write_small(const char *path)
{
    static const int32_t sizes[] = {2, 1, 1, 1, 1, 2, 1};
    enum { NUMBERS = 2 * 2 + 2 + 4 * 4 + 2 + 3 * 2 + 2 + 2 };          /* all 0; the last two are angles */
    char file[sizeof sizes + NUMBERS * sizeof(float)] = {0};
    memcpy(file, sizes, sizeof sizes);
    scratch_put(path, file, sizeof file);
}

static bool is_vocabulary(const char *name) { return strstr(name, "_vocab_"); }

static int open_both(const char *path, const struct attn_lacking *given, struct attn_err *err)
{
    struct attn_model *m = NULL;
    int rc = attn_model_open_with(&m, path, given, err);
    ck_assert((m != NULL) == (rc == ATTN_OK));
    attn_model_close(m);
    return rc;
}

static int read_file(const char *bytes, size_t len, const char *name, struct attn_err *err)
{
    char path[512], small[512];
    const char *leaf = strrchr(name, '/');
    snprintf(path, sizeof path, "%s", scratch_path(leaf ? leaf + 1 : name));
    snprintf(small, sizeof small, "%s", scratch_path("small.bin"));
    scratch_put(path, bytes, len);
    write_small(small);
    return is_vocabulary(name) ? open_both(small, &(struct attn_lacking){.vocab = path}, err) : open_both(path, NULL, err);
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_bias_missing.pt", "tensor 'transformer.h.0.ln_1.bias' has no place in the model that config.json describes"},
        {"n_bigram.pt",
         "is a model of the lecture \"Let's build GPT\", but tensor 'position_embedding_table.weight' is missing, expected a matrix"},
        {"n_flat.pt", "is a checkpoint of nanoGPT, but tensor 'transformer.wte.weight' has shape [12], expected a matrix"},
        {"n_further.pt", "tensor 'transformer.h.0.gate.weight' has no place in the model that config.json describes"},
        {"n_heads_no_divisor.pt", "is a checkpoint of nanoGPT of width 4, with 3 heads, expected a divisor of the width"},
        {"n_heads_text.pt",
         "is a checkpoint of nanoGPT, but nothing in it says how many heads it has: say it with 'attn-cli convert -m "},
        {"n_layers_differ.pt", "\"model_args\" says that \"n_layer\" is 2, but the tensors have 1"},
        {"n_lecture_further.pt",
         "is a model of the lecture \"Let's build GPT\", but tensor 'blocks.0.extra.weight' has no place in it"},
        {"n_lecture_key_missing.pt",
         "tensor 'blocks.0.sa.heads.1.value.weight' is missing or of another kind, expected shape [2, 4] and the type of the other heads"},
        {"n_lecture_narrow.pt",
         "tensor 'blocks.0.sa.heads.1.query.weight' is missing or of another kind, expected shape [2, 4] and the type of the other heads"},
        {"n_lecture_one_head.pt",
         "is a model of the lecture \"Let's build GPT\", but tensor 'blocks.0.sa.heads.0.key.weight' is missing: only models with heads of their own are read"},
        {"n_llama_cut.bin", "is a file of llama2.c, whose header asks for 928 bytes, but it has 927: cut short?"},
        {"n_llama_groups.bin",
         "is a file of llama2.c, whose header says that the number of key/value heads is -1, expected at least 1"},
        {"n_llama_heads.bin", "is a file of llama2.c, whose header says that the number of heads is 0, expected at least 1"},
        {"n_llama_heads_odd.bin",
         "is a file of llama2.c, whose header says a width of 4, 3 heads and 1 key/value heads, expected each to be a multiple of the next, and heads of an"},
        {"n_llama_huge.bin", "is a file of llama2.c, whose header asks for 103079215600 bytes, but it has 928: cut short?"},
        {"n_llama_layers.bin",
         "is a file of llama2.c, whose header says that the number of layers is 0, expected at least 1"},
        {"n_llama_layers_huge.bin",
         "is a file of llama2.c, whose header asks for 1305670057696 bytes, but it has 928: cut short?"},
        {"n_llama_more.bin", "is a file of llama2.c, whose header asks for 928 bytes, but it has 929"},
        {"n_llama_odd_head.bin",
         "is a file of llama2.c, whose header says a width of 2, 2 heads and 2 key/value heads, expected each to be a multiple of the next, and heads of an"},
        {"n_llama_overflow.bin", "is a file of llama2.c, whose header asks for more bytes than 64 bits can count"},
        {"n_llama_quantised.bin",
         "is a file of llama2.c of version 2 (in 8 bits), expected version 1 (or 0, which has no number): write it with 'export.py --version 1'"},
        {"n_llama_short.bin", "is a file of llama2.c, cut short in its header of 256 bytes"},
        {"n_llama_tokens.bin", "whose header says that the vocabulary is -3, expected at least 1"},
        {"n_llama_version.bin",
         "is a file of llama2.c of version 7, expected version 1 (or 0, which has no number): write it with 'export.py --version 1'"},
        {"n_llama_width.bin", "is a file of llama2.c, whose header says that the width is 0, expected at least 1"},
        {"n_llmc_cut.bin", "is a file of llm.c, whose header asks for 4160 bytes, but it has 4158: cut short?"},
        {"n_llmc_heads.bin",
         "is a file of llm.c, whose header says a width of 4, 3 heads and 3 key/value heads, expected each to be a multiple of the next"},
        {"n_llmc_layers.bin", "is a file of llm.c, whose header asks for 2095944042656 bytes, but it has 4160: cut short?"},
        {"n_llmc_padded.bin",
         "is a file of llm.c, whose header says that a vocabulary of 129 is padded to 128, expected no fewer"},
        {"n_llmc_short.bin", "is a file of llm.c, cut short in its header of 1024 bytes"},
        {"n_llmc_version.bin",
         "is a file of llm.c of version 1, expected 3 (float32) or 5 (bfloat16) of a GPT-2, as train_gpt2.py writes them"},
        {"n_llmc_wide.bin", "is a file of llm.c, whose header says that the width of the MLP is 0, expected at least 1"},
        {"n_llmc_width.bin", "is a file of llm.c, whose header says that the width is -4, expected at least 1"},
        {"n_long_prefix.pt",
         "is a PyTorch file whose first tensor is 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxtr', expected one of nanoGPT or minGPT"},
        {"n_micro_bos.json", "\"BOS\" is 9, expected 2, the id after those of \"uchars\""},
        {"n_micro_cut.json", "line 1, column 1508: expected a value (the text ends here)"},
        {"n_micro_deep.json", "line 1, column 83: nested deeper than 64 levels (found '[')"},
        {"n_micro_empty.json", "line 1, column 248: expected a matrix, a list of rows of numbers"},
        {"n_micro_empty_row.json", "line 1, column 249: expected a row of at least one number"},
        {"n_micro_flat.json", "line 1, column 249: expected a matrix, a list of rows of numbers"},
        {"n_micro_further.json", "is a weights.json of microgpt, but matrix 'layer0.gate' has no place in it"},
        {"n_micro_heads.json", "\"d_model\" 4 is not a multiple of \"n_head\" 3, expected one, or a \"d_head\""},
        {"n_micro_large.json", "line 1, column 204: expected a number that float32 can hold"},
        {"n_micro_list.json", "line 1, column 13: expected an object of matrices"},
        {"n_micro_long_name.json", "line 1, column 1528: expected at most 65536 matrices with short names"},
        {"n_micro_metadata_twice.json", "line 1, column 1541: expected an object, once"},
        {"n_micro_more.json", "line 1, column 1528: expected nothing after the end of the document (found 'x')"},
        {"n_micro_no_fc1.json", "is a weights.json of microgpt without \"layer0.mlp_fc1\""},
        {"n_micro_no_heads.json",
         "is a weights.json of microgpt whose \"metadata\" has no \"n_head\": say how many heads it has with 'attn-cli convert -m "},
        {"n_micro_no_q2.json", "tensor 'blocks.0.attn.k.weight' is missing; config.json asks for it with shape [4, 4]"},
        {"n_micro_no_wte.json", "is a weights.json of microgpt without \"wte\""},
        {"n_micro_number.json", "entry 0 of the vocabulary is no text, expected a list of characters"},
        {"n_micro_ragged.json", "line 1, column 270: expected rows of equal length"},
        {"n_micro_text.json", "line 1, column 250: expected a row of at least one number"},
        {"n_micro_twice.json", "tensor 'wte' is there for the second time"},
        {"n_micro_wide.json", "tensor 'pos_embed.weight' has shape [1, 5], config.json expects [1, 4]"},
        {"n_micro_word.json",
         "token 'ab' is not one character, expected tokens of one character; for another tokenizer put its tokenizer.json, or vocab.json and merges.txt, beside"},
        {"n_module.pt",
         "byte 1483 of the pickle asks for 'argparse.Namespace', which is not run: expected only tensors, dictionaries, tuples, strings and numbers"},
        {"n_no_heads.pt",
         "is a checkpoint of nanoGPT, but nothing in it says how many heads it has: say it with 'attn-cli convert -m "},
        {"n_no_norm.pt", "is a checkpoint of nanoGPT, but there is no norm of its block 0"},
        {"n_no_positions.pt",
         "is a checkpoint of nanoGPT, but tensor 'transformer.wpe.weight' is missing, expected a matrix"},
        {"n_nothing.pt", "is a PyTorch file without tensors, expected the state_dict of a model"},
        {"n_only_embeddings.pt",
         "is a checkpoint of nanoGPT, but tensor 'transformer.h.0.mlp.c_fc.weight' is missing, expected a matrix"},
        {"n_other.pt",
         "is a PyTorch file whose first tensor is 'model.embed_tokens.weight', expected one of nanoGPT or minGPT (with 'transformer.wte.weight') or of the"},
        {"n_overlap.pt",
         "tensor 'transformer.wte.weight': its elements do not lie row after row, and there are more of them than the file has"},
        {"n_stoi_hole.pt", "token 'c' has id 3, expected 0 to 2, one for each of 3 tokens"},
        {"n_stoi_twice.pt", "tokens 'a' and 'b' both have id 0"},
        {"n_stoi_word.pt",
         "token 'bc' is not one character, expected tokens of one character; for another tokenizer put its tokenizer.json, or vocab.json and merges.txt, beside"},
        {"n_tokens_differ.pt", "\"model_args\" says that \"vocab_size\" is -3, but the tensors have 3"},
        {"n_turned_mlp.pt",
         "tensor 'transformer.h.0.mlp.c_proj.weight' has shape [8, 4], config.json expects [4, 8] (it is stored transposed: expected [out, in])"},
        {"n_vocab_call.pkl",
         "byte 2 of the pickle asks for 'os.system', which is not run: expected only tensors, dictionaries, tuples, strings and numbers"},
        {"n_vocab_cut.json", "line 1, column 8: expected ',' or '}' (the text ends here)"},
        {"n_vocab_empty_text.json",
         "token '' is not one character, expected tokens of one character; for another tokenizer put its tokenizer.json, or vocab.json and merges.txt, beside"},
        {"n_vocab_ids.json", "token 'b' has id 1.5, expected 0 to 1, one for each of 2 tokens"},
        {"n_vocab_large.json", "token 'b' has id 1e+300, expected 0 to 1, one for each of 2 tokens"},
        {"n_vocab_list.pkl", "the pickle holds a list, expected a dictionary"},
        {"n_vocab_negative.json", "token 'a' has id -1, expected 0 to 0, one for each of 1 tokens"},
        {"n_vocab_no_stoi.pkl",
         "there is no dictionary \"stoi\" in it, expected characters and their ids, as nanoGPT's prepare.py writes them"},
        {"n_vocab_numbers.pkl", "entry 0 of the vocabulary is no id, expected characters and their ids"},
        {"n_vocab_text.json", "is no vocabulary, expected characters and their ids"},
        {"n_width_differs.pt", "\"model_args\" says that \"n_embd\" is 1.09951e+12, but the tensors have 4"},
        {"n_without_prefix.pt", "tensor 'extra' has no place in the model that config.json describes"},
        {NULL, NULL}
    };
    scratch_make();
    corpus_check("tests/corpus/course", faults, read_file);
    scratch_remove();
}
END_TEST

Suite *suite_courses(void)
{
    Suite *s = suite_create("courses");
    TCase *tc = tcase_create("corpus");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_corpus);
    suite_add_tcase(s, tc);
    return s;
}
