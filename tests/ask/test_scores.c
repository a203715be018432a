/* Scores of heads: against double precision, and against their definitions under every kind of attention, however
 * texts run together. */
#include "suites.h"

#include "ask/scores.h"
#include "compute/matrix.h"
#include "draw.h"
#include "golden.h"
#include "made.h"
#include "model/model.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what attn_heads writes ---- */

enum { TEXTS = 8, LONGEST = 32 };
struct texts { int32_t ids[TEXTS * LONGEST]; size_t T[TEXTS], n; };
struct how { struct attn_kind kind; int threads; bool copying; };

static void append(struct texts *t, const int32_t *ids, size_t T)
{
    size_t at = 0;
    for (size_t i = 0; i < t->n; i++)
        at += t->T[i];
    ck_assert(t->n < TEXTS && T <= LONGEST);
    memcpy(t->ids + at, ids, T * sizeof *ids);
    t->T[t->n++] = T;
}

static cJSON *heads_of(const char *model, const struct texts *t, const struct how *how)
{
    struct attn_model *m = NULL;
    struct attn_select *s = NULL;
    struct attn_heads_state state;
    struct attn_err err = {0};
    const char *path = scratch_path("heads.json");
    ck_assert_msg(!attn_model_open(&m, model, &err) && !attn_select_new(&s, m, &how->kind, "pattern", NULL, NULL, &err),
                  "%s", err.msg);
    const struct attn_batch_opts over = {.model = m, .select = s, .plan = {.threads = how->threads,
                                                                                               .kind = how->kind}};
    const struct attn_heads_opts o = {.over = &over, .ids = t->ids, .T = t->T, .texts = t->n, .copying = how->copying,
                                      .format = "json",
                                      .path = path};
    ck_assert_msg(!attn_heads(&state, &o, &err), "%s", err.msg);
    ck_assert_uint_eq(state.texts, t->n);
    attn_select_free(s);
    attn_model_close(m);
    return golden_read(path);
}

static const cJSON *row_of(const cJSON *doc, size_t i)
{
    const cJSON *row = cJSON_GetArrayItem(golden_get(doc, "rows"), (int)i);
    ck_assert_ptr_nonnull(row);
    return row;
}

/* NaN: null. */
static double score_of(const cJSON *row, const char *name)
{
    const cJSON *x = golden_find(row, name);
    return x ? x->valuedouble : NAN;
}

/* ---- double precision ---- */

static const char *const checkpoints[] = {"gpt2-a", "llama-f", "neo-h", "neox-i", "qwen2-j"};
enum { CHECKPOINTS = sizeof checkpoints / sizeof *checkpoints };

/* Six times what PyTorch in float32 is away from double precision, or its rounding where that happens to be less. */
static void expect_near(const cJSON *table, const cJSON *got, const cJSON *want, const char *name)
{
    double a = score_of(got, name), b = score_of(want, name);
    if (!strcmp(name, "punctuation")) {         /* of ids that no tokenizer names */
        ck_assert(isnan(a));
        return;
    }
    double bound = fmax(6 * golden_number(golden_get(table, "float32_max_abs_difference"), name), 6e-6 * (1 + fabs(b)));
    ck_assert_msg(isnan(b) ? isnan(a) : fabs(a - b) <= bound,
                  "%s of layer %g, head %g is %.9g, expected %.9g within %g", name,
                  golden_number(want, "layer"), golden_number(want, "head"), a, b, bound);
}

static void compare_table(const char *model, const cJSON *table)
{
    struct texts t = {0};
    const cJSON *text, *want, *id;
    cJSON_ArrayForEach(text, golden_get(table, "texts")) {
        int32_t ids[LONGEST];
        size_t T = 0;
        cJSON_ArrayForEach(id, text)
            ids[T++] = (int32_t)id->valuedouble;
        append(&t, ids, T);
    }
    cJSON *doc = heads_of(model, &t, &(struct how){.copying = true});
    ck_assert(cJSON_Compare(golden_get(doc, "texts"), golden_get(table, "texts"), true));
    size_t i = 0;
    cJSON_ArrayForEach(want, golden_get(table, "rows")) {
        const cJSON *got = row_of(doc, i++);
        ck_assert(golden_number(got, "layer") == golden_number(want, "layer") &&
                  golden_number(got, "head") == golden_number(want, "head"));
        for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s));)
            expect_near(table, got, want, s->name);
    }
    ck_assert_int_eq((int)i, cJSON_GetArraySize(golden_get(doc, "rows")));
    cJSON_Delete(doc);
}

