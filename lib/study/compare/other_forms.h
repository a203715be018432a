/* other_forms.h - activations that one side has in another form, with the same predictions.
 *
 * Who prepares a model for study moves parts of it into the weights that follow, as TransformerLens does unless it is
 * told not to; and masks are often large negative numbers.  None of that is a mistake:
 *
 *     centred   what is added to the stream, less the mean of each row: a LayerNorm takes it away in any case
 *     folded    a norm before its weight and bias, which are in the weights that read it
 *     moved     values less their bias, which is in that of the output, since the rows of a pattern add up to 1
 *     shifted   logits less a number for each row: softmax gives the same
 *     mask      scores of hidden keys: so far below the others of a row that softmax gives exactly 0
 *
 * A form is found by its numbers, and counts only if what reads the activation shows that it made up for it: a bias
 * that is left out looks like one that was moved.  Then both sides are compared in the same form. */
#ifndef ATTN_COMPARE_OTHER_FORMS_H
#define ATTN_COMPARE_OTHER_FORMS_H

#include "compare/diff.h"

/* Finds the forms of all rows, and compares and judges these rows anew; fails only without memory. */
int attn_forms_find(struct attn_diff *d, struct attn_err *err);
/* The numbers of one side in the form that both are compared in: as many as the pair has, packed. */
void attn_form_numbers(float *out, const struct attn_pair *p, const struct attn_match *m, int side);

#endif
