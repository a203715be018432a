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
    return is_vocabulary(name) ? open_both(small, &(struct attn_lacking){.vocab = path}, err) :
           open_both(path, NULL, err);
}

START_TEST(test_corpus)
{
    static const struct corpus_fault faults[] = {
        {"n_bias_missing.pt",
         "tensor 'transformer.h.0.ln_1.bias' has no place in the model that the rest of the file describes"},
        {"n_bigram.pt",
         "is a model of the lecture \"Let's build GPT\", but tensor 'position_embedding_table.weight' is missing, "
         "expected a matrix"},
        {"n_flat.pt",
         "is a checkpoint of nanoGPT, but tensor 'transformer.wte.weight' has shape [12], expected a matrix"},
        {"n_further.pt",
         "tensor 'transformer.h.0.gate.weight' has no place in the model that the rest of the file describes"},
        {"n_heads_no_divisor.pt",
         "is a checkpoint of nanoGPT of width 4, with 3 heads, expected a divisor of the width"},
        {"n_heads_text.pt",
         "is a checkpoint of nanoGPT, but nothing in it says how many heads it has: say it with --as heads=N, N a "
         "divisor of its width 4"},
        {"n_layers_differ.pt", "\"model_args\" says that \"n_layer\" is 2, but the tensors have 1"},
        {"n_lecture_further.pt",
         "is a model of the lecture \"Let's build GPT\", but tensor 'blocks.0.extra.weight' has no place in it"},
        {"n_lecture_key_missing.pt",
         "tensor 'blocks.0.sa.heads.1.value.weight' is missing or of another kind, expected shape [2, 4] and the type "
         "of the other heads"},
        {"n_lecture_narrow.pt",
         "tensor 'blocks.0.sa.heads.1.query.weight' is missing or of another kind, expected shape [2, 4] and the type "
         "of the other heads"},
        {"n_lecture_one_head.pt",
         "is a model of the lecture \"Let's build GPT\", but tensor 'blocks.0.sa.heads.0.key.weight' is missing: only "
         "models with heads of their own are read"},
        {"n_llama_cut.bin", "is a file of llama2.c, whose header asks for 928 bytes, but it has 927: cut short?"},
        {"n_llama_groups.bin",
         "is a file of llama2.c, whose header says that the number of key/value heads is -1, expected at least 1"},
        {"n_llama_heads.bin",
         "is a file of llama2.c, whose header says that the number of heads is 0, expected at least 1"},
        {"n_llama_heads_odd.bin",
         "is a file of llama2.c, whose header says a width of 4, 3 heads and 1 key/value heads, expected each to be a "
         "multiple of the next, and heads of an"},
        {"n_llama_huge.bin",
         "is a file of llama2.c, whose header asks for 103079215600 bytes, but it has 928: cut short?"},
        {"n_llama_layers.bin",
         "is a file of llama2.c, whose header says that the number of layers is 0, expected at least 1"},
        {"n_llama_layers_huge.bin",
         "is a file of llama2.c, whose header asks for 1305670057696 bytes, but it has 928: cut short?"},
        {"n_llama_more.bin", "is a file of llama2.c, whose header asks for 928 bytes, but it has 929"},
        {"n_llama_odd_head.bin",
         "is a file of llama2.c, whose header says a width of 2, 2 heads and 2 key/value heads, expected each to be a "
         "multiple of the next, and heads of an"},
        {"n_llama_overflow.bin", "is a file of llama2.c, whose header asks for more bytes than 64 bits can count"},
        {"n_llama_quantised.bin",
         "is a file of llama2.c of version 2 (in 8 bits), expected version 1 (or 0, which has no number): write it "
         "with 'export.py --version 1'"},
        {"n_llama_short.bin", "is a file of llama2.c, cut short in its header of 256 bytes"},
        {"n_llama_tokens.bin", "whose header says that the vocabulary is -3, expected at least 1"},
        {"n_llama_version.bin",
         "is a file of llama2.c of version 7, expected version 1 (or 0, which has no number): write it with 'export.py "
         "--version 1'"},
        {"n_llama_width.bin", "is a file of llama2.c, whose header says that the width is 0, expected at least 1"},
        {"n_llmc_cut.bin", "is a file of llm.c, whose header asks for 4160 bytes, but it has 4158: cut short?"},
        {"n_llmc_heads.bin",
         "is a file of llm.c, whose header says a width of 4, 3 heads and 3 key/value heads, expected each to be a "
         "multiple of the next"},
        {"n_llmc_layers.bin",
         "is a file of llm.c, whose header asks for 2095944042656 bytes, but it has 4160: cut short?"},
        {"n_llmc_padded.bin",
         "is a file of llm.c, whose header says that a vocabulary of 129 is padded to 128, expected no fewer"},
        {"n_llmc_short.bin", "is a file of llm.c, cut short in its header of 1024 bytes"},
        {"n_llmc_version.bin",
         "is a file of llm.c of version 1, expected 3 (float32) or 5 (bfloat16) of a GPT-2, as train_gpt2.py "
         "writes them"},
        {"n_llmc_wide.bin",
         "is a file of llm.c, whose header says that the width of the MLP is 0, expected at least 1"},
        {"n_llmc_width.bin", "is a file of llm.c, whose header says that the width is -4, expected at least 1"},
        {"n_long_prefix.pt",
         "is a PyTorch file whose first tensor "
         "is 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxtr', expected one of nanoGPT "
         "or minGPT"},
        {"n_micro_bos.json", "\"BOS\" is 9, expected 2, the id after those of \"uchars\""},
        {"n_micro_cut.json", "line 1, column 1508: expected a value (the text ends here)"},
        {"n_micro_deep.json", "line 1, column 22: expected a row of at least one number"},
        {"n_micro_empty.json", "line 1, column 248: expected a matrix, a list of rows of numbers"},
        {"n_micro_empty_row.json", "line 1, column 249: expected a row of at least one number"},
        {"n_micro_flat.json", "line 1, column 249: expected a matrix, a list of rows of numbers"},
        {"n_micro_further.json", "is a weights.json of microgpt, but matrix 'layer0.gate' has no place in it"},
        {"n_micro_heads.json",
         "is a weights.json of microgpt of width 4, with 3 heads, expected a divisor of the width"},
        {"n_micro_large.json", "line 1, column 204: expected a number that float32 can hold"},
        {"n_micro_list.json", "line 1, column 13: expected an object of matrices"},
        {"n_micro_long_name.json", "line 1, column 1528: expected at most 65536 matrices with short names"},
        {"n_micro_metadata_twice.json", "line 1, column 1541: expected an object, once"},
        {"n_micro_more.json", "line 1, column 1528: expected nothing after the end of the document (found 'x')"},
        {"n_micro_no_fc1.json", "is a weights.json of microgpt, but there is no \"layer0.mlp_fc1\", neither at its top "
         "nor in \"weights\" or \"state_dict\" there"},
        {"n_micro_no_heads.json",
         "is a weights.json of microgpt, but nothing in it says how many heads it has: say it with --as heads=N, N a "
         "divisor of its width 4"},
        {"n_micro_no_q2.json",
         "tensor 'blocks.0.attn.k.weight' is missing; the rest of the file asks for it with shape [4, 4]"},
        {"n_micro_no_wte.json", "is a weights.json of microgpt, but there is no \"wte\", neither"},
        {"n_micro_number.json", "entry 0 of the vocabulary is no text, expected a list of characters"},
        {"n_micro_ragged.json", "line 1, column 270: expected rows of equal length"},
        {"n_micro_text.json", "line 1, column 250: expected a row of at least one number"},
        {"n_micro_twice.json", "tensor 'wte' is there for the second time"},
        {"n_micro_wide.json", "tensor 'pos_embed.weight' has shape [1, 5], the rest of the file expects [1, 4]"},
        {"n_micro_word.json",
         "token 'ab' is not one character, expected tokens of one character; "
         "for another tokenizer put its tokenizer.json, or vocab.json and merges.txt, beside"},
        {"n_module.pt",
         "byte 1483 of the pickle asks for 'argparse.Namespace', which is not run: expected only tensors, "
         "dictionaries, tuples, strings and numbers"},
        {"n_no_heads.pt",
         "is a checkpoint of nanoGPT, but nothing in it says how many heads it has: say it with --as heads=N, N a "
         "divisor of its width 4"},
        {"n_no_norm.pt", "is a checkpoint of nanoGPT, but there is no norm of its block 0"},
        {"n_no_positions.pt",
         "is a checkpoint of nanoGPT, but tensor 'transformer.wpe.weight' is missing, expected a matrix"},
        {"n_nothing.pt", "is a PyTorch file without tensors, expected the state_dict of a model"},
        {"n_only_embeddings.pt",
         "is a checkpoint of nanoGPT, but tensor 'transformer.h.0.mlp.c_fc.weight' is missing, expected a matrix"},
        {"n_other.pt",
         "is a PyTorch file whose first tensor is 'model.embed_tokens.weight', expected one of nanoGPT or minGPT (with "
         "'transformer.wte.weight') or of the"},
        {"n_overlap.pt",
         "tensor 'transformer.wte.weight': its elements do not lie row after row, and there are more of them than "
         "the file has"},
        {"n_stoi_hole.pt", "token 'c' has id 3, expected 0 to 2, one for each of 3 tokens"},
        {"n_stoi_twice.pt", "tokens 'a' and 'b' both have id 0"},
        {"n_stoi_word.pt",
         "token 'bc' is not one character, expected tokens of one character; "
         "for another tokenizer put its tokenizer.json, or vocab.json and merges.txt, beside"},
        {"n_tokens_differ.pt", "\"model_args\" says that \"vocab_size\" is -3, but the tensors have 3"},
        {"n_turned_mlp.pt",
         "tensor 'transformer.h.0.mlp.c_proj.weight' has shape [8, 4], the rest of the file expects [4, 8] (it is "
         "stored transposed: expected [out, in])"},
        {"n_vocab_call.pkl",
         "byte 2 of the pickle asks for 'os.system', which is not run: expected only tensors, dictionaries, tuples, "
         "strings and numbers"},
        {"n_vocab_cut.json", "line 1, column 8: expected ',' or '}' (the text ends here)"},
        {"n_vocab_empty_text.json",
         "token '' is not one character, expected tokens of one character; "
         "for another tokenizer put its tokenizer.json, or vocab.json and merges.txt, beside"},
        {"n_vocab_ids.json", "token 'b' has id 1.5, expected 0 to 1, one for each of 2 tokens"},
        {"n_vocab_large.json", "token 'b' has id 1e+300, expected 0 to 1, one for each of 2 tokens"},
        {"n_vocab_list.pkl", "the pickle holds a list, expected a dictionary"},
        {"n_vocab_negative.json", "token 'a' has id -1, expected 0 to 0, one for each of 1 tokens"},
        {"n_vocab_no_stoi.pkl",
         "there is no dictionary \"stoi\" in it, expected characters and their ids, as nanoGPT's prepare.py "
         "writes them"},
        {"n_vocab_numbers.pkl", "entry 0 of the vocabulary is no id, expected characters and their ids"},
        {"n_vocab_text.json", "is no vocabulary, expected characters and their ids"},
        {"n_width_differs.pt", "\"model_args\" says that \"n_embd\" is 1.09951e+12, but the tensors have 4"},
        {"n_without_prefix.pt", "tensor 'extra' has no place in the model that the rest of the file describes"},
        {"n_llama2c.pt", "is a checkpoint of llama2.c's train.py or of Meta's Llama, expected a .bin"},
        {NULL, NULL}
    };
    scratch_make();
    corpus_check("tests/corpus/course", faults, read_file);
    scratch_remove();
}
END_TEST

