/* attend_shapes.c - which of the numbers that are given belong together, and whether their shapes fit. */
#include "attend/attend.h"

#include <math.h>
#include <stdio.h>

#include "base/err.h"

enum {
    Q = ATTN_ATTEND_Q, K = ATTN_ATTEND_K, V = ATTN_ATTEND_V, DOTS = ATTN_ATTEND_DOTS, SCORES = ATTN_ATTEND_SCORES,
    MASK = ATTN_ATTEND_MASK, X = ATTN_ATTEND_X, CROSS = ATTN_ATTEND_CROSS, WQ = ATTN_ATTEND_WQ, WK = ATTN_ATTEND_WK,
    WV = ATTN_ATTEND_WV, WO = ATTN_ATTEND_WO, BQ = ATTN_ATTEND_BQ, BV = ATTN_ATTEND_BV, BO = ATTN_ATTEND_BO
};

static const struct { const char *option, *name; bool hides /* may have -inf */; } inputs[ATTN_ATTEND_INPUTS] = {
    [Q] = {"--q", "q", false}, [K] = {"--k", "k", false}, [V] = {"--v", "v", false},
    [DOTS] = {"--dots", "dots", false}, [SCORES] = {"--scores", "scores", true}, [MASK] = {"--mask", "mask", true},
    [X] = {"--x", "embed", false}, [CROSS] = {"--cross", "embed", false}, [WQ] = {"--wq", "wq", false},
    [WK] = {"--wk", "wk", false}, [WV] = {"--wv", "wv", false}, [WO] = {"--wo", "wo", false},
    [BQ] = {"--bq", "bq", false}, [ATTN_ATTEND_BK] = {"--bk", "bk", false}, [BV] = {"--bv", "bv", false},
    [BO] = {"--bo", "bo", false}};

const char *attn_attend_option(int input) { return inputs[input].option; }
const char *attn_attend_name(int input) { return inputs[input].name; }

const char *attn_shape_text(char buf[ATTN_SHAPE_TEXT], const struct attn_array *a)
{
    int n = snprintf(buf, ATTN_SHAPE_TEXT, "[");
    for (int i = 0; i < a->ndim; i++)
        n += snprintf(buf + n, ATTN_SHAPE_TEXT - (size_t)n, i ? ", %zu" : "%zu", a->shape[i]);
    snprintf(buf + n, ATTN_SHAPE_TEXT - (size_t)n, "]");
    return buf;
}

static bool has(const struct attn_attend *a, int input) { return a->numbers[input].name != NULL; }

struct attn_attend_called attn_attend_called(const struct attn_attend *a, int input)
{
    struct attn_attend_called c;
    char shape[ATTN_SHAPE_TEXT];
    snprintf(c.text, sizeof c.text, "%s %s", input == MASK && a->hides ? "--hide" : inputs[input].option,
             attn_shape_text(shape, &a->numbers[input].of));
    return c;
}

/* ---- one array ------------------------------------------------------------------------- */

/* Makes it [T, n] or [heads, T, n]: axes of one in front, as a batch of one has, are left out. */
static int square_up(struct attn_attend *a, int input, struct attn_err *err)
{
    struct attn_array *of = &a->numbers[input].of;
    if (of->ndim > 3) {
        struct attn_array less = {.ndim = 3, .n = of->n, .data = of->data, .f64 = of->f64};
        for (int i = 0; i < of->ndim; i++)
            if (i < of->ndim - 3 && of->shape[i] != 1)
                return attn_fail(err, ATTN_EFORMAT, "%s: expected rows, [T, n], or those of each head, [heads, T, n]",
                                 attn_attend_called(a, input).text);
            else if (i >= of->ndim - 3)
                less.shape[i - (of->ndim - 3)] = of->shape[i];
        *of = less;
    }
    for (; of->ndim < 2; of->ndim++) {
        of->shape[1] = of->ndim ? of->shape[0] : 1;
        of->shape[0] = 1;
    }
    for (int i = 0; i < of->ndim; i++)
        if (!of->shape[i] || of->shape[i] > INT32_MAX)
            return attn_fail(err, ATTN_EFORMAT, "%s: expected at least one row and number, and less than 2^31",
                             attn_attend_called(a, input).text);
    return ATTN_OK;
}

