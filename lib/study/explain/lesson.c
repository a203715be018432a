/* lesson.c - shows the rows of an article: tables, the digits that the article prints beside the computed ones, its
 * errata, and a cell of a built-in model for the steps that explain one weight. */
#include "explain/article.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/team.h"

/* ---- what is read ---------------------------------------------------------------------- */

int attn_lesson_new(struct attn_lesson **out, const struct attn_explain_opts *o, struct attn_err *err)
{
    struct attn_lesson *r = *out = calloc(1, sizeof *r);
    if (r)
        r->room = calloc(ATTN_LESSON_ROOM, sizeof *r->room);
    if (!r || !r->room) {
        attn_lesson_free(r);
        *out = NULL;
        return attn_no_memory(err, NULL, "for an article");
    }
    if (attn_team_new(&r->team, 1, err)) {
        attn_lesson_free(r);
        *out = NULL;
        return err->code;
    }
    r->e = (struct attn_explainer){.w = &r->w, .precision = o->precision, .all = o->all};
    return ATTN_OK;
}

static void look_away(struct attn_lesson *r)
{
    attn_worked_free(&r->w);
    attn_tokens_free(r->tokens);
    attn_model_close(r->model);
    r->tokens = NULL;
    r->model = NULL;
}

void attn_lesson_free(struct attn_lesson *r)
{
    if (!r)
        return;
    look_away(r);
    attn_derivation_free(&r->e.d);
    attn_team_free(r->team);
    free(r->room);
    free(r);
}

/* Runs a built-in model on a sentence, for the steps of explain.h to show one cell of it.  Replaces an earlier one. */
static int look(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    struct attn_tokenizer *tokenizer = NULL;
    struct attn_explain_opts cell = {.query = row->query, .key = row->key, .threads = 1};
    look_away(r);
    int rc = attn_model_open(&r->model, row->model, err);
    if (!rc)
        rc = attn_tokenizer_open(&tokenizer, row->model, err);
    if (!rc)
        rc = attn_encode(&r->tokens, tokenizer, row->text, strlen(row->text), err);
    attn_tokenizer_close(tokenizer);
    return rc ? rc : attn_worked_run(&r->w, r->model, r->tokens, &cell, err);
}

/* ---- tables ---------------------------------------------------------------------------- */

enum { WHOLE = 8 };                     /* columns that fit beside a label in 80 */

static void name(struct attn_derivation *d, const char *const *names, const char *word, size_t i)
{
    if (names)
        attn_derive_cell(d, "%s", names[i]);
    else
        attn_derive_cell(d, word ? word : "%zu", i);
}

static void whole_matrix(struct attn_lesson *r, const char *what, const float *x, size_t rows, size_t cols,
                         const struct attn_called *called, bool weights)
{
    struct attn_derivation *d = &r->e.d;
    attn_derive_table(d, 1 + cols);
    attn_derive_cell(d, "%s", tr(&r->e, what));
    for (size_t j = 0; j < cols; j++)
        name(d, called->cols, called->col, j);
    for (size_t i = 0; i < rows; i++) {
        name(d, called->rows, called->row, i);
        for (size_t j = 0; j < cols; j++)
            (weights ? attn_derive_weight : attn_derive_number)(d, (double)x[i * cols + j], r->e.precision);
    }
}

void attn_lesson_matrix(struct attn_lesson *r, const char *what, const float *x, size_t rows, size_t cols,
                        const struct attn_called *called, bool weights)
{
    if (cols <= WHOLE || called->cols || called->col) {
        whole_matrix(r, what, x, rows, cols, called, weights);
        return;
    }
    attn_derive_table(&r->e.d, 1 + attn_explain_cells(&r->e, cols));
    attn_explain_columns(&r->e, cols, what);
    for (size_t i = 0; i < rows; i++) {
        name(&r->e.d, called->rows, called->row, i);
        attn_explain_floats(&r->e, x + i * cols, cols, r->e.precision);
    }
}