/* ---- what options say ---- */

#define C "tests/corpus/course/"
#define G "tests/golden/student/"

/* A line that makes $D/out, and one that says the same of what lies elsewhere. */
START_TEST(options_say_what_a_file_does_not)
{
    static const struct { const char *made, *same; } rows[] = {
        {"-m " C "n_no_heads.pt --as heads=2", "-m " C "y_nanogpt.pt"},
        {"-m $D/ckpt.pt --as heads=2,nanogpt,act=gelu --vocab " G "nanogpt-bias-a/meta.pkl", "-m " G "nanogpt-bias-a"},
        {"-m $D/mingpt.pt --as heads=4", "-m " G "mingpt-a"},
        {"-m $D/mingpt.pt --as heads=4,nanogpt,act=gelu_tanh", "-m " G "mingpt-a"},
        {"-m " G "lecture-a/model.pt --as lecture,act=relu,heads=4,scale=head,norm=pre,embed=plain",
         "-m " G "lecture-a"},
        {"-m " C "n_micro_no_heads.json --as heads=2,act=relu", "-m " C "y_micro.json"},
    };
    succeed("cp " G "nanogpt-bias-a/ckpt.pt $D; cp " G "mingpt-a/model.pt $D/mingpt.pt");
    succeed(printed("$A convert -q -o $D/out %s", rows[_i].made));
    expect_same("$A run -q -m $D/out --ids '1 2 0' --show pattern,logits",
                printed("$A run -q %s --ids '1 2 0' --show pattern,logits", rows[_i].same));
}
END_TEST