static int check_numbers(const struct attn_attend *a, int input, struct attn_err *err)
{
    const struct attn_array *of = &a->numbers[input].of;
    size_t cols = of->shape[of->ndim - 1], rows = of->shape[of->ndim - 2];
    for (size_t i = 0; i < of->n; i++) {
        double x = of->f64[i];
        if (isfinite(x) || (x == -INFINITY && inputs[input].hides))
            continue;
        return attn_fail(err, ATTN_EFORMAT, "%s: row %zu, column %zu is %s: expected a finite number%s",
                         attn_attend_called(a, input).text, i / cols % rows, i % cols,
                         isnan(x) ? "nan" : x > 0 ? "inf" : "-inf",
                         inputs[input].hides ? ", or -inf for a hidden key" : "");
    }
    return ATTN_OK;
}

/* The view of so many heads: the first of three axes, or columns side by side. */
static int split(struct attn_attend *a, int input, size_t heads, struct attn_err *err)
{
    const struct attn_array *of = &a->numbers[input].of;
    size_t rows = of->shape[of->ndim - 2], cols = of->shape[of->ndim - 1];
    struct attn_attend_view *v = &a->view[input];
    if (of->ndim == 3 && of->shape[0] != heads)
        return attn_fail(err, ATTN_EFORMAT, "%s: expected %zu head%s", attn_attend_called(a, input).text, heads,
                         heads == 1 ? "" : "s");
    if (of->ndim == 2 && cols % heads)
        return attn_fail(err, ATTN_EFORMAT, "%s: its %zu columns cannot be divided among %zu heads",
                         attn_attend_called(a, input).text, cols, heads);
    *v = of->ndim == 3 ? (struct attn_attend_view){of->f64, heads, rows, cols, rows * cols, cols, 1}
                       : (struct attn_attend_view){of->f64, heads, rows, cols / heads, cols / heads, cols, 1};
    return ATTN_OK;
}

/* The same of a weight, which may be [out, in]. */
static int split_weight(struct attn_attend *a, int input, size_t heads, bool transposed, struct attn_err *err)
{
    const struct attn_array *of = &a->numbers[input].of;
    size_t out = of->shape[of->ndim - 2], in = of->shape[of->ndim - 1];
    if (!transposed || of->ndim == 3) {
        int rc = split(a, input, heads, err);
        struct attn_attend_view v = a->view[input];
        if (!rc && transposed)
            a->view[input] = (struct attn_attend_view){v.x, heads, v.cols, v.rows, v.next_head, 1, v.next_row};
        return rc;
    }
    if (out % heads)
        return attn_fail(err, ATTN_EFORMAT, "%s: its %zu rows, the outputs, cannot be divided among %zu heads",
                         attn_attend_called(a, input).text, out, heads);
    a->view[input] = (struct attn_attend_view){of->f64, heads, in, out / heads, out / heads * in, 1, in};
    return ATTN_OK;
}

/* ---- what goes with what --------------------------------------------------------------- */

