/* article_language.c - a survey of attention with one function, simple_attention, for batches, masks and
 * cross-attention; and the kinds of attention that cost less, on its arrays. */
#include "explain/article.h"

#include <math.h>

/* ---- examples --------------------------------------------------------------------------- */

enum { T = 4 };

/* Weights of the scores, by attention of one query 1 over keys that are the scores. */
static const char *const tokens[] = {"我", "爱", "自然", "语言", "处理"};
static const struct attn_setup table = {.columns = tokens, .e = {.T = 1, .Tk = 5, .d = 1, .H = 1, .dk = 1, .dv = 1,
    .x = (const float[]){1}, .y = (const float[]){0.1f, 0.3f, 0.8f, 1.0f, 0.6f}}};

/* q, k and v as torch.rand(2, 4, 8) in this order after torch.manual_seed(123). */
#define SIMPLE(...) \
    {.seed = 123, .e = {.T = T, .Tk = T, .d = 8, .H = 1, .dk = 8, .dv = 8, __VA_ARGS__}, .draw = {DRAW(RAND, "qkv")}}
static const uint8_t triangle[T * T] = {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1};
static const uint8_t gaps[T * T] = {1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
static const struct attn_setup batch = SIMPLE(.batch = 2);
static const struct attn_setup masked = SIMPLE(.batch = 2, .mask = triangle, .kind = {.form = ATTN_MASKED});
/* The first sentence of the batch. */
#define FIRST(...) {.after = &batch, .e = {.T = T, .Tk = T, .d = 8, .H = 1, .dk = 8, .dv = 8, __VA_ARGS__}}
static const struct attn_setup gapped = FIRST(.mask = gaps, .kind = {.form = ATTN_MASKED});
static const struct attn_setup first_of_batch = FIRST(.kind = {.form = ATTN_CAUSAL});

static const struct attn_setup cross = {.seed = 123, .e = {.T = 3, .Tk = 5, .d = 8, .H = 1, .dk = 8, .dv = 6},
                                        .draw = {DRAW(RAND, "qkv")}};
static const struct attn_setup decoder = {.seed = 123, .e = {.T = 3, .Tk = 5, .d = 8, .H = 1, .dk = 4, .dv = 4},
                                          .draw = {DRAW(LINEAR, "kvq"), DRAW(RAND, "xy")}};

/* ---- what is computed beside them --------------------------------------------------------- */

static int same_as_causal(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    const struct attn_example *e = &r->example;
    (void)row, (void)err;
    attn_derive_words(&r->e.d, attn_lesson_equal(r->kept, e->pattern, e->batch * e->T * e->Tk)
                                   ? "The kind causal, which computes no hidden score at all, gives exactly the same "
                                     "weights."
                                   : "The kind causal gives other weights.");
    return ATTN_OK;
}

static int show_gaps(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    (void)row, (void)err;
    attn_derive_table(&r->e.d, T + 1);
    attn_derive_cell(&r->e.d, "mask");
    for (size_t j = 0; j < T; j++)
        attn_derive_cell(&r->e.d, "key %zu", j);
    for (size_t i = 0; i < (size_t)T * T; i++) {
        if (i % T == 0)
            attn_derive_cell(&r->e.d, "query %zu", i / T);
        attn_derive_cell(&r->e.d, "%d", gaps[i]);
    }
    return ATTN_OK;
}

static float apart(const float *a, const float *b, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(a[i] - b[i]));
    return most;
}

/* The example under another kind, and how far its weights are from those of the causal mask. */
static int kind(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    struct attn_example *e = &r->example;
    const struct attn_called pairs = {.row = tr(&r->e, "query %zu"), .col = tr(&r->e, "key %zu")};
    if (attn_kind_parse(&e->kind, row->text, err))
        return err->code;
    e->kind.causal = true;
    if (attn_example_again(r, e, e->kind.form, err))
        return err->code;
    attn_derive_part(&r->e.d, "%s", row->text);
    attn_derive_words(&r->e.d, "%s", tr(&r->e, row->about));
    if (e->kind.form == ATTN_LINEAR)
        attn_derive_formula(&r->e.d, &attn_formula_feature);
    attn_lesson_matrix(r, "weights", e->pattern, T, T, &pairs, true);
    attn_derive_sum(&r->e.d, attn_rounded((double)apart(e->pattern, r->kept, (size_t)T * T), r->e.precision),
                    "largest difference from causal");
    return ATTN_OK;
}

/* ---- the article ------------------------------------------------------------------------ */

#define GIVEN(n) TABLE("q", QUERIES, .at = n), TABLE("k", KEYS, .at = n), TABLE("v", VALUES, .at = n)
#define RESULTS(n) TABLE("weights", PATTERN, .at = n), TABLE("context", JOINED, .at = n)
#define RESULTS_OF_BATCH SAY("Sentence 0 of the batch:"), RESULTS(0), SAY("Sentence 1 of the batch:"), RESULTS(1)

