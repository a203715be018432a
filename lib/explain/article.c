/* article.c - the article on self-attention that the built-in model `life` comes from, step by step.
 *
 * Each number that the article prints is compared, digit by digit, with one computed here, and the text reports the
 * result.  Where the article errs, the step says so. */
#include "explain/explain.h"
#include "attn_tools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { PRINTED_DIGITS = 4, T = 6, DH = 2, DV = 4, IS = 1, DESSERT = 4 };
static const char sentence[] = "Life is short, eat dessert first";

/* All rows of attention, computed from the run's queries, keys and values. */
struct attended { float dots[T * T], scores[T * T], pattern[T * T], context[T * DV]; };

struct life {
    struct attn_explainer e;
    struct attn_worked w;
    struct attended full, causal, renormalised;
};

/* ---- comparing with the article's numbers ---------------------------------------------- */

/* Writes numbers such as "0.0386, -inf". */
static void join(char buf[T * DV * 16], const float *x, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (i) {
            memcpy(buf + used, ", ", 2);
            used += 2;
        }
        char one[ATTN_NUM_FIXED_MAX];
        size_t len = attn_num_fixed(one, (double)x[i], PRINTED_DIGITS);
        memcpy(buf + used, one, len < 14 ? len : 14);
        used += len < 14 ? len : 14;
    }
    buf[used] = '\0';
}

static void compare(struct life *l, const char *what, const float *x, size_t n, const char *printed)
{
    char here[T * DV * 16];
    join(here, x, n);
    if (strcmp(here, printed) == 0)
        attn_derive_words(&l->e.d, "Printed: %s: %s.  The numbers here are the same.", what, printed);
    else
        attn_derive_words(&l->e.d, "Printed: %s: %s.  The numbers here differ: %s.", what, printed, here);
}

/* Writes a table with one row for each token; its columns are keys, or numbered. */
static void matrix(struct life *l, const float *x, size_t cols, bool keys)
{
    attn_derive_table(&l->e.d, cols + 1);
    attn_derive_blanks(&l->e.d, 1);
    for (size_t j = 0; j < cols; j++)
        if (keys)
            attn_explain_token_cell(&l->e, &l->w.tokens->tok[j]);
        else
            attn_derive_cell(&l->e.d, "%zu", j);
    for (size_t t = 0; t < T; t++) {
        attn_explain_token_cell(&l->e, &l->w.tokens->tok[t]);
        for (size_t j = 0; j < cols; j++)
            attn_derive_number(&l->e.d, (double)x[t * cols + j], l->e.precision);
    }
}

/* ---- the steps ------------------------------------------------------------------------- */

static void introduce(struct life *l)
{
    struct attn_derivation *d = &l->e.d;
    attn_derive_title(d, "\"%s\": an article on self-attention, step by step", sentence);
    attn_derive_words(d, "The article computes attention for this sentence, first without a mask, then with a "
                      "causal one.  Here are its steps with the numbers of a run of the model life, which has the "
                      "article's weights; each number the article prints is compared with them, digit by digit.  The "
                      "token the article calls 2 (x_2, q_2), counting from 1, is \"is\"; here it is token 1, as all "
                      "indices are counted from 0.");
}

static void embeddings(struct life *l)
{
    struct attn_derivation *d = &l->e.d;
    const float *x = attn_worked_row(&l->w, ATTN_ACT_EMBED, 0);
    attn_explain_tokens(&l->e);
    attn_derive_words(d, "The vocabulary consists of the words of the sentence, without the comma, sorted.");
    attn_derive_step(d, "The embeddings");
    attn_derive_words(d, "Each token gets its row of a table of random numbers.  There are no position embeddings and no norm: "
                      "attention reads these rows as they are.");
    matrix(l, x, 3, false);
    compare(l, "embedded_sentence", x, T * 3UL, "0.3374, -0.1778, -0.3035, 0.1794, 1.8951, 0.4954, 0.2692, -0.0770, "
         "-1.0205, -0.2196, -0.3792, 0.7671, -0.5880, 0.3486, 0.6603, -1.1925, 0.6984, -1.4097");
    attn_derive_words(d, "Erratum: the listing says vocab_size = 6, but these are the first rows of a table of "
                      "50000 (torch.manual_seed(123); Embedding(50000, 3)).  A table of 6 rows drawn from the same "
                      "seed agrees in the first two numbers only.");
}

