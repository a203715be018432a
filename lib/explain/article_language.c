/* article_language.c - a survey of attention with one function, simple_attention, for batches, masks and cross-attention; and the kinds
 * of attention that cost less, on its arrays. */
#include "explain/article.h"

#include <math.h>

#include "base/err.h"

enum { WORDS = 5, BATCH = 2, T = 4, D = 8, Q3 = 3, K5 = 5, V6 = 6, HALF = 4 };

/* ---- numbers that are printed ---------------------------------------------------------- */

/* Weights of the scores, by attention of one query 1 over keys that are the scores. */
static int table(struct attn_lesson *r, struct attn_err *err)
{
    static const char *const tokens[] = {"我", "爱", "自然", "语言", "处理"};
    static const float given[] = {0.1f, 0.3f, 0.8f, 1.0f, 0.6f}, one[] = {1};
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = {.T = 1, .Tk = WORDS, .d = 1, .H = 1, .dk = 1, .dv = 1, .x = one, .y = given, .kind = {.form = ATTN_FULL}};
    attn_derive_words(d, "Five scores become weights by a softmax: exp of each, divided by the sum of all.");
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_matrix(r, "", e.scores, 1, WORDS, (const char *const[]){"scores"}, tokens);
    attn_lesson_matrix(r, "", e.pattern, 1, WORDS, (const char *const[]){"weights"}, tokens);
    attn_lesson_printed(r, "the weights of these scores", e.pattern, 1, WORDS, "0.05, 0.10, 0.35, 0.40, 0.10");
    attn_lesson_erratum(r, "the weights printed are not the softmax of the scores, and no scale makes them so: the scores 0.3 and 0.6 have the same "
                         "weight 0.10, while a softmax gives the larger score the larger weight at any temperature.");
    attn_lesson_erratum(r, "the table has five tokens; the sentence announced for it has three (我 爱 自然语言处理).");
    return ATTN_OK;
}

/* ---- simple_attention ------------------------------------------------------------------ */

/* q, k and v as torch.rand(2, 4, 8) in this order after torch.manual_seed(123). */
static struct attn_example simple(struct attn_lesson *r)
{
    struct attn_example e = {.batch = BATCH, .T = T, .Tk = T, .d = D, .H = 1, .dk = D, .dv = D, .kind = {.form = ATTN_FULL}};
    attn_rng_seed(&r->rng, 123);
    e.queries = attn_lesson_uniform(r, (size_t)BATCH * T * D, 0, 1);
    e.keys = attn_lesson_uniform(r, (size_t)BATCH * T * D, 0, 1);
    e.values = attn_lesson_uniform(r, (size_t)BATCH * T * D, 0, 1);
    return e;
}

static void show_given(struct attn_lesson *r, const struct attn_example *e)
{
    for (size_t b = 0; b < e->batch; b++) {
        attn_lesson_matrix(r, "q", e->queries + b * e->T * e->dk, e->T, e->dk, NULL, NULL);
        attn_lesson_matrix(r, "k", e->keys + b * e->Tk * e->dk, e->Tk, e->dk, NULL, NULL);
        attn_lesson_matrix(r, "v", e->values + b * e->Tk * e->dv, e->Tk, e->dv, NULL, NULL);
    }
}

static void show(struct attn_lesson *r, const struct attn_example *e)
{
    for (size_t b = 0; b < e->batch; b++) {
        if (e->batch > 1)
            attn_derive_words(&r->e.d, "Sentence %zu of the batch:", b);
        attn_lesson_matrix(r, "weights", e->pattern + b * e->T * e->Tk, e->T, e->Tk, NULL, NULL);
        attn_lesson_matrix(r, "context", e->joined + b * e->T * e->dv, e->T, e->dv, NULL, NULL);
    }
}

