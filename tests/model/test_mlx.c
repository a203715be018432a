/* Directories that MLX has quantised: every width and group, rules of one module, several files; and what is
 * no such directory. */
#include "suites.h"

#include "made.h"
#include "scratch.h"
#include "shell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 128, V = 5, MOST = 40 };

/* Matrices of a llama with one layer; q: whether the module has another rule or none. */
static const struct { const char *module; size_t rows; } matrices[] = {
    {"model.embed_tokens", V}, {"model.layers.0.self_attn.q_proj", D}, {"model.layers.0.self_attn.k_proj", D},
    {"model.layers.0.self_attn.v_proj", D}, {"model.layers.0.self_attn.o_proj", D}, {"model.layers.0.mlp.gate_proj", D},
    {"model.layers.0.mlp.up_proj", D}, {"model.layers.0.mlp.down_proj", D}};
enum { MATRICES = sizeof matrices / sizeof *matrices };
static const char *const norms[] = {"model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm",
                                    "model.norm"};

static const struct rule { size_t bits, group; const char *dtype; } rules[] = {
    {2, 32, "F32"}, {2, 64, "F16"}, {2, 128, "BF16"}, {4, 32, "F16"}, {4, 64, "BF16"}, {4, 128, "F32"}, {8, 32, "BF16"},
    {8, 64, "F32"}, {8, 128, "F16"}};

/* ---- drawing ---- */

static uint32_t state;
static uint32_t draw(void) { return state = state * 1664525u + 1013904223u; }

/* A number of few digits, which every type holds, and its bits; scales may be negative. */
static double put_number(unsigned char *to, const char *dtype)
{
    int whole = (int)(draw() >> 24) - 128;
    float x = (float)whole / 256;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (dtype[0] == 'B') {
        uint16_t upper = (uint16_t)(bits >> 16);
        memcpy(to, &upper, 2);
    } else if (dtype[1] == '3') {
        memcpy(to, &x, 4);
    } else {
        uint16_t half = whole ? (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 13) - (112u << 10)) & 0x7fff)) : 0;
        memcpy(to, &half, 2);
    }
    return (double)x;
}

struct files { struct attn_st_tensor t[MOST]; size_t n; char name[MOST][96]; };

static unsigned char *add(struct files *f, const char *module, const char *kind, const char *dtype, size_t rows,
                          size_t cols)
{
    struct attn_st_tensor *t = &f->t[f->n];
    size_t element = attn_st_element(dtype);
    snprintf(f->name[f->n], sizeof f->name[0], "%s.%s", module, kind);
    *t = (struct attn_st_tensor){.name = f->name[f->n++], .dtype = dtype, .ndim = rows ? 2 : 1,
                                 .shape = {rows ? rows : cols, rows ? cols : 0}, .count = (rows ? rows : 1) * cols};
    t->bytes = t->count * element;
    unsigned char *data = calloc(t->count, element);
    t->data = data;
    return data;
}

/* A matrix as MLX stores it and, one number at a time, as it is meant. */
static void add_matrix(struct files *f, struct files *plain, const char *module, size_t rows, const struct rule *r)
{
    size_t per = 32 / r->bits, groups = D / r->group, element = attn_st_element(r->dtype);
    unsigned char *q = add(f, module, "weight", "U32", rows, D / per),
        *s = add(f, module, "scales", r->dtype, rows, groups);
    unsigned char *b = add(f, module, "biases", r->dtype, rows, groups);
    float *w = (float *)(void *)add(plain, module, "weight", "F32", rows, D);
    for (size_t g = 0; g < rows * groups; g++) {
        double scale = put_number(s + g * element, r->dtype), bias = put_number(b + g * element, r->dtype);
        for (size_t k = 0; k < r->group; k++) {
            size_t i = g * r->group + k;
            unsigned value = draw() >> (32 - r->bits);
            for (size_t bit = 0; bit < r->bits; bit++) {
                size_t at = i % per * r->bits + bit;
                q[i / per * 4 + at / 8] |= (unsigned char)((value >> bit & 1) << at % 8);
            }
            w[i] = (float)(scale * value + bias);
        }
    }
}

static void write_config(const char *dir, const char *more)
{
    FILE *f = fopen(printed("%s/config.json", dir), "w");
    fprintf(f, "{\"model_type\": \"llama\", \"vocab_size\": %d, \"hidden_size\": %d, \"intermediate_size\": %d, "
            "\"num_hidden_layers\": 1, \"num_attention_heads\": 4, \"max_position_embeddings\": 8, \"rms_norm_eps\": "
            "1e-05, \"tie_word_embeddings\": true%s}\n", V, D, D,
            more);
    fclose(f);
}

static void write_files(const char *path, const struct files *f, size_t from, size_t to)
{
    made_write(path, f->t + from, to - from);
}

static void release(struct files *f)
{
    for (size_t i = 0; i < f->n; i++)
        free((void *)(uintptr_t)f->t[i].data);
}

