/* hints.h - what people give in place of a model, and what they should do: a pointer of Git LFS, a GGUF file, an
 * adapter, weights without a configuration, a tokenizer alone.  Asked only after something was not found. */
#ifndef ATTN_MODEL_HINTS_H
#define ATTN_MODEL_HINTS_H

#include "model/source.h"

/* Fails if a file of weights is something else that is known by its first bytes. */
int attn_hint_file(const struct attn_map *m, const char *path, struct attn_err *err);
/* A directory has no config.json: fails if what it has says why. */
int attn_hint_no_config(const struct attn_source *s, struct attn_err *err);
/* It has no weights: fails. */
int attn_hint_no_weights(const struct attn_source *s, struct attn_err *err);

#endif
