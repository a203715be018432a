/* article_journey.c - an article that builds up attention for "Your journey starts with one step": without weights, with trained
 * weights, with a causal mask and dropout, with several heads. */
#include "explain/article.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

enum { T = 6, D = 3, YOUR = 0, JOURNEY = 1, STARTS = 2, ONE = 4, SEVEN = 7, DK = 2, WIDE = 1024, BATCH = 2, LONG = 5, IN = 16, OUT = 32, HEADS = 4 };
static const char sentence[] = "Your journey starts with one step";
static const char *const words[] = {"Your", "journey", "starts", "with", "one", "step", "(seventh)"};
static const float inputs[T * D] = {0.43f, 0.15f, 0.89f, 0.55f, 0.87f, 0.66f, 0.57f, 0.85f, 0.64f,
                                    0.22f, 0.58f, 0.33f, 0.77f, 0.25f, 0.10f, 0.05f, 0.80f, 0.55f};

static const char printed_weights[] =
    "0.1792, 0.1713, 0.1692, 0.1061, 0.1042, 0.1240, 0.1459, 0.1180, 0.2026, 0.1986, 0.1056, 0.0921, 0.1346, 0.1486, "
    "0.1184, 0.2017, 0.1981, 0.1058, 0.0943, 0.1332, 0.1485, 0.1223, 0.1768, 0.1744, 0.1246, 0.1077, 0.1467, 0.1476, "
    "0.1305, 0.1675, 0.1689, 0.1169, 0.1607, 0.1108, 0.1446, 0.1180, 0.1861, 0.1813, 0.1211, 0.0842, 0.1615, 0.1478, "
    "0.1277, 0.1889, 0.1860, 0.1121, 0.1011, 0.1359, 0.1483";
static const char printed_contexts[] =
    "0.4420, 0.6016, 0.5774, 0.4419, 0.6515, 0.5683, 0.4429, 0.6499, 0.5673, 0.4321, 0.6330, 0.5536, 0.4635, 0.5997, 0.5326, "
    "0.4213, 0.6505, 0.5651, 0.4397, 0.6372, 0.5635";

/* ---- without weights ------------------------------------------------------------------- */

static struct attn_example simplified(const float *x, size_t rows)
{
    return (struct attn_example){.T = rows, .d = D, .H = 1, .dk = D, .dv = D, .x = x, .unscaled = true, .kind = {.form = ATTN_FULL}};
}

static double dot(const float *a, const float *b)
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
}

/* The neighbours of "journey" by cosine and by dot product. */
static void cosines(struct attn_lesson *r)
{
    static const char *const headings[] = {"to journey", "dot product", "cosine"};
    struct attn_derivation *d = &r->e.d;
    const float *journey = inputs + (size_t)JOURNEY * D;
    attn_lesson_erratum(r, "what is computed is called cosine similarity; it is the plain dot product.  A cosine divides it by the lengths of "
                         "both vectors, and the order of the neighbours of \"journey\" changes: \"with\" comes fourth by the dot product and "
                         "second by the cosine.");
    attn_derive_headings(d, headings, 3);
    for (size_t t = 0; t < T; t++) {
        const float *x = inputs + t * D;
        if (t == JOURNEY)
            continue;
        attn_derive_cell(d, "%s", words[t]);
        attn_derive_number(d, dot(x, journey), r->e.precision);
        attn_derive_number(d, dot(x, journey) / sqrt(dot(x, x) * dot(journey, journey)), r->e.precision);
    }
}