/* Another activation, and the scale of the video, change numbers; heads, too. */
START_TEST(options_count)
{
    static const char *const others[] = {"heads=2,act=relu", "heads=2,act=gelu_tanh", "heads=1", "heads=2,scale=width"};
    succeed("$A convert -q -m " C "n_no_heads.pt --as heads=2 -o $D/out && "
            "$A run -q -m $D/out --ids '1 2 0' --show logits --precision 9 >$D/logits");
    succeed(printed("$A convert -q -m " C "n_no_heads.pt -o $D/other --as %s", others[_i]));
    succeed("! $A run -q -m $D/other --ids '1 2 0' --show logits --precision 9 | cmp -s - $D/logits");
}
END_TEST

/* The lecture in the video divides scores by the root of the width, 4, and not by that of a head, 2. */
START_TEST(the_video_has_another_scale)
{
    succeed("for how in lecture lecture-video; do $A convert -q -m " C "y_lecture.pt -o $D/$how --as $how; done");
    expect_exactly("for how in lecture lecture-video; do $A run -q -m $D/$how --ids '1 2 0' --show scores --layer 0 "
                   "--format json | "
                   "jq -r '[.activations[0].data | flatten | .[] | numbers] | max_by(fabs)'; done | "
                   "awk 'NR == 1 {x = $1} NR == 2 {printf \"%.4f\\n\", x / $1}'", "1.4142\n");
}
END_TEST

