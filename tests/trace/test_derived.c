/* Derived activations: against recorded results of five families, by the identities that hold for every model, and as
 * names like any other in every format.  The suites `families` and `reference` compare them with double precision for
 * many more models, kinds of attention included. */
#include "suites.h"

#include "asked.h"
#include "keep.h"
#include "shell.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"gpt2-a", "llama-f", "neo-h", "neox-i", "qwen2-j"};
enum { NAMES = sizeof names / sizeof *names, T = 12 };
static const int32_t ids[T] = {5, 17, 33, 2, 17, 40, 8, 8, 61, 0, 29, 17};

static struct keep *kept(void)
{
    struct keep *k = calloc(1, sizeof *k);
    ck_assert_ptr_nonnull(k);
    k->only = -1;
    k->flags = ATTN_WATCH | ATTN_DERIVE;
    return k;
}

static void drop(struct keep *k)
{
    keep_free(k);
    free(k);
}

static const char *model(int i)
{
    static char path[64];
    snprintf(path, sizeof path, "tests/golden/checkpoints/%s", names[i]);
    return path;
}

static const struct kept *find(const struct keep *k, int layer, const char *tail)
{
    char name[64];
    snprintf(name, sizeof name, "blocks.%d.%s", layer, tail);
    const struct kept *a = keep_find(k, name, 0);
    ck_assert_msg(a != NULL, "%s was not told", name);
    return a;
}

/* ---- recorded results ---- */

static void compare(const struct kept *a, const struct attn_dump_array *want, double float32)
{
    ck_assert_uint_eq(a->n, (want->shape[0] * want->shape[1] * (a->ndim == 3 ? want->shape[2] : 1)));
    for (size_t i = 0; i < a->n; i++) {
        double x = (double)want->data[i], bound = asked_limit(float32, 1 + fabs(x));
        ck_assert_msg(fabs((double)a->data[i] - x) <= bound, "%s[%zu] is %.9g, expected %.9g (bound %g)", a->name, i,
                      (double)a->data[i], x, bound);
    }
}

/* Compares what a run derived with its members of the archive, RUN/NAME. */
static void compare_run(const struct keep *k, const struct attn_dump *dump, const cJSON *run, int number)
{
    const cJSON *lost = golden_get(run, "float32_max_abs_difference");
    struct attn_dump_array a;
    int compared = 0;
    for (size_t i = 0; attn_dump_array(dump, i, &a) >= 0; i++) {
        if (strtol(a.name, NULL, 10) != number)
            continue;
        const char *name = strchr(a.name, '/') + 1;
        const struct kept *got = keep_find(k, name, 0);
        ck_assert_msg(got != NULL, "%s was not told", a.name);
        compare(got, &a, golden_number(lost, name));
        compared++;
    }
    ck_assert_int_eq(compared, cJSON_GetArraySize(golden_get(run, "arrays")));
}

START_TEST(recorded_results)
{
    int32_t text[ASKED_IDS], from[ASKED_IDS];
    struct attn_dump *dump = NULL;
    struct attn_err err = {0};
    const char *path = asked_path(names[_i], "derived.npz");
    const cJSON *run;
    int number = 0;
    if (!path)
        return;
    ck_assert_msg(!attn_dump_open(&dump, path, &err), "%s", err.msg);
    struct asked m = asked_open(names[_i]);
    cJSON *file = golden_read(asked_path(names[_i], "derived.json"));
    size_t n = asked_ids(text, golden_get(file, "ids"));
    ck_assert_uint_eq(asked_ids(from, golden_get(file, "from")), n);
    struct attn_tokens *t = asked_tokens(text, n), *other = asked_tokens(from, n);
    cJSON_ArrayForEach(run, golden_get(file, "runs")) {
        struct keep *k = kept();
        struct attn_plan plan = {.threads = 1 + number};
        struct asked_editor e = asked_edit_list(&m, golden_get(run, "edits"), t, other, &plan);
        struct attn_observer obs[2] = {keep_observer(k), keep_observer(k)};
        if (e.editor)
            obs[0] = attn_editor_observer(e.editor);
        ck_assert_msg(!attn_run_tokens(m.model, &plan, t, NULL, obs, e.editor ? 2 : 1, &err), "%s", err.msg);
        compare_run(k, dump, run, number++);
        asked_edit_end(&e);
        drop(k);
    }
    ck_assert_int_gt(number, 1);
    attn_tokens_free(t);
    attn_tokens_free(other);
    cJSON_Delete(file);
    attn_dump_free(dump);
    asked_close(&m);
}
END_TEST

