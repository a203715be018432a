/* article_heads.c - an article on multi-head attention whose code cuts one projection into heads: the same as heads of their own. */
#include "explain/article.h"

#include <math.h>

enum { SEED = 123, D = 8, H = 2, DK = 4, T = 4, WIDE = 12, HEADS = 3, LONG = 5 };

/* Four nn.Linear(d, d) with bias, then the input. */
static struct attn_example module(struct attn_lesson *r, size_t d, size_t heads, size_t tokens)
{
    struct attn_example e = {.T = tokens, .d = d, .H = heads, .dk = d / heads, .dv = d / heads, .out = d, .kind = {.form = ATTN_FULL}};
    attn_rng_seed(&r->rng, SEED);
    struct attn_projection *each[] = {&e.q, &e.k, &e.v, &e.o};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        *each[i] = attn_lesson_linear(r, d, d, true);
    e.x = attn_lesson_uniform(r, tokens * d, 0, 1);
    return e;
}

static int projections(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example wide = module(r, D, 1, T);
    attn_derive_words(d, "The module has four linear maps with bias, W_Q, W_K, W_V and W_O, here nn.Linear(8, 8) after torch.manual_seed(123), "
                      "and reads 4 tokens of 8 numbers, torch.rand(1, 4, 8):");
    if (attn_example_run(r, &wide, err))
        return err->code;
    attn_lesson_matrix(r, "input", wide.x, T, D, NULL, NULL);
    attn_derive_words(d, "One product gives the queries of all heads, Q = x·W_Q^T + b, 8 numbers for each token:");
    attn_lesson_matrix(r, "query", wide.queries, T, D, NULL, NULL);
    attn_derive_words(d, "It is then cut: columns 0 to 3 are the queries of head 0, columns 4 to 7 those of head 1.  Keys and values are made "
                      "and cut in the same way.");
    return ATTN_OK;
}

static int literal(struct attn_lesson *r, struct attn_example e, struct attn_err *err)
{
    e.kind.scaling = ATTN_SCALE_VALUE;
    e.kind.scale = 1 / sqrt(D);
    if (attn_example_again(r, &e, ATTN_FULL, err))
        return err->code;
    attn_lesson_matrix(r, "by √8", e.pattern, 1, T, NULL, NULL);
    return ATTN_OK;
}

static int heads(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = module(r, D, H, T);
    attn_derive_words(d, "Each head computes softmax(Q·K^T / √d_k)·V with its own 4 columns, so its scale is 1/√4.");
    if (attn_example_run(r, &e, err))
        return err->code;
    for (size_t h = 0; h < H; h++) {
        attn_derive_words(d, "Weights of head %zu; each row sums to 1:", h);
        attn_lesson_matrix(r, "weights", e.pattern + h * T * T, T, T, NULL, NULL);
    }
    attn_derive_words(d, "The weight of token 3 for token 0 in head 0, from the projections above:");
    attn_example_weight(r, &e, 0, 0, 3);
    attn_lesson_erratum(r, "the text cuts Q, K and V into h heads of size d_k / h, but scales by √d_k, which read literally is the root of "
                         "the full width, √8.  The code calls the size of one head d_k and divides by its root, √4, as is usual and as is done "
                         "here.  Read literally, the first row of weights of head 0 would be:");
    return literal(r, e, err);
}

static int joined(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = module(r, D, H, T);
    attn_derive_words(d, "The context vectors of the heads are put side by side again, head 0 in columns 0 to 3, head 1 in 4 to 7:");
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_matrix(r, "contexts", e.joined, T, D, NULL, NULL);
    attn_derive_words(d, "The output map mixes them: output = context·W_O^T + b.");
    attn_lesson_matrix(r, "output", e.output, T, D, NULL, NULL);
    attn_lesson_erratum(r, "the code has lost its line breaks, and no numbers are printed.");
    return ATTN_OK;
}

/* The rows of W_Q, W_K and W_V of one head, as a module of its own. */
static struct attn_example alone(const struct attn_example *e, size_t h)
{
    struct attn_example one = *e;
    const size_t n = e->dk;
    one.H = 1;
    one.out = 0;
    one.q = (struct attn_projection){e->q.w + h * n * e->d, e->q.b + h * n, true};
    one.k = (struct attn_projection){e->k.w + h * n * e->d, e->k.b + h * n, true};
    one.v = (struct attn_projection){e->v.w + h * n * e->d, e->v.b + h * n, true};
    return one;
}

/* Whether the head's queries are its columns of the wide product. */
static bool is_cut_from(const struct attn_example *one, const struct attn_example *wide, size_t h)
{
    for (size_t t = 0; t < T; t++)
        if (!attn_lesson_equal(one->queries + t * DK, wide->queries + t * D + h * DK, DK))
            return false;
    return true;
}

static int stacked(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = module(r, D, H, T), wide = module(r, D, 1, T);
    bool same = true;
    attn_derive_words(d, "Cutting one wide projection is the same as stacking small attentions: one module for each head, with its 4 rows of "
                      "W_Q, W_K and W_V, each computed by itself:");
    if (attn_example_run(r, &e, err) || attn_example_run(r, &wide, err))
        return err->code;
    for (size_t h = 0; h < H; h++) {
        struct attn_example one = alone(&e, h);
        if (attn_example_run(r, &one, err))
            return err->code;
        attn_derive_words(d, "Head %zu alone:", h);
        attn_lesson_matrix(r, "query", one.queries, T, DK, NULL, NULL);
        attn_lesson_matrix(r, "context", one.context, T, DK, NULL, NULL);
        same = same && is_cut_from(&one, &wide, h) && attn_lesson_equal(one.context, e.context + h * T * DK, (size_t)T * DK);
    }
    attn_derive_words(d, same ? "Queries and context vectors are columns of the wide tables above, to the bit.  The wide product is one in "
                                "place of two, which is why it is programmed that way."
                              : "Queries or context vectors differ from the columns of the wide tables above.");
    return ATTN_OK;
}

static int three(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = module(r, WIDE, HEADS, LONG);
    attn_derive_words(d, "The same module with width 12 and 3 heads of 4, on 5 tokens: nn.Linear(12, 12) four times after "
                      "torch.manual_seed(123), then torch.rand(1, 5, 12).");
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_matrix(r, "input", e.x, LONG, WIDE, NULL, NULL);
    for (size_t h = 0; h < HEADS; h++) {
        attn_derive_words(d, "Weights of head %zu:", h);
        attn_lesson_matrix(r, "weights", e.pattern + h * LONG * LONG, LONG, LONG, NULL, NULL);
    }
    attn_derive_words(d, "The contexts side by side, then the output:");
    attn_lesson_matrix(r, "contexts", e.joined, LONG, WIDE, NULL, NULL);
    attn_lesson_matrix(r, "output", e.output, LONG, WIDE, NULL, NULL);
    return ATTN_OK;
}

static const struct attn_listing listings[] = {
    {"One projection, cut into heads", projections}, {"Each head attends", heads}, {"Side by side, and the output", joined},
    {"The same as stacked heads", stacked}, {"Three heads", three}, {NULL, NULL}};

const struct attn_article attn_article_heads = {
    "01", "heads", "multi-head attention with biases and an output map",
    "The article gives a class MultiHeadAttention and prints no numbers.  Those here are what it computes with weights and inputs from "
    "seed 123, without dropout.  Rows are tokens.", listings};
