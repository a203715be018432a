/* wrong.h - copies recorded checkpoints and plants a mistake in them. */
#ifndef TESTS_WRONG_H
#define TESTS_WRONG_H

#include <stdbool.h>
#include <stddef.h>

/* Rearranges tensors whose names begin with `tensor`: element (i, j) is taken from where `from` says.  A bias has one
 * row or, with `by_rows`, one column. */
struct wrong_move { const char *tensor; void (*from)(size_t *i, size_t *j); bool by_rows; };
void wrong_transposed(size_t *i, size_t *j);

const char *wrong_origin(const char *name);     /* directory of the checkpoint, valid until the next call */
/* Makes a copy, $scratch/wrong, where config.json has `to` in place of `from` and a tensor is rearranged; each
 * may be NULL. */
const char *wrong_copy(const char *name, const char *from, const char *to, const struct wrong_move *m);

#endif
