/* article_journey.c - an article that builds up attention for "Your journey starts with one step": without weights,
 * with trained weights, with a causal mask and dropout, with several heads. */
#include "explain/article.h"

#include <math.h>

/* ---- examples --------------------------------------------------------------------------- */

#define SENTENCE "Your journey starts with one step"
enum { T = 6, D = 3, JOURNEY = 1, STARTS = 2, ONE = 4, WIDE = 1024 };
static const char *const words[] = {"Your", "journey", "starts", "with", "one", "step", "(7)"};
#define INPUTS 0.43f, 0.15f, 0.89f, 0.55f, 0.87f, 0.66f, 0.57f, 0.85f, 0.64f, \
               0.22f, 0.58f, 0.33f, 0.77f, 0.25f, 0.10f, 0.05f, 0.80f, 0.55f
static const float inputs[] = {INPUTS}, twice[] = {INPUTS, INPUTS};
static const float with_context[] = {INPUTS, 0.4419f, 0.6515f, 0.5683f};        /* of "journey", as it is printed */

#define PLAIN(rows, array) {.T = rows, .d = D, .H = 1, .dk = D, .dv = D, .x = array, .unscaled = true}
static const struct attn_setup six = {.names = words, .columns = words, .e = PLAIN(T, inputs)};
static const struct attn_setup seven = {.names = words, .columns = words, .e = PLAIN(T + 1, with_context)};

/* nn.Linear(3, width) for queries, keys and values. */
#define TRAINED(from, width, ...) \
    {.seed = from, .names = words, .columns = words, .draw = {DRAW(UNBIASED, "qkv")}, \
     .e = {.T = T, .d = D, .H = 1, .dk = width, .dv = width, __VA_ARGS__}}
static const struct attn_setup trained = TRAINED(123, 2, .x = inputs), otherwise_trained = TRAINED(789, 2, .x = inputs);
static const struct attn_setup causal = TRAINED(123, 2, .x = inputs, .kind = {.form = ATTN_CAUSAL});
static const struct attn_setup dropped =
    TRAINED(123, 2, .x = inputs, .kind = {.form = ATTN_CAUSAL, .dropout = 0.5, .dropout_seed = 123});
static const struct attn_setup wide = TRAINED(123, WIDE, .x = twice, .batch = 2, .kind = {.form = ATTN_CAUSAL});

#define MANY {.batch = 2, .T = 5, .d = 16, .H = 4, .dk = 8, .dv = 8, .out = 32, .kind = {.form = ATTN_CAUSAL}}
static const struct attn_setup unbiased = {.seed = 123, .e = MANY,
                                           .draw = {DRAW(UNBIASED, "qkv"), DRAW(LINEAR, "o"), DRAW(RAND, "x")}};
static const struct attn_setup biased = {.seed = 123, .e = MANY, .draw = {DRAW(LINEAR, "qkvo"), DRAW(RAND, "x")}};

/* ---- what is computed beside them --------------------------------------------------------- */

static int similarity_of_one(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    const float *journey = inputs + (size_t)JOURNEY * D, *one = inputs + (size_t)ONE * D;
    (void)row, (void)err;
    attn_derive_sum(&r->e.d, attn_rounded((double)r->example.dots[JOURNEY * T + ONE], r->e.precision), "journey·one");
    for (size_t i = 0; i < D; i++)
        attn_derive_term(&r->e.d, ATTN_ADDEND_PRODUCT, attn_rounded((double)journey[i], 2),
                         attn_rounded((double)one[i], 2));
    return ATTN_OK;
}

static double dot(const float *a, const float *b)
{
    return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
}

