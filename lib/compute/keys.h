/* keys.h - keys and values of one head where products read them fastest.
 *
 * Keys lie turned, 64 to a panel, [panels, dh, 64]: dot products with 64 of them run side by side, each one
 * chain over dh.  Values lie in rows, [n, ldv].  A panel's columns that no key was put into hold anything,
 * and so do up to 64 numbers behind the last value: what is read there is thrown away. */
#ifndef ATTN_COMPUTE_KEYS_H
#define ATTN_COMPUTE_KEYS_H

#include <stddef.h>

struct attn_keys {
    float *k, *v; size_t dh, dv, ldv;
    const float *rows; size_t ldk;      /* all keys once more, each in a row, ldk apart; NULL: only in panels */
};

/* Numbers that so many keys and values take, whole lines of the cache; SIZE_MAX: more than can be counted. */
size_t attn_keys_size(size_t n, size_t dh, size_t dv);
/* Room for n of them in attn_keys_size numbers. */
struct attn_keys attn_keys_in(float *room, size_t n, size_t dh, size_t dv);

/* Keys from `first` on from n rows of dh numbers that lie ld apart; values alike. */
void attn_keys_put(const struct attn_keys *to, size_t first, const float *k, size_t ld, size_t n);
void attn_values_put(const struct attn_keys *to, size_t first, const float *v, size_t ld, size_t n);

/* The other way round: one key as a row of dh numbers; some (at most 64) as a panel. */
void attn_keys_row(float *to, const struct attn_keys *from, size_t at);
void attn_keys_gather(float *to, const struct attn_keys *from, const size_t *list, size_t n);

#endif