static int batch(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = simple(r);
    attn_derive_words(d, "simple_attention takes q, k and v as they are, [batch, tokens, d]: scores q·k^T / √d_k, softmax, times v.  Each sentence of "
                      "the batch attends to itself alone.  Here q, k and v are torch.rand(2, 4, 8) each, after torch.manual_seed(123); first those "
                      "of sentence 0, then those of sentence 1:");
    show_given(r, &e);
    if (attn_example_again(r, &e, ATTN_FULL, err))
        return err->code;
    show(r, &e);
    attn_derive_words(d, "In sentence 0, the weight of key 3 for query 0:");
    attn_example_weight(r, &e, 0, 0, 3);
    attn_lesson_printed(r, "attn_weights[0], its first two rows", e.pattern, 2, T, "0.22, 0.24, 0.30, 0.24, 0.25, 0.26, 0.27, 0.22");
    attn_lesson_erratum(r, "the article sets no seed, and none of the seeds 0 to 199999, with q, k and v drawn in this order, gives the rows that are "
                         "printed.  Each of them sums to 1, so they may be right for numbers that are lost.");
    attn_lesson_erratum(r, "the text divides by √d; the code by √d_k, the root of the last dimension of q.  Here both are √8.");
    attn_lesson_erratum(r, "a comment gives v the width d_k, and the mask the shape [batch, seq, seq].  The code takes any width of v, and needs "
                         "[batch, queries, keys]; cross-attention below uses both.");
    return ATTN_OK;
}

static int masked(struct attn_lesson *r, struct attn_err *err)
{
    static const uint8_t triangle[T * T] = {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1};
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = simple(r);
    e.mask = triangle;
    attn_derive_words(d, "A mask says by 1 and 0 which key a query may look at; scores at 0 become -inf, and their weights exactly 0.  A triangle of "
                      "ones is the causal mask:");
    if (attn_example_again(r, &e, ATTN_MASKED, err))
        return err->code;
    show(r, &e);
    const float *by_mask = e.pattern;
    if (attn_example_again(r, &e, ATTN_CAUSAL, err))
        return err->code;
    attn_derive_words(d, attn_lesson_equal(by_mask, e.pattern, (size_t)BATCH * T * T)
                         ? "The kind causal, which computes no hidden score at all, gives exactly the same weights."
                         : "The kind causal gives other weights.");
    return ATTN_OK;
}

static int empty_row(struct attn_lesson *r, struct attn_err *err)
{
    static const uint8_t gaps[T * T] = {1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = simple(r);
    e.batch = 1;
    e.mask = gaps;
    attn_derive_words(d, "A mask may hide all keys of a query, here of query 2:");
    attn_derive_table(d, T + 1);
    for (size_t i = 0; i < (size_t)(T + 1) * (T + 1); i++) {
        size_t row = i / (T + 1), col = i % (T + 1);
        if (i)
            attn_derive_cell(d, "%zu", !row ? col - 1 : !col ? row - 1 : (size_t)gaps[(row - 1) * T + col - 1]);
        else
            attn_derive_cell(d, "mask");
    }
    if (attn_example_again(r, &e, ATTN_MASKED, err))
        return err->code;
    show(r, &e);
    attn_lesson_erratum(r, "not said: where a row of the mask is all 0, every score is -inf, and the softmax divides 0 by 0: torch gives NaN for the "
                         "whole row, in weights and context.  Here such a row has no weights, and its context is 0; in the library "
                         "attn_attention refuses it if it is asked to.");
    return ATTN_OK;
}

/* ---- cross-attention ------------------------------------------------------------------- */

static int cross(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = {.batch = 1, .T = Q3, .Tk = K5, .d = D, .H = 1, .dk = D, .dv = V6, .kind = {.form = ATTN_FULL}};
    attn_rng_seed(&r->rng, 123);
    e.queries = attn_lesson_uniform(r, (size_t)Q3 * D, 0, 1);
    e.keys = attn_lesson_uniform(r, (size_t)K5 * D, 0, 1);
    e.values = attn_lesson_uniform(r, (size_t)K5 * V6, 0, 1);
    attn_derive_words(d, "The queries may come from one sequence, keys and values from another of another length, and values may be narrower: q is "
                      "torch.rand(3, 8), k torch.rand(5, 8), v torch.rand(5, 6) after torch.manual_seed(123).  3 queries over 5 keys:");
    show_given(r, &e);
    if (attn_example_again(r, &e, ATTN_FULL, err))
        return err->code;
    show(r, &e);
    attn_lesson_erratum(r, "the text says that Q = K = V is self-attention.  The three are different projections of the same sequence, not equal.  "
                         "Likewise for Q != K = V as cross-attention: K and V share their source, not their values.");
    return ATTN_OK;
}

static int decoder(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = {.T = Q3, .Tk = K5, .d = D, .H = 1, .dk = HALF, .dv = HALF, .kind = {.form = ATTN_FULL}};
    attn_rng_seed(&r->rng, 123);
    e.k = attn_lesson_linear(r, D, HALF, true);
    e.v = attn_lesson_linear(r, D, HALF, true);
    e.q = attn_lesson_linear(r, D, HALF, true);
    e.x = attn_lesson_uniform(r, (size_t)Q3 * D, 0, 1);
    e.y = attn_lesson_uniform(r, (size_t)K5 * D, 0, 1);
    attn_derive_words(d, "In a translator the decoder asks and the encoder is read: queries from 3 tokens of the decoder, keys and values from 5 of the "
                      "encoder, by linear_k, linear_v and linear_q, nn.Linear(8, 4) in this order after torch.manual_seed(123); then decoder = "
                      "torch.rand(3, 8) and encoder = torch.rand(5, 8).");
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_matrix(r, "decoder", e.x, Q3, D, NULL, NULL);
    attn_lesson_matrix(r, "encoder", e.y, K5, D, NULL, NULL);
    attn_lesson_matrix(r, "query", e.queries, Q3, HALF, NULL, NULL);
    attn_lesson_matrix(r, "key", e.keys, K5, HALF, NULL, NULL);
    attn_lesson_matrix(r, "value", e.values, K5, HALF, NULL, NULL);
    show(r, &e);
    attn_derive_words(d, "The weight of the encoder's token 2 for the decoder's token 0:");
    attn_example_weight(r, &e, 0, 0, 2);
    return ATTN_OK;
}

/* ---- kinds that see less, or compute otherwise ----------------------------------------- */

static float apart(const float *a, const float *b, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(a[i] - b[i]));
    return most;
}