static int dots(struct life *l, struct attn_err *err)
{
    struct attn_derivation *d = &l->e.d;
    if (attn_explain_vector(&l->e, ATTN_ACT_Q, err) || attn_explain_vector(&l->e, ATTN_ACT_K, err))
        return err->code;
    attn_explain_dot(&l->e);
    const float *row = attn_worked_row(&l->w, ATTN_ACT_DOTS, IS);
    compare(l, "omega_24", row + DESSERT, 1, "1.2903");
    attn_derive_words(d, "Erratum: the name omega_24 mixes conventions: the 2 counts from 1, the 4 from 0.  It is query 1, "
                      "\"is\", and key 4, \"dessert\".");
    compare(l, "omega_2, the dot products of \"is\" with all keys", row, T, "-0.6004, 3.4707, -1.5023, 0.4991, "
         "1.2903, -1.3374");
    return ATTN_OK;
}

static void unmasked(struct life *l)
{
    struct attn_derivation *d = &l->e.d;
    attn_explain_scale(&l->e);
    attn_derive_words(d, "Erratum: the formula given divides by √d + ε.  The printed numbers come from √d_k = √2, "
                      "without an ε; √3 would give other weights (0.5959 where 0.6870 is printed).");
    attn_explain_mask(&l->e);
    attn_derive_words(d, "The model life has a causal mask; the article has none yet.  So from here on the numbers "
                      "are those of attention without a mask over the run's own queries, keys and values: what "
                      "attn-cli run -m models/life-full prints.");
    attn_explain_softmax(&l->e);
    compare(l, "attention_weights_2", l->full.pattern + (size_t)IS * T, T, "0.0386, 0.6870, 0.0204, 0.0840, 0.1470, "
         "0.0229");
    attn_explain_context(&l->e);
    compare(l, "context_vector_2", l->full.context + (size_t)IS * DV, DV, "0.5313, 1.3607, 0.7891, 1.3110");
    attn_derive_step(d, "All context vectors without a mask");
    attn_derive_words(d, "The article's class SelfAttention computes the same for all tokens at once.");
    matrix(l, l->full.context, DV, false);
    compare(l, "its output, first row", l->full.context, DV, "-0.1564, 0.1028, -0.0763, -0.0764");
    compare(l, "its output, second row", l->full.context + DV, DV, "0.5313, 1.3607, 0.7891, 1.3110");
}

static void heads(struct life *l)
{
    attn_derive_step(&l->e.d, "Several heads");
    attn_derive_words(&l->e.d, "The article goes on with four heads, each with weights of its own and values of one "
                      "number, and prints -0.0185, 0.0170, 0.1999, -0.0860 as the first row.  That is another model, not compared "
                      "with this run: attn-cli run -m models/life-4-heads -s \"%s\" prints those numbers.", sentence);
}

static void masked_rows(struct life *l)
{
    float weights[T] = {l->full.pattern[0]}, masked[T];
    for (size_t j = 0; j < T; j++)
        masked[j] = j ? -INFINITY : l->causal.dots[j];
    compare(l, "attn_scores (the dot products), first row", l->causal.dots, T, "0.0613, -0.3491, 0.1443, -0.0437, "
         "-0.1303, 0.1076");
    compare(l, "unmasked attn_weights, first row", l->full.pattern, T, "0.1772, 0.1326, 0.1879, 0.1645, 0.1547, 0.1831");
    attn_derive_words(&l->e.d, "The first way: the weights of hidden keys are set to 0 after the softmax, then "
                      "each row is divided by what is left of its sum.");
    compare(l, "masked_simple, first row", weights, T, "0.1772, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000");
    compare(l, "masked_simple_norm, first row", l->renormalised.pattern, T, "1.0000, 0.0000, 0.0000, 0.0000, 0.0000, "
         "0.0000");
    attn_derive_words(&l->e.d, "The second way, which the model life uses: hidden keys get the score -inf before "
                      "the softmax.");
    compare(l, "masked (the dot products, not scaled yet), first row", masked, T, "0.0613, -inf, -inf, -inf, -inf, "
         "-inf");
    compare(l, "attn_weights from the -inf mask, first row", l->causal.pattern, T, "1.0000, 0.0000, 0.0000, 0.0000, "
         "0.0000, 0.0000");
}

