/* test_contrast.c - diff of two models: what their files say, and what comes next on both sides. */
#include "suites.h"

#include "attn_tools.h"
#include "made.h"
#include "scratch.h"
#include "shell.h"
#include "wrong.h"

#include "base/clock.h"
#include "io/dump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPT2 "tests/golden/checkpoints/gpt2-a"

/* ---- copies with one thing changed ---- */

enum { MOST_TENSORS = 64 };

/* Writes $D/b, a model directory with these tensors and the other files of `from`. */
static void write_model(const char *from, const struct attn_st_tensor *t, size_t n)
{
    succeed(printed("mkdir -p $D/b && for f in %s/*.json; do cp $f $D/b; done", from));
    made_write(scratch_path("b/model.safetensors"), t, n);
}

static size_t read_tensors(struct made_weights *w, const char *from, struct attn_st_tensor t[MOST_TENSORS])
{
    *w = made_read(printed("%s/model.safetensors", from));
    size_t n = attn_st_count(w->st);
    ck_assert_uint_le(n, MOST_TENSORS);
    for (size_t i = 0; i < n; i++)
        t[i] = *attn_st_at(w->st, i);
    return n;
}

static struct attn_st_tensor *called(struct attn_st_tensor *t, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(t[i].name, name))
            return &t[i];
    ck_abort_msg("no tensor %s", name);
    return NULL;
}

/* Sets one number of a float32 tensor; the copy is the caller's to free. */
static float *with_number(struct attn_st_tensor *t, size_t i, float x)
{
    float *copy = malloc(t->bytes);
    memcpy(copy, t->data, t->bytes);
    copy[i] = x;
    t->data = (const unsigned char *)copy;
    return copy;
}

START_TEST(test_nothing)
{
    expect_exactly("$A diff models/life life",
                   "nothing differs: 4 weights are the same bit for bit\nA       models/life\n"
                   "B       life\nmodels  the same 4 weights, configuration and vocabulary\n");
    expect_exactly("$A diff models/life/model.safetensors models/life-full/model.safetensors",
                   "nothing differs: 4 weights are the same bit for bit\nA       models/life/model.safetensors\n"
                   "B       models/life-full/model.safetensors\nmodels  the same 4 weights\n");
    expect("$A diff -m tiny --with tiny --format json | jq -c '[.differs, .first, .tensors, .models.differs, "
           ".models.config, .models.vocabulary.a, (.models.weights | map(.status) | unique)]'", 0,
           "[false,null,[],false,[],8192,[\"same\"]]\n");
}
END_TEST

/* PyTorch stores a tied output layer twice, convert does not; one that is no copy is a difference. */
START_TEST(test_second_name)
{
    struct made_weights w;
    struct attn_st_tensor t[MOST_TENSORS];
    size_t n = read_tensors(&w, GPT2, t);
    t[n] = *called(t, n, "wte.weight");
    t[n].name = (char[]){"lm_head.weight"};
    write_model(GPT2, t, n + 1);
    succeed("cp " GPT2 "/merges.txt $D/b");
    expect("$A diff $D/b " GPT2, 0, "nothing differs: ");
    expect("$A diff " GPT2 " $D/b", 0, "nothing differs: ");
    float *other = with_number(&t[n], 0, 7);
    write_model(GPT2, t, n + 1);
    expect("$A diff $D/b " GPT2, 1, "  lm_head.weight  [97, 16] only in A ");
    free(other);
    made_close(&w);
}
END_TEST