/* ---- digits ---------------------------------------------------------------------------- */

enum { LONGEST = 24, MOST = 512 };      /* characters of a printed number; of a quoted row of them */

/* The next printed number, such as "-0.0436", "1." or "-inf"; returns what follows it. */
static const char *next(char digits[LONGEST], const char *at)
{
    at += strspn(at, " ,;[]\n");
    size_t n = strcspn(at, " ,;[]\n");
    assert(n > 0 && n < LONGEST);
    memcpy(digits, at, n);
    digits[n] = '\0';
    return at + n;
}

/* x as it is printed with as many digits after the point, of which there may be none: "1.". */
static void print_like(char ours[ATTN_NUM_FIXED_MAX + 1], float x, const char *digits)
{
    const char *point = strchr(digits, '.');
    size_t n = attn_num_fixed(ours, (double)x, point ? (int)strlen(point + 1) : 0);
    if (point && !point[1])
        ours[n++] = '.';
    ours[n] = '\0';
}

static bool agrees(const char **at, float x, char digits[LONGEST])
{
    char ours[ATTN_NUM_FIXED_MAX + 1];
    *at = next(digits, *at);
    print_like(ours, x, digits);
    return strcmp(ours, digits) == 0;
}

/* Our numbers in place of the printed ones. */
static void quote(char text[MOST], const float *x, size_t n, const char *at)
{
    char digits[LONGEST], ours[ATTN_NUM_FIXED_MAX + 1];
    size_t used = 0;
    for (size_t i = 0; i < n && used < MOST; i++) {
        at = next(digits, at);
        print_like(ours, x[i], digits);
        used += (size_t)snprintf(text + used, MOST - used, i ? ", %s" : "%s", ours);
    }
}

/* A table of what is printed; numbers that differ are marked. */
static void show_printed(struct attn_derivation *d, const float *x, size_t rows, size_t cols, const char *at)
{
    char digits[LONGEST];
    attn_derive_table(d, cols + 1);
    attn_derive_cell(d, "printed");
    for (size_t j = 0; j < cols; j++)
        attn_derive_cell(d, "%zu", j);
    for (size_t i = 0; i < rows * cols; i++) {
        if (i % cols == 0)
            attn_derive_cell(d, "%zu", i / cols);
        bool same = agrees(&at, x[i], digits);
        attn_derive_cell(d, same ? "%s" : "%s*", digits);
    }
}

size_t attn_lesson_matches(const float *x, size_t n, const char *digits)
{
    char one[LONGEST];
    size_t same = 0;
    for (size_t i = 0; i < n; i++)
        same += agrees(&digits, x[i], one);
    return same;
}

void attn_lesson_printed(struct attn_lesson *r, const char *what, const float *x, size_t rows, size_t cols,
                         const char *digits)
{
    struct attn_derivation *d = &r->e.d;
    char ours[MOST];
    assert(cols > 0);
    what = tr(&r->e, what);
    size_t n = rows * cols, same = attn_lesson_matches(x, n, digits);
    r->checked.places++;
    r->checked.printed += n;
    r->checked.same += same;
    quote(ours, x, n, digits);
    if (rows > 1 && same == n)
        attn_derive_words(d, "Printed: %s, %zu numbers.  The numbers here are the same, digit by digit.", what, n);
    else if (rows > 1)
        attn_derive_words(d, "Printed: %s, %zu numbers, of which %zu differ from those here (*):", what, n, n - same);
    else if (n == 1)
        attn_derive_words(d, same ? "Printed: %s: %s.  The number here is the same." :
                          "Printed: %s: %s.  Here it is %s.", what, digits, ours);
    else if (same == n)
        attn_derive_words(d, "Printed: %s: [%s].  The numbers here are the same.", what, digits);
    else if (same)
        attn_derive_words(d, "Printed: %s: [%s].  Here: [%s]; %zu of %zu differ.", what, digits, ours, n - same, n);
    else
        attn_derive_words(d, "Printed: %s: [%s].  Here: [%s]; all %zu differ.", what, digits, ours, n);
    if (rows > 1 && same < n)
        show_printed(d, x, rows, cols, digits);
}

