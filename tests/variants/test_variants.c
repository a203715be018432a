/* The command variants: its numbers compared with separate runs, its counts with the kinds' definitions,
 * its text page. */
#include "suites.h"
#include "attn_tools.h"

#include "golden.h"
#include "made.h"
#include "scratch.h"
#include "shell.h"

#include "base/utf8.h"
#include "io/dump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIFE "-s 'Life is short, eat dessert first'"
#define MOTH "-m models/stacked -s 'The cat sees the moth under the lamp'"
static const char moth[] = "The cat sees the moth under the lamp";

static cJSON *variants(const char *options)
{
    char line[512];
    snprintf(line, sizeof line, "$A variants --format json %s", options);
    const struct said *s = succeed(line);
    cJSON *doc = cJSON_Parse(s->text);
    ck_assert_msg(doc != NULL, "%s\ngave no JSON", line);
    return doc;
}

static const cJSON *variant(const cJSON *doc, const char *kind)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, golden_get(doc, "variants"))
        if (!strcmp(golden_string(v, "kind"), kind))
            return v;
    ck_abort_msg("no %s", kind);
    return NULL;
}

/* ---- what changes ---- */

struct moth { struct attn_model *m; struct attn_tokens *tokens; };

static struct moth open_moth(void)
{
    struct attn_err err = {0};
    struct moth x = {0};
    struct attn_tokenizer *t = NULL;
    int rc = attn_model_open(&x.m, "models/stacked", &err);
    if (!rc)
        rc = attn_tokenizer_open(&t, "models/stacked", &err);
    if (!rc)
        rc = attn_encode(&x.tokens, t, moth, strlen(moth), &err);
    ck_assert_msg(!rc, "%s", err.msg);
    attn_tokenizer_close(t);
    return x;
}

static void close_moth(struct moth *x)
{
    attn_tokens_free(x->tokens);
    attn_model_close(x->m);
}

static struct attn_dump *run_under(const char *kind)
{
    struct attn_err err = {0};
    struct moth x = open_moth();
    struct attn_select *what = NULL;
    struct attn_dump *d = NULL;
    struct attn_plan how = {.threads = 1};
    int rc = attn_kind_parse(&how.kind, kind, &err);
    if (!rc)
        rc = attn_select_new(&what, x.m, &how.kind, "pattern,context,resid_post,logits", NULL, NULL, &err);
    if (!rc)
        rc = attn_dump_run(&d, x.m, x.tokens, NULL, what, &how, NULL, &err);
    ck_assert_msg(!rc, "%s", err.msg);
    attn_select_free(what);
    close_moth(&x);
    return d;
}

struct gap { double largest, sum; size_t n; };

static void add_gap(struct gap *g, const struct attn_dump *a, const struct attn_dump *b, int layer, const char *tail)
{
    char name[64];
    snprintf(name, sizeof name, "blocks.%d.%s", layer, tail);
    const struct attn_array *x = &attn_dump_item(a, name)->of, *y = &attn_dump_item(b, name)->of;
    for (size_t i = 0; i < x->n; i++) {
        double d = fabs((double)x->data[i] - (double)y->data[i]);
        g->largest = fmax(g->largest, d);
        g->sum += d;
    }
    g->n += x->n;
}

/* mean_abs: the same sums in another order, in double precision. */
static void ck_gap(const cJSON *v, const char *what, const struct gap *g)
{
    const cJSON *got = golden_get(v, what);
    ck_assert_msg(golden_number(got, "max_abs") == g->largest, "%s %s", golden_string(v, "kind"), what);
    ck_assert_double_eq_tol(golden_number(got, "mean_abs"), g->sum / (double)g->n, 1e-12);
}

/* The divergence in the last row, from the library's log-probabilities. */
static double divergence(const struct attn_dump *a, const struct attn_dump *b)
{
    const struct attn_array *x = &attn_dump_item(a, "logits")->of, *y = &attn_dump_item(b, "logits")->of;
    size_t V = x->shape[1], last = x->n - V;
    double sum = 0, p, q;
    struct attn_err err;
    for (size_t i = 0; i < V; i++) {
        ck_assert(!attn_logprob(&p, x->data + last, V, (int32_t)i, &err) &&
                  !attn_logprob(&q, y->data + last, V, (int32_t)i, &err));
        sum += exp(p) * (p - q);
    }
    return sum;
}

