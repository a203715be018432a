/* Models made from a config and a recipe: the weights of the articles, bit for bit, and those of the shipped models. */
#include "suites.h"
#include "attn_tools.h"

#include "golden.h"
#include "made.h"
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- recipes of the articles ------------------------------------------------------------------- */

/* Compares columns first..first+cols of a tensor, from `row` on, with a JSON matrix or, for one row, vector. */
static void check_columns(const struct attn_st_tensor *t, size_t row, size_t first, size_t cols, const cJSON *want)
{
    size_t n, ld = t->shape[t->ndim - 1];
    float *x = golden_floats(want, &n);
    ck_assert_uint_eq(n % cols, 0);
    ck_assert_uint_le((row + n / cols) * ld, t->count);
    for (size_t i = 0; i < n; i++) {
        float got;
        memcpy(&got, t->data + ((row + i / cols) * ld + first + i % cols) * sizeof got, sizeof got);
        ck_assert_msg(memcmp(&got, &x[i], sizeof got) == 0, "%s: row %zu, column %zu is %.9g, expected %.9g", t->name,
                      row + i / cols, first + i % cols, (double)got, (double)x[i]);
    }
    free(x);
}

static void check_heads(const struct made_weights *w, const cJSON *list, const char *part, const char *key, bool bias)
{
    char name[64], full[32];
    const cJSON *head;
    size_t h = 0;
    snprintf(name, sizeof name, "blocks.0.attn.%s.%s", part, bias ? "bias" : "weight");
    snprintf(full, sizeof full, "%c_%s", bias ? 'b' : 'W', key);
    cJSON_ArrayForEach(head, list) {
        const struct attn_st_tensor *t = attn_st_find(w->st, name);
        const cJSON *want = golden_find(head, full);
        ck_assert_msg((t != NULL) == (want != NULL), "'%s' is in one of both only", name);
        size_t cols = t ? t->shape[t->ndim - 1] / (size_t)cJSON_GetArraySize(list) : 0;
        if (t)
            check_columns(t, 0, h++ * cols, cols, want);
    }
}

/* An example of tests/golden/seeds as a native model: its inputs are rows of the embedding from `row` on, its context
 * inputs those from `other` on.  02-07 to 02-10 have an output projection wider than their inputs, which native models
 * cannot have: its 32 * 32 + 32 numbers are skipped. */