/* One kind on the first sentence of the batch, and how far its weights are from those of the causal mask. */
static int one_kind(struct attn_lesson *r, const char *text, const char *about, const float *causal, struct attn_err *err)
{
    struct attn_example e = simple(r);
    if (attn_kind_parse(&e.kind, text, err))
        return err->code;
    e.kind.causal = true;
    e.batch = 1;
    if (attn_example_again(r, &e, e.kind.form, err))
        return err->code;
    attn_derive_words(&r->e.d, "%s: %s", text, about);
    attn_lesson_matrix(r, "weights", e.pattern, T, T, NULL, NULL);
    attn_derive_sum(&r->e.d, attn_rounded((double)apart(e.pattern, causal, (size_t)T * T), r->e.precision), "largest difference from causal");
    return ATTN_OK;
}

static int kinds(struct attn_lesson *r, struct attn_err *err)
{
    static const struct { const char *text, *about; } each[] = {
        {"window:2", "sparse; each token sees itself and the one before it."},
        {"strided:1,2", "sparse; itself, and every second token before it."},
        {"random:1,1,123", "sparse; itself, and one earlier token, chosen at random by seed 123."},
        {"linear", "no softmax: with φ(x) = x + 1 for x > 0, else exp(x), the weight is φ(q)·φ(k) divided by the row's sum.  Sums of φ(k)·v can be "
         "carried along, so twice as many tokens take twice the time, not four times.  It is another function of the scores, not an approximation."},
        {"block:2", "the exact softmax, two keys at a time, with a running maximum and sum, so that no row of scores is ever held whole."}};
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = simple(r);
    e.batch = 1;
    attn_derive_words(d, "Plain attention computes a score for each pair of tokens.  Some kinds see less, some compute otherwise.  No article prints "
                      "numbers for them; here they are on q, k and v of the first sentence above, all causal.  Plain causal attention first:");
    if (attn_example_again(r, &e, ATTN_CAUSAL, err))
        return err->code;
    attn_lesson_matrix(r, "weights", e.pattern, T, T, NULL, NULL);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (one_kind(r, each[i].text, each[i].about, e.pattern, err))
            return err->code;
    attn_derive_words(d, "What each of them changes in a model, and costs:");
    attn_derive_command(d, "attn-cli variants -m life -s \"Life is short, eat dessert first\"");
    return ATTN_OK;
}

static const struct attn_listing listings[] = {
    {"A table of scores and weights", table}, {"simple_attention, on a batch", batch}, {"A mask", masked}, {"A query that sees nothing", empty_row},
    {"Two sequences", cross}, {"Decoder and encoder", decoder}, {"Sparse, linear and block-wise kinds", kinds}, {NULL, NULL}};

const struct attn_article attn_article_language = {
    "04", "language", "one function for batches, masks and cross-attention",
    "The article surveys attention and gives one function for it.  Two of its tables have numbers; the rest here is what its code computes with "
    "inputs and weights from seed 123.  Rows are queries, columns keys.", listings};
