/* --cross: the articles' examples of cross-attention, every format and back, labels in pictures, what is refused. */
#include "suites.h"
#include "attn_tools.h"

#include "made.h"
#include "scratch.h"
#include "seed.h"
#include "shell.h"

#include "io/dump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the articles' examples ---- */

/* A model whose embeddings are the inputs of the example, or its q, k and v side by side, from which
 * the weights select. */
struct example { struct seed of; size_t d, dh, dv, rows; float *embed, *w[3], *bias[3]; };     /* of q, k and v */

static float *pick(size_t d, size_t from, size_t n)
{
    float *w = seed_zeros(d * n);
    for (size_t i = 0; i < n; i++)
        w[(from + i) * n + i] = 1;
    return w;
}

static void from_inputs(struct example *e, const cJSON *inputs)
{
    static const char *const names[3][2] = {{"W_query", "b_query"}, {"W_key", "b_key"}, {"W_value", "b_value"}};
    const cJSON *head = cJSON_GetArrayItem(golden_get(golden_get(e->of.doc, "weights"), "heads"), 0);
    size_t n, n_keys, unused;
    float *own = golden_floats(inputs, &n), *keys = golden_floats(golden_get(e->of.doc, "context_inputs"), &n_keys);
    e->d = n / e->of.Tq;
    e->embed = seed_zeros(n + n_keys);
    memcpy(e->embed, own, n * sizeof *own);
    memcpy(e->embed + n, keys, n_keys * sizeof *keys);
    for (int i = 0; i < 3; i++) {
        const cJSON *bias = golden_find(head, names[i][1]);
        e->w[i] = golden_floats(golden_get(head, names[i][0]), &unused);
        e->bias[i] = bias ? golden_floats(bias, &unused) : seed_zeros(e->dh + e->dv);
    }
    free(own);
    free(keys);
}

static void from_vectors(struct example *e)
{
    size_t dh = e->dh, dv = e->dv, d = e->d = 2 * dh + dv;
    e->embed = seed_zeros(e->rows * d);
    for (size_t t = 0; t < e->of.Tq; t++)
        memcpy(e->embed + t * d, e->of.q + t * dh, dh * sizeof(float));
    for (size_t t = 0; t < e->of.Tk; t++) {
        memcpy(e->embed + (e->of.Tq + t) * d + dh, e->of.k + t * dh, dh * sizeof(float));
        memcpy(e->embed + (e->of.Tq + t) * d + 2 * dh, e->of.v + t * dv, dv * sizeof(float));
    }
    for (size_t i = 0; i < 3; i++) {
        e->w[i] = pick(d, i * dh, i < 2 ? dh : dv);
        e->bias[i] = seed_zeros(dh + dv);
    }
}

static void write_model(const struct example *e)
{
    char text[512];
    const struct attn_st_tensor t[] = {
        made_tensor("embed.weight", e->embed, e->rows, e->d),
        made_tensor("blocks.0.attn.q.weight", e->w[0], e->d, e->dh),
        made_tensor("blocks.0.attn.k.weight", e->w[1], e->d, e->dh),
        made_tensor("blocks.0.attn.v.weight", e->w[2], e->d, e->dv),
        made_tensor("blocks.0.attn.q.bias", e->bias[0], e->dh, 0),
        made_tensor("blocks.0.attn.k.bias", e->bias[1], e->dh, 0),
        made_tensor("blocks.0.attn.v.bias", e->bias[2], e->dv, 0)};
    mkdir(scratch_path("example"), 0700);
    snprintf(text, sizeof text,
             "{\"model_type\": \"attn-decoder\", \"vocab_size\": %zu, \"n_ctx\": 32, \"n_layer\": 1, "
             "\"n_head\": 1, \"n_kv_head\": 1, \"d_model\": %zu, \"d_head\": %zu, \"d_value\": %zu, "
             "\"unembed\": false}",
             e->rows, e->d, e->dh, e->dv);
    scratch_put(scratch_path("example/config.json"), text, strlen(text));
    made_write(scratch_path("example/model.safetensors"), t, sizeof t / sizeof *t);
}

