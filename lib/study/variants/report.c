/* report.c - the comparison, printed: for people, as what each kind sees, what that changes and what it costs; as a
 * picture; for programs, as JSON:
 *
 *     {"version", "model", "text", "tokens", "layer", "head",
 *      "variants": [{"kind", "about", "pattern": {"max_abs", "mean_abs"}, "context", "residual", "kl", "lost_rows",
 *                    "scores", "operations", "bytes", "seconds", "data"}, ...]}
 *
 * or as a table of the variants, which has no "data" (table/columns.h).  "data" is the pattern of that layer and head.
 * Numbers that are not finite are null, and so is "kl" without an output layer. */
#include "variants/variants.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "explain/derivation.h"
#include "model/kind.h"
#include "picture/album.h"
#include "picture/look.h"
#include "sinks/hide.h"
#include "sinks/sink.h"
#include "sinks/sink_json.h"
#include "table/columns.h"
#include "text/label.h"

/* ---- descriptions ---------------------------------------------------------------------- */

static void about_model(char text[ATTN_KIND_SEEN], const struct attn_model *m)
{
    struct attn_info info;
    attn_model_info(m, &info);
    if (!m->w.causal)
        snprintf(text, ATTN_KIND_SEEN, "the model's own: all tokens");
    else if (info.local)
        snprintf(text, ATTN_KIND_SEEN, "the model's own: causal, only the last %zu in %zu of %zu layers", info.window,
                 info.local, info.L);
    else
        snprintf(text, ATTN_KIND_SEEN, "the model's own: itself and all before it");
}

/* Says in a few words what a token sees. */
static void describe(const struct attn_variants *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].kind.form == ATTN_MODEL)
            about_model(s->v[i].about, s->model);
        else
            attn_kind_seen(s->v[i].about, &s->v[i].kind, s->model->w.causal);
}

/* ---- a picture: the same head under each kind, one sheet for each ---------------------- */

static int hide(unsigned char *hidden, const struct attn_variants *s, const struct attn_kind *by, struct attn_err *err)
{
    size_t T = s->tokens->n;
    const struct attn_masking how = {.of = s->model, .kind = *by};
    const struct attn_window all = {.rows = T, .cols = T, .keys = T};
    const struct attn_kind kind = attn_masked_by(&how, ATTN_ACT_PATTERN, (int)s->o->layer);
    return attn_hide_kind(hidden, &kind, &all, err);
}

/* In a difference, what neither the kind nor the model's own sees is hidden. */
static int add_sheet(struct attn_album *a, const struct attn_variants *s, size_t i, const char *title,
                     const char *said, struct attn_err *err)
{
    size_t T = s->tokens->n;
    float *own = NULL;
    unsigned char *hidden, *own_hidden = NULL;
    int rc = attn_album_mask(a, &hidden, T * T, err);
    if (!rc)
        rc = hide(hidden, s, &s->v[i].kind, err);
    if (!rc && s->o->difference)
        rc = attn_album_mask(a, &own_hidden, T * T, err);
    if (!rc && own_hidden)
        rc = hide(own_hidden, s, &(struct attn_kind){.form = ATTN_MODEL}, err);
    for (size_t k = 0; !rc && own_hidden && k < T * T; k++)
        hidden[k] &= own_hidden[k];
    const struct attn_sheet sheet = {.kind = "attn.pattern", .title = title, .said = said,
                                     .axes = " (rows: queries, columns: keys)", .layer = (int)i,
                                     .name = s->v[i].name, .n = 1, .rows = T, .cols = T, .keys = true,
                                     .data = s->o->difference ? NULL : s->v[i].drawn, .mask = hidden};
    if (!rc)
        rc = attn_album_add(a, &sheet, &own, err);
    const float *less = s->own + (s->o->layer * s->model->w.n.H + s->o->head) * T * T;
    for (size_t k = 0; !rc && own && s->o->difference && k < T * T; k++)
        own[k] = s->v[i].drawn[k] - less[k];
    return rc;
}

