#include "explain/explain.h"
#include "explain/worksheet.h"
#include "attn_ask.h"
#include "attn_tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "picture/lettering.h"
#include "text/label.h"
#include "sinks/print.h"

enum {
    SHOWN_MOST = 6, TOKENS_MOST = 12,   /* numbers of a vector, and tokens, above which they are abridged */
    LABEL_MOST = 16, NAME_MOST = 32     /* columns of a token in a table, and in a sentence */
};

/* ---- what the steps share -------------------------------------------------------------- */

enum attn_showing attn_explain_showing(const struct attn_explainer *e, size_t n, size_t i)
{
    const size_t front = SHOWN_MOST / 2, back = SHOWN_MOST - front - 1;
    if (e->all || n <= SHOWN_MOST || i < front || i >= n - back)
        return ATTN_SHOWN;
    return i == front ? ATTN_GAP : ATTN_PASSED;
}

size_t attn_explain_left_out(const struct attn_explainer *e, size_t n)
{
    return e->all || n <= SHOWN_MOST ? 0 : n - SHOWN_MOST + 1;
}

size_t attn_explain_cells(const struct attn_explainer *e, size_t n)
{
    return e->all || n <= SHOWN_MOST ? n : SHOWN_MOST;
}

void attn_explain_columns(struct attn_explainer *e, size_t n, const char *label)
{
    attn_derive_cell(&e->d, "%s", tr(e, label));
    for (size_t i = 0; i < n; i++) {
        enum attn_showing s = attn_explain_showing(e, n, i);
        if (s == ATTN_SHOWN)
            attn_derive_cell(&e->d, "%zu", i);
        else if (s == ATTN_GAP)
            attn_derive_cell(&e->d, "…");
    }
}

/* f64 NULL: the numbers of f32. */
static void put_row(struct attn_explainer *e, const float *f32, const double *f64, size_t n, int digits)
{
    for (size_t i = 0; i < n; i++) {
        enum attn_showing s = attn_explain_showing(e, n, i);
        if (s == ATTN_SHOWN)
            attn_derive_number(&e->d, f64 ? f64[i] : f32 ? (double)f32[i] : NAN, digits);
        else if (s == ATTN_GAP)
            attn_derive_cell(&e->d, "…");
    }
}

void attn_explain_row(struct attn_explainer *e, const double *x, size_t n, int digits)
{
    put_row(e, NULL, x, n, digits);
}

void attn_explain_floats(struct attn_explainer *e, const float *x, size_t n, int digits)
{
    put_row(e, x, NULL, n, digits);
}

/* Tokens that are always shown: both ends of the range, and those the explanation is about. */
static bool kept(const struct attn_explainer *e, struct attn_reach r, size_t t)
{
    const size_t front = 3, back = 2;
    const struct attn_worked *w = e->w;
    return e->all || r.hi - r.lo <= TOKENS_MOST || t < r.lo + front || t >= r.hi - back ||
           (r.of == w->tokens && t == w->query) || (r.of == w->keys && (t == w->key || t == w->heaviest));
}

enum attn_showing attn_explain_token_showing(const struct attn_explainer *e, struct attn_reach r, size_t t)
{
    if (kept(e, r, t))
        return ATTN_SHOWN;
    return t == r.lo || kept(e, r, t - 1) ? ATTN_GAP : ATTN_PASSED;
}

size_t attn_explain_gap_end(const struct attn_explainer *e, struct attn_reach r, size_t t)
{
    while (t < r.hi && !kept(e, r, t))
        t++;
    return t;
}

struct attn_number attn_explain_number(const struct attn_explainer *e, double x)
{
    return attn_rounded(x, attn_grid_digits(isfinite(x) ? fabs(x) : 0, e->precision));
}

bool attn_spot_numbered(const struct attn_spot *s)
{
    const struct attn_token *tok = &s->of->tok[s->t];
    char number[24];
    size_t n = (size_t)snprintf(number, sizeof number, "%zu", s->t);
    return tok->text_len == n && !memcmp(tok->text, number, n);
}

const char *attn_explain_token(const struct attn_explainer *e, char buf[ATTN_TOKEN_NAME], const struct attn_spot *s)
{
    const struct attn_token *tok = &s->of->tok[s->t];
    if (e->w->model->attend && attn_spot_numbered(s)) {
        snprintf(buf, ATTN_TOKEN_NAME, tr(e, "row %zu"), s->t);
        return buf;
    }
    struct attn_label label = attn_label_token(tok, NAME_MOST);
    snprintf(buf, ATTN_TOKEN_NAME, tok->known ? tr(e, "\"%s\"") : tr(e, "id %s"), label.text);
    return buf;
}