/* Makes $D/q, where module `apart` has the rule of its own (bits 0: none of them), and $D/plain. */
static void make(const struct rule *r, const struct rule *own, size_t apart, const char *more, bool two)
{
    struct files f = {0}, plain = {0};
    succeed("mkdir -p $D/q $D/plain");
    state = (uint32_t)(r->bits * 1000 + r->group);
    for (size_t i = 0; i < MATRICES; i++) {
        const struct rule *how = i == apart ? own : r;
        if (how->bits)
            add_matrix(&f, &plain, matrices[i].module, matrices[i].rows, how);
        else
            for (size_t k = 0; k < 2; k++)
                memset(add(k ? &plain : &f, matrices[i].module, "weight", "F32", matrices[i].rows, D), 0x3c,
                       matrices[i].rows * D * 4);
    }
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 2; k++)
            memset(add(k ? &plain : &f, norms[i], "weight", "F32", 0, D), 0x3c, D * 4);
    write_config(scratch_path("q"),
                 printed(", \"quantization\": {\"group_size\": %zu, \"bits\": %zu%s}", r->group, r->bits, more));
    write_config(scratch_path("plain"), "");
    write_files(scratch_path("plain/model.safetensors"), &plain, 0, plain.n);
    if (!two) {
        write_files(scratch_path("q/model.safetensors"), &f, 0, f.n);
    } else {                            /* cut between a matrix and its scales */
        FILE *index = fopen(scratch_path("q/model.safetensors.index.json"), "w");
        fputs("{\"weight_map\": {", index);
        for (size_t i = 0; i < f.n; i++)
            fprintf(index, "%s\"%s\": \"model-0000%d-of-00002.safetensors\"", i ? ", " : "", f.t[i].name,
                    i < 7 ? 1 : 2);
        fputs("}}", index);
        fclose(index);
        write_files(scratch_path("q/model-00001-of-00002.safetensors"), &f, 0, 7);
        write_files(scratch_path("q/model-00002-of-00002.safetensors"), &f, 7, f.n);
    }
    release(&f);
    release(&plain);
}

static void expect_plain(void)
{
    succeed("$A convert -q -m $D/q -o $D/out && $A convert -q -m $D/plain -o $D/again && "
            "cmp $D/out/model.safetensors $D/again/model.safetensors");
    succeed("! grep quantization $D/out/config.json");
    expect_same("$A run -q -m $D/q --ids '1 2 3' --show logits", "$A run -q -m $D/plain --ids '1 2 3' --show logits");
}

START_TEST(every_width_and_group)
{
    make(&rules[_i], NULL, MATRICES, _i % 2 ? ", \"mode\": \"affine\"" : "", false);
    expect_plain();
}
END_TEST

START_TEST(a_module_may_have_rules_of_its_own)
{
    make(&rules[3], &rules[8], 6, ", \"model.layers.0.mlp.up_proj\": {\"group_size\": 128, \"bits\": 8}", false);
    expect_plain();
}
END_TEST

START_TEST(a_module_may_be_left_as_it_is)
{
    make(&rules[4], &(struct rule){0}, 0, ", \"model.embed_tokens\": false", false);
    expect_plain();
}
END_TEST

START_TEST(parts_may_be_in_several_files)
{
    make(&rules[4], NULL, MATRICES, "", true);
    expect_plain();
}
END_TEST

/* Of a good directory, what a line of jq makes of config.json, and what is said. */
static const struct { const char *jq, *says; } wrong[] = {
    {".quantization.bits = 3", "tensor 'model.embed_tokens.weight' is quantised by MLX, expected \"bits\" 2, 4 or 8"},
    {".quantization.bits = 8", "but its 'scales' and 'biases' do not have a number for each group of each row"},
    {".quantization.group_size = 48", "expected \"group_size\" 32, 64 or 128"},
    {".quantization.group_size = 128", "do not have a number for each group"},
    {"del(.quantization.bits)", "expected \"bits\" 2, 4 or 8"},
    {".quantization.mode = \"mxfp4\"",
     "with \"mode\" \"mxfp4\", expected \"affine\": take the model that they were made from"},
    {".quantization[\"model.norm\"] = {\"bits\": 4} | .quantization[\"model.embed_tokens\"] = false",
     "but config.json says that it is not"},
    {"del(.quantization)", "is stored as U32"},
};

START_TEST(what_is_wrong_is_said)
{
    make(&rules[4], NULL, MATRICES, "", false);
    succeed(printed("jq '%s' $D/q/config.json >$D/c && mv $D/c $D/q/config.json", wrong[_i].jq));
    expect("ends 1 $A info -m $D/q 2>&1", 0, wrong[_i].says);
}
END_TEST

START_TEST(what_is_missing_is_said)
{
    make(&rules[4], NULL, MATRICES, "", false);
    succeed("sed -i 's/q_proj.biases/q_proj.biaseS/' $D/q/model.safetensors");
    expect("ends 1 $A info -m $D/q 2>&1", 0, "expected 'scales' and 'biases' beside it, matrices of F32, F16 or BF16");
    succeed("sed -i 's/q_proj.biaseS/q_proj.biases/; s/q_proj.scales/q_proj.scaleS/' $D/q/model.safetensors");
    expect("ends 1 $A info -m $D/q 2>&1", 0, "'model.layers.0.self_attn.q_proj.weight' is stored as U32");
}
END_TEST

Suite *suite_mlx(void)
{
    Suite *s = suite_create("mlx");
    TCase *tc = tcase_create("directories");
    tcase_add_checked_fixture(tc, shell_set_up, scratch_remove);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, every_width_and_group, 0, sizeof rules / sizeof *rules);
    tcase_add_test(tc, a_module_may_have_rules_of_its_own);
    tcase_add_test(tc, a_module_may_be_left_as_it_is);
    tcase_add_test(tc, parts_may_be_in_several_files);
    tcase_add_loop_test(tc, what_is_wrong_is_said, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(tc, what_is_missing_is_said);
    suite_add_tcase(s, tc);
    return s;
}
