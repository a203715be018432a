/* GGUF: what is read, what is refused and how, shards, directories, tokens, and the way back to Hugging Face's files.
 * The numbers of its models are compared in the suite `checkpoints`. */
#include "suites.h"

#include "checkpoints.h"
#include "ggufs.h"
#include "golden.h"
#include "made.h"
#include "sanitized.h"
#include "scratch.h"
#include "shell.h"

#include "base/clock.h"
#include "io/gguf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/gguf/"

/* ---- the container ---- */

static const struct { const char *file, *says; } malformed[] = {
    {"y_valid", NULL}, {"y_bytes", NULL}, {"y_pieces", NULL},
    {"n_short_header", "the file ends after 14 bytes, in its header: was the download complete?"},
    {"n_pair_count",
     "the file claims 1152921504606846976 pairs of metadata, expected at most the 295 that its 4160 bytes can hold"},
    {"n_long_string", "general.name at byte 93 has 1099511627776 bytes, expected at most the 27 that are left"},
    {"n_bad_version", "is a GGUF file of version 4, expected 2 or 3"},
    {"n_offset_not_aligned", "tensor 'blk.0.attn_q.weight' starts at byte 260 of the data, expected a multiple of 32"},
    {"n_overlap",
     "tensor 'blk.0.attn_k.weight' starts at byte 256 of the data, expected 512, where the tensor before it ends"},
    {"n_outside", "tensor 'blk.0.ffn_down.weight' starts at byte 1048576 of the data, expected 2080"},
    {"n_unknown_type", "tensor 'blk.0.ffn_up.weight' has type 250, which is none of GGUF's; expected F32, F16"},
    {"n_dims_overflow",
     "tensor 'blk.0.ffn_gate.weight' of shape [8589934592, 8589934592] has more numbers than a file can hold"},
    {"n_duplicate_tensor", "tensor 'output_norm.weight' is there twice, expected once"},
    {"n_wrong_kind", "key 'llama.block_count' is string, expected a whole number"},
    {"n_alignment_zero", "key 'general.alignment' is 0, expected a power of two"}};
enum { MALFORMED = sizeof malformed / sizeof *malformed };

static void open_said(const char *path, const char *says)
{
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    int rc = attn_model_open(&m, path, &err);
    attn_model_close(m);
    if (!says) {
        ck_assert_msg(!rc, "%s", err.msg);
        return;
    }
    ck_assert_msg(rc == ATTN_EFORMAT && strstr(err.msg, says) && !strncmp(err.msg, path, strlen(path)),
                  "'%s' lacks '%s'", err.msg,
                  says);
}

START_TEST(damaged_files_are_refused)
{
    open_said(printed("tests/corpus/gguf/%s.gguf", malformed[_i].file), malformed[_i].says);
}
END_TEST

/* Cut anywhere before its data ends, a file is refused, and no byte beyond its end is read. */
START_TEST(cut_files_are_refused)
{
    struct ggufs g = ggufs_llama(16);
    size_t len, data = g.data.n;
    unsigned char *x = ggufs_put_together(&g, &len);
    for (size_t n = 0; n < len; n += n < len - data ? 1 : 97) {
        struct attn_gguf *read = NULL;
        struct attn_err err = {0};
        unsigned char *part = malloc(n ? n : 1);
        memcpy(part, x, n);
        ck_assert_int_eq(attn_gguf_open(&read, part, n, "cut.gguf", &err), ATTN_EFORMAT);
        ck_assert(!read && !strncmp(err.msg, "cut.gguf: ", 10));
        free(part);
    }
    free(x);
    ggufs_free(&g);
}
END_TEST