const char *attn_explain_kind(const struct attn_explainer *e, char buf[ATTN_EXPLAIN_KIND])
{
    const char *comma = tr(e, ", "), *at;
    char note[ATTN_KIND_NOTE];
    size_t n = 0;
    *buf = '\0';
    for (const char *s = attn_kind_note(note, &e->asked); *s && n < ATTN_EXPLAIN_KIND; s = at) {
        s += strlen(", ");
        at = strstr(s, ", ");
        at = at ? at : s + strlen(s);
        n += (size_t)snprintf(buf + n, ATTN_EXPLAIN_KIND - n, "%s%.*s", n ? comma : "", (int)(at - s), s);
    }
    return buf;
}

void attn_explain_token_cell(struct attn_explainer *e, const struct attn_token *t)
{
    attn_derive_cell(&e->d, "%s", attn_label_token(t, LABEL_MOST).text);
}

int attn_explain_begin(struct attn_explainer *e, const struct attn_explain_opts *o, struct attn_err *err)
{
    if (o->lang && attn_language_choose(&e->d.language, o->lang, err))
        return err->code;
    if (o->precision < 0 || o->precision > ATTN_PRECISION_MOST)
        return attn_fail(err, ATTN_EUSAGE, "%d digits after the point, expected 0 to %d", o->precision,
                         ATTN_PRECISION_MOST);
    return attn_font_check(o->font, o->font_index, err);
}

int attn_explain_write(struct attn_explainer *e, const struct attn_explain_opts *o, struct attn_err *err)
{
    struct attn_out *out;
    struct attn_lacks lacks = {.n = 0};
    struct attn_derivation_style style = {.color = o->color, .width = o->width > 0 ? o->width : 0, .font = o->font,
                                          .font_index = o->font_index, .lacks = &lacks};
    struct attn_worksheet_opts sheet = {o->gaps, o->seed, o->answers};
    int rc = o->gaps ? attn_worksheet_make(&e->d, &sheet, err) : ATTN_OK;
    if (rc || (rc = attn_out_open(&out, o->path, err)))
        return rc;
    rc = attn_derivation_write(out, &e->d, o->format ? o->format : "text", &style, err);
    if (o->note)
        attn_lacks_text(o->note, ATTN_PLOT_NOTE, &lacks, ".html or .md");
    return attn_out_end(out, rc, err);
}

/* ---- one weight ------------------------------------------------------------------------ */

static void introduce(struct attn_explainer *e)
{
    const struct attn_worked *w = e->w;
    struct attn_info m;
    struct attn_spot query = attn_worked_query(w), key = attn_worked_key(w);
    char query_name[ATTN_TOKEN_NAME], key_name[ATTN_TOKEN_NAME], kind[ATTN_EXPLAIN_KIND];
    const char *where = attn_worked_cross(w) ? tr(e, " of the other text") : "";
    attn_model_info(w->model, &m);
    attn_derive_title(&e->d, "How %s (token %zu) attends to %s (token %zu%s)",
                      attn_explain_token(e, query_name, &query), w->query, attn_explain_token(e, key_name, &key),
                      w->key, where);
    attn_derive_words(&e->d, "Model %s (%s), layer %zu (of %zu), head %zu (of %zu).  The query is token %zu, "
                      "the key is token %zu%s%s; all indices are counted from 0.",
                      m.name, m.family, w->layer, m.L, w->head, m.H, w->query, w->key, where,
                      w->key == w->heaviest ? tr(e, ", the one with the largest weight") : "");
    if (*attn_explain_kind(e, kind))
        attn_derive_words(&e->d, "Instead of the model's own attention: %s.", kind);
    attn_derive_words(&e->d, "Activations are the numbers of a run, rounded as attn-cli run prints them; sums and "
                             "products are computed before rounding, so the rounded terms of a sum may not add up to "
                             "its last digit.%s",
                      e->all ? "" : tr(e, "  Long vectors are shortened: … stands for what is left out."));
    if (!attn_edits_count(e->edits))
        return;
    attn_derive_words(&e->d,
                      "The run is edited as follows.  A number that an edit reaches is shown as it flowed on: it need "
                      "not be what the terms beside it give.");
    for (size_t i = 0; i < attn_edits_count(e->edits); i++)
        attn_derive_command(&e->d, "%s", attn_edits_text(e->edits, i));
}

