/* article.h - an article on attention as data, and what it is read with.
 *
 * An article is a table of listings.  Each computes by this library what the article's listing computes, from the article's own
 * inputs, weights or seed, and holds the digits that the article prints against the result.  A further article is one file and
 * one row of article.c.  Facts and printed figures are the article's; the words are ours. */
#ifndef ATTN_EXPLAIN_ARTICLE_H
#define ATTN_EXPLAIN_ARTICLE_H

#include "base/rng.h"
#include "explain/explain.h"

struct attn_lesson;
struct attn_listing {
    const char *title;                  /* NULL: the list ends here */
    int (*show)(struct attn_lesson *r, struct attn_err *err);
};
struct attn_article {
    const char *number, *name;          /* --article takes either */
    const char *title, *about;          /* about: what to know before the first listing */
    const struct attn_listing *listing;
};
extern const struct attn_article attn_article_life, attn_article_heads, attn_article_journey, attn_article_chicken,
    attn_article_language;

/* ---- a lesson: what listings are shown with (lesson.c) ---- */

/* Numbers that the article prints, those of them that come out here, too, and errors that were pointed out. */
struct attn_checked { size_t printed, same, errata; };

struct attn_lesson {
    struct attn_explainer e;            /* the derivation, and the cell that is looked at closely */
    struct attn_worked w;
    struct attn_model *model; struct attn_tokens *tokens;       /* of that cell */
    struct attn_checked checked;
    struct attn_rng rng;
    float *room; size_t used;           /* where examples have their numbers */
    const float *kept;                  /* inputs that several listings share, once one has made them */
};
enum { ATTN_LESSON_ROOM = 1 << 18 };   /* floats; the largest table of an article has 150,000 */

int attn_lesson_new(struct attn_lesson **out, const struct attn_explain_opts *o, struct attn_err *err);
void attn_lesson_free(struct attn_lesson *r);                     /* NULL is fine */

/* Runs a built-in model on a sentence, for the steps of explain.h to show one cell of it.  Replaces an earlier one. */
int attn_lesson_look(struct attn_lesson *r, const char *model, const char *sentence, size_t query, size_t key,
                      struct attn_err *err);

/* A table of x [rows, cols], which are called `what`.  Names NULL: numbered; long rows are then abridged. */
void attn_lesson_matrix(struct attn_lesson *r, const char *what, const float *x, size_t rows, size_t cols,
                         const char *const *row_names, const char *const *col_names);
/* Compares x [rows, cols] with what the article prints as `what`, each number to as many digits as are printed, and says what
 * came of it.  One row is quoted; a table of several is shown again only where it differs. */
void attn_lesson_printed(struct attn_lesson *r, const char *what, const float *x, size_t rows, size_t cols, const char *digits);
/* How many of x[0..n) are what is printed. */
size_t attn_lesson_matches(const float *x, size_t n, const char *digits);
void attn_lesson_erratum(struct attn_lesson *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- examples: attention computed from inputs and weights (example.c) ---- */

/* The weights of all heads: of one after the other [d, n], or with transposed as nn.Linear holds them, [n, d].  w NULL: the identity;
 * b [heads, n] or NULL. */
struct attn_projection { const float *w, *b; bool transposed; };

struct attn_example {
    size_t batch, T, Tk;                /* batch 0: 1; Tk: tokens of y */
    size_t d, H, dk, dv, out;           /* out 0: no output projection */
    const float *x, *y;                 /* [batch, T, d]; y [batch, Tk, d] has the keys and values, NULL: x has */
    struct attn_projection q, k, v, o;
    bool unscaled;
    struct attn_kind kind; const uint8_t *mask;         /* mask [T, Tk] for ATTN_MASKED */

    /* Results, in the lesson's room: [batch, H, ...], the last two [batch, T, ...] */
    float *queries, *keys, *values, *dots, *scores, *pattern, *context, *joined, *output;
};

int attn_example_run(struct attn_lesson *r, struct attn_example *x, struct attn_err *err);
/* The same queries, keys and values under another kind. */
int attn_example_again(struct attn_lesson *r, struct attn_example *x, enum attn_form form, struct attn_err *err);

/* One weight of an example as sums: dot product, scale, softmax, and the first number of the context that it is mixed into. */
void attn_example_weight(struct attn_lesson *r, const struct attn_example *x, size_t head, size_t query, size_t key);

bool attn_lesson_equal(const float *a, const float *b, size_t n);

/* Numbers from the lesson's room, which is large enough for every article; drawn as torch draws one tensor. */
float *attn_lesson_floats(struct attn_lesson *r, size_t n);
float *attn_lesson_uniform(struct attn_lesson *r, size_t n, float lo, float hi);
float *attn_lesson_normal(struct attn_lesson *r, size_t n);
struct attn_projection attn_lesson_linear(struct attn_lesson *r, size_t in, size_t out, bool bias);

#endif
