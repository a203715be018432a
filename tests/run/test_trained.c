/* A trained checkpoint by another author: a GPT of three layers that sorts six letters, with activations recorded by
 * its author and a separate output layer.  It is kept outside the repository in $ATTN_SHARED; without it the suite says
 * so and passes. */
#include "suites.h"

#include "golden.h"
#include "hf.h"
#include "keep.h"
#include "made.h"
#include "scratch.h"
#include "shared.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SENTENCES = 3, T = 11 };

/* The path of a file, in one of four buffers. */
static const char *shared(const char *file)
{
    static char buf[4][512];
    static unsigned next;
    char *path = buf[next++ % 4];
    const char *root = getenv("ATTN_SHARED");
    snprintf(path, sizeof buf[0],
             "%s/real-checkpoint-sort%s%s", root && *root ? root : "../shared", *file ? "/" : "", file);
    return path;
}

static bool absent(void)
{
    return !shared_path("real-checkpoint-sort");
}

/* ---- the author's numbers: {"shape": [...], "data": base64 of float32} ---- */

static unsigned digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    ck_assert(c && at);
    return (unsigned)(at - digits);
}

static float *decode(const char *text, size_t *n)
{
    size_t len = strcspn(text, "="), bytes = len * 3 / 4;
    unsigned char *out = malloc(bytes + 4);
    ck_assert(out && bytes % sizeof(float) == 0);
    uint32_t bits = 0;
    for (size_t i = 0, at = 0; i < len; i++) {
        bits = bits << 6 | digit(text[i]);
        if (i % 4)
            out[at++] = (unsigned char)(bits >> (6 - i % 4 * 2));
    }
    *n = bytes / sizeof(float);
    return (float *)(void *)out;
}

static float *recorded(const cJSON *all, const char *key, size_t *n)
{
    return decode(golden_string(golden_get(all, key), "data"), n);
}

/* ---- his weights, as Hugging Face would store them ---- */

/* The converted file beside them lacks three biases, so the author's own is converted here: minGPT stores linear layers
 * as [out, in], GPT-2 as [in, out]. */
static struct attn_st_tensor turned(const struct attn_st_tensor *t)
{
    struct attn_st_tensor out = *t;
    bool linear = t->ndim == 2 && strstr(t->name, ".c_");
    size_t rows = t->shape[0], cols = t->shape[1], size = sizeof(float);
    unsigned char *data = malloc(t->bytes);
    memcpy(data, t->data, t->bytes);
    for (size_t i = 0; linear && i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            memcpy(data + (j * rows + i) * size, t->data + (i * cols + j) * size, size);
    out.data = data;
    if (linear)
        out.shape[0] = cols, out.shape[1] = rows;
    return out;
}

static void copy_config(const char *dir)
{
    size_t len;
    char *config = golden_text(shared("config.json"), &len);
    hf_put(dir, "config.json", config, len);
    free(config);
}

static char *convert(void)
{
    struct made_weights from = made_read(shared("mingpt-layout/model.safetensors"));
    struct attn_st_tensor t[64];
    char *dir = hf_dir(), *path = hf_path(dir, "model.safetensors");
    size_t n = attn_st_count(from.st);
    ck_assert_uint_le(n, 64);
    for (size_t i = 0; i < n; i++)
        t[i] = turned(attn_st_at(from.st, i));
    made_write(path, t, n);
    for (size_t i = 0; i < n; i++)
        free((void *)t[i].data);
    made_close(&from);
    copy_config(dir);
    free(path);
    return dir;
}

/* ---- comparing ---- */

/* Two float32 computations, each within 2e-6 of double precision (expected.json has the figure for the author's). */
static const double BOUND = 4e-6;

static void expect_close(const char *what, const float *got, const float *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isinf(want[i]))
            ck_assert_msg(got[i] == want[i], "%s[%zu] is %g", what, i, (double)got[i]);
        else
            ck_assert_msg(fabs((double)got[i] - (double)want[i]) <= BOUND * fmax(1, fabs((double)want[i])),
                          "%s[%zu] is %.9g, not %.9g",
                          what, i, (double)got[i], (double)want[i]);
}

