/* matrix.h - small dense matrices in double precision: products and eigenvalues. */
#ifndef ATTN_COMPUTE_MATRIX_H
#define ATTN_COMPUTE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

/* y[n, m] = a[n, K] b[K, m]; every element is a sum over k ascending. */
void attn_matrix_product(double *y, const double *a, const double *b, size_t n, size_t K, size_t m);

/* The eigenvalues of a real matrix a[n, n], which need not be symmetric: re[n], im[n], in no particular order.  a
 * becomes scratch, and so does b[n, n].  False if a has numbers that are not finite, or in the unheard-of case that the
 * iteration does not end.
 *
 * Householder reflections turn the matrix into a Hessenberg matrix, which is zero below its subdiagonal; QR steps
 * with Wilkinson's shift, in complex numbers, then turn the subdiagonal to zero from its end.  Eigenvalues are exact
 * for a matrix within some n epsilons of a, relative to its norm. */
bool attn_matrix_eigenvalues(double *re, double *im, double *a, double *b, size_t n);

#endif