static void open_example(struct example *e, const char *name)
{
    *e = (struct example){0};
    seed_open(&e->of, name);
    e->dh = e->of.a.dh;
    e->dv = e->of.a.dv;
    e->rows = e->of.Tq + e->of.Tk;
    const cJSON *inputs = golden_find(e->of.doc, "inputs");
    if (inputs)
        from_inputs(e, inputs);
    else
        from_vectors(e);
    write_model(e);
}

static void close_example(struct example *e)
{
    free(e->embed);
    for (int i = 0; i < 3; i++) {
        free(e->w[i]);
        free(e->bias[i]);
    }
    seed_close(&e->of);
}

/* Bound: four times the difference between float32 and double that the file states, which allows for another
 * order of summation. */
static void ck_array(const struct attn_dump *d, const char *name, const cJSON *expected, const struct seed *of)
{
    size_t n;
    float *want = golden_floats(expected, &n);
    const struct attn_dumped *got = attn_dump_item(d, name);
    double bound = 4 * golden_number(of->doc, "float32_max_abs_difference");
    ck_assert_msg(got != NULL, "no %s", name);
    ck_assert_uint_eq(got->of.n, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fabs((double)got->of.data[i] - (double)want[i]) <= bound,
                      "%s: %s[%zu] is %.9g, expected %.9g", of->name,
                      name, i, (double)got->of.data[i], (double)want[i]);
    free(want);
}

static void list_ids(char *buf, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf += sprintf(buf, i ? ",%zu" : "%zu", first + i);
}

static const char *const examples[] = {"00-07-cross-attention", "00-08-cross-attention-reseeded", "04-05-cross",
                                       "04-07-cross-linear"};

