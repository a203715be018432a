/* wrong.h - copies of recorded checkpoints with a mistake in them. */
#ifndef TESTS_WRONG_H
#define TESTS_WRONG_H

#include <stdbool.h>
#include <stddef.h>

/* Rows and columns of the tensors whose names begin so: element (i, j) comes from where `from` says.  A
 * bias has one row, or with `by_rows` one column. */
struct wrong_move { const char *tensor; void (*from)(size_t *i, size_t *j); bool by_rows; };
void wrong_transposed(size_t *i, size_t *j);

const char *wrong_origin(const char *name);     /* the checkpoint's directory, until the next call */
/* A copy, $scratch/wrong, in which config.json reads `to` for `from` and a tensor is moved; each may be NULL. */
const char *wrong_copy(const char *name, const char *from, const char *to, const struct wrong_move *m);

#endif