/* life's q is [3, 2]: element 3 is in row 1, column 1. */
START_TEST(test_one_number)
{
    struct made_weights w;
    struct attn_st_tensor t[MOST_TENSORS];
    size_t n = read_tensors(&w, "models/life", t);
    struct attn_st_tensor *q = called(t, n, "blocks.0.attn.q.weight");
    float was;
    memcpy(&was, q->data + 3 * sizeof was, sizeof was);
    float *copy = with_number(q, 3, 0.5F);
    write_model("models/life", t, n);
    expect("$A diff models/life $D/b", 1, "the models differ: 1 of 4 weights\n");
    expect("$A diff models/life $D/b", 1, printed("\nweights: 3 of 4 are the same\n"
           "  weight                  shape   numbers  differ  max abs           A    B   error  largest at\n"
           "  blocks.0.attn.q.weight  [3, 2]        6       1    %.3g  %.9g  0.5  15.8 %%  [1, 1]\n", fabs((double)was - 0.5), (double)was));
    expect("ends 1 $A diff models/life $D/b --format json | jq -c '.models.weights[] | select(.status != \"same\") | [.name, .differing, .count, "
           ".at, .b]'", 0, "[\"blocks.0.attn.q.weight\",1,6,[1,1],0.5]\n");
    expect("$A diff models/life $D/b --atol 10", 0, "nothing differs: 4 weights");
    expect("$A diff -m models/life --with $D/b -s 'Life is' 2>&1", 1, "\nweights: 3 of 4 are the same\n");
    expect("$A diff -m models/life --with $D/b -s 'Life is' 2>&1", 1, "blocks.0.attn.q differs first");
    free(copy);
    made_close(&w);
}
END_TEST

/* A row of the embedding says whose it is. */
START_TEST(test_token_row)
{
    struct made_weights w;
    struct attn_st_tensor t[MOST_TENSORS];
    size_t n = read_tensors(&w, "models/life", t);
    float *copy = with_number(called(t, n, "embed.weight"), 2 * 3 + 1, 7.0F);
    write_model("models/life", t, n);
    expect("$A diff models/life $D/b", 1, "  [2, 1], of \"eat\"\n");
    free(copy);
    made_close(&w);
}
END_TEST

/* A last bit alone, 0 beside -0, NaN beside NaN, inf beside a number: each is said, or is no difference. */
START_TEST(test_odd_numbers)
{
    static const float a[] = {1, 0, NAN, INFINITY, 5}, b[] = {1.00000012F, -0.0F, NAN, 1, 5};
    struct attn_st_tensor x = made_tensor("w", a, 1, 5), y = made_tensor("w", b, 1, 5);
    made_write(scratch_path("a.safetensors"), &x, 1);
    made_write(scratch_path("b.safetensors"), &y, 1);
    expect("$A diff $D/a.safetensors $D/b.safetensors", 1, "  w       [1, 5]        5       3      inf  inf  1      -  [0, 3]\n");
    expect("ends 1 $A diff $D/a.safetensors $D/b.safetensors --format json | jq -c '.models.weights[0] | [.differing, .max_abs, .at, .a, .b]'", 0,
           "[3,null,[0,3],null,1]\n");
    expect("$A diff $D/a.safetensors $D/b.safetensors --rtol 1e-6", 1, "        5       1      inf  inf  1      -  [0, 3]\n");
}
END_TEST

/* What is left out is counted. */
START_TEST(test_many)
{
    expect_same("ends 1 $A diff " GPT2 " tests/golden/checkpoints/gpt2-b | sed -n 's/^  ... and \\([0-9]*\\) more weights (--all lists them)$/\\1/p'",
                "ends 1 $A diff " GPT2 " tests/golden/checkpoints/gpt2-b --format json | jq '[.models.weights[] | select(.status != \"same\")] | length - 10'");
}
END_TEST

/* ---- other types ---- */

/* What is compared is at a place of A, whose rows have another length than those of B. */
START_TEST(test_rows_of_other_lengths)
{
    static const float a[] = {0, 1, 2, 3, 4, 5}, b[] = {0, 1, 2, 8, 8, 3.5F, 4, 5, 8, 8};
    struct attn_st_tensor x = made_tensor("w", a, 2, 3), y = made_tensor("w", b, 2, 5);
    made_write(scratch_path("a.safetensors"), &x, 1);
    made_write(scratch_path("b.safetensors"), &y, 1);
    expect("ends 1 $A diff $D/a.safetensors $D/b.safetensors --format json | jq -c '.models.weights[0] | "
           "[.differing, .at, .a, .b]'", 0,
           "[1,[1,0],3,3.5]\n");
}
END_TEST