START_TEST(the_articles_examples)
{
    struct example e;
    struct attn_dump *d;
    struct attn_err err = {0};
    char ids[128], other[128];
    open_example(&e, examples[_i]);
    list_ids(ids, 0, e.of.Tq);
    list_ids(other, e.of.Tq, e.of.Tk);
    expect(printed("$A run -m $D/example --ids %s --cross-ids %s --show q,k,v,dots,scores,pattern,context "
                   "-o $D/run.npz 2>&1", ids, other), 0, "");
    ck_assert_msg(!attn_dump_open(&d, scratch_path("run.npz"), &err), "%s", err.msg);
    const cJSON *expected = golden_get(e.of.doc, "expected"),
        *head = cJSON_GetArrayItem(golden_get(expected, "heads"), 0);
    static const char *const pairs[][2] = {{"q", "q"}, {"k", "k"}, {"v", "v"}, {"dots", "scores"},
                                           {"scores", "scaled_masked_scores"},
                                           {"pattern", "weights"}, {"context", "context"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        ck_array(d, printed("blocks.0.attn.%s", pairs[i][0]), golden_get(head, pairs[i][1]), &e.of);
    attn_dump_free(d);
    close_example(&e);
}
END_TEST

/* ---- every format, and back ---- */

#define STACKED "-m models/stacked -s 'The cat sees the moth' --cross 'Who is the lamp, the cat sees it?'"
#define WANTED "q,k,v,scores,pattern,context,resid_post"

/* The same run through the library, for three heads of two layers. */
static struct attn_dump *kept(void)
{
    static const char first[] = "The cat sees the moth", second[] = "Who is the lamp, the cat sees it?";
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    struct attn_tokenizer *t = NULL;
    struct attn_tokens *own = NULL, *other = NULL;
    struct attn_select *what = NULL;
    struct attn_dump *d = NULL;
    const struct attn_plan how = {.threads = 1};
    int rc = attn_model_open(&m, "models/stacked", &err);
    if (!rc)
        rc = attn_tokenizer_open(&t, "models/stacked", &err);
    if (!rc)
        rc = attn_encode(&own, t, first, strlen(first), &err);
    if (!rc)
        rc = attn_encode(&other, t, second, strlen(second), &err);
    if (!rc)
        rc = attn_select_new(&what, m, NULL, WANTED, "0,2", "0,2-3", &err);
    if (!rc)
        rc = attn_dump_run(&d, m, own, other, what, &how, NULL, &err);
    ck_assert_msg(!rc, "%s", err.msg);
    attn_select_free(what);
    attn_tokens_free(own);
    attn_tokens_free(other);
    attn_tokenizer_close(t);
    attn_model_close(m);
    return d;
}

static void ck_shape(const struct attn_dump *d, const char *name, size_t heads, size_t rows, size_t cols)
{
    const struct attn_dumped *x = attn_dump_item(d, name);
    ck_assert_msg(x != NULL, "no %s", name);
    const size_t *shape = x->of.shape + (x->of.ndim - 2);
    ck_assert_int_eq(x->of.ndim, heads ? 3 : 2);
    if (heads)
        ck_assert_uint_eq(x->of.shape[0], heads);
    ck_assert_uint_eq(shape[0], rows);
    ck_assert_uint_eq(shape[1], cols);
}

static void ck_labels(const struct attn_dump_list *list, const char *const *words, size_t n)
{
    ck_assert_uint_eq(list->n, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_str_eq(list->item[i].text, words[i]);
}

START_TEST(formats_come_back)
{
    static const struct { const char *format, *path; bool tokens; } formats[] = {
        {"npy", "out", true}, {"csv", "out", true}, {"npz", "out.npz", false}, {"json", "out.json", true},
        {"tidy", "out.tidy", false}};
    static const char *const own[] = {"the", "cat", "sees", "the", "moth"};
    static const char *const other[] = {"who", "is", "the", "lamp", "the", "cat", "sees", "<unk>"};
    struct attn_err err = {0};
    struct attn_dump *want = kept(), *got;
    char line[512];
    snprintf(line, sizeof line,
             "$A run " STACKED " --show " WANTED ",tokens --layer 0,2 --head 0,2-3 --format %s -o $D/%s 2>&1",
             formats[_i].format, formats[_i].path);
    if (!formats[_i].tokens)            /* they have no token table */
        memcpy(strstr(line, ",tokens"), "       ", 7);
    expect(line, 0, "");
    ck_assert_msg(!attn_dump_open(&got, scratch_path(formats[_i].path), &err), "%s", err.msg);
    ck_assert_uint_eq(got->n, want->n);
    for (size_t i = 0; i < want->n; i++) {
        const struct attn_dumped *a = &want->item[i], *b = attn_dump_item(got, a->name);
        ck_assert_msg(b && b->of.n == a->of.n, "%s", a->name);
        ck_assert_mem_eq(a->of.shape, b->of.shape, sizeof a->of.shape);
        ck_assert_msg(!memcmp(a->of.data, b->of.data, a->of.n * sizeof(float)), "%s", a->name);
    }
    ck_shape(got, "blocks.2.attn.pattern", 3, 5, 8);
    ck_shape(got, "blocks.0.attn.scores", 3, 5, 8);
    ck_shape(got, "blocks.0.attn.k", 2, 8, 4);
    ck_shape(got, "blocks.0.attn.q", 3, 5, 4);
    ck_shape(got, "blocks.0.attn.context", 0, 5, 16);
    if (formats[_i].tokens) {
        ck_labels(&got->tokens, own, 5);
        ck_labels(&got->keys, other, 8);
    }
    attn_dump_free(want);
    attn_dump_free(got);
}
END_TEST

START_TEST(json_has_the_other_text)
{
    const struct said *s = succeed("$A run " STACKED " --format json --layer 0 --head 1 --show pattern");
    cJSON *doc = cJSON_Parse(s->text);
    ck_assert_ptr_nonnull(doc);
    ck_assert_str_eq(golden_string(doc, "context_text"), "Who is the lamp, the cat sees it?");
    const cJSON *tokens = golden_get(doc, "context_tokens"), *lamp = cJSON_GetArrayItem(tokens, 3);
    ck_assert_int_eq(cJSON_GetArraySize(tokens), 8);
    ck_assert_str_eq(golden_string(lamp, "text"), "lamp");
    ck_assert_int_eq((int)golden_number(lamp, "start"), 11);
    ck_assert_int_eq((int)golden_number(lamp, "end"), 15);
    cJSON_Delete(doc);
    doc = cJSON_Parse(succeed("$A run -s 'Life is' --cross-ids 3,2 --format json")->text);
    ck_assert_ptr_nonnull(doc);
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(doc, "context_text")));
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetArrayItem(golden_get(doc, "context_tokens"), 0), "text")));
    cJSON_Delete(doc);
    doc = cJSON_Parse(succeed("$A run -s 'Life is' --format json")->text);
    ck_assert_ptr_null(cJSON_GetObjectItem(doc, "context_tokens"));
    cJSON_Delete(doc);
}
END_TEST