static int check_given(const struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    static const struct { int one, other; const char *why; } clash[] = {
        {SCORES, DOTS, "scores are dots that are scaled already"}, {SCORES, Q, "scores are q·k, scaled, already"},
        {SCORES, K, "scores are q·k, scaled, already"}, {SCORES, WQ, "scores are made of queries already"},
        {SCORES, WK, "scores are made of keys already"}, {DOTS, Q, "dots are q·k already"},
        {DOTS, K, "dots are q·k already"}, {DOTS, WQ, "dots are made of queries already"},
        {DOTS, WK, "dots are made of keys already"}, {Q, WQ, "both give the queries"}, {K, WK, "both give the keys"},
        {V, WV, "both give the values"}};
    for (size_t i = 0; i < sizeof clash / sizeof *clash; i++)
        if (has(a, clash[i].one) && has(a, clash[i].other))
            return attn_fail(err, ATTN_EUSAGE, "%s and %s: %s: leave one of them out", inputs[clash[i].one].option,
                             inputs[clash[i].other].option, clash[i].why);
    for (int b = BQ; b <= BO; b++) {
        const int w = b == BO ? WO : WQ + (b - BQ);
        if (has(a, b) && !has(a, w))
            return attn_fail(err, ATTN_EUSAGE, "%s is added to the products with %s: give that, too", inputs[b].option,
                             inputs[w].option);
    }
    for (int w = WQ; w <= WV; w++)
        if (has(a, w) && !has(a, X) && (w == WQ || !has(a, CROSS)))
            return attn_fail(err, ATTN_EUSAGE, "%s multiplies the rows of a text: give them with --x",
                             inputs[w].option);
    if (has(a, CROSS) && !a->plain && !has(a, WK) && !has(a, WV) && !o->vectors)
        return attn_fail(err, ATTN_EUSAGE, "--cross gives the rows that keys and values are made of: give --wk and "
                                           "--wv, too");
    bool q = has(a, Q) || has(a, WQ), k = has(a, K) || has(a, WK);
    if (o->vectors || has(a, SCORES) || has(a, DOTS) || (q && k))
        return ATTN_OK;
    if (q || k)
        return attn_fail(err, ATTN_EUSAGE, "there are %s and no %s: give --%s, or --x and --w%s",
                         q ? "queries" : "keys", q ? "keys" : "queries", q ? "k" : "q", q ? "k" : "q");
    return attn_fail(err, ATTN_EUSAGE, "attention of what? give --q and --k, and --v for context vectors; or --x, --wq "
                                       "and --wk; or --scores alone");
}

static int check_kind(const struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    static const int scored[] = {SCORES, DOTS, MASK};
    for (size_t i = 0; i < 3 && o->kind.form == ATTN_LINEAR; i++)
        if (has(a, scored[i]))
            return attn_fail(err, ATTN_EUSAGE, "%s with linear attention, which has no scores: leave one of them out%s",
                             inputs[scored[i]].option, scored[i] == MASK ? "; --mask causal goes with it" : "");
    if (o->kind.form == ATTN_LINEAR && (o->weights || o->late))
        return attn_fail(err, ATTN_EUSAGE, "linear attention has no softmax: leave out --weights and --mask-weights");
    if (o->late && o->kind.form == ATTN_CAUSAL_RENORM)
        return attn_fail(err, ATTN_EUSAGE, "--mask-weights leaves weights undivided, which causal-renorm divides: "
                                           "leave one of them out");
    if (has(a, SCORES) && (o->kind.scaling || o->cap != 0))
        return attn_fail(err, ATTN_EUSAGE, "--scores are what the softmax reads, after the scale and a soft cap: leave "
                                           "those out, or give --dots");
    if (has(a, DOTS) && (o->kind.scaling == ATTN_SCALE_MODEL || o->kind.scaling == ATTN_SCALE_SQRT))
        return attn_fail(err, ATTN_EUSAGE, "--dots do not tell how wide queries and keys are, whose root they are "
                                           "divided by: give --scale none or --scale NUMBER");
    return ATTN_OK;
}

/* ---- sizes ----------------------------------------------------------------------------- */

static int find_heads(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    static const int with_heads[] = {Q, WQ, SCORES, DOTS};
    a->H = o->heads ? o->heads : 1;
    for (size_t i = 0; i < sizeof with_heads / sizeof *with_heads; i++) {
        const struct attn_array *of = &a->numbers[with_heads[i]].of;
        if (of->ndim != 3)
            continue;
        if (o->heads && o->heads != of->shape[0])
            return attn_fail(err, ATTN_EFORMAT, "%s: expected %zu heads, as --heads says",
                             attn_attend_called(a, with_heads[i]).text, o->heads);
        a->H = of->shape[0];
        return ATTN_OK;
    }
    return ATTN_OK;
}

