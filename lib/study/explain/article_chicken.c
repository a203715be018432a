/* article_chicken.c - a text that defines attention by equations for "The chicken didn't cross the road because it":
 * simplified, one head with an output map, several heads. */
#include "explain/article.h"

/* ---- examples --------------------------------------------------------------------------- */

enum { CHICKEN = 1, DIDNT = 2, LAST = 7 };
static const char *const words[] = {"The", "chicken", "didn't", "cross", "the", "road", "because", "it"};

#define WORDS .names = words, .columns = words
static const struct attn_setup simplified = {
    .seed = 123, WORDS, .draw = {DRAW(RANDN, "x")},
    .e = {.T = 8, .d = 6, .H = 1, .dk = 6, .dv = 6, .unscaled = true, .kind = {.form = ATTN_CAUSAL}}};
/* Weights go on from where the inputs, or the weights before, left the stream of random numbers. */
static const struct attn_setup one_head = {
    .after = &simplified, WORDS, .draw = {DRAW(HEADS, "qkv", -0.5f, 0.5f), DRAW(HEADS, "o", -0.5f, 0.5f)},
    .e = {.T = 8, .d = 6, .H = 1, .dk = 3, .dv = 4, .out = 6, .kind = {.form = ATTN_CAUSAL}}};
static const struct attn_setup three_heads = {
    .after = &one_head, WORDS, .draw = {DRAW(HEADS, "qkv", -1, 1), DRAW(HEADS, "o", -1, 1)},
    .e = {.T = 8, .d = 6, .H = 3, .dk = 3, .dv = 4, .out = 6, .kind = {.form = ATTN_CAUSAL}}};
static const struct attn_setup narrow_values = {
    .after = &three_heads, WORDS, .draw = {DRAW(HEADS, "qkv", -1, 1), DRAW(HEADS, "o", -1, 1)},
    .e = {.T = 8, .d = 6, .H = 2, .dk = 5, .dv = 1, .out = 6, .kind = {.form = ATTN_CAUSAL}}};

/* ---- counter-examples: the last token here, and the words of another article -------------- */

/* Whether a row of scores is largest on the diagonal. */
static bool prefers_itself(const float *scores, size_t cols, size_t row)
{
    for (size_t j = 0; j < cols; j++)
        if (scores[row * cols + j] > scores[row * cols + row])
            return false;
    return true;
}

static int not_most_similar(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    enum { N = 6 };
    static const char *const names[N] = {"Your", "journey", "starts", "with", "one", "step"};
    static const float theirs[] = {0.43f, 0.15f, 0.89f, 0.55f, 0.87f, 0.66f, 0.57f, 0.85f, 0.64f,
                                   0.22f, 0.58f, 0.33f, 0.77f, 0.25f, 0.10f, 0.05f, 0.80f, 0.55f};
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = {.T = N, .d = 3, .H = 1, .dk = 3, .dv = 3, .x = theirs, .unscaled = true};
    (void)row;
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_erratum(r, "the text says that x_i is most similar to itself, so that its score is the highest.  That "
                           "does not hold for a dot product, where a longer vector scores more.  Here the row of "
                           "\"%s\" %s on the diagonal.  Of the words of article 02 (scores below), only those "
                           "marked yes score highest with themselves:", words[LAST],
                        prefers_itself(r->example.dots, r->example.T, LAST) ? tr(&r->e, "is largest")
                                                                            : tr(&r->e, "is not largest"));
    attn_derive_table(d, N + 2);
    attn_derive_cell(d, "scores");
    for (size_t i = 0; i < N; i++)
        attn_derive_cell(d, "%s", names[i]);
    attn_derive_cell(d, "highest with itself?");
    for (size_t i = 0; i < N; i++) {
        attn_derive_cell(d, "%s", names[i]);
        for (size_t j = 0; j < N; j++)
            attn_derive_number(d, (double)e.dots[i * N + j], r->e.precision);
        attn_derive_cell(d, "%s", tr(&r->e, prefers_itself(e.dots, N, i) ? "yes" : "no"));
    }
    return ATTN_OK;
}

/* ---- the article ------------------------------------------------------------------------ */

static const struct attn_row rows[] = {
    HEADING("Simplified attention (equations 8.6 to 8.8)"),
    SAY("First without weights.  Score every word j up to i by x_i·x_j; a softmax makes them α_ij; a_i is the sum of "
        "α_ij x_j.  The inputs are torch.randn(8, 6) after torch.manual_seed(123)."),
    FORMULA(dot),
    FORMULA(softmax),
    FORMULA(causal),
    EXAMPLE(simplified),
    TABLE("input", X),
    TABLE("scores", SCORES),
    TABLE("weights", PATTERN),
    TABLE("context", JOINED),
    SAY("The first word sees only itself, so its weight is 1 and its context its own vector."),
    SAY("How \"didn't\" comes to its weight for \"chicken\"; a word's vector is its query, its key and its value:"),
    WEIGHT(DIDNT, CHICKEN),
    OWN(not_most_similar),

    HEADING("One head (8.10 to 8.14)"),
    SAY("One head has three roles for a word, each with weights: q = x·W^Q as what looks, k = x·W^K as what is looked "
        "at, v = x·W^V as what is passed on.  Here W^Q and W^K are 6 x 3, W^V is 6 x 4, and W^O, 4 x 6, brings the "
        "context back to the width of the input.  They are torch.rand - 0.5, drawn in this order after the inputs.  "
        "Scores are q·k / √d_k, with d_k = 3."),
    FORMULA(projections),
    FORMULA(scaled),
    EXAMPLE(one_head),
    DIAGRAM(DIDNT, CHICKEN),
    TABLE("query", QUERIES),
    TABLE("key", KEYS),
    TABLE("value", VALUES),
    TABLE("weights", PATTERN),
    TABLE("context", JOINED),
    TABLE("output", OUTPUT),
    SAY("How \"didn't\" comes to its weight for \"chicken\":"),
    WEIGHT(DIDNT, CHICKEN),

    HEADING("Several heads (8.15 to 8.20)"),
    SAY("Each head has weights of its own; their contexts are put side by side, and W^O, A·d_v x d for A heads, mixes "
        "them to the width of the input.  Three heads with d_k = 3 and d_v = 4, so that W^O is 12 x 6; weights are "
        "2·torch.rand - 1, drawn head by head where the listing before stopped."),
    ERRATUM("the number of heads is called h in equation 8.15 (1 <= c <= h), and A in 8.19 and after."),
    ERRATUM("matrices of the same thing have several names: W^Qi and W^Vc in the text, W^Qc, W_Kc, W_Vc in 8.15.  All "
            "mean head c."),
    FORMULA(heads),
    EXAMPLE(three_heads),
    HEADS(0),
    SAY("The contexts of the heads side by side, 4 of each:"),
    TABLE("context", JOINED),
    TABLE("output", OUTPUT),

    HEADING("Values narrower than keys"),
    SAY("Nothing in the equations asks for equal widths: two heads with d_k = 5 and d_v = 1, and W^O of 2 x 6.  Each "
        "head passes on a single number."),
    EXAMPLE(narrow_values),
    HEADS(0),
    SAY("The contexts of the heads side by side, 1 of each:"),
    TABLE("context", JOINED),
    TABLE("output", OUTPUT),
    END,
};

const struct attn_article attn_article_chicken = {
    "03", "chicken", "attention as equations, causal from the start",
    "The text defines attention by equations, for \"The chicken didn't cross the road because it\", and prints no "
    "numbers.  Those here are what the equations give for inputs and weights from seed 123.  Rows are words; later "
    "words are never seen.", rows};
