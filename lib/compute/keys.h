/* keys.h - keys and values of one head, in the layout that products read fastest.
 *
 * Keys are transposed, 64 to a panel, [panels, dh, 64]: a product computes the dots with 64 keys side by side,
 * each one chain over dh.  Values are rows, [n, ldv].  Columns of a panel that have no key yet are undefined, and
 * so are up to 64 numbers behind the last value: products read them and throw the results away. */
#ifndef ATTN_COMPUTE_KEYS_H
#define ATTN_COMPUTE_KEYS_H

#include <stddef.h>

struct attn_keys {
    float *k, *v; size_t dh, dv, ldv;
    const float *rows; size_t ldk;      /* the same keys as rows, ldk apart; NULL: there are only panels */
};

/* How many floats n keys and values take, in whole cache lines; SIZE_MAX: more than can be counted. */
size_t attn_keys_size(size_t n, size_t dh, size_t dv);
/* Lays out n keys and values at `at`, where attn_keys_size floats are. */
struct attn_keys attn_keys_in(float *at, size_t n, size_t dh, size_t dv);

/* Puts n keys, from number `first` on, from rows of dh numbers, ld apart; likewise values. */
void attn_keys_put(const struct attn_keys *to, size_t first, const float *k, size_t ld, size_t n);
void attn_values_put(const struct attn_keys *to, size_t first, const float *v, size_t ld, size_t n);

/* Gets keys back: one as a row of dh numbers; the n listed ones (at most 64) as a panel. */
void attn_keys_row(float *to, const struct attn_keys *from, size_t at);
void attn_keys_gather(float *to, const struct attn_keys *from, const size_t *list, size_t n);

#endif