/* How many heads keys and values have: those of three axes, else as many as fit side by side. */
static int find_shared_heads(struct attn_attend *a, const struct attn_attend_opts *o, bool queries,
                             struct attn_err *err)
{
    static const int shared[] = {K, WK, V, WV};
    a->Hkv = a->H;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const struct attn_array *of = &a->numbers[shared[i]].of;
        bool key = shared[i] == K || shared[i] == WK;
        if (!has(a, shared[i]) || (!key && of->ndim == 2))
            continue;
        size_t width = of->shape[o->transposed && shared[i] == WK ? 0 : 1];
        if (of->ndim == 2 && queries && (width % a->dh || (a->H == 1 && width != a->dh)))
            return attn_fail(err, ATTN_EFORMAT, "%s has vectors of %zu number%s, and %s of %zu%s: q·k needs as many%s",
                             attn_attend_called(a, shared[i]).text, width, width == 1 ? "" : "s",
                             attn_attend_called(a, has(a, Q) ? Q : WQ).text, a->dh, a->H > 1 ? " a head" : "",
                             a->H > 1 ? ", or whole heads of them" : "");
        a->Hkv = of->ndim == 3 ? of->shape[0] : queries ? width / a->dh : a->H;
        if (a->Hkv > a->H || a->H % a->Hkv)
            return attn_fail(err, ATTN_EFORMAT, "%s: %zu query head%s cannot share %zu heads of keys and values evenly",
                             attn_attend_called(a, shared[i]).text, a->H, a->H == 1 ? "" : "s", a->Hkv);
        return ATTN_OK;
    }
    return ATTN_OK;
}

/* Vectors of one kind: given, or made of rows by weights; *rows and *width get their sizes, and stay as they are if
 * there are no such vectors. */
static int find_vectors(struct attn_attend *a, const struct attn_attend_opts *o, int vectors, int weight, int from,
                        size_t heads, size_t *rows, size_t *width, struct attn_err *err)
{
    int input = has(a, vectors) ? vectors : weight;
    if (!has(a, input))
        return ATTN_OK;
    if (input == vectors ? split(a, input, heads, err) : split_weight(a, input, heads, o->transposed, err))
        return err->code;
    const struct attn_attend_view *v = &a->view[input];
    *width = v->cols;
    *rows = input == vectors ? v->rows : a->view[from].rows;
    if (input == weight && v->rows != a->view[from].cols)
        return attn_fail(err, ATTN_EFORMAT, "%s takes rows of %zu numbers, and those of %s have %zu%s",
                         attn_attend_called(a, weight).text, v->rows, attn_attend_called(a, from).text,
                         a->view[from].cols, !o->transposed && v->cols * heads == a->view[from].cols
                             ? "; if it is [out, in], as torch's Linear has it, give --transposed" : "");
    return ATTN_OK;
}

static int find_rows(struct attn_attend *a, struct attn_err *err)
{
    a->d = 1;
    for (int input = X; input <= CROSS; input++) {
        if (!has(a, input))
            continue;
        if (a->numbers[input].of.ndim != 2)
            return attn_fail(err, ATTN_EFORMAT, "%s: expected the rows of one text, [T, n]",
                             attn_attend_called(a, input).text);
        if (split(a, input, 1, err))
            return err->code;
        if (input == CROSS && has(a, X) && a->view[CROSS].cols != a->view[X].cols)
            return attn_fail(err, ATTN_EFORMAT, "%s: expected rows of %zu numbers, as %s has",
                             attn_attend_called(a, CROSS).text, a->view[X].cols, attn_attend_called(a, X).text);
        a->d = a->view[input].cols;
    }
    a->Tq = has(a, X) ? a->view[X].rows : 0;
    a->Tk = has(a, CROSS) ? a->view[CROSS].rows : a->Tq;
    return ATTN_OK;
}

