/* article_life.c - an article that programs self-attention step by step for "Life is short, eat dessert first": one token, all
 * tokens, several heads, the causal mask in two ways. */
#include "explain/article.h"

#include <math.h>
#include <string.h>

enum { T = 6, D = 3, DK = 2, DV = 4, IS = 1, DESSERT = 4, SEED = 123, TABLE = 50000, OTHER = 8 };
static const char sentence[] = "Life is short, eat dessert first";
static const char *const words[] = {"Life", "is", "short", "eat", "dessert", "first"};
static const size_t ids[] = {0, 4, 5, 2, 1, 3};         /* in the sorted vocabulary */

/* ---- inputs and weights, drawn again for each listing that uses them ------------------- */

static float *embedded(struct attn_lesson *r, size_t rows)
{
    attn_rng_seed(&r->rng, SEED);
    const float *table = attn_lesson_normal(r, rows * D);
    float *x = attn_lesson_floats(r, (size_t)T * D);
    for (size_t t = 0; t < T; t++)
        memcpy(x + t * D, table + ids[t] * D, D * sizeof *x);
    return x;
}

static const float *inputs(struct attn_lesson *r)
{
    if (!r->kept)
        r->kept = embedded(r, TABLE);
    return r->kept;
}

/* Weights of H heads, each drawn as W_query, W_key, W_value in turn. */
static void draw_heads(struct attn_lesson *r, struct attn_example *e)
{
    float *q = attn_lesson_floats(r, e->H * D * e->dk), *k = attn_lesson_floats(r, e->H * D * e->dk),
          *v = attn_lesson_floats(r, e->H * D * e->dv);
    attn_rng_seed(&r->rng, SEED);
    for (size_t h = 0; h < e->H; h++) {
        attn_rng_uniform(&r->rng, q + h * D * e->dk, D * e->dk, 0, 1);
        attn_rng_uniform(&r->rng, k + h * D * e->dk, D * e->dk, 0, 1);
        attn_rng_uniform(&r->rng, v + h * D * e->dv, D * e->dv, 0, 1);
    }
    e->q.w = q;
    e->k.w = k;
    e->v.w = v;
}

static struct attn_example example(struct attn_lesson *r, size_t H, size_t dv)
{
    struct attn_example e = {.T = T, .d = D, .H = H, .dk = DK, .dv = dv, .x = inputs(r), .kind = {.form = ATTN_FULL}};
    draw_heads(r, &e);
    return e;
}

/* ---- the listings ---------------------------------------------------------------------- */

static int vocabulary(struct attn_lesson *r, struct attn_err *err)
{
    (void)err;
    struct attn_derivation *d = &r->e.d;
    attn_derive_words(d, "The sentence is \"%s\".  Its words, without the comma, are sorted and numbered: that is the vocabulary.  Each "
                      "token is the number, the id, of its word.", sentence);
    static const char *const headings[] = {"token", "index", "id"};
    attn_derive_headings(d, headings, 3);
    for (size_t t = 0; t < T; t++) {
        attn_derive_cell(d, "%s", words[t]);
        attn_derive_cell(d, "%zu", t);
        attn_derive_cell(d, "%zu", ids[t]);
    }
    attn_lesson_erratum(r, "in the list of training prefixes, \"desert\" should be \"dessert\".");
    attn_lesson_erratum(r, "the listings are cut to their first line and the tables to their first row, so only those digits can be "
                         "compared; all of them are.");
    return ATTN_OK;
}

