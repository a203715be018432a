/* article_life.c - an article that programs self-attention step by step for "Life is short, eat dessert first": one
 * token, all tokens, several heads, the causal mask in two ways. */
#include "explain/article.h"

#include <math.h>

/* ---- examples --------------------------------------------------------------------------- */

#define SENTENCE "Life is short, eat dessert first"
enum { T = 6, D = 3, IS = 1, DESSERT = 4 };
static const char *const words[] = {"Life", "is", "short", "eat", "dessert", "first"};
static const size_t ids[] = {0, 4, 5, 2, 1, 3};         /* in the sorted vocabulary */

/* Inputs from a table of 50000 rows, of which 16 are drawn: torch draws 16 numbers at a time, and the first rows do not
 * depend on how many follow.  After the seed once more, W_query, W_key and W_value of each head in turn. */
#define EMBEDDED DRAW(EMBEDDED, "x", .rows = 16), DRAW(SEED, ""), DRAW(HEADS, "qkv", 0, 1)
#define TOKENS .seed = 123, .ids = ids, .names = words
#define SIZES .T = T, .d = D, .dk = 2

static const struct attn_setup all_tokens = {TOKENS, .columns = words, .draw = {EMBEDDED},
                                             .e = {SIZES, .H = 1, .dv = 4}};
static const struct attn_setup one_head = {TOKENS, .columns = words, .draw = {EMBEDDED}, .e = {SIZES, .H = 1, .dv = 1}};
static const struct attn_setup four_heads = {TOKENS, .columns = words, .draw = {EMBEDDED},
                                             .e = {SIZES, .H = 4, .dv = 1}};
static const struct attn_setup six_rows = {TOKENS, .draw = {DRAW(EMBEDDED, "x", .rows = 6)},
                                           .e = {.T = T, .d = D, .H = 1, .dk = D, .dv = D}};
static const struct attn_setup cross = {TOKENS, .draw = {EMBEDDED, DRAW(RAND, "y")},
                                        .e = {SIZES, .Tk = 8, .H = 1, .dv = 4}};
static const struct attn_setup cross_reseeded = {TOKENS, .draw = {EMBEDDED, DRAW(SEED, ""), DRAW(RAND, "y")},
                                                 .e = {SIZES, .Tk = 8, .H = 1, .dv = 4}};

/* ---- what is computed beside them --------------------------------------------------------- */

static const char embedded[] =
    "0.3374, -0.1778, -0.3035, 0.1794, 1.8951, 0.4954, 0.2692, -0.0770, -1.0205, -0.2196, -0.3792, "
    "0.7671, -0.5880, 0.3486, 0.6603, -1.1925, 0.6984, -1.4097";

static int vocabulary(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    static const char *const headings[] = {"token", "index", "id"};
    struct attn_derivation *d = &r->e.d;
    (void)row, (void)err;
    attn_derive_headings(d, headings, 3);
    for (size_t t = 0; t < T; t++) {
        attn_derive_cell(d, "%s", words[t]);
        attn_derive_cell(d, "%zu", t);
        attn_derive_cell(d, "%zu", ids[t]);
    }
    return ATTN_OK;
}

static int few_match(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    (void)row, (void)err;
    attn_derive_words(&r->e.d, "Only %zu of its %d numbers are the printed ones.",
                      attn_lesson_matches(r->example.x, (size_t)T * D, embedded), T * D);
    return ATTN_OK;
}

/* The largest weight of "is" if dots are divided by something else than √d_k. */
static int otherwise(struct attn_lesson *r, float divisor, float *largest, struct attn_err *err)
{
    struct attn_example e;
    attn_example_draw(r, &e, &all_tokens);
    e.kind.scaling = ATTN_SCALE_VALUE;
    e.kind.scale = 1 / (double)divisor;
    if (attn_example_run(r, &e, err))
        return err->code;
    *largest = e.pattern[IS * T + IS];
    return ATTN_OK;
}

static int other_scales(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    float by_width = 0, with_epsilon = 0;
    (void)row;
    if (otherwise(r, sqrtf(D), &by_width, err) || otherwise(r, sqrtf(2) + 1e-3f, &with_epsilon, err))
        return err->code;
    attn_lesson_erratum(r, "the formula given divides by √d + ε.  The printed numbers come from √d_k = √2, without an "
                           "ε: the largest weight, printed as 0.6870, would be %.4f with √d = √3, and %.4f with an ε "
                           "of 0.001 (one of 1e-6 would not show).",
                        (double)by_width, (double)with_epsilon);
    return ATTN_OK;
}

/* ---- the causal mask ---------------------------------------------------------------------- */