START_TEST(text_and_tables_are_labelled)
{
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show pattern", 0,
           "tokens of the other text, the keys\nindex  id  token    bytes\n    0   2  eat      0-3\n");
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show pattern", 0,
           "         eat  dessert    first\nLife  ");
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show k --format csv", 0, "token,0,1\neat,");
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show pattern --format csv", 0,
           "token,eat,dessert,first\nLife,");
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show v --format tidy", 0,
           "blocks.0.attn.v,0,0,2,3,first,,");
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show pattern --format tidy", 0, ",0,0,1,2,is,first,");
    expect("for l in pattern,k k k,q; do for f in tidy json; do $A run -s 'Life is' --cross 'eat dessert first' --show "
           "$l --format $f -o $D/x.$f;"
           "$A plot $D/x.$f --title x --format svg | grep -o '>[^<]*</text>' >$D/$f; done; cmp $D/tidy $D/json; done; "
           "grep -c dessert $D/json", 0, "");
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show tokens --format csv -o $D/t && "
           "cat $D/t/context_tokens.csv", 0,
           "2,3,first,12,17\n");
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show pattern -o $D/x --format csv && "
           "cat $D/x/manifest.json", 0,
           "\"command\":\"attn-cli run --model life --sentence 'Life is' --cross 'eat dessert first' --show pattern "
           "--format csv\"");
}
END_TEST

/* ---- pictures ---- */

/* Each word must appear as often as it labels a row or a column. */
static void ck_words(const char *file, const char *word, size_t times)
{
    size_t n = 0;
    char tag[64], *text = golden_text(scratch_path(file), NULL);
    snprintf(tag, sizeof tag, ">%s<", word);
    for (const char *s = text; (s = strstr(s, tag)) != NULL; s++)
        n++;
    ck_assert_msg(n == times, "%s has '%s' %zu times, not %zu", file, word, n, times);
    free(text);
}

START_TEST(pictures_are_labelled)
{
    expect("$A run -s 'Life is' --cross 'eat dessert first' -o $D/p.svg 2>&1", 0, "");
    ck_words("p.svg", "Life", 1);
    ck_words("p.svg", "dessert", 1);
    ck_words("p.svg", "life: Life is, looking at: eat dessert first", 1);
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show q,k,pattern -o $D/k.svg 2>&1", 0, "");
    ck_words("k.svg", "is", 2);         /* labels rows of q and of the pattern */
    ck_words("k.svg", "first", 2);      /* labels rows of k and columns of the pattern */
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show q,k,pattern -o $D/d --format npy 2>&1", 0, "");
    expect("$A plot $D/d --show '*' --format svg -o $D/plot.svg 2>&1", 0, "");
    ck_words("plot.svg", "is", 2);
    ck_words("plot.svg", "first", 2);
    expect("$A run -s 'Life is' --cross 'eat dessert first' --show pattern --format csv >$D/one.csv; "
           "$A plot $D/one.csv -o $D/one.svg", 0, "");
    ck_words("one.svg", "is", 1);
    ck_words("one.svg", "first", 1);
    expect("$A run -s 'Life is' --cross 'eat dessert first' --format term", 0, "Life  ");
    expect("$A run -s 'Life is' --cross 'eat dessert first' -o $D/p.html && cat $D/p.html", 0,
           "\"keysText\":\"eat dessert first\"");
    expect("$A run -s 'Life is' --cross 'eat dessert first' -o $D/p.png && head -c 4 $D/p.png | tail -c 3", 0, "PNG");
}
END_TEST