/* ---- identities ---- */

/* The output bias does not depend on the text: it is what is left where all heads are taken away, at any position. */
static void heads_make_the_output(const struct kept *part, const struct kept *out)
{
    size_t H = part->shape[0], d = part->shape[2];
    for (size_t i = 0; i < d; i++) {
        double first = 0, scale = 1;
        for (size_t t = 0; t < T; t++) {
            double rest = (double)out->data[t * d + i];
            for (size_t h = 0; h < H; h++)
                rest -= (double)part->data[(h * T + t) * d + i];
            first = t ? first : rest;
            scale = fmax(scale, fabs((double)out->data[t * d + i]));
            /* sums of up to 64 products, rounded to 24 bits after each */
            ck_assert_msg(fabs(rest - first) <= 4e-6 * scale,
                          "%s[%zu, %zu]: %g is left, but %g in row 0", out->name, t, i, rest,
                          first);
        }
    }
}

START_TEST(heads_add_up_to_the_output)
{
    struct keep *k = kept();
    keep_run(k, model(_i), ids, T, 1);
    for (int layer = 0; layer < 2; layer++)
        heads_make_the_output(find(k, layer, "attn.result"), find(k, layer, "attn.out"));
    drop(k);
}
END_TEST

START_TEST(rows_of_a_rollout_sum_to_1)
{
    struct keep *k = kept();
    keep_run(k, model(_i), ids, T, 1);
    for (int layer = 0; layer < 2; layer++) {
        const struct kept *r = find(k, layer, "rollout");
        for (size_t q = 0; q < T; q++) {
            double sum = 0;
            for (size_t key = 0; key < T; key++)
                sum += (double)r->data[q * T + key];
            ck_assert_double_le(fabs(sum - 1), 2e-6);   /* a pattern's own row is rounded at 12 places */
        }
    }
    drop(k);
}
END_TEST

START_TEST(the_last_lens_is_the_logits)
{
    char last[64];
    struct keep *k = kept();
    keep_run(k, model(_i), ids, T, 2);
    const struct kept *logits = keep_find(k, "logits", 0), *lens = NULL;
    for (int layer = 0; snprintf(last, sizeof last, "blocks.%d.lens", layer) && keep_find(k, last, 0); layer++)
        lens = keep_find(k, last, 0);
    ck_assert(logits && lens);
    ck_assert_mem_eq(lens->data, logits->data, logits->n * sizeof(float));
    drop(k);
}
END_TEST

/* ---- masks ---- */

