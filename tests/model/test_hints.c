/* What people type first: what is there in place of a model is named, with what to do; Hugging Face's
 * cache is found. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdlib.h>

static void set_up(void)
{
    shell_set_up();
    setenv("HF_HOME", scratch_dir, 1);
    unsetenv("HF_HUB_CACHE");
    unsetenv("HUGGINGFACE_HUB_CACHE");
}

#define M "tests/golden/checkpoints/gpt2-a"

/* How a directory $D/m is made, and what is said of it. */
static const struct { const char *make, *says; } instead[] = {
    {"echo {} >$D/m/adapter_config.json; echo x >$D/m/adapter_model.safetensors",
     "m: holds an adapter (adapter_config.json)"},
    {"cp " M "/config.json $D/m; echo x >$D/m/adapter_model.bin", "merge the two with PEFT's merge_and_unload()"},
    {"cp " M
     "/*.json $D/m; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:0\\n' >$D/m/model.safetensors",
     "m/model.safetensors: is a pointer of Git LFS, not the file it stands for: run 'git lfs install' and 'git "
     "lfs pull'"},
    {"cp " M "/*.json $D/m; printf 'version https://git-lfs.github.com/spec/v1\\n' >$D/m/pytorch_model.bin",
     "m/pytorch_model.bin: is a pointer of Git LFS"},
    {"printf 'GGUF\\3\\0\\0\\0' >$D/m/model-Q4_K_M.gguf",
     "m/model-Q4_K_M.gguf: the file ends after 8 bytes, in its header"},
    {"cp " M "/config.json $D/m; printf 'GGUF\\3\\0' >$D/m/model.safetensors",
     "m/model.safetensors: is a GGUF file under another name"},
    {"cp " M "/vocab.json " M "/merges.txt $D/m",
     "m: there is a tokenizer (vocab.json) but no model: config.json and weights"},
    {"cp " M "/model.safetensors $D/m", "m: there are weights (model.safetensors) but no config.json"},
    {"cp " M "/config.json $D/m",
     "m: there is a config.json but no weights: expected model.safetensors or pytorch_model.bin"},
    {"cp " M "/config.json $D/m; echo x >$D/m/tf_model.h5",
     "m: there are no weights that are read here, but tf_model.h5"},
    {"cp " M "/config.json $D/m; echo x >$D/m/gpt2.safetensors",
     "m: there are no weights that are read here, but gpt2.safetensors"},
    {":", "m/config.json: cannot open: No such file or directory"},
    {"mkdir -p $D/m/snapshots/a1 $D/m/snapshots/b2",
     "m: is a directory of Hugging Face's cache with 2 snapshots: give one of them, "
     "snapshots/a1, snapshots/b2"},
    {"mkdir $D/m/snapshots", "m: is a directory of Hugging Face's cache without a snapshot: download the model again"},
};
enum { INSTEAD = sizeof instead / sizeof *instead };

#define LLAMA "tests/golden/checkpoints/llama-f"
/* Renames tensors, all of the same length, in a copy of llama-f. */
#define RENAMED(from, to) "cp " LLAMA "/*.* $D/m; LC_ALL=C sed -i 's/" from "/" to "/g' $D/m/model.safetensors"

/* Models of other types, and weights that are quantised though config.json does not say so. */
static const struct { const char *make, *says; } others[] = {
    {"cp " LLAMA "/*.* $D/m; sed -i 's/\"llama\"/\"llamoid\"/' $D/m/config.json",
     "m/config.json: \"model_type\" is \"llamoid\", which is not read; "
     "nearest is \"llama\": it has 13 of its 15 keys and 12 of its 12 kinds of tensors"},
    {"cp " M "/*.* $D/m; sed -i 's/\"gpt2\"/\"biogpt2\"/' $D/m/config.json",
     "which is not read; nearest is \"gpt2\": it has "},
    {"cp tests/golden/checkpoints/cohere-a/*.* $D/m; sed -i 's/\"cohere\"/\"coherent\"/' $D/m/config.json",
     "which is not read; nearest is \"cohere\": it has "},
    {"cp tests/golden/checkpoints/cohere-a/*.json $D/m; sed -i 's/\"cohere\"/\"coherent\"/' $D/m/config.json",
     "\"model_type\" is \"coherent\", expected \"attn-decoder\", \"gpt2\", "},
    {RENAMED("0.self_attn.v_proj.weight", "0.self_attn.v_proj.weigh7"),
     "m/model.safetensors: tensor 'model.layers.0.self_attn.v_proj.weight' is missing"},
    {RENAMED("0.self_attn.v_proj.weight", "0.self_att.v_proj.qweight"),
     "of weights that are quantised by AWQ or GPTQ, which is not read: take the model that this one was made from, "
     "with weights of 16 or 32 bits, or a GGUF file of it"},
    {RENAMED("0.self_attn.v_proj.weight", "0.self_attn.v_proje.g_idx"), "are quantised by GPTQ, which is not read"},
    {RENAMED("0.self_attn.v_proj.weight", "0.self_attn.v_proj.absmax"),
     "are quantised by bitsandbytes, 4 bits, which is not read"},
};
enum { OTHERS = sizeof others / sizeof *others };