/* The neighbours of "journey" by cosine and by dot product. */
static int cosines(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    static const char *const headings[] = {"to journey", "dot product", "cosine"};
    struct attn_derivation *d = &r->e.d;
    const float *journey = inputs + (size_t)JOURNEY * D;
    (void)row, (void)err;
    attn_derive_headings(d, headings, 3);
    for (size_t t = 0; t < T; t++) {
        const float *x = inputs + t * D;
        if (t == JOURNEY)
            continue;
        attn_derive_cell(d, "%s", words[t]);
        attn_derive_number(d, dot(x, journey), r->e.precision);
        attn_derive_number(d, dot(x, journey) / sqrt(dot(x, x) * dot(journey, journey)), r->e.precision);
    }
    return ATTN_OK;
}

static const char printed_weights[] =
    "0.1792, 0.1713, 0.1692, 0.1061, 0.1042, 0.1240, 0.1459, 0.1180, 0.2026, 0.1986, 0.1056, 0.0921, 0.1346, 0.1486, "
    "0.1184, 0.2017, 0.1981, 0.1058, 0.0943, 0.1332, 0.1485, 0.1223, 0.1768, 0.1744, 0.1246, 0.1077, 0.1467, 0.1476, "
    "0.1305, 0.1675, 0.1689, 0.1169, 0.1607, 0.1108, 0.1446, 0.1180, 0.1861, 0.1813, 0.1211, 0.0842, 0.1615, 0.1478, "
    "0.1277, 0.1889, 0.1860, 0.1121, 0.1011, 0.1359, 0.1483";
static const char printed_contexts[] =
    "0.4420, 0.6016, 0.5774, 0.4419, 0.6515, 0.5683, 0.4429, 0.6499, 0.5673, 0.4321, 0.6330, 0.5536, 0.4635, 0.5997, "
    "0.5326, 0.4213, 0.6505, 0.5651, 0.4397, 0.6372, 0.5635";

static int a_row_too_many(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    const struct attn_example *e = &r->example;
    const float *journey = e->pattern + (size_t)JOURNEY * T;
    (void)row, (void)err;
    attn_lesson_erratum(r,
                        "the tables printed have 7 rows, of 7 weights and of 3 numbers.  The sentence has six words, "
                        "the scores above are 6 x 6, and a comment in the listing says 6 x 6.  The tables above are "
                        "the right ones.  So the weights quoted for \"journey\", 0.1180, 0.2026, 0.1986, should be "
                        "%.4f, %.4f, %.4f.  Of what is printed, %zu of the first 6 weights and %zu of the first 18 "
                        "context numbers agree.", (double)journey[0], (double)journey[1], (double)journey[2],
                        attn_lesson_matches(e->pattern, T, printed_weights),
                        attn_lesson_matches(e->joined, (size_t)T * D, printed_contexts));
    return ATTN_OK;
}

static int shapes(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    const struct attn_example *e = &r->example;
    const size_t n = e->T * e->dv;
    (void)row, (void)err;
    attn_derive_words(&r->e.d,
                      "The class is tried on a batch: the sentence twice, in one array of shape [%zu,%zu,%zu], with "
                      "maps nn.Linear(3, %zu).  The context vectors have the shape [%zu,%zu,%zu], and both sentences "
                      "have %s.", e->batch,
                      e->T, e->d, e->dv, e->batch, e->T, e->dv,
                      attn_lesson_equal(e->joined, e->joined + n, n) ? tr(&r->e, "the same numbers")
                                                                     : tr(&r->e, "different numbers"));
    attn_derive_words(&r->e.d, "Printed: context_vecs.shape: [2,6,1024].  The shape here is %s.",
                      e->batch == 2 && e->T == 6 && e->dv == 1024 ? tr(&r->e, "the same") : tr(&r->e, "another one"));
    return ATTN_OK;
}

/* ---- the article ------------------------------------------------------------------------ */

#define TRAINED_TABLES TABLE("query", QUERIES), TABLE("key", KEYS), TABLE("value", VALUES), TABLE("weights", PATTERN), \
                       TABLE("context", JOINED)