static const struct recipe { const char *seed; struct made_sizes n; const char *draw; size_t row, other; } recipes[] = {
    {"00-02-token-2", {6, 1, 1, 3, 2, 4, ""}, "seed:123; embed:zeros q:rand k:rand v:rand", 0, 0},
    {"00-04-multi-head-1", {6, 1, 1, 3, 2, 1, ""}, "embed:zeros seed:123 heads(q:rand,k:rand,v:rand)", 0, 0},
    {"00-05-multi-head-4", {6, 1, 4, 3, 2, 1, ""}, "embed:zeros seed:123 heads(q:rand,k:rand,v:rand)", 0, 0},
    {"00-07-cross-attention", {8, 1, 1, 3, 2, 4, ""}, "seed:123 q:rand k:rand v:rand embed:rand", 0, 0},
    {"00-08-cross-attention-reseeded", {8, 1, 1, 3, 2, 4, ""},
     "seed:123 q:rand k:rand v:rand seed:123 embed:rand", 0, 0},
    {"01-01-mha-bias-2-heads", {4, 1, 2, 8, 4, 4, ", \"output_projection\": true, \"bias\": true"},
     "seed:123 q:linear k:linear v:linear o:linear embed:rand", 0, 0},
    {"01-02-mha-bias-3-heads", {5, 1, 3, 12, 4, 4, ", \"output_projection\": true, \"bias\": true"},
     "seed:123 q:linear k:linear v:linear o:linear embed:rand", 0, 0},
    {"02-01-simplified", {6, 1, 1, 3, 3, 3, ""}, "q:identity k:identity v:identity embed:rand", 0, 0},
    {"02-03-self-attention-linear-123", {6, 1, 1, 3, 2, 2, ""},
     "embed:zeros seed:123 q:linear k:linear v:linear", 0, 0},
    {"02-04-self-attention-linear-789", {6, 1, 1, 3, 2, 2, ""},
     "embed:zeros seed:789 q:linear k:linear v:linear", 0, 0},
    {"02-05-causal-attention-d2", {6, 1, 1, 3, 2, 2, ""}, "embed:zeros seed:123 q:linear k:linear v:linear", 0, 0},
    {"02-07-multi-head-batch-0", {10, 1, 4, 16, 8, 8, ""},
     "seed:123 q:linear k:linear v:linear skip:1056 embed:rand", 0, 0},
    {"02-08-multi-head-batch-1", {10, 1, 4, 16, 8, 8, ""},
     "seed:123 q:linear k:linear v:linear skip:1056 embed:rand", 5, 0},
    {"02-09-multi-head-qkv-bias-batch-0", {10, 1, 4, 16, 8, 8, ", \"bias\": true"},
     "seed:123 q:linear k:linear v:linear skip:1056 embed:rand", 0, 0},
    {"02-10-multi-head-qkv-bias-batch-1", {10, 1, 4, 16, 8, 8, ", \"bias\": true"},
     "seed:123 q:linear k:linear v:linear skip:1056 embed:rand", 5, 0},
    {"03-01-simplified-causal", {8, 1, 1, 6, 6, 6, ""}, "seed:123 embed:randn q:identity k:identity v:identity", 0, 0},
    {"03-02-single-head", {8, 1, 1, 6, 3, 4, ", \"output_projection\": true"},
     "seed:123 embed:randn q:uniform(-0.5,0.5) k:uniform(-0.5,0.5) v:uniform(-0.5,0.5) o:uniform(-0.5,0.5)", 0, 0},
    {"03-03-multi-head", {8, 1, 3, 6, 3, 4, ", \"output_projection\": true"},
     "seed:123 embed:randn skip:84 heads(q:uniform(-1,1),k:uniform(-1,1),v:uniform(-1,1)) o:uniform(-1,1)", 0, 0},
    {"03-04-multi-head-narrow-values", {8, 1, 2, 6, 5, 1, ", \"output_projection\": true"},
     "seed:123 embed:randn skip:336 heads(q:uniform(-1,1),k:uniform(-1,1),v:uniform(-1,1)) o:uniform(-1,1)", 0, 0},
    {"04-07-cross-linear", {8, 1, 1, 8, 4, 4, ", \"bias\": true"},
     "seed:123 k:linear v:linear q:linear embed:rand", 0, 3},
};

static void check_seed(const struct recipe *r, const cJSON *doc, const struct made_weights *w)
{
    static const struct { const char *part, *key; } parts[] = {{"q", "query"}, {"k", "key"}, {"v", "value"}};
    const cJSON *all = golden_get(doc, "weights"), *context = golden_find(doc, "context_inputs");
    bool projected = strstr(r->n.more, "output_projection") != NULL;
    bool identity = golden_find(cJSON_GetArrayItem(golden_get(all, "heads"), 0), "W_query") == NULL;
    for (size_t i = 0; !identity && i < sizeof parts / sizeof *parts; i++) {
        check_heads(w, golden_get(all, "heads"), parts[i].part, parts[i].key, false);
        check_heads(w, golden_get(all, "heads"), parts[i].part, parts[i].key, true);
    }
    if (projected)
        check_columns(made_find(w, "blocks.0.attn.o.weight"), 0, 0, r->n.d, golden_get(all, "W_O"));
    if (projected && golden_find(all, "b_O"))
        check_columns(made_find(w, "blocks.0.attn.o.bias"), 0, 0, r->n.d, golden_get(all, "b_O"));
    if (context)
        check_columns(made_find(w, "embed.weight"), r->other, 0, r->n.d, context);
    else if (!strstr(r->draw, "embed:zeros") && !strstr(r->draw, "v:identity embed:rand"))
        check_columns(made_find(w, "embed.weight"), r->row, 0, r->n.d, golden_get(doc, "inputs"));
}

START_TEST(article_recipes)
{
    const struct recipe *r = &recipes[_i];
    char text[1024];
    struct attn_init_opts o = made_options(text, &r->n, r->draw);
    cJSON *doc = golden_read(printed("tests/golden/seeds/%s.json", r->seed));
    made_init(&o);
    struct made_weights w = made_read(made_path("model.safetensors"));
    check_seed(r, doc, &w);
    made_close(&w);
    cJSON_Delete(doc);
}
END_TEST