static int scores(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = simplified(inputs, T);
    attn_derive_words(d, "There are no weights and no vocabulary here: each word comes as a vector of three numbers.  The sentence is \"%s\".",
                      sentence);
    attn_lesson_matrix(r, "input", inputs, T, D, words, NULL);
    attn_lesson_erratum(r, "the text quotes the sentence as \"Your journey starts one step\"; \"with\" is missing, and is among the inputs.");
    attn_derive_words(d, "The score of a query and a key is the dot product of their vectors.  For the query \"journey\", and then for all:");
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_lesson_printed(r, "attn_scores_2", e.dots + (size_t)JOURNEY * T, 1, T, "0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865");
    attn_lesson_matrix(r, "scores", e.dots, T, T, words, words);
    attn_lesson_printed(r, "attn_scores", e.dots, T, T,
                         "0.9995, 0.9544, 0.9422, 0.4753, 0.4576, 0.6310, 0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865, "
                         "0.9422, 1.4754, 1.4570, 0.8296, 0.7154, 1.0605, 0.4753, 0.8434, 0.8296, 0.4937, 0.3474, 0.6565, "
                         "0.4576, 0.7070, 0.7154, 0.3474, 0.6654, 0.2935, 0.6310, 1.0865, 1.0605, 0.6565, 0.2935, 0.9450");
    attn_lesson_erratum(r, "the text gives the similarity of \"journey\" and \"one\" as 0.7074.  It is the number of the table:");
    const float *journey = inputs + (size_t)JOURNEY * D, *one = inputs + (size_t)ONE * D;
    attn_derive_sum(d, attn_rounded((double)e.dots[JOURNEY * T + ONE], r->e.precision), "journey·one");
    for (size_t i = 0; i < D; i++)
        attn_derive_term(d, ATTN_TERM_PRODUCT, attn_rounded((double)journey[i], 2), attn_rounded((double)one[i], 2));
    cosines(r);
    return ATTN_OK;
}

static int one_word(struct attn_lesson *r, struct attn_err *err)
{
    attn_derive_words(&r->e.d, "How the scores of \"journey\" become its context vector, looked at closely.  The built-in model journey has "
                      "these inputs, and the identity for weights: query, key and value of a word are its vector.");
    attn_derive_command(&r->e.d, "attn-cli run -m journey -s \"%s\"", sentence);
    if (attn_lesson_look(r, "journey", sentence, JOURNEY, ONE, err))
        return err->code;
    attn_explain_dot(&r->e);
    attn_explain_softmax(&r->e);
    attn_explain_context(&r->e);
    attn_lesson_printed(r, "the context vector of \"journey\"", attn_worked_row(&r->w, ATTN_ACT_CONTEXT, JOURNEY), 1, D, "0.4419, 0.6515, 0.5683");
    attn_lesson_erratum(r, "the text announces that scores are scaled before the softmax; neither the listing nor its numbers have a scale, and "
                         "the sentence in brackets about dividing the matrix is unfinished.");
    return ATTN_OK;
}

/* The table that is printed has a row too many. */
static int seventh_row(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example six = simplified(inputs, T);
    if (attn_example_run(r, &six, err))
        return err->code;
    attn_derive_words(d, "All words at once: the softmax of each row of scores, then the mixtures of the inputs.");
    attn_lesson_matrix(r, "weights", six.pattern, T, T, words, words);
    attn_lesson_matrix(r, "context", six.joined, T, D, words, NULL);
    attn_lesson_erratum(r, "the tables printed have 7 rows, of 7 weights and of 3 numbers.  The sentence has six words, the scores above are 6 x 6, "
                         "and a comment in the listing says 6 x 6.  The tables above are the right ones.  So the weights quoted for \"journey\", "
                         "0.1180, 0.2026, 0.1986, should be %.4f, %.4f, %.4f; of the 6 weights printed first %zu agree, of the first 18 "
                         "numbers of contexts %zu.", (double)six.pattern[(size_t)JOURNEY * T], (double)six.pattern[JOURNEY * T + 1],
                         (double)six.pattern[JOURNEY * T + 2], attn_lesson_matches(six.pattern, T, printed_weights),
                         attn_lesson_matches(six.joined, (size_t)T * D, printed_contexts));
    float *x = attn_lesson_floats(r, (size_t)SEVEN * D), *seventh = x + (size_t)T * D;
    memcpy(x, inputs, sizeof inputs);
    for (size_t i = 0; i < D; i++)      /* as a table with four digits shows it */
        seventh[i] = rintf(six.joined[(size_t)JOURNEY * D + i] * 1e4f) / 1e4f;
    struct attn_example seven = simplified(x, SEVEN);
    if (attn_example_run(r, &seven, err))
        return err->code;
    attn_derive_words(d, "A seventh input explains them: the context vector of \"journey\" itself, as it is printed, appended to the six as if "
                      "the variable that held it had been added to the inputs.  All numbers then come out:");
    attn_lesson_matrix(r, "input", seventh, 1, D, words + T, NULL);
    attn_lesson_matrix(r, "weights", seven.pattern, SEVEN, SEVEN, words, NULL);
    attn_lesson_printed(r, "attn_weights", seven.pattern, SEVEN, SEVEN, printed_weights);
    attn_lesson_matrix(r, "context", seven.joined, SEVEN, D, words, NULL);
    attn_lesson_printed(r, "all_context_vecs", seven.joined, SEVEN, D, printed_contexts);
    attn_derive_words(d, "Only the row of \"journey\" is right in both: the mean of the six does not move when it is itself added to them.");
    return ATTN_OK;
}