/* What is shown of which later tokens are hidden: ones, which make the mask; weights, by 0; dot products, by -inf. */
enum { ONES, WEIGHTS, DOTS };
static int hide(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    struct attn_example *e = &r->example;
    const float *shown = row->at == DOTS ? e->dots : e->pattern, hidden = row->at == DOTS ? -INFINITY : 0;
    (void)err;
    e->made = attn_lesson_floats(r, (size_t)T * T);
    for (size_t i = 0; i < (size_t)T * T; i++)
        e->made[i] = i % T > i / T ? hidden : row->at == ONES ? 1 : shown[i];
    return ATTN_OK;
}

static int two_ways(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    float apart = 0;
    (void)row, (void)err;
    for (size_t i = 0; i < (size_t)T * T; i++)
        apart = fmaxf(apart, fabsf(r->example.pattern[i] - r->kept[i]));
    attn_lesson_erratum(r, "the article says that e^(-inf) is close to 0.  It is exactly 0, and the two ways differ by "
                           "rounding alone: in float32 by at most %.0e here.", (double)apart);
    return ATTN_OK;
}

/* ---- the article ------------------------------------------------------------------------ */

static const struct attn_row rows[] = {
    HEADING("The sentence as numbers"),
    PLACE("\"Embedding an Input Sentence\""),
    SAY("The sentence is \"Life is short, eat dessert first\".  Its words, without the comma, are sorted and numbered: "
        "that is the vocabulary.  Each token is the number, the id, of its word."),
    OWN(vocabulary),
    ERRATUM("in the list of training prefixes, \"desert\" should be \"dessert\"."),
    SAY("Note: our copy keeps only the first line of each listing and the first row of each table; all of those are "
        "compared."),

    HEADING("The embeddings"),
    PLACE("\"Embedding an Input Sentence\""),
    SAY("Each token gets the row of its id in a table of random numbers: torch.manual_seed(123), then Embedding(50000, "
        "3), drawn here bit by bit as torch draws it.  Attention reads these rows as they are."),
    EXAMPLE(all_tokens),
    TABLE("embedding", X),
    PRINTED("embedded_sentence", embedded, X),
    ERRATUM("the listing says vocab_size = 6.  With 6 rows the same seed gives the table below instead.  torch draws "
            "normal numbers in blocks of 16 and redraws the last 16 if the count is no multiple of 16: 18 is not, "
            "150000 is."),
    EXAMPLE(six_rows),
    TABLE("of 6 rows", X),
    OWN(few_match),

    HEADING("One token, looked at closely"),
    PLACE("\"Computing the (Unnormalized) Attention Weights\""),
    SAY("The article follows one token, which it calls 2 (x_2, q_2) as it counts from 1: \"is\".  Here all indices "
        "count from 0, so it is token 1.  The weights are those of torch.manual_seed(123), then torch.rand for W_query "
        "(3 x 2), W_key (3 x 2) and W_value (3 x 4).  They are also the built-in model life-full, which the next steps "
        "look into:"),
    COMMAND("attn-cli run -m life-full -s \"" SENTENCE "\" --format text"),
    EXAMPLE(all_tokens),
    DIAGRAM(IS, DESSERT),
    LOOK("life-full", SENTENCE, IS, DESSERT),
    FORMULA(projections),
    VECTOR(Q),
    VECTOR(K),
    STEP(dot),
    PRINTED("omega_24", "1.2903", CELL_DOTS, .col = DESSERT, .cols = 1),
    ERRATUM("the name omega_24 mixes conventions: the 2 counts from 1, the 4 from 0.  It is query 1, \"is\", and key "
            "4, \"dessert\"."),
    PRINTED("omega_2, the dot products of \"is\" with all keys",
            "-0.6004, 3.4707, -1.5023, 0.4991, 1.2903, -1.3374", CELL_DOTS),
    STEP(scale),

    HEADING("From scores to a context vector"),
    FORMULA(scaled),
    OWN(other_scales),
    STEP(mask),
    STEP(softmax),
    PRINTED("attention_weights_2", "0.0386, 0.6870, 0.0204, 0.0840, 0.1470, 0.0229", CELL_PATTERN),
    STEP(context),
    PRINTED("context_vector_2", "0.5313, 1.3607, 0.7891, 1.3110", CELL_CONTEXT),

    HEADING("All tokens at once"),
    PLACE("\"Self-Attention\""),
    SAY("The class SelfAttention computes the same for all tokens at once: a row of weights for each query, and a "
        "context vector from each row."),
    FORMULA(attention),
    EXAMPLE(all_tokens),
    TABLE("weights", PATTERN),
    TABLE("context", JOINED),
    PRINTED("its output, first row", "-0.1564, 0.1028, -0.0763, -0.0764", JOINED, .rows = 1),
    PRINTED("its output, second row", "0.5313, 1.3607, 0.7891, 1.3110", JOINED, .row = 1, .rows = 1),

    HEADING("Several heads"),
    PLACE("\"Multi-Head Attention\""),
    SAY("Stacked heads: each is an attention of its own with its own weights, drawn one after the other from seed 123, "
        "and values of one number; their context vectors are put side by side (MultiHeadAttentionWrapper)."),
    PART("One head"),
    EXAMPLE(one_head),
    TABLE("context", JOINED),
    PRINTED("output, first row, of one head", "-0.0185", JOINED, .rows = 1),
    PART("Four heads"),
    SAY("The first of them is the one above.  Their weights:"),
    EXAMPLE(four_heads),
    TABLE("head 0", PATTERN, .at = 0),
    TABLE("head 1", PATTERN, .at = 1),
    TABLE("head 2", PATTERN, .at = 2),
    TABLE("head 3", PATTERN, .at = 3),
    SAY("Their context vectors, a number from each head:"),
    TABLE("contexts", JOINED),
    PRINTED("output, first row, of four heads", "-0.0185, 0.0170, 0.1999, -0.0860", JOINED, .rows = 1),
    COMMAND("attn-cli run -m life-4-heads -s \"" SENTENCE "\" --format text"),

    HEADING("The causal mask, in two ways"),
    PLACE("\"Causal Self-Attention\""),
    SAY("A token may look at itself and at earlier tokens, not at later ones, which a model that writes the next word "
        "does not have yet."),
    EXAMPLE(all_tokens),
    PART("Weights masked, then divided again"),
    SAY("The first way: the softmax over all keys, as before."),
    PRINTED("attn_scores (the dot products), first row",
            "0.0613, -0.3491, 0.1443, -0.0437, -0.1303, 0.1076", DOTS, .rows = 1),
    PRINTED("unmasked attn_weights, first row", "0.1772, 0.1326, 0.1879, 0.1645, 0.1547, 0.1831", PATTERN, .rows = 1),
    SAY("Then the weights are multiplied by a mask that has 1 for itself and earlier tokens, 0 for later ones:"),
    OWN(hide, .at = ONES),
    PRINTED("mask_simple, first row", "1., 0., 0., 0., 0., 0.", MADE, .rows = 1),
    OWN(hide, .at = WEIGHTS),
    TABLE("masked", MADE),
    PRINTED("masked_simple, first row", "0.1772, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000", MADE, .rows = 1),
    SAY("Then each row is divided by what is left of its sum (--attention causal-renorm):"),
    FORMULA(renorm),
    AGAIN(CAUSAL_RENORM),
    KEEP,
    TABLE("weights", PATTERN),
    PRINTED("masked_simple_norm, first row", "1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000", PATTERN, .rows = 1),
    PART("Scores masked by -inf"),
    PLACE("\"More efficient masking without renormalization\""),
    SAY("The second way, which models use: hidden keys get the score -inf before the softmax, so that nothing has to "
        "be divided again (--attention causal)."),
    FORMULA(causal),
    OWN(hide, .at = DOTS),
    TABLE("dots", MADE),
    PRINTED("masked (the dot products, not scaled yet), first row",
            "0.0613, -inf, -inf, -inf, -inf, -inf", MADE, .rows = 1),
    AGAIN(CAUSAL),
    TABLE("weights", PATTERN),
    PRINTED("attn_weights from the -inf mask, first row",
            "1.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000", PATTERN, .rows = 1),
    OWN(two_ways),
    SAY("The context vectors, of which the article prints none:"),
    TABLE("context", JOINED),
    COMMAND("attn-cli run -m life -s \"" SENTENCE "\" --format text"),

    HEADING("Cross-attention"),
    PLACE("\"Bonus Topic: Cross-Attention\""),
    SAY("Note: the conclusion says that cross-attention was implemented; our copy stops before that, and has no "
        "numbers for it."),
    SAY("In cross-attention the queries come from the sentence, keys and values from another sequence; here from 8 "
        "rows of torch.rand(8, 3), drawn after the weights.  Each query has a row of weights over those 8:"),
    PART("Another sequence of 8 random rows"),
    EXAMPLE(cross),
    DIAGRAM(IS, 0),
    TABLE("other", Y),
    TABLE("weights", PATTERN),
    TABLE("context", JOINED),
    PART("The same, with the seed set again"),
    SAY("With torch.manual_seed(123) once more before the 8 rows are drawn, these are:"),
    EXAMPLE(cross_reseeded),
    TABLE("other", Y),
    TABLE("weights", PATTERN),
    TABLE("context", JOINED),
    END,
};

const struct attn_article attn_article_life = {
    "00", "life", "self-attention, programmed step by step",
    "The article computes attention for one sentence: for one token, for all, with several heads, with a causal mask.  "
    "Each number that it prints stands beside the one computed here.", rows};
