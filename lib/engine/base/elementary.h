/* elementary.h - exp, log, powers, sine, cosine, hypot in double: the same bits on every machine.
 *
 * The C library's differ in the last digit from one processor and one library to the next.  These are sums and products
 * in double, each rounded once, so whatever rounds as IEEE 754 asks gives the same bits; they are within one unit in
 * the last place of the true value. */
#ifndef ATTN_BASE_ELEMENTARY_H
#define ATTN_BASE_ELEMENTARY_H

double attn_exp(double x);
double attn_log(double x);
double attn_log1p(double x);            /* log(1 + x) */
double attn_pow(double x, double y);    /* x > 0 */
double attn_cos(double x);              /* beyond 8e8, this and the next are the C library's */
void attn_sin_cos(double *sin_x, double *cos_x, double x);
double attn_hypot(double x, double y);

#endif
