/* article.h - an article on attention as data, and what it is read with.
 *
 * An article is a list of rows, in the order in which they are read: the heading of a listing, prose, the example that
 * the listing computes, tables of it, the digits that the article prints.  Each example is computed by this library
 * from the article's own inputs, weights or seed, and the digits are held against the result.  What only one article
 * does is a function of its file.  A further article is one file of rows and one row of article.c.  Facts and printed
 * figures are the article's; the words are ours. */
#ifndef ATTN_EXPLAIN_ARTICLE_H
#define ATTN_EXPLAIN_ARTICLE_H

#include "base/rng.h"
#include "explain/explain.h"

struct attn_row;
struct attn_article {
    const char *number, *name;          /* lesson takes either */
    const char *title, *about;          /* about: what to know before the first listing */
    const struct attn_row *row;         /* a heading first; ends with END */
};
extern const struct attn_article attn_article_life, attn_article_heads, attn_article_journey, attn_article_chicken,
    attn_article_language;

/* ---- examples: attention computed from inputs and weights (example.c) ---- */

/* The weights of all heads: of one after the other [d, n], or with transposed as nn.Linear holds them, [n, d].  w NULL:
 * the identity; b [heads, n] or NULL. */
struct attn_projection { const float *w, *b; bool transposed; };

struct attn_example {
    size_t batch, T, Tk;                /* batch 0: 1; Tk: tokens of y, 0: y is x */
    size_t d, H, dk, dv, out;           /* out 0: no output projection */
    const float *x, *y;                 /* [batch, T, d]; y [batch, Tk, d] has the keys and values, NULL: x has */
    const float *queries, *keys, *values;               /* [batch, H, ...]; NULL: made of x and y */
    struct attn_projection q, k, v, o;
    bool unscaled;
    struct attn_kind kind; const uint8_t *mask;         /* mask [T, Tk] for ATTN_MASKED */

    /* Results, in the lesson's room: [batch, H, ...], the last two [batch, T, ...] */
    float *dots, *scores, *pattern, *context, *joined, *output;
    float *made;                        /* [T, Tk] what an article makes of them */
};

/* How numbers are drawn, as torch draws them, each letter of `of` in turn: x and y are inputs, q, k, v and o maps. */
enum attn_drawing {
    ATTN_DRAW_NOTHING,
    ATTN_DRAW_SEED,                     /* the seed once more */
    ATTN_DRAW_RAND, ATTN_DRAW_RANDN,    /* torch.rand, torch.randn; q, k and v are then queries, keys and values */
    ATTN_DRAW_EMBEDDED,                 /* the tokens' rows of a table of so many rows of torch.randn */
    ATTN_DRAW_LINEAR, ATTN_DRAW_UNBIASED,               /* nn.Linear for all heads, with bias and without */
    ATTN_DRAW_HEADS                     /* uniform matrices from lo to hi: all letters of one head, then of the next */
};
struct attn_draw_step { enum attn_drawing how; const char *of; float lo, hi; size_t rows; };
#define DRAW(manner, ...) {.how = ATTN_DRAW_##manner, .of = __VA_ARGS__}

/* An example before it is computed. */
enum { ATTN_DRAW_STEPS = 5 };
struct attn_setup {
    struct attn_example e;              /* sizes, kind, and inputs that are given */
    const char *const *names, *const *columns;          /* of its tokens, for rows, and for columns that are keys */
    const size_t *ids;                  /* of its tokens, to be embedded */
    uint64_t seed;
    const struct attn_setup *after;     /* has its inputs, and goes on with its random numbers; NULL: has a seed */
    struct attn_draw_step draw[ATTN_DRAW_STEPS];        /* those after the last are nothing */
};

/* ---- rows of an article (lesson.c) ---- */