static int embeddings(struct attn_lesson *r, struct attn_err *err)
{
    (void)err;
    static const char printed[] = "0.3374, -0.1778, -0.3035, 0.1794, 1.8951, 0.4954, 0.2692, -0.0770, -1.0205, -0.2196, -0.3792, "
                                  "0.7671, -0.5880, 0.3486, 0.6603, -1.1925, 0.6984, -1.4097";
    struct attn_derivation *d = &r->e.d;
    attn_derive_words(d, "Each token gets the row of its id in a table of random numbers: torch.manual_seed(123), then "
                      "Embedding(50000, 3), drawn here bit by bit as torch draws it.  There are no position embeddings and no norm; "
                      "attention reads these rows as they are.");
    attn_lesson_matrix(r, "embedding", inputs(r), T, D, words, NULL);
    attn_lesson_printed(r, "embedded_sentence", inputs(r), T, D, printed);
    attn_lesson_erratum(r, "the listing says vocab_size = 6.  A table of 6 rows from the same seed gives other numbers, because torch draws "
                         "the last 16 of a table again when their count is no multiple of 16, as 6·3 = 18 is not; 50000·3 is one:");
    const float *small = embedded(r, T);
    attn_lesson_matrix(r, "of 6 rows", small, T, D, words, NULL);
    attn_derive_words(d, "Only %zu of its %d numbers are the printed ones.", attn_lesson_matches(small, (size_t)T * D, printed), T * D);
    return ATTN_OK;
}

static int one_token(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    attn_derive_words(d, "The article follows one token, which it calls 2 (x_2, q_2) as it counts from 1: \"is\".  Here all indices count "
                      "from 0, so it is token 1.  The weights are those of torch.manual_seed(123), then torch.rand for W_query (3 x 2), "
                      "W_key (3 x 2) and W_value (3 x 4).  They are also the built-in model life-full, which the next steps look into:");
    attn_derive_command(d, "attn-cli run -m life-full -s \"%s\"", sentence);
    if (attn_lesson_look(r, "life-full", sentence, IS, DESSERT, err) || attn_explain_vector(&r->e, ATTN_ACT_Q, err) ||
        attn_explain_vector(&r->e, ATTN_ACT_K, err))
        return err->code;
    attn_explain_dot(&r->e);
    const float *row = attn_worked_row(&r->w, ATTN_ACT_DOTS, IS);
    attn_lesson_printed(r, "omega_24", row + DESSERT, 1, 1, "1.2903");
    attn_lesson_erratum(r, "the name omega_24 mixes conventions: the 2 counts from 1, the 4 from 0.  It is query 1, \"is\", and key 4, "
                         "\"dessert\".");
    attn_lesson_printed(r, "omega_2, the dot products of \"is\" with all keys", row, 1, T,
                         "-0.6004, 3.4707, -1.5023, 0.4991, 1.2903, -1.3374");
    attn_explain_scale(&r->e);
    return ATTN_OK;
}

/* The largest weight of "is" if dots are divided by something else than √d_k. */
static int otherwise(struct attn_lesson *r, float divisor, float *largest, struct attn_err *err)
{
    struct attn_example e = example(r, 1, DV);
    e.kind.scaling = ATTN_SCALE_VALUE;
    e.kind.scale = 1 / (double)divisor;
    if (attn_example_run(r, &e, err))
        return err->code;
    *largest = e.pattern[IS * T + IS];
    return ATTN_OK;
}

static int weights(struct attn_lesson *r, struct attn_err *err)
{
    float by_width = 0, with_epsilon = 0;
    if (otherwise(r, sqrtf(D), &by_width, err) || otherwise(r, sqrtf(DK) + 1e-3f, &with_epsilon, err))
        return err->code;
    attn_lesson_erratum(r, "the formula given divides by √d + ε.  The printed numbers come from √d_k = √2, without an ε: the largest weight, "
                         "printed as 0.6870, would be %.4f with √d = √3, and %.4f with an ε of 0.001 (one of 1e-6 would not show).",
                         (double)by_width, (double)with_epsilon);
    attn_explain_mask(&r->e);
    attn_explain_softmax(&r->e);
    attn_lesson_printed(r, "attention_weights_2", attn_worked_row(&r->w, ATTN_ACT_PATTERN, IS), 1, T,
                         "0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229");
    attn_explain_context(&r->e);
    attn_lesson_printed(r, "context_vector_2", attn_worked_row(&r->w, ATTN_ACT_CONTEXT, IS), 1, DV, "0.5313, 1.3607, 0.7891, 1.3110");
    return ATTN_OK;
}

