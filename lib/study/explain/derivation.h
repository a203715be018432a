/* derivation.h - the derivation of a number as data: steps with words, formulas, sums and tables.
 *
 * Callers that explain something build one; text, Markdown and HTML are three ways to print it, which know
 * nothing of what is explained.  Numbers are kept as numbers, each with the digits to print.  Words and
 * cells are plain text: what a format could take for markup is escaped when it is printed.
 *
 * Whoever builds one writes English: what is a printf's format here is looked up in the language of the derivation, and
 * so are headings; what goes into a %s is not (attn_tr).
 *
 * Passages are appended in order; cells and terms are added to the last one.  After a first failure
 * additions do nothing, and attn_derivation_write reports it. */
#ifndef ATTN_EXPLAIN_DERIVATION_H
#define ATTN_EXPLAIN_DERIVATION_H

#include "base/num.h"
#include "base/out.h"
#include "language/language.h"

/* digits: after the point.  gap: of a worksheet, from 1, which this number belongs into or refers to; 0: none. */
struct attn_number { double x; int digits; size_t gap; };
static inline struct attn_number attn_rounded(double x, int digits) { return (struct attn_number){x, digits, 0}; }

/* A formula as plain text, as the content of a MathML element, and in TeX.  Words in it, those of <mi> and \text, are
 * looked up in the language. */
struct attn_formula { const char *text, *mathml, *tex; };

struct attn_cell {
    char *text;                         /* NULL: the cell shows the number */
    struct attn_number number;
    bool strong;                        /* emphasised: a result, or the cell in question */
    bool weight;                        /* of attention, from 0 to 1: shown in colour, too */
};

enum attn_addend_kind { ATTN_ADDEND_ALONE, ATTN_ADDEND_PRODUCT, ATTN_ADDEND_QUOTIENT, ATTN_ADDEND_LEFT_OUT };
struct attn_term {
    enum attn_addend_kind kind;
    struct attn_number a, b;            /* a; a * b; a / b; `count` terms left out that sum to a */
    size_t count;
};

enum attn_passage_kind { ATTN_PASSAGE_STEP, ATTN_PASSAGE_PART, ATTN_PASSAGE_WORDS, ATTN_PASSAGE_COMMAND,
                        ATTN_PASSAGE_FORMULA, ATTN_PASSAGE_SUM, ATTN_PASSAGE_TABLE, ATTN_PASSAGE_DIAGRAM };
struct attn_passage {
    enum attn_passage_kind kind;
    char *text;                         /* a title, words, a command line, or the name of a sum's result; else NULL */
    struct attn_formula formula;
    struct attn_term *term; size_t terms, term_room;    /* of a sum */
    struct attn_number result;
    bool asked, answered;               /* of a worksheet: the result is to be written here; it is given, and marked */
    struct attn_cell *cell; size_t cells, cell_room;    /* of a table, row by row; the first row has the headings; of a
                                                         * diagram, stage by stage */
    size_t cols;                                        /* of the table; the first one has the labels */
};

struct attn_derivation {
    const struct attn_language *language;       /* in which it is said; words, names and headings are looked up in it */
    char *title;
    struct attn_passage *passage; size_t n, room;
    bool nested;                        /* steps that are added are parts of the one before */
    bool failed;                        /* no memory */
};

void attn_derivation_free(struct attn_derivation *d);   /* frees what it owns, not d; zeroed is fine */

void attn_derive_title(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_derive_step(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A part of a step: the second one of step 4 is 4.2. */
void attn_derive_part(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_derive_words(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A command line to copy: it is never wrapped. */
void attn_derive_command(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_derive_formula(struct attn_derivation *d, const struct attn_formula *f);

/* "NAME = terms = result"; without terms "NAME = result".  The name is not escaped: it must not contain user text. */
void attn_derive_sum(struct attn_derivation *d, struct attn_number result, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a term to the last sum; b is used in products and quotients only. */
void attn_derive_term(struct attn_derivation *d, enum attn_addend_kind kind, struct attn_number a,
                      struct attn_number b);
void attn_derive_left_out(struct attn_derivation *d, size_t count, struct attn_number sum);

/* Begins a table; its cells follow row by row, the headings first. */
void attn_derive_table(struct attn_derivation *d, size_t cols);
/* Begins a table and adds its first row. */
void attn_derive_headings(struct attn_derivation *d, const char *const *heading, size_t cols);
void attn_derive_cell(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_derive_number(struct attn_derivation *d, double x, int digits);
void attn_derive_weight(struct attn_derivation *d, double x, int digits);
void attn_derive_blanks(struct attn_derivation *d, size_t n);
void attn_derive_gap(struct attn_derivation *d, size_t cols);           /* a row of "…" and blanks */
void attn_derive_strong(struct attn_derivation *d, size_t cells);       /* emphasises the last so many cells */

/* ---- a diagram of attention, from what is read to the context (derivation_diagram.c) ---- */

enum attn_stage { ATTN_STAGE_X, ATTN_STAGE_Y, ATTN_STAGE_Q, ATTN_STAGE_K, ATTN_STAGE_V, ATTN_STAGE_DOTS,
                  ATTN_STAGE_SCORES, ATTN_STAGE_WEIGHTS, ATTN_STAGE_CONTEXT, ATTN_STAGES };
enum { ATTN_STAGE_NUMBERS = 4, ATTN_STAGE_CELLS = 3 + ATTN_STAGE_NUMBERS };     /* name, how, shape; numbers */
/* An array x [rows, cols] of which one row, x[0..cols), is shown, and how it is computed from the one before.  name
 * NULL: there is no such stage; Y has the keys and values of cross-attention.  Queries, keys and values without a `how`
 * are given, and no line leads to them. */
struct attn_stage_array { const char *name, *how; size_t rows, cols; const float *x; const double *f64; int digits; };
void attn_derive_diagram(struct attn_derivation *d, const struct attn_stage_array stage[ATTN_STAGES]);

/* ---- printing ---- */

struct attn_derivation_style {
    bool color; int width;              /* text only; width 0: no limit */
    bool paper;                         /* text only: nobody copies a command, so that it may be wrapped */
    const char *font; size_t font_index;        /* pdf only: as in struct attn_picture_opts */
    struct attn_lacks *lacks;           /* pdf only: gets the characters that are drawn as boxes; NULL: nobody asks */
};
/* format: "text", "md", "html" or "pdf".  Also fails if memory ran out while the derivation was built. */
int attn_derivation_write(struct attn_out *o, const struct attn_derivation *d, const char *format,
                          const struct attn_derivation_style *style, struct attn_err *err);

/* A cell's text, or its number printed into buf. */
const char *attn_cell_shown(char buf[ATTN_NUM_FIXED_MAX + 1], const struct attn_cell *c);

#endif
