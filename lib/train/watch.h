/* watch.h - how the activations of one sentence change while a model is trained.
 *
 * DIR/watch holds a stack for each, NAME.npy [times, heads, T, n] or [times, T, n], steps.npy [times], and a
 * manifest.json with tokens and heads.  They are written with each checkpoint; a training that is continued reads
 * them back and drops what was noted after the step it continues from. */
#ifndef ATTN_TRAINER_WATCH_H
#define ATTN_TRAINER_WATCH_H

#include "attn.h"

struct attn_watch;
/* step: the training's current step; what was noted later is dropped. */
int attn_watch_open(struct attn_watch **out, const char *dir, const struct attn_model *live, const struct attn_tokenizer *t,
                    const struct attn_train_watch_opts *o, size_t step, struct attn_err *err);
void attn_watch_close(struct attn_watch *w);                        /* NULL is fine */
/* Notes the activations if it is time to, given `steps` in all; w may be NULL. */
int attn_watch_note(struct attn_watch *w, const struct attn_model *live, size_t step, size_t steps, struct attn_err *err);
int attn_watch_save(const struct attn_watch *w, struct attn_err *err);          /* w may be NULL */

#endif