/* ---- diff ---- */

START_TEST(diff_reads_both_sides)
{
    expect("$A run " STACKED " --show '*' -o $D/a --format npy && $A run " STACKED
           " --show '*' -o $D/b.json && $A diff $D/a $D/b.json",
           0, "");
    expect("$A run -m models/stacked -s 'The cat sees the moth' --show '*' -o $D/c --format npy && $A diff $D/a $D/c",
           1,
           "blocks.0.attn.k");
    expect("$A diff -m models/stacked --with models/stacked -s 'the cat' --cross 'who sees' --format json", 0,
           "\"differs\": false");
    expect("$A diff -m models/life --with models/life-full -s 'Life is short' --cross 'eat dessert' --show 'pattern'",
           0, "");
    expect("$A diff $D/a $D/c --cross x 2>&1", 2, "an input is for two models");
}
END_TEST

/* ---- inputs ---- */

START_TEST(the_other_text_comes_from_where_the_first_does)
{
    expect_same("$A run -s 'Life is' --cross 'eat dessert' --format csv --show pattern",
                "printf 'eat dessert\\n' | $A run -s 'Life is' --cross-file - --format csv --show pattern");
    expect_same("$A run --ids 0,4 --cross 'eat dessert' --format npy --show pattern | od -c",
                "$A run -s 'Life is' --cross-ids 2,1 --format npy --show pattern | od -c");
}
END_TEST

/* Keys and values are of a text that runs by itself, so those of a source are, too; the rest of it looks at
 * the other text. */