/* What one further pair, or a pair or tensor in place of others, does to a model. */
static void no_more(struct ggufs *g) { (void)g; }
static void experts(struct ggufs *g) { ggufs_u32(g, "llama.expert_count", 8); }
static void twice(struct ggufs *g) { ggufs_u32(g, "llama.block_count", 1); }
static void arrays(struct ggufs *g) { ggufs_raw(g, "x.y", 9, (const uint32_t[]){9, 1, 0}, 12); }
static void other_kind(struct ggufs *g) { ggufs_raw(g, "x.y", 13, NULL, 4); }
static void many(struct ggufs *g) { ggufs_raw(g, "x.y", 9, (const uint32_t[]){8, 0, 1u << 28}, 12); }
static void swapped(struct ggufs *g) { g->version = 0x03000000; }
static void old(struct ggufs *g) { g->version = 1; }
static void tensors(struct ggufs *g) { g->tensors = UINT64_C(1) << 60; }
static void odd_alignment(struct ggufs *g) { ggufs_u32(g, "general.alignment", 48); }
static void adapter(struct ggufs *g) { ggufs_text(g, "general.type", "adapter"); }
static void differing(struct ggufs *g) { ggufs_i32s(g, "llama.attention.head_count_kv", (const int32_t[]){2, 1}, 2); }
static void no_heads(struct ggufs *g) { ggufs_u32(g, "llama.attention.head_count_kv", 0); }
static void some_turned(struct ggufs *g) { ggufs_u32(g, "llama.rope.dimension_count", 2); }
static void strange_scaling(struct ggufs *g)
{
    ggufs_text(g, "llama.rope.scaling.type", "spiral");
    ggufs_f32(g, "llama.rope.scaling.factor", 2);
}
static void other_vocabulary(struct ggufs *g) { ggufs_u32(g, "llama.vocab_size", 17); }
static void part_of_three(struct ggufs *g)
{
    const uint16_t no = 0, count = 3;
    ggufs_raw(g, "split.no", 2, &no, 2);
    ggufs_raw(g, "split.count", 2, &count, 2);
}
static void of_type(struct ggufs *g, uint32_t type, uint64_t row)
{
    ggufs_tensor(g, "blk.0.extra.weight", 2, (const uint64_t[]){row, 1}, type, NULL, 512);
}
static void iq4_xs(struct ggufs *g) { of_type(g, 23, 256); }
static void mxfp4(struct ggufs *g) { of_type(g, 39, 32); }
static void tq1(struct ggufs *g) { of_type(g, 34, 256); }
static void short_row(struct ggufs *g) { of_type(g, 2, 33); }
static void extra(struct ggufs *g) { of_type(g, 0, 128); }
static void no_rows(struct ggufs *g) { of_type(g, 0, 0); }
static void five(struct ggufs *g) { ggufs_tensor(g, "x", 5, (const uint64_t[]){1, 1, 1, 1, 1}, 0, NULL, 4); }
static void few_factors(struct ggufs *g)
{
    ggufs_tensor(g, "rope_freqs.weight", 1, (const uint64_t[]){1}, 0, &(float){1}, 4);
}

static const struct { void (*change)(struct ggufs *g); const char *says; } changes[] = {
    {no_more, NULL},
    {experts, "key 'llama.expert_count' is 8, expected 0: such models are not read here"},
    {twice, "key 'llama.block_count' is there twice"}, {arrays, "key 'x.y' is an array of arrays"},
    {other_kind, "key 'x.y' has a value of type 13, expected 0 to 12"},
    {many, "key 'x.y' has 1152921504606846976 values of type string, expected fewer"},
    {swapped, "is a GGUF file of a big-endian machine"}, {old, "is a GGUF file of version 1, expected 2 or 3"},
    {tensors, "the file claims 1152921504606846976 tensors, expected at most the"},
    {odd_alignment, "key 'general.alignment' is 48, expected a power of two"},
    {adapter, "holds no model but 'adapter' (general.type)"},
    {differing, "key 'llama.attention.head_count_kv' differs from layer to layer (2 in layer 0, 1 in layer 1)"},
    {no_heads, "key 'llama.attention.head_count_kv' is 0, expected a whole number from 1"},
    {some_turned, "key 'llama.rope.dimension_count' is 2, expected 4, the width of a head"},
    {strange_scaling, "key 'llama.rope.scaling.type' is 'spiral', expected none, linear, yarn or longrope"},
    {other_vocabulary, "key 'llama.vocab_size' is 17, but tensor 'token_embd.weight' has 16 rows"},
    {part_of_three, "is one of 3 files, expected them to be called NAME-00001-of-00003.gguf"},
    {iq4_xs,
     "tensor 'blk.0.extra.weight' is stored as IQ4_XS, which is not read here: take a file of the model in F32"},
    {mxfp4, "stored as MXFP4, which is not read here"}, {tq1, "stored as TQ1_0, which is not read here"},
    {short_row, "tensor 'blk.0.extra.weight' has rows of 33 numbers, expected a multiple of 32 for Q4_0"},
    {extra, "tensor 'blk.0.extra.weight' has no place in the model that its metadata describes"},
    {no_rows, "dimension 0 of tensor 'blk.0.extra.weight' is 0, expected at least 1"},
    {five, "tensor 'x' has 5 dimensions, expected 1 to 4"},
    {few_factors, "tensor 'rope_freqs.weight' has 1 numbers in F32, expected 2 in F32"}};
enum { CHANGES = sizeof changes / sizeof *changes };