/* Scores or dots, [T, keys] for one head or [heads, T, keys]. */
static int find_square(struct attn_attend *a, int input, size_t *keys, struct attn_err *err)
{
    const struct attn_array *of = &a->numbers[input].of;
    if (!has(a, input))
        return ATTN_OK;
    if (of->ndim == 2 && a->H > 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: expected [%zu, queries, keys], a matrix for each head",
                         attn_attend_called(a, input).text, a->H);
    if (split(a, input, of->ndim == 3 ? of->shape[0] : 1, err))
        return err->code;
    a->Tq = a->view[input].rows;
    *keys = a->view[input].cols;
    return ATTN_OK;
}

/* Whether there are as many values as keys, where something else tells how many there are. */
static int check_values(const struct attn_attend *a, size_t values, size_t keys, struct attn_err *err)
{
    const int from = has(a, CROSS) ? CROSS : X,
              told = has(a, SCORES) ? SCORES : has(a, DOTS) ? DOTS : has(a, K) ? K : from;
    if (!values || !keys || values == keys)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: there %s %zu value%s, and %zu keys by %s: expected as many",
                     attn_attend_called(a, has(a, V) ? V : from).text, values == 1 ? "is" : "are", values,
                     values == 1 ? "" : "s", keys, attn_attend_called(a, told).text);
}

/* Keys, or what tells how many there are, then values. */
static int find_keys(struct attn_attend *a, const struct attn_attend_opts *o, bool queries, struct attn_err *err)
{
    const int from = has(a, CROSS) ? CROSS : X;
    size_t keys = 0, values = 0, width = 0;
    if (find_vectors(a, o, K, WK, from, a->Hkv, &keys, &width, err) ||
        find_vectors(a, o, V, WV, from, a->Hkv, &values, &a->dv, err))
        return err->code;
    if (keys && queries && width != a->dh)
        return attn_fail(err, ATTN_EFORMAT, "%s has vectors of %zu numbers, and %s of %zu: q·k needs as many",
                         attn_attend_called(a, has(a, K) ? K : WK).text, width,
                         attn_attend_called(a, has(a, Q) ? Q : WQ).text, a->dh);
    if (keys)
        a->dh = width;
    if (find_square(a, SCORES, &keys, err) || find_square(a, DOTS, &keys, err) || check_values(a, values, keys, err))
        return err->code;
    a->Tk = keys ? keys : values ? values : a->Tk ? a->Tk : a->Tq;
    a->Tq = a->Tq ? a->Tq : a->Tk;
    return ATTN_OK;
}

static int find_sizes(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    bool queries = has(a, Q) || has(a, WQ);
    a->dh = a->dv = 1;
    int rc = find_rows(a, err);
    if (!rc)
        rc = find_heads(a, o, err);
    if (!rc)
        rc = find_vectors(a, o, Q, WQ, X, a->H, &a->Tq, &a->dh, err);
    if (!rc)
        rc = find_shared_heads(a, o, queries, err);
    return rc ? rc : find_keys(a, o, queries, err);
}

/* ---- what is added, and the output ------------------------------------------------------- */

/* As many numbers as a product has, in any shape. */
static int fit_bias(struct attn_attend *a, int input, size_t heads, size_t width, struct attn_err *err)
{
    const struct attn_array *of = &a->numbers[input].of;
    if (has(a, input) && of->n != heads * width)
        return attn_fail(err, ATTN_EFORMAT, "%s: expected %zu number%s, one for each column of the product",
                         attn_attend_called(a, input).text, heads * width, heads * width == 1 ? "" : "s");
    if (has(a, input))
        a->view[input] = (struct attn_attend_view){of->f64, heads, 1, width, width, 0, 1};
    return ATTN_OK;
}