static const char *const each[] = {"model", "full", "causal", "causal-renorm", "window:3", "strided:2,3",
                                   "random:2,1,9", "linear", "block:3"};
enum { EACH = sizeof each / sizeof *each };

START_TEST(changes_are_those_of_two_runs)
{
    cJSON *doc = variants(printed(MOTH " --layer 2 --head 3 --kinds '%s'", each[_i]));
    const cJSON *v = variant(doc, each[_i]);
    struct attn_dump *own = run_under("model"), *kind = run_under(each[_i]);
    struct gap pattern = {0}, context = {0}, residual = {0};
    for (int layer = 0; layer < 3; layer++) {
        add_gap(&pattern, own, kind, layer, "attn.pattern");
        add_gap(&context, own, kind, layer, "attn.context");
    }
    add_gap(&residual, own, kind, 2, "resid_post");
    ck_gap(v, "pattern", &pattern);
    ck_gap(v, "context", &context);
    ck_gap(v, "residual", &residual);
    ck_assert_double_eq_tol(golden_number(v, "kl"), divergence(own, kind), 1e-12);  /* sums in double */
    size_t n, T = 8;
    float *data = golden_floats(golden_get(v, "data"), &n);
    ck_assert_uint_eq(n, T * T);
    ck_assert_mem_eq(data, attn_dump_item(kind, "blocks.2.attn.pattern")->of.data + 3 * T * T, n * sizeof *data);
    free(data);
    attn_dump_free(own);
    attn_dump_free(kind);
    cJSON_Delete(doc);
}
END_TEST

START_TEST(without_an_output_layer_there_is_no_next_token)
{
    cJSON *doc = variants(LIFE);
    const cJSON *v;
    size_t n = 0;
    cJSON_ArrayForEach(v, golden_get(doc, "variants")) {
        ck_assert(cJSON_IsNull(cJSON_GetObjectItem(v, "kl")));
        ck_assert_double_gt(golden_number(v, "seconds"), 0);
        ck_assert_double_eq(golden_number(v, "lost_rows"), 0);
        n++;
    }
    ck_assert_uint_eq(n, 9);
    ck_assert_double_eq(golden_number(golden_get(variant(doc, "causal"), "residual"), "max_abs"), 0);
    ck_assert_double_gt(golden_number(golden_get(variant(doc, "full"), "pattern"), "max_abs"), 0.5);
    cJSON_Delete(doc);
}
END_TEST

/* ---- what it costs ---- */

/* Whether q sees k, by the definitions in the help. */
static bool sees(const char *kind, int q, int k)
{
    bool past = k <= q;
    if (!strcmp(kind, "full") || !strcmp(kind, "causal-renorm"))        /* causal-renorm computes hidden scores, too */
        return true;
    if (!strcmp(kind, "window:3"))
        return past && q - k < 3;
    if (!strcmp(kind, "strided:2,3"))
        return past && (q - k < 2 || (q - k) % 3 == 0);
    return past;
}

START_TEST(scores_are_counted)
{
    enum { L = 3, H = 4, T = 8, DH = 4, DV = 4 };
    cJSON *doc =
        variants(MOTH " --kinds 'model full causal causal-renorm window:3 strided:2,3 random:2,1,9 linear block:3'");
    for (size_t i = 0; i < EACH; i++) {
        const cJSON *v = variant(doc, each[i]);
        int pairs = 0;
        for (int q = 0; q < T; q++)
            for (int k = 0; k < T; k++)
                pairs += sees(each[i], q, k);
        if (!strcmp(each[i], "random:2,1,9"))           /* the last two, and one earlier key if there is one */
            pairs = 1 + 2 + (T - 2) * 3;
        if (!strcmp(each[i], "linear"))
            pairs = 0;
        ck_assert_double_eq(golden_number(v, "scores"), L * H * pairs);
        ck_assert_double_eq(golden_number(v, "operations"),
                            pairs ? L * H * 2.0 * pairs * (DH + DV) : L * H * (double)T * (4 * DH * DV + 3 * DH + DV));
        ck_assert_double_gt(golden_number(v, "bytes"), 0);
    }
    cJSON_Delete(doc);
}
END_TEST