#define SENTENCE_OF_BATCH(which, n) \
    which, TABLE("input", X, .at = n), HEADS(n), \
        SAY("The contexts of all heads side by side, and the output:"), \
    TABLE("contexts", JOINED, .at = n), TABLE("output", OUTPUT, .at = n)

static const struct attn_row rows[] = {
    HEADING("Scores without weights"),
    PLACE("section 1"),
    SAY("There are no weights and no vocabulary here: each word comes as a vector of three numbers.  The "
        "sentence is \"Your journey starts with one step\"."),
    EXAMPLE(six),
    TABLE("input", X),
    ERRATUM("the text quotes the sentence as \"Your journey starts one step\"; \"with\" is missing, and is among the "
            "inputs."),
    SAY("The score of a query and a key is the dot product of their vectors.  For the query \"journey\", and then for "
        "all:"),
    FORMULA(dot),
    PRINTED("attn_scores_2", "0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865", DOTS, .row = JOURNEY, .rows = 1),
    TABLE("scores", DOTS),
    PRINTED("attn_scores",
            "0.9995, 0.9544, 0.9422, 0.4753, 0.4576, 0.6310, 0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865, "
            "0.9422, 1.4754, 1.4570, 0.8296, 0.7154, 1.0605, 0.4753, 0.8434, 0.8296, 0.4937, 0.3474, 0.6565, "
            "0.4576, 0.7070, 0.7154, 0.3474, 0.6654, 0.2935, 0.6310, 1.0865, 1.0605, 0.6565, 0.2935, 0.9450", DOTS),
    ERRATUM("the text gives the similarity of \"journey\" and \"one\" as 0.7074.  It is the number of the table:"),
    OWN(similarity_of_one),
    ERRATUM("what is computed is called cosine similarity; it is the plain dot product.  A cosine divides it by the "
            "lengths of both vectors, and the order of the neighbours of \"journey\" changes: \"with\" comes fourth by "
            "the dot product and second by the cosine."),
    OWN(cosines),

    HEADING("From scores to a context vector"),
    PLACE("section 1"),
    SAY("How the scores of \"journey\" become its context vector, looked at closely.  The built-in model journey has "
        "these inputs, and the identity for weights: query, key and value of a word are its vector."),
    COMMAND("attn-cli run -m journey -s \"" SENTENCE "\" --format text"),
    LOOK("journey", SENTENCE, JOURNEY, ONE),
    STEP(dot),
    STEP(softmax),
    STEP(context),
    PRINTED("the context vector of \"journey\"", "0.4419, 0.6515, 0.5683", CELL_CONTEXT),
    ERRATUM("the text announces that scores are scaled before the softmax; neither the listing nor its numbers have a "
            "scale, and the sentence in brackets about dividing the matrix is unfinished."),

    HEADING("All words, and a seventh row"),
    PLACE("section 1"),
    SAY("All words at once: the softmax of each row of scores, then the mixtures of the inputs."),
    EXAMPLE(six),
    TABLE("weights", PATTERN),
    TABLE("context", JOINED),
    OWN(a_row_too_many),
    SAY("A seventh input explains them: the context vector of \"journey\" itself, as it is printed, appended to the "
        "six as if the variable that held it had been added to the inputs.  All numbers then come out:"),
    EXAMPLE(seven),
    TABLE("input", X, .row = T),
    TABLE("weights", PATTERN),
    PRINTED("attn_weights", printed_weights, PATTERN),
    TABLE("context", JOINED),
    PRINTED("all_context_vecs", printed_contexts, JOINED),
    SAY("Only the row of \"journey\" is right in both: adding a weighted mean to the vectors it is the mean of does "
        "not move it."),

    HEADING("Weights that are trained"),
    PLACE("section 3"),
    SAY("The class SelfAttention has weights that are trained: three maps nn.Linear(3, 2) without bias make a query, a "
        "key and a value of each word.  Scores are divided by √d_k = √2."),
    ERRATUM("this part and the two on causal attention and several heads print shapes only, and set no seed.  Here the "
            "seeds are 123 and, once, 789, and dropout is off unless it is named."),
    FORMULA(projections),
    FORMULA(scaled),
    PART("With torch.manual_seed(123)"),
    EXAMPLE(trained),
    DIAGRAM(JOURNEY, STARTS),
    TRAINED_TABLES,
    SAY("How \"journey\" comes to its weight for \"starts\":"),
    WEIGHT(JOURNEY, STARTS),
    PART("With torch.manual_seed(789)"),
    EXAMPLE(otherwise_trained),
    TRAINED_TABLES,

    HEADING("The causal mask"),
    PLACE("section 5"),
    SAY("A model that predicts the next word must not look at it.  So the scores of later words become -inf, and the "
        "softmax makes them weights of exactly 0 (class CausalAttention, with the weights from seed 123)."),
    FORMULA(causal),
    EXAMPLE(causal),
    TABLE("scores", SCORES),
    TABLE("weights", PATTERN),
    TABLE("context", JOINED),
    COMMAND("attn-cli run -m journey-causal -s \"" SENTENCE "\" --format text"),
    ERRATUM("the 4 x 4 example with -inf above the diagonal is called attention weights; it shows masked scores."),
    ERRATUM("in the list of prediction steps, steps 2 to 4 say \"output a, b, ...\" where the prefix given is the "
            "input."),
    SAY("Note: in our copy, the line quoted from the class, register_buffer(...), lacks its last closing bracket."),
    ERRATUM("the class masks first and scales afterwards.  That is no mistake in the numbers: -inf / √d_k is -inf, and "
            "the weights are the same."),

    HEADING("Dropout"),
    SAY("In training, dropout sets weights to 0 at random, so that a model does not lean on a single one, and divides "
        "those that stay by 1 - p: their mean does not change.  With p = 0.5, those that stay are twice what they were "
        "above.  Which ones stay is decided by this program's own random numbers (seed 123), not by torch's."),
    FORMULA(dropout),
    EXAMPLE(dropped),
    TABLE("dropped", PATTERN),
    TABLE("context", JOINED),
    COMMAND("attn-cli run -m journey-causal -s \"" SENTENCE "\" --dropout 0.5 --seed 123 --format text"),

    HEADING("A batch"),
    PLACE("section 5"),
    EXAMPLE(wide),
    OWN(shapes),
    TABLE("weights", PATTERN),
    TABLE("context", JOINED),

    HEADING("Several heads, with and without biases"),
    PLACE("section 6"),
    SAY("The class MultiHeadAttention cuts one projection of width 32 into 4 heads of 8, puts their context vectors "
        "side by side and mixes them by an output map with bias.  It reads a batch of 2 sentences of 5 tokens, "
        "torch.rand(2, 5, 16), after torch.manual_seed(123), nn.Linear(16, 32) three times and nn.Linear(32, 32)."),
    SAY("The article has dropout 0.1 here and the module in training, so that even a fixed seed would give numbers "
        "after dropout; it is off below."),
    FORMULA(heads),
    PART("Without biases on query, key and value"),
    EXAMPLE(unbiased),
    SAY("For each sentence of the batch: the weights of its heads, and the output."),
    SENTENCE_OF_BATCH(SAY("Sentence 0:"), 0),
    SENTENCE_OF_BATCH(SAY("Sentence 1:"), 1),
    PART("With biases on query, key and value"),
    EXAMPLE(biased),
    SAY("For each sentence of the batch: the weights of its heads, and the output."),
    SENTENCE_OF_BATCH(SAY("Sentence 0:"), 0),
    SENTENCE_OF_BATCH(SAY("Sentence 1:"), 1),
    END,
};

const struct attn_article attn_article_journey = {
    "02", "journey", "attention in steps, from no weights to several heads",
    "The article starts from six vectors of three numbers and adds one idea after the other.  Its first part prints "
    "numbers, the others shapes.", rows};