/* The weights of the output read the contexts of all heads, side by side: [H * dv, out], or [H, dv, out]. */
static int fit_output(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    struct attn_array *of = &a->numbers[WO].of;
    if (!has(a, WO))
        return ATTN_OK;
    if (!a->scored || !a->valued)
        return attn_fail(err, ATTN_EUSAGE, "--wo multiplies context vectors, for which there are no %s: give --%s",
                         a->valued ? "weights" : "values", a->valued ? "q and --k" : "v, or --x and --wv");
    if (of->ndim == 3 && !o->transposed && of->shape[0] == a->H) {
        of->shape[0] *= of->shape[1];
        of->shape[1] = of->shape[2];
        of->ndim = 2;
    }
    if (of->ndim == 3)
        return attn_fail(err, ATTN_EFORMAT, "%s: expected a matrix", attn_attend_called(a, WO).text);
    if (split_weight(a, WO, 1, o->transposed, err))
        return err->code;
    if (a->view[WO].rows != a->H * a->dv)
        return attn_fail(err, ATTN_EFORMAT, "%s takes rows of %zu numbers, and context vectors have %zu%s",
                         attn_attend_called(a, WO).text, a->view[WO].rows, a->H * a->dv,
                         !o->transposed && a->view[WO].cols == a->H * a->dv
                             ? "; if it is [out, in], as torch's Linear has it, give --transposed" : "");
    a->out = a->view[WO].cols;
    return ATTN_OK;
}

static int fit_additions(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    int rc = fit_bias(a, BQ, a->H, a->dh, err);
    if (!rc)
        rc = fit_bias(a, ATTN_ATTEND_BK, a->Hkv, a->dh, err);
    if (!rc)
        rc = fit_bias(a, BV, a->Hkv, a->dv, err);
    if (!rc)
        rc = fit_output(a, o, err);
    return rc ? rc : fit_bias(a, BO, 1, a->out, err);
}

/* ---- the mask -------------------------------------------------------------------------- */

static int fit_mask(struct attn_attend *a, struct attn_err *err)
{
    const struct attn_array *of = &a->numbers[MASK].of;
    struct attn_attend_view *v = &a->view[MASK];
    if (!has(a, MASK))
        return ATTN_OK;
    if (split(a, MASK, of->ndim == 3 ? of->shape[0] : 1, err))
        return err->code;
    bool heads = v->heads == 1 || v->heads == a->H, rows = v->rows == 1 || v->rows == a->Tq;
    if (!heads || !rows || v->cols != a->Tk)
        return attn_fail(err, ATTN_EFORMAT, "%s: there are %zu quer%s and %zu key%s: expected [%zu, %zu], or [1, %zu] "
                                            "for all queries", attn_attend_called(a, MASK).text, a->Tq,
                         a->Tq == 1 ? "y" : "ies", a->Tk, a->Tk == 1 ? "" : "s", a->Tq, a->Tk, a->Tk);
    for (size_t i = 0; i < of->n; i++)
        a->adds |= of->f64[i] != 0 && of->f64[i] != 1;
    if (a->adds && a->late)
        return attn_fail(err, ATTN_EFORMAT, "%s: with --mask-weights expected 0 and 1: what is added to scores comes "
                                            "before the softmax", attn_attend_called(a, MASK).text);
    if (a->adds && a->hides)
        return attn_fail(err, ATTN_EFORMAT, "%s: expected 0 and 1, which hides a key; what is added to scores "
                                            "is a --mask", attn_attend_called(a, MASK).text);
    return ATTN_OK;
}

int attn_attend_fit(struct attn_attend *a, const struct attn_attend_opts *o, struct attn_err *err)
{
    a->hides = o->hides;
    a->late = o->late;
    a->weights = o->weights;
    a->causal = o->causal;
    a->cap = o->cap;
    for (int i = 0; i < ATTN_ATTEND_INPUTS; i++)
        if (has(a, i) && (square_up(a, i, err) || check_numbers(a, i, err)))
            return err->code;
    int rc = check_given(a, o, err);
    if (!rc)
        rc = check_kind(a, o, err);
    if (!rc)
        rc = find_sizes(a, o, err);
    if (!rc)
        rc = fit_mask(a, err);
    a->dotted = has(a, DOTS) || ((has(a, Q) || has(a, WQ)) && (has(a, K) || has(a, WK)));
    a->scored = a->dotted || has(a, SCORES);
    a->valued = has(a, V) || has(a, WV);
    if (!rc)
        rc = fit_additions(a, o, err);
    return rc || !a->scored ? rc : attn_attend_check_sight(a, o, err);
}