static void causal(struct life *l)
{
    struct attn_derivation *d = &l->e.d;
    attn_derive_step(d, "The causal mask");
    attn_derive_words(d, "A token may look at itself and the tokens before it.  The article does this in two ways and prints the "
                      "first rows.");
    masked_rows(l);
    attn_derive_words(d, "Erratum: the article says that e^(-inf) is close to 0.  It is exactly 0, and both ways give the same "
                      "weights except for rounding.");
    attn_derive_words(d, "All weights, computed the second way (blocks.0.attn.pattern of attn-cli run -m life):");
    matrix(l, l->causal.pattern, T, true);
    attn_derive_words(d, "And the context vectors they give (blocks.0.attn.context).  The article prints "
                      "none of these.");
    matrix(l, l->causal.context, DV, false);
    attn_derive_step(d, "Other errata");
    attn_derive_words(d, "In the list of training prefixes, \"desert\" should be \"dessert\".  The conclusion says that "
                      "cross-attention was implemented; the text stops before that.  Listings are cut to their first line and "
                      "tables to their first row, so only the digits above can be compared.");
}

/* ---- making it ------------------------------------------------------------------------- */

static int attend(struct attended *to, const struct attn_worked *w, enum attn_form form, struct attn_err *err)
{
    struct attn_attention a = {
        .batch = 1, .H = 1, .Hkv = 1, .Tq = T, .Tk = T, .dh = DH, .dv = DV, .scale = w->model->w.block[0].scale,
        .kind = {.form = form}, .dots = to->dots, .scores = to->scores, .pattern = to->pattern, .threads = 1};
    return attn_attention(to->context, w->seen[ATTN_ACT_Q].x, w->seen[ATTN_ACT_K].x, w->seen[ATTN_ACT_V].x, &a, err);
}

/* Turns the cell, from the scores on, into one of attention without a mask. */
static void lift_mask(struct life *l)
{
    l->w.kind.form = ATTN_FULL;
    memcpy(l->w.seen[ATTN_ACT_SCORES].x, l->full.scores + (size_t)IS * T, T * sizeof(float));
    memcpy(l->w.seen[ATTN_ACT_PATTERN].x, l->full.pattern + (size_t)IS * T, T * sizeof(float));
    memcpy(l->w.seen[ATTN_ACT_CONTEXT].x, l->full.context + (size_t)IS * DV, DV * sizeof(float));
}

static int compute(struct life *l, const struct attn_model *m, const struct attn_tokens *tokens, int threads, struct attn_err *err)
{
    struct attn_explain_opts cell = {.query = IS, .key = DESSERT, .threads = threads};
    if (attn_worked_run(&l->w, m, tokens, &cell, err) || attend(&l->full, &l->w, ATTN_FULL, err) ||
        attend(&l->causal, &l->w, ATTN_CAUSAL, err) || attend(&l->renormalised, &l->w, ATTN_CAUSAL_RENORM, err))
        return err->code;
    lift_mask(l);
    return ATTN_OK;
}

static int derive(struct life *l, struct attn_err *err)
{
    introduce(l);
    embeddings(l);
    if (dots(l, err))
        return err->code;
    unmasked(l);
    heads(l);
    causal(l);
    return ATTN_OK;
}

static int open_life(struct attn_model **m, struct attn_tokens **tokens, struct attn_err *err)
{
    struct attn_tokenizer *tokenizer = NULL;
    int rc = attn_model_open(m, "life", err);
    if (!rc)
        rc = attn_tokenizer_open(&tokenizer, "life", err);
    if (!rc)
        rc = attn_encode(tokens, tokenizer, sentence, strlen(sentence), err);
    attn_tokenizer_close(tokenizer);
    return rc;
}

int attn_explain_article(const char *article, const struct attn_explain_opts *o, struct attn_err *err)
{
    struct attn_model *m = NULL;
    struct attn_tokens *tokens = NULL;
    struct attn_err local = {0};
    err = err ? err : &local;
    if (strcmp(article, "life") != 0)
        return attn_fail(err, ATTN_EUSAGE, "unknown article '%s': there is life", article);
    if (attn_explain_check(o, err))
        return err->code;
    struct life *l = calloc(1, sizeof *l);
    if (!l)
        return attn_no_memory(err, NULL, "for an article");
    l->e = (struct attn_explainer){.w = &l->w, .precision = o->precision, .all = o->all};
    int rc = open_life(&m, &tokens, err);
    if (!rc)
        rc = compute(l, m, tokens, o->threads, err);
    if (!rc)
        rc = derive(l, err);
    if (!rc)
        rc = attn_explain_write(&l->e, o, err);
    attn_derivation_free(&l->e.d);
    attn_worked_free(&l->w);
    free(l);
    attn_tokens_free(tokens);
    attn_model_close(m);
    return rc;
}