static int picture(struct attn_out *o, const struct attn_variants *s, const char *format, struct attn_err *err)
{
    char title[120], said[120];
    const bool less = s->o->difference;
    struct attn_look look;
    struct attn_album a = {.model = s->model->source.name, .text = s->o->text, .text_len = s->o->text_len,
                           .queries = s->tokens,
                           .keys = s->tokens};
    snprintf(title, sizeof title, "attention pattern of layer %zu, head %zu%s", s->o->layer, s->o->head,
             less ? ", less the model's own" : "");
    int rc = attn_format_look(&look, format, &s->o->picture, err);
    snprintf(said, sizeof said, less ? attn_tr(look.language, "attention pattern of layer %zu, head %zu, less the "
                                                              "model's own")
                                     : attn_tr(look.language, "attention pattern of layer %zu, head %zu"), s->o->layer,
             s->o->head);
    look.width = s->o->width;
    for (size_t i = 0; i < s->n && !rc; i++)
        if (!less || s->v[i].kind.form != ATTN_MODEL)
            rc = add_sheet(&a, s, i, title, said, err);
    if (!rc && !a.n)
        rc = attn_fail(err, ATTN_EUSAGE, "nothing to draw: the model's own attention differs nowhere from itself; name "
                                         "other kinds with --kinds");
    if (!rc)
        rc = attn_album_link(&a, err);
    if (!rc)
        rc = attn_format_draw(o, format, &a, &look, err);
    attn_album_free(&a);
    return rc;
}

/* ---- for people: numbers --------------------------------------------------------------- */

enum { NAME_COLUMNS = 14, DRAWN_MOST = 24 };            /* enough for most kinds; most tokens that fit a page */

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

/* ---- for people: steps ----------------------------------------------------------------- */

static void introduce(struct attn_derivation *d, const struct attn_variants *s)
{
    struct attn_info m;
    struct attn_label text = attn_label_line(s->o->text ? s->o->text : "", s->o->text ? s->o->text_len : 0, 60);
    attn_model_info(s->model, &m);
    attn_derive_title(d, s->o->text ? "\"%s\" under %zu kind%s of attention" :
                      "%sA sentence under %zu kind%s of attention", text.text, s->n, s->n == 1 ? "" : "s");
    attn_derive_words(d, "Model %s (%s), %zu token%s, %zu layer%s of %zu head%s.  The weights stay the same; each kind "
                         "replaces the attention in every layer.", m.name, m.family, s->tokens->n, s->tokens->n == 1 ?
                      "" :
                      "s", m.L, m.L == 1 ? "" : "s", m.H, m.H == 1 ? "" : "s");
}

static void what_they_are(struct attn_derivation *d, const struct attn_variants *s)
{
    attn_derive_step(d, "What a token looks at");
    attn_derive_table(d, 1);
    for (size_t i = 0; i < s->n; i++)
        attn_derive_cell(d, "%-*s  %s", NAME_COLUMNS, s->v[i].name, s->v[i].about);
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
    size_t room = 1, used = 0;
    for (size_t i = 0; i < s->n; i++)
        room += strlen(s->v[i].name) + 2;
    char *list = calloc(room, 1);
    for (size_t i = 0; list && i < s->n; i++)
        if (s->v[i].kind.form != ATTN_MODEL && likeness(&s->v[i]) == which)
            used += (size_t)snprintf(list + used, room - used, "%s%s", used ? ", " : "", s->v[i].name);
    if (used)
        attn_derive_words(d, "%s: %s.", what, list);
    free(list);
}

static const char *why_lost(enum attn_form form)
{
    if (form == ATTN_CAUSAL_RENORM)
        return "next to a hidden key with a much larger score, all visible weights round to 0, and nothing is left to "
               "divide by.  Masking with -inf before the softmax loses no rows.";
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
    bool next = s->model->hooks.has[ATTN_ACT_LOGITS];
    size_t cols = next ? 8 : 7;
    attn_derive_step(d, "What changes");
    attn_derive_words(d, "Here are the largest and the mean difference from the model's own attention, in the weights, "
                         "the context vectors and the last layer's residual stream, over all heads and tokens.%s",
                      next ? "  KL is how far the next token's probabilities are from the model's own, in nats."
                           : "  Without an output layer there is no next token.");
    attn_derive_headings(d, headings, cols);
    for (size_t i = 0; i < s->n; i++) {
        const struct attn_variant *v = &s->v[i];
        const double x[] = {v->pattern.largest, v->pattern.mean, v->context.largest, v->context.mean,
                            v->residual.largest, v->residual.mean, v->kl};
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
    attn_derive_words(d, "For attention alone, in all layers and heads: scores computed, multiplications and additions "
                         "of its products, memory besides its arrays (with nothing watched), and time, the fastest of "
                         "several runs.");
    attn_derive_headings(d, headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < s->n; i++) {
        const struct attn_variant *v = &s->v[i];
        attn_derive_cell(d, "%s", v->name);
        with_prefix(d, v->scores, 1000, "");
        with_prefix(d, v->operations, 1000, "");
        with_prefix(d, (double)v->bytes, 1024, "B");
        duration(d, v->seconds);
    }
    attn_derive_words(d,
                      "Twice as many tokens need four times as many scores if each sees all keys, twice as many with a "
                      "window; linear attention needs none.");
}

static int lesson(struct attn_out *o, const struct attn_variants *s, struct attn_err *err)
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
        attn_derive_words(&d, "%zu matrices of %zu x %zu do not fit here: --format term prints them, -o kinds.png and "
                              "-o kinds.html draw them.", s->n, s->tokens->n, s->tokens->n);
    int rc = attn_derivation_write(o, &d, "text", &style, err);
    attn_derivation_free(&d);
    if (rc || !drawn)
        return rc;
    attn_out_char(o, '\n');
    return picture(o, s, "term", err);
}

