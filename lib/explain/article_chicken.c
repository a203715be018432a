/* article_chicken.c - a text that defines attention by equations for "The chicken didn't cross the road because it": simplified, one
 * head with an output map, several heads. */
#include "explain/article.h"

enum { T = 8, D = 6, CHICKEN = 1, DIDNT = 2, LAST = T - 1 };
static const char *const words[] = {"The", "chicken", "didn't", "cross", "the", "road", "because", "it"};

static const float *inputs(struct attn_lesson *r)
{
    if (!r->kept) {
        attn_rng_seed(&r->rng, 123);
        r->kept = attn_lesson_normal(r, (size_t)T * D);
    }
    return r->kept;
}

/* Weights go on from where the inputs, or the weights before, left the stream of random numbers. */
static struct attn_example drawn(struct attn_lesson *r, size_t heads, size_t dk, size_t dv, float bound)
{
    struct attn_example e = {.T = T, .d = D, .H = heads, .dk = dk, .dv = dv, .out = D, .x = inputs(r), .kind = {.form = ATTN_CAUSAL}};
    float *q = attn_lesson_floats(r, heads * D * dk), *k = attn_lesson_floats(r, heads * D * dk), *v = attn_lesson_floats(r, heads * D * dv);
    for (size_t h = 0; h < heads; h++) {
        attn_rng_uniform(&r->rng, q + h * D * dk, D * dk, -bound, bound);
        attn_rng_uniform(&r->rng, k + h * D * dk, D * dk, -bound, bound);
        attn_rng_uniform(&r->rng, v + h * D * dv, D * dv, -bound, bound);
    }
    e.q.w = q;
    e.k.w = k;
    e.v.w = v;
    e.o.w = attn_lesson_uniform(r, heads * dv * D, -bound, bound);
    return e;
}

/* ---- the listings ---------------------------------------------------------------------- */

/* Whether a row of scores is largest on the diagonal. */
static bool prefers_itself(const float *scores, size_t cols, size_t row)
{
    for (size_t j = 0; j < cols; j++)
        if (scores[row * cols + j] > scores[row * cols + row])
            return false;
    return true;
}

/* Counter-examples: the last token here, and the words of another article. */
static int not_most_similar(struct attn_lesson *r, const float *dots, struct attn_err *err)
{
    static const char *const other[] = {"Your", "journey", "starts", "with", "one", "step"};
    static const float theirs[] = {0.43f, 0.15f, 0.89f, 0.55f, 0.87f, 0.66f, 0.57f, 0.85f, 0.64f,
                                   0.22f, 0.58f, 0.33f, 0.77f, 0.25f, 0.10f, 0.05f, 0.80f, 0.55f};
    enum { N = 6 };
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = {.T = N, .d = 3, .H = 1, .dk = 3, .dv = 3, .x = theirs, .unscaled = true, .kind = {.form = ATTN_FULL}};
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_erratum(r, "the text says that x_i is most similar to itself, so that its score is the highest.  That does not hold for a dot "
                         "product, where a longer vector scores more.  Here the row of \"%s\" is %s on the diagonal.  Of the words of "
                         "article 02 (scores below), only those marked 1 score highest with themselves:", words[LAST],
                         prefers_itself(dots, T, LAST) ? "largest" : "not largest");
    attn_derive_table(d, N + 2);
    attn_derive_cell(d, "scores");
    for (size_t i = 0; i < N; i++)
        attn_derive_cell(d, "%s", other[i]);
    attn_derive_cell(d, "itself");
    for (size_t i = 0; i < N; i++) {
        attn_derive_cell(d, "%s", other[i]);
        for (size_t j = 0; j < N; j++)
            attn_derive_number(d, (double)e.dots[i * N + j], r->e.precision);
        attn_derive_cell(d, "%d", prefers_itself(e.dots, N, i));
    }
    return ATTN_OK;
}

static int simplified(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = {.T = T, .d = D, .H = 1, .dk = D, .dv = D, .x = inputs(r), .unscaled = true, .kind = {.form = ATTN_CAUSAL}};
    attn_derive_words(d, "First without weights: score(x_i, x_j) = x_i·x_j for each earlier word j and for i itself, a softmax over these, and "
                      "a_i, the mixture of the x_j with these weights.  The inputs are torch.randn(8, 6) after torch.manual_seed(123).");
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_matrix(r, "input", e.x, T, D, words, NULL);
    attn_lesson_matrix(r, "scores", e.scores, T, T, words, NULL);
    attn_lesson_matrix(r, "weights", e.pattern, T, T, words, NULL);
    attn_lesson_matrix(r, "context", e.joined, T, D, words, NULL);
    attn_derive_words(d, "Column j is word j.  The first word sees only itself, so its weight is 1 and its context its own vector.");
    attn_derive_words(d, "How \"didn't\" comes to its weight for \"chicken\"; a word's vector is its query, its key and its value:");
    attn_example_weight(r, &e, 0, DIDNT, CHICKEN);
    return not_most_similar(r, e.dots, err);
}