/* ---- with weights ---------------------------------------------------------------------- */

static struct attn_example trained(struct attn_lesson *r, uint64_t seed, size_t width, enum attn_form form)
{
    struct attn_example e = {.T = T, .d = D, .H = 1, .dk = width, .dv = width, .x = inputs, .kind = {.form = form}};
    attn_rng_seed(&r->rng, seed);
    e.q = attn_lesson_linear(r, D, width, false);
    e.k = attn_lesson_linear(r, D, width, false);
    e.v = attn_lesson_linear(r, D, width, false);
    return e;
}

static int trainable(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    attn_derive_words(d, "The class SelfAttention has weights that are trained: three maps nn.Linear(3, 2) without bias make a query, a key and a "
                      "value of each word.  Scores are divided by √d_k = √2.");
    attn_lesson_erratum(r, "this part and the two on causal attention and several heads print shapes only, and set no seed.  Here the seeds are "
                         "123 and, once, 789, and dropout is off unless it is named.");
    static const uint64_t seeds[] = {123, 789};
    for (size_t i = 0; i < 2; i++) {
        struct attn_example e = trained(r, seeds[i], DK, ATTN_FULL);
        if (attn_example_run(r, &e, err))
            return err->code;
        attn_derive_words(d, "With torch.manual_seed(%d):", (int)seeds[i]);
        attn_lesson_matrix(r, "query", e.queries, T, DK, words, NULL);
        attn_lesson_matrix(r, "key", e.keys, T, DK, words, NULL);
        attn_lesson_matrix(r, "value", e.values, T, DK, words, NULL);
        attn_lesson_matrix(r, "weights", e.pattern, T, T, words, words);
        attn_lesson_matrix(r, "context", e.joined, T, DK, words, NULL);
        if (i > 0)
            continue;
        attn_derive_words(d, "How \"journey\" comes to its weight for \"starts\":");
        attn_example_weight(r, &e, 0, JOURNEY, STARTS);
    }
    return ATTN_OK;
}

static int causal(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = trained(r, 123, DK, ATTN_CAUSAL);
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_derive_words(d, "A model that predicts the next word must not look at it.  So the scores of later words become -inf, and the softmax "
                      "makes them weights of exactly 0 (class CausalAttention, with the weights from seed 123).");
    attn_lesson_matrix(r, "scores", e.scores, T, T, words, words);
    attn_lesson_matrix(r, "weights", e.pattern, T, T, words, words);
    attn_lesson_matrix(r, "context", e.joined, T, DK, words, NULL);
    attn_derive_command(d, "attn-cli run -m journey-causal -s \"%s\"", sentence);
    attn_lesson_erratum(r, "the 4 x 4 example with -inf above the diagonal is called attention weights; it shows masked scores.");
    attn_lesson_erratum(r, "in the list of prediction steps, steps 2 to 4 say \"output a, b, ...\" where the prefix given is the input.");
    attn_lesson_erratum(r, "the line quoted from the class, register_buffer(...), lacks its last closing bracket.");
    attn_lesson_erratum(r, "the class masks first and scales afterwards.  That is no mistake in the numbers: -inf / √d_k is -inf, and the weights "
                         "are the same.");
    return ATTN_OK;
}

static int dropout(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = trained(r, 123, DK, ATTN_CAUSAL);
    e.kind.dropout = 0.5;
    e.kind.dropout_seed = 123;
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_derive_words(d, "In training, dropout sets weights to 0 at random, so that a model does not lean on a single one, and divides those that "
                      "stay by 1 - p: their mean does not change.  With p = 0.5, those that stay are twice what they were above.  Which ones stay "
                      "is decided by this program's own random numbers (seed 123), not by torch's.");
    attn_lesson_matrix(r, "dropped", e.pattern, T, T, words, words);
    attn_lesson_matrix(r, "context", e.joined, T, DK, words, NULL);
    attn_derive_command(d, "attn-cli run -m journey-causal -s \"%s\" --dropout 0.5 --seed 123", sentence);
    return ATTN_OK;
}