START_TEST(what_is_not_read_is_refused_by_name)
{
    struct ggufs g = ggufs_llama(16);
    changes[_i].change(&g);
    const char *path = ggufs_write(&g, "m.gguf");
    open_said(path, changes[_i].says);
    ggufs_free(&g);
}
END_TEST

START_TEST(unknown_architectures_are_refused)
{
    struct ggufs g = ggufs_new();
    ggufs_text(&g, "general.architecture", "mamba");
    open_said(ggufs_write(&g, "m.gguf"), "its architecture 'mamba' is not read here");
    ggufs_free(&g);
    g = ggufs_new();
    ggufs_text(&g, "general.architecture", "llama");
    open_said(ggufs_write(&g, "m.gguf"), "there is no key 'llama.block_count', expected a whole number from 1");
    ggufs_free(&g);
}
END_TEST

/* ---- where a model is ---- */

START_TEST(a_directory_may_hold_one)
{
    succeed("mkdir $D/d && cp " GOLDEN "qwen2-bf16/model.gguf $D/d");
    expect_same("$A run -m $D/d --ids '1 2 3' --show logits",
                "$A run -m " GOLDEN "qwen2-bf16/model.gguf --ids '1 2 3' --show logits");
    expect_same("cd $D/d && $A run -m model.gguf --ids '1 2 3' --show logits",
                "$A run -m $D/d --ids '1 2 3' --show logits");
    succeed("cp $D/d/model.gguf $D/d/model-Q8_0.gguf");
    expect("$A info -m $D/d 2>&1", 1, "d: holds 2 GGUF models, expected one: give the path of the one that is meant: "
                                      "model-Q8_0.gguf, model.gguf");
    succeed("cp tests/golden/checkpoints/gpt2-a/*.* $D/d");                             /* then its weights count */
    expect_same("$A run -m $D/d --ids '1 2 3' --show logits",
                "$A run -m tests/golden/checkpoints/gpt2-a --ids '1 2 3' --show logits");
}
END_TEST

/* A value is what describes it, then its bytes. */
static void copy_pairs(struct ggufs *to, const struct attn_gguf *g)
{
    for (size_t i = 0; i < g->keys.n; i++) {
        const struct attn_gguf_value *v = &g->value[i];
        const size_t n = (size_t)(v->end - v->at), head = v->array ? 12 : 0;
        const uint32_t kind = v->kind;
        const uint64_t count = v->n;
        unsigned char *x = malloc(head + n + 1);
        if (v->array) {
            memcpy(x, &kind, sizeof kind);
            memcpy(x + sizeof kind, &count, sizeof count);
        }
        memcpy(x + head, v->at, n);
        ggufs_raw(to, v->key, v->array ? 9 : kind, x, head + n);
        free(x);
    }
}

/* Writes some of a model's tensors; the first of three files has the metadata. */
static void write_shard(const struct attn_gguf *g, uint16_t no, uint16_t count, const char *leaf)
{
    struct ggufs s = ggufs_new();
    size_t n = attn_st_count(g->st), from = n * no / count, to = n * (no + 1u) / count;
    if (no == 0)
        copy_pairs(&s, g);
    ggufs_raw(&s, "split.no", 2, &no, 2);
    ggufs_raw(&s, "split.count", 2, &count, 2);
    for (size_t i = from; i < to; i++) {
        const struct attn_st_tensor *t = attn_st_at(g->st, i);
        uint64_t dim[4];
        for (int k = 0; k < t->ndim; k++)
            dim[k] = t->shape[t->ndim - 1 - k];
        ggufs_tensor(&s, t->name, t->ndim, dim, !strcmp(t->dtype, "BF16") ? 30 : 0, t->data, t->bytes);
    }
    ggufs_write(&s, leaf);
    ggufs_free(&s);
}

