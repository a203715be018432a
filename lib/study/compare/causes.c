/* causes.c - mistakes people make when they port a model, and how they are described.
 *
 * Each row of the table is one mistake and the activations in which it shows first.  The first row that explains the
 * numbers is the cause.  What rows look for in attention, in the residual stream, in positions and in products with the
 * weights is in files of their own, clue_*.c. */
#include "compare/diff.h"
#include "attn_tools.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask/editor.h"
#include "base/err.h"
#include "base/format.h"
#include "model/model.h"

#define BIT(act) (1u << (act))
enum {
    QK = BIT(ATTN_ACT_Q) | BIT(ATTN_ACT_K), QKV = QK | BIT(ATTN_ACT_V),
    SQUARE = BIT(ATTN_ACT_SCORES) | BIT(ATTN_ACT_PATTERN), HEADS = QKV | SQUARE | BIT(ATTN_ACT_DOTS),
    NORMS = BIT(ATTN_ACT_NORM1) | BIT(ATTN_ACT_NORM2) | BIT(ATTN_ACT_NORM_FINAL),
    PRODUCTS = QKV | BIT(ATTN_ACT_OUT) | BIT(ATTN_ACT_MLP_PRE) | BIT(ATTN_ACT_MLP_LINEAR) | BIT(ATTN_ACT_MLP_OUT),
    STREAM = BIT(ATTN_ACT_RESID_PRE) | BIT(ATTN_ACT_RESID_MID) | BIT(ATTN_ACT_RESID_POST),
    NORMED = NORMS | BIT(ATTN_ACT_ADDED) | BIT(ATTN_ACT_MLP_ADDED),
    MLP_READS = BIT(ATTN_ACT_MLP_PRE) | BIT(ATTN_ACT_MLP_LINEAR),
    ANY = BIT(ATTN_ACTS) - 1
};

/* ---- causes that show before any number is compared: other tokens, other shapes -------- */

/* By their ids, or where a side has only texts by these.  Where one has ids and the other texts nothing is known. */
static bool same_token(const struct attn_dump_token *x, const struct attn_dump_token *y)
{
    if (x->id >= 0 && y->id >= 0)
        return x->id == y->id;
    return !x->text || !y->text || (x->len == y->len && !memcmp(x->text, y->text, x->len));
}

struct called { char text[64]; };

static struct called called(const struct attn_dump_token *t)
{
    struct called c;
    if (t->id >= 0)
        snprintf(c.text, sizeof c.text, "id %" PRId32, t->id);
    else
        snprintf(c.text, sizeof c.text, "text '%.*s'", attn_shown(t->text, t->len), t->text);
    return c;
}

static bool one_more(struct clue *c, const struct attn_dump *more, const struct attn_dump *fewer, bool a)
{
    size_t n = fewer->tokens.n, i = 0;
    if (!n || more->tokens.n != n + 1)
        return false;
    while (i < n && same_token(&more->tokens.item[i + 1], &fewer->tokens.item[i]))
        i++;
    return i == n && attn_clue_tell(c, a, "@ has one more token in front: %s; a beginning-of-sequence token (BOS) was "
                                          "added on one side only", called(&more->tokens.item[0]).text);
}

static bool extra_bos(struct clue *c)
{
    return one_more(c, c->d->a, c->d->b, true) || one_more(c, c->d->b, c->d->a, false);
}

/* Without lists of tokens: looks whether the rows of a [T,n] array are shifted by one. */
static bool extra_bos_row(struct clue *c)
{
    const size_t *a = c->row->shape[0], *b = c->row->shape[1];
    const struct attn_dumped *x = attn_diff_side(c->d, c->row, 0), *y = attn_diff_side(c->d, c->row, 1);
    if (c->p.H || !x || !y || c->row->ndim[0] != 2 || c->row->ndim[1] != 2 || a[1] != b[1])
        return false;
    bool more_a = y->of.n && a[0] == b[0] + 1 && !attn_gap(x->of.data + a[1], y->of.data, y->of.n);
    bool more_b = x->of.n && b[0] == a[0] + 1 && !attn_gap(x->of.data, y->of.data + a[1], x->of.n);
    return (more_a || more_b) && attn_clue_tell(c, more_a, "@ has one more row in front and is otherwise the same: a "
                                                "beginning-of-sequence token (BOS) was added on one side only");
}

