/* stack.h - the sentences of a batch as one array a name: DIR/blocks.0.attn.pattern.npy, [records, kept heads, T, n] or
 * [records, T, n].
 *
 * All sentences are as long as the first.  Row i is record i of the output; a record that failed is NaN.  The number
 * of rows is written into the headers last.  Files grow as NAME.npy.part; whoever ends the batch renames them. */
#ifndef ATTN_BATCH_STACK_H
#define ATTN_BATCH_STACK_H

#include "base/out.h"
#include "sinks/sink.h"

struct attn_stack;
int attn_stack_new(struct attn_stack **out, const struct attn_info *info, const struct attn_select *select, const char *dir,
                   struct attn_err *err);
void attn_stack_free(struct attn_stack *s);                         /* NULL is fine */
size_t attn_stack_tokens(const struct attn_stack *s);               /* 0: not known yet */
/* T: how long the sentences of the `rows` rows are that are there already; 0: not known yet, none of them was good. */
int attn_stack_continue(struct attn_stack *s, size_t T, uint64_t rows, struct attn_err *err);
/* The first sentence tells how long all are. */
int attn_stack_set_tokens(struct attn_stack *s, size_t T, struct attn_err *err);

/* A row is told in bands, or skipped as failed; then it is ended. */
struct attn_observer attn_stack_observer(struct attn_stack *s);
void attn_stack_fail(struct attn_stack *s);
void attn_stack_end_row(struct attn_stack *s);
int attn_stack_flush(struct attn_stack *s, bool disk, struct attn_err *err);
void attn_stack_finish(struct attn_stack *s);                       /* the headers; flush comes after */

/* So many bytes of what stands for the numbers of a failed record. */
void attn_stack_write_nan(struct attn_out *o, size_t bytes);

/* Malloc'd path of the nth file, NULL after the last; false: no memory. */
bool attn_stack_path(const struct attn_stack *s, size_t nth, char **path);

#endif