START_TEST(shards_are_one_model)
{
    struct attn_gguf *g = NULL;
    struct attn_err err = {0};
    size_t len;
    char *bytes = golden_text(GOLDEN "qwen2-bf16/model.gguf", &len);
    ck_assert_msg(!attn_gguf_open(&g, (unsigned char *)bytes, len, "m", &err), "%s", err.msg);
    succeed("mkdir $D/d");
    for (uint16_t i = 0; i < 3; i++)
        write_shard(g, i, 3, printed("d/q-0000%d-of-00003.gguf", i + 1));
    static const char *const names[] = {"$D/d", "$D/d/q-00001-of-00003.gguf", "$D/d/q-00003-of-00003.gguf"};
    for (size_t i = 0; i < 3; i++)
        expect_same(printed("$A run -m %s --ids '1 2 3' --show '*'", names[i]),
                    "$A run -m " GOLDEN "qwen2-bf16/model.gguf --ids '1 2 3' --show '*'");
    expect("$A info -m $D/d", 0, "model         d\n");
    expect("$A info -m $D/d/q-00001-of-00003.gguf", 0, "model         q\n");
    write_shard(g, 1, 4, "d/q-00002-of-00003.gguf");
    expect("$A info -m $D/d 2>&1", 1, "says that it is file 1 of 4, expected 1 of 3: do the files belong together?");
    write_shard(g, 0, 3, "d/q-00002-of-00003.gguf");
    expect("$A info -m $D/d 2>&1", 1, "says that it is file 0 of 3, expected 1 of 3");
    succeed("rm $D/d/q-00002-of-00003.gguf");
    expect("$A info -m $D/d 2>&1", 1, "q-00002-of-00003.gguf: cannot open: No such file");
    succeed("rm $D/d/q-00001-of-00003.gguf");
    expect("$A info -m $D/d 2>&1", 1, "d: holds a part of a GGUF model (q-00003-of-00003.gguf) but not the first one");
    attn_gguf_close(g);
    free(bytes);
}
END_TEST

START_TEST(a_digest_is_of_the_file)
{
    succeed("mkdir $D/d && cp " GOLDEN "qwen2-bf16/model.gguf $D/d && cp " GOLDEN "qwen2-bf16/model.gguf $D/d/b.gguf");
    expect_same("$A info -m " GOLDEN "qwen2-bf16/model.gguf | grep digest", "$A info -m $D/d/model.gguf | grep digest");
    expect("$A info -m $D/d/model.gguf | grep digest", 0, "sampled:");
    /* a letter of the metadata, then a byte of the last tensor */
    succeed("a=$($A info -m $D/d/model.gguf | grep digest); sed -i 's/reference BF16/reference BF17/' $D/d/model.gguf; "
            "b=$($A info -m $D/d/model.gguf | grep digest); [ \"$a\" != \"$b\" ]; "
            "printf Q | dd of=$D/d/model.gguf bs=1 seek=$(($(stat -c %s $D/d/model.gguf) - 2)) conv=notrunc "
            "status=none; "
            "c=$($A info -m $D/d/model.gguf | grep digest); [ \"$b\" != \"$c\" ]");
}
END_TEST

START_TEST(metadata_are_listed)
{
    expect("$A info -m " GOLDEN "qwen2-bf16", 0, "metadata\n  general.architecture  string  \"qwen2\"\n");
    expect("$A info -m " GOLDEN "qwen2-bf16", 0, "  tokenizer.ggml.tokens  array of string (64)  [\",\", \";\", \"?\", "
           "\"a\", \"b\", \"c\", \"d\", \"e\"] ...\n");
    expect_exactly("$A info -m " GOLDEN
                   "qwen2-bf16 --format json | jq -c '.metadata[] | select(.key == \"qwen2.rope.freq_base\")'",
                   "{\"key\":\"qwen2.rope.freq_base\",\"type\":\"f32\",\"n\":1,\"value\":1000000,\"cut\":false}\n");
    expect("$A info -m " GOLDEN "llama-spm-q8_0", 0, "blk.0.attn_q.weight       Q8_0  [64, 64]");
    expect_exactly("$A info -m tiny --format json | jq .metadata", "null\n");
}
END_TEST

/* Training would write names and rows that no library knows; gradients it does print. */
START_TEST(training_wants_a_directory)
{
    expect("ends 2 $A train -m " GOLDEN "llama-spm-q8_0 -f README.md -o $D/t --steps 1 2>&1", 0,
           "make a directory of it first, with 'attn-cli convert -m "
           "tests/golden/gguf/llama-spm-q8_0/model.gguf -o DIR'");
    succeed("test ! -e $D/t/model.safetensors");
    succeed("$A convert -q -m " GOLDEN "llama-spm-q8_0 -o $D/m && $A train -q -m $D/m -f README.md -o $D/t --steps 1");
    expect("$A train -m " GOLDEN "llama-spm-q8_0 --ids '1 2 3' --gradients $D/g.safetensors", 0, "\"loss\": ");
}
END_TEST

/* ---- tokens ---- */