static const char *const kinds[] = {"model", "full", "causal", "causal-renorm", "window:3", "strided:2,3",
                                    "random:2,1,7", "linear",
                                    "block:5"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* n: tokens, mostly more than a band of rows has.  The second and the last hide all but the last five in some layers;
 * the third has no mask. */
static const struct { const char *path; int n, layers; } masked[] = {
    {"tests/golden/checkpoints/gpt2-a", 30, 2}, {"tests/golden/checkpoints/neo-h", 60, 4}, {"life-full", 6, 1},
    {"tests/golden/checkpoints/bloom-a", 60, 2}, {"tests/golden/checkpoints/gemma3-a", 60, 4}};
enum { MASKED = sizeof masked / sizeof *masked };

/* Runs a text under a kind of attention: in one pass, or with a cache in one of `first` tokens and one
 * of the others. */
static void run_kind(struct keep *k, int i, const char *kind, size_t first, struct keep *rest)
{
    size_t n = (size_t)masked[i].n;
    struct attn_plan plan = {.rows = n, .seqs = 1, .keys = n, .threads = 2};
    struct attn_seq seq = {.T = first};
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    struct attn_run *run = NULL;
    struct attn_observer obs[2] = {keep_observer(k), rest ? keep_observer(rest) : keep_observer(k)};
    int32_t text[64];
    for (size_t t = 0; t < n; t++)
        text[t] = (int32_t)(t * t % 6);
    ck_assert_msg(!attn_kind_parse(&plan.kind, kind, &err) && !attn_model_open(&m, masked[i].path, &err) &&
                  (!rest || !attn_kv_new(&seq.kv, m, n, &err)) &&
                  !attn_run_new(&run, m, &plan, obs, rest ? 2 : 1, &err), "%s", err.msg);
    if (rest)
        rest->paused = true;
    ck_assert_msg(!attn_run_forward(run, text, &seq, 1, &err), "%s", err.msg);
    if (rest) {
        k->paused = !(rest->paused = false);
        seq.T = n - first;
        ck_assert_msg(!attn_run_forward(run, text + first, &seq, 1, &err), "%s", err.msg);
    }
    attn_kv_free(seq.kv);
    attn_run_free(run);
    attn_model_close(m);
}

/* A hidden score is -inf.  Linear attention has no scores, and causal-renorm hides after its softmax: there,
 * weights are 0. */
static bool is_seen(const struct keep *k, int layer, const char *kind, size_t head, size_t at)
{
    bool weights = !strcmp(kind, "linear") || !strcmp(kind, "causal-renorm");
    const struct kept *of = find(k, layer, weights ? "attn.pattern" : "attn.scores");
    float x = of->data[head * of->shape[1] * of->shape[2] + at];
    return weights ? x > 0 : x != -INFINITY;
}

static void masks_fit(const struct keep *k, int layer, const char *kind)
{
    const struct kept *mask = find(k, layer, "attn.mask"), *added = find(k, layer, "attn.mask_inf");
    size_t H = find(k, layer, "attn.pattern")->shape[0];
    ck_assert_int_eq(mask->ndim, 2);
    for (size_t i = 0; i < mask->n; i++) {
        for (size_t h = 0; h < H; h++)
            ck_assert_msg(mask->data[i] == is_seen(k, layer, kind, h, i),
                          "%s, %s[%zu], head %zu", kind, mask->name, i, h);
        ck_assert(added->data[i] == (mask->data[i] > 0 ? 0 : -INFINITY));
    }
}

START_TEST(masks_are_what_scores_hide)
{
    int i = _i % MASKED;
    const char *kind = kinds[_i / MASKED];
    struct keep *k = kept(), *whole = kept();
    whole->flags |= ATTN_WHOLE;
    run_kind(k, i, kind, (size_t)masked[i].n, NULL);
    run_kind(whole, i, kind, (size_t)masked[i].n, NULL);
    keep_expect_same(k, whole);
    for (int layer = 0; layer < masked[i].layers; layer++)
        masks_fit(k, layer, kind);
    drop(k);
    drop(whole);
}
END_TEST

/* Rows that continue a cache have the masks of the whole text. */
START_TEST(masks_of_later_rows)
{
    enum { FIRST = 7 };
    int i = _i % MASKED;
    const char *kind = kinds[_i / MASKED];
    if (i == 2 || !strcmp(kind, "full") || !strcmp(kind, "causal-renorm"))
        return;                         /* later tokens would change earlier rows: there is no cache */
    struct keep *k = kept(), *first = kept(), *rest = kept();
    k->only = first->only = rest->only = ATTN_ACT_MASK_INF;
    run_kind(k, i, kind, (size_t)masked[i].n, NULL);
    run_kind(first, i, kind, FIRST, rest);
    for (int layer = 0; layer < masked[i].layers; layer++) {
        const struct kept *all = find(k, layer, "attn.mask_inf"), *part = find(rest, layer, "attn.mask_inf");
        ck_assert_uint_eq(part->shape[0], all->shape[0] - FIRST);
        ck_assert_mem_eq(part->data, all->data + FIRST * all->shape[1], part->n * sizeof(float));
    }
    drop(k);
    drop(first);
    drop(rest);
}
END_TEST

/* The softmax over all keys, in double precision, the visible part of its sum, and what the pattern is of it. */
START_TEST(divisors_are_what_the_mask_leaves)
{
    struct keep *k = kept();
    run_kind(k, _i, "causal-renorm", (size_t)masked[_i].n, NULL);
    for (int layer = 0; layer < masked[_i].layers; layer++) {
        const struct kept *scores = find(k, layer, "attn.scores"), *pattern = find(k, layer, "attn.pattern");
        const struct kept *divisors = find(k, layer, "attn.divisors");
        size_t n = scores->shape[2];
        ck_assert_uint_eq(divisors->n, scores->shape[0] * n);
        ck_assert_uint_eq(divisors->shape[2], 1);
        for (size_t row = 0; row < divisors->n; row++) {
            const float *x = scores->data + row * n;
            double all = 0, left = 0;
            for (size_t j = 0; j < n; j++)
                all += exp((double)x[j]);
            for (size_t j = 0; j <= row % n; j++)
                left += exp((double)x[j]) / all;
            /* each weight and the sum are rounded to 24 bits, and so is an exp */
            ck_assert_msg(fabs((double)divisors->data[row] - left) <= 4e-7,
                          "%s[%zu] is %.9g, expected %.9g", divisors->name, row,
                          (double)divisors->data[row], left);
            double weight = exp((double)*x) / all / left;
            ck_assert_double_le(fabs((double)pattern->data[row * n] - weight), 4e-7 * (1 + weight));
        }
    }
    drop(k);
}
END_TEST

START_TEST(masks_of_another_text_hide_nothing)
{
    struct keep *k = kept();
    k->cross = true;
    keep_run_cross(k, "tests/golden/checkpoints/neo-h", ids, 5, 7, 1);
    const struct kept *mask = keep_find(k, "blocks.1.attn.mask", 0), *own = keep_find(k, "blocks.1.attn.mask", 1);
    ck_assert(mask && own && mask->n == 5 * 7 && own->n == 7 * 7);
    for (size_t i = 0; i < mask->n; i++)
        ck_assert(mask->data[i] == 1);
    ck_assert(own->data[1] == 0 && own->data[7] == 1);
    drop(k);
}
END_TEST

/* Watching what is derived changes no bit of anything else, and neither do threads, bands or bf16 of
 * what is derived. */
START_TEST(the_same_bits)
{
    struct keep *all = kept(), *whole = kept(), *plain = kept();
    whole->flags |= ATTN_WHOLE;
    plain->flags = ATTN_WATCH;
    void (*const run)(struct keep *, const char *, const int32_t *, size_t, int) = _i % 2 ? keep_run_bf16 : keep_run;
    run(all, model(_i / 2), ids, T, 1);
    run(whole, model(_i / 2), ids, T, 3);
    run(plain, model(_i / 2), ids, T, 2);
    keep_expect_same(all, whole);
    for (size_t i = 0; i < plain->n; i++) {
        const struct kept *x = &plain->a[i], *y = keep_find(all, x->name, 0);
        ck_assert_mem_eq(x->data, y->data, x->n * sizeof(float));
    }
    for (size_t i = 0; i < all->n; i++)
        ck_assert_int_eq(all->a[i].act >= ATTN_ACT_DERIVED, keep_find(plain, all->a[i].name, 0) == NULL);
    drop(all);
    drop(whole);
    drop(plain);
}
END_TEST

/* ---- who asks ---- */

static unsigned norms_and_rollout(void *self, int act, int layer)
{
    const bool *rollout = self;
    (void)layer;
    return act == ATTN_ACT_LENS || act == ATTN_ACT_RESULT || act == (*rollout ? ATTN_ACT_ROLLOUT : ATTN_ACT_NORMS)
           ? ATTN_WATCH | ATTN_DERIVE : 0;
}

static int hear(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)self, (void)p, (void)err;
    return ATTN_OK;
}