/* ---- for programs ---- */

static unsigned wants_last(void *self, int act, int layer)
{
    (void)self;
    return act == ATTN_ACT_RESID_POST && layer == 2 ? ATTN_WATCH : 0;
}

static int count(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)p;
    (void)err;
    ++*(size_t *)self;
    return ATTN_OK;
}

START_TEST(all_kinds_are_observed_if_asked)
{
    struct attn_err err = {0};
    struct moth x = open_moth();
    size_t seen = 0;
    struct attn_observer counts = {.wants = wants_last, .watch = count, .self = &seen};
    struct attn_variants_opts o = {.kinds = "causal full", .format = "json", .path = "/dev/null", .threads = 1};
    ck_assert_msg(!attn_variants(x.m, x.tokens, &o, &err), "%s", err.msg);
    o.observer = &counts;
    ck_assert_msg(!attn_variants(x.m, x.tokens, &o, &err), "%s", err.msg);
    ck_assert_uint_ge(seen, 3);         /* the model's own attention and each kind; those that are timed, too */
    close_moth(&x);
}
END_TEST

/* ---- for eyes ---- */

static void ck_narrow(const char *line)
{
    const struct said *s = succeed(line);
    ck_assert_msg(s->len > 0, "%s\nsays nothing", line);
    for (const char *at = s->text; *at; at += strcspn(at, "\n") + 1) {
        size_t len = strcspn(at, "\n");
        ck_assert_msg(attn_utf8_width(at, len) <= 80, "%s\nis wider than 80 columns: %.*s", line, (int)len, at);
    }
}

START_TEST(the_page_fits_eighty_columns)
{
    ck_narrow("$A variants " LIFE);
    ck_narrow("$A variants " MOTH);
    ck_narrow("$A variants -s Life");
    ck_narrow("$A variants -s 'Life is'");
}
END_TEST

START_TEST(the_page_says_what_matters)
{
    expect("$A variants " LIFE, 0, "\"Life is short, eat dessert first\" under 9 kinds of attention\n");
    expect("$A variants " LIFE, 0, "  full            no mask: all tokens, including later ones\n");
    expect("$A variants " LIFE, 0, "  window:2        0.5087  0.1211   0.6826  0.1601    0.6826  0.1601\n");
    expect("$A variants " LIFE, 0, "The same bits as the model's own: causal.\n");
    expect("$A variants " LIFE, 0, "causal-renorm, block:2.\n");
    expect("$A variants " LIFE, 0, "Without an output layer there is no next token.\n");
    expect("$A variants " LIFE, 0, "  causal             21         252");
    expect("$A variants " LIFE, 0, "attention pattern of layer 0, head 0 (rows: queries, columns: keys)\n");
    expect("$A variants " LIFE, 0, "model         full          causal        causal-renorm window:2");
    expect("$A variants " MOTH " --layer 1 --head 2", 0, "layer 1, head 2");
    expect("$A variants " LIFE " --kinds 'causal window:2 full'", 0, " hidden by the mask\n");
    expect("$A variants " LIFE " --kinds 'causal window:2' | grep '^ *short'", 0, "····  ··");
    expect("$A variants -m tests/golden/checkpoints/gpt2-b --ids $(seq -s, 0 59) --kinds linear", 0,
           "matrices of 60 x 60 do not fit");
    expect("$A variants --ids 0,1,2 --kinds linear", 0, "A sentence under 1 kind of attention");
    expect("$A variants -m tiny -s \"Once$(printf ' a%.0s' $(seq 99))\" --kinds 'causal window:58'", 0,
           "  causal      121 k      15.5 M");
    expect("$A variants -m tiny -s \"Once$(printf ' a%.0s' $(seq 99))\" --kinds 'causal window:58'", 0,
           "  window:58  99.5 k      12.7 M");
}
END_TEST