static void check_case(const struct attn_tokenizer *t, const cJSON *one, const char *model)
{
    const char *text = golden_string(one, "text");
    const cJSON *want = golden_get(one, "ids"), *v = want->child;
    const struct attn_encode_opts bare = {.bos = ATTN_BOS_NO};
    struct attn_err err = {0};
    int32_t *ids = NULL;
    size_t n = 0;
    ck_assert_msg(!attn_encode_ids(&ids, &n, t, text, strlen(text), &bare, &err), "%s", err.msg);
    ck_assert_msg(n == (size_t)cJSON_GetArraySize(want), "%s: '%s' has %zu tokens", model, text, n);
    for (size_t i = 0; i < n; i++, v = v->next)
        ck_assert_msg(ids[i] == (int)v->valuedouble,
                      "%s: token %zu of '%s' is %d, expected %g", model, i, text, ids[i], v->valuedouble);
    free(ids);
}

START_TEST(every_text_has_its_tokens)
{
    const char *name = checkpoints[CHECKPOINTS_HF + _i].name, *path = checkpoint_path(name);
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    if (!path)
        return;
    char *dir = strdup(path);
    ck_assert_msg(!attn_tokenizer_open(&t, dir, &err), "%s", err.msg);
    cJSON *doc = golden_read(checkpoint_recorded(name, "tokenizer.json")),
        *expected = golden_read(checkpoint_recorded(name, "expected.json"));
    const cJSON *one, *ids = golden_get(expected, "ids");
    cJSON_ArrayForEach(one, golden_get(doc, "cases"))
        check_case(t, one, name);
    const char *text = golden_string(expected, "text");
    int32_t *got = NULL;
    size_t n = 0;
    /* with BOS, where the metadata ask */
    ck_assert(!attn_encode_ids(&got, &n, t, text, strlen(text), NULL, &err));
    ck_assert_uint_eq(n, (size_t)cJSON_GetArraySize(ids));
    ck_assert_int_eq(got[0], (int)ids->child->valuedouble);
    free(got);
    free(dir);
    cJSON_Delete(doc);
    cJSON_Delete(expected);
    attn_tokenizer_close(t);
}
END_TEST

/* Each way of cutting is one that tokenizer.json can say; "ab" is one token wherever letters stay together. */
START_TEST(every_pre_is_read)
{
    static const char *const names[] = {"gpt-2", "starcoder", "llama-bpe", "dbrx", "qwen2", "qwen35", "falcon",
                                        "tekken", "gpt-4o",
                                        "bloom", "viking", "deepseek-coder", "deepseek-v3", "default", NULL};
    struct attn_err err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct ggufs g = ggufs_llama(257);
        struct attn_tokenizer *t = NULL;
        int32_t *ids = NULL;
        size_t n = 0;
        ggufs_tokenizer(&g, names[i]);
        ck_assert_msg(!attn_tokenizer_open(&t, ggufs_write(&g, "m.gguf"), &err), "%s: %s", names[i], err.msg);
        ck_assert_msg(!attn_encode_ids(&ids, &n, t, "ab", 2, NULL, &err), "%s", err.msg);
        ck_assert_msg(n == 1 && ids[0] == 256, "%s: %zu tokens", names[i], n);
        free(ids);
        attn_tokenizer_close(t);
        ggufs_free(&g);
    }
}
END_TEST

/* Writers put -1, or 2^32 - 1, where there is no such token. */
START_TEST(a_token_may_be_absent)
{
    for (int i = 0; i < 2; i++) {
        struct ggufs g = ggufs_llama(257);
        ggufs_tokenizer(&g, "gpt-2");
        ggufs_u32(&g, i ? "tokenizer.ggml.eos_token_id" : "tokenizer.ggml.padding_token_id", i ? 257 : UINT32_MAX);
        ggufs_write(&g, "m.gguf");
        expect("$A tokenize -m $D/m.gguf -s ab 2>&1", i,
               i ? "key 'tokenizer.ggml.eos_token_id' is no token's id, expected 0 to 256" :
               "256");
        ggufs_free(&g);
    }
}
END_TEST

/* What it says of tokens contradicts itself: the model is refused, and so is its tokenizer. */
START_TEST(tokens_that_do_not_fit_are_refused)
{
    static const char *const says[] = {
        "key 'tokenizer.ggml.token_type' has 2 values, expected 257, one for each token",
        "key 'tokenizer.ggml.bos_token_id' is no token's id, expected 0 to 256",
        "key 'tokenizer.ggml.eos_token_id' is no token's id, expected 0 to 256", "token 1 has type 7, expected 1 to 6"};
    struct ggufs g = ggufs_llama(257);
    ggufs_tokenizer(&g, "gpt-2");
    int32_t type[257] = {1, 7};
    if (_i == 0 || _i == 3)
        ggufs_i32s(&g, "tokenizer.ggml.token_type", type, _i ? 257 : 2);
    else
        ggufs_u32(&g, _i == 1 ? "tokenizer.ggml.bos_token_id" : "tokenizer.ggml.eos_token_id", 257);
    ggufs_write(&g, "m.gguf");
    expect("ends 1 $A info --check -m $D/m.gguf 2>&1", 0, says[_i]);
    expect("ends 1 $A run -m $D/m.gguf --ids 1,2 2>&1", 0, says[_i]);
    expect("ends 1 $A tokenize -m $D/m.gguf -s ab 2>&1", 0, says[_i]);
    ggufs_free(&g);
}
END_TEST