/* Numbers to show: of the example, `at` counts them over batch and heads; of the cell that is looked at. */
enum attn_numbers {
    ATTN_NUMBERS_X, ATTN_NUMBERS_Y, ATTN_NUMBERS_QUERIES, ATTN_NUMBERS_KEYS, ATTN_NUMBERS_VALUES, ATTN_NUMBERS_DOTS,
    ATTN_NUMBERS_SCORES, ATTN_NUMBERS_PATTERN, ATTN_NUMBERS_CONTEXT, ATTN_NUMBERS_JOINED, ATTN_NUMBERS_OUTPUT,
    ATTN_NUMBERS_MADE, ATTN_NUMBERS_CELL_DOTS, ATTN_NUMBERS_CELL_PATTERN, ATTN_NUMBERS_CELL_CONTEXT
};

enum attn_row_kind {
    ATTN_ROW_END, ATTN_ROW_HEADING, ATTN_ROW_PART, ATTN_ROW_PLACE, ATTN_ROW_FORMULA, ATTN_ROW_DIAGRAM, ATTN_ROW_WORDS,
    ATTN_ROW_ERRATUM, ATTN_ROW_COMMAND, ATTN_ROW_EXAMPLE, ATTN_ROW_AGAIN, ATTN_ROW_KEEP, ATTN_ROW_TABLE,
    ATTN_ROW_HEADS, ATTN_ROW_PRINTED, ATTN_ROW_WEIGHT, ATTN_ROW_LOOK, ATTN_ROW_VECTOR, ATTN_ROW_STEP, ATTN_ROW_OWN
};
struct attn_lesson;
struct attn_row {
    enum attn_row_kind kind;
    const char *text;                   /* prose, a command, a sentence; what numbers are called */
    const char *digits;                 /* that the article prints */
    enum attn_numbers of;
    size_t at, row, rows, col, cols;    /* which part of them: from row and col on; rows, cols 0: all */
    const struct attn_setup *setup;
    const struct attn_formula *formula;
    enum attn_form form;
    const char *model; size_t query, key;
    int act; void (*step)(struct attn_explainer *e);
    int (*own)(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err);
    const char *about;                  /* for that function */
};