/* With a cache the rows before are gone: result and lens do not need them, norms and rollout do. */
START_TEST(a_cache_has_no_rows_before)
{
    bool rollout = _i;
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    struct attn_run *run = NULL;
    struct attn_kv *kv = NULL;
    struct attn_observer obs = {.wants = norms_and_rollout, .watch = hear, .self = &rollout};
    struct attn_plan plan = {.rows = T, .seqs = 1, .keys = T, .threads = 1};
    ck_assert(!attn_model_open(&m, model(0), &err) && !attn_kv_new(&kv, m, T, &err) &&
              !attn_run_new(&run, m, &plan, &obs, 1, &err));
    struct attn_seq seq = {.T = 4, .kv = kv};
    ck_assert_int_eq(attn_run_forward(run, ids, &seq, 1, &err), ATTN_OK);
    ck_assert_int_eq(attn_run_forward(run, ids + 4, &seq, 1, &err), ATTN_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.msg,
                                 rollout ? "rollout needs a text in one pass" : "attn.norms needs a text in one pass"));
    attn_run_free(run);
    attn_kv_free(kv);
    attn_model_close(m);
}
END_TEST

/* An observer's own error ends the run, also from within what is derived. */
static int refuse(void *self, const struct attn_probe *p, struct attn_err *err)
{
    (void)self;
    err->code = ATTN_EIO;
    snprintf(err->msg, sizeof err->msg, "no room for %s", p->name);
    return ATTN_EIO;
}