static void show(struct attn_lesson *r, const struct attn_example *e)
{
    for (size_t h = 0; h < e->H; h++) {
        if (e->H > 1)
            attn_derive_words(&r->e.d, "Head %zu:", h);
        attn_lesson_matrix(r, "weights", e->pattern + h * T * T, T, T, words, NULL);
    }
    if (e->H > 1)
        attn_derive_words(&r->e.d, "The contexts of the heads side by side, %zu of each:", e->dv);
    attn_lesson_matrix(r, "context", e->joined, T, e->H * e->dv, words, NULL);
    attn_lesson_matrix(r, "output", e->output, T, D, words, NULL);
}

/* The examples with weights, in the order of the stream. */
static void draw_all(struct attn_lesson *r, struct attn_example all[3])
{
    r->kept = NULL;                     /* the stream starts with the inputs */
    all[0] = drawn(r, 1, 3, 4, 0.5f);
    all[1] = drawn(r, 3, 3, 4, 1);
    all[2] = drawn(r, 2, 5, 1, 1);
}

static int one_head(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_example all[3];
    attn_derive_words(&r->e.d, "One head has three roles for a word, each with weights: q = x·W^Q as what looks, k = x·W^K as what is looked at, "
                      "v = x·W^V as what is passed on.  Here W^Q and W^K are 6 x 3, W^V is 6 x 4, and W^O, 4 x 6, brings the context back to the "
                      "width of the input.  They are torch.rand - 0.5, drawn in this order after the inputs.  Scores are q·k / √d_k, with "
                      "d_k = 3.");
    draw_all(r, all);
    if (attn_example_run(r, &all[0], err))
        return err->code;
    attn_lesson_matrix(r, "query", all[0].queries, T, 3, words, NULL);
    attn_lesson_matrix(r, "key", all[0].keys, T, 3, words, NULL);
    attn_lesson_matrix(r, "value", all[0].values, T, 4, words, NULL);
    show(r, &all[0]);
    attn_derive_words(&r->e.d, "How \"didn't\" comes to its weight for \"chicken\":");
    attn_example_weight(r, &all[0], 0, DIDNT, CHICKEN);
    return ATTN_OK;
}

static int several_heads(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_example all[3];
    attn_derive_words(&r->e.d, "Each head has weights of its own; their contexts are put side by side, and W^O, A·d_v x d for A heads, mixes them "
                      "to the width of the input.  Three heads with d_k = 3 and d_v = 4, so that W^O is 12 x 6; weights are 2·torch.rand - 1, "
                      "drawn head by head where the listing before stopped.");
    attn_lesson_erratum(r, "the number of heads is called h in equation 8.15 (1 <= c <= h), and A in 8.19 and after.");
    attn_lesson_erratum(r, "matrices of the same thing have several names: W^Qi and W^Vc in the text, W^Qc, W_Kc, W_Vc in 8.15.  All mean head c.");
    draw_all(r, all);
    if (attn_example_run(r, &all[1], err))
        return err->code;
    show(r, &all[1]);
    return ATTN_OK;
}

static int narrow_values(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_example all[3];
    attn_derive_words(&r->e.d, "Nothing in the equations asks for equal widths: two heads with d_k = 5 and d_v = 1, and W^O of 2 x 6.  Each head "
                      "passes on a single number.");
    draw_all(r, all);
    if (attn_example_run(r, &all[2], err))
        return err->code;
    show(r, &all[2]);
    return ATTN_OK;
}

static const struct attn_listing listings[] = {
    {"Simplified attention (equations 8.6 to 8.8)", simplified}, {"One head (8.10 to 8.14)", one_head},
    {"Several heads (8.15 to 8.20)", several_heads}, {"Values narrower than keys", narrow_values}, {NULL, NULL}};

const struct attn_article attn_article_chicken = {
    "03", "chicken", "attention as equations, causal from the start",
    "The text defines attention by equations, for \"The chicken didn't cross the road because it\", and prints no numbers.  Those here are "
    "what the equations give for inputs and weights from seed 123.  Rows are words; later words are never seen.", listings};