START_TEST(checkpoints_agree_with_double_precision)
{
    char path[128], model[128];
    snprintf(path, sizeof path, "tests/golden/ask/%s/heads.json", checkpoints[_i]);
    snprintf(model, sizeof model, "tests/golden/checkpoints/%s", checkpoints[_i]);
    cJSON *golden = golden_read(path);
    const cJSON *table;
    size_t n = 0;
    cJSON_ArrayForEach(table, golden_get(golden, "tables")) {
        compare_table(model, table);
        n++;
    }
    ck_assert_uint_eq(n, 4);
    cJSON_Delete(golden);
}
END_TEST

/* ---- the definitions, on the patterns of every kind ---- */

/* The means over all rows of `texts`, as the definitions say them; scores of -inf are the keys that a query
 * does not see. */
struct plain { double sum[8]; size_t n[8]; };

static void add(struct plain *p, size_t i, bool offers, double x)
{
    p->sum[i] += offers ? x : 0;
    p->n[i] += offers;
}

static void add_row(struct plain *p, const float *A, const bool *sees, const int32_t *ids, size_t q, size_t T)
{
    double same = 0, after = 0, entropy = 0, distance = 0;
    size_t n_same = 0, n_after = 0, seen = 0;
    for (size_t k = 0; k < T; k++) {
        double w = (double)A[k];
        entropy -= w > 0 ? w * log(w) : 0;
        distance += w * fabs((double)q - (double)k);
        seen += sees[k];
        if (k < q && ids[k] == ids[q]) {
            same += w;
            n_same++;
            if (k + 1 < q) {
                after += (double)A[k + 1];
                n_after++;
            }
        }
    }
    const double x[] = {(double)A[q - 1], (double)A[q], (double)A[0], same, after, entropy,
                        entropy / log((double)seen), distance};
    const bool offers[] = {true, true, true, n_same > 0, n_after > 0, true, seen > 1, true};
    for (size_t i = 0; i < 8; i++)
        add(p, i, offers[i], x[i]);
}

struct patterns { float *x; size_t T, H, L; };          /* [L, H, T, T] of one text */

static unsigned wants_patterns(void *self, int act, int layer)
{
    (void)self, (void)layer;
    return act == ATTN_ACT_PATTERN ? ATTN_WATCH | ATTN_WHOLE : 0;
}

static int keep_patterns(void *self, const struct attn_probe *p, struct attn_err *err)
{
    struct patterns *to = self;
    (void)err;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t q = 0; q < p->rows; q++)
            memcpy(to->x + (((size_t)p->layer * to->H + h) * to->T + q) * to->T, p->data + h * p->ld_head + q * p->ld,
                   to->T * sizeof *to->x);
    return ATTN_OK;
}

static struct patterns patterns_of(const char *model, const int32_t *ids, size_t T, const struct attn_kind *kind)
{
    struct attn_model *m = NULL;
    struct attn_run *run = NULL;
    struct attn_info info;
    struct attn_err err = {0};
    const struct attn_seq seq = {.T = T};
    const struct attn_plan plan = {.rows = T, .seqs = 1, .threads = 1, .kind = *kind};
    ck_assert_msg(!attn_model_open(&m, model, &err), "%s", err.msg);
    attn_model_info(m, &info);
    struct patterns p = {calloc(info.L * info.H * T * T, sizeof(float)), T, info.H, info.L};
    const struct attn_observer observer = {.wants = wants_patterns, .watch = keep_patterns, .self = &p};
    ck_assert_msg(!attn_run_new(&run, m, &plan, &observer, 1, &err) && !attn_run_forward(run, ids, &seq, 1, &err),
                  "%s", err.msg);
    attn_run_free(run);
    attn_model_close(m);
    return p;
}

/* The kinds, and what a query sees, written once more and by themselves. */
static bool sees_key(const char *kind, size_t q, size_t k)
{
    if (!strcmp(kind, "full"))
        return true;
    if (k > q)
        return false;
    if (!strcmp(kind, "window:3"))
        return q - k < 3;
    if (!strcmp(kind, "strided:2,4"))
        return q - k < 2 || (q - k) % 4 == 0;
    return true;
}

