/* stack_left.h - whether the calling thread's stack has room for what is asked of the library.
 *
 * A stack that ends before the work does ends the process.  Large arrays lie elsewhere, and the deepest calls take half
 * of what is asked for here; a main thread's stack grows, and is not asked. */
#ifndef ATTN_BASE_STACK_LEFT_H
#define ATTN_BASE_STACK_LEFT_H

#include "attn.h"

enum { ATTN_STACK = 192 << 10 };        /* bytes: attn.h promises that these are enough */
int attn_stack_check(struct attn_err *err);

#endif