START_TEST(errors_come_through)
{
    bool rollout = true;
    struct attn_err err = {0};
    struct attn_model *m = NULL;
    struct attn_observer obs = {.wants = norms_and_rollout, .watch = refuse, .self = &rollout};
    struct attn_tokens *tokens = NULL;
    ck_assert(!attn_model_open(&m, model(0), &err) && !attn_tokens_from_ids(&tokens, ids, T, &err));
    ck_assert_int_eq(attn_run_tokens(m, &(struct attn_plan){.threads = 1}, tokens, NULL, &obs, 1, &err), ATTN_EIO);
    ck_assert_str_eq(err.msg, "no room for blocks.0.rollout");
    attn_tokens_free(tokens);
    attn_model_close(m);
}
END_TEST

/* ---- names like any other ---- */

#define RUN "\"$A\" run -m tests/golden/checkpoints/llama-f --ids 5,17,33,2,17 "
#define ALL "--show result,norms,rollout,lens "

START_TEST(wildcards_do_not_mean_them)
{
    expect(RUN "--show '*' --format tidy | cut -d, -f1 | sort -u | grep -cE 'result|norms|rollout|lens'", 1, "0");
    expect_exactly(RUN "--show 'blocks.*.rollout' --format tidy | cut -d, -f1 | uniq",
                   "name\nblocks.0.rollout\nblocks.1.rollout\n");
    expect_exactly(RUN "--show '*,lens' --layer 1 --format tidy | cut -d, -f1 | sort -u | grep lens",
                   "blocks.1.lens\n");
}
END_TEST

static const struct { const char *name, *file; } formats[] = {
    {"csv", "dir"}, {"tidy", "x.csv"}, {"npy", "dir"}, {"npz", "x.npz"}, {"json", "x.json"}};

/* What every format holds is the same. */
START_TEST(every_format)
{
    char line[512];
    snprintf(line, sizeof line,
             RUN ALL "--head 1-2 --layer 1 --format %s -o $D/%s && " RUN ALL "--head 1-2 --layer 1 -o $D/want.npz && "
             "\"$A\" diff --exact $D/%s $D/want.npz", formats[_i].name, formats[_i].file, formats[_i].file);
    expect(line, 0, "nothing differs: 4 tensors are the same bit for bit");
}
END_TEST