static const char *const kinds[] = {"model", "full", "causal", "causal-renorm", "window:3", "strided:2,4",
                                    "random:2,2,5",
                                    "linear", "block:4"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* How many keys random shows; those it draws are 0 in no pattern of a softmax. */
static void find_seen(bool *sees, const char *kind, const float *A, size_t q, size_t T)
{
    for (size_t k = 0; k < T; k++)
        sees[k] = strncmp(kind, "random", 6) ? sees_key(kind, q, k) : A[k] > 0;
}

static void draw_texts(struct texts *t, uint32_t seed, size_t V)
{
    static const size_t lengths[] = {9, 1, 17, 2, 31};
    *t = (struct texts){0};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int32_t ids[LONGEST];
        for (size_t k = 0; k < lengths[i]; k++)
            ids[k] = (int32_t)draw_below(&seed, V);
        append(t, ids, lengths[i]);
    }
}

START_TEST(scores_are_what_they_are_called)
{
    const char *model = "tests/golden/checkpoints/llama-f";
    struct texts t;
    struct how how = {.threads = 2};
    draw_texts(&t, 7, 12);              /* of few ids, so that many are repeated */
    ck_assert_int_eq(attn_kind_parse(&how.kind, kinds[_i], NULL), ATTN_OK);
    cJSON *doc = heads_of(model, &t, &how);
    struct plain sums[64] = {{{0}, {0}}};
    const int32_t *ids = t.ids;
    size_t heads = 0;
    for (size_t i = 0; i < t.n; ids += t.T[i++]) {
        struct patterns p = patterns_of(model, ids, t.T[i], &how.kind);
        heads = p.L * p.H;
        ck_assert_uint_le(heads, 64);
        for (size_t h = 0; h < heads; h++)
            for (size_t q = 1; q < p.T; q++) {
                bool sees[LONGEST];
                const float *A = p.x + (h * p.T + q) * p.T;
                find_seen(sees, kinds[_i], A, q, p.T);
                add_row(&sums[h], A, sees, ids, q, p.T);
            }
        free(p.x);
    }
    for (size_t h = 0; h < heads; h++) {
        const struct attn_head_score *s = NULL;
        for (size_t c = 0; c < 8; c++) {
            s = attn_head_score_next(s);
            double got = score_of(row_of(doc, h), s->name), want = sums[h].sum[c] / (double)sums[h].n[c];
            /* both add doubles up, in different orders */
            ck_assert_msg(fabs(got - want) <= 1e-12 * (1 + fabs(want)), "%s, %s of head %zu: %.17g, expected %.17g",
                          kinds[_i], s->name, h, got, want);
        }
    }
    cJSON_Delete(doc);
}
END_TEST

/* ---- what stands between a head and the tables ---- */

static void copying_of(double *out, const struct attn_model *m)
{
    struct attn_team *team = NULL;
    struct attn_err err = {0};
    ck_assert_msg(!attn_team_new(&team, 2, &err) && !attn_copying(out, m, team, &(struct attn_copying_watch){0}, &err),
                  "%s", err.msg);
    attn_team_free(team);
}

enum { WIDE = 8, NARROW = 6, WORDS = 11, TWO = 2 };
#define ONE_LAYER(type, more) "{\"model_type\": \"" type "\", \"vocab_size\": 11, \"hidden_size\": 8, " \
    "\"num_hidden_layers\": 1, " \
    "\"num_attention_heads\": 2, \"max_position_embeddings\": 8" more "}"

/* Gains that follow each other act as their product. */
static void expect_product(struct attn_model *m, struct attn_vec *a, struct attn_vec *b)
{
    float gains[3][WIDE], ones[WIDE];
    double apart[TWO], once[TWO], without[TWO];
    draw_numbers(gains[0], WIDE, 3);
    draw_numbers(gains[1], WIDE, 4);
    for (size_t i = 0; i < WIDE; i++) {
        ones[i] = 1;
        gains[2][i] = gains[0][i] * gains[1][i];
    }
    *a = (struct attn_vec){gains[0], ATTN_F32}, *b = (struct attn_vec){gains[1], ATTN_F32};
    copying_of(apart, m);
    *a = (struct attn_vec){ones, ATTN_F32}, *b = (struct attn_vec){gains[2], ATTN_F32};
    copying_of(once, m);
    b->data = gains[1];
    copying_of(without, m);
    for (size_t h = 0; h < TWO; h++) {
        ck_assert_double_eq_tol(apart[h], once[h], 1e-5);           /* the product of two gains is rounded to float32 */
        ck_assert_double_ge(fabs(apart[h] - without[h]), 1e-3);
    }
}