static void same_number(struct attn_explainer *e, int act, size_t col, double x)
{
    const struct attn_worked *w = e->w;
    char name[ATTN_NAME_MAX];
    attn_act_name(name, act, (int)w->layer);
    attn_derive_cell(&e->d, "%s", name);
    if (act == ATTN_ACT_CONTEXT)
        attn_derive_cell(&e->d, "row %zu, column %zu", w->query, col);
    else
        attn_derive_cell(&e->d, "head %zu, row %zu, column %zu", w->head, w->query, col);
    attn_derive_number(&e->d, x, attn_explain_digits(e, act));
}

void attn_explain_places(struct attn_explainer *e)
{
    static const int squares[] = {ATTN_ACT_DOTS, ATTN_ACT_SCORES, ATTN_ACT_PATTERN};
    const struct attn_worked *w = e->w;
    size_t dv = w->model->w.n.dv;
    attn_derive_step(&e->d, "The same numbers elsewhere");
    bool context = attn_worked_has(w, ATTN_ACT_CONTEXT);
    attn_derive_words(&e->d, e->run ? "This command prints them at the places below." :
                      "attn-cli run prints them at the places below, given the same model, text and attention "
                      "options.");
    attn_derive_command(&e->d, "%s --show %s%spattern%s --layer %zu --head %zu", e->run ? e->run : "attn-cli run ...",
                        attn_worked_has(w, ATTN_ACT_DOTS) ? "dots," : "",
                        attn_worked_has(w, ATTN_ACT_SCORES) ? "scores," : "", context ? ",context" : "", w->layer,
                        w->head);
    attn_derive_table(&e->d, 3);
    attn_derive_cell(&e->d, "activation");
    attn_derive_cell(&e->d, "place");
    attn_derive_cell(&e->d, "number");
    for (size_t i = 0; i < sizeof squares / sizeof *squares; i++)
        if (attn_worked_has(w, squares[i]))
            same_number(e, squares[i], w->key, attn_worked_row(w, squares[i], w->query)[w->key]);
    for (size_t c = 0; c < dv && context; c++)
        if (attn_explain_showing(e, dv, c) == ATTN_SHOWN)
            same_number(e, ATTN_ACT_CONTEXT, w->head * dv + c, attn_worked_row(w, ATTN_ACT_CONTEXT, w->query)[c]);
}

static int derive(struct attn_explainer *e, struct attn_err *err)
{
    struct attn_spot query = attn_worked_query(e->w), key = attn_worked_key(e->w);
    bool same = key.of == query.of && key.t == query.t;
    if (e->w->model->attend) {
        attn_explain_given(e);
        return ATTN_OK;
    }
    introduce(e);
    attn_explain_diagram(e);
    attn_explain_tokens(e);
    if (attn_explain_input(e, &query, err) || attn_explain_vector(e, ATTN_ACT_Q, err))
        return err->code;
    if (!same && attn_explain_input(e, &key, err))
        return err->code;
    if (attn_explain_vector(e, ATTN_ACT_K, err))
        return err->code;
    attn_explain_weight(e);
    attn_explain_context(e);
    attn_explain_places(e);
    return ATTN_OK;
}

/* Takes a line for a shell, unless it has what a terminal or a page cannot show as it is: then it is none to copy. */
static int take_run(struct attn_explainer *e, const char *line, struct attn_err *err)
{
    char *shown = line ? attn_utf8_readable(line, strlen(line)) : NULL;
    if (line && !shown)
        return attn_no_memory(err, NULL, "for the command line that is quoted");
    e->run = shown && !strcmp(shown, line) ? line : NULL;
    free(shown);
    return ATTN_OK;
}

int attn_explain(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_explain_opts *o,
                 struct attn_err *err)
{
    struct attn_worked w;
    struct attn_explainer e = {.w = &w, .precision = o->precision, .all = o->all, .asked = o->kind, .edits = o->edits};
    struct attn_err local = {0};
    err = err ? err : &local;
    int rc = attn_explain_begin(&e, o, err);
    if (rc)
        return rc;
    rc = attn_worked_run(&w, m, tokens, o, err);
    if (!rc)
        rc = take_run(&e, o->run, err);
    if (!rc)
        rc = derive(&e, err);
    if (!rc)
        rc = attn_explain_write(&e, o, err);
    attn_derivation_free(&e.d);
    attn_worked_free(&w);
    return rc;
}
