/* array.h - numbers with a shape, as all readers of dumps and of what is typed give them.
 *
 * They are float32, as models compute.  Where a source has more digits than float32 holds, they are kept in double
 * precision as well, for those who compute with what was given (attend/attend.h). */
#ifndef ATTN_IO_ARRAY_H
#define ATTN_IO_ARRAY_H

#include "attn.h"

enum { ATTN_ARRAY_DIMS = 8 };

/* Row-major, owned.  f64: the same numbers before they were rounded to float32; NULL: that changed none. */
struct attn_array { int ndim; size_t shape[ATTN_ARRAY_DIMS], n; float *data; double *f64; };

/* Adds a number behind the n that are there; *room is how many there is memory for.  False: there is no memory. */
bool attn_array_add(struct attn_array *a, size_t *room, double x);
/* Makes f64, where it is NULL.  False: there is no memory. */
bool attn_array_widen(struct attn_array *a);
/* False: there is no memory. */
bool attn_array_copy(struct attn_array *to, const struct attn_array *from);
void attn_array_free(struct attn_array *a);             /* zeroed is fine, and what it leaves */

#endif