START_TEST(copying_counts_every_gain)
{
    struct attn_model *m = made_open(made_model(ONE_LAYER("gemma2", ", \"num_key_value_heads\": 2, \"head_dim\": 4, "
                                                          "\"intermediate_size\": 8"), 7, "F32"));
    expect_product(m, &m->w.block[0].post1.weight, &m->w.final.weight);
    attn_model_close(m);
    m = made_open(made_model("{\"model_type\": \"bloom\", \"vocab_size\": 11, \"hidden_size\": 8, \"n_layer\": 1, "
                             "\"n_head\": 2}", 7, "F32"));
    expect_product(m, &m->w.embed_norm.weight, &m->w.block[0].norm1.weight);
    attn_model_close(m);
}
END_TEST

/* In training, weights are stored as what they are more than 1. */
START_TEST(copying_counts_from_one)
{
    struct attn_model *m = made_open(made_model(ONE_LAYER("gemma", ", \"num_key_value_heads\": 2, \"head_dim\": 4, "
                                                          "\"intermediate_size\": 8"), 7, "F32"));
    struct attn_norm *norm = &m->w.block[0].norm1;
    float gains[WIDE], more[WIDE];
    double want[TWO], have[TWO];
    draw_numbers(more, WIDE, 3);
    for (size_t i = 0; i < WIDE; i++)
        gains[i] = more[i] + 1;
    norm->weight.data = gains;
    copying_of(want, m);
    norm->weight.data = more;
    norm->from_one = true;
    copying_of(have, m);
    ck_assert_mem_eq(have, want, sizeof want);
    attn_model_close(m);
}
END_TEST

/* to[rows, cols] = a b; both as they are stored. */
static void multiply(float *to, const float *a, const float *b, size_t rows, size_t inner, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            double sum = 0;
            for (size_t k = 0; k < inner; k++)
                sum += (double)a[i * inner + k] * (double)b[k * cols + j];
            to[i * cols + j] = (float)sum;
        }
}

/* A projected embedding is as good as one that is as wide as the stream. */
START_TEST(copying_goes_through_projections)
{
    struct attn_model *m =
        made_open(made_model(ONE_LAYER("opt", ", \"ffn_dim\": 8, \"word_embed_proj_dim\": 6"), 7, "F32"));
    float words[WORDS * NARROW], in[NARROW * WIDE], out[WIDE * NARROW], embed[WORDS * WIDE], back[NARROW * WORDS],
        unembed[WIDE * WORDS];
    double through[TWO], plain[TWO];
    draw_numbers(words, WORDS * NARROW, 3);
    draw_numbers(in, NARROW * WIDE, 4);
    draw_numbers(out, WIDE * NARROW, 5);
    struct attn_weights *w = &m->w;
    w->embed = (struct attn_mat){.data = words, .in = WORDS, .out = NARROW, .ld = NARROW};
    w->unembed = (struct attn_mat){.data = words, .in = NARROW, .out = WORDS, .ld = NARROW, .transposed = true};
    w->project_in = (struct attn_mat){.data = in, .in = NARROW, .out = WIDE, .ld = WIDE};
    w->project_out = (struct attn_mat){.data = out, .in = WIDE, .out = NARROW, .ld = NARROW};
    copying_of(through, m);
    multiply(embed, words, in, WORDS, NARROW, WIDE);
    for (size_t i = 0; i < WORDS; i++)
        for (size_t j = 0; j < NARROW; j++)
            back[j * WORDS + i] = words[i * NARROW + j];
    multiply(unembed, out, back, WIDE, NARROW, WORDS);
    w->embed = (struct attn_mat){.data = embed, .in = WORDS, .out = WIDE, .ld = WIDE};
    w->unembed = (struct attn_mat){.data = unembed, .in = WIDE, .out = WORDS, .ld = WORDS};
    w->project_in = w->project_out = (struct attn_mat){.data = NULL};
    copying_of(plain, m);
    for (size_t h = 0; h < TWO; h++)
        /* products are rounded to float32 here, sums there */
        ck_assert_double_eq_tol(through[h], plain[h], 1e-5);
    attn_model_close(m);
}
END_TEST