static const struct attn_row rows[] = {
    HEADING("A table of scores and weights"),
    PLACE("chapter 2"),
    SAY("Five scores become weights by a softmax: exp of each, divided by the sum of all."),
    FORMULA(softmax),
    EXAMPLE(table),
    TABLE("scores", SCORES),
    TABLE("weights", PATTERN),
    PRINTED("the weights of these scores", "0.05, 0.10, 0.35, 0.40, 0.10", PATTERN),
    ERRATUM("the weights printed are not the softmax of the scores, and no scale makes them so: the scores 0.3 and 0.6 "
            "have the same weight 0.10, while a softmax gives the larger score the larger weight at any temperature."),
    ERRATUM("the table has five tokens; the sentence announced for it has three (我 爱 自然语言处理)."),

    HEADING("simple_attention, on a batch"),
    PLACE("chapter 6"),
    SAY("simple_attention takes q, k and v as they are, [batch, tokens, d]: scores q·k^T / √d_k, softmax, times v.  "
        "Each sentence of the batch attends to itself alone.  Here q, k and v are torch.rand(2, 4, 8) each, after "
        "torch.manual_seed(123); first those of sentence 0, then those of sentence 1:"),
    FORMULA(attention),
    EXAMPLE(batch),
    DIAGRAM(0, 3),
    GIVEN(0),
    GIVEN(1),
    RESULTS_OF_BATCH,
    SAY("In sentence 0, the weight of key 3 for query 0:"),
    WEIGHT(0, 3),
    PRINTED("attn_weights[0], its first two rows", "0.22, 0.24, 0.30, 0.24, 0.25, 0.26, 0.27, 0.22",
            PATTERN, .rows = 2),
    ERRATUM("the article sets no seed, and none of the seeds 0 to 199999, with q, k and v drawn in this order, gives "
            "the rows that are printed.  Each of them sums to 1, so they may be right for numbers that are lost."),
    ERRATUM("the text divides by √d; the code by √d_k, the root of the last dimension of q.  Here both are √8."),
    ERRATUM("a comment gives v the width d_k, and the mask the shape [batch, seq, seq].  The code takes any width of "
            "v, and needs [batch, queries, keys]; cross-attention below uses both."),

    HEADING("A mask"),
    PLACE("chapter 6"),
    SAY("A mask says by 1 and 0 which key a query may look at; scores at 0 become -inf, and their weights exactly 0.  "
        "A triangle of ones is the causal mask:"),
    EXAMPLE(masked),
    RESULTS_OF_BATCH,
    KEEP,
    AGAIN(CAUSAL),
    OWN(same_as_causal),

    HEADING("A query that sees nothing"),
    PLACE("chapter 6"),
    SAY("A mask may hide all keys of a query, here of query 2:"),
    OWN(show_gaps),
    EXAMPLE(gapped),
    RESULTS(0),
    ERRATUM("not said: where a row of the mask is all 0, every score is -inf, and the softmax divides 0 by 0: torch "
            "gives NaN for the whole row, in weights and context.  Here such a row has no weights, and its context is "
            "0; in the library attn_attention refuses it if it is asked to."),

    HEADING("Two sequences"),
    PLACE("chapter 6"),
    SAY("The queries may come from one sequence, keys and values from another of another length, and values may be "
        "narrower: q is torch.rand(3, 8), k torch.rand(5, 8), v torch.rand(5, 6) after torch.manual_seed(123).  3 "
        "queries over 5 keys:"),
    EXAMPLE(cross),
    GIVEN(0),
    RESULTS(0),
    ERRATUM("the text says that Q = K = V is self-attention.  The three are different projections of the same "
            "sequence, not equal.  Likewise for Q != K = V as cross-attention: K and V share their source, not their "
            "values."),

    HEADING("Decoder and encoder"),
    PLACE("chapter 4"),
    SAY("In a translator the decoder asks and the encoder is read: queries from 3 tokens of the decoder, keys and "
        "values from 5 of the encoder, by linear_k, linear_v and linear_q, nn.Linear(8, 4) in this order after "
        "torch.manual_seed(123); then decoder = torch.rand(3, 8) and encoder = torch.rand(5, 8)."),
    EXAMPLE(decoder),
    DIAGRAM(0, 2),
    TABLE("decoder", X),
    TABLE("encoder", Y),
    TABLE("query", QUERIES),
    TABLE("key", KEYS),
    TABLE("value", VALUES),
    RESULTS(0),
    SAY("The weight of the encoder's token 2 for the decoder's token 0:"),
    WEIGHT(0, 2),

    HEADING("Sparse, linear and block-wise kinds"),
    SAY("Plain attention computes a score for each pair of tokens.  Some kinds see less, some compute otherwise.  No "
        "article prints numbers for them; here they are on q, k and v of the first sentence above, all causal.  Plain "
        "causal attention first:"),
    EXAMPLE(first_of_batch),
    TABLE("weights", PATTERN),
    KEEP,
    OWN(kind, .text = "window:2", .about = "Sparse: each token sees itself and the one before it."),
    OWN(kind, .text = "strided:1,2", .about = "Sparse: itself, and every second token before it."),
    OWN(kind, .text = "random:1,1,123",
        .about = "Sparse: itself, and one earlier token, chosen at random by seed 123."),
    OWN(kind, .text = "linear",
        .about = "No softmax: with φ(x) = x + 1 for x > 0, else exp(x), the weight is φ(q)·φ(k) divided by the row's "
                 "sum.  Sums of φ(k)·v can be carried along, so twice as many tokens take twice the time, not four "
                 "times.  It is another function of q and k, not an approximation of softmax."),
    OWN(kind, .text = "block:2",
        .about = "The exact softmax, two keys at a time, with a running maximum and sum, so that no row of scores is "
                 "ever held whole."),
    SAY("What each of them changes in a model, and costs:"),
    COMMAND("attn-cli variants -m life -s \"Life is short, eat dessert first\""),
    END,
};

const struct attn_article attn_article_language = {
    "04", "language", "one function for batches, masks and cross-attention",
    "The article surveys attention and gives one function for it.  Two of its tables have numbers; the rest here is "
    "what its code computes with inputs and weights from seed 123.  Rows are queries, columns keys.", rows};
