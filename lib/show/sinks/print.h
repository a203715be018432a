/* print.h - what is printed for people: bold and dim words, a matrix, tokens of the sentence and the likeliest next
 * ones.
 *
 * A matrix has tokens on the left, tokens or column numbers on top, and numbers of a fixed precision right-aligned in
 * columns of one width.  If all numbers would be printed as zero, the precision is raised.  A matrix wider than the
 * terminal is printed in blocks of columns, one below the other. */
#ifndef ATTN_SINKS_PRINT_H
#define ATTN_SINKS_PRINT_H

#include "base/out.h"
#include "sinks/sink.h"

enum attn_paint { ATTN_PLAIN, ATTN_BOLD, ATTN_DIM };
void attn_paint(struct attn_out *o, bool color, enum attn_paint paint);    /* color false: nothing */

struct attn_grid {
    const float *data;                  /* [rows, cols] */
    const double *f64;                  /* in place of data; NULL: data */
    size_t rows, cols;
    const struct attn_tokens *tokens;   /* of the rows, at least `rows` */
    const struct attn_tokens *keys;     /* of the columns; NULL: columns are numbered */
    bool more_rows, more_cols;          /* it is the corner of a larger matrix */
    int precision, width;               /* digits after the point; columns of the terminal, 0: no limit */
    bool color;
};
/* Digits after the point: `precision` or, if the largest number would be printed as zero, enough for three digits. */
int attn_grid_digits(double largest, int precision);
void attn_print_grid(struct attn_out *o, const struct attn_grid *g);

/* An array that is too large to print: the range of its numbers, added up; zeroed: none. */
struct attn_range_of { uint64_t numbers, finite; double min, max, sum; };      /* of the finite ones */
void attn_range_add(struct attn_range_of *r, double x);
void attn_print_shape(struct attn_out *o, const size_t *shape, int ndim);      /* "[12, 64, 64]" */
/* "[12, 64, 64]: min 0.0000, max 1.0000, mean 0.0156", and the line end */
void attn_print_range(struct attn_out *o, const size_t *shape, int ndim, const struct attn_range_of *r, int precision);

/* Prints index, id and, where there is one, text and bytes of at most `limit` tokens. */
void attn_print_tokens(struct attn_out *o, const char *heading, const struct attn_tokens *tokens, size_t limit,
                       bool color);
/* A line for each edit, in canonical form. */
void attn_print_edits(struct attn_out *o, const struct attn_edits *edits);
/* The likeliest next tokens, found by attn_logits_top; n 0: err says why there are none. */
enum { ATTN_NEXT_MAX = 5 };
struct attn_next { size_t n; struct attn_likely best[ATTN_NEXT_MAX]; struct attn_err err; };
/* Finds them in the last row of the logits; false: the band does not have it. */
bool attn_next_find(struct attn_next *next, const struct attn_probe *logits);
/* Those without the edits of the run, and what else these did; false: the run was not compared. */
bool attn_next_before(struct attn_next *before, struct attn_compared *c, const struct attn_sink_job *job);
#define ATTN_NEXT_ADVICE " (attn-cli info --check looks for the latter)"
void attn_print_next(struct attn_out *o, const char *heading, const struct attn_next *next,
                     const struct attn_sink_job *job);

#endif