START_TEST(copying_needs_a_stream_as_it_is)
{
    static const char *const configs[] = {
        ONE_LAYER("opt", ", \"ffn_dim\": 8, \"do_layer_norm_before\": false"),
        "{\"model_type\": \"bloom\", \"vocab_size\": 11, \"hidden_size\": 8, \"n_layer\": 1, \"n_head\": 2, "
        "\"apply_residual_connection_post_layernorm\": true}"};
    struct attn_model *m = made_open(made_model(configs[_i], 7, "F32"));
    struct attn_err err = {0};
    double none[TWO];
    ck_assert_int_eq(attn_copying(none, m, NULL, &(struct attn_copying_watch){0}, &err), ATTN_EFORMAT);
    ck_assert_msg(strstr(err.msg, "normalises its residual stream in every layer") != NULL, "%s", err.msg);
    attn_model_close(m);
}
END_TEST

/* ---- company ---- */

START_TEST(threads_change_no_bit)
{
    const char *model = "tests/golden/checkpoints/neo-h";
    struct texts t;
    draw_texts(&t, 3, 40);
    cJSON *one = heads_of(model, &t, &(struct how){.threads = 1, .copying = true});
    for (int threads = 2; threads <= 5; threads++) {
        cJSON *more = heads_of(model, &t, &(struct how){.threads = threads, .copying = true});
        ck_assert_msg(cJSON_Compare(one, more, true), "%d threads", threads);
        cJSON_Delete(more);
    }
    cJSON_Delete(one);
}
END_TEST

/* A single token has no row that counts. */
START_TEST(what_is_not_there_is_null)
{
    struct texts t = {.ids = {5}, .T = {1}, .n = 1};
    cJSON *doc = heads_of("tests/golden/checkpoints/gpt2-a", &t, &(struct how){0});
    for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s));)
        ck_assert(cJSON_IsNull(cJSON_GetObjectItem(row_of(doc, 0), s->name)));
    cJSON_Delete(doc);
}
END_TEST

/* ---- random texts ---- */

static struct attn_repeated repeat(const char *model, const struct attn_repeat_opts *o)
{
    struct attn_model *m = NULL;
    struct attn_repeated r;
    struct attn_err err = {0};
    ck_assert_msg(!attn_model_open(&m, model, &err) && !attn_repeat(&r, m, o, &err), "%s", err.msg);
    attn_model_close(m);
    return r;
}

START_TEST(random_ids_are_distinct_and_repeated)
{
    struct attn_repeated r = repeat("tiny", &(struct attn_repeat_opts){.n = 40, .texts = 3, .seed = 11});
    ck_assert(r.n == 40 && r.T == 80 && r.texts == 3);
    for (size_t i = 0; i < r.texts; i++)
        for (size_t a = 0; a < r.n; a++) {
            const int32_t *ids = r.ids + i * r.T;
            ck_assert(ids[a] == ids[a + r.n] && ids[a] >= 0 && ids[a] < 8191);      /* 8191 ends a text */
            for (size_t b = 0; b < a; b++)
                ck_assert_int_ne(ids[a], ids[b]);
        }
    /* Fewer texts are the first of more; another seed gives others. */
    struct attn_repeated first = repeat("tiny", &(struct attn_repeat_opts){.n = 40, .texts = 1, .seed = 11});
    struct attn_repeated other = repeat("tiny", &(struct attn_repeat_opts){.n = 40, .texts = 1, .seed = 12});
    ck_assert_mem_eq(first.ids, r.ids, r.T * sizeof *r.ids);
    ck_assert_mem_ne(other.ids, r.ids, r.T * sizeof *r.ids);
    free(first.ids);
    free(other.ids);
    free(r.ids);
}
END_TEST

/* The numbers of splitmix64 with seed 0 are known: 0xE220A8397B1DCDAF is the first one. */
START_TEST(random_ids_are_those_of_the_shuffle)
{
    struct attn_repeated r = repeat("tiny", &(struct attn_repeat_opts){.texts = 1});
    ck_assert_uint_eq(r.n, 24);
    ck_assert_int_eq(r.ids[0], (int32_t)(0xE220A8397B1DCDAFu % 8191));
    free(r.ids);
    r = repeat("life", &(struct attn_repeat_opts){0});
    ck_assert(r.n == 6 && r.texts == 8);        /* all that its vocabulary has */
    free(r.ids);
}
END_TEST