/* ---- the models that ship ---------------------------------------------------------------------- */

/* Copies the argument after `key` in a command of models/README.md, without its quotes; false if there is none. */
static bool argument(char *out, size_t size, const char *command, const char *end, const char *key)
{
    const char *p = strstr(command, key);
    if (!p || p >= end)
        return false;
    p += strlen(key);
    const char *stop = *p == '\'' ? strchr(++p, '\'') : p + strcspn(p, " \n");
    ck_assert_uint_lt((size_t)(stop - p), size);
    memcpy(out, p, (size_t)(stop - p));
    out[stop - p] = '\0';
    return true;
}

static void check_same_file(const char *a, const char *b)
{
    size_t na, nb;
    char *ta = golden_text(a, &na), *tb = golden_text(b, &nb);
    ck_assert_msg(na == nb && memcmp(ta, tb, na) == 0, "%s is not what %s is", a, b);
    free(ta);
    free(tb);
}

static const char *const files[] = {"config.json", "vocab.json", "model.safetensors"};

/* Runs the command's init into our own directory and compares the result with the shipped model. */
static void rebuild(const char *command, const char *end)
{
    char model[128], config[128], vocab[128], draw[256], seed[32] = "0";
    ck_assert(argument(model, sizeof model, command, end, " -o ") &&
              argument(config, sizeof config, command, end, "--config ") &&
              argument(vocab, sizeof vocab, command, end, "--vocab "));
    struct attn_init_opts o = {.draw = argument(draw, sizeof draw, command, end, "--draw ") ? draw : NULL};
    argument(seed, sizeof seed, command, end, "--seed ");
    o.seed = strtoull(seed, NULL, 10);
    char *config_json = golden_text(config, &o.config_len), *vocab_json = golden_text(vocab, &o.vocab_len);
    o.config = config_json;
    o.vocab = vocab_json;
    made_init(&o);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        check_same_file(made_path(files[i]), printed("%s/%s", model, files[i]));
    free(config_json);
    free(vocab_json);
}

START_TEST(shipped_models)
{
    static const char start[] = "    attn-cli init -o models/";
    size_t len, models = 0;
    char *readme = golden_text("models/README.md", &len);
    for (const char *p = strstr(readme, start); p; p = strstr(p + 1, start)) {
        const char *next = strstr(p + 1, start), *blank = strstr(p, "\n\n");
        rebuild(p, next && next < blank ? next : blank);
        models++;
    }
    ck_assert_uint_eq(models, 7);
    free(readme);
}
END_TEST

/* The rules that made each vocabulary, as data/README.md states them. */
START_TEST(shipped_vocabularies)
{
    static const struct { const char *name; struct attn_vocab_opts rule; } list[] = {
        {"life", {.drop = ","}}, {"journey", {.drop = ",."}}, {"chicken", {0}}, {"language", {0}},
        {"small-world", {.drop = ".,?", .lowercase = true, .unknown = "<unk>"}},
    };
    struct attn_err err = {0};
    char *json;
    size_t text_len, want_len, len, words;
    char *text = golden_text(printed("data/%s.txt", list[_i].name), &text_len);
    char *want = golden_text(printed("data/%s-vocab.json", list[_i].name), &want_len);
    ck_assert_msg(attn_vocab_build(&json, &len, &words, text, text_len, &list[_i].rule, &err) == ATTN_OK,
                  "%s", err.msg);
    ck_assert_uint_eq(len, want_len);
    ck_assert_mem_eq(json, want, len);
    free(json);
    free(text);
    free(want);
}
END_TEST

/* ---- fewer bits ---------------------------------------------------------------------------------- */

/* Rounding to nearest, ties to even, including subnormal numbers. */
static const struct { const char *dtype, *number; unsigned bits; } stored[] = {
    {"F16", "1", 0x3c00}, {"F16", "-2.5", 0xc100}, {"F16", "0", 0}, {"F16", "65504", 0x7bff},
    {"F16", "65519.99", 0x7bff},
    {"F16", "1.00048828125", 0x3c00}, {"F16", "1.00146484375", 0x3c02}, {"F16", "1.0004885", 0x3c01},
    {"F16", "6.103515625e-05", 0x0400}, {"F16", "6.0975552e-05", 0x03ff}, {"F16", "6.1020255e-05", 0x0400},
    {"F16", "5.9604645e-08", 0x0001}, {"F16", "2.9802322e-08", 0x0000}, {"F16", "2.9802326e-08", 0x0001},
    {"F16", "8.940697e-08", 0x0002}, {"F16", "1e-30", 0}, {"F16", "-1e-30", 0x8000},
    {"BF16", "1", 0x3f80}, {"BF16", "-2.5", 0xc020}, {"BF16", "1.00390625", 0x3f80}, {"BF16", "1.01171875", 0x3f82},
    {"BF16", "1.0039064", 0x3f81}, {"BF16", "3.38e38", 0x7f7e}, {"BF16", "1e-40", 0x0001},
};

