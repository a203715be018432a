/* numbers.h - an array of numbers as people have them: typed, printed by another program, or saved.
 *
 * What is typed begins with a number or a bracket:
 *
 *     1 0 1; 0 2 2                rows end with ; or a line feed, numbers are separated by blanks or one comma
 *     [[1, 0, 1], [0, 2, 2]]      lists in lists, as in JSON and Python, commas or none
 *     tensor([[1., 0.]], ...)     as PyTorch and NumPy print arrays: array(...), also with what follows the numbers
 *
 * Numbers may be inf, -inf or nan, and True or False, which are 1 and 0.  Full-width marks and digits are those of
 * ASCII, and − and ∞ as pages print them are - and inf.  Anything else is the path of a file, or - for
 * standard input.  A file holds the same text; or an array of numpy.save, of floats or whole numbers; or a table with
 * labels in its first row, its first column or both; or several arrays, as run writes them: then the one that is asked
 * for by its short name ("q" is blocks.0.attn.q), or PATH:NAME.
 *
 * A table's fields are separated by commas; by semicolons or tabs, if that is what its rows have, and then a comma in
 * a number is its point.  In a table with labels, as `run --format csv` writes it, the first field of a first row of
 * labels is empty or `token`.  If that has a name of its own and the first column has numbers, nobody can tell whether
 * these are labels: that is an error. */
#ifndef ATTN_ATTEND_NUMBERS_H
#define ATTN_ATTEND_NUMBERS_H

#include "io/dump.h"

/* One array, always with its numbers in double precision, too, and the labels of its rows and columns, or NULL. */
struct attn_labelled {
    struct attn_array of;
    struct attn_dump_list rows, cols;
    char *name;                         /* for messages: the path, or what it was given for */
};

/* Reads what was given for `option` ("--q"); `wanted` is the short name to look for where there are several arrays. */
int attn_numbers_read(struct attn_labelled *out, const char *given, const char *option, const char *wanted,
                      struct attn_err *err);
void attn_numbers_free(struct attn_labelled *n);         /* zeroed is fine */

/* ---- its parts ---- */

/* Whether a text is numbers, and no path. */
bool attn_numbers_typed(const char *text, size_t len);
/* numbers_text.c: text that begins with a number or a bracket. */
int attn_numbers_text(struct attn_array *out, const char *text, size_t len, const char *name, struct attn_err *err);
/* numbers_table.c: a table with labels. */
int attn_numbers_table(struct attn_labelled *out, const char *text, size_t len, const char *name, struct attn_err *err);
/* numbers_marks.c: the text with marks and digits of ASCII in place of their full-width forms, and of a printed minus
 * and infinity; to be freed, NULL: no memory. */
char *attn_numbers_plain(const char *text, size_t *len);
/* One number, all of s: also True and False. */
bool attn_numbers_one(double *x, const char *s, size_t len);

#endif