START_TEST(what_cannot_be_drawn_is_an_error)
{
    static const struct { size_t n; const char *says; } bad[] = {
        {7, "7 distinct ids are asked for, and model life has 6"}, {1000, "1000 distinct ids"}};
    struct attn_model *m = NULL;
    ck_assert_int_eq(attn_model_open(&m, "life", NULL), ATTN_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct attn_repeated r;
        struct attn_err err = {0};
        ck_assert_int_eq(attn_repeat(&r, m, &(struct attn_repeat_opts){.n = bad[i].n}, &err), ATTN_EUSAGE);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "%s", err.msg);
        ck_assert_ptr_null(r.ids);
    }
    attn_model_close(m);
}
END_TEST

/* ---- eigenvalues ---- */

enum { N = 48 };

/* Whether each of n expected values is nearest to another one that was found, within `bound`. */
static void expect_eigenvalues(const double *a, size_t n, const double *re, const double *im, double bound)
{
    double copy[N * N], other[N * N], x[N], y[N];
    bool used[N] = {false};
    memcpy(copy, a, n * n * sizeof *a);
    ck_assert(attn_matrix_eigenvalues(x, y, copy, other, n));
    for (size_t i = 0; i < n; i++) {
        size_t best = n;
        for (size_t k = 0; k < n; k++)
            if (!used[k] && (best == n || hypot(x[k] - re[i], y[k] - im[i]) < hypot(x[best] - re[i], y[best] - im[i])))
                best = k;
        used[best] = true;
        ck_assert_msg(hypot(x[best] - re[i], y[best] - im[i]) <= bound,
                      "%g%+gi is not among those of %zu: nearest %g%+gi",
                      re[i], im[i], n,
                      x[best], y[best]);
    }
}