/* Whole numbers of each size have their values, and signs where they can have one. */
START_TEST(test_whole_numbers)
{
    static const struct { const char *dtype; size_t size; long long a, b; const char *says; } kinds[] = {
        {"I8", 1, -2, 100, "-2  100"}, {"I16", 2, -300, 7, "-300  7"}, {"I32", 4, -70000, -1, "-70000  -1"},
        {"I64", 8, -5000000000, 3, "-5e+09  3"}, {"U8", 1, 254, 1, "254  1"}, {"U16", 2, 65534, 2, "65534  2"},
        {"U32", 4, 4000000000, 0, "4e+09  0"}, {"BOOL", 1, 1, 0, "1  0"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct attn_st_tensor t = {.name = "w", .dtype = kinds[i].dtype, .ndim = 1, .shape = {3}, .count = 3,
                                   .bytes = 3 * kinds[i].size};
        unsigned char data[2][24] = {0};
        memcpy(data[0] + 2 * t.bytes / 3, &kinds[i].a, kinds[i].size);
        memcpy(data[1] + 2 * t.bytes / 3, &kinds[i].b, kinds[i].size);
        t.data = data[0];
        made_write(scratch_path("a.safetensors"), &t, 1);
        t.data = data[1];
        made_write(scratch_path("b.safetensors"), &t, 1);
        expect("$A diff $D/a.safetensors $D/b.safetensors", 1, "  [2]\n");
        expect("$A diff $D/a.safetensors $D/b.safetensors", 1, kinds[i].says);
    }
}
END_TEST

/* Two that a double cannot tell apart. */
START_TEST(test_the_largest_whole_numbers)
{
    static const uint64_t numbers[2][3] = {{1, 9007199254740992, 5}, {1, 9007199254740993, 5}};
    for (int i = 0; i < 2; i++) {
        struct attn_st_tensor t = {.name = "w", .dtype = "I64", .ndim = 1, .shape = {3}, .count = 3,
                                   .bytes = sizeof numbers[i], .data = (const unsigned char *)numbers[i]};
        made_write(scratch_path(i ? "b.safetensors" : "a.safetensors"), &t, 1);
    }
    expect("$A diff $D/a.safetensors $D/b.safetensors", 1, "  [1]\n");
}
END_TEST

static uint16_t bf16_of(float x)
{
    uint32_t bits, keep;
    memcpy(&bits, &x, sizeof bits);
    keep = bits >> 16;
    uint32_t rest = bits & 0xffff;
    return (uint16_t)(keep + (rest > 0x8000 || (rest == 0x8000 && (keep & 1))));
}

START_TEST(test_bf16)
{
    struct made_weights w;
    struct attn_st_tensor t[MOST_TENSORS];
    void *mine[MOST_TENSORS];
    size_t n = read_tensors(&w, GPT2, t), i;
    for (i = 0; i < n; i++) {
        ck_assert_str_eq(t[i].dtype, "F32");
        uint16_t *x = mine[i] = malloc(t[i].count * sizeof *x);
        for (size_t k = 0; k < t[i].count; k++) {
            float from;
            memcpy(&from, t[i].data + k * sizeof from, sizeof from);
            x[k] = bf16_of(from);
        }
        t[i].dtype = "BF16";
        t[i].bytes = t[i].count * sizeof *x;
        t[i].data = (const unsigned char *)x;
    }
    write_model(GPT2, t, n);
    expect("$A diff " GPT2 " $D/b", 1, "  F32   BF16 ");
    expect_exactly("ends 1 $A diff " GPT2 " $D/b --format json | jq -c '.models.types[] | [.weights - .rounded_b, .rounded_a]'", "[0,0]\n");
    expect("$A diff $D/b " GPT2, 1, "  BF16  F32  ");
    expect_exactly("ends 1 $A diff $D/b " GPT2 " --format json | jq -c '.models.types[] | [.weights - .rounded_a, .rounded_b]'", "[0,0]\n");
    expect("$A diff " GPT2 " $D/b --all", 1, "F32 in A, BF16 in B  ");
    expect("ends 1 $A diff " GPT2
           " $D/b --format json | jq -c '[.models.weights[] | select(.status == \"differs\") | .rounded] | unique'", 0,
           "[\"b\"]\n");
    /* One number that is not rounded, and its weight is one like any other. */
    ((uint16_t *)mine[0])[0] ^= 0x40;
    made_write(scratch_path("b/model.safetensors"), t, n);
    expect("$A diff " GPT2 " $D/b", 1, printed("  %s  ", t[0].name));
    for (i = 0; i < n; i++)
        free(mine[i]);
    made_close(&w);
}
END_TEST

/* ---- other sizes ---- */

static void edit_config(const char *sed) { succeed(printed("sed -i '%s' $D/b/config.json", sed)); }

START_TEST(test_vocabulary)
{
    struct made_weights w;
    struct attn_st_tensor t[MOST_TENSORS];
    size_t n = read_tensors(&w, "models/life", t);
    struct attn_st_tensor *e = called(t, n, "embed.weight");
    float *rows = calloc(7 * 3, sizeof *rows);
    memcpy(rows, e->data, e->bytes);
    *e = made_tensor("embed.weight", rows, 7, 3);
    write_model("models/life", t, n);
    edit_config("s/\"vocab_size\": 6/\"vocab_size\": 7/");
    succeed("jq '. + {\"zoo\": 6} | .eaten = .eat | del(.eat)' models/life/vocab.json > $D/b/vocab.json");
    expect("$A diff models/life $D/b", 1, "the models differ: the configuration, 2 tokens, 1 of 4 weights\n");
    expect("$A diff models/life $D/b", 1, "\n  vocab_size  6  7\n");
    expect("$A diff models/life $D/b", 1, "\nvocabulary: 6 tokens in A, 7 in B; 1 only in A, 2 only in B\n"
           "  id  A    B\n   2  eat  eaten\n   6       zoo\n");
    expect("$A diff models/life $D/b", 1, "  embed.weight  [6, 3] in A, [7, 3] in B       18       0        -  -  -      -\n");
    expect("$A diff -m models/life --with $D/b -s 'Life is short eat' 2>&1 >/dev/null", 0,
           "attn-cli diff: warning: B's tokenizer cannot read this text");
    expect("$A diff -m models/life --with $D/b --ids 0,2 2>&1 >/dev/null", 0,
           "attn-cli diff: warning: id 2 (token 1) is 'eat' in A's vocabulary and 'eaten' in B's: the same ids are "
           "other texts\n");
    expect("$A diff -q -m models/life --with $D/b --ids 0,2 2>&1 >/dev/null", 0, "");
    /* B's own seventh id is none of A: what differs is said beside why nothing ran. */
    expect("$A diff -m $D/b --with models/life --ids 6 2>/dev/null", 2,
           "the models differ: the configuration, 2 tokens, 1 of 4 weights\n");
    expect("$A diff -m $D/b --with models/life --ids 6 2>&1 >/dev/null", 2,
           "/b, and models/life has ids 0 to 5: they have other vocabularies");
    succeed("rm $D/b/vocab.json");
    expect("$A diff models/life $D/b", 1, "\ntokenizer: B has none that can be read: ");
    expect("$A diff models/life $D/b", 1, "can be given with --ids\n\nweights: ");
    /* Of two tokenizers that neither can be read, the files are told apart. */
    succeed("cp -r models/life $D/p && cp -r models/life $D/q && for m in p q; "
            "do jq '. + {\"twice\": 0}' models/life/vocab.json >$D/$m/vocab.json; done");
    expect("$A diff $D/p $D/q", 0, "");
    succeed("jq '. + {\"again\": 0}' models/life/vocab.json >$D/q/vocab.json");
    expect("$A diff $D/p $D/q", 1, "  vocab.json             differs              8\n");
    succeed("rm $D/q/vocab.json");
    expect("$A diff $D/p $D/q", 1, "  vocab.json             only in A ");
    succeed("cp -r models/life $D/r");                      /* a vocabulary that can be read beside one that cannot, or is not there */
    expect("$A diff $D/r $D/p", 1, "  vocab.json             differs              7\n");
    expect("$A diff $D/r $D/q", 1, "  vocab.json             only in A ");
    succeed("cp -r " GPT2 " $D/c && jq 'del(.layer_norm_epsilon) + {extra: 1}' $D/c/config.json >$D/one && "
            "mv $D/one $D/c/config.json");
    expect("$A diff " GPT2 " $D/c", 1, "\n  layer_norm_epsilon  1e-05  -\n  extra               -      1\n");
    expect("$A diff life liffe 2>&1", 2, "liffe: there is no such file or directory, nor a model of that name (life is a model");
    expect_exactly("ends 2 $A diff -m $D/b --with models/life --ids 6 --format json 2>/dev/null", "");
    free(rows);
    made_close(&w);
}
END_TEST

/* Same spellings in another order are told from other spellings; a text that is cut the same into other ids
 * is warned of. */
START_TEST(test_order_of_ids)
{
    succeed("cp -r models/life $D/b && jq '.is = 5 | .short = 4' models/life/vocab.json > $D/v && mv $D/v $D/b/vocab.json");
    expect("$A diff models/life $D/b", 1, "0 only in A, 0 only in B\n");
    expect("$A diff -m models/life --with $D/b -s 'Life is short' 2>&1 >/dev/null", 0,
           "the two models tokenise this text differently: token 1 is 4 'is' in A and 5 'is' in B; "
           "both run the ids of A\n");
    expect("$A diff -m models/life --with $D/b -s 'Life eat' 2>&1 >/dev/null | wc -c", 0, "0\n");
}
END_TEST

START_TEST(test_layers)
{
    succeed("cp -r models/stacked $D/b");
    edit_config("s/\"n_layer\": 3/\"n_layer\": 2/");
    struct made_weights w;
    struct attn_st_tensor t[MOST_TENSORS];
    size_t n = read_tensors(&w, "models/stacked", t), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (strncmp(t[i].name, "blocks.2.", 9) != 0)
            t[kept++] = t[i];
    made_write(scratch_path("b/model.safetensors"), t, kept);
    expect("$A diff models/stacked $D/b", 1, "\n  n_layer  3  2\n");
    expect("$A diff models/stacked $D/b", 1, printed("\nweights: %zu of %zu are the same\n", kept, kept));
    expect("$A diff models/stacked $D/b", 1, "\n  blocks.2.norm1.weight   [16] only in A  ");
    expect("$A diff -m models/stacked --with $D/b -s 'The cat sees'", 1, "\nonly in A: blocks.2.resid_pre ");
    /* Files of an architecture nobody knows are compared all the same, in the order of their numbers. */
    edit_config("s/attn-decoder/mystery/");
    expect("$A diff models/stacked $D/b", 1, "\n  model_type  \"attn-decoder\"  \"mystery\"\n");
    expect("$A diff models/stacked $D/b", 1, printed("\nweights: %zu of %zu are the same\n", kept, kept));
    made_close(&w);
}
END_TEST

/* A configuration that claims 2^31 layers or heads costs no more than its files. */
START_TEST(test_large_claims)
{
    succeed("cp -r models/stacked $D/b");
    edit_config("s/\"n_layer\": 3/\"n_layer\": 2147483647/");
    double start = attn_clock_now();
    expect("$A diff models/stacked $D/b", 1, "\n  n_layer  3  2147483647\n");
    ck_assert_double_lt(attn_clock_now() - start, 20);         /* a walk of all of them takes minutes */
}
END_TEST

/* Families that spell sizes differently are compared in our words; the prefix that files may omit is no part
 * of a name. */
START_TEST(test_families)
{
    expect("$A diff " GPT2 " tests/golden/checkpoints/llama-f", 1, "\nconfiguration, in our words, since the families differ:\n");
    expect("$A diff " GPT2 " tests/golden/checkpoints/llama-f", 1, "no name of A is one of B: with -s TEXT");
    succeed("cp -r " GPT2 " $D/b");
    struct made_weights w;
    struct attn_st_tensor t[MOST_TENSORS];
    size_t n = read_tensors(&w, GPT2, t);
    for (size_t i = 0; i < n; i++)
        t[i].name = strncmp(t[i].name, "transformer.", 12) ? printed("transformer.%s", t[i].name) : t[i].name + 12;
    made_write(scratch_path("b/model.safetensors"), t, n);
    expect("$A diff " GPT2 " $D/b", 0, "nothing differs: ");
    made_close(&w);
}
END_TEST

/* Many files with an index beside one, and PyTorch's beside safetensors. */
START_TEST(test_shards)
{
    struct made_weights w;
    struct attn_st_tensor t[MOST_TENSORS];
    size_t n = read_tensors(&w, "models/stacked", t), half = n / 2;
    char index[8192];
    int len = snprintf(index, sizeof index, "{\"weight_map\": {");
    for (size_t i = 0; i < n; i++)
        len += snprintf(index + len, sizeof index - (size_t)len,
                        "%s\"%s\": \"%c.safetensors\"", i ? ", " : "", t[i].name, i < half ? 'x' : 'y');
    len += snprintf(index + len, sizeof index - (size_t)len, "}}");
    succeed("mkdir $D/b && cp models/stacked/*.json $D/b");
    scratch_put(scratch_path("b/model.safetensors.index.json"), index, (size_t)len);
    made_write(scratch_path("b/x.safetensors"), t, half);
    made_write(scratch_path("b/y.safetensors"), t + half, n - half);
    expect("$A diff models/stacked $D/b", 0, printed("nothing differs: %zu weights are", n));
    expect("$A diff models/stacked/model.safetensors $D/b/x.safetensors", 1, printed("\nweights: %zu of %zu are the same\n", half, half));
    made_close(&w);
}
END_TEST

/* ---- what a model lies in ---- */

#define STUDENT(of) "tests/golden/student/" of
/* Of each container, and each form of file that it reads: a model, the file of a copy in which the lowest bit of one
 * byte is turned, from the end if it is below 0, and the weight that the byte is part of; a: other than that model. */
static const struct changed { const char *name, *model, *file; long at; const char *weight, *a; } changed[] = {
    {"directory", GPT2, "model.safetensors", -1, "ln_f.bias", NULL},
    {"builtin", "models/life", "model.safetensors", -1, "embed.weight", "life"},
    {"gguf", "tests/golden/gguf/qwen2-bf16", "model.gguf", -1, "model.norm.weight", NULL},
    {"gguf-q8_0", "tests/golden/gguf/llama-spm-q8_0", "model.gguf", -5000, "lm_head.weight", NULL},
    {"mlx", STUDENT("mlx-4bit-a"), "model.safetensors", -5000, "model.layers.1.self_attn.o_proj.weight", NULL},
    {"llama2c-v0", STUDENT("llama2c-v0-a"), "model.bin", 28, "model.embed_tokens.weight", NULL},
    {"llama2c-v1", STUDENT("llama2c-v1-a"), "model.bin", -1, "lm_head.weight", NULL},
    {"llmc", STUDENT("llmc-a"), "gpt2_tiny.bin", -1, "transformer.ln_f.bias", STUDENT("llmc-a/gpt2_tiny.bin")},
    {"microgpt", STUDENT("microgpt-a"), "weights.json", -20, "blocks.0.mlp.out.weight", NULL},
    {"lecture", STUDENT("lecture-a"), "model.pt", 20000, "transformer.h.0.attn.c_attn.weight", NULL},
    {"mingpt", STUDENT("mingpt-a"), "model.pt", 20000, "transformer.h.0.mlp.c_fc.weight", NULL},
    {"nanogpt", STUDENT("nanogpt-a"), "ckpt.pt", 20000, "transformer.h.1.mlp.c_fc.weight", NULL},
};
static const char *changed_name(int i) { return changed[i].name; }

static void turn_a_bit(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int byte = fgetc(f);
    ck_assert_int_ne(byte, EOF);
    ck_assert_int_eq(fseek(f, -1, SEEK_CUR), 0);
    ck_assert_int_eq(fputc(byte ^ 1, f), byte ^ 1);
    ck_assert_int_eq(fclose(f), 0);
}

START_TEST(every_container_is_compared)
{
    const struct changed *c = &changed[_i];
    const char *a = c->a ? c->a : c->model, *file = c->a && strchr(a, '/') ? printed("/%s", c->file) : "";
    succeed(printed("cp -r %s $D/b && chmod -R u+w $D/b", c->model));
    expect(printed("$A diff -m %s --with $D/b%s", a, file), 0, "nothing differs: ");
    turn_a_bit(scratch_path(printed("b/%s", c->file)), c->at);
    expect(printed("ends 1 $A diff -m %s --with $D/b%s --format json | jq -c '[.models.weights[] | "
                   "select(.status != \"same\") | .name]'", a, file), 0, printed("[\"%s\"]\n", c->weight));
}
END_TEST

START_TEST(test_trouble)
{
    succeed("printf '{}' > $D/x.safetensors; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:1\n"
            "size 5\n' > $D/lfs.bin");
    expect("$A diff $D/x.safetensors models/life 2>&1", 2, "x.safetensors: ");
    expect("$A diff models/life $D/lfs.bin 2>&1", 2, "Git LFS");
    expect("$A diff -m models/life/model.safetensors --with models/life -s Life 2>&1 >/dev/null", 2,
           "is a file, expected the directory");
    expect("mkdir $D/e && cp models/life/config.json $D/e && $A diff $D/e models/life", 1, "weights");
}
END_TEST

/* ---- what comes next ---- */

static struct attn_dump *logits_of(const char *model, const int32_t *ids, size_t n)
{
    struct attn_err err = {0};
    struct attn_model *m = made_open(model);
    struct attn_tokens *tokens = NULL;
    struct attn_select *what = NULL;
    struct attn_dump *d = NULL;
    int rc = attn_tokens_from_ids(&tokens, ids, n, &err) ||
        attn_select_new(&what, m, NULL, "logits", NULL, NULL, &err) ||
             attn_dump_run(&d, m, tokens, NULL, what, &(struct attn_plan){.threads = 1}, NULL, &err);
    ck_assert_msg(!rc, "%s", err.msg);
    attn_select_free(what);
    attn_tokens_free(tokens);
    attn_model_close(m);
    return d;
}

/* The definition, without a logarithm of sums: p log(p / q). */
static double kl_by_hand(const float *p, const float *q, size_t n)
{
    long double sp = 0, sq = 0, kl = 0;
    for (size_t i = 0; i < n; i++) {
        sp += expl((long double)p[i]);
        sq += expl((long double)q[i]);
    }
    for (size_t i = 0; i < n; i++)
        kl += expl((long double)p[i]) / sp * logl(expl((long double)p[i]) / sp / (expl((long double)q[i]) / sq));
    return (double)kl;
}

START_TEST(test_next)
{
    enum { T = 6 };
    static const int32_t ids[T] = {1, 5, 7, 2, 9, 3};
    struct attn_err err = {0};
    struct attn_diff *d;
    struct attn_diff_next x;
    struct attn_dump *a = logits_of(GPT2, ids, T), *b = NULL;
    wrong_copy("gpt2-a", "gelu_new", "gelu", NULL);
    b = logits_of(scratch_path("wrong"), ids, T);
    ck_assert_msg(!attn_diff_new(&d, a, b, &(struct attn_diff_opts){.atol = 1e-5}, &err), "%s", err.msg);
    attn_diff_next(&x, d);
    const float *p = attn_dump_item(a, "logits")->of.data, *q = attn_dump_item(b, "logits")->of.data;
    double mean_ab = 0, mean_ba = 0, last_ab = 0, last_ba = 0;
    ck_assert_uint_eq(x.rows, T);
    for (size_t t = 0; t < T; t++) {
        mean_ab += (last_ab = kl_by_hand(p + t * x.V, q + t * x.V, x.V)) / T;
        mean_ba += (last_ba = kl_by_hand(q + t * x.V, p + t * x.V, x.V)) / T;
    }
    ck_assert_double_gt(last_ba, 0);
    /* some hundred terms, each with a rounding of a double */
    ck_assert_double_eq_tol(x.kl_ab, last_ab, 1e-14);
    ck_assert_double_eq_tol(x.kl_ba, last_ba, 1e-14);
    ck_assert_double_eq_tol(x.kl_ab_mean, mean_ab, 1e-14);
    ck_assert_double_eq_tol(x.kl_ba_mean, mean_ba, 1e-14);
    ck_assert_uint_eq(x.n_a, ATTN_DIFF_NEXT);
    ck_assert_double_eq(x.max_abs,
                        fabs((double)p[(T - 1) * x.V + (size_t)x.at] - (double)q[(T - 1) * x.V + (size_t)x.at]));
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
}
END_TEST

/* By hand: A predicts (1/2, 1/2), B (3/4, 1/4); KL(B || A) = 3/4 ln 1.5 + 1/4 ln 0.5, the first row is the same. */
START_TEST(test_next_of_arrays)
{
    static const char form[] = "{\"activations\":[{\"name\":\"logits\",\"shape\":[2,2],\"data\":[[1,1],[%s,0]]}]}";
    const char *a = printed(form, "0"), *b = printed(form, "1.0986122886681098"), *odd = printed(form, "null");
    scratch_put(scratch_path("a.json"), a, strlen(a));
    scratch_put(scratch_path("b.json"), b, strlen(b));
    scratch_put(scratch_path("odd.json"), odd, strlen(odd));
    expect("$A diff $D/a.json $D/b.json", 1, "\nnext token, the likeliest:\n  A   id 0 50.0%  id 1 50.0%\n  B   id 0 75.0%  id 1 25.0%\n"
           "  logits differ by up to 1.1 in the last row: id 0: A 0, B 1.098612\n"
           "  KL(B || A) 0.1308 nats at the last token, 0.06541 in the mean over 2 rows\n");
    expect("ends 1 $A diff $D/a.json $D/b.json --format json | jq -c '.next | [.rows, (.kl_b_a.last * 1e6 | "
           "round), (.kl_a_b.last * 1e6 | round), (.kl_a_b.mean * 1e6 | round), .b[0].id, .b[0].text]'", 0,
           "[2,130812,143841,71921,0,null]\n");
    expect("$A diff $D/a.json $D/odd.json", 1, "  B  the logits are no distribution: one is NaN or inf\n");
    expect("$A diff $D/a.json $D/odd.json", 1, "  KL(B || A) is not defined in every row: a logit is NaN or inf\n");
    expect("$A diff $D/odd.json $D/odd.json", 0, "nothing differs");
}
END_TEST

Suite *suite_contrast(void)
{
    Suite *s = suite_create("contrast");
    TCase *t = tcase_create("contrast");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, test_nothing);
    tcase_add_test(t, test_second_name);
    tcase_add_test(t, test_one_number);
    tcase_add_test(t, test_token_row);
    tcase_add_test(t, test_odd_numbers);
    tcase_add_test(t, test_many);
    tcase_add_test(t, test_rows_of_other_lengths);
    tcase_add_test(t, test_whole_numbers);
    tcase_add_test(t, test_the_largest_whole_numbers);
    tcase_add_test(t, test_bf16);
    tcase_add_test(t, test_vocabulary);
    tcase_add_test(t, test_order_of_ids);
    tcase_add_test(t, test_layers);
    tcase_add_test(t, test_large_claims);
    tcase_add_test(t, test_families);
    tcase_add_test(t, test_shards);
    attn_test_add_rows(t, every_container_is_compared, (int)(sizeof changed / sizeof *changed), changed_name);
    tcase_add_test(t, test_trouble);
    tcase_add_test(t, test_next);
    tcase_add_test(t, test_next_of_arrays);
    suite_add_tcase(s, t);
    return s;
}