/* A model of the words of `life` with one number per key and the same embedding for all words. */
static void put_narrow(float embed, float q, float k)
{
    float table[6], v = 1;
    for (size_t i = 0; i < 6; i++)
        table[i] = embed;
    const struct attn_st_tensor all[] = {
        made_tensor("embed.weight", table, 6, 1), made_tensor("blocks.0.attn.q.weight", &q, 1, 1),
        made_tensor("blocks.0.attn.k.weight", &k, 1, 1), made_tensor("blocks.0.attn.v.weight", &v, 1, 1)};
    succeed("mkdir -p $D/n && cp models/life/vocab.json $D/n && "
            "sed -E 's/(d_model|d_head|d_value)\": ./\\1\": 1/' models/life/config.json >$D/n/config.json");
    made_write(scratch_path("n/model.safetensors"), all, 4);
}

START_TEST(lost_rows_have_the_reason_of_their_kind)
{
    put_narrow(4, -15, -15);
    expect("$A variants -m $D/n " LIFE " --kinds linear", 0,
           "linear loses 6 rows: the features of a query and its keys");
    put_narrow(1e20f, 1, -1);
    /* all scores are -inf: NaN is not lost */
    expect("$A variants -m $D/n " LIFE " --kinds causal 2>&1 >/dev/null", 0,
           "dots overflow float32, to inf or NaN that no weight holds, in 6 rows");
}
END_TEST

START_TEST(pictures_have_names)
{
    static const char *const formats[] = {"svg", "html", "term"};
    for (size_t i = 0; i < 3; i++) {
        char line[256];
        snprintf(line, sizeof line, "$A variants " LIFE " --format %s", formats[i]);
        expect(line, 0, "causal-renorm");
        expect(line, 0, "random:2,1,0");
    }
    expect("$A variants " LIFE " --format html", 0, "\"layer\":4,\"name\":\"window:2\"");
    expect("$A variants " LIFE " -o $D/kinds.png && head -c 4 $D/kinds.png | tail -c 3", 0, "PNG");
    /* Each kind less the model's own, which is not drawn; causal attention is what the model has. */
    expect("$A variants " LIFE " --difference -o $D/less.html; grep -c '\"name\":\"model\"' $D/less.html", 1, "0");
    expect_exactly("$A variants " LIFE " --difference --kinds causal --format html --lang zh | grep -c '与模型自身权重之差'",
                   "1\n");
    expect("$A variants " LIFE " --difference --kinds window:2 --format svg", 0, "less the model&#39;s own");
}
END_TEST

START_TEST(nonsense_is_refused)
{
    expect("$A variants " LIFE " --head 1 2>&1", 1, "--head '1': found 1, but model 'life' has 1 head");
    expect("$A variants " LIFE " --layer 3 2>&1", 1, "--layer '3': found 3, but model 'life' has 1 layer");
    expect("$A variants --ids $(seq -s, 0 99 | tr -d 1-9 | sed 's/,/0,/g')0 2>&1", 1, "at most 64");
    expect("$A variants " LIFE " --kinds \"$(yes causal | head -65 | tr '\\n' ' ')\" 2>&1", 2, "more than 64 kinds");
}
END_TEST

Suite *suite_variants(void)
{
    Suite *s = suite_create("variants");
    TCase *c = tcase_create("variants");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, changes_are_those_of_two_runs, 0, EACH);
    tcase_add_test(c, without_an_output_layer_there_is_no_next_token);
    tcase_add_test(c, scores_are_counted);
    tcase_add_test(c, all_kinds_are_observed_if_asked);
    tcase_add_test(c, the_page_fits_eighty_columns);
    tcase_add_test(c, the_page_says_what_matters);
    tcase_add_test(c, lost_rows_have_the_reason_of_their_kind);
    tcase_add_test(c, pictures_have_names);
    tcase_add_test(c, nonsense_is_refused);
    suite_add_tcase(s, c);
    return s;
}