#define HEADING(title)          {.kind = ATTN_ROW_HEADING, .text = title}
#define PART(title)             {.kind = ATTN_ROW_PART, .text = title}      /* of the heading: 4.1, 4.2 */
#define PLACE(words)            {.kind = ATTN_ROW_PLACE, .text = words} /* in the article, as it numbers or calls it */
#define FORMULA(which)          {.kind = ATTN_ROW_FORMULA, .formula = &attn_formula_##which}
#define DIAGRAM(from, to)       {.kind = ATTN_ROW_DIAGRAM, .query = from, .key = to}        /* of the example */
#define SAY(words)              {.kind = ATTN_ROW_WORDS, .text = words}
#define ERRATUM(words)          {.kind = ATTN_ROW_ERRATUM, .text = words}
#define COMMAND(line)           {.kind = ATTN_ROW_COMMAND, .text = line}
#define EXAMPLE(which)          {.kind = ATTN_ROW_EXAMPLE, .setup = &(which)}       /* computes what later rows show */
#define AGAIN(other)            {.kind = ATTN_ROW_AGAIN, .form = ATTN_##other}  /* of the same queries, keys, values */
#define KEEP                    {.kind = ATTN_ROW_KEEP}     /* its pattern, for a row that compares */
#define TABLE(what, ...)        {.kind = ATTN_ROW_TABLE, .text = what, .of = ATTN_NUMBERS_##__VA_ARGS__}
#define HEADS(sentence)         {.kind = ATTN_ROW_HEADS, .at = sentence}            /* the weights of all heads */
#define PRINTED(what, figures, ...) \
    {.kind = ATTN_ROW_PRINTED, .text = what, .digits = figures, .of = ATTN_NUMBERS_##__VA_ARGS__}
#define WEIGHT(from, to)        {.kind = ATTN_ROW_WEIGHT, .query = from, .key = to} /* as sums */
#define LOOK(named, words, from, to) {.kind = ATTN_ROW_LOOK, .model = named, .text = words, .query = from, .key = to}
#define VECTOR(which)           {.kind = ATTN_ROW_VECTOR, .act = ATTN_ACT_##which}  /* steps for that cell */
#define STEP(which)             {.kind = ATTN_ROW_STEP, .step = attn_explain_##which}
#define OWN(...)                {.kind = ATTN_ROW_OWN, .own = __VA_ARGS__}          /* a function of the article */
#define END                     {.kind = ATTN_ROW_END}

/* Shows a row; an article's are shown in their order. */
int attn_row_show(struct attn_lesson *r, const struct attn_row *row, struct attn_err *err);

/* ---- a lesson: what rows are shown with ---- */

/* Numbers that the article prints, those of them that come out here, too, and errors that were pointed out. */
struct attn_checked { size_t places, printed, same, errata; };      /* numbers printed in so many places */

struct attn_lesson {
    struct attn_explainer e;            /* the derivation, and the cell that is looked at closely */
    struct attn_worked w;
    struct attn_model *model; struct attn_tokens *tokens;       /* of that cell */
    struct attn_checked checked;
    const struct attn_setup *setup; struct attn_example example;
    const float *kept;                  /* the pattern of an earlier one */
    struct attn_rng rng;
    float *room; size_t used;           /* where examples have their numbers */
    struct attn_team *team;             /* of one: for products */
    float *cell[3];                     /* there, rows of the cell that is looked at: dots, weights, context */
};
enum { ATTN_LESSON_ROOM = 1 << 18 };   /* floats; an article uses up to 120,000 */

int attn_lesson_new(struct attn_lesson **out, const struct attn_explain_opts *o, struct attn_err *err);
void attn_lesson_free(struct attn_lesson *r);                     /* NULL is fine */

/* What rows and columns are called: names or, where these are NULL, such words as "key %zu", or else numbers; long rows
 * of numbered columns are abridged. */
struct attn_called { const char *const *rows, *const *cols; const char *row, *col; };
/* A table of x [rows, cols], which are called `what`; weights of attention are in colour. */
void attn_lesson_matrix(struct attn_lesson *r, const char *what, const float *x, size_t rows, size_t cols,
                        const struct attn_called *called, bool weights);
/* Compares x [rows, cols] with what the article prints as `what`, each number to as many digits as are printed, and
 * says what came of it.  One row is quoted; a table of several is shown again only where it differs. */
void attn_lesson_printed(struct attn_lesson *r, const char *what, const float *x, size_t rows, size_t cols,
                         const char *digits);
/* How many of x[0..n) are what is printed. */
size_t attn_lesson_matches(const float *x, size_t n, const char *digits);
void attn_lesson_erratum(struct attn_lesson *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool attn_lesson_equal(const float *a, const float *b, size_t n);

/* ---- computing examples (example.c) ---- */

/* Makes an example of a setup, drawing what is to be drawn; computes its attention; the same under another kind. */
void attn_example_draw(struct attn_lesson *r, struct attn_example *e, const struct attn_setup *s);
int attn_example_run(struct attn_lesson *r, struct attn_example *e, struct attn_err *err);
int attn_example_again(struct attn_lesson *r, struct attn_example *e, enum attn_form form, struct attn_err *err);

/* One weight of the first head as sums: dot product, scale, softmax, and the first number of the context. */
void attn_example_weight(struct attn_lesson *r, const struct attn_example *e, size_t query, size_t key);

/* The example as a diagram, with the numbers of a query and a key of its first head (diagram.c). */
void attn_example_diagram(struct attn_lesson *r, size_t query, size_t key);

/* From the lesson's room, which is large enough for every article. */
float *attn_lesson_floats(struct attn_lesson *r, size_t n);

#endif