/* Only what was not said is told, once, and not in the directory that a conversion writes. */
START_TEST(what_is_assumed_is_said)
{
#define NOTE C "y_lecture.pt does not say scale: assumed scale=head (--as changes that)\n"
    static const struct { const char *line, *says; } rows[] = {
        {"run -m " C "y_lecture.pt --ids 1", NOTE}, {"score -m " C "y_lecture.pt --ids 1,2", NOTE},
        {"convert -m " C "y_lecture.pt -o $D/out --force", NOTE "37 tensors\n"},
        {"run -q -m " C "y_lecture.pt --ids 1", ""},
        {"run -m " C "y_lecture.pt --as scale=width --ids 1", ""},
        {"run -m " C "y_lecture.pt --as lecture-video --ids 1", ""},
        {"run -m " C "y_lecture.pt --as lecture --ids 1", NOTE}, {"run -m $D/out --ids 1", ""},
        {"run -m " G "nanogpt-a --ids 1", ""},
        {"diff -m " C "y_lecture.pt --with " C "y_lecture.pt --as scale=head", NOTE},
        {"diff " C "y_lecture.pt " C "y_lecture.pt --as scale=head --ids 1,2", NOTE},
        {"diff -m " C "y_lecture.pt --as scale=head --with " C "y_lecture.pt --ids 1,2", NOTE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_exactly(printed("$A %s 2>&1 >/dev/null | sed 's/^[0-9]* tensors/37 tensors/'", rows[i].line),
                       rows[i].says);
    expect_exactly("for as in '' '--as scale=head' '--as scale=width'; do $A info -q -m " C
                   "y_lecture.pt $as --format json | jq -c .assumed; "
                   "$A info -q -m " C "y_lecture.pt $as | grep ^scale; done; $A info --format json | jq -c .assumed",
                   "[\"scale\"]\nscale         sqrt (assumed)\n[]\nscale         sqrt\n[]\nscale         0.5\n[]\n");
}
END_TEST

/* A list belongs to the model before it. */
START_TEST(each_of_two_models_has_its_own)
{
    static const char *const rows[] = {"-m %s --as scale=head --with %s --as scale=width",
                                       "%s --as scale=head %s --as scale=width"};
    const char *line = printed(rows[_i], C "y_lecture.pt", C "y_lecture.pt");
    expect(printed("ends 1 $A diff -q %s --ids 1,2", line), 0, "  field                 B\n  attention_multiplier  0.5\n");
}
END_TEST

/* The figures are those of score, and what is written has the scale of the smaller one. */
START_TEST(auto_takes_the_reading_of_least_loss)
{
    static const struct { const char *text, *head, *width, *taken, *scale; } rows[] = {
        {"abcdefghijklmnopqrstuvwxy", "4.2813", "4.3742", "head", "null"},
        {"yxwvutsrqponm", "4.2390", "4.0539", "width", "0.17677669529663687"}};
    succeed(printed("printf %s >$D/t; jq -n '[range(25) | [97 + .] | implode]' >$D/v.json", rows[_i].text));
    expect_exactly("$A convert -m " G
                   "lecture-a/model.pt --vocab $D/v.json --as auto -f $D/t -o $D/out 2>&1 | sed \"s:$D/::\"",
                   printed("scale=head: loss %s on t\nscale=width: loss %s on t\ntaken: scale=%s\n28 tensors\n",
                           rows[_i].head, rows[_i].width, rows[_i].taken));
    expect_exactly("jq .attention_multiplier $D/out/config.json", printed("%s\n", rows[_i].scale));
    expect_exactly("$A score -q -m $D/out -f $D/t --format json | jq '-.logprob / .n * 10000 | round / 10000'",
                   printed("%g\n", strtod(_i ? rows[_i].width : rows[_i].head, NULL)));
}
END_TEST

START_TEST(vocabularies_are_files_of_any_kind)
{
    static const struct { const char *make, *vocab, *text, *ids; } rows[] = {
        {":", C "y_vocab_ids.json", "b\u00e9a", "1 2 0"}, {":", C "y_vocab_list.json", "ba", "1 0"},
        {":", C "y_vocab_meta.pkl", "b\u00e9a", "1 2 0"}, {":", "tests/golden/checkpoints/gpt2-a", "the", NULL},
        {":", "tests/golden/checkpoints/neox-i/tokenizer.json", "the", NULL},
        {":", G "llama2c-v0-a/tokenizer.bin", "the", NULL}};
    succeed(printed("$A convert -q -m " C "y_nanogpt.pt -o $D/out --vocab %s", rows[_i].vocab));
    if (rows[_i].ids)
        expect_exactly(printed("$A tokenize -m $D/out -s '%s' --format json | jq -r '[.tokens[].id] | join(\" \")'",
                               rows[_i].text),
                       printed("%s\n", rows[_i].ids));
    else
        succeed(printed("$A tokenize -m $D/out -s '%s'", rows[_i].text));
}
END_TEST

/* nanoGPT keeps characters in ../data/NAME, llama2.c calls a tokenizer of V tokens tokV.bin. */
START_TEST(vocabularies_are_where_courses_put_them)
{
    succeed("mkdir -p $D/out $D/data/x && cp " C "y_nanogpt.pt $D/out/ckpt.pt && cp " C
            "y_vocab_meta.pkl $D/data/x/meta.pkl");
    expect_exactly("$A tokenize -m $D/out/ckpt.pt -s 'b\u00e9a' --format json | jq -r '[.tokens[].id] | join(\" \")'",
                   "1 2 0\n");
    succeed("mkdir $D/sized && cp " G
            "llama2c-v0-a/*.bin $D/sized && cd $D/sized && V=$($A info -m . --format json | jq .vocab_size) && "
            "mv tokenizer.bin tok$V.bin");
    expect_same("$A tokenize -m $D/sized -s the", "$A tokenize -m " G "llama2c-v0-a -s the");
}
END_TEST

/* What no option can say, and what needs none. */
static const struct { const char *line, *says; int status; } refused[] = {
    {"convert -m tiny -o $D/out --as heads=4",
     "tiny: is built in, and says itself what --as would say: leave it out", 2},
    {"run -m tests/golden/checkpoints/gpt2-a --as scale=head --ids 1",
     "gpt2-a: is a directory, whose config.json says itself what --as", 2},
    {"tokenize -m tests/golden/checkpoints/gpt2-a --as scale=head -s a",
     "gpt2-a: is a directory, whose config.json says itself", 2},
    {"convert -m tests/golden/checkpoints/gpt2-a -o $D/out --vocab x",
     "gpt2-a: is a directory, whose config.json says itself what --vocab", 2},
    {"convert -m " C "y_llama.bin -o $D/out --as heads=2", "is a file of llama2.c, which says itself", 2},
    {"run -m " C "y_llmc.bin --ids 1 --as act=gelu", "is a file of llm.c, which says itself", 2},
    {"convert -m " C "y_nanogpt.pt -o $D/out --as lecture",
     "is a checkpoint of nanoGPT, so it cannot be read as 'lecture'", 2},
    {"convert -m " C "y_lecture.pt -o $D/out --as mingpt", "is a model of the lecture", 2},
    {"convert -m " C "y_nanogpt.pt -o $D/out --as gpt2", "so it cannot be read as 'gpt2'", 2},
    {"convert -m " C "y_micro.json -o $D/out --as mingpt",
     "is a weights.json of microgpt, so it cannot be read as 'mingpt'", 2},
    {"score -m " C "y_nanogpt.pt --ids 1,2 --as gpt3",
     "--as: there is no 'gpt3', expected words of this list with commas between them: nanogpt, mingpt,", 2},
    {"info -m " C "y_lecture.pt --as scale=depth", "there is no 'scale=depth'", 2},
    {"info -m " C "y_lecture.pt --as heads=0", "there is no 'heads=0'", 2},
    {"info -m " C "y_lecture.pt --as scale=head,", "there is no ''", 2},
    {"info -m " C "y_lecture.pt --as ''", "--as: the list is empty", 2},
    {"info -m " C "y_lecture.pt --as scale=head,scale=width", "--as: scale is given twice, as head and as width", 2},
    {"info -m " C "y_lecture.pt --as lecture-video,scale=head", "--as: scale is given twice, as width and as head", 2},
    {"info -m " C "y_lecture.pt --as heads=2,heads=4", "--as: heads is given twice, as 2 and as 4", 2},
    {"info -m " C "y_lecture.pt --as scale=head --as act=relu",
     "--as is given twice for one model, as 'scale=head' and 'act=relu'", 2},
    {"info --as scale=head -m " C "y_lecture.pt", "--as scale=head stands before its model", 2},
    {"run -s a --as scale=head", "ATTN_MODEL: life: is built in, and says itself", 2},
    {"info -m " C "y_lecture.pt --as norm=post", "which has norm=pre, and --as says norm=post", 2},
    {"info -m " C "y_nanogpt.pt --as heads=1", "is a checkpoint of nanoGPT with 2 heads, and --as says heads=1", 2},
    {"info -m " C "n_no_heads.pt --as heads=3", "which cannot have 3 heads, expected a divisor of the width", 2},
    {"info -m " C "y_lecture.pt --as heads=4", "\" with 2 heads, and --as says heads=4", 2},
    {"info -m " C "y_nanogpt.pt --as act=relu2", "and --as says act=relu2: expected one of relu gelu gelu_tanh", 2},
    {"info -m " C "y_micro.json --as act=gelu", "and --as says act=gelu: expected one of relu relu2", 2},
    {"diff a.npz b.npz --as scale=head", "--as is for the file of a model: a.npz and b.npz are dumps", 2},
    {"train -f README.md -o $D/t --as scale=head", "--as is for the model that a training begins with", 2},
    {"convert -m " C "y_lecture.pt -o $D/out --as auto",
     "--as auto tries readings on a text like those it was trained on: give one with -f FILE", 2},
    {"convert -m " C "y_lecture.pt -o $D/out -f README.md", "-f is the text that --as auto tries", 2},
    {"convert -m " C "y_nanogpt.pt -o $D/out --as auto -f README.md", "so --as auto has nothing to try", 2},
    {"convert -m " C "y_nanogpt.pt -o $D/out --vocab $D", "there is no tokenizer in it", 1},
    {"convert -m " C "y_nanogpt.pt -o $D/out --vocab $D/none", "none: cannot open", 1},
    {"info -m README.md", "is a file, expected the directory of a model", 1},
};

START_TEST(what_cannot_be_said_is_refused)
{
    expect(printed("ends %d $A %s 2>&1", refused[_i].status, refused[_i].line), 0, refused[_i].says);
    succeed("[ ! -e $D/out ]");
}
END_TEST

/* ---- directories ---- */

/* A file's neighbours: only tokenizers count, and other weights count more. */
START_TEST(neighbours)
{
    succeed("mkdir $D/m && cp " C
            "y_nanogpt.pt $D/m/ckpt.pt && echo '{\"a\": 0, \"b\": 1, \"c\": 2}' >$D/m/vocab.json");
    expect_exactly("$A tokenize -m $D/m -s cab --format json | jq -r '[.tokens[].id] | join(\" \")'", "2 0 1\n");
    expect_same("$A info -m $D/m/ckpt.pt | tail -n +2", "$A info -m $D/m | tail -n +2");
    succeed("cp " C "y_vocab_meta2.pkl $D/m/meta.pkl");        /* the course's own goes before it */
    expect_exactly("$A tokenize -m $D/m -s 'b\u00e9a' --format json | jq -r '[.tokens[].id] | join(\" \")'", "1 2 0\n");
    succeed("echo '{\"eos_token_id\": 1, \"broken' >$D/m/generation_config.json; $A info -m $D/m; "
            "rm $D/m/generation_config.json");
    succeed("cd $D/m && $A info -m ckpt.pt && $A convert -q -m ckpt.pt -o . --force ");
    expect("$A info -m $D/m", 0, "from          /");         /* now it is a directory with weights of its own */
    expect("cd $D; $A diff -m m --with m/ckpt.pt --ids '1 2'", 0, "logits of the last row are the same");
}
END_TEST

Suite *suite_courses(void)
{
    Suite *s = suite_create("courses");
    TCase *options = tcase_create("options");
    tcase_add_checked_fixture(options, shell_set_up, scratch_remove);
    tcase_set_timeout(options, 60);
    tcase_add_loop_test(options, options_say_what_a_file_does_not, 0, 6);
    tcase_add_loop_test(options, options_count, 0, 4);
    tcase_add_test(options, the_video_has_another_scale);
    tcase_add_test(options, what_is_assumed_is_said);
    tcase_add_loop_test(options, each_of_two_models_has_its_own, 0, 2);
    tcase_add_loop_test(options, auto_takes_the_reading_of_least_loss, 0, 2);
    tcase_add_loop_test(options, vocabularies_are_files_of_any_kind, 0, 6);
    tcase_add_test(options, vocabularies_are_where_courses_put_them);
    tcase_add_loop_test(options, what_cannot_be_said_is_refused, 0, sizeof refused / sizeof *refused);
    tcase_add_test(options, neighbours);
    suite_add_tcase(s, options);
    TCase *tc = tcase_create("corpus");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, test_corpus);
    suite_add_tcase(s, tc);
    return s;
}