static int init_number(const char *dtype, const char *number, struct attn_err *err)
{
    char text[MADE_CONFIG], draw[128];
    snprintf(draw, sizeof draw, "q:ones k:ones v:ones embed:uniform(%s,%s)", number, number);
    struct attn_init_opts o = made_options(text, &made_small, draw);
    o.dtype = dtype;
    return attn_init(made_path(""), &o, err);
}

START_TEST(dtypes)
{
    struct attn_err err = {0};
    unsigned char bits[2];
    ck_assert_msg(init_number(stored[_i].dtype, stored[_i].number, &err) == ATTN_OK, "%s", err.msg);
    struct made_weights w = made_read(made_path("model.safetensors"));
    const struct attn_st_tensor *t = made_find(&w, "embed.weight");
    ck_assert_str_eq(t->dtype, stored[_i].dtype);
    ck_assert_uint_eq(t->bytes, 36);
    memcpy(bits, t->data + 34, 2);
    ck_assert_msg((bits[0] | bits[1] << 8) == (int)stored[_i].bits,
                  "%s as %s is %02x%02x, expected %04x", stored[_i].number,
                  stored[_i].dtype, bits[1], bits[0], stored[_i].bits);
    made_close(&w);
}
END_TEST

START_TEST(too_large_for_dtype)
{
    struct attn_err err = {0};
    ck_assert_int_eq(init_number("F16", "65520", &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "embed.weight[0] is 65520, which a model in F16 cannot hold");
    ck_assert_int_eq(init_number("BF16", "3.4e38", &err), ATTN_EUSAGE);
    ck_assert_int_eq(init_number("F32", "1e39", &err), ATTN_EUSAGE);
    ck_assert_int_eq(init_number("F64", "1", &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg, "expected F32, F16 or BF16"));
    ck_assert_int_ne(access(made_path(""), F_OK), 0);   /* a failure leaves no directory */
}
END_TEST

/* ---- which tensors -------------------------------------------------------------------------------- */

/* Without an output projection, rows have H * dv numbers: a norm of width d = 3 fits 3 of them but not 4. */
START_TEST(final_norm_where_it_fits)
{
    static const struct { size_t dv; bool there; } list[] = {{4, false}, {3, true}};
    char text[MADE_CONFIG];
    struct made_sizes n = made_small;
    n.dv = list[_i].dv;
    n.more = ", \"norm\": \"layernorm\"";
    struct attn_init_opts o = made_options(text, &n, NULL);
    made_init(&o);
    struct made_weights w = made_read(made_path("model.safetensors"));
    ck_assert_int_eq(attn_st_find(w.st, "norm_final.weight") != NULL, list[_i].there);
    ck_assert_int_eq(attn_st_find(w.st, "norm_final.bias") != NULL, list[_i].there);
    made_close(&w);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------------- */

START_TEST(vocabulary_must_fit)
{
    char text[MADE_CONFIG];
    struct attn_init_opts o = made_options(text, &made_small, NULL);
    struct attn_err err = {0};
    o.vocab = "{\"a\": 0, \"b\": 6}";
    o.vocab_len = strlen(o.vocab);
    ck_assert_int_eq(attn_init(made_path(""), &o, &err), ATTN_EFORMAT);
    ck_assert_str_eq(err.msg, "vocabulary: the largest id is 6, but the config has vocab_size 6");
    o.vocab = "{\"a\": 0, \"b\": 5}";
    made_init(&o);
    scratch_expect(made_path("vocab.json"), o.vocab);
}
END_TEST

START_TEST(directory_is_made)
{
    char text[MADE_CONFIG];
    struct attn_init_opts o = made_options(text, &made_small, NULL);
    struct attn_err err = {0};
    ck_assert_int_eq(attn_init("/dev/null/at/all", &o, &err), ATTN_EIO);
    ck_assert_ptr_nonnull(strstr(err.msg, "/dev/null/at/all: cannot make this directory"));
    made_init(&o);
    made_init(&o);                      /* an existing directory is fine */
    ck_assert_int_eq(scratch_count(), 2);       /* config.json and model.safetensors */
}
END_TEST

/* A config may claim any size; it is refused at once, before memory is allocated. */
START_TEST(huge_configs)
{
    static const struct { struct made_sizes n; const char *expect; } list[] = {
        {{2147483647, 1, 2147483647, 2147483647, 1, 1, ""}, "no memory for"},
        {{2, 2147483647, 1, 2, 2, 2, ""}, "more than 1048576 tensors"},
    };
    char text[MADE_CONFIG];
    struct attn_init_opts o = made_options(text, &list[_i].n, NULL);
    struct attn_err err = {0};
    ck_assert_int_ne(attn_init(made_path(""), &o, &err), ATTN_OK);
    ck_assert_msg(strstr(err.msg, list[_i].expect) != NULL, "'%s' does not say '%s'", err.msg, list[_i].expect);
}
END_TEST

/* What is asked before something that takes long is asked again when it is written: another process may
 * have been quicker. */
START_TEST(nothing_is_written_beside_another_process)
{
    static const char text[] = "the cat sat on the mat",
        config[] = "{\"model_type\": \"attn-decoder\", \"vocab_size\": 4, \"n_embd\": 4, "
        "\"n_head\": 1, \"n_layer\": 1}";
    const struct attn_init_opts init = {.config = config, .config_len = sizeof config - 1, .dtype = "F32"};
    struct attn_model *life;
    struct attn_err err;
    size_t n;
    ck_assert_int_eq(attn_model_open(&life, "life", NULL), ATTN_OK);
    for (int ended = 0; ended < 2; ended++) {
        const char *dir = scratch_path(ended ? "ended" : "held");
        ck_assert_int_eq(mkdir(dir, 0777), 0);
        int fd = open(dir, O_RDONLY | O_DIRECTORY);
        const char *checkpoint = scratch_path("ended/checkpoint.safetensors");
        if (ended)
            ck_assert_int_eq(mknod(checkpoint, S_IFREG | 0666, 0), 0);
        else
            ck_assert_int_eq(flock(fd, LOCK_EX), 0);
        const char *why = ended ? "there is a training already" : "another process is writing to it";
        ck_assert_int_ne(attn_init(dir, &init, &err), ATTN_OK);
        ck_assert_msg(strstr(err.msg, why) != NULL, "%s", err.msg);
        ck_assert_int_ne(attn_bpe_learn(dir, &n, text, sizeof text - 1, ATTN_BPE_LEAST, &err), ATTN_OK);
        ck_assert_msg(strstr(err.msg, why) != NULL, "%s", err.msg);
        if (!ended)
            ck_assert_int_ne(attn_model_save(life, dir, NULL, &n, &err), ATTN_OK);
        ck_assert_msg(strstr(err.msg, why) != NULL, "%s", err.msg);
        close(fd);
        ck_assert(!ended || unlink(checkpoint) == 0);
        ck_assert_int_eq(rmdir(dir), 0);            /* nothing else is in it */
    }
    attn_model_close(life);
}
END_TEST

Suite *suite_init(void)
{
    Suite *s = suite_create("init");
    TCase *t = tcase_create("init");
    tcase_add_checked_fixture(t, scratch_make, scratch_remove);
    tcase_add_loop_test(t, article_recipes, 0, sizeof recipes / sizeof *recipes);
    tcase_add_test(t, shipped_models);
    tcase_add_loop_test(t, shipped_vocabularies, 0, 5);
    tcase_add_loop_test(t, dtypes, 0, sizeof stored / sizeof *stored);
    tcase_add_test(t, too_large_for_dtype);
    tcase_add_loop_test(t, final_norm_where_it_fits, 0, 2);
    tcase_add_test(t, vocabulary_must_fit);
    tcase_add_test(t, directory_is_made);
    tcase_add_test(t, nothing_is_written_beside_another_process);
    tcase_add_loop_test(t, huge_configs, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