START_TEST(test_others)
{
    succeed(printed("mkdir $D/m; %s", others[_i].make));
    expect("ends 1 $A info -m $D/m 2>&1", 0, others[_i].says);
}
END_TEST

START_TEST(the_rules_of_words_are_checked)
{
    succeed("mkdir $D/life && cp models/life/*.json $D/life && "
            "jq '.tokenizer.lowercased = true' models/life/config.json >$D/life/config.json");
    expect("$A tokenize -m $D/life -s Life 2>&1", 1,
           "/life/config.json: unknown key \"tokenizer.lowercased\", did you mean \"tokenizer.lowercase\"?");
}
END_TEST

START_TEST(test_directory)
{
    succeed(printed("mkdir $D/m; %s", instead[_i].make));
    expect("ends 1 $A info -m $D/m 2>&1", 0, instead[_i].says);
}
END_TEST

/* Whatever file of a model is still a pointer, it is said. */
START_TEST(test_pointer)
{
    static const char *const files[] = {"config.json", "tokenizer.model", "tokenizer.json", "tokenizer.bin",
                                        "tokenizer_config.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        expect(printed("rm -rf $D/m; mkdir $D/m; cp " M "/*.json $D/m; rm $D/m/vocab.json; "
                       "printf 'version https://git-lfs.github.com/spec/v1\\n' >$D/m/%s; "
                       "ends 1 $A tokenize -m $D/m -s x 2>&1",
                       files[i]), 0, printed("m/%s: is a pointer of Git LFS", files[i]));
}
END_TEST

START_TEST(test_file)
{
    expect("printf 'GGUF\\3\\0\\0\\0' >$D/m.gguf; ends 1 $A run -m $D/m.gguf -s x 2>&1", 0,
           "m.gguf: the file ends after 8 bytes");
    expect("ends 1 $A run -m " M "/model.safetensors -s x 2>&1", 0, "is a file, expected the directory of a model");
}
END_TEST

#define INIT "cd $D; $A init -o m --n-layer 1 --n-head 1 --d-model 4 "

/* The vocabulary of one's own: a list, ids with a hole, in place of a model. */
START_TEST(test_vocabulary)
{
    succeed("cd $D; echo '[\"a\", \"b\"]' >list.json; echo '{\"a\": 0, \"b\": 1, \"c\": 9}' >hole.json");
    expect(INIT "--vocab list.json 2>&1", 1, "attn-cli init: list.json: is a list, expected an object, as in "
           "{\"a\": 0, \"b\": 1}\n");
    expect(INIT "--vocab list.json --vocab-size 2 2>&1", 1, "list.json: is a list");
    expect(INIT "--vocab hole.json 2>&1", 1, "hole.json: the largest id is 9, expected 0 to 2, as there are 3 words\n");
    expect(INIT "--vocab hole.json --vocab-size 9 2>&1", 1, "hole.json: the largest id is 9, but the config has "
           "vocab_size 9\n");
    succeed(INIT "--vocab hole.json --vocab-size 10");
    expect("cd $D; ends 1 $A run -m hole.json -s a 2>&1", 0, "hole.json: is a file, expected the directory of a model, "
           "which has a config.json, or a GGUF file; of a vocabulary, 'init -o DIR --vocab FILE' makes one\n");
    expect("ends 1 $A tokenize -m " M "/config.json -s a 2>&1", 0, "which has a config.json, or a GGUF file\n");
}
END_TEST

/* What the message of a model that cannot predict, or of a text that it cannot read, says next. */
START_TEST(test_next_step)
{
    expect("ends 1 $A generate -m life -s Life 2>&1", 0, "it predicts no tokens: 'init --unembed' makes one that has, "
           "'train' one");
    expect("$A init --help", 0, "  --unembed true|false ");
    expect("ends 1 $A heads -m induction -s 'the cat' 2>&1", 0, "has 65 words, the first: 'ant' 'ape' 'apple' ");
}
END_TEST

START_TEST(test_name)
{
    expect("cd $D; ends 1 $A run -m gpt2 -s x 2>&1", 0,
           "do 'huggingface-cli download gpt2 --local-dir gpt2', and bring that directory");
    expect("ends 1 $A run -m nobody/gpt2 -s x 2>&1", 0, "nobody/gpt2/config.json");
    expect("ends 1 $A run -m nobody/gpt2 -s x 2>&1", 0, "nor a model of this name in Hugging Face's cache");
}
END_TEST

#define CACHED "mkdir -p $D/hub/models--some--small/snapshots/0123 && cp " M \
    "/*.* $D/hub/models--some--small/snapshots/0123; "

START_TEST(test_cache)
{
    expect(CACHED "$A info -m some/small", 0, "model         small");
    expect("$A info -m $D/hub/models--some--small", 0, "model         small");
    expect_same("$A run -m some/small --ids 1 --show logits", "$A run -m " M " --ids 1 --show logits");
    succeed("mv $D/hub/models--some--small $D/hub/models--small; $A info -m small");
    expect("HF_HUB_CACHE=$D ends 1 $A info -m small 2>&1", 0, "no model 'small'");
    expect("HUGGINGFACE_HUB_CACHE=$D ends 1 $A info -m small 2>&1", 0, "no model 'small'");
    succeed("HF_HOME= HUGGINGFACE_HUB_CACHE=$D/hub $A info -m small; "
            "HF_HUB_CACHE=$D/hub HUGGINGFACE_HUB_CACHE=$D $A info -m small");
    expect("mkdir $D/hub/models--small/snapshots/4567; ends 1 $A info -m small 2>&1", 0,
           "with 2 snapshots: give one of them");
}
END_TEST

/* What is in refs/main when there is another snapshot, and whether the one that is a model is taken for it. */
static const struct { const char *make; bool taken; } mains[] = {
    {"printf 0123 >$R", true},
    {"echo 0123 >$R", true},
    {"printf 4567 >$R", false},
    {":", false},
    {": >$R", false},
    {"printf 89ab >$R", false},
    {"printf '0123\\n\\n' >$R", false},
    {"printf '0123\\0' >$R", false},
    {"printf ../snapshots/0123 >$R", false},
    {"printf ../../../elsewhere >$R; cp -r $B/snapshots/0123 $D/elsewhere", false},
    {"head -c 100000 /dev/zero >$R", false},
    {"mkfifo $R", false},
    {"mkdir $R", false},
};

START_TEST(test_main)
{
    succeed(printed(CACHED "B=$D/hub/models--some--small R=$B/refs/main; mkdir $B/refs $B/snapshots/4567; %s",
                    mains[_i].make));
    const char *status = mains[_i].taken ? "0" : "1", *says = mains[_i].taken ? "model         small" : "";
    expect(printed("ends %s timeout 100 $A info -m some/small 2>&1", status), 0, says);
    expect(printed("ends %s timeout 100 $A info -m $D/hub/models--some--small 2>&1", status), 0, says);
    expect("timeout 100 $A models", 0,
           mains[_i].taken ? "\nsome/small  " : "/hub/models--some--small/snapshots/0123  ");
}
END_TEST

START_TEST(test_list)
{
    expect(CACHED "$A models", 0, "some/small          gpt2               8.7 k       32  Hugging Face cache\n");
    expect("mkdir -p $D/list/own; cp " M "/*.* $D/list/own; ATTN_MODEL_PATH=$D/list $A models --format names", 0,
           "induction\nown\nsome/small\n");
    expect("cp -r $D/list/own $D/list/life; ATTN_MODEL_PATH=$D/list $A models --format names", 0, "/list/life\nown\n");
    expect("rm $D/list/own/model.safetensors; ATTN_MODEL_PATH=$D/list $A models", 0, "\n  cannot be opened: ");
    expect("ATTN_MODEL_PATH=$D/list $A models --format json | $PYTHON -c 'import json, sys; "
           "print([(m[\"name\"], m[\"n_ctx\"]) for m in json.load(sys.stdin) if m[\"where\"] == \"Hugging Face "
           "cache\"])'", 0, "[('some/small', 32)]");
    succeed("for m in $($A models --format names); do $A info -m $m >$D/info; done");
}
END_TEST

Suite *suite_hints(void)
{
    Suite *s = suite_create("hints");
    TCase *t = tcase_create("hints");
    tcase_add_checked_fixture(t, set_up, scratch_remove);
    tcase_add_test(t, the_rules_of_words_are_checked);
    tcase_add_loop_test(t, test_directory, 0, INSTEAD);
    tcase_add_loop_test(t, test_others, 0, OTHERS);
    tcase_add_test(t, test_pointer);
    tcase_add_test(t, test_file);
    tcase_add_test(t, test_vocabulary);
    tcase_add_test(t, test_next_step);
    tcase_add_test(t, test_name);
    tcase_add_test(t, test_cache);
    tcase_add_loop_test(t, test_main, 0, sizeof mains / sizeof *mains);
    tcase_add_test(t, test_list);
    suite_add_tcase(s, t);
    return s;
}
