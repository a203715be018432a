/* orders.h - how programs that are right compute the same: sums of float32 in any order, a scale applied elsewhere,
 * forms of softmax, functions that are off by units in the last place, or numbers of 16 bits after each step. */
#ifndef TESTS_ORDERS_H
#define TESTS_ORDERS_H

#include "port.h"

enum order_scale { SCALE_DOTS, SCALE_QUERIES, SCALE_BOTH };        /* both queries and keys, by its root */
enum order_softmax { SOFTMAX_USUAL, SOFTMAX_NO_MAXIMUM, SOFTMAX_POWERS_OF_2 };

struct order {
    const char *name;
    double (*dot)(const double *x, const double *y, int n);
    enum order_scale scale;
    enum order_softmax softmax;
    int off;                            /* units in the last place that pattern and functions of the mlp may be off */
    float (*round)(float x);            /* of every result; NULL: to float32 */
};
extern const struct order orders[], narrow_orders[];
extern const size_t orders_n, narrow_orders_n;

/* Lets a port that was started compute so. */
void order_follow(struct port *p, const struct order *o);

#endif