static int all_tokens(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_example e = example(r, 1, DV);
    attn_derive_words(&r->e.d, "The class SelfAttention computes the same for all tokens at once: a row of weights for each query, and a "
                      "context vector from each row.");
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_matrix(r, "weights", e.pattern, T, T, words, words);
    attn_lesson_matrix(r, "context", e.joined, T, DV, words, NULL);
    attn_lesson_printed(r, "its output, first row", e.joined, 1, DV, "-0.1564, 0.1028, -0.0763, -0.0764");
    attn_lesson_printed(r, "its output, second row", e.joined + DV, 1, DV, "0.5313, 1.3607, 0.7891, 1.3110");
    return ATTN_OK;
}

static int several_heads(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    static const char *const heads[] = {"head 0", "head 1", "head 2", "head 3"};
    struct attn_example one = example(r, 1, 1), four = example(r, 4, 1);
    attn_derive_words(d, "Stacked heads: each is an attention of its own with its own weights, drawn one after the other from seed 123, and "
                      "values of one number; their context vectors are put side by side (MultiHeadAttentionWrapper).  With one head:");
    if (attn_example_run(r, &one, err) || attn_example_run(r, &four, err))
        return err->code;
    attn_lesson_matrix(r, "context", one.joined, T, 1, words, NULL);
    attn_lesson_printed(r, "output, first row, of one head", one.joined, 1, 1, "-0.0185");
    attn_derive_words(d, "With four heads, the first of which is the one above.  Their weights:");
    for (size_t h = 0; h < 4; h++)
        attn_lesson_matrix(r, heads[h], four.pattern + h * T * T, T, T, words, words);
    attn_derive_words(d, "Their context vectors; column h is head h:");
    attn_lesson_matrix(r, "contexts", four.joined, T, 4, words, NULL);
    attn_lesson_printed(r, "output, first row, of four heads", four.joined, 1, 4, "-0.0185, 0.0170, 0.1999, -0.0860");
    attn_derive_command(d, "attn-cli run -m life-4-heads -s \"%s\"", sentence);
    return ATTN_OK;
}

/* ---- the causal mask ------------------------------------------------------------------- */

/* Softmax first, then the mask, then each row is divided by what is left of its sum. */
static int mask_afterwards(struct attn_lesson *r, struct attn_example *e, struct attn_err *err)
{
    float keep[T * T], masked[T * T];
    attn_derive_words(&r->e.d, "The first way: the softmax over all keys, as before.");
    attn_lesson_printed(r, "attn_scores (the dot products), first row", e->dots, 1, T, "0.0613, -0.3491, 0.1443, -0.0437, -0.1303, 0.1076");
    attn_lesson_printed(r, "unmasked attn_weights, first row", e->pattern, 1, T, "0.1772, 0.1326, 0.1879, 0.1645, 0.1547, 0.1831");
    for (size_t i = 0; i < (size_t)T * T; i++) {
        keep[i] = i % T <= i / T ? 1.0f : 0.0f;
        masked[i] = keep[i] * e->pattern[i];
    }
    attn_derive_words(&r->e.d, "Then the weights are multiplied by a mask that has 1 for itself and earlier tokens, 0 for later ones:");
    attn_lesson_printed(r, "mask_simple, first row", keep, 1, T, "1., 0., 0., 0., 0., 0.");
    attn_lesson_matrix(r, "masked", masked, T, T, words, words);
    attn_lesson_printed(r, "masked_simple, first row", masked, 1, T, "0.1772, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000");
    attn_derive_words(&r->e.d, "Then each row is divided by what is left of its sum (--attention causal-renorm):");
    if (attn_example_again(r, e, ATTN_CAUSAL_RENORM, err))
        return err->code;
    attn_lesson_matrix(r, "weights", e->pattern, T, T, words, words);
    attn_lesson_printed(r, "masked_simple_norm, first row", e->pattern, 1, T, "1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000");
    return ATTN_OK;
}

