/* article_heads.c - an article on multi-head attention whose code cuts one projection into heads.  That is the same as
 * a projection per head. */
#include "explain/article.h"

/* ---- examples --------------------------------------------------------------------------- */

/* Four nn.Linear(d, d) with bias, then the input. */
#define MODULE(...) {.seed = 123, .e = {__VA_ARGS__}, .draw = {DRAW(LINEAR, "qkvo"), DRAW(RAND, "x")}}

static const struct attn_setup wide = MODULE(.T = 4, .d = 8, .H = 1, .dk = 8, .dv = 8, .out = 8);
static const struct attn_setup cut = MODULE(.T = 4, .d = 8, .H = 2, .dk = 4, .dv = 4, .out = 8);
static const struct attn_setup by_whole_width =
    MODULE(.T = 4, .d = 8, .H = 2, .dk = 4, .dv = 4, .out = 8,
           .kind = {.scaling = ATTN_SCALE_VALUE, .scale = 0.35355339059327373 /* 1/√8 */});
static const struct attn_setup three = MODULE(.T = 5, .d = 12, .H = 3, .dk = 4, .dv = 4, .out = 12);

/* ---- heads by themselves ---------------------------------------------------------------- */

/* The rows of W_Q, W_K and W_V of one head, as a module of its own. */
static struct attn_example alone(const struct attn_example *e, size_t h)
{
    const size_t b = h * e->dk, w = b * e->d;
    return (struct attn_example){.T = e->T, .d = e->d, .H = 1, .dk = e->dk, .dv = e->dv, .x = e->x,
                                 .q = {e->q.w + w, e->q.b + b, true}, .k = {e->k.w + w, e->k.b + b, true},
                                 .v = {e->v.w + w, e->v.b + b, true}};
}

/* Whether the head's queries are its columns of the wide product. */
static bool is_cut_from(const struct attn_example *one, const struct attn_example *all, size_t h)
{
    for (size_t t = 0; t < one->T; t++)
        if (!attn_lesson_equal(one->queries + t * one->dk, all->queries + t * all->dk + h * one->dk, one->dk))
            return false;
    return true;
}

static int stacked(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    struct attn_example all;
    const struct attn_example *e = &r->example;
    const struct attn_called tokens = {.row = tr(&r->e, "token %zu")};
    bool same = true;
    (void)row;
    attn_example_draw(r, &all, &wide);
    if (attn_example_run(r, &all, err))
        return err->code;
    for (size_t h = 0; h < e->H; h++) {
        struct attn_example one = alone(e, h);
        if (attn_example_run(r, &one, err))
            return err->code;
        attn_derive_words(&r->e.d, "Head %zu alone:", h);
        attn_lesson_matrix(r, "query", one.queries, one.T, one.dk, &tokens, false);
        attn_lesson_matrix(r, "context", one.context, one.T, one.dv, &tokens, false);
        same = same && is_cut_from(&one, &all, h) &&
               attn_lesson_equal(one.context, e->context + h * one.T * one.dv, one.T * one.dv);
    }
    attn_derive_words(&r->e.d, same ? "Queries and context vectors are columns of the wide tables above, to the bit.  "
                                      "The wide product is one in place of two, which is why it is programmed that way."
                                    : "Queries or context vectors differ from the columns of the wide tables above.");
    return ATTN_OK;
}

/* ---- the article ------------------------------------------------------------------------ */

static const struct attn_row rows[] = {
    HEADING("One projection, cut into heads"),
    PLACE("section 2.2"),
    SAY("The module has four linear maps with bias, W_Q, W_K, W_V and W_O, here nn.Linear(8, 8) after "
        "torch.manual_seed(123), and reads 4 tokens of 8 numbers, torch.rand(1, 4, 8):"),
    EXAMPLE(wide),
    TABLE("input", X),
    FORMULA(projections),
    SAY("One product gives the queries of all heads, Q = x·W_Q^T + b, 8 numbers for each token:"),
    TABLE("query", QUERIES),
    SAY("It is then cut: columns 0 to 3 are the queries of head 0, columns 4 to 7 those of head 1.  Keys and values "
        "are made and cut in the same way."),

    HEADING("Each head attends"),
    PLACE("section 2.2"),
    SAY("Each head computes attention with its own 4 columns, so its scale is 1/√4."),
    FORMULA(attention),
    EXAMPLE(cut),
    DIAGRAM(0, 3),
    SAY("Weights of head 0; each row sums to 1:"),
    TABLE("weights", PATTERN, .at = 0),
    SAY("Weights of head 1; each row sums to 1:"),
    TABLE("weights", PATTERN, .at = 1),
    SAY("The weight of token 3 for token 0 in head 0, from the projections above:"),
    WEIGHT(0, 3),
    ERRATUM("the text cuts Q, K and V into h heads of size d_k / h, but scales by √d_k, which read literally is the "
            "root of the full width, √8.  The code calls the size of one head d_k and divides by its root, √4, as is "
            "usual and as is done here.  Read literally, the first row of weights of head 0 would be:"),
    EXAMPLE(by_whole_width),
    TABLE("by √8", PATTERN, .rows = 1),

    HEADING("Side by side, and the output"),
    PLACE("section 2.2"),
    SAY("The context vectors of the heads are put side by side again, head 0 in columns 0 to 3, head 1 in 4 to 7:"),
    EXAMPLE(cut),
    TABLE("contexts", JOINED),
    SAY("The output map mixes them: output = context·W_O^T + b."),
    FORMULA(heads),
    TABLE("output", OUTPUT),
    SAY("Note: in our copy the code has lost its line breaks; no numbers are printed."),

    HEADING("The same as stacked heads"),
    SAY("Cutting one wide projection is the same as stacking small attentions: one module for each head, with its 4 "
        "rows of W_Q, W_K and W_V, each computed by itself:"),
    EXAMPLE(cut),
    OWN(stacked),

    HEADING("Three heads"),
    SAY("The same module with width 12 and 3 heads of 4, on 5 tokens: nn.Linear(12, 12) four times after "
        "torch.manual_seed(123), then torch.rand(1, 5, 12)."),
    EXAMPLE(three),
    TABLE("input", X),
    SAY("Weights of head 0:"),
    TABLE("weights", PATTERN, .at = 0),
    SAY("Weights of head 1:"),
    TABLE("weights", PATTERN, .at = 1),
    SAY("Weights of head 2:"),
    TABLE("weights", PATTERN, .at = 2),
    SAY("The contexts side by side, then the output:"),
    TABLE("contexts", JOINED),
    TABLE("output", OUTPUT),
    END,
};

const struct attn_article attn_article_heads = {
    "01", "heads", "multi-head attention with biases and an output map",
    "The article gives a class MultiHeadAttention and prints no numbers.  Those here are what it computes with weights "
    "and inputs from seed 123, without dropout.  Rows are tokens.", rows};
