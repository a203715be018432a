/* derivation.h - how a number came about, as data: steps of words, formulas, sums and tables.
 *
 * Whoever explains something makes one; text, Markdown and HTML are three ways to print it, and none of
 * them knows what is explained.  Numbers stay numbers, each with the digits it is printed with.  Words
 * and cells are plain text: what a format could take for markup is escaped when it is printed.
 *
 * Parts follow each other; cells and terms belong to the last part.  The first failure sticks, later
 * additions do nothing, and attn_derivation_write reports it. */
#ifndef ATTN_SINKS_DERIVATION_H
#define ATTN_SINKS_DERIVATION_H

#include "base/num.h"
#include "base/out.h"

struct attn_number { double x; int digits; };           /* digits after the point */

/* The same formula for eyes that have only characters, and as the inside of a MathML element. */
struct attn_formula { const char *text, *mathml; };

struct attn_cell {
    char *text;                         /* NULL: the number */
    struct attn_number number;
    bool strong;                        /* what the table is about: a result, the cell in question */
};

enum attn_term_kind { ATTN_TERM_ALONE, ATTN_TERM_PRODUCT, ATTN_TERM_QUOTIENT, ATTN_TERM_LEFT_OUT };
struct attn_term {
    enum attn_term_kind kind;
    struct attn_number a, b;            /* a; a * b; a / b; `count` terms left out that sum to a */
    size_t count;
};

enum attn_part_kind { ATTN_PART_STEP, ATTN_PART_WORDS, ATTN_PART_COMMAND, ATTN_PART_FORMULA, ATTN_PART_SUM, ATTN_PART_TABLE };
struct attn_part {
    enum attn_part_kind kind;
    char *text;                         /* title of a step, words, a command line, what a sum gives; else NULL */
    struct attn_formula formula;
    struct attn_term *term; size_t terms, term_room;    /* of a sum */
    struct attn_number result;
    struct attn_cell *cell; size_t cells, cell_room;    /* of a table, row by row; the first row has the headings, */
    size_t cols;                                        /* the first column the labels */
};

struct attn_derivation {
    char *title;
    struct attn_part *part; size_t n, room;
    bool failed;                        /* no memory */
};

void attn_derivation_free(struct attn_derivation *d);   /* what it owns; zeroed is fine */

void attn_derive_title(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_derive_step(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_derive_words(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A command line to copy: it is never wrapped. */
void attn_derive_command(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_derive_formula(struct attn_derivation *d, const struct attn_formula *f);

/* "NAME = terms = result"; without terms "NAME = result".  The name is no user's text. */
void attn_derive_sum(struct attn_derivation *d, struct attn_number result, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* b: of products and quotients. */
void attn_derive_term(struct attn_derivation *d, enum attn_term_kind kind, struct attn_number a, struct attn_number b);
void attn_derive_left_out(struct attn_derivation *d, size_t count, struct attn_number sum);

/* Cells follow row by row, the headings first. */
void attn_derive_table(struct attn_derivation *d, size_t cols);
/* A table and its first row. */
void attn_derive_headings(struct attn_derivation *d, const char *const *heading, size_t cols);
void attn_derive_cell(struct attn_derivation *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_derive_number(struct attn_derivation *d, double x, int digits);
void attn_derive_blanks(struct attn_derivation *d, size_t n);
void attn_derive_gap(struct attn_derivation *d, size_t cols);           /* a row of "…" and blanks */
void attn_derive_strong(struct attn_derivation *d, size_t cells);       /* the last so many */

/* ---- printing ---- */

struct attn_derivation_style {
    bool color; int width;              /* text only; width 0: no limit */
};
/* "text", "md" or "html"; that there was no memory for the derivation itself comes out here. */
int attn_derivation_write(struct attn_out *o, const struct attn_derivation *d, const char *format,
                          const struct attn_derivation_style *style, struct attn_err *err);

/* For the formats: a cell's text, or its number in buf; "NAME = a·b + c = result". */
const char *attn_cell_shown(char buf[ATTN_NUM_FIXED_MAX + 1], const struct attn_cell *c);
void attn_sum_write(struct attn_out *o, const struct attn_part *sum);

/* derivation_text.c, derivation_md.c, derivation_html.c */
int attn_derivation_text(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                         struct attn_err *err);
int attn_derivation_md(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                       struct attn_err *err);
int attn_derivation_html(struct attn_out *o, const struct attn_derivation *d, const struct attn_derivation_style *style,
                         struct attn_err *err);

#endif