/* A tokenizer needs no weights, and no architecture that is read. */
START_TEST(tokens_of_any_architecture)
{
    struct ggufs g = ggufs_new();
    ggufs_text(&g, "general.architecture", "quokka");
    ggufs_tokenizer(&g, "gpt-2");
    ggufs_write(&g, "m.gguf");
    expect_exactly("$A tokenize -m $D/m.gguf -s ab --format ids", "256\n");
    expect("ends 1 $A run -m $D/m.gguf -s ab 2>&1", 0, "its architecture 'quokka' is not read here");
    ggufs_free(&g);
}
END_TEST

static void texts(struct ggufs *g, const char *model, const char *pre)
{
    static const char *const tokens[] = {"a", "b"};
    ggufs_text(g, "tokenizer.ggml.model", model);
    ggufs_text(g, "tokenizer.ggml.pre", pre);
    ggufs_texts(g, "tokenizer.ggml.tokens", tokens, 2);
}

START_TEST(other_tokenizers_are_refused)
{
    static const struct { const char *model, *pre, *says; } rows[] = {
        {"bert", "default",
         "its tokenizer is 'bert' (tokenizer.ggml.model), expected llama or gpt2; token ids can be given with --ids"},
        {"gpt2", "superbpe", "there is no key 'tokenizer.ggml.merges'"},
        {"llama", "default", "there is no key 'tokenizer.ggml.scores', expected a score for each token"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ggufs g = ggufs_llama(16);
        texts(&g, rows[i].model, rows[i].pre);
        ggufs_write(&g, "m.gguf");
        expect("$A tokenize -m $D/m.gguf -s ab 2>&1", 1, rows[i].says);
        expect("$A run -m $D/m.gguf --ids '1 2' --show logits", 0, "logits");           /* the model is fine */
        ggufs_free(&g);
    }
    struct ggufs g = ggufs_llama(257);
    ggufs_tokenizer(&g, "superbpe");
    ggufs_f32s(&g, "tokenizer.ggml.scores", (const float[]){1, 2}, 2);
    ggufs_write(&g, "m.gguf");
    expect("$A tokenize -m $D/m.gguf -s ab 2>&1", 1,
           "key 'tokenizer.ggml.scores' has 2 values, expected 257, one for each token");
    ggufs_free(&g);
    g = ggufs_llama(257);
    ggufs_tokenizer(&g, "superbpe");
    ggufs_write(&g, "m.gguf");
    expect("$A tokenize -m $D/m.gguf -s ab 2>&1", 1,
           "its tokenizer cuts texts as 'superbpe' (tokenizer.ggml.pre), which is not known");
    ggufs_free(&g);
}
END_TEST

/* ---- back to Hugging Face's files ---- */

/* From F32 come the bits of the checkpoint it was made from; a type that is asked for is rounded to. */
START_TEST(conversion_gives_the_checkpoint_back)
{
    static const struct { const char *from, *type, *to; } rows[] = {
        {"gpt2-f32-v2", "", "gpt2-a"}, {"qwen2-bf16", "--type bf16", "qwen2-j"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        succeed(printed("$A convert -q -m " GOLDEN "%s -o $D/%s %s", rows[r].from, rows[r].from, rows[r].type));
        struct made_weights x = made_read(scratch_path(printed("%s/model.safetensors", rows[r].from))),
                            y = made_read(printed("tests/golden/checkpoints/%s/model.safetensors", rows[r].to));
        ck_assert_uint_eq(attn_st_count(x.st), attn_st_count(y.st));
        for (size_t i = 0; i < attn_st_count(x.st); i++) {
            const struct attn_st_tensor *t = attn_st_at(x.st, i), *u = attn_st_find(y.st, t->name);
            u = u || strncmp(t->name, "transformer.", 12) ? u : attn_st_find(y.st, t->name + 12);
            ck_assert_msg(u && t->bytes == u->bytes && !memcmp(t->data, u->data, t->bytes), "%s", t->name);
            ck_assert(!strcmp(t->dtype, u->dtype) && t->ndim == u->ndim &&
                      !memcmp(t->shape, u->shape, sizeof t->shape));
        }
        made_close(&x);
        made_close(&y);
    }
}
END_TEST

/* Written in float32, a model of any architecture and type has the same bits in every activation, and
 * reads texts alike. */
START_TEST(a_converted_model_computes_the_same)
{
    const char *name = checkpoints[CHECKPOINTS_HF + _i].name, *path = checkpoint_path(name);
    if (!path)
        return;
    char *from = strdup(path);
    succeed(printed("$A convert -q -m %s -o $D/m --type f32", from));
    succeed(printed("$A run -q -m %s --ids '1 2 3 7 5 4 11 2 6 9 8 10' --show '*' -o $D/a.npz", from));
    succeed("$A run -q -m $D/m --ids '1 2 3 7 5 4 11 2 6 9 8 10' --show '*' -o $D/b.npz && "
            "$A diff --exact $D/a.npz $D/b.npz");
    expect_same(printed("$A tokenize -m %s -s 'the cat  sat on a mat' --format json", from),
                "$A tokenize -m $D/m -s 'the cat  sat on a mat' --format json");
    free(from);
}
END_TEST

/* ---- what quantisation did ---- */

/* Numbers stored in BF16 as blocks of 32 in Q8_0; a scale is a float16 of few digits, so that it is exact here. */
static void quantise(unsigned char *to, const unsigned char *from, size_t n)
{
    for (size_t k = 0; k < n; k += 32, to += 34) {
        const uint16_t scale = 0x2400;                  /* 1/64 */
        memcpy(to, &scale, sizeof scale);
        for (size_t i = 0; i < 32; i++) {
            uint32_t bits = (uint32_t)(from[2 * (k + i)] | from[2 * (k + i) + 1] << 8) << 16;
            float x;
            memcpy(&x, &bits, sizeof x);
            long q = lrintf(x * 64);
            to[2 + i] = (unsigned char)(signed char)(q > 127 ? 127 : q < -128 ? -128 : q);
        }
    }
}

/* The same model, but for matrices whose rows are whole blocks. */
static void write_quantised(const char *leaf)
{
    struct attn_gguf *g = NULL;
    struct attn_err err = {0};
    struct ggufs s = ggufs_new();
    size_t len;
    char *bytes = golden_text(GOLDEN "qwen2-bf16/model.gguf", &len);
    ck_assert_msg(!attn_gguf_open(&g, (unsigned char *)bytes, len, "m", &err), "%s", err.msg);
    copy_pairs(&s, g);
    for (size_t i = 0; i < attn_st_count(g->st); i++) {
        const struct attn_st_tensor *t = attn_st_at(g->st, i);
        uint64_t dim[2] = {t->shape[t->ndim - 1], t->shape[0]};
        bool blocks = t->ndim == 2 && dim[0] % 32 == 0;
        unsigned char *x = malloc(t->bytes);
        if (blocks)
            quantise(x, t->data, t->count);
        ggufs_tensor(&s, t->name, t->ndim, dim, blocks ? 8 : t->ndim == 2 ? 30 : 0, blocks ? x : t->data,
                     blocks ? t->count / 32 * 34 : t->bytes);
        free(x);
    }
    ggufs_write(&s, leaf);
    ggufs_free(&s);
    attn_gguf_close(g);
    free(bytes);
}

/* Errors by type, by weight and by block are told; what blocks add makes up the whole; a model beside
 * itself has none. */
START_TEST(a_comparison_tells_what_quantisation_did)
{
    static const char diff[] =
        "ends 1 $A diff -m $D/q.gguf --with tests/golden/checkpoints/qwen2-j -s 'the cat sat on the mat'";
    write_quantised("q.gguf");
    expect(diff, 0, "  Q8_0  BF16 ");
    expect(diff, 0, "model.layers.0.self_attn.q_proj.weight");
    expect(diff, 0, "likely cause: the weights of A are quantised (the first that differs in Q8_0)");
    expect(diff, 0, "\n  what adds the difference ");
    expect(diff, 0, "\n  blocks.1.mlp ");
    expect(diff, 0, "KL(B || A) ");
    succeed(printed("%s --format json >$D/j", diff));
    expect_exactly("jq '[.parts[].share] | add * 1e6 | round' $D/j", "1000000\n");
    expect_exactly("jq -c '([.parts[].part] | unique), .cause.kind' $D/j",
                   "[\"attn\",\"embed\",\"mlp\"]\n\"quantised\"\n");
    /* steps of 1/64 leave an error of 1/64/sqrt(12), evenly spread: 0.0045 of weights whose root mean square is
     * given with it */
    succeed("jq -e '[.models.weights[] | select(.dtype_a == \"Q8_0\") | .max_abs] | max <= 1/128' $D/j");
    succeed("jq -e '.models.types[] | select(.dtype_a == \"Q8_0\") | "
            ".weights == 13 and .relative > 0.001 and .relative < 0.1' $D/j");
    expect("$A diff -m " GOLDEN "qwen2-bf16 --with tests/golden/checkpoints/qwen2-j -s 'the cat sat'", 0,
           "nothing differs: 37 tensors are the same bit for bit");
    expect("$A diff -m $D/q.gguf --with $D/q.gguf", 0, "nothing differs: ");
    expect("ends 1 $A diff $D/q.gguf " GOLDEN "qwen2-bf16/model.gguf", 0, "the models differ: 13 of 26 weights");
}
END_TEST

/* ---- time ---- */

/* A file with a large vocabulary: tokens "t0" and so on. */
static const char *write_large(size_t tokens)
{
    struct ggufs g = ggufs_llama(tokens);
    char (*spelled)[12] = calloc(tokens, sizeof *spelled);
    const char **text = calloc(tokens, sizeof *text);
    float *score = calloc(tokens, sizeof *score);
    for (size_t i = 0; i < tokens; i++) {
        snprintf(spelled[i], sizeof *spelled, "t%u", (unsigned)i);
        text[i] = spelled[i];
        score[i] = -(float)i;
    }
    ggufs_text(&g, "tokenizer.ggml.model", "llama");
    ggufs_texts(&g, "tokenizer.ggml.tokens", text, tokens);
    ggufs_f32s(&g, "tokenizer.ggml.scores", score, tokens);
    const char *path = ggufs_write(&g, "large.gguf");
    free(spelled);
    free(text);
    free(score);
    ggufs_free(&g);
    return path;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Opening reads the metadata alone: 60 ms is the limit that was set, and takes some 5 on a machine that is not busy. */
START_TEST(opening_is_quick)
{
    enum { TIMES = 9 };
    const char *path = write_large(128000);
    double took[TIMES];
    for (int i = 0; i < TIMES; i++) {
        struct attn_model *m = NULL;
        struct attn_err err = {0};
        double from = attn_clock_now();
        ck_assert_msg(!attn_model_open(&m, path, &err), "%s", err.msg);
        took[i] = attn_clock_now() - from;
        attn_model_close(m);
    }
    qsort(took, TIMES, sizeof *took, by_time);
    ck_assert_msg(SANITIZED || took[TIMES / 2] < 0.06, "opening takes %.1f ms", 1e3 * took[TIMES / 2]);
}
END_TEST

static const char *checkpoint_of(int i) { return checkpoints[CHECKPOINTS_HF + i].name; }

Suite *suite_gguf(void)
{
    Suite *s = suite_create("gguf");
    TCase *t = tcase_create("gguf");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_set_timeout(t, 300);
    tcase_add_loop_test(t, damaged_files_are_refused, 0, MALFORMED);
    tcase_add_test(t, cut_files_are_refused);
    tcase_add_loop_test(t, what_is_not_read_is_refused_by_name, 0, CHANGES);
    tcase_add_test(t, unknown_architectures_are_refused);
    tcase_add_test(t, a_directory_may_hold_one);
    tcase_add_test(t, shards_are_one_model);
    tcase_add_test(t, a_digest_is_of_the_file);
    tcase_add_test(t, metadata_are_listed);
    tcase_add_test(t, training_wants_a_directory);
    attn_test_add_rows(t, every_text_has_its_tokens, CHECKPOINTS - CHECKPOINTS_HF, checkpoint_of);
    tcase_add_test(t, every_pre_is_read);
    tcase_add_test(t, a_token_may_be_absent);
    tcase_add_loop_test(t, tokens_that_do_not_fit_are_refused, 0, 4);
    tcase_add_test(t, tokens_of_any_architecture);
    tcase_add_test(t, other_tokenizers_are_refused);
    tcase_add_test(t, conversion_gives_the_checkpoint_back);
    attn_test_add_rows(t, a_converted_model_computes_the_same, CHECKPOINTS - CHECKPOINTS_HF, checkpoint_of);
    tcase_add_test(t, a_comparison_tells_what_quantisation_did);
    tcase_add_test(t, opening_is_quick);
    suite_add_tcase(s, t);
    return s;
}