static int wide(struct attn_lesson *r, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = trained(r, 123, WIDE, ATTN_CAUSAL);
    float *both = attn_lesson_floats(r, sizeof inputs / sizeof *inputs * BATCH);
    memcpy(both, inputs, sizeof inputs);
    memcpy(both + (size_t)T * D, inputs, sizeof inputs);
    e.batch = BATCH;
    e.x = both;
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_derive_words(d, "The class is tried on a batch: the sentence twice, in one array of shape [%d,%d,%d], with maps nn.Linear(3, %d).  "
                      "The context vectors have the shape [%zu,%zu,%zu], and both sentences have %s.", BATCH, T, D, WIDE, e.batch, e.T, e.dv,
                      attn_lesson_equal(e.joined, e.joined + (size_t)T * WIDE, (size_t)T * WIDE) ? "the same numbers" : "different numbers");
    attn_derive_words(d, "Printed: context_vecs.shape: [2,6,1024].  The shape here is %s.",
                      e.batch == 2 && e.T == 6 && e.dv == 1024 ? "the same" : "another one");
    attn_lesson_matrix(r, "weights", e.pattern, T, T, words, words);
    attn_lesson_matrix(r, "context", e.joined, T, WIDE, words, NULL);
    return ATTN_OK;
}

/* ---- several heads --------------------------------------------------------------------- */

static int batch_of_heads(struct attn_lesson *r, bool bias, struct attn_err *err)
{
    struct attn_derivation *d = &r->e.d;
    struct attn_example e = {.batch = BATCH, .T = LONG, .d = IN, .H = HEADS, .dk = OUT / HEADS, .dv = OUT / HEADS, .out = OUT,
                             .kind = {.form = ATTN_CAUSAL}};
    attn_rng_seed(&r->rng, 123);
    e.q = attn_lesson_linear(r, IN, OUT, bias);
    e.k = attn_lesson_linear(r, IN, OUT, bias);
    e.v = attn_lesson_linear(r, IN, OUT, bias);
    e.o = attn_lesson_linear(r, OUT, OUT, true);
    e.x = attn_lesson_uniform(r, (size_t)BATCH * LONG * IN, 0, 1);
    if (attn_example_run(r, &e, err))
        return err->code;
    attn_derive_words(d, "%s biases on query, key and value, for each sentence of the batch: the weights of its heads, and the output.",
                      bias ? "With" : "Without");
    for (size_t b = 0; b < BATCH; b++) {
        attn_derive_words(d, "Sentence %zu:", b);
        attn_lesson_matrix(r, "input", e.x + b * LONG * IN, LONG, IN, NULL, NULL);
        for (size_t h = 0; h < HEADS; h++) {
            attn_derive_words(d, "Head %zu:", h);
            attn_lesson_matrix(r, "weights", e.pattern + (b * HEADS + h) * LONG * LONG, LONG, LONG, NULL, NULL);
        }
        attn_derive_words(d, "The contexts of all heads side by side, and the output:");
        attn_lesson_matrix(r, "contexts", e.joined + b * LONG * OUT, LONG, OUT, NULL, NULL);
        attn_lesson_matrix(r, "output", e.output + b * LONG * OUT, LONG, OUT, NULL, NULL);
    }
    return ATTN_OK;
}

static int several_heads(struct attn_lesson *r, struct attn_err *err)
{
    attn_derive_words(&r->e.d, "The class MultiHeadAttention cuts one projection of width 32 into 4 heads of 8, puts their context vectors side by "
                      "side and mixes them by an output map with bias.  It reads a batch of 2 sentences of 5 tokens, torch.rand(2, 5, 16), after "
                      "torch.manual_seed(123), nn.Linear(16, 32) three times and nn.Linear(32, 32).");
    attn_derive_words(&r->e.d, "The article has dropout 0.1 here and the module in training, so that even a fixed seed would give numbers after "
                      "dropout; it is off below.");
    if (batch_of_heads(r, false, err))
        return err->code;
    return batch_of_heads(r, true, err);
}

static const struct attn_listing listings[] = {
    {"Scores without weights", scores}, {"From scores to a context vector", one_word}, {"All words, and a seventh row", seventh_row},
    {"Weights that are trained", trainable}, {"The causal mask", causal}, {"Dropout", dropout}, {"A batch", wide},
    {"Several heads, with and without biases", several_heads}, {NULL, NULL}};

const struct attn_article attn_article_journey = {
    "02", "journey", "attention in steps, from no weights to several heads",
    "The article starts from six vectors of three numbers and adds one idea after the other.  Its first part prints numbers, the others "
    "shapes.", listings};