static int mask_before(struct attn_lesson *r, struct attn_example *e, struct attn_err *err)
{
    const float *renormalised = e->pattern;
    float masked[T * T], apart = 0;
    for (size_t i = 0; i < (size_t)T * T; i++)
        masked[i] = i % T <= i / T ? e->dots[i] : -INFINITY;
    attn_derive_words(&r->e.d, "The second way, which models use: hidden keys get the score -inf before the softmax, so that nothing has to "
                      "be divided again (--attention causal).");
    attn_lesson_matrix(r, "dots", masked, T, T, words, words);
    attn_lesson_printed(r, "masked (the dot products, not scaled yet), first row", masked, 1, T, "0.0613, -inf, -inf, -inf, -inf, -inf");
    if (attn_example_again(r, e, ATTN_CAUSAL, err))
        return err->code;
    attn_lesson_matrix(r, "weights", e->pattern, T, T, words, words);
    attn_lesson_printed(r, "attn_weights from the -inf mask, first row", e->pattern, 1, T, "1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000");
    for (size_t i = 0; i < (size_t)T * T; i++)
        apart = fmaxf(apart, fabsf(e->pattern[i] - renormalised[i]));
    attn_lesson_erratum(r, "the article says that e^(-inf) is close to 0.  It is exactly 0, and the two ways differ by rounding alone: in "
                         "float32 by at most %.0e here.", (double)apart);
    attn_derive_words(&r->e.d, "The context vectors, of which the article prints none:");
    attn_lesson_matrix(r, "context", e->joined, T, DV, words, NULL);
    attn_derive_command(&r->e.d, "attn-cli run -m life -s \"%s\"", sentence);
    return ATTN_OK;
}

static int causal(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_example e = example(r, 1, DV);
    attn_derive_words(&r->e.d, "A token may look at itself and at earlier tokens, not at later ones, which a model that writes the next word "
                      "does not have yet.");
    if (attn_example_run(r, &e, err) || mask_afterwards(r, &e, err) || mask_before(r, &e, err))
        return err->code;
    return ATTN_OK;
}

/* ---- what the text stops before -------------------------------------------------------- */

static int cross_from(struct attn_lesson *r, bool reseed, struct attn_err *err)
{
    struct attn_example e = example(r, 1, DV);
    if (reseed)
        attn_rng_seed(&r->rng, SEED);
    e.y = attn_lesson_uniform(r, (size_t)OTHER * D, 0, 1);
    e.Tk = OTHER;
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_matrix(r, "other", e.y, OTHER, D, NULL, NULL);
    attn_lesson_matrix(r, "weights", e.pattern, T, OTHER, words, NULL);
    attn_lesson_matrix(r, "context", e.joined, T, DV, words, NULL);
    return ATTN_OK;
}

static int cross(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    attn_lesson_erratum(r, "the conclusion says that cross-attention was implemented; the text stops before that, and has no numbers for it.");
    attn_derive_words(d, "In cross-attention the queries come from the sentence, keys and values from another sequence; here from 8 rows of "
                      "torch.rand(8, 3), drawn after the weights.  Each query has a row of weights over those 8:");
    if (cross_from(r, false, err))
        return err->code;
    attn_derive_words(d, "With torch.manual_seed(123) once more before the 8 rows are drawn, these are:");
    return cross_from(r, true, err);
}

static const struct attn_listing listings[] = {
    {"The sentence as numbers", vocabulary}, {"The embeddings", embeddings}, {"One token, looked at closely", one_token},
    {"From scores to a context vector", weights}, {"All tokens at once", all_tokens}, {"Several heads", several_heads},
    {"The causal mask, in two ways", causal}, {"Cross-attention", cross}, {NULL, NULL}};

const struct attn_article attn_article_life = {
    "00", "life", "self-attention, programmed step by step",
    "The article computes attention for one sentence: for one token, for all, with several heads, with a causal mask.  Each "
    "number that it prints stands beside the one computed here.", listings};