static const struct { const char *theirs, *ours; } names[] = {
    {"tok_emb", "embed"}, {"x", "blocks.0.resid_pre"}, {"ln1", "blocks.0.norm1"}, {"q", "blocks.0.attn.q"},
    {"k", "blocks.0.attn.k"}, {"v", "blocks.0.attn.v"}, {"att", "blocks.0.attn.scores"},
    {"attSm", "blocks.0.attn.pattern"},
    {"y", "blocks.0.attn.context"}, {"yProj", "blocks.0.attn.out"}, {"attnResid", "blocks.0.resid_mid"},
    {"ln2", "blocks.0.norm2"},
    {"fc", "blocks.0.mlp.pre"}, {"gelu", "blocks.0.mlp.post"}, {"mlp", "blocks.0.mlp.out"},
    {"mlpResid", "blocks.0.resid_post"},
    {"block0", "blocks.0.resid_post"}, {"block1", "blocks.1.resid_post"}, {"block2", "blocks.2.resid_post"},
    {"ln_f", "norm_final"}, {"lm_head", "logits"}};

static void run_sentence(struct keep *k, const cJSON *all, size_t sentence)
{
    int32_t ids[T];
    size_t n;
    float *idx = recorded(all, "idx", &n);
    ck_assert_uint_eq(n, SENTENCES * T);
    for (size_t t = 0; t < T; t++)
        ids[t] = (int32_t)idx[sentence * T + t];
    free(idx);
    k->only = -1;
    char *dir = convert();
    keep_run(k, dir, ids, T, 2);
    free(dir);
}

START_TEST(as_its_author_recorded)
{
    if (absent())
        return;
    cJSON *all = golden_read(shared("gpt-nano-sort-t0-partials.json"));
    struct keep *k = calloc(1, sizeof *k);
    run_sentence(k, all, (size_t)_i);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n;
        float *want = recorded(all, names[i].theirs, &n);
        const struct kept *got = keep_find(k, names[i].ours, 0);
        ck_assert_msg(got && got->n * SENTENCES == n, "%s", names[i].ours);
        expect_close(names[i].ours, got->data, want + (size_t)_i * got->n, got->n);
        free(want);
    }
    keep_free(k);
    free(k);
    cJSON_Delete(all);
}
END_TEST

/* Every layer's patterns and the logits, compared with double precision. */
START_TEST(as_in_double_precision)
{
    if (absent())
        return;
    cJSON *expected = golden_read(shared("expected.json")),
        *all = golden_read(shared("gpt-nano-sort-t0-partials.json"));
    const cJSON *one = cJSON_GetArrayItem(golden_get(expected, "cases"), _i);
    struct keep *k = calloc(1, sizeof *k);
    size_t n;
    run_sentence(k, all, (size_t)_i);
    float *logits = golden_floats(golden_get(one, "logits"), &n),
        *pattern = golden_floats(golden_get(one, "attention"), &n);
    expect_close("logits", keep_find(k, "logits", 0)->data, logits, T * 3);
    for (size_t layer = 0; layer < 3; layer++) {
        char name[64];
        snprintf(name, sizeof name, "blocks.%zu.attn.pattern", layer);
        expect_close(name, keep_find(k, name, 0)->data, pattern + layer * n / 3, n / 3);
    }
    free(logits), free(pattern);
    keep_free(k);
    free(k);
    cJSON_Delete(expected), cJSON_Delete(all);
}
END_TEST

/* The same weights as minGPT stores them, with linear layers transposed. */
START_TEST(another_layout_is_refused)
{
    if (absent())
        return;
    char *dir = hf_dir(), *to = hf_path(dir, "model.safetensors"),
        *from = realpath(shared("mingpt-layout/model.safetensors"), NULL);
    copy_config(dir);
    ck_assert(from && symlink(from, to) == 0);
    made_refused(dir, "attn.c_attn.weight' has shape [144, 48], config.json expects [48, 144]");
    free(from), free(to);
    free(dir);
}
END_TEST

Suite *suite_trained(void)
{
    Suite *s = suite_create("trained");
    TCase *t = tcase_create("trained");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, as_its_author_recorded, 0, SENTENCES);
    tcase_add_loop_test(t, as_in_double_precision, 0, SENTENCES);
    tcase_add_test(t, another_layout_is_refused);
    suite_add_tcase(s, t);
    return s;
}