/* The labels of a table's rows are tokens, too. */
static const struct attn_dump_list *tokens_of(const struct attn_dump *d)
{
    return d->tokens.n ? &d->tokens : &d->rows;
}

static bool other_tokens(struct clue *c)
{
    const struct attn_dump_list *a = tokens_of(c->d->a), *b = tokens_of(c->d->b);
    size_t n = a->n < b->n ? a->n : b->n, i = 0;
    while (i < n && same_token(&a->item[i], &b->item[i]))
        i++;
    if (!n || (i == n && a->n == b->n))
        return false;
    if (i == n)
        return attn_clue_say(c, "A has %zu tokens, B %zu: the shorter list is the beginning of the longer", a->n, b->n);
    const struct attn_dump_token *x = &a->item[i], *y = &b->item[i];
    if (x->id < 0 || y->id < 0)
        return attn_clue_say(c, "the sides ran on different tokens: token %zu is '%.*s' in A and '%.*s' in B", i,
                             attn_shown(x->text, x->len), x->text, attn_shown(y->text, y->len), y->text);
    return attn_clue_say(c, "the sides ran on different tokens: token %zu has id %" PRId32 " in A and %" PRId32 " in B",
                         i, x->id, y->id);
}

static int descending(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

static bool other_axes(struct clue *c)
{
    size_t a[8], b[8];
    if (c->p.H || c->row->ndim[0] != c->row->ndim[1])
        return false;
    memcpy(a, c->row->shape[0], sizeof a);
    memcpy(b, c->row->shape[1], sizeof b);
    qsort(a, 8, sizeof *a, descending);
    qsort(b, 8, sizeof *b, descending);
    return !memcmp(a, b, sizeof a) && memcmp(c->row->shape[0], c->row->shape[1], sizeof a) != 0 &&
           attn_clue_say(c, "the same axes in another order: one side is transposed");
}

/* Whether the shapes are the same except for the number of tokens. */
static bool other_length(struct clue *c)
{
    const size_t *a = c->row->shape[0], *b = c->row->shape[1];
    int ndim = c->row->ndim[0], token = ndim - 2;
    if (c->p.H || ndim != c->row->ndim[1] || ndim < 2 || a[token] == b[token])
        return false;
    bool square = ndim == 3 && a[2] == a[1] && b[2] == b[1];
    if ((ndim == 3 && a[0] != b[0]) || (a[ndim - 1] != b[ndim - 1] && !square))
        return false;
    return attn_clue_say(c, "A has %zu tokens, B has %zu", a[token], b[token]);
}

/* ---- values that are suspicious by themselves ------------------------------------------ */

static bool not_numbers(struct clue *c)
{
    struct attn_nans f = attn_count_nans(&c->p);
    char head[32] = "";
    if (c->p.H > 1)
        snprintf(head, sizeof head, "head %zu, ", f.h);
    return f.n && attn_clue_tell(c, f.of_a, "@ has NaN where # has none, %zu time%s, first at %stoken %zu, column %zu",
                                 f.n, f.n == 1 ? "" : "s", head, f.t, f.j);
}

static bool stored(struct clue *c)
{
    struct attn_stored f = attn_seems_stored(&c->p);
    return f.type && attn_clue_tell(c, f.a_is, "@ is # rounded to %s: it was stored that way (--rtol %g ignores this)",
                                    f.type, f.rtol);
}

/* The numbers lie in the same order under shapes that put them in different ones. */
static bool reshaped(struct clue *c)
{
    struct attn_pair raw;
    return attn_diff_unmoved(c->d, c->act, c->layer, &raw) &&
           attn_gap_explained(attn_pair_gap(&raw), attn_pair_gap(&c->p)) &&
           attn_clue_say(c, "A has the numbers in the same order as B under another shape: it was reshaped where heads "
                         "and tokens should have been swapped (transposed)");
}

/* ---- edits of one side -------------------------------------------------------------------- */

static bool edited(struct clue *c)
{
    const struct attn_editor *e = c->d->o.editor_a;
    return e && attn_editor_reaches(e, c->act, c->layer) &&
           attn_clue_say(c, "the edits of A, which change %s", c->row->name);
}

/* A number that is larger for what is computed later. */
static size_t when(int act, int layer, size_t L)
{
    size_t block = layer >= 0 ? (size_t)layer + 1 : act <= ATTN_ACT_POS_EMBED ? 0 : L + 1;
    return block * ATTN_ACTS + (size_t)act;
}

/* Edits of what comes before the first difference, and is not compared. */
static bool edited_before(struct clue *c)
{
    const struct attn_editor *e = c->d->o.editor_a;
    struct attn_pair p;
    for (int act = 0; e && act < ATTN_ACT_DERIVED; act++)
        for (int layer = -1; layer < (int)e->venue.info.L; layer++)
            if (attn_editor_reaches(e, act, layer) && !attn_diff_pair(c->d, act, layer, &p) &&
                when(act, layer, e->venue.info.L) < when(c->act, c->layer, e->venue.info.L))
                return attn_clue_say(c, "the edits of A, which come before %s", c->row->name);
    return false;
}

/* ---- any numbers ----------------------------------------------------------------------- */

static bool late(struct clue *c)
{
    const struct attn_pair *p = &c->p;
    size_t by = 0;
    bool a = attn_seems_late(p->a, p->T, p->b, p->T, p->n), b = attn_seems_late(p->b, p->T, p->a, p->T, p->n);
    if (a || b)
        by = 1;
    else if (!(a = attn_seems_later(p, p->a, p->b, &by)))
        b = attn_seems_later(p, p->b, p->a, &by);
    return (a || b) && attn_clue_tell(c, a, "row t of @ is row t + %zu of #: positions start at different numbers", by);
}

static bool say_factor(struct clue *c, const char *what, double factor)
{
    char name[64];
    return attn_clue_undivided(c, factor) ||
           attn_clue_say(c, "%s times %.6g%s", what, factor, attn_clue_factor(c, factor, name));
}

static bool scaled(struct clue *c)
{
    double factor;
    return attn_seems_scaled(&c->p, &factor) && say_factor(c, "A is B", factor);
}

/* Writes "head 0 of A is head 1 of B, 1 is 0", as many as fit. */
static void list_heads(char *out, size_t size, const size_t *map, size_t H)
{
    size_t n = 0, listed = 0;
    for (size_t h = 0; h < H && n < size - 24; h++)
        if (map[h] != h)
            n += (size_t)snprintf(out + n, size - n, listed++ ? ", %zu is %zu" :
                                  "head %zu of A is head %zu of B", h, map[h]);
    if (n >= size - 24)
        snprintf(out + n, size - n, ", ...");
}

static bool reordered(struct clue *c)
{
    char text[160];
    struct attn_pair p = c->p;
    if (c->act == ATTN_ACT_CONTEXT)
        attn_clue_heads_apart(c, &p);
    size_t *map = p.H > 1 ? malloc(p.H * sizeof *map) : NULL;
    bool found = map && attn_seems_reordered(&p, map);
    if (found)
        list_heads(text, sizeof text, map, p.H);
    free(map);
    return found && attn_clue_say(c, "the same heads in another order: %s", text);
}

static bool shuffled(struct clue *c)
{
    return attn_seems_shuffled(&c->p) &&
           attn_clue_say(c, "each row holds the same numbers in another order: columns are permuted");
}

static bool offset(struct clue *c)
{
    bool rotated = (BIT(c->act) & QK) && c->p.n > 1 && attn_seems_rotated_offset(&c->p, attn_clue_theta(c));
    return (rotated || attn_seems_offset(&c->p)) &&
           attn_clue_say(c, "A - B is the same in every row%s: a bias is missing or different on one side",
                         rotated ? " before rotation" : "");
}

/* ---- queries, keys, values ------------------------------------------------------------- */

/* Collects row 0 of all heads of q, k and v of one side: rotation does not change position 0. */
static bool stack(const struct clue *c, float *out, bool a, size_t H, size_t dh)
{
    static const int parts[] = {ATTN_ACT_Q, ATTN_ACT_K, ATTN_ACT_V};
    for (size_t i = 0; i < 3; i++) {
        struct attn_pair p;
        if (!attn_clue_other(c, parts[i], &p) || p.H != H || p.n != dh)
            return false;
        for (size_t h = 0; h < H; h++)
            memcpy(out + (i * H + h) * dh, (a ? p.a : p.b) + h * p.ld_head, dh * sizeof *out);
    }
    return true;
}

static bool restacked(struct clue *c)
{
    static const char *const text[] = {
        [ATTN_STACK_OTHER] = "heads of q, k and v are mixed up: together they are the same heads",
        [ATTN_STACK_A_INTERLEAVED] = "the fused qkv matrix: A reads it interleaved (q, k, v head by head), B as three "
                                     "blocks",
        [ATTN_STACK_B_INTERLEAVED] = "the fused qkv matrix: B reads it interleaved (q, k, v head by head), A as three "
                                     "blocks",
        [ATTN_STACK_NUMBERS] =
            "q, k and v together hold the same numbers in another order: the fused qkv matrix is split differently"};
    enum attn_restacking found_as;
    size_t H = c->p.H, dh = c->p.n, n = 3 * H * dh;
    float *a = malloc(2 * n * sizeof *a + 1);
    bool found = a && H <= ATTN_HEADS_TRIED && stack(c, a, true, H, dh) && stack(c, a + n, false, H, dh) &&
                 attn_seems_restacked(a, a + n, H, dh, &found_as);
    free(a);
    return found && attn_clue_say(c, "%s", text[found_as]);
}

/* ---- attention ------------------------------------------------------------------------- */

static bool mask(struct clue *c)
{
    struct attn_mask_found f = attn_seems_masked(&c->p, c->act == ATTN_ACT_PATTERN);
    switch (f.kind) {
    case ATTN_MASK_SAME:
        return false;
    case ATTN_MASK_NUMBER:
        return attn_clue_tell(c, f.a_hides, "@ hides keys with %g instead of -inf, and in some rows all keys",
                              (double)f.number);
    case ATTN_MASK_FUTURE:
        return attn_clue_tell(c, f.a_hides, "the mask: @ is causal, # sees later keys too");
    case ATTN_MASK_PAST:
        return attn_clue_tell(c, f.a_hides, "the mask: @ does not see keys %zu or more tokens back (a window), # does",
                              f.window);
    case ATTN_MASK_OTHER:
        break;
    }
    return attn_clue_say(c, "the masks hide other keys: A hides %zu that B shows, B %zu that A shows, first key %zu "
                         "from query %zu", f.hidden[0], f.hidden[1], f.k, f.q);
}

static bool tempered(struct clue *c)
{
    double factor;
    return attn_seems_tempered(&c->p, &factor) &&
           say_factor(c, "the scale: A's pattern is the softmax of B's scores", factor);
}

static bool flipped(struct clue *c)
{
    return attn_seems_flipped(&c->p) && attn_clue_say(c, "queries and keys are swapped: one side is transposed");
}

static bool merged(struct clue *c)
{
    bool a;
    struct attn_pair p;
    return attn_clue_heads_apart(c, &p) && attn_seems_merged_wrong(&p, &a) &&
           attn_clue_tell(c, a, "@ interleaves heads number by number, # has them side by side: axes were not swapped "
                          "before reshaping");
}

/* ---- the mlp --------------------------------------------------------------------------- */

static const char *bend_name(enum attn_bend kind)
{
    static const char *const names[] = {
        [ATTN_BEND_GELU] = "the erf form of GELU (gelu)", [ATTN_BEND_GELU_NEW] = "the tanh form of GELU (gelu_new)",
        [ATTN_BEND_QUICK] = "x sigmoid(1.702 x) (quick_gelu)", [ATTN_BEND_SILU] = "SiLU", [ATTN_BEND_RELU] = "ReLU",
        [ATTN_BENDS] = "another function"};
    return names[kind];
}

/* How each side makes the activation of two products, of which the second may be missing. */
static bool bends(const struct clue *c, int bent, int times, enum attn_bend of[2])
{
    struct attn_pair x, y;
    bool two = attn_clue_alike(c, times, &y);
    if (!attn_clue_alike(c, bent, &x))
        return false;
    of[0] = attn_fit_bend(c->p.a, x.a, two ? y.a : NULL, x.T * x.n);
    of[1] = attn_fit_bend(c->p.b, x.b, two ? y.b : NULL, x.T * x.n);
    return true;
}

static bool gelu(struct clue *c)
{
    enum attn_bend of[2];
    return bends(c, ATTN_ACT_MLP_PRE, ATTN_ACT_MLP_LINEAR, of) && of[0] != of[1] &&
           attn_clue_say(c, "the activation function: A uses %s, B %s", bend_name(of[0]), bend_name(of[1]));
}

/* Whichever function the gate has. */
static bool gate(struct clue *c)
{
    struct attn_pair pre;
    enum attn_bend of[2];
    return attn_clue_alike(c, ATTN_ACT_MLP_PRE, &pre) && bends(c, ATTN_ACT_MLP_LINEAR, ATTN_ACT_MLP_PRE, of) &&
           (of[0] == ATTN_BENDS) != (of[1] == ATTN_BENDS) &&
           attn_clue_tell(c, of[0] != ATTN_BENDS, "@ activates the wrong half: gate and up are swapped");
}

/* ---- the last resorts ------------------------------------------------------------------ */

static bool product(struct clue *c)
{
    struct attn_pair x;
    return attn_clue_input(c, &x) &&
           attn_clue_say(c, "its input agrees but the product differs: the weight is transposed, permuted or another "
                            "one%s%s",
                         BIT(c->act) & QK ? ", or rotation or a norm differs" : "",
                         c->model ? "" : " (-m MODEL tries that model's weights)");
}

static const struct mistake { const char *kind; unsigned acts; bool (*looks)(struct clue *c); }
    of_shapes[] = {
    {"bos", ANY, extra_bos},
    {"bos", ANY, extra_bos_row},
    {"tokens", ANY, other_tokens},
    {"axes", ANY, other_axes},
    {"tokens", ANY, other_length},
}, of_numbers[] = {
    {"edits", ANY, edited},
    {"nan", ANY, not_numbers},
    {"precision", ANY, stored},
    {"heads", ANY, reshaped},
    {"dropout", ANY, attn_clue_dropout},
    {"position", BIT(ATTN_ACT_POS_EMBED), late},
    {"position", BIT(ATTN_ACT_POS_EMBED), attn_clue_ahead},
    {"scale", BIT(ATTN_ACT_PATTERN), tempered},
    {"axis", BIT(ATTN_ACT_PATTERN), attn_clue_axis},
    {"mask", BIT(ATTN_ACT_PATTERN), attn_clue_hidden_late},
    {"padding", BIT(ATTN_ACT_PATTERN), attn_clue_padding},
    {"axis", SQUARE | BIT(ATTN_ACT_DOTS), flipped},
    {"mask", SQUARE, attn_clue_blind},
    {"mask", BIT(ATTN_ACT_SCORES), attn_clue_zero_mask},
    {"mask", SQUARE, mask},
    {"tokens", BIT(ATTN_ACT_EMBED), attn_clue_other_rows},
    {"norm", BIT(ATTN_ACT_EMBED), attn_clue_embed_norm},
    {"norm", NORMED, attn_clue_norm_left_out},
    {"norm", NORMED, attn_clue_norm_sum},
    {"epsilon", NORMED, attn_clue_epsilon},
    {"norm", NORMED, attn_clue_norm_kind},
    {"norm", NORMED | QK | BIT(ATTN_ACT_RESID_MID) | BIT(ATTN_ACT_RESID_POST), attn_clue_norm_slip},
    {"scale", ANY, scaled},
    {"cap", BIT(ATTN_ACT_SCORES), attn_clue_scores_capped},
    {"scale", BIT(ATTN_ACT_SCORES), attn_clue_score_scale},
    {"alibi", BIT(ATTN_ACT_SCORES), attn_clue_alibi},
    {"heads", HEADS | BIT(ATTN_ACT_CONTEXT), reordered},
    {"heads", BIT(ATTN_ACT_DOTS) | BIT(ATTN_ACT_CONTEXT), attn_clue_grouped},
    {"heads", QKV | BIT(ATTN_ACT_CONTEXT), attn_clue_unswapped},
    {"heads", BIT(ATTN_ACT_CONTEXT), merged},
    {"heads", QKV, attn_clue_by_number},
    {"qkv", QK, attn_clue_exchanged},
    {"qkv", QKV, restacked},
    {"qkv", QKV, attn_clue_split},
    {"rotary", QKV, attn_clue_rotary},
    {"transposed", PRODUCTS, attn_clue_transposed},
    {"gate", BIT(ATTN_ACT_MLP_PRE) | BIT(ATTN_ACT_MLP_LINEAR), attn_clue_gate_exchanged},
    {"gate", BIT(ATTN_ACT_MLP_POST), gate},
    {"gelu", BIT(ATTN_ACT_MLP_POST), gelu},
    {"cap", BIT(ATTN_ACT_LOGITS), attn_clue_capped},
    {"bias", PRODUCTS | BIT(ATTN_ACT_LOGITS), attn_clue_bias},
    {"bias", QK, attn_clue_rotated_offset},
    {"norm", NORMS, attn_clue_norm_sample},
    {"bias", PRODUCTS | NORMS | BIT(ATTN_ACT_LOGITS), offset},
    {"residual", STREAM, attn_clue_sums},
    {"residual", STREAM | BIT(ATTN_ACT_EMBED), attn_clue_added},
    {"residual", BIT(ATTN_ACT_NORM2), attn_clue_norm_reads},
    {"residual", QKV | MLP_READS, attn_clue_reads_branch},
    {"norm", QKV | MLP_READS | BIT(ATTN_ACT_LOGITS), attn_clue_reads_norm},
    {"tied", BIT(ATTN_ACT_LOGITS), attn_clue_tied},
    {"weight", ANY, attn_clue_weight},
    {"edits", ANY, edited_before},
    {"norm", NORMS, attn_clue_norm_weight},
    {"permuted", ANY, shuffled},
    {"weight", PRODUCTS | BIT(ATTN_ACT_LOGITS), product},
};

/* Where limits are narrower than rounding, the first row that rounding does not explain is what is to be explained. */
static const struct attn_diff_row *to_explain(const struct attn_diff *d)
{
    size_t i = d->first;
    while (i < d->n && !d->row[i].beyond && d->row[i].kind != ATTN_DIFF_SHAPE)
        i++;
    return i < d->n ? &d->row[i] : NULL;
}

static void say_rounding(struct clue *c)
{
    struct attn_diff *d = c->d;
    d->kind = d->rounded_to ? "precision" : "rounding";
    if (attn_diff_pair(d, c->act, c->layer, &c->p) && stored(c))
        d->kind = "precision";
    else if (d->rounded_to)
        attn_clue_say(c, "no mistake: this is what rounding to %s does", d->rounded_to);
    else
        attn_clue_say(c, "no mistake: this is what rounding does when sums are computed in another order");
}

static void try(struct clue *c, const struct mistake *m, size_t n)
{
    for (size_t i = 0; i < n && !c->d->kind; i++)
        if ((m[i].acts & BIT(c->act)) && m[i].looks(c))
            c->d->kind = m[i].kind;
}

static void find_cause(struct clue *c)
{
    try(c, of_shapes, sizeof of_shapes / sizeof *of_shapes);
    if (c->p.H)
        try(c, of_numbers, sizeof of_numbers / sizeof *of_numbers);
    if (!c->d->kind && c->p.H)
        attn_nearest_find(c->d, &c->p, c->act, c->layer);
}

/* Then every difference is what that does, whatever else it looks like. */
static bool quantised(struct clue *c)
{
    int side = 0;
    const struct attn_contrasted *of = c->d->o.contrast;
    const struct attn_contrast_weight *w = of ? attn_contrast_quantised(of, &side) : NULL;
    return w && attn_clue_tell(c, side == 0, "the weights of @ are quantised (the first that differs in %s)",
                               w->dtype[side]);
}

int attn_diff_explain(struct attn_diff *d, struct attn_err *err)
{
    if (d->first == d->n)
        return ATTN_OK;
    const struct attn_diff_row *row = to_explain(d), *first = row ? row : &d->row[d->first];
    struct clue c = {.d = d, .row = first, .act = first->act, .layer = first->layer,
                     .model = d->o.model_a ? d->o.model_a : d->o.model_b};
    if (quantised(&c))
        d->kind = "quantised";
    else if (d->row[d->first].act < 0)
        return ATTN_OK;
    else if (!row)
        say_rounding(&c);
    else if (row->kind != ATTN_DIFF_NUMBERS || attn_diff_pair(d, c.act, c.layer, &c.p))
        find_cause(&c);
    return d->cause || !d->kind ? ATTN_OK : attn_no_memory(err, NULL, "for the words of a cause");
}