/* ---- for programs ---------------------------------------------------------------------- */

static void matrix(struct attn_out *o, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            attn_out_str(o, j ? "," : i ? "],[" : "[[");
            attn_out_f32(o, x[i * n + j]);
        }
    attn_out_str(o, "]]");
}

static void put_pattern(struct attn_out *o, const void *self, size_t i)
{
    const struct attn_variants *s = self;
    matrix(o, s->v[i].drawn, s->tokens->n);
}

static struct attn_datum *put_change(struct attn_datum *cell, const struct attn_change *c)
{
    *cell++ = attn_datum_number(c->largest);
    *cell++ = attn_datum_number(c->mean);
    return cell;
}

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct attn_variants *s = self;
    const struct attn_variant *v = &s->v[i];
    const double numbers[] = {v->kl, (double)v->lost, v->scores, v->operations, (double)v->bytes, v->seconds};
    *cell++ = attn_datum_str(v->name);
    *cell++ = attn_datum_str(v->about);
    cell = put_change(put_change(put_change(cell, &v->pattern), &v->context), &v->residual);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        *cell++ = attn_datum_number(numbers[k]);
    *cell = attn_datum_truth(true);
}

#define CHANGE(what) {.group = what, .name = "max_abs", .kind = ATTN_COLUMN_REAL, .digits = 6}, \
                     {.group = what, .name = "mean_abs", .kind = ATTN_COLUMN_REAL, .digits = 6}

static struct attn_table table_of(const struct attn_variants *s)
{
    static const struct attn_column columns[] = {
        {.name = "kind"}, {.name = "about"}, CHANGE("pattern"), CHANGE("context"), CHANGE("residual"),
        {.name = "kl", .kind = ATTN_COLUMN_REAL, .digits = 6}, {.name = "lost_rows", .kind = ATTN_COLUMN_REAL},
        {.name = "scores", .kind = ATTN_COLUMN_REAL}, {.name = "operations", .kind = ATTN_COLUMN_REAL},
        {.name = "bytes", .kind = ATTN_COLUMN_REAL}, {.name = "seconds", .kind = ATTN_COLUMN_REAL},
        {.name = "data", .kind = ATTN_COLUMN_NESTED, .write = put_pattern}};
    return (struct attn_table){.column = columns, .columns = sizeof columns / sizeof *columns, .rows = s->n,
                               .row = fill, .self = s};
}

static int json(struct attn_out *o, const struct attn_variants *s, struct attn_err *err)
{
    char digest[80];
    struct attn_info info;
    int rc = attn_model_digest(s->model, false, digest, err);
    if (rc)
        return rc;
    attn_model_info(s->model, &info);
    attn_out_printf(o, "{\"version\":\"%s\",\n\"model\":", attn_version());
    attn_doc_model(o, &(struct attn_sink_job){.model = &info, .digest = digest});
    attn_out_str(o, ",\n\"text\":");
    if (s->o->text)
        attn_out_json(o, s->o->text, s->o->text_len);
    else
        attn_out_str(o, "null");
    attn_out_str(o, ",\n\"tokens\":");
    attn_doc_tokens(o, s->tokens, "\n");
    attn_out_printf(o, ",\n\"layer\":%zu,\n\"head\":%zu,\n\"variants\":[", s->o->layer, s->o->head);
    const struct attn_table variants = table_of(s);
    rc = attn_table_objects(o, &variants, "\n", "\n", err);
    attn_out_str(o, "\n]}\n");
    return rc;
}

int attn_variants_write(struct attn_out *o, const struct attn_variants *s, struct attn_err *err)
{
    const char *format = s->o->format ? s->o->format : "text";
    describe(s);
    if (!strcmp(format, "text"))
        return lesson(o, s, err);
    if (!strcmp(format, "json"))
        return json(o, s, err);
    const struct attn_table variants = table_of(s);
    if (attn_table_writes(format))
        return attn_table_write(o, &variants, format, err);
    return picture(o, s, format, err);
}