START_TEST(eigenvalues_of_known_matrices)
{
    const double zero[4] = {0}, one[1] = {-3}, turn[] = {0, -2, 2, 0}, triangle[] = {1, 5, -7, 0, 2, 9, 0, 0, -4};
    const double cycle[] = {0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};       /* fourth roots of 1 */
    /* of (x-1)(x-2)(x-3)(x-4) */
    const double companion[] = {10, -35, 50, -24, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const double uneven[] = {1, 1e12, 1e-12, 2};
    expect_eigenvalues(zero, 2, (double[]){0, 0}, (double[]){0, 0}, 0);
    expect_eigenvalues(one, 1, (double[]){-3}, (double[]){0}, 0);
    expect_eigenvalues(turn, 2, (double[]){0, 0}, (double[]){2, -2}, 1e-15);
    expect_eigenvalues(triangle, 3, (double[]){1, 2, -4}, (double[]){0, 0, 0}, 1e-14);
    expect_eigenvalues(cycle, 4, (double[]){1, -1, 0, 0}, (double[]){0, 0, 1, -1}, 1e-14);
    /* its condition is some 1e3 */
    expect_eigenvalues(companion, 4, (double[]){1, 2, 3, 4}, (double[]){0, 0, 0, 0}, 1e-11);
    /* 1e12 epsilons */
    expect_eigenvalues(uneven, 2, (double[]){(3 + sqrt(5)) / 2, (3 - sqrt(5)) / 2}, (double[]){0, 0}, 1e-3);
}
END_TEST

/* P D P' for an orthogonal P, a product of reflections, and blocks [a b; -b a] and numbers in D. */
START_TEST(eigenvalues_of_turned_blocks)
{
    static const size_t sizes[] = {2, 3, 5, 8, 16, 31, N};
    uint32_t seed = (uint32_t)_i + 1;
    size_t n = sizes[_i % 7];
    double a[N * N] = {0}, re[N], im[N], v[N];
    for (size_t i = 0; i < n;) {
        bool pair = i + 1 < n && draw_below(&seed, 2);
        double x = (double)draw_number(&seed), y = pair ? 0.1 + fabs((double)draw_number(&seed)) : 0;
        for (size_t k = 0; k <= pair; k++) {
            re[i + k] = a[(i + k) * n + i + k] = x;
            im[i + k] = k ? -y : y;
        }
        if (pair) {
            a[i * n + i + 1] = y;
            a[(i + 1) * n + i] = -y;
        }
        i += 1 + pair;
    }
    for (size_t round = 0; round < 3; round++) {
        double size = 0, sum;
        for (size_t i = 0; i < n; i++) {
            v[i] = (double)draw_number(&seed);
            size += v[i] * v[i];
        }
        for (size_t j = 0; j < 2 * n; j++) {            /* from the left, then from the right */
            size_t start = j < n ? j : (j - n) * n, step = j < n ? n : 1;
            sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += v[i] * a[start + i * step];
            for (size_t i = 0; i < n; i++)
                a[start + i * step] -= 2 * sum / size * v[i];
        }
    }
    /* a normal matrix: errors of the matrix are those of the values */
    expect_eigenvalues(a, n, re, im, 1e-13 * (double)n);
}
END_TEST

/* Whatever the matrix, its eigenvalues sum to its trace, and their squares to that of its square. */
START_TEST(eigenvalues_of_random_matrices)
{
    uint32_t seed = (uint32_t)_i + 100;
    size_t n = 1 + draw_below(&seed, N);
    double a[N * N], square[N * N], b[N * N], re[N], im[N], trace = 0, trace2 = 0, norm = 0;
    for (size_t i = 0; i < n * n; i++) {
        a[i] = (double)draw_number(&seed);
        norm += a[i] * a[i];
    }
    attn_matrix_product(square, a, a, n, n, n);
    for (size_t i = 0; i < n; i++) {
        trace += a[i * n + i];
        trace2 += square[i * n + i];
    }
    ck_assert(attn_matrix_eigenvalues(re, im, a, b, n));
    for (size_t i = 0; i < n; i++) {
        trace -= re[i];
        trace2 -= re[i] * re[i] - im[i] * im[i];
    }
    ck_assert_msg(fabs(trace) <= 1e-13 * (1 + norm) && fabs(trace2) <= 1e-12 * (1 + norm),
                  "%zu: off by %g and %g", n, trace,
                  trace2);
}
END_TEST

/* They are as small as the numbers, also where the diagonal has nothing to compare with. */
START_TEST(eigenvalues_of_small_matrices)
{
    double a[] = {0, ldexp(-4, -200), ldexp(1, -200), 0}, b[4], re[2], im[2];
    ck_assert(attn_matrix_eigenvalues(re, im, a, b, 2));
    for (size_t i = 0; i < 2; i++)
        ck_assert_msg(fabs(ldexp(re[i], 200)) < 1e-15 && fabs(fabs(ldexp(im[i], 200)) - 2) < 1e-15,
                      "%zu: %g + %gi", i, re[i], im[i]);
    ck_assert(im[0] == -im[1]);
}
END_TEST

START_TEST(no_eigenvalues_of_nan)
{
    double a[] = {1, 2, NAN, 4}, b[4], re[2], im[2];
    ck_assert(!attn_matrix_eigenvalues(re, im, a, b, 2));
}
END_TEST

Suite *suite_scores(void)
{
    Suite *s = suite_create("scores");
    TCase *c = tcase_create("scores");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    tcase_add_loop_test(c, checkpoints_agree_with_double_precision, 0, CHECKPOINTS);
    tcase_add_loop_test(c, scores_are_what_they_are_called, 0, KINDS);
    tcase_add_test(c, copying_counts_every_gain);
    tcase_add_test(c, copying_goes_through_projections);
    tcase_add_test(c, copying_counts_from_one);
    tcase_add_loop_test(c, copying_needs_a_stream_as_it_is, 0, 2);
    tcase_add_test(c, threads_change_no_bit);
    tcase_add_test(c, what_is_not_there_is_null);
    tcase_add_test(c, random_ids_are_distinct_and_repeated);
    tcase_add_test(c, random_ids_are_those_of_the_shuffle);
    tcase_add_test(c, what_cannot_be_drawn_is_an_error);
    suite_add_tcase(s, c);
    c = tcase_create("eigenvalues");
    tcase_add_test(c, eigenvalues_of_known_matrices);
    tcase_add_loop_test(c, eigenvalues_of_turned_blocks, 0, 28);
    tcase_add_loop_test(c, eigenvalues_of_random_matrices, 0, 20);
    tcase_add_test(c, eigenvalues_of_small_matrices);
    tcase_add_test(c, no_eigenvalues_of_nan);
    suite_add_tcase(s, c);
    return s;
}