START_TEST(pictures)
{
    expect(RUN ALL "-o $D/x.npz", 0, "");
    expect(RUN "--show rollout,norms --format term", 0, "attention rollout");
    expect(RUN ALL, 0, "layer 1, head 3: norms of the weighted values (rows: queries, columns: keys)");
    expect(RUN ALL "-o $D/x.html && grep -c 'attention rollout' $D/x.html", 0, "1");
    for (size_t i = 0; i < 4; i++) {
        static const char *const names_of[] = {"result", "norms", "rollout", "lens"};
        char line[256];
        snprintf(line, sizeof line, "\"$A\" plot $D/x.npz --show %s -o $D/p.png && " RUN "--show %s -o $D/q.png && "
                 "cmp -n 8 $D/p.png $D/q.png", names_of[i], names_of[i]);
        expect(line, 0, "");
    }
    expect("\"$A\" plot $D/x.npz --show rollout -o $D/x.svg && grep -c 'attention rollout' $D/x.svg", 0, "");
}
END_TEST

START_TEST(a_batch)
{
    expect("printf '[5,17,33,2,17]\\n[1,2]\\n[3,4,5,6,7,8,9]\\n' | sed 's/.*/{\"ids\":&}/' > $D/s.ndjson && "
           "\"$A\" batch -m tests/golden/checkpoints/llama-f -f $D/s.ndjson " ALL "--format npy -o $D/out 2>&1", 0, "");
    expect(RUN ALL "--format npy -o $D/one", 0, "");
    expect("for f in $D/one/*.npy; do cmp $f $(find $D/out -path '*0*' -name $(basename $f) | head -1) || exit 1; "
           "done; ls $D/one/*.npy | wc -l", 0, "8");
}
END_TEST

START_TEST(another_text_has_no_rollout)
{
    expect("\"$A\" run -s \"Life is short\" --cross \"eat dessert first\" --show norms --format tidy", 0,
           "blocks.0.attn.norms,0,0,2,2,short,first,");
    expect("\"$A\" run -s \"Life is short\" --cross \"eat dessert first\" --show mask --format tidy", 0,
           "blocks.0.attn.mask,0,,0,2,Life,first,1\n");
    expect("\"$A\" run -s \"Life is short\" --show result 2>&1", 1, "model 'life' has no 'result'");
}
END_TEST

/* The article's two ways of masking, as it prints them: causal-renorm, and -inf. */
START_TEST(masks_in_words)
{
#define LIFE "\"$A\" run -m life -s \"Life is short, eat dessert first\" "
    expect(LIFE "--show mask --precision 0", 0, "short          1        1        1        0        0        0\n");
    expect(LIFE "--show mask_inf --format json | tr -d ' \n'", 0, "[0,null,null,null,null,null]");
    expect(LIFE "--attention causal-renorm --show divisors 2>&1", 0, "Life     0.1772\nis       0.7256\n");
}
END_TEST

Suite *suite_derived(void)
{
    Suite *s = suite_create("derived");
    TCase *c = tcase_create("numbers");
    tcase_add_loop_test(c, recorded_results, 0, NAMES);
    tcase_add_loop_test(c, heads_add_up_to_the_output, 0, NAMES);
    tcase_add_loop_test(c, rows_of_a_rollout_sum_to_1, 0, NAMES);
    tcase_add_loop_test(c, the_last_lens_is_the_logits, 0, NAMES);
    tcase_add_loop_test(c, masks_are_what_scores_hide, 0, KINDS * MASKED);
    tcase_add_loop_test(c, masks_of_later_rows, 0, KINDS * MASKED);
    tcase_add_loop_test(c, divisors_are_what_the_mask_leaves, 0, MASKED);
    tcase_add_test(c, masks_of_another_text_hide_nothing);
    tcase_add_loop_test(c, the_same_bits, 0, 2 * NAMES);
    tcase_add_loop_test(c, a_cache_has_no_rows_before, 0, 2);
    tcase_add_test(c, errors_come_through);
    suite_add_tcase(s, c);
    c = tcase_create("names");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_test(c, wildcards_do_not_mean_them);
    tcase_add_loop_test(c, every_format, 0, sizeof formats / sizeof *formats);
    tcase_add_test(c, pictures);
    tcase_add_test(c, a_batch);
    tcase_add_test(c, another_text_has_no_rollout);
    tcase_add_test(c, masks_in_words);
    suite_add_tcase(s, c);
    return s;
}
