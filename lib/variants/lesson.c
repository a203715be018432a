/* lesson.c - the comparison for human readers: what each kind sees, what that changes, what it costs, and the
 * picture. */
#include "variants/variants.h"

#include "text/label.h"
#include "base/num.h"
#include "sinks/derivation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 14, DRAWN_MOST = 24 };            /* enough for most kinds; most tokens of a matrix that fits a page */

/* ---- numbers --------------------------------------------------------------------------- */

static void fixed(char buf[ATTN_NUM_FIXED_MAX + 1], double x, int digits)
{
    buf[attn_num_fixed(buf, x, digits)] = '\0';
}

/* Writes equal numbers as 0, and a difference that four digits would round to 0 in exponential notation. */
static void difference(struct attn_derivation *d, double x)
{
    char buf[ATTN_NUM_FIXED_MAX + 1];
    fixed(buf, x, 4);
    if (x == 0)
        attn_derive_cell(d, "0");
    else if (x < 0.00005)
        attn_derive_cell(d, "%.0e", x);
    else
        attn_derive_cell(d, "%s", buf);
}

/* Writes "504", "12.6 k" or "3.21 M" and the unit; step is 1000 or 1024. */
static void with_prefix(struct attn_derivation *d, double x, double step, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    char buf[ATTN_NUM_FIXED_MAX + 1];
    size_t i = 0;
    for (; x >= 10 * step && i < 5; i++)
        x /= step;
    fixed(buf, x, i && x < 100 ? 1 : 0);
    attn_derive_cell(d, "%s%s%s%s", buf, i || *unit ? " " : "", prefixes[i], unit);
}

static void duration(struct attn_derivation *d, double seconds)
{
    static const struct { double unit; const char *name; } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}};
    char buf[ATTN_NUM_FIXED_MAX + 1];
    size_t i = 0;
    while (i < 2 && seconds < units[i].unit)
        i++;
    fixed(buf, seconds / units[i].unit, seconds < 100 * units[i].unit ? 1 : 0);
    attn_derive_cell(d, "%s %s", buf, units[i].name);
}

/* ---- steps ----------------------------------------------------------------------------- */

static void introduce(struct attn_derivation *d, const struct attn_variants *s)
{
    struct attn_info m;
    struct attn_label text = attn_label_line(s->o->text ? s->o->text : "", s->o->text ? s->o->text_len : 0, 60);
    attn_model_info(s->model, &m);
    attn_derive_title(d, s->o->text ? "\"%s\" under %zu kind%s of attention" : "%sA sentence under %zu kind%s of attention", text.text,
                      s->n, s->n == 1 ? "" : "s");
    attn_derive_words(d, "Model %s (%s), %zu token%s, %zu layer%s of %zu head%s.  The weights stay the same; each kind replaces "
                      "the attention in every layer.", m.name, m.family, s->tokens->n, s->tokens->n == 1 ? "" : "s", m.L,
                      m.L == 1 ? "" : "s", m.H, m.H == 1 ? "" : "s");
}

static void what_they_are(struct attn_derivation *d, const struct attn_variants *s)
{
    attn_derive_step(d, "What a token looks at");
    attn_derive_table(d, 1);
    for (size_t i = 0; i < s->n; i++) {
        char about[ATTN_VARIANT_ABOUT];
        attn_variant_about(about, &s->v[i], s->model);
        attn_derive_cell(d, "%-*s  %s", NAME_COLUMNS, s->v[i].name, about);
    }
}

enum likeness { SAME_BITS, ROUNDED, OTHER };

/* Sums of float32 in another order differ by less than 1e-4, relative to numbers around 1. */
static enum likeness likeness(const struct attn_variant *v)
{
    double most = fmax(fmax(v->pattern.largest, v->context.largest), v->residual.largest);
    return most == 0 ? SAME_BITS : most < 1e-4 ? ROUNDED : OTHER;
}

static void name_those(struct attn_derivation *d, const struct attn_variants *s, enum likeness which, const char *what)
{
    char list[400] = "";
    for (size_t i = 0; i < s->n; i++) {
        size_t used = strlen(list);
        if (s->v[i].kind.form != ATTN_MODEL && likeness(&s->v[i]) == which)
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", s->v[i].name);
    }
    if (*list)
        attn_derive_words(d, "%s: %s.", what, list);
}