void attn_lesson_erratum(struct attn_lesson *r, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    if (attn_vasprintf(&text, tr(&r->e, fmt), args) < 0)
        text = NULL;
    va_end(args);
    r->e.d.failed = r->e.d.failed || !text;
    attn_derive_words(&r->e.d, "Erratum: %s", text ? text : "");
    r->checked.errata++;
    free(text);
}

bool attn_lesson_equal(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* ---- numbers, and what their rows and columns are called --------------------------------- */

struct numbers { const float *x; size_t rows, cols; struct attn_called called; bool weights; };

/* A row of the cell that is looked at: of its query. */
static struct numbers of_cell(struct attn_lesson *r, enum attn_numbers of)
{
    static const int acts[] = {ATTN_ACT_DOTS, ATTN_ACT_PATTERN, ATTN_ACT_CONTEXT};
    int act = acts[of - ATTN_NUMBERS_CELL_DOTS];
    const double *x = attn_worked_row(&r->w, act, r->w.query);
    const size_t cols = r->w.seen[act].cols;
    float **row = &r->cell[of - ATTN_NUMBERS_CELL_DOTS];
    *row = *row ? *row : attn_lesson_floats(r, cols);
    for (size_t j = 0; j < cols; j++)
        (*row)[j] = (float)x[j];
    return (struct numbers){.x = *row, .rows = 1, .cols = cols};
}

static bool are_weights(const float *x, size_t n)
{
    for (size_t i = 0; x && i < n; i++)
        if (!(x[i] >= 0 && x[i] <= 1))
            return false;
    return true;
}

/* Of the example, with the names of its tokens; another sequence that it reads has none. */
static struct numbers of_example(const struct attn_lesson *r, enum attn_numbers of)
{
    const struct attn_example *e = &r->example;
    const char *const *names = r->setup->names;
    const char *token = tr(&r->e, "token %zu"), *head = e->H > 1 && e->dv == 1 ? tr(&r->e, "head %zu") : NULL;
    const struct attn_called q = {names, NULL, token, NULL}, k = {r->setup->e.Tk ? NULL : names, NULL, token, NULL};
    const struct attn_called joined = {names, NULL, token, head};
    const struct attn_called pairs = {names, r->setup->columns, tr(&r->e, "query %zu"), tr(&r->e, "key %zu")};
    const struct numbers all[] = {
        [ATTN_NUMBERS_X] = {e->x, e->T, e->d, q, false},
        [ATTN_NUMBERS_Y] = {e->y, e->Tk, e->d, k, false},
        [ATTN_NUMBERS_QUERIES] = {e->queries, e->T, e->dk, q, false},
        [ATTN_NUMBERS_KEYS] = {e->keys, e->Tk, e->dk, k, false},
        [ATTN_NUMBERS_VALUES] = {e->values, e->Tk, e->dv, k, false},
        [ATTN_NUMBERS_DOTS] = {e->dots, e->T, e->Tk, pairs, false},
        [ATTN_NUMBERS_SCORES] = {e->scores, e->T, e->Tk, pairs, false},
        [ATTN_NUMBERS_PATTERN] = {e->pattern, e->T, e->Tk, pairs, true},
        [ATTN_NUMBERS_CONTEXT] = {e->context, e->T, e->dv, q, false},
        [ATTN_NUMBERS_JOINED] = {e->joined, e->T, e->H * e->dv, joined, false},
        [ATTN_NUMBERS_OUTPUT] = {e->output, e->T, e->out, q, false},
        [ATTN_NUMBERS_MADE] = {e->made, e->T, e->Tk, pairs, are_weights(e->made, e->T * e->Tk)}};
    return all[of];
}

/* The part that a row asks for; it asks for some of the columns of one row only. */
static struct numbers find(struct attn_lesson *r, const struct attn_row *row)
{
    struct numbers n = row->of < ATTN_NUMBERS_CELL_DOTS ? of_example(r, row->of) : of_cell(r, row->of);
    n.x += (row->at * n.rows + row->row) * n.cols + row->col;
    n.called.rows = n.called.rows ? n.called.rows + row->row : NULL;
    n.rows = row->rows ? row->rows : n.rows - row->row;
    n.cols = row->cols ? row->cols : n.cols;
    return n;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void table(struct attn_lesson *r, const struct attn_row *row)
{
    struct numbers n = find(r, row);
    attn_lesson_matrix(r, row->text, n.x, n.rows, n.cols, &n.called, n.weights);
}

static void heads(struct attn_lesson *r, size_t sentence)
{
    for (size_t h = 0; h < r->example.H; h++) {
        attn_derive_words(&r->e.d, "Head %zu:", h);
        table(r, &(struct attn_row)TABLE("weights", PATTERN, .at = sentence * r->example.H + h));
    }
}

static void printed(struct attn_lesson *r, const struct attn_row *row)
{
    struct numbers n = find(r, row);
    attn_lesson_printed(r, row->text, n.x, n.rows, n.cols, row->digits);
}

static int example(struct attn_lesson *r, const struct attn_setup *s, struct attn_err *err)
{
    r->setup = s;
    attn_example_draw(r, &r->example, s);
    return attn_example_run(r, &r->example, err);
}

/* A step of explain.h is part of what the article has a heading for. */
static int part(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    int rc = ATTN_OK;
    r->e.d.nested = true;
    if (row->step)
        row->step(&r->e);
    else
        rc = attn_explain_vector(&r->e, row->act, err);
    r->e.d.nested = false;
    return rc;
}

int attn_row_show(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err)
{
    switch (row->kind) {
    case ATTN_ROW_HEADING: attn_derive_step(&r->e.d, "%s", tr(&r->e, row->text)); break;
    case ATTN_ROW_PART: attn_derive_part(&r->e.d, "%s", tr(&r->e, row->text)); break;
    case ATTN_ROW_PLACE: attn_derive_words(&r->e.d, "In the article: %s.", tr(&r->e, row->text)); break;
    case ATTN_ROW_FORMULA: attn_derive_formula(&r->e.d, row->formula); break;
    case ATTN_ROW_DIAGRAM: attn_example_diagram(r, row->query, row->key); break;
    case ATTN_ROW_WORDS: attn_derive_words(&r->e.d, "%s", tr(&r->e, row->text)); break;
    case ATTN_ROW_ERRATUM: attn_lesson_erratum(r, "%s", tr(&r->e, row->text)); break;
    case ATTN_ROW_COMMAND: attn_derive_command(&r->e.d, "%s", row->text); break;
    case ATTN_ROW_EXAMPLE: return example(r, row->setup, err);
    case ATTN_ROW_AGAIN: return attn_example_again(r, &r->example, row->form, err);
    case ATTN_ROW_KEEP: r->kept = r->example.pattern; break;
    case ATTN_ROW_TABLE: table(r, row); break;
    case ATTN_ROW_HEADS: heads(r, row->at); break;
    case ATTN_ROW_PRINTED: printed(r, row); break;
    case ATTN_ROW_WEIGHT: attn_example_weight(r, &r->example, row->query, row->key); break;
    case ATTN_ROW_LOOK: return look(r, row, err);
    case ATTN_ROW_VECTOR:
    case ATTN_ROW_STEP: return part(r, row, err);
    case ATTN_ROW_OWN: return row->own(r, row, err);
    case ATTN_ROW_END: break;
    }
    return ATTN_OK;
}