START_TEST(sources_have_keys_of_their_own)
{
#define GPT2 "$A run -q -m tests/golden/checkpoints/gpt2-a --no-compare --format json "
#define DATA " | jq -c '[.activations[].data]'"
    static const char *const same[][2] = {
        {"--ids 5,9 --cross-ids 1,2,3 --show k,v --layer 0,1 --edit k=from --edit v=from --from-ids 8,9,4" DATA,
         "--ids 8,9,4 --show k,v --layer 0,1" DATA},
        {"--ids 5,9,6 --cross-ids 1,2,3 --show attn.out --layer 1 --edit L1.k=from --edit L1.attn.out=from --from-ids "
         "8,9,4" DATA,
         "--ids 8,9,4 --cross-ids 1,2,3 --show attn.out --layer 1" DATA},
        {"--ids 5,9 --cross-ids 1,2,3 --show v --layer 1 --edit 'v[pos=-1]=from' --from-ids 8,9,4,7" DATA
         " | jq -c '[.[0][][2]]'",
         "--ids 8,9,4,7 --show v --layer 1" DATA " | jq -c '[.[0][][3]]'"},
        {"--ids 5,9 --cross-ids 1,2,3 --show v --layer 1 --edit 'v[pos=0]=mean(from)' --from-ids 8" DATA
         " | jq -c '[.[0][][0]]'",
         "--ids 8 --show v --layer 1" DATA " | jq -c '[.[0][][0]]'"}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        expect_same(printed(GPT2 "%s", same[i][0]), printed(GPT2 "%s", same[i][1]));
}
END_TEST

/* ---- explain ---- */

START_TEST(explain_tells_the_two_texts_apart)
{
    expect("$A explain -s 'Life is short' --cross 'eat dessert first' --query is --key first", 0,
           "How \"is\" (token 1) attends to \"first\" (token 2 of the other text)");
    expect("$A explain -s 'Life is short' --cross 'is eat' --query is --key is", 0, "4. What layer 0 reads for \"is\"");
    expect("$A explain -s 'Life is short' --cross 'eat dessert first' --query is --key first", 0,
           "There is no mask: every token may look at every token of the other text");
    expect("$A explain -s 'Life is short' --cross 'eat dessert first' --query is --key first", 0,
           "weight = 0.1560 / 1.7275 = 0.0903");
    expect("$A run -s 'Life is short' --cross 'eat dessert first' --format text", 0, "is      0.3308   0.5789   0.0903\n");
    expect("$A explain -m tests/golden/checkpoints/llama-f --ids 3,1,2 --cross-ids 9,8,7,6,5 --layer 1 --head 2 "
           "--query 0 --key 4", 0,
           "attends to id 5 (token 4 of the other text)");
}
END_TEST

/* Above the first layer the other text's keys are made of its own contexts: they are those of a run of it alone. */
START_TEST(scale_and_dropout_hold_for_both_texts)
{
    static const char *const options[] = {"", "--scale none", "--dropout 0.5 --seed 3"};
    static const char *const words[] = {"with the model's own attention, and",
                                        "with the model's own mask and scale none, and",
                                        "with the model's own mask and dropout 0.5 (seed 3), and"};
    struct attn_err err = {0};
    struct attn_dump *alone[3], *seen[3];
    for (int i = 0; i < 3; i++) {
        expect(printed("$A run -m models/stacked -s 'Who is the lamp' --show k,v %s -o $D/alone.npz", options[i]), 0,
               "");
        expect(printed("$A run -m models/stacked -s 'The cat sees' --cross 'Who is the lamp' --show k,v %s -o "
                       "$D/seen.npz",
                       options[i]), 0, "");
        ck_assert_msg(!attn_dump_open(&alone[i], scratch_path("alone.npz"), &err), "%s", err.msg);
        ck_assert_msg(!attn_dump_open(&seen[i], scratch_path("seen.npz"), &err), "%s", err.msg);
        ck_assert_uint_eq(seen[i]->n, alone[i]->n);
        for (size_t j = 0; j < alone[i]->n; j++) {
            const struct attn_dumped *a = &alone[i]->item[j], *b = attn_dump_item(seen[i], a->name);
            ck_assert_msg(b && b->of.n == a->of.n && !memcmp(a->of.data, b->of.data, a->of.n * sizeof(float)),
                          "%s%s", a->name,
                          options[i]);
        }
        expect(printed("$A explain -m models/stacked -s 'The cat sees' --cross 'Who is the lamp' --layer 1 %s | "
                       "tr '\n' ' '", options[i]), 0, words[i]);
        const struct attn_dumped *own = attn_dump_item(alone[0], "blocks.1.attn.k"),
            *k = attn_dump_item(alone[i], "blocks.1.attn.k");
        ck_assert_int_eq(memcmp(own->of.data, k->of.data, own->of.n * sizeof(float)) != 0, i > 0);
    }
    for (int i = 0; i < 3; i++) {
        attn_dump_free(alone[i]);
        attn_dump_free(seen[i]);
    }
}
END_TEST

Suite *suite_cross_cmd(void)
{
    Suite *s = suite_create("cross_cmd");
    TCase *c = tcase_create("cross_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, the_articles_examples, 0, sizeof examples / sizeof *examples);
    tcase_add_loop_test(c, formats_come_back, 0, 5);
    tcase_add_test(c, json_has_the_other_text);
    tcase_add_test(c, text_and_tables_are_labelled);
    tcase_add_test(c, pictures_are_labelled);
    tcase_add_test(c, diff_reads_both_sides);
    tcase_add_test(c, the_other_text_comes_from_where_the_first_does);
    tcase_add_test(c, sources_have_keys_of_their_own);
    tcase_add_test(c, explain_tells_the_two_texts_apart);
    tcase_add_test(c, scale_and_dropout_hold_for_both_texts);
    suite_add_tcase(s, c);
    return s;
}