static const char *why_lost(enum attn_form form)
{
    if (form == ATTN_CAUSAL_RENORM)
        return "next to a hidden key with a much larger score, all visible weights round to 0, and nothing is left to divide by.  "
               "Masking with -inf before the softmax loses no rows.";
    return "the features of a query and its keys are so small that float32 cannot divide by their sum.";
}

static void rows_lost(struct attn_derivation *d, const struct attn_variants *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].lost)
            attn_derive_words(d, "%s loses %zu row%s: %s", s->v[i].name, s->v[i].lost, s->v[i].lost == 1 ? "" : "s",
                              why_lost(s->v[i].kind.form));
}

static void what_changes(struct attn_derivation *d, const struct attn_variants *s)
{
    static const char *const headings[] = {"kind", "pattern", "mean", "context", "mean", "residual", "mean", "KL"};
    bool next = s->model->stage.has[ATTN_ACT_LOGITS];
    size_t cols = next ? 8 : 7;
    attn_derive_step(d, "What changes");
    attn_derive_words(d, "Here are the largest and the mean difference from the model's own attention, in the weights, the context "
                      "vectors and the last layer's residual stream, over all heads and tokens.%s",
                      next ? "  KL is how far the next token's probabilities are from the model's own, in nats."
                           : "  Without an output layer there is no next token.");
    attn_derive_headings(d, headings, cols);
    for (size_t i = 0; i < s->n; i++) {
        const struct attn_variant *v = &s->v[i];
        const double x[] = {v->pattern.largest, v->pattern.mean, v->context.largest, v->context.mean, v->residual.largest,
                            v->residual.mean, v->kl};
        attn_derive_cell(d, "%s", v->name);
        for (size_t k = 0; k + 1 < cols; k++)
            difference(d, x[k]);
    }
    name_those(d, s, SAME_BITS, "The same bits as the model's own");
    name_those(d, s, ROUNDED, "The same formula computed another way, equal except for float32 rounding");
    rows_lost(d, s);
}

static void what_it_costs(struct attn_derivation *d, const struct attn_variants *s)
{
    static const char *const headings[] = {"kind", "scores", "operations", "memory", "time"};
    attn_derive_step(d, "What it costs");
    attn_derive_words(d, "For attention alone, in all layers and heads: scores computed, multiplications and additions of its "
                      "products, memory besides its arrays (with nothing watched), and time, the fastest of several runs.");
    attn_derive_headings(d, headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < s->n; i++) {
        const struct attn_variant *v = &s->v[i];
        attn_derive_cell(d, "%s", v->name);
        with_prefix(d, v->scores, 1000, "");
        with_prefix(d, v->operations, 1000, "");
        with_prefix(d, (double)v->bytes, 1024, "B");
        duration(d, v->seconds);
    }
    attn_derive_words(d, "Twice as many tokens need four times as many scores if each sees all keys, twice as many with a window; "
                      "linear attention needs none.");
}

int attn_variants_lesson(struct attn_out *o, const struct attn_variants *s, struct attn_err *err)
{
    struct attn_derivation d = {0};
    struct attn_derivation_style style = {.color = s->o->color, .width = s->o->width > 0 ? s->o->width : 0};
    introduce(&d, s);
    what_they_are(&d, s);
    what_changes(&d, s);
    what_it_costs(&d, s);
    attn_derive_step(&d, "The same head under each");
    bool drawn = s->tokens->n <= DRAWN_MOST;
    if (!drawn)
        attn_derive_words(&d, "%zu matrices of %zu x %zu do not fit here: --format term prints them, -o kinds.png and -o "
                          "kinds.html draw them.", s->n, s->tokens->n, s->tokens->n);
    int rc = attn_derivation_write(o, &d, "text", &style, err);
    attn_derivation_free(&d);
    if (rc || !drawn)
        return rc;
    attn_out_char(o, '\n');
    return attn_variants_grid(o, s, "term", err);
}
