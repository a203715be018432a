/* stack.h - the sentences of a batch as one array for each name: DIR/blocks.0.attn.pattern.npy, [records, kept heads,
 * T, n] or [records, T, n].
 *
 * All sentences are as long as the first.  Row i is record i of the output; a failed record is NaN.  The number of
 * rows is written into the headers at the end.  Files grow as NAME.npy.part and are renamed by the caller when the
 * batch ends. */
#ifndef ATTN_BATCH_STACK_H
#define ATTN_BATCH_STACK_H

#include "base/out.h"
#include "sinks/sink.h"

struct attn_stack;
int attn_stack_new(struct attn_stack **out, const struct attn_info *info, const struct attn_select *select, const char *dir,
                   struct attn_err *err);
void attn_stack_free(struct attn_stack *s);                         /* NULL is fine */
size_t attn_stack_tokens(const struct attn_stack *s);               /* 0: unknown yet */
/* T is the length of the sentences in the `rows` rows already written; 0: unknown, since all of them failed. */
int attn_stack_continue(struct attn_stack *s, size_t T, uint64_t rows, struct attn_err *err);
/* The first sentence determines the length of all. */
int attn_stack_set_tokens(struct attn_stack *s, size_t T, struct attn_err *err);

/* A row is announced in bands, or skipped as failed; then it must be ended. */
struct attn_observer attn_stack_observer(struct attn_stack *s);
void attn_stack_fail(struct attn_stack *s);
void attn_stack_end_row(struct attn_stack *s);
int attn_stack_flush(struct attn_stack *s, bool disk, struct attn_err *err);
void attn_stack_finish(struct attn_stack *s);                       /* writes the headers; flush must follow */

/* Writes that many bytes of NaN in place of the numbers of a failed record. */
void attn_stack_write_nan(struct attn_out *o, size_t bytes);

/* *path gets the malloc'd path of the nth file, NULL after the last; false: no memory. */
bool attn_stack_path(const struct attn_stack *s, size_t nth, char **path);

#endif
